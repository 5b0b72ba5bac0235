// Drafts as the plain numbers that scheduling and packing put in order. Internal to its room.
#pragma once

#include <vector>

#include "core/program/compile/passes.h"
#include "core/program/pack.h"
#include "core/program/schedule.h"

namespace sdip {

/// The problem of ordering the drafts: what each reads and makes. Bytes, and what waits in DRAM or to the end, do
/// not depend on the order. Values that a draft's nodes read and another makes, operands or general registers (one
/// element, a norm's sums), are made before. Requires lives of the present order.
ScheduleProblem problem_of(const Compilation& c);

/// The circuit of each draft, and about how long it keeps it.
std::vector<CircuitUse> circuits_of(const List<Draft>& drafts);

}  // namespace sdip
