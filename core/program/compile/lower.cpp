// pass `lower`: graph nodes to drafts of instructions.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/ops/use.h"
#include "core/program/compile/part_views.h"
#include "core/program/compile/passes.h"
#include "core/program/form/fields.h"
#include "core/program/tiling/tiles.h"

namespace sdip {

bool is_view(const Graph& graph, const Node& node, const Work& work, const Machine& machine) {
  const auto is_made = [&](ValueId v) { return v != none && graph.values[v].kind != ValueKind::weight; };
  return work.family == Family::view ||
         (work.family == Family::transpose && machine.transposition == Transposition::dynamic_transposition &&
          is_made(node.inputs[0]) && std::ranges::count_if(node.inputs, is_made) == 1);
}

namespace {

/// Weights that a nest multiplies: each of its products has one of its own but for rows, columns and frames.
std::int64_t multiplied_elements(const LoopNest& n) {
  return bounded_product(n.groups, n.out_channels, n.in_channels, n.kernel_h, n.kernel_w);
}

/// Products multiply the second operand and, of recurrent layers, the third; what is beyond is added.
bool multiplies_third(const Graph& graph, const Draft& draft) {
  const Operator& op = *graph.nodes[draft.node].op;
  return op.domain.empty() && (op.type == "RNN" || op.type == "GRU" || op.type == "LSTM");
}

void add_weight(const Graph& graph, ValueId v, std::int64_t read_elements, std::size_t position, Draft& draft) {
  const std::int64_t elements = element_count(graph.values[v].operand.shape);
  draft.weights.push_back(v);
  if (draft.weighted) {
    const bool multiplied = position == 1 || (position == 2 && multiplies_third(graph, draft));
    (multiplied ? draft.weight_elements : draft.bias_elements) += elements;
    return;
  }
  // A lookup fetches only the rows it needs; what is read again for each row of the result is fetched once.
  const std::int64_t stored = std::min(elements, read_elements);
  draft.held_weight_elements += stored;
  draft.weight_fetches.push_back({Place::psram, read_elements, 1, read_elements > stored});
}

void add_operands(const Graph& graph, const Node& node, const Views& views, Draft& draft) {
  const std::vector<std::int64_t>& reads = draft.work.read_elements;
  const bool nest = is_nest(draft.work.family);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == none) continue;
    const Value& value = graph.values[v];
    const bool multiplied = nest && i < 2, with_weights = draft.weighted && value.kind == ValueKind::weight;
    if (is_scalar(value) && !multiplied && !with_weights) continue;
    // Beside a product's two an operand is read once and held.
    const std::int64_t read = nest ? element_count(value.operand.shape) : i < reads.size() ? reads[i] : 0;
    if (!nest && read == 0) continue;  // shapes, axes, scales: used at compile time
    if (value.kind == ValueKind::weight) {
      add_weight(graph, v, read, i, draft);
      continue;
    }
    const std::int64_t total = nest ? 0 : draft.work.rows * draft.work.row_length;
    const bool per_fold = total > 0 && read >= total && read % total == 0;
    const Fetch fetch{Place::nowhere, per_fold ? total : read, per_fold ? read / total : 1, per_fold};
    const auto at = as_size(v);
    const bool aligned = node.op->work == elementwise_work && views.turned[at] == 0;
    draft.operands.push_back({views.roots[at], fetch, aligned});
  }
}

/// The operand that a product of weights multiplies by.
std::size_t multiplier_of(const Graph& graph, const Draft& draft) {
  return as_size(graph.nodes[draft.node].inputs[1]);
}

