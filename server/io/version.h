// The program's version.
#pragma once

#include <string_view>

namespace sdip {

inline constexpr std::string_view program_version = SDIP_VERSION;  // the CMake project's

}  // namespace sdip
