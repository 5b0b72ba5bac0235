// pass `fuse_strips`: chains of operators become instructions that carry strips through them.
//
// Worked example. Four 3x3 convolutions of 64 channels on 128 x 128 int8 values (1 MiB each), DSRAMs of 512 KiB:
// one by one they read and write 8 MiB and more; as one instruction 1 MiB is read (halo rows again for each strip)
// and 1 MiB written.
//
// A chain is a run of drafts each of which alone reads the one before, row for row. It is cut, by dynamic
// programming over its cut points, into instructions of one draft or more, such that they move the fewest DRAM
// bytes; of equals the fewer multiplications. A value larger than a DSRAM is taken to lie in DRAM, any other on
// chip.
#include <algorithm>

#include "core/graph/attributes.h"
#include "core/program/compile/passes.h"
#include "core/program/fusing/strip_chain.h"

namespace sdip {
namespace {

/// The first of a list of numbers, that of rows; 1 where there is none.
std::int64_t of_rows(const Node& node, const char* attribute) {
  const auto values = attribute_or(node, attribute, std::vector<std::int64_t>());
  return values.empty() ? 1 : values[0];
}

/// Whether a node reads `made` under another shape or in another order: its rows are not those that were made.
bool reads_otherwise(const Graph& graph, const Node& node, ValueId made) {
  return std::ranges::any_of(node.inputs, [&](ValueId input) {
    bool turned = false;
    for (ValueId v = input; v != made;) {
      const NodeId maker = v == none ? none : graph.values[v].producer;
      if (maker == none) return false;
      const Node& seen_through = graph.nodes[maker];
      const Family family = work_of(graph, seen_through).family;
      if ((family != Family::view && family != Family::transpose) || seen_through.inputs.empty()) return false;
      turned |= family == Family::transpose;
      v = seen_through.inputs[0];
    }
    return turned || shape_of(graph, input) != shape_of(graph, made);
  });
}

/// Whether all that a draft computes keeps its rows where they are: results of four axes, of one height, each read
/// as it was made.
bool keeps_rows(const Graph& graph, const Draft& draft) {
  const Shape& result = shape_of(graph, draft.destination);
  bool behind = false;  // from the main operator on; a prologue works on what is read
  for (const NodeId n : draft.nodes) {
    const Node& node = graph.nodes[n];
    behind |= n == draft.node;
    if (node.outputs[0] == none) return false;
    const Shape& out = shape_of(graph, node.outputs[0]);
    if (result.size() != 4 || out.size() != 4) return false;
    for (const NodeId other : draft.nodes)
      if (other != n && reads_otherwise(graph, graph.nodes[other], node.outputs[0])) return false;
    if (!behind) continue;
    if (out[2] != result[2]) return false;
    if (n != draft.node && !works_by_elements(graph, node)) return false;
  }
  return true;
}

/// How the rows of a draft's result follow from those of its operand, as a nest; nothing when it is not row by row.
std::optional<LoopNest> rows_of(const Graph& graph, const Draft& draft) {
  if (draft.compound != Compound::single || draft.operands.empty() || draft.prologue_sums ||
      draft.work.element_cycles != 1)
    return std::nullopt;
  if (!draft.nodes.empty() && !keeps_rows(graph, draft)) return std::nullopt;
  const Work& work = draft.work;
  const Node& node = graph.nodes[draft.node];
  if (work.family == Family::conv2d && draft.weighted)  // of others the nest's rows are not the result's
    return node.op->type == "Conv" || node.op->type == "QuantizedConv" ? std::optional(work.nest) : std::nullopt;
  if (work.family != Family::vector || work.rows != 1 || work.passes != 1) return std::nullopt;
  if (node.inputs.empty() || node.inputs[0] == none || node.outputs[0] == none) return std::nullopt;
  const Shape& out = shape_of(graph, node.outputs[0]);
  const bool one_result = std::ranges::count(node.outputs, none) + 1 == std::ssize(node.outputs);
  const bool pools = one_result && (node.op->type == "MaxPool" || node.op->type == "AveragePool");
  const bool resizes = node.op->type == "Resize" || node.op->type == "Upsample";
  if (out.size() != 4 || element_count(out) != draft.out_elements) return std::nullopt;
  const Shape& in = pools || resizes ? shape_of(graph, node.inputs[0]) : out;
  if (in.size() != 4 || in[0] != out[0] || in[1] != out[1] || work.row_length % (out[0] * out[2]) != 0)
    return std::nullopt;
  if (!pools && !resizes && !(draft.elementwise && works_by_elements(graph, node))) return std::nullopt;
  LoopNest nest;
  nest.batch = in[0];
  nest.in_channels = nest.out_channels = in[1];
  nest.in_h = in[2], nest.in_w = in[3], nest.out_h = out[2], nest.out_w = out[3];
  if (resizes && (work.row_length != draft.out_elements || out[2] % in[2] != 0 || out[3] % in[3] != 0))
    return std::nullopt;  // not nearest, or by no whole number
  if (pools) {
    nest.kernel_h = of_rows(node, "kernel_shape");
    nest.stride_h = of_rows(node, "strides");
    nest.dilation_h = of_rows(node, "dilations");
    if (out[2] > in[2]) return std::nullopt;
  }
  return nest;
}

bool follows(const LoopNest& before, const LoopNest& next) {
  return before.batch == next.batch && before.out_h == next.in_h && before.out_w == next.in_w &&
         before.groups * before.out_channels == next.groups * next.in_channels;
}

/// Whether what `before` makes is, row for row, what `next` reads, once.
bool takes_strips(const Graph& graph, const Draft& before, const LoopNest& before_rows, const Draft& next,
                  const LoopNest& rows) {
  if (before.out_elements == 0) return false;
  if (std::ranges::count(next.operands, before.destination, &DraftOperand::value) != 1) return false;
  if (is_nest(next.work.family) && next.operands[0].value != before.destination) return false;
  for (const NodeId n : next.nodes)
    if (reads_otherwise(graph, graph.nodes[n], before.destination)) return false;
  return follows(before_rows, rows);
}

struct Linking {
  const Compilation& c;
  List<std::int32_t> uses;

