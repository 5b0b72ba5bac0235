// pass `spread_branches`: with branches=parallel the independent groups of one instruction are shared by several
// cores: heads of products of two activations and of attentions, groups of products of weights. With
// branches=channels so are the output channels of products of one group: branches that read the same.
//
// Worked example. An attention of 12 heads on a machine of 8 cores: 6 is the largest number of them that divides
// the heads. Each of 6 cores has 2 heads; the instruction's sizes become those of 2 heads. A depthwise convolution
// of 32 channels on the same machine: 8 cores, each with 4 channels and the weights of these. A linear of 768
// inputs and 768 outputs by channels: 8 cores, each with 96 outputs, their weights and all inputs.
#include <algorithm>
#include <optional>
#include <vector>

#include "core/ops/use.h"
#include "core/program/compile/passes.h"
#include "core/program/tiling/tiles.h"
#include "core/program/weights/weight_scales.h"

namespace sdip {
namespace {

/// The most of `cores` that share `groups` evenly.
std::int64_t sharing_cores(std::int64_t groups, std::int64_t cores) {
  std::int64_t most = std::min(groups, cores);
  while (groups % most != 0) --most;
  return most;
}

bool makes_products_of_weights(const Draft& draft) {
  return is_nest(draft.work.family) && draft.weighted && draft.compound == Compound::single;
}

/// Cores share its output channels, and read the same.
bool shares_channels(const Compilation& c, const Draft& draft) {
  return c.machine.branches == Branches::channels && draft.work.nest.groups == 1;
}

/// How an operand of an operator behind a product meets the channels that cores share: element by element of the
/// result, so that each core needs a part; the same for all; or in a way that no rule tells.
enum class Meets { parts, whole, unknown };

/// How the operators behind the main one use a value. Its channels are the second axis of a convolution's result,
/// and the last axis of a product by one matrix.
Meets meeting(const Compilation& c, const Draft& draft, ValueId root) {
  const Node& main = c.graph->nodes[draft.node];
  const auto shape_of = [&](ValueId v) -> const Shape& { return c.graph->values[v].operand.shape; };
  const Shape& made = shape_of(main.outputs[0]);
  const bool conv = draft.work.family == Family::conv2d;
  const std::int64_t channels = conv ? 1 : std::ssize(made) - 1;
  bool parts = false, whole = false, unknown = !conv && !shares_channels(c, draft);
  for (const NodeId n : draft.nodes) {
    const Node& node = c.graph->nodes[n];
    if (n == draft.node) continue;
    for (const ValueId v : node.inputs) {
      if (v == none || c.roots[v] != root) continue;
      const Shape& shape = shape_of(v);
      const std::int64_t axis = channels - (std::ssize(made) - std::ssize(shape));
      unknown |= node.op->work != elementwise_work || shape_of(node.outputs[0]) != made;
      const bool each = axis >= 0 && shape[at(axis)] == made[at(channels)];
      (each ? parts : whole) = true;
    }
  }
  if (unknown || parts == whole) return Meets::unknown;
  return parts ? Meets::parts : Meets::whole;
}

/// Which of the operands behind, and of the weights behind, come in parts; nothing where no rule tells.
struct SharedOperands {
  std::vector<bool> operands, weights;
};
std::optional<SharedOperands> shared_behind(const Compilation& c, const Draft& draft) {
  SharedOperands shared;
  const auto add = [&](ValueId root, const Fetch& fetch, std::vector<bool>& parts) {
    const Meets how = fetch.elements == draft.out_elements ? Meets::parts : meeting(c, draft, root);
    parts.push_back(how == Meets::parts);
    return how != Meets::unknown;
  };
  for (std::size_t o = 1; o < draft.operands.size(); ++o)
    if (!add(draft.operands[o].value, draft.operands[o].fetch, shared.operands)) return std::nullopt;
  const std::size_t own = draft.weights.size() - draft.weight_fetches.size();  // of the product
  for (std::size_t w = 0; w < draft.weight_fetches.size(); ++w)
    if (!add(c.roots[draft.weights[own + w]], draft.weight_fetches[w], shared.weights)) return std::nullopt;
  return shared;
}

/// Leaves one of `cores` its part of a product of weights: of its groups, or `by_channels`.
void spread_weights(Draft& draft, bool by_channels, const SharedOperands& shared, std::int64_t cores) {
  draft.spread_cores = cores;
  draft.shares_channels = by_channels;
  draft.out_elements /= cores;
  (by_channels ? draft.work.nest.out_channels : draft.work.nest.groups) /= cores;
  draft.weight_elements = ceil_div(draft.weight_elements, cores);
  draft.bias_elements = ceil_div(draft.bias_elements, cores);
  for (std::size_t o = 1; o < draft.operands.size(); ++o)
    if (shared.operands[o - 1]) draft.operands[o].fetch.elements /= cores;
  for (std::size_t w = 0; w < draft.weight_fetches.size(); ++w)
    if (shared.weights[w]) draft.weight_fetches[w].elements /= cores;
}

/// Whether a product's nest is its operator's: each result, operand and weight met where the nest says, the
/// channels of its weight known. Not of convolutions over three axes or with offsets, of recurrent layers, of
/// groups that read the same.
bool is_plain_product(const Compilation& c, const Draft& draft) {
  const Node& main = c.graph->nodes[draft.node];
  constexpr std::string_view plain[] = {"Conv",   "QuantizedConv", "MatMul",         "Gemm",
                                        "Linear", "LinearBatch",   "QuantizedMatMul"};
  if (std::ranges::find(plain, main.op->type) == std::end(plain)) return false;
  const auto value = [&](ValueId v) -> const Value& { return c.graph->values[v]; };
  const Value& read = value(main.inputs[0]);
  const LoopNest& n = draft.work.nest;
  const bool conv = draft.work.family == Family::conv2d;
  if (conv && read.operand.shape.size() > 4) return false;
  if (weight_channels(main, n, value(draft.weights[0]).operand.shape).count == 0) return false;
  const std::int64_t kernel = conv ? n.kernel_h * n.kernel_w : 1;
  return n.groups * n.batch * n.out_channels * n.out_h * n.out_w == draft.out_elements &&
         n.groups * n.batch * n.in_channels * n.in_h * n.in_w == element_count(read.operand.shape) &&
         n.groups * n.out_channels * n.in_channels * kernel == draft.weight_elements;
}

/// Groups of a product of weights, or its channels. Sums of a norm, before or behind, are of all channels and would
/// have to be sent; a FeFET memory has its weights where they are multiplied, in one place for all cores.
void spread_weighted(const Compilation& c, Draft& draft) {
  const LoopNest& nest = draft.work.nest;
  const bool by_channels = shares_channels(c, draft);
  const std::int64_t cores = sharing_cores(by_channels ? nest.out_channels : nest.groups, c.machine.cores);
  if (cores == 1 || draft.prologue_passes > 0 || draft.statistics_passes > 0) return;
  if (weight_place(c.machine, c.role) == WeightPlace::fefet || !is_plain_product(c, draft)) return;
  if (const auto shared = shared_behind(c, draft)) spread_weights(draft, by_channels, *shared, cores);
}

}  // namespace

// Operands that have an element for each result of the product are shared, others read whole by each core.
void spread(Draft& draft, std::int64_t cores) {
  const LoopNest& nest = draft.work.nest;  // of an attention: its scores
  const std::int64_t results = nest.groups * nest.out_h * nest.out_channels;
  const auto share_fetch = [&](Fetch& fetch) {
    if (fetch.elements == results) fetch.elements /= cores;
  };
  draft.spread_cores = cores;
  draft.out_elements /= cores;
  for (DraftOperand& operand : draft.operands) share_fetch(operand.fetch);
  for (Fetch& fetch : draft.weight_fetches) share_fetch(fetch);
  draft.work.nest.groups /= cores;
  for (Part& part : draft.parts) {
    part.out_elements /= cores;
    (part.work.family == Family::matmul ? part.work.nest.groups : part.work.rows) /= cores;
  }
}

bool shares_cores(Role role, const SeriesPart& part) {
  return (role == Role::network && part.count == 1) || role == Role::text_encoder;
}

void spread_branches(Compilation& c) {
  if (c.machine.branches == Branches::serial) return;
  if (!shares_cores(c.role, c.part)) return;
  for (Draft& draft : c.drafts) {
    const bool heads = draft.work.family == Family::matmul && !draft.weighted && draft.compound != Compound::strips;
    if (heads) spread(draft, sharing_cores(draft.work.nest.groups, c.machine.cores));
    if (makes_products_of_weights(draft)) spread_weighted(c, draft);
  }
}

}  // namespace sdip
