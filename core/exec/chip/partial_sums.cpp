// Partial sums of a nest between the tiles of a sum.
#include "core/exec/chip/partial_sums.h"

#include <utility>

#include "core/base/error.h"

namespace sdip::exec {
namespace {

/// The name by which a memory knows the partial sums of the current instruction, beside its result.
Slot in_buffer(const Chip& chip) { return {chip.instruction().destination, Place::nowhere}; }
Slot in_dram(const Chip& chip) { return {chip.instruction().destination, Place::scalar}; }

Layout layout_of_sums(const Chip& chip, ElementType type, std::int64_t count) {
  const NumberFormat format = accumulator_of(chip);
  const bool in_codes = is_single(type) && is_floating(format);
  return {format, type, count, 1, true, !in_codes};
}

}  // namespace

void PartialSums::keep(const Elements& at, const Numbers& sums) {
  if (!(at == elements_)) {
    elements_ = at;
    type_ = sums.type;
    const MemorySpan& span = chip_.instruction().write_tiles;
    const Layout layout = layout_of_sums(chip_, type_, at.size());
    const std::int64_t bytes = ceil_div(at.size() * bits_of(layout.format), 8);
    if (bytes > span.bytes.value)
      throw Error("execution_failed", chip_.who,
                  fmt::format("{} keeps {} bytes of partial sums in tile buffers of {}", chip_.who, bytes,
                              span.bytes.value));
    const bool two = 2 * bytes <= span.bytes.value;  // the tile before may still be leaving
    address_ = span.address.value + (two ? tiles_ % 2 * bytes : 0);
    ++tiles_;
    open_region(buffers(), in_buffer(chip_), address_, layout, chip_.who);
  }
  write_numbers(buffers(), in_buffer(chip_), Elements::first(at.size()), sums);
}

Numbers PartialSums::kept() const {
  return read_numbers(buffers(), {in_buffer(chip_), address_, chip_.graph, chip_.who},
                      Elements::first(elements_.size()), type_);
}

void PartialSums::leave() {
  const Numbers sums = kept();
  Memory& dram = memory_of(chip_, Place::dram, true);
  if (!std::exchange(in_dram_, true)) {
    const std::int64_t count = element_count(chip_.value(chip_.instruction().destination).operand.shape);
    open_region(dram, in_dram(chip_), chip_.dram_end_bytes, layout_of_sums(chip_, type_, count), chip_.who);
  }
  write_numbers(dram, in_dram(chip_), elements_, sums);
  note_sums(Stream::partials_out, elements_.size());
  elements_ = {};
}

Numbers PartialSums::back(const Elements& at) const {
  note_sums(Stream::partials_in, at.size());
  return read_numbers(memory_of(chip_, Place::dram, true),
                      {in_dram(chip_), chip_.dram_end_bytes, chip_.graph, chip_.who}, at, type_);
}

void PartialSums::note_sums(Stream stream, std::int64_t count) const {
  if (chip_.log) chip_.log->add(stream, Place::dram, count * bits_of(accumulator_of(chip_)));
}

}  // namespace sdip::exec
