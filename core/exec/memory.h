// A memory with a shadow: which bytes hold which element of which value, and whether it was ever written.
//
// Example: value 3 of two 16-bit elements is written at byte 4 of an 8-byte memory: bytes 4 to 7. Value 5 written
// at byte 6 takes the bytes of 3's second element: its first may still be read, its second was overwritten by 5.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/exec/addresses.h"

namespace sdip::exec {

/// Where one value's elements lie. `state` of an element: never_written, written, or what took its
/// bytes: a tile buffer or another value.
struct Region {
  std::int64_t first_bit = 0, bits = 16;  // of an element
  Tensor data;
  std::vector<std::int32_t> state;
  std::vector<Slot> overlaps;  // whose bytes these are, too
};
inline constexpr std::int32_t tile_buffer = -3, never_written = -2, written = -1;

struct Memory {
  std::string name;
  std::int64_t bytes = 0;
  std::map<Slot, Region> regions;
};

/// Makes room for a value of `type` and `shape` at a byte address; nothing is written yet. Throws
/// Error("execution_failed", who, ...) when it does not lie within the memory.
void open_region(Memory& memory, Slot slot, std::int64_t address, std::int64_t bits, ElementType type,
                 const Shape& shape, const std::string& who);

/// Writes `numbers` to the elements `at` of a value. What other values had in those bytes is overwritten. Requires
/// open_region.
void write(Memory& memory, Slot slot, std::span<const std::int64_t> at, const Tensor& numbers);

/// Takes bytes [address, address + bytes) for tiles on their way: what values had there is overwritten. Throws
/// Error("execution_failed", who, ...) when they do not lie within the memory.
void take_buffer(Memory& memory, std::int64_t address, std::int64_t bytes, const std::string& who);

/// The elements `at` of a value that should lie at `address`. Throws Error("execution_failed", who, ...), with the
/// address, when they do not, were never written or were overwritten.
Tensor read(const Memory& memory, Slot slot, std::int64_t address, std::span<const std::int64_t> at,
            const Graph& graph, const std::string& who);

}  // namespace sdip::exec
