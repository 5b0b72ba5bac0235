// Micro-operations, the parts of tile operations that one unit works on; and the words that instructions take.
#pragma once

#include <cstdint>

#include "core/cost/work/circuit.h"

namespace sdip {

/// Micro-operations of a tile operation: reads, products or passes, writes (docs/model/work.md#micro-operations).
/// `first`, `last`: its place in the sum, or in the passes over chunks. Requires Compound::single.
std::int64_t micro_operations(const InstructionClass& c, const Resolved& r, const cost::TilePlan& plan, bool first,
                              bool last);

/// The same of a fused attention's, where accumulators are rescaled, and divided in the last of a row's.
std::int64_t attention_micro_operations(const InstructionClass& c, bool rescales, bool last, bool wired);

/// Bytes of the words of an instruction of a class: its own, or as many again for each tile operation; of
/// micro-operations the least that an instruction has. At most 2^56.
std::int64_t instruction_bytes(const Instruction& instruction, const ClassCost& cost, Granularity granularity);

}  // namespace sdip
