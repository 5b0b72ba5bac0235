// A memory: bytes at addresses, and a shadow that knows what was last written to each of them.
//
// Elements stand as codes of a number format at their bit addresses, in storage of which the system gives what is
// touched. The shadow is a list of spans of bits: whose value they hold, and since when. What the graph types as
// integers, and sums that are kept exactly, has its bits at its address in the shadow alone; its numbers stand
// beside (no number format of a machine holds them).
//
// Example: value 3 of two 16-bit elements is written at byte 4 of an 8-byte memory: bytes 4 to 7. Value 5 written
// at byte 6 takes the bytes of 3's second element: its first may still be read, its second was overwritten by 5.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/base/code_runs.h"
#include "core/base/number_format.h"
#include "core/base/tensor.h"
#include "core/exec/clock/addresses.h"
#include "core/exec/numbers/numbers.h"
#include "core/exec/numbers/storage.h"
#include "core/exec/walk/elements.h"

namespace sdip::exec {

/// How a value's elements stand in a memory. `infinities`: those of a floating format are kept; `beside`: its
/// numbers stand beside.
struct Layout {
  NumberFormat format = NumberFormat::fp32;
  ElementType type = ElementType::float32;
  std::int64_t count = 0;
  CodeStep step{};
  bool infinities = false, beside = false;
};

/// Where one value's elements lie, and since which opening of the memory.
struct Region {
  std::int64_t first_bit = 0, opened = 0;
  Layout layout;
  Tensor data{};  // of what stands beside

  std::int64_t bits() const { return bits_of(layout.format); }
  std::int64_t bit_of(std::int64_t element) const { return first_bit + element * bits(); }
};

/// Bits up to `end` that `owner` wrote when the memory had been opened `time` times.
struct ShadowSpan {
  std::int64_t end = 0;
  Slot owner{};
  std::int64_t time = 0;
};

/// A value that is the bytes of others, rows of so many elements: of each some of the row, in order. `map`: where a
/// part's elements stand in what has a slot; empty: as they are.
struct JoinedRegion {
  struct Part {
    Slot slot;
    std::int64_t address = 0, in_row = 0;
    std::span<const std::int64_t> map{};
  };
  std::int64_t row = 0;
  std::vector<Part> parts{};
};

struct Memory {
  std::string name;
  std::int64_t bytes = 0;
  std::map<Slot, Region> regions{};
  Storage storage{};                            // as far as regions were opened
  std::map<std::int64_t, ShadowSpan> shadow{};  // by first bit
  std::int64_t openings = 0;
  std::map<Slot, JoinedRegion> joined{};
};

/// Makes room for a value at a byte address; nothing is written yet. Throws Error("execution_failed", who, ...)
/// when it does not lie within the memory.
void open_region(Memory& memory, Slot slot, std::int64_t address, const Layout& layout, const std::string& who);

/// Elements of a tensor in a row, and the other way: numbers put where they stand.
Tensor elements_in(const Tensor& tensor, const Elements& at);
void put_elements(Tensor& tensor, const Elements& at, const Tensor& numbers);

/// Writes `numbers` to the elements `at` of a value. What other values had in those bytes is overwritten. Requires
/// open_region; elements that the value has; floats of one that does not stand beside.
void write(Memory& memory, Slot slot, const Elements& at, const Tensor& numbers);
void write(Memory& memory, Slot slot, const Elements& at, std::span<const float> numbers);

/// The two halves of writing floats: what the shadow says, and the bytes, which several threads may put at once
/// where elements are whole bytes and no two put the same.
void claim(Memory& memory, Slot slot, const Elements& at);
void put(Memory& memory, Slot slot, const Elements& at, std::span<const float> numbers);
/// Writes codes of 8-bit elements. Requires that the elements stand one behind the other.
void put_codes(Memory& memory, Slot slot, const Elements& at, std::span<const std::int8_t> codes);

/// Takes bytes [address, address + bytes) for tiles on their way: what values had there is overwritten. Throws
/// Error("execution_failed", who, ...) when they do not lie within the memory.
void take_buffer(Memory& memory, std::int64_t address, std::int64_t bytes, const std::string& who);

/// A read is known by the value, by where it should lie, and by who reads it.
struct Reading {
  Slot slot;
  std::int64_t address = 0;
  const Graph& graph;
  const std::string& who;
};

/// The elements `at` of a value. Throws Error("execution_failed", who, ...), with the address, when they do not lie
/// there, were never written or were overwritten.
Tensor read(const Memory& memory, const Reading& reading, const Elements& at);

/// The same as floats. Requires a value that does not stand beside.
void read(const Memory& memory, const Reading& reading, const Elements& at, std::span<float> numbers);

/// As `write` and `read`, for numbers of any type; `type`: the layout's.
void write_numbers(Memory& memory, Slot slot, const Elements& at, const Numbers& numbers);
Numbers read_numbers(const Memory& memory, const Reading& reading, const Elements& at, ElementType type);

/// The codes of a value of 8-bit elements.
void read_codes(const Memory& memory, const Reading& reading, const Elements& at, std::span<std::int8_t> codes);

/// The first of a value's numbers where they lie, one behind the other, in single precision; nullptr of those that
/// lie otherwise. Throws as `read` does of elements `at`. Valid until a region is opened.
const float* floats_in_place(const Memory& memory, const Reading& reading, const Elements& at);

/// The same of a value of int8 elements: its codes.
const std::int8_t* codes_in_place(const Memory& memory, const Reading& reading, const Elements& at);

/// The same of a value that is written, in single precision: who writes there claims it, too.
float* floats_in_place(Memory& memory, Slot slot);

}  // namespace sdip::exec
