// partition: a network cut into parts in series, one a core, each with its own weights.
//
// Worked example: nodes of 4, 4, 2, 6, 2, 6 cycles on three cores are cut 4+4 | 2+6 | 2+6, the longest part 8;
// cutting 4 | 4+2 | 6+2+6 would have 14. Among cuts with an equally long longest part the one whose links carry
// least is taken.
#include "core/program/tiling/partition.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

/// For each position p, elements of values made before node p and needed from it on: what a link there would carry.
std::vector<std::int64_t> crossing_elements(const Graph& graph) {
  std::vector<std::int64_t> change(graph.nodes.size() + 1, 0);
  List<std::size_t> last(graph.values.size(), 0), made(graph.values.size(), 0);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId v : graph.nodes[n].inputs)
      if (v != none) last[v] = n;
    for (const ValueId v : graph.nodes[n].outputs)
      if (v != none) made[v] = n;
  }
  for (const ValueId v : graph.outputs) last[v] = graph.nodes.size();
  for (std::size_t v = 0; v < graph.values.size(); ++v) {
    const Value& value = graph.values[v];
    const bool input = value.kind == ValueKind::input;
    if (value.kind == ValueKind::weight || (!input && value.producer == none)) continue;
    const std::size_t from = input ? 1 : made[v] + 1;  // a cut at 0 cuts nothing
    if (from > last[v]) continue;
    change[from] += element_count(value.operand.shape);
    if (last[v] + 1 < change.size()) change[last[v] + 1] -= element_count(value.operand.shape);
  }
  for (std::size_t p = 1; p < change.size(); ++p) change[p] += change[p - 1];
  return change;
}

/// The parts between which each value travels: made in one (inputs: before the first), last needed in another (the
/// graph's results: after the last).
struct Travel {
  List<std::int32_t> made, needed;
};
Travel travel_of(const Graph& graph, const std::vector<std::int32_t>& part_of_node, std::int32_t parts) {
  Travel t{std::vector<std::int32_t>(graph.values.size(), -1), std::vector<std::int32_t>(graph.values.size(), -1)};
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const ValueId v : graph.nodes[n].outputs)
      if (v != none) t.made[v] = part_of_node[n];
    for (const ValueId v : graph.nodes[n].inputs)
      if (v != none) t.needed[v] = std::max(t.needed[v], part_of_node[n]);
  }
  for (const ValueId v : graph.outputs) t.needed[v] = parts;
  return t;
}

/// A part under construction: nodes and values of the whole that it needs, numbered anew.
struct PartGraph {
  const Graph& whole;
  Graph graph{};
  std::map<ValueId, ValueId> numbers{};
  std::set<std::size_t> nodes{};  // of the whole

  /// A node of the part, and those that make its weights.
  void add_node(std::size_t n) {
    if (!nodes.insert(n).second) return;
    for (const ValueId v : whole.nodes[n].inputs) {
      if (v == none) continue;
      const Value& value = whole.values[v];
      if (value.kind == ValueKind::weight && value.producer != none) add_node(as_size(value.producer));
    }
  }

  ValueId number(ValueId v) {
    if (v == none) return none;
    const auto [entry, fresh] = numbers.try_emplace(v, static_cast<ValueId>(graph.values.size()));
    if (fresh) graph.values.push_back(whole.values[v]);
    return entry->second;
  }

  void copy_nodes() {
    for (const std::size_t n : nodes) {
      Node node = whole.nodes[n];
      for (ValueId& v : node.inputs) v = number(v);
      for (ValueId& v : node.outputs) v = number(v);
      graph.nodes.push_back(std::move(node));
    }
  }
};

/// The parts' graphs. Values that cross are inputs and outputs; one that a later part needs passes through.
std::vector<Graph> part_graphs(const Graph& whole, const std::vector<std::size_t>& bounds) {
  const auto parts = static_cast<std::int32_t>(bounds.size() - 1);
  List<PartGraph> made(bounds.size() - 1, PartGraph{whole});
  std::vector<std::int32_t> part_of_node(whole.nodes.size());
  for (std::size_t p = 0; p + 1 < bounds.size(); ++p)
    for (std::size_t n = bounds[p]; n < bounds[p + 1]; ++n) {
      part_of_node[n] = static_cast<std::int32_t>(p);
      made[p].add_node(n);
    }
  for (PartGraph& part : made) {
    part.graph.name = whole.name, part.graph.producer = whole.producer, part.graph.opset = whole.opset;
    part.graph.own_operators = whole.own_operators;
    part.copy_nodes();
  }
  const Travel travel = travel_of(whole, part_of_node, parts);
  for (ValueId v = 0; v < std::ssize(whole.values); ++v) {
    const Value& value = whole.values[v];
    if (value.kind == ValueKind::weight) continue;
    for (std::int32_t p = std::max(0, travel.made[v]); p < parts && p <= travel.needed[v]; ++p) {
      PartGraph& part = made[p];
      const ValueId here = part.number(v);
      if (p > travel.made[v]) {
        part.graph.values[here].kind = ValueKind::input;
        part.graph.inputs.push_back(here);
      }
      if (p < travel.needed[v] && p + 1 < parts) part.graph.outputs.push_back(here);
    }
  }
  std::vector<Graph> graphs;
  for (const ValueId v : whole.outputs) made.back().graph.outputs.push_back(made.back().number(v));
  for (PartGraph& part : made) {
    link(part.graph);
    graphs.push_back(std::move(part.graph));
  }
  return graphs;
}