/// The formats of a draft's operands, results, weights and sums; nothing where all are the machine's.
std::optional<Formats> formats_in(const Graph& graph, const Draft& draft, const Machine& machine) {
  const auto format = [&](ValueId v) { return graph.values[v].format; };
  const Formats standard = formats_of(machine);
  Formats formats = standard;
  formats.results = format(draft.destination).value_or(standard.results);
  formats.activations = formats.results;
  const auto is_float = [&](const DraftOperand& o) { return is_floating(graph.values[o.value].operand.type); };
  if (const auto first = std::ranges::find_if(draft.operands, is_float); first != draft.operands.end())
    formats.activations = format(first->value).value_or(standard.activations);
  for (const ValueId v : draft.weights)
    if (format(v)) formats.weights = *format(v);
  if (is_nest(draft.work.family)) formats.accumulators = graph.values[draft.destination].sums;
  if (draft.weighted) formats.density_hundredths = graph.values[multiplier_of(graph, draft)].density_hundredths;
  return formats == standard ? std::nullopt : std::optional(formats);
}

/// The draft of a node, without its operands.
Draft empty_draft(const Graph& graph, NodeId id, const Work& work, ValueId out) {
  Draft draft;
  draft.node = id;
  draft.nodes = {id};
  draft.mnemonic = std::string(graph.nodes[id].op->mnemonic);
  draft.work = work;
  draft.destination = out;
  draft.out_elements = element_count(graph.values[out].operand.shape);
  return draft;
}

/// A further result of an operator (a recurrent layer's last states, indices of the greatest): a copy of what was
/// computed with the first one, which it comes after. It is charged as if read from there.
Draft copy_beside(const Graph& graph, NodeId id, ValueId first, ValueId out) {
  const std::int64_t elements = element_count(graph.values[out].operand.shape);
  Draft draft = empty_draft(graph, id, Work{Family::vector, {}, 1, elements, 1, {elements}, elements}, out);
  draft.operands.push_back({first, {Place::nowhere, elements, 1, true}, false});
  return draft;
}

Draft draft_of(const Graph& graph, NodeId id, const Work& work, ValueId out, const Views& views) {
  const Node& node = graph.nodes[id];
  Draft draft = empty_draft(graph, id, work, out);
  draft.weighted = is_nest(work.family) && node.inputs.size() > 1 && node.inputs[1] != none &&
                   graph.values[node.inputs[1]].kind == ValueKind::weight;
  add_operands(graph, node, views, draft);
  // Weights that repeat along some of the products come for each of them.
  if (draft.weighted) draft.weight_elements = multiplied_elements(work.nest);
  draft.elementwise =
      out == node.outputs[0] && !makes_several(node) && work.family == Family::vector && work.passes == 1 &&
      work.rows == 1 && work.element_cycles == 1 && work.row_length == draft.out_elements &&
      !draft.operands.empty() &&
      std::ranges::all_of(draft.operands, [](const DraftOperand& o) { return o.fetch.passes == 1; });
  return draft;
}

}  // namespace

bool makes_several(const Node& node) {
  const auto results = std::ranges::count_if(node.outputs, [](ValueId v) { return v != none; });
  return results > 1 && !(node.op->domain.empty() && node.op->type == "Split");
}

bool is_scalar(const Value& value) {
  const std::int64_t elements = element_count(value.operand.shape);
  return elements <= 1 || (value.kind == ValueKind::input && value.operand.shape.size() <= 1 && elements <= 16);
}