  /// Whether `next` can take strips of what `before` makes.
  bool linked(const Draft& before, const LoopNest& before_rows, const Draft& next, const LoopNest& rows) const {
    if (uses[before.destination] != 1) return false;
    const bool sums_again = c.machine.norm_statistics == NormStatistics::recompute && before.statistics_passes == 1;
    return (next.prologue.empty() || sums_again) && takes_strips(*c.graph, before, before_rows, next, rows);
  }

  /// Whether rows of a draft's first operand come as they are: a feature map of the size that its rows have. One
  /// that repeats along an axis comes otherwise.
  bool reads_rows(const Draft& draft, const LoopNest& rows) const {
    const std::int64_t size = rows.batch * rows.groups * rows.in_channels * rows.in_h * rows.in_w;
    return std::ranges::any_of(draft.nodes, [&](NodeId n) {
      return std::ranges::any_of(c.graph->nodes[n].inputs, [&](ValueId v) {
        if (v == none || c.roots[v] != draft.operands[0].value) return false;
        const Shape& shape = shape_of(*c.graph, v);
        return shape.size() == 4 && element_count(shape) == size;
      });
    });
  }

  /// The chain that begins with draft `i`; empty when that is not row by row.
  StripChain chain_at(std::size_t i) const {
    StripChain chain;
    chain.line_buffers = c.machine.strips == Strips::line_buffers;
    for (; i < c.drafts.size(); ++i) {
      const auto rows = rows_of(*c.graph, c.drafts[i]);
      if (!rows) break;
      const auto shares = [&](const Draft& draft) { return share_formats(draft, c.drafts[i], c.machine); };
      if (!std::ranges::all_of(chain.drafts, shares)) break;
      if (!chain.drafts.empty() && !linked(chain.drafts.back(), chain.rows.back(), c.drafts[i], *rows)) break;
      chain.drafts.push_back(c.drafts[i]);
      chain.rows.push_back(*rows);
      chain.may_begin.push_back(reads_rows(c.drafts[i], *rows));
    }
    return chain;
  }
};

}  // namespace

std::optional<Draft> joined_strips(const Graph& graph, const List<Draft>& drafts, bool line_buffers) {
  StripChain chain;
  chain.line_buffers = line_buffers;
  for (const Draft& draft : drafts) {
    const auto rows = rows_of(graph, draft);
    if (!rows ||
        (!chain.drafts.empty() && !takes_strips(graph, chain.drafts.back(), chain.rows.back(), draft, *rows)))
      return std::nullopt;
    chain.drafts.push_back(draft);
    chain.rows.push_back(*rows);
  }
  if (drafts.empty()) return std::nullopt;
  return chain.join(0, drafts.size() - 1);
}

void fuse_strips(Compilation& c) {
  if (c.machine.strips == Strips::off) return;
  live(c);
  const Linking linking{c, use_counts(c)};
  carry_chains(c, linking.uses, [&](std::size_t i) { return linking.chain_at(i); });
}

}  // namespace sdip
