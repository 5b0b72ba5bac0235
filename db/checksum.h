// Checksums of what the store keeps. Internal to its room.
#pragma once

#include <cstdint>
#include <string_view>

namespace sdip {

/// XXH3 of 64 bits (docs/formats.md): of damaged bytes one in 2^64 goes unseen. Another seed gives another sum.
std::uint64_t checksum_of(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace sdip