namespace {

/// `in_place`: nodes that are read in place are added.
List<Draft> drafts_of(const Graph& graph, const Machine& machine, Views& views, std::vector<NodeId>& in_place) {
  views.joined.clear();
  views.taken.assign(graph.values.size(), 0);
  views.turned.assign(graph.values.size(), 0);
  views.roots.resize(graph.values.size());
  std::iota(views.roots.begin(), views.roots.end(), 0);
  List<Draft> drafts;
  drafts.reserve(graph.nodes.size());
  for (NodeId n = 0; n < std::ssize(graph.nodes); ++n) {
    const Node& node = graph.nodes[n];
    const auto is_activation = [&](ValueId v) {
      return v != none && graph.values[v].kind == ValueKind::activation;
    };
    if (std::ranges::none_of(node.outputs, is_activation)) continue;
    Work work = work_of(graph, node);
    const Work own = work;
    if (work.family == Family::constant) continue;
    if (is_view(graph, node, work, machine)) {
      const ValueId from = node.inputs[0];
      if (graph.values[from].kind == ValueKind::weight) continue;
      const auto to = at(node.outputs[0]);
      views.roots[to] = views.roots[from];
      views.turned[to] = views.turned[from] != 0 || work.family == Family::transpose;
      continue;
    }
    if (joins_in_place(graph, node, views, machine)) {
      for (const ValueId v : node.inputs) views.joined[node.outputs[0]].push_back(views.roots[v]);
      for (const ValueId root : views.joined[node.outputs[0]]) views.taken[root] = 1;
      in_place.push_back(n);
      continue;
    }
    if (parts_in_place(graph, node, views, machine)) {
      for (const ValueId part : node.outputs) {
        views.roots[part] = views.roots[node.inputs[0]];
        views.turned[part] = 1;
      }
      in_place.push_back(n);
      continue;
    }
    const auto outputs = std::ranges::count_if(node.outputs, is_activation);
    const auto first = std::ranges::find_if(node.outputs, is_activation);
    for (const ValueId out : node.outputs) {
      if (!is_activation(out)) continue;
      if (outputs > 1 && !makes_several(node)) {
        // A Split: a copy for each output, which reads its part, and what else the node reads.
        const std::int64_t part = element_count(graph.values[out].operand.shape);
        std::vector<std::int64_t> reads = own.read_elements;
        reads.resize(std::max<std::size_t>(reads.size(), 1));
        reads[0] = part;
        work = Work{Family::vector, {}, 1, part, 1, std::move(reads), part};
      }
      const bool beside = makes_several(node) && out != *first;
      drafts.push_back(beside ? copy_beside(graph, n, *first, out) : draft_of(graph, n, work, out, views));
      drafts.back().formats = formats_in(graph, drafts.back(), machine);
    }
  }
  return drafts;
}

/// Work beyond 2^50 MACs or elements an instruction is refused: sums over a program then fit 64 bits.
std::optional<std::string> uncountable(const Graph& graph, const List<Draft>& drafts) {
  for (const Draft& draft : drafts) {
    const LoopNest& n = draft.work.nest;
    double work = 1;
    if (is_nest(draft.work.family)) {
      for (const std::int64_t size :
           {n.groups, n.batch, n.out_channels, n.in_channels, n.out_h, n.out_w, n.kernel_h, n.kernel_w})
        work *= static_cast<double>(size);
    } else {
      for (const std::int64_t size : {draft.work.rows, draft.work.row_length, draft.work.passes})
        work *= static_cast<double>(size);
    }
    if (work > 0x1p50) return graph.nodes[draft.node].name + ": more than 2^50 multiplications or elements";
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// These nodes of the graph, and no others, say that they are read in place.
void say_in_place(Compilation& c, const std::vector<NodeId>& in_place) {
  List<char> said(c.graph->nodes.size(), 0);
  for (const NodeId n : in_place) said[n] = 1;
  const auto says = [](const Node& node, char should) { return node.in_place == (should != 0); };
  if (std::ranges::equal(c.graph->nodes, said, says)) return;
  auto graph = std::make_shared<Graph>(*c.graph);
  for (std::size_t n = 0; n < said.size(); ++n) graph->nodes[n].in_place = said[n] != 0;
  c.graph = std::move(graph);
}

}  // namespace

void lower(Compilation& c) {
  Views views;
  std::vector<NodeId> in_place;
  c.drafts = drafts_of(*c.graph, c.machine, views, in_place);
  if (c.drafts.empty()) {
    copy_results(c);
    in_place.clear();
    c.drafts = drafts_of(*c.graph, c.machine, views, in_place);
  }
  say_in_place(c, in_place);
  c.roots = std::move(views.roots);
  c.joined = std::move(views.joined);
  c.infeasible = uncountable(*c.graph, c.drafts);
}

}  // namespace sdip
