// What tile operations are made of, one unit's work each; and the words that instructions take.
#pragma once

#include <cstdint>

#include "core/cost/work/circuit.h"

namespace sdip {

/// With granularity=micro all products share one array of MACs, and all other work the vector lanes.
bool shares_units(const Machine& machine);
/// True when linear and matmul have no MACs of their own.
bool shares_macs(const Machine& machine);

/// Micro-operations of a tile operation: reads, products or passes, writes (docs/model/work.md#micro-operations).
/// `first`, `last`: its place in the sum, or in the passes over chunks. `wired`: weights stand in ROM and are not
/// read. Requires Compound::single.
std::int64_t micro_operations(const InstructionClass& c, const Machine& machine, const cost::TilePlan& plan,
                              bool first, bool last, bool wired);

/// The same of a fused attention's, where accumulators are rescaled, and divided in the last of a row's.
std::int64_t attention_micro_operations(const InstructionClass& c, bool rescales, bool last, bool wired);

/// Bytes of the words of an instruction of a class: its own, or as many again for each tile operation; of
/// micro-operations the least that an instruction has. At most 2^56.
std::int64_t instruction_bytes(const Instruction& instruction, const ClassCost& cost, Granularity granularity);

}  // namespace sdip
