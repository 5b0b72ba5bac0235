// The compressor of `.weight`: bytes without loss into fewer. Internal to its room.
//
// Deflate (RFC 1951) of the bytes, those of a number of 2 or 4 bytes apart: first all lowest bytes, ..., last all
// highest, with those beyond the last whole number at the end. Example, 2 bytes: 1 2 3 4 5 becomes 1 3 2 4 5.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sdip {

/// Requires number_bytes > 0.
std::vector<std::byte> packed(std::span<const std::byte> bytes, std::size_t number_bytes);

/// The `count` bytes that were packed; behind them `packed` may hold zeros alone. Nothing when it is no stream of
/// as many bytes. Takes no more memory than `count` bytes and a constant.
std::optional<std::vector<std::byte>> unpacked(std::span<const std::byte> packed, std::size_t count,
                                               std::size_t number_bytes);

}  // namespace sdip
