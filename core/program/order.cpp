// pass `schedule`: drafts in an order that keeps few bytes alive.
#include <algorithm>

#include "core/program/memory_plan.h"
#include "core/program/passes.h"
#include "core/program/schedule.h"

namespace sdip {
namespace {

std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id); }

/// Lives are those of the present order: bytes, and what waits in DRAM or to the end, do not depend on it.
/// What a draft's nodes read that another makes, operands or general registers (one element), is made before.
ScheduleProblem problem_of(const Compilation& c) {
  const std::vector<Draft>& drafts = c.drafts;
  const Lives& lives = c.lives;
  ScheduleProblem problem;
  std::vector<char> made(lives.size(), 0);
  for (const Draft& draft : drafts) made[at(draft.destination)] = 1;
  const auto end = static_cast<std::int32_t>(drafts.size());
  for (const Life& life : lives) {
    const bool waits_in_dram = life.is_input && life.in_dram;
    problem.values.push_back({waits_in_dram ? 0 : life.bytes, !life.uses.empty() && life.uses.back() == end});
  }
  for (const Draft& draft : drafts) {
    ScheduledOperation operation;
    operation.result = draft.destination;
    for (const DraftOperand& operand : draft.operands) {
      if (std::ranges::find(operation.reads, operand.value) == operation.reads.end())
        operation.reads.push_back(operand.value);
      if (may_replace(draft, operand)) operation.replaceable.push_back(operand.value);
    }
    for (const NodeId n : draft.nodes)
      for (const ValueId input : c.graph->nodes[at(n)].inputs) {
        const ValueId v = input == none ? none : c.roots[at(input)];
        if (v == none || made[at(v)] == 0 || v == draft.destination) continue;
        if (std::ranges::find(operation.reads, v) == operation.reads.end()) operation.reads.push_back(v);
      }
    problem.operations.push_back(std::move(operation));
  }
  return problem;
}

}  // namespace

void schedule(Compilation& c) {
  if (c.machine.schedule == ScheduleOrder::given) return;
  live(c);
  const bool thorough = c.machine.schedule == ScheduleOrder::least_live_thorough;
  const Schedule found = least_live_schedule(problem_of(c), unified_bytes(c.machine),
                                             thorough ? highest_schedule_effort : usual_schedule_effort);
  std::vector<Draft> ordered;
  ordered.reserve(c.drafts.size());
  for (const std::int32_t n : found.order) ordered.push_back(std::move(c.drafts[at(n)]));
  c.drafts = std::move(ordered);
}

}  // namespace sdip
