// The texts of core/baseline/devices/*.json, as they were when the program was built. Internal to its room.
#pragma once

#include <span>
#include <string_view>

namespace sdip {

/// In order of file name.
std::span<const std::string_view> device_files();

}  // namespace sdip
