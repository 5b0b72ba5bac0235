// The activation memories, instruction by instruction.
#include "core/exec/clock/rooms.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/exec/clock/addresses.h"

namespace sdip::exec {
namespace {

constexpr std::int64_t never = -1;

}  // namespace

Family Rooms::family_of(std::size_t i) const {
  return stage_.program.classes[stage_.program.instructions[i].instruction_class].work.family;
}

Rooms::Rooms(const CompiledStage& stage, const Machine& machine)
    : stage_(stage),
      machine_(machine),
      unified_(is_unified(machine)),
      pairs_(has_pairs(machine)),
      last_read_(stage.graph->values.size(), never),
      pushed_(stage.graph->values.size(), 0),
      popped_(stage.graph->values.size(), never),
      memories_(2 * pair_families + 1) {
  for (const Value& value : stage.graph->values) bytes_.push_back(value_bytes(value, machine));
  const List<Instruction>& instructions = stage.program.instructions;
  std::vector<std::int64_t> turns(pair_families, 0);
  List<char> made(bytes_.size(), 0);
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    turns_.push_back(turns);
    ++turns[pairs_ ? at(family_of(i)) : 0];
    for (const PlacedOperand& source : instructions[i].sources) {
      const bool stack = source.place == Place::stackram;
      if (!stack && source.place != Place::dsram) continue;
      const auto number = static_cast<std::int64_t>(i);
      if (stack) pushed_[source.value] = 1;
      if (!stack) last_read_[source.value] = number;
      if (stack && source.pop) popped_[source.value] = number;
      if (made[source.value] == 0) inputs_.try_emplace({place_of(source, i), source.address.value}, source.value);
    }
    const std::int32_t result = instructions[i].destination;
    if (result == none) continue;
    made[result] = 1;
    if (stage.program.classes[instructions[i].instruction_class].push) pushed_[result] = 1;
  }
}

std::size_t Rooms::side(Family family, std::int64_t turn) const {
  if (unified_) return memories_.size() - 1;
  return 2 * (pairs_ ? at(family) : 0) + as_size(turn % 2);
}

std::size_t Rooms::place_of(const PlacedOperand& source, std::size_t i) const {
  if (source.place == Place::stackram) return memories_.size() - 1;
  const Family family = source.pair.value_or(family_of(i));
  return side(family, turns_[i][pairs_ ? at(family) : 0] + (source.older ? 1 : 0));
}

void Rooms::fail(std::size_t i, const std::string& what) const {
  throw Error("execution_failed", stage_.program.instructions[i].name,
              fmt::format("instruction {} '{}' {}", i, stage_.program.instructions[i].mnemonic, what));
}

/// Whether instruction `i` is the last that needs the value there. A memory that is one for all keeps what waits.
bool Rooms::is_last_use(std::size_t memory, ValueId value, std::size_t i) const {
  const auto number = static_cast<std::int64_t>(i);
  const bool waits = memory + 1 == memories_.size() && pushed_[value] != 0;
  if (waits) return popped_[value] == number;
  if (memory + 1 == memories_.size() && !unified_) return false;  // pushed, and never popped: for what comes after
  return last_read_[value] <= number;
}

/// Whether all that read it come before instruction `i`, though they may still run; only with a pair for each
/// family.
bool Rooms::was_read(std::size_t memory, ValueId value, std::size_t i) const {
  if (!pairs_ || memory + 1 == memories_.size() || value == none) return false;
  return last_read_[value] != never && last_read_[value] < static_cast<std::int64_t>(i);
}

void Rooms::start_pass() {
  for (Memory& memory : memories_) memory.clear();
  for (const auto& [where, value] : inputs_) open(where.first, where.second, bytes_[value], value, 0);
}

void Rooms::read(const PlacedOperand& source, std::size_t i) {
  if (bytes_[source.value] == 0) return;  // nothing lies anywhere
  Memory& memory = memories_[place_of(source, i)];
  const auto [begin, end] = memory.equal_range(source.address.value);
  const auto found = std::find_if(begin, end, [&](const auto& held) { return held.second.value == source.value; });
  const std::string& name = stage_.graph->values[source.value].name;
  if (found == end) fail(i, fmt::format("reads '{}' at {}, where it does not lie", name, source.address.value));
  found->second.dies = is_last_use(place_of(source, i), source.value, i);
}

void Rooms::open(std::size_t memory, std::int64_t address, std::int64_t bytes, ValueId value, std::size_t i) {
  if (bytes == 0) return;
  const bool stack = memory + 1 == memories_.size();
  const std::int64_t capacity = unified_ ? unified_bytes(machine_)
                                : stack  ? machine_.stackram_bytes
                                         : dsram_bytes_of(machine_, static_cast<Family>(memory / 2));
  if (address < 0 || address + bytes > capacity)
    fail(i, fmt::format("opens bytes {} to {} of a memory of {}", address, address + bytes, capacity));
  std::erase_if(memories_[memory], [&](const auto& there) {
    const bool upon = there.first < address + bytes && there.first + there.second.bytes > address;
    return upon && was_read(memory, there.second.value, i);
  });
  for (const auto& [from, held] : memories_[memory]) {
    if (from >= address + bytes) break;
    if (from + held.bytes > address && !held.dies)
      fail(i, fmt::format("opens {}, where another value still lies", address));
  }
  memories_[memory].emplace(address, Held{bytes, value, value == none});
}

std::int64_t Rooms::highest_byte(std::size_t memory) const {
  std::int64_t highest = 0;
  for (const auto& [address, held] : memories_[memory]) highest = std::max(highest, address + held.bytes);
  return highest;
}

Occupancy Rooms::run(std::size_t i) {
  const Instruction& instruction = stage_.program.instructions[i];
  const InstructionClass& c = stage_.program.classes[instruction.instruction_class];
  const Family family = c.work.family;
  const std::int64_t turn = turns_[i][pairs_ ? at(family) : 0];
  const std::size_t reads = side(family, turn), writes = side(family, turn + 1), stack = memories_.size() - 1;
  for (const PlacedOperand& source : instruction.sources)
    if (source.place == Place::dsram || source.place == Place::stackram) read(source, i);
  std::erase_if(memories_[writes], [&](const auto& held) { return was_read(writes, held.second.value, i); });
  const bool result = instruction.destination != none && c.out_elements > 0;
  const std::int64_t bytes = result ? bytes_[instruction.destination] : 0;
  const bool twice = unified_ && c.to_dsram && c.push;  // lies there once
  if (result && c.to_dsram) open(writes, instruction.dsram_address.value, bytes, instruction.destination, i);
  if (result && c.push && !twice)
    open(stack, instruction.stackram_address.value, bytes, instruction.destination, i);
  open(reads, instruction.read_tiles.address.value, instruction.read_tiles.bytes.value, none, i);
  open(writes, instruction.write_tiles.address.value, instruction.write_tiles.bytes.value, none, i);
  const Occupancy occupied{highest_byte(reads), highest_byte(writes), highest_byte(stack)};
  for (std::size_t memory = 0; memory < memories_.size(); ++memory)
    std::erase_if(memories_[memory], [&](const auto& held) {
      if (held.second.value == none) return true;
      return is_last_use(memory, held.second.value, i) && !was_read(memory, held.second.value, i + 1);
    });
  return occupied;
}

}  // namespace sdip::exec
