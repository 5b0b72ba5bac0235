// Where a program says that values lie: sides of DSRAM, capacities, the places of inputs and results.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "core/program/program.h"

namespace sdip::exec {

/// A value in one kind of memory. In a unified memory it lies once, as Place::dsram.
using Slot = std::pair<ValueId, Place>;
Slot slot_of(const Machine& machine, ValueId v, Place place);

/// The first address by which the program names each value's place in each memory: that of its result, of inputs
/// that of their first source.
std::map<Slot, std::int64_t> addresses_of(const CompiledStage& stage, const Machine& machine);

/// The size of a value where it lies, in whole bytes.
std::int64_t value_bytes(const Value& value, const Machine& machine);

/// Where the current instruction's result goes, and where.
struct Destination {
  Place place = Place::nowhere;
  std::int64_t address = 0;
};
std::vector<Destination> destinations_of(const Instruction& instruction, const InstructionClass& c,
                                         const Machine& machine);

}  // namespace sdip::exec