constexpr std::size_t none_yet = ~std::size_t{0};

/// The least length that `parts` parts in a row need not exceed: by halving, counting parts greedily.
std::int64_t shortest_longest(const std::vector<std::int64_t>& cycles, std::size_t parts) {
  std::int64_t low = 0, high = 0;
  for (const std::int64_t c : cycles) low = std::max(low, c), high += c;
  while (low < high) {
    const std::int64_t limit = low + (high - low) / 2;
    std::size_t count = 1;
    std::int64_t sum = 0;
    for (const std::int64_t c : cycles) {
      if (sum + c > limit) ++count, sum = 0;
      sum += c;
    }
    if (count <= parts)
      high = limit;
    else
      low = limit + 1;
  }
  return low;
}

}  // namespace

std::vector<std::size_t> balanced_cuts(const std::vector<std::int64_t>& cycles,
                                       const std::vector<std::int64_t>& crossing, std::size_t parts) {
  check(parts >= 1 && parts <= cycles.size(), "as many parts as there are nodes at most");
  const std::size_t n = cycles.size();
  const std::int64_t longest = shortest_longest(cycles, parts);
  // For each position, how far a part that begins there may reach, and how many parts the rest then needs.
  std::vector<std::size_t> reach(n + 1, n), needed(n + 1, 0);
  std::int64_t sum = 0;
  for (std::size_t from = n, to = n; from-- > 0;) {
    for (sum += cycles[from]; sum > longest;) sum -= cycles[--to];
    reach[from] = to;
    needed[from] = 1 + needed[to];
  }
  std::vector<std::size_t> cuts;
  for (std::size_t begin = 0; parts > 1; begin = cuts.back()) {
    --parts;
    std::size_t best = none_yet;
    for (std::size_t p = std::min(reach[begin], n - parts); p > begin && needed[p] <= parts; --p)
      if (best == none_yet || crossing[p] < crossing[best]) best = p;
    check(best != none_yet, "parts of the shortest longest length exist");
    cuts.push_back(best);
  }
  return cuts;
}

std::vector<Stage> partition(const Stage& stage, const Machine& machine) {
  const Graph& graph = *stage.graph;
  const std::size_t parts = std::min<std::size_t>(as_size(machine.cores), graph.nodes.size());
  if (stage.role != Role::network || machine.core_weights == CoreWeights::common || parts < 2) return {stage};
  std::vector<std::int64_t> cycles;
  for (const Node& node : graph.nodes) {
    const bool made_once = std::ranges::all_of(
        node.outputs, [&](ValueId v) { return v == none || graph.values[v].kind == ValueKind::weight; });
    cycles.push_back(made_once ? 0 : reference_cycles(work_of(graph, node)));
  }
  std::vector<std::size_t> bounds{0};
  for (const std::size_t cut : balanced_cuts(cycles, crossing_elements(graph), parts)) bounds.push_back(cut);
  bounds.push_back(graph.nodes.size());
  std::vector<Stage> stages;
  for (Graph& part : part_graphs(graph, bounds)) {
    const auto index = static_cast<std::int32_t>(stages.size());
    stages.push_back({stage.role,
                      fmt::format("{}/{}", stage.name, index + 1),
                      std::make_shared<const Graph>(std::move(part)),
                      {},
                      {index, static_cast<std::int32_t>(parts)}});
  }
  return stages;
}

void share_channel(std::vector<CompiledStage>& stages) {
  const auto moved = [](const CompiledStage& stage) {
    const Program& p = stage.program;
    const std::int64_t streamed = p.pinned_bytes > Bytes(0) && p.pinned_bytes >= p.distinct_weight_bytes
                                      ? 0
                                      : (p.weight_bytes - std::min(p.weight_bytes, p.pinned_bytes)).value;
    return static_cast<double>(streamed + p.input_bytes.value + p.output_bytes.value);
  };
  double all = 0;
  std::int64_t parts = 0;
  for (const CompiledStage& stage : stages)
    if (stage.part.count > 1) all += moved(stage), ++parts;
  for (CompiledStage& stage : stages) {
    if (stage.part.count <= 1) continue;
    const auto free = static_cast<double>(std::max<std::int64_t>(0, 1000 - parts));  // one for each part
    const double wanted = all > 0 ? moved(stage) / all : 1.0 / static_cast<double>(parts);
    stage.dram_thousandths = 1 + static_cast<std::int64_t>(free * wanted);
  }
}

}  // namespace sdip
