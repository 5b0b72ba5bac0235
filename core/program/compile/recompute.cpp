// pass `recompute`: values that would come back from DRAM are made again instead.
//
// The stage is compiled as it is. For each value that is read from DRAM, the largest first, the nodes that make it
// are copied before each of those readers, back to values that are on chip there (at most three operators back),
// and the stage is compiled again. The copy stays when fewer bytes are moved, the weights that are read again
// included.
#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/program/compile/passes.h"

namespace sdip {
namespace {

constexpr std::size_t most_trials = 16;  // compilations of one stage
constexpr std::int32_t most_depth = 3;   // operators made again for one value

/// Trials have the quick schedule in place of the thorough one, which takes as long as all else.
Machine tried_on(Machine machine) {
  if (machine.schedule == ScheduleOrder::least_live_thorough) machine.schedule = ScheduleOrder::least_live;
  return machine;
}

Compilation placed(const Compilation& from, const Machine& machine, std::shared_ptr<const Graph> graph) {
  Compilation trial = asked_alike(from, machine, std::move(graph));
  trial.say_needed_bytes = false;
  bool after = false;
  for (const Pass& pass : passes()) {
    if (after && !trial.infeasible && pass.run != classify) pass.run(trial);
    after = after || pass.run == recompute;
  }
  return trial;
}

/// Values made in the stage that instructions read from DRAM, the largest first.
std::vector<ValueId> returning(const Compilation& c) {
  std::set<ValueId> values;
  for (const Instruction& instruction : c.placement.instructions)
    for (const PlacedOperand& source : instruction.sources)
      if (source.place == Place::dram && !c.lives[source.value].is_input && !c.lives[source.value].joined)
        values.insert(source.value);
  std::vector<ValueId> sorted(values.begin(), values.end());
  std::ranges::stable_sort(sorted, std::greater<>(), [&](ValueId v) { return c.lives[v].bytes; });
  return sorted;
}

/// Makes copies of nodes, in order, before one reader.
struct Copier {
  const Compilation& c;
  Graph& graph;  // values are appended
  std::int32_t reader = 0;
  std::vector<Node> nodes{};
  std::map<ValueId, ValueId> copies{};

  bool on_chip(ValueId v) const {
    const Life& life = c.lives[v];
    return !life.in_dram && !life.spilled && life.made < reader && !life.uses.empty() && life.uses.back() >= reader;
  }
  /// `v` made again; `wanted` itself always, what it needs down to `depth` operators.
  ValueId copy(ValueId v, std::int32_t depth, bool wanted) {
    if (v == none) return none;
    if (const auto done = copies.find(v); done != copies.end()) return done->second;
    const Value value = graph.values[v];
    const bool view = c.roots[v] != v;
    if (value.kind != ValueKind::activation || value.producer == none) return v;
    if (!view && !wanted && (depth == 0 || on_chip(v))) return v;
    if (view && !wanted && on_chip(c.roots[v])) return v;
    Node node = c.graph->nodes[value.producer];
    if (node.op->random || std::ranges::count_if(node.outputs, [](ValueId o) { return o != none; }) != 1) return v;
    node.name += "/again" + std::to_string(reader);
    for (ValueId& input : node.inputs) input = copy(input, view ? depth : depth - 1, wanted && view);
    Value again = value;
    again.name += "/again" + std::to_string(reader);
    again.consumers.clear();
    graph.values.push_back(std::move(again));
    const auto id = static_cast<ValueId>(graph.values.size() - 1);
    for (ValueId& output : node.outputs)
      if (output == v) output = id;
    nodes.push_back(std::move(node));
    copies[v] = id;
    return id;
  }
};

/// Where copies come: before the reader's first node, or as soon as what they read is made. In a fused attention
/// what is added to the scores may be made behind them.
NodeId place_of(const Compilation& c, const std::vector<Node>& copies, NodeId first) {
  for (const Node& node : copies)
    for (const ValueId input : node.inputs) {
      if (input == none || at(input) >= c.roots.size()) continue;
      const NodeId maker = c.graph->values[input].producer;
      if (maker != none) first = std::max(first, maker + 1);
    }
  return first;
}

/// The graph with `value` made again, from `depth` operators back, before each draft that reads it from DRAM.
std::optional<Graph> made_again(const Compilation& c, ValueId value, std::int32_t depth) {
  Graph graph = *c.graph;
  std::map<NodeId, std::vector<Node>> before;  // nodes to insert
  for (std::size_t i = 0; i < c.drafts.size(); ++i) {
    const auto& sources = c.placement.instructions[i].sources;
    if (std::ranges::none_of(sources,
                             [&](const PlacedOperand& s) { return s.value == value && s.place == Place::dram; }))
      continue;
    Copier copier{c, graph, static_cast<std::int32_t>(i)};
    for (const NodeId n : c.drafts[i].nodes)
      for (ValueId& input : graph.nodes[n].inputs)
        // Each result of a Split or the like has a draft: an input may be a copy already, which another one reads.
        if (input != none && at(input) < c.roots.size() && c.roots[input] == value)
          input = copier.copy(input, depth, true);
    if (copier.nodes.empty()) return std::nullopt;
    auto& nodes = before[place_of(c, copier.nodes, *std::ranges::min_element(c.drafts[i].nodes))];
    nodes.insert(nodes.end(), copier.nodes.begin(), copier.nodes.end());
  }
  if (before.empty()) return std::nullopt;
  std::vector<Node> all;
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    if (const auto found = before.find(n); found != before.end())
      all.insert(all.end(), found->second.begin(), found->second.end());
    all.push_back(std::move(graph.nodes[n]));
  }
  graph.nodes = std::move(all);
  link(graph);
  return graph;
}

}  // namespace

void recompute(Compilation& c) {
  if (c.machine.skip_handling != SkipHandling::recompute) return;
  const Machine machine = tried_on(c.machine);
  std::optional<Compilation> best = placed(c, machine, c.graph);
  c.psram_bytes.narrow(best->psram_bytes);
  if (best->infeasible) return;
  Int128 least = pass_needs(*best).bytes;
  std::set<std::string> tried;  // by name: numbers change with the graph
  std::size_t trials = 0;
  for (bool again = true; again && trials < most_trials;) {
    again = false;
    for (const ValueId v : returning(*best)) {
      if (trials >= most_trials || again) break;
      if (!tried.insert(best->graph->values[v].name).second) continue;
      std::size_t nodes = 0;
      for (std::int32_t depth = 1; depth <= most_depth && trials < most_trials && !again; ++depth) {
        auto graph = made_again(*best, v, depth);
        if (!graph || graph->nodes.size() == nodes) break;  // what is farther back is on chip
        nodes = graph->nodes.size();
        ++trials;
        Compilation trial = placed(c, machine, std::make_shared<const Graph>(*std::move(graph)));
        c.psram_bytes.narrow(trial.psram_bytes);
        if (trial.infeasible || pass_needs(trial).bytes >= least) continue;
        least = pass_needs(trial).bytes;
        c.graph = trial.graph;
        best.emplace(std::move(trial));
        again = true;
      }
    }
  }
  c.made_again = c.graph;
}

}  // namespace sdip
