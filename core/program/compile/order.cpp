// passes `schedule` and `pack`: drafts in an order that keeps few bytes alive, and in one that keeps circuits busy.
#include "core/program/compile/order.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/program/compile/front_cache.h"
#include "core/program/form/memory_plan.h"

namespace sdip {
namespace {

/// About how long a draft keeps its circuit.
std::int64_t circuit_cycles(const Draft& draft) {
  if (draft.compound == Compound::single) {
    Work behind;
    behind.row_length = draft.out_elements;
    behind.passes = most_uses(draft.fused);
    return std::max(reference_cycles(draft.work), reference_cycles(behind));
  }
  std::int64_t cycles = 0;
  for (const Part& part : draft.parts) cycles += reference_cycles(part.work);
  return cycles;
}

void put_in_order(const OperationOrder& order, List<Draft>& drafts) {
  List<Draft> ordered;
  ordered.reserve(drafts.size());
  for (const std::int32_t n : order) ordered.push_back(std::move(drafts[n]));
  drafts = std::move(ordered);
}

}  // namespace

ScheduleProblem problem_of(const Compilation& c) {
  const List<Draft>& drafts = c.drafts;
  const Lives& lives = c.lives;
  ScheduleProblem problem;
  List<char> made(lives.size(), 0);
  for (const Draft& draft : drafts) made[draft.destination] = 1;
  const auto end = static_cast<std::int32_t>(drafts.size());
  for (const Life& life : lives) {
    const bool waits_in_dram = life.is_input && life.in_dram;
    problem.values.push_back(
        {waits_in_dram || life.joined ? 0 : life.bytes, !life.uses.empty() && life.uses.back() == end});
  }
  std::map<NodeId, std::int32_t> sums;  // of a norm that others make: by its node
  for (const Draft& draft : drafts) {
    ScheduledOperation operation;
    operation.result = draft.destination;
    const auto add = [&](ValueId v) {
      if (std::ranges::find(operation.reads, v) == operation.reads.end()) operation.reads.push_back(v);
    };
    const auto read = [&](ValueId v) {
      if (const auto joined = c.joined.find(v); joined != c.joined.end())
        std::ranges::for_each(joined->second, add);
      if (v != none && made[v] != 0 && v != draft.destination) add(v);
    };
    for (const DraftOperand& operand : draft.operands) {
      if (c.joined.contains(operand.value)) {
        read(operand.value);
        continue;
      }
      add(operand.value);
      if (may_replace(draft, operand)) operation.replaceable.push_back(operand.value);
    }
    for (const NodeId n : draft.nodes) {
      if (const auto found = sums.find(n); found != sums.end()) read(found->second);
      for (const ValueId input : c.graph->nodes[n].inputs) read(input == none ? none : c.roots[input]);
    }
    if (draft.nodes.empty()) sums[draft.node] = draft.destination;
    if (draft.out_elements == 0) problem.values[draft.destination].bytes = 0;  // in registers
    problem.operations.push_back(std::move(operation));
  }
  return problem;
}

std::vector<CircuitUse> circuits_of(const List<Draft>& drafts) {
  std::vector<CircuitUse> circuits;
  for (const Draft& draft : drafts) circuits.push_back({at(draft.work.family), circuit_cycles(draft)});
  return circuits;
}

void schedule(Compilation& c) {
  if (c.machine.schedule == ScheduleOrder::given) return;
  live(c);
  const bool thorough = c.machine.schedule == ScheduleOrder::least_live_thorough;
  const ScheduleEffort& effort = thorough ? highest_schedule_effort : usual_schedule_effort;
  const ScheduleProblem problem = problem_of(c);
  const std::int64_t on_chip = unified_bytes(c.machine);
  put_in_order(c.fronts != nullptr ? c.fronts->order_of(problem, on_chip, effort)
                                   : least_live_schedule(problem, on_chip, effort, *c.windows).order,
               c.drafts);
}

void pack(Compilation& c) {
  if (!has_pairs(c.machine) || std::ssize(c.drafts) > most_scheduled_operations) return;
  live(c);
  const ScheduleProblem problem = problem_of(c);
  const std::vector<CircuitUse> circuits = circuits_of(c.drafts);
  OperationOrder given(c.drafts.size());
  std::iota(given.begin(), given.end(), 0);
  const std::int64_t on_chip = unified_bytes(c.machine), moved = moved_bytes(problem, given, on_chip);
  for (const std::size_t window : pack_windows) {
    const OperationOrder order = packed_order(problem, circuits, window);
    if (order == given || moved_bytes(problem, order, on_chip) > moved) continue;
    put_in_order(order, c.drafts);
    return;
  }
}

}  // namespace sdip
