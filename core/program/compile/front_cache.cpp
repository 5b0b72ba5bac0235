// Results that compilations for machines with different memories have in common.
#include "core/program/compile/front_cache.h"

#include <algorithm>

#include "core/program/compile/part_views.h"
#include "core/program/form/form.h"

namespace sdip {
namespace {

bool has_own_formats(const Graph& graph) {
  return std::ranges::any_of(graph.values,
                             [](const Value& v) { return v.format || v.sums || v.density_hundredths.has_value(); });
}

std::vector<std::int64_t> numbers_of(const ScheduleProblem& problem, const ScheduleEffort& effort) {
  std::vector<std::int64_t> numbers = {effort.states, effort.window, effort.rounds, std::ssize(problem.values)};
  numbers.reserve(problem.values.size() + problem.operations.size() * 6);
  for (const ScheduledValue& value : problem.values) numbers.push_back(value.bytes * 2 + (value.kept ? 1 : 0));
  for (const ScheduledOperation& one : problem.operations) {
    numbers.push_back(one.result);
    numbers.push_back(std::ssize(one.reads));
    numbers.insert(numbers.end(), one.reads.begin(), one.reads.end());
    numbers.push_back(std::ssize(one.replaceable));
    numbers.insert(numbers.end(), one.replaceable.begin(), one.replaceable.end());
  }
  return numbers;
}

/// How many of the sizes that part_views asks for are too large for DSRAM: all that it asks of memories.
std::int64_t too_large(const Graph& graph, const Machine& machine) {
  return std::ranges::count_if(sizes_weighed(graph, machine),
                               [&](std::int64_t bytes) { return exceeds_dsram(bytes, machine); });
}

/// Rows read up to the fusion of single operators, of a graph as the passes that change it alone leave it.
std::vector<std::int64_t> rows_read(const Graph& graph, const Machine& machine) {
  if (has_own_formats(graph) || machine.skip_handling == SkipHandling::recompute) return compile_key(machine);
  Machine key;
  key.fused_chains = machine.fused_chains;
  key.transposition = machine.transposition;
  key.fused_attention = machine.fused_attention;
  key.fusion = machine.fusion;
  key.norm_statistics = machine.norm_statistics;
  key.part_views = machine.part_views;
  const bool weighs_sums =
      machine.part_views == PartViews::on && machine.norm_statistics != NormStatistics::own_pass;
  if (weighs_sums) key.skip_handling = machine.skip_handling;  // what is in DRAM anyway is no reason for a copy
  std::vector<std::int64_t> rows = compile_key(key);
  rows.push_back(machine.part_views == PartViews::on ? too_large(graph, machine) : 0);
  return rows;
}

/// Rows read by the passes that change the graph alone, whatever the memories.
std::vector<std::int64_t> graph_rows_read(const Graph& graph, const Machine& machine) {
  if (has_own_formats(graph)) return compile_key(machine);
  Machine key;
  key.split_products = machine.split_products;
  key.low_rank = machine.low_rank;
  key.low_rank_share = machine.low_rank_share;
  return compile_key(key);
}

}  // namespace

FrontCache::Key graph_key(const Stage& stage, const Machine& machine) {
  return {stage.graph, stage.role, graph_rows_read(*stage.graph, machine)};
}

FrontCache::Key front_key(const std::shared_ptr<const Graph>& graph, Role role, const Machine& machine) {
  return {graph, role, rows_read(*graph, machine)};
}

OperationOrder FrontCache::order_of(const ScheduleProblem& problem, std::int64_t capacity_bytes,
                                    const ScheduleEffort& effort) {
  std::vector<std::int64_t> numbers = numbers_of(problem, effort);
  auto known = choices.find(numbers);
  if (!known) {
    known = std::make_shared<const ScheduleChoices>(schedule_choices(problem, effort, *windows));
    choices.keep(std::move(numbers), *known);
  }
  return chosen_order(problem, **known, capacity_bytes);
}

}  // namespace sdip
