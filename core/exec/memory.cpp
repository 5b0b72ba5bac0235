// A memory with a shadow.
#include "core/exec/memory.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip::exec {
namespace {

std::int64_t end_bit(const Region& region) {
  return region.first_bit + region.bits * static_cast<std::int64_t>(region.state.size());
}

/// Marks the elements of `other` that share bits [from, to) as taken by `value`.
void overwrite(Region& other, std::int64_t from, std::int64_t to, std::int32_t value) {
  if (from >= end_bit(other) || to <= other.first_bit) return;
  const std::int64_t first = std::max<std::int64_t>(0, (from - other.first_bit) / other.bits);
  const std::int64_t last =
      std::min(static_cast<std::int64_t>(other.state.size()), (to - other.first_bit + other.bits - 1) / other.bits);
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t begin = other.first_bit + i * other.bits;
    if (begin < to && from < begin + other.bits) other.state[static_cast<std::size_t>(i)] = value;
  }
}

void require_within(const Memory& memory, std::int64_t address, std::int64_t bits, const std::string& who) {
  const std::int64_t end = address + ceil_div(bits, 8);
  if (address >= 0 && end <= memory.bytes) return;
  throw Error("execution_failed", who,
              who + " uses bytes " + std::to_string(address) + " to " + std::to_string(end) + " of " + memory.name +
                  ", which has " + std::to_string(memory.bytes));
}

std::string taker_text(const Graph& graph, std::int32_t state) {
  if (state == never_written) return "it was never written";
  if (state == tile_buffer) return "it was overwritten by a tile buffer";
  return "it was overwritten by '" + graph.values[static_cast<std::size_t>(state)].name + "'";
}

[[noreturn]] void fail(const Memory& memory, const Graph& graph, ValueId value, std::int64_t element,
                       std::int64_t address, const std::string& who, const std::string& why) {
  throw Error("execution_failed", who,
              who + " reads element " + std::to_string(element) + " of '" +
                  graph.values[static_cast<std::size_t>(value)].name + "' in " + memory.name + " at address " +
                  std::to_string(address) + ": " + why);
}

}  // namespace

void open_region(Memory& memory, Slot slot, std::int64_t address, std::int64_t bits, ElementType type,
                 const Shape& shape, const std::string& who) {
  Region region;
  region.first_bit = address * 8;
  region.bits = bits;
  region.data = zero_tensor(type, shape);
  region.state.assign(static_cast<std::size_t>(element_count(shape)), never_written);
  const std::int64_t end = end_bit(region);
  require_within(memory, address, end - region.first_bit, who);
  for (auto& [id, other] : memory.regions) {
    if (id == slot || other.first_bit >= end || region.first_bit >= end_bit(other)) continue;
    region.overlaps.push_back(id);
    if (std::ranges::find(other.overlaps, slot) == other.overlaps.end()) other.overlaps.push_back(slot);
  }
  memory.regions[slot] = std::move(region);
}

void write(Memory& memory, Slot slot, std::span<const std::int64_t> at, const Tensor& numbers) {
  Region& region = memory.regions.at(slot);
  const bool floating = is_floating(region.data.type);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto element = static_cast<std::size_t>(at[i]);
    if (floating)
      region.data.floats[element] = numbers.floats[i];
    else
      region.data.ints[element] = numbers.ints[i];
    region.state[element] = written;
    const std::int64_t bit = region.first_bit + at[i] * region.bits;
    for (const Slot& other : region.overlaps)
      if (const auto found = memory.regions.find(other); found != memory.regions.end())
        overwrite(found->second, bit, bit + region.bits, slot.first);
  }
}

void take_buffer(Memory& memory, std::int64_t address, std::int64_t bytes, const std::string& who) {
  require_within(memory, address, bytes * 8, who);
  for (auto& [slot, region] : memory.regions) overwrite(region, address * 8, (address + bytes) * 8, tile_buffer);
}

Tensor read(const Memory& memory, Slot slot, std::int64_t address, std::span<const std::int64_t> at,
            const Graph& graph, const std::string& who) {
  const auto found = memory.regions.find(slot);
  const ValueId value = slot.first;
  const std::int64_t first = at.empty() ? 0 : at[0];
  if (found == memory.regions.end()) fail(memory, graph, value, first, address, who, "it was never there");
  const Region& region = found->second;
  if (region.first_bit != address * 8)
    fail(memory, graph, value, first, address, who, "it lies at address " + std::to_string(region.first_bit / 8));
  Tensor numbers = zero_tensor(region.data.type, {static_cast<std::int64_t>(at.size())});
  const bool floating = is_floating(region.data.type);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto element = static_cast<std::size_t>(at[i]);
    if (at[i] < 0 || element >= region.state.size())
      fail(memory, graph, value, at[i], address, who,
           "it has " + std::to_string(region.state.size()) + " elements");
    const std::int32_t state = region.state[element];
    if (state != written) {
      const std::int64_t byte = (region.first_bit + at[i] * region.bits) / 8;
      fail(memory, graph, value, at[i], byte, who, taker_text(graph, state));
    }
    if (floating)
      numbers.floats[i] = region.data.floats[element];
    else
      numbers.ints[i] = region.data.ints[element];
  }
  return numbers;
}

}  // namespace sdip::exec
