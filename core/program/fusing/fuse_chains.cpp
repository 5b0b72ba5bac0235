// pass `fuse_chains`: products with weights, one behind the other, become instructions that carry strips of rows
// through them.
//
// Worked example, the feed-forward of SD 1.5 at 64 x 64, 8 bit: x [8192, 320], v = x W_v, h = gelu(x W_g) v, both
// [8192, 1280], y = h W + x. One by one, norm fused, on a DSRAM of 2 MiB: x comes four times (once as residual), v
// and h leave and come, y leaves: 5 x 2.6 + 4 x 10.5 MB, and 1.2 MB of weights. As one instruction x comes once and
// y leaves, 5.2 MB, and the weights, which PSRAM holds from the first strip to the last.
#include <algorithm>
#include <set>

#include "core/graph/attributes.h"
#include "core/program/compile/passes.h"
#include "core/program/fusing/strip_chain.h"
#include "core/program/fusing/view_axes.h"

namespace sdip {
namespace {

std::int64_t features_of(const Graph& graph, ValueId v) {
  const Shape& shape = shape_of(graph, v);
  return shape.empty() ? 1 : shape.back();
}

/// Whether every value inside a draft, and the one it works on, has so many rows of features as its result has.
bool keeps_feature_rows(const Graph& graph, const Draft& draft, std::int64_t rows) {
  for (const NodeId n : draft.nodes) {
    const Node& node = graph.nodes[n];
    if (node.outputs[0] == none) return false;
    const Shape& out = shape_of(graph, node.outputs[0]);
    if (out.empty() || out.back() == 0 || element_count(out) / out.back() != rows) return false;
    for (const NodeId other : draft.nodes)
      for (const ValueId v : graph.nodes[other].inputs)
        if (v == node.outputs[0] && shape_of(graph, v) != out) return false;
    if (n != draft.node && !works_by_elements(graph, node)) return false;
  }
  return true;
}

/// A product of two activations, head by head and frame by frame, whose second operand nothing else repeats.
bool is_product_of_heads(const Graph& graph, const Draft& draft) {
  const Node& node = graph.nodes[draft.node];
  const LoopNest& nest = draft.work.nest;
  return draft.work.family == Family::matmul && !draft.weighted && node.op->type != "Einsum" && nest.batch == 1 &&
         draft.operands.size() == 2 && draft.operands[0].value != draft.operands[1].value &&
         element_count(shape_of(graph, node.inputs[0])) == nest.groups * nest.out_h * nest.in_channels &&
         element_count(shape_of(graph, node.inputs[1])) == nest.groups * nest.in_channels * nest.out_channels;
}

bool may_be_part(const Draft& draft) {
  return draft.compound == Compound::single && !draft.operands.empty() && !draft.nodes.empty() &&
         draft.out_elements > 0 && draft.turned_run == 0 && draft.prologue.empty();
}

/// Rows of features in and out of a product with one matrix of weights, of a norm of each row, or of an operator by
/// elements; nothing of others.
std::optional<LoopNest> feature_rows_of(const Graph& graph, const Draft& draft) {
  if (!may_be_part(draft) || draft.work.element_cycles != 1) return std::nullopt;
  const Node& node = graph.nodes[draft.node];
  const Work& work = draft.work;
  LoopNest nest;
  if (work.family == Family::linear && draft.weighted && work.nest.groups == 1) {
    nest = work.nest;
    nest.out_h = nest.in_h = nest.batch * nest.out_h * nest.out_w;
    nest.batch = nest.in_w = nest.out_w = 1;
    if (nest.kernel_h * nest.kernel_w != 1 || node.op->type == "Einsum") return std::nullopt;
  } else {
    const std::int64_t features = features_of(graph, draft.destination);
    const bool norm = work.family == Family::norm && work.rows > 1 && work.row_length == features;
    const bool elementwise = draft.elementwise && works_by_elements(graph, node);
    if ((!norm && !elementwise) || features == 0) return std::nullopt;
    nest.in_channels = nest.out_channels = features;
    nest.in_h = nest.out_h = draft.out_elements / features;
    if (norm && work.rows != nest.out_h) return std::nullopt;
  }
  if (nest.out_h * nest.out_channels != draft.out_elements || !keeps_feature_rows(graph, draft, nest.out_h))
    return std::nullopt;
  return nest;
}

/// Rows of an attention's products and softmax: a frame's rows have groups, the heads, each of so many features.
/// The rows before are those of features, all heads in one row, or of heads, too. Nothing where they are seen in
/// another order. Example: queries [8192, 320] of two frames, seen as [2, 8, 4096, 40]: 2 frames of 4096 rows of 8
/// groups of 40.
std::optional<LoopNest> head_rows_of(const Graph& graph, const List<ValueId>& roots, const Draft& draft,
                                     const LoopNest& before) {
  const Node& node = graph.nodes[draft.node];
  const bool softmax = draft.operands.size() == 1 && is_softmax_of_last_axis(graph, node);
  if (!may_be_part(draft) || (!softmax && !is_product_of_heads(graph, draft))) return std::nullopt;
  const auto seen = view_axes(graph, roots, node.inputs[0]);
  if (!seen) return std::nullopt;
  LoopNest nest;
  nest.in_channels = nest.out_channels = draft.work.row_length;
  std::int64_t groups = before.batch * before.groups, height = before.out_h;
  if (!softmax) {
    nest = draft.work.nest;
    groups = nest.groups, height = nest.out_h;
  }
  nest.batch = before.batch * before.out_h / height;
  nest.groups = groups / std::max<std::int64_t>(1, nest.batch);
  nest.in_h = nest.out_h = height;
  const std::int64_t heads = nest.groups, features = nest.in_channels, row = heads * features;
  if (nest.batch * height != before.batch * before.out_h || nest.batch * heads != groups ||
      row != before.groups * before.out_channels || !keeps_feature_rows(graph, draft, groups * height) ||
      groups * height * nest.out_channels != draft.out_elements)
    return std::nullopt;
  const bool in_heads = before.groups == heads;
  const ViewAxes as_made = {{groups * height * features, 1}};
  const ViewAxes by_heads = {{nest.batch, height * row}, {heads, features}, {height, row}, {features, 1}};
  return *seen == fewest_axes(in_heads ? as_made : by_heads) ? std::optional(nest) : std::nullopt;
}

/// Whether rows of features are those that products of heads made, the heads of a row one behind the other.
bool gathers_heads(const Graph& graph, const List<ValueId>& roots, const LoopNest& heads, const Draft& next) {
  const auto seen = view_axes(graph, roots, graph.nodes[next.node].inputs[0]);
  const std::int64_t features = heads.out_channels, plane = heads.out_h * features;
  const ViewAxes rows = {
      {heads.batch, heads.groups * plane}, {heads.out_h, features}, {heads.groups, plane}, {features, 1}};
  return seen && *seen == fewest_axes(rows);
}

/// Whether a node of the draft reads `made` under the shape that it was made in.
bool reads_as_made(const Graph& graph, const List<ValueId>& roots, const Draft& draft, ValueId made) {
  return std::ranges::all_of(draft.nodes, [&](NodeId n) {
    return std::ranges::all_of(graph.nodes[n].inputs,
                               [&](ValueId v) { return v == none || roots[v] != made || v == made; });
  });
}

bool is_of_heads(const Draft& draft) {
  return draft.work.family == Family::softmax || draft.work.family == Family::matmul;
}

/// Whether `next` goes on with rows that `before` makes, or reads what that reads and takes its results beside.
bool goes_on(const Graph& graph, const List<ValueId>& roots, const Draft& before, const LoopNest& before_rows,
             const Draft& next, const LoopNest& rows) {
  const auto made = std::ranges::find(next.operands, before.destination, &DraftOperand::value);
  if (std::ranges::count(next.operands, before.destination, &DraftOperand::value) != 1 ||
      before_rows.batch * before_rows.out_h != rows.batch * rows.in_h)
    return false;
  const bool first = made == next.operands.begin();
  if (is_of_heads(next)) return first;
  const bool in_row = before_rows.groups * before_rows.out_channels == rows.in_channels;
  if (before_rows.groups * before_rows.batch > 1)
    return first && is_nest(next.work.family) && in_row && gathers_heads(graph, roots, before_rows, next);
  if (!reads_as_made(graph, roots, next, before.destination)) return false;
  if (first || !is_nest(next.work.family)) return in_row && (is_nest(next.work.family) || made->fetch.per_fold);
  return is_nest(before.work.family) && next.operands[0].value == before.operands[0].value &&
         made->fetch.per_fold && before_rows.in_channels == rows.in_channels &&
         before_rows.out_channels == rows.out_channels;
}

bool has_product(const StripChain& chain) {
  return std::ranges::count_if(chain.drafts, [](const Draft& d) { return is_nest(d.work.family); }) > 1;
}

StripChain chain_of_features() {
  StripChain chain;
  chain.line_buffers = true;
  chain.family = Family::linear;
  return chain;
}

/// The value that the main operator of a draft reads as its first operand; `none` where only others behind it read
/// that.
ValueId first_seen(const Graph& graph, const List<ValueId>& roots, const Draft& draft) {
  const std::vector<ValueId>& inputs = graph.nodes[draft.node].inputs;
  const auto found =
      std::ranges::find_if(inputs, [&](ValueId v) { return v != none && roots[v] == draft.operands[0].value; });
  return found == inputs.end() ? none : *found;
}

bool lies_in_order(const Graph& graph, const List<ValueId>& roots, ValueId v) {
  const auto seen = view_axes(graph, roots, v);
  return seen && seen->size() < 2;
}

/// Whether a chain may begin with a draft: its first operand comes row by row, and where it is read once more that
/// is in the order in which it lies.
bool may_begin(const Graph& graph, const List<ValueId>& roots, const Draft& draft, const LoopNest& rows) {
  const ValueId a = draft.operands[0].value, seen = first_seen(graph, roots, draft);
  if (seen == none || element_count(shape_of(graph, seen)) != rows.in_h * rows.in_channels) return false;
  if (!is_nest(draft.work.family) && !draft.operands[0].fetch.per_fold) return false;
  return std::ranges::count(draft.operands, a, &DraftOperand::value) == 1 ||
         std::ranges::all_of(draft.nodes, [&](NodeId n) {
           return std::ranges::all_of(graph.nodes[n].inputs, [&](ValueId v) {
             return v == none || roots[v] != a || lies_in_order(graph, roots, v);
           });
         });
}

/// Adds a draft to the chain; false where it does not go on with it. All products of heads have the same frames.
bool extend(StripChain& chain, const Graph& graph, const List<ValueId>& roots, const Draft& draft) {
  const bool first = chain.drafts.empty(), heads = is_of_heads(draft);
  if (first && heads) return false;
  const auto rows = heads ? head_rows_of(graph, roots, draft, chain.rows.back()) : feature_rows_of(graph, draft);
  if (!rows) return false;
  if (!first && !goes_on(graph, roots, chain.drafts.back(), chain.rows.back(), draft, *rows)) return false;
  for (std::size_t i = 0; heads && i < chain.drafts.size(); ++i)
    if (is_of_heads(chain.drafts[i]) && chain.rows[i].batch != rows->batch) return false;
  chain.may_begin.push_back(!heads && may_begin(graph, roots, draft, *rows));
  const ValueId seen = first_seen(graph, roots, draft);
  chain.begins_in_order.push_back(seen != none && lies_in_order(graph, roots, seen));
  chain.drafts.push_back(draft);
  chain.rows.push_back(*rows);
  return true;
}

/// Adds an instruction to be, of an attention the three that it was made of.
bool extend_with(StripChain& chain, const Graph& graph, const List<ValueId>& roots, const Draft& draft) {
  if (draft.apart.empty()) return extend(chain, graph, roots, draft);
  const std::size_t before = chain.drafts.size();
  for (const Draft& part : draft.apart)
    if (!extend(chain, graph, roots, part)) {
      chain.drafts.resize(before);
      chain.rows.resize(before);
      chain.may_begin.resize(before);
      chain.begins_in_order.resize(before);
      return false;
    }
  chain.attentions.emplace(before, draft);
  return true;
}

constexpr std::size_t farthest_ahead = 8;

/// Whether a draft reads one of the values, or one that they are joined in.
bool reads_any(const Draft& draft, const std::set<ValueId>& values, const Joined& joined) {
  const auto is_one = [&](ValueId v) { return values.contains(v); };
  return std::ranges::any_of(draft.operands, [&](const DraftOperand& operand) {
    const auto parts = joined.find(operand.value);
    return is_one(operand.value) || (parts != joined.end() && std::ranges::any_of(parts->second, is_one));
  });
}

/// The next draft from `begin` on that reads anything of what a chain has `made`, if it reads what its last one
/// made; else, and where there is none near, their number.
std::size_t next_of(const Compilation& c, const std::set<ValueId>& made, ValueId last, std::size_t begin) {
  for (std::size_t i = begin; i < std::min(c.drafts.size(), begin + farthest_ahead); ++i)
    if (reads_any(c.drafts[i], made, c.joined)) return reads_any(c.drafts[i], {last}, {}) ? i : c.drafts.size();
  return c.drafts.size();
}

}  // namespace

std::optional<Draft> joined_chain(const Graph& graph, const List<ValueId>& roots, const List<Draft>& drafts) {
  StripChain chain = chain_of_features();
  for (const Draft& draft : drafts)
    if (!extend(chain, graph, roots, draft)) return std::nullopt;
  if (drafts.empty()) return std::nullopt;
  return chain.join(0, drafts.size() - 1);
}

void fuse_chains(Compilation& c) {
  if (c.machine.fused_chains == FusedChains::off) return;
  live(c);
  const auto chain_at = [&c](std::size_t i) {
    StripChain chain = chain_of_features();
    std::set<ValueId> made;
    NodeId last = none;
    while (i < c.drafts.size()) {
      const std::size_t next = made.empty() ? i : next_of(c, made, chain.drafts.back().destination, i);
      if (next == c.drafts.size()) break;
      const Draft& draft = c.drafts[next];
      const auto shares = [&](const Draft& other) { return share_formats(other, draft, c.machine); };
      if (draft.nodes.empty() || !std::ranges::all_of(chain.drafts, shares)) break;
      if (chain.drafts.size() >= most_strip_parts && !has_product(chain)) break;
      const auto [least, most] = std::ranges::minmax(draft.nodes);
      if (least <= last || !std::ranges::is_sorted(draft.nodes)) break;  // nodes of an instruction run in order
      if (!extend_with(chain, *c.graph, c.roots, draft)) break;
      for (; i < next; ++i) chain.passed.push_back(c.drafts[i]);
      made.insert(chain.drafts.back().destination);
      last = most;
      i = next + 1;
    }
    return has_product(chain) ? chain : StripChain();
  };
  carry_chains(c, use_counts(c), chain_at);
  for (Draft& draft : c.drafts) draft.apart.clear();
}

}  // namespace sdip
