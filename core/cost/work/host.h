// What an operator costs that the host computes.
#pragma once

#include "core/cost/work/ports.h"

namespace sdip {

/// True for an instruction of its own whose operator `host_operators` gives to the host.
bool on_host(const InstructionClass& c, const Machine& machine);

/// A tile operation of `rows` x `length` on the host (docs/model/work.md#operators-on-the-host): operands in, the
/// host's work, results out, one after the other. `last`: it writes. Requires on_host(c, machine); `tiles` is how
/// many such operations there are: cycles beyond 2^58 of them all are cut there, more than any stage may last.
Steps host_steps(const InstructionClass& c, const Machine& machine, const cost::TilePlan& plan, std::int64_t rows,
                 std::int64_t length, bool last, bool wired, std::int64_t tiles);

}  // namespace sdip
