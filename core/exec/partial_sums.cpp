// Partial sums of a nest between the tiles of a sum.
#include "core/exec/partial_sums.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace sdip::exec {
namespace {

/// What a memory knows the sums of the current instruction as, beside its result.
Slot in_buffer(const Chip& chip) { return {chip.instruction().destination, Place::nowhere}; }
Slot in_dram(const Chip& chip) { return {chip.instruction().destination, Place::scalar}; }

std::int64_t sum_bits(const Chip& chip) { return bits_of(chip.machine.accumulator_format); }

}  // namespace

void PartialSums::keep(std::span<const std::int64_t> at, const Tensor& sums) {
  if (!std::ranges::equal(at, elements_)) {
    elements_.assign(at.begin(), at.end());
    const MemorySpan& span = chip_.instruction().write_tiles;
    const std::int64_t bytes = ceil_div(std::ssize(at) * sum_bits(chip_), 8);
    if (bytes > span.bytes.value)
      throw Error("execution_failed", chip_.who,
                  chip_.who + " keeps " + std::to_string(bytes) + " bytes of partial sums in tile buffers of " +
                      std::to_string(span.bytes.value));
    const bool two = 2 * bytes <= span.bytes.value;  // the tile before may still be leaving
    address_ = span.address.value + (two ? tiles_ % 2 * bytes : 0);
    ++tiles_;
    open_region(buffers(), in_buffer(chip_), address_, sum_bits(chip_), sums.type, sums.shape, chip_.who);
  }
  write(buffers(), in_buffer(chip_), all_elements(std::ssize(at)), sums);
}

Tensor PartialSums::kept() const {
  return read(buffers(), in_buffer(chip_), address_, all_elements(std::ssize(elements_)), chip_.graph, chip_.who);
}

void PartialSums::leave() {
  const Tensor sums = kept();
  Memory& dram = memory_of(chip_, Place::dram, true);
  if (!std::exchange(in_dram_, true))
    open_region(dram, in_dram(chip_), chip_.dram_end_bytes, sum_bits(chip_), sums.type,
                chip_.value(chip_.instruction().destination).operand.shape, chip_.who);
  write(dram, in_dram(chip_), elements_, sums);
  elements_.clear();
}

Tensor PartialSums::back(std::span<const std::int64_t> at) const {
  return read(memory_of(chip_, Place::dram, true), in_dram(chip_), chip_.dram_end_bytes, at, chip_.graph,
              chip_.who);
}

}  // namespace sdip::exec
