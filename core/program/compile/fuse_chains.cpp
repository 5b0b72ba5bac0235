// pass `fuse_chains`: products with weights, one behind the other, become instructions that carry strips of rows
// through them.
//
// Worked example, the feed-forward of SD 1.5 at 64 x 64, 8 bit: x [8192, 320], v = x W_v, h = gelu(x W_g) v, both
// [8192, 1280], y = h W + x. One by one, norm fused, on a DSRAM of 2 MiB: x comes four times (once as residual), v
// and h leave and come, y leaves: 5 x 2.6 + 4 x 10.5 MB, and 1.2 MB of weights. As one instruction x comes twice
// and y leaves, 7.9 MB, and the weights, which PSRAM holds from the first strip to the last.
#include <algorithm>

#include "core/graph/attributes.h"
#include "core/program/compile/passes.h"
#include "core/program/compile/strip_chain.h"

namespace sdip {
namespace {

std::int64_t features_of(const Graph& graph, ValueId v) {
  const Shape& shape = shape_of(graph, v);
  return shape.empty() ? 1 : shape.back();
}

/// Whether every value inside a draft, and the one it works on, has rows of features as its result has.
bool keeps_feature_rows(const Graph& graph, const Draft& draft, std::int64_t rows) {
  for (const NodeId n : draft.nodes) {
    const Node& node = graph.nodes[static_cast<std::size_t>(n)];
    if (node.outputs[0] == none) return false;
    const Shape& out = shape_of(graph, node.outputs[0]);
    if (out.empty() || out.back() == 0 || element_count(out) / out.back() != rows) return false;
    for (const NodeId other : draft.nodes)
      for (const ValueId v : graph.nodes[static_cast<std::size_t>(other)].inputs)
        if (v == node.outputs[0] && shape_of(graph, v) != out) return false;
    if (n != draft.node && !works_by_elements(graph, node)) return false;
  }
  return true;
}

/// Rows of features in and out of a product with one matrix of weights, of a norm of each row, or of an operator by
/// elements; nothing of others.
std::optional<LoopNest> feature_rows_of(const Graph& graph, const Draft& draft) {
  if (draft.compound != Compound::single || draft.operands.empty() || draft.nodes.empty() ||
      draft.work.element_cycles != 1 || draft.out_elements == 0 || draft.turned_run != 0 || !draft.prologue.empty())
    return std::nullopt;
  const Node& node = graph.nodes[static_cast<std::size_t>(draft.node)];
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

/// Whether a node of the draft reads `made` under the shape that it was made in.
bool reads_as_made(const Graph& graph, const std::vector<ValueId>& roots, const Draft& draft, ValueId made) {
  return std::ranges::all_of(draft.nodes, [&](NodeId n) {
    return std::ranges::all_of(graph.nodes[static_cast<std::size_t>(n)].inputs, [&](ValueId v) {
      return v == none || roots[static_cast<std::size_t>(v)] != made || v == made;
    });
  });
}

/// Whether `next` goes on with rows that `before` makes, or reads what that reads and takes its results beside.
bool goes_on(const Graph& graph, const std::vector<ValueId>& roots, const Draft& before,
             const LoopNest& before_rows, const Draft& next, const LoopNest& rows) {
  const auto made = std::ranges::find(next.operands, before.destination, &DraftOperand::value);
  if (std::ranges::count(next.operands, before.destination, &DraftOperand::value) != 1 ||
      before_rows.out_h != rows.in_h || !reads_as_made(graph, roots, next, before.destination))
    return false;
  const bool first = made == next.operands.begin();
  if (first || !is_nest(next.work.family))
    return before_rows.out_channels == rows.in_channels && (is_nest(next.work.family) || made->fetch.per_fold);
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

/// Adds a draft to the chain; false where it does not go on with it.
bool extend(StripChain& chain, const Graph& graph, const std::vector<ValueId>& roots, const Draft& draft) {
  const auto rows = feature_rows_of(graph, draft);
  if (!rows) return false;
  if (!chain.drafts.empty() && !goes_on(graph, roots, chain.drafts.back(), chain.rows.back(), draft, *rows))
    return false;
  chain.drafts.push_back(draft);
  chain.rows.push_back(*rows);
  chain.may_begin.push_back(is_nest(draft.work.family) || draft.operands[0].fetch.per_fold);
  return true;
}

}  // namespace

std::optional<Draft> joined_chain(const Graph& graph, const std::vector<ValueId>& roots,
                                  const std::vector<Draft>& drafts) {
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
    for (NodeId last = none; i < c.drafts.size(); ++i) {
      const Draft& draft = c.drafts[i];
      const auto shares = [&](const Draft& other) { return share_formats(other, draft, c.machine); };
      if (draft.nodes.empty() || !std::ranges::all_of(chain.drafts, shares)) break;
      const auto [least, most] = std::ranges::minmax(draft.nodes);
      if (least <= last || !std::ranges::is_sorted(draft.nodes)) break;  // nodes of an instruction run in order
      if (!extend(chain, *c.graph, c.roots, draft)) break;
      last = most;
    }
    return has_product(chain) ? chain : StripChain();
  };
  carry_chains(c, use_counts(c), chain_at);
}

}  // namespace sdip
