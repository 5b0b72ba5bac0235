// pass `turn`: a Transpose joins the instruction that makes its operand, which then writes its results turned.
//
// Worked example. A linear of [64, 320] by [320, 320], 400 cycles at reference widths, makes [64, 320], seen as
// [64, 8, 40]; a Transpose makes [8, 64, 40] of it for the heads of an attention. "linear+transpose" writes 512
// runs of 40 neighbours each to where the turned value has them, which takes no longer than 400 + 20,480 / 64 + 64
// = 784 cycles. [40, 8, 64] of the same value has no neighbours left: 20,480 runs of one element; that Transpose
// stays.
#include <algorithm>
#include <numeric>

#include "core/graph/attributes.h"
#include "core/program/compile/passes.h"
#include "core/program/tiling/partition.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

// The cost of a Transpose of its own, at widths that no parameter changes, so that sweeps over them share a
// program: elements turned a cycle; bytes of DRAM a cycle; cycles to issue, fill and drain it.
constexpr std::int64_t reference_turned_a_cycle = 64, reference_dram_bytes_a_cycle = 16,
                       reference_start_cycles = 64;

std::vector<std::int64_t> order_of(const Node& transpose, std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return attribute_or(transpose, "perm", std::move(order));
}

std::int64_t cycles_of(const Draft& draft) {
  if (draft.compound == Compound::single) return reference_cycles(draft.work);
  std::int64_t sum = 0;
  for (const Part& part : draft.parts) sum += reference_cycles(part.work);
  return sum;
}

struct Turning {
  const Compilation& c;
  List<std::int32_t> uses;

  const Node& node_of(const Draft& draft) const { return c.graph->nodes[draft.node]; }

  bool is_alone(const Draft& transpose) const {
    return is_transpose(*c.graph, transpose) && transpose.fused.empty() && transpose.operands.size() == 1 &&
           transpose.compound == Compound::single;
  }

  /// Whether `before` can write its results in another order: strips hold rows of them, and a Transpose, or what
  /// one has joined, has an order already.
  bool can_turn(const Draft& before) const {
    return before.compound != Compound::strips && before.turned_run == 0 &&
           before.work.family != Family::transpose && before.out_elements > 0;
  }

  /// Whether writing run by run takes no longer than what is saved: the producer is not slowed by more than the
  /// Transpose takes, which reads and writes DRAM when the value is larger than a DSRAM.
  bool is_worth(const Draft& before, std::int64_t results, std::int64_t run) const {
    const NumberFormat format = before.formats.value_or(formats_of(c.machine)).results;
    const std::int64_t bytes = ceil_div(results * bits_of(format), 8);
    const bool on_chip = bytes <= dsram_bytes_of(c.machine, before.work.family);
    const std::int64_t alone =
        on_chip ? ceil_div(results, reference_turned_a_cycle) : ceil_div(2 * bytes, reference_dram_bytes_a_cycle);
    return ceil_div(results, run) <= cycles_of(before) + alone + reference_start_cycles;
  }

  /// The draft that a Transpose joins, of those before it; nullptr when it stays.
  Draft* producer_of(const Draft& transpose, List<Draft>& before) const {
    if (!is_alone(transpose)) return nullptr;
    const ValueId operand = transpose.operands[0].value;
    if (uses[operand] != 1) return nullptr;
    const auto found = std::find_if(before.rbegin(), before.rend(),
                                    [&](const Draft& draft) { return draft.destination == operand; });
    if (found == before.rend() || !share_formats(*found, transpose, c.machine)) return nullptr;
    if (!can_turn(*found) || found->out_elements != transpose.out_elements) return nullptr;
    const std::int64_t run = run_left_by(*c.graph, node_of(transpose));
    return is_worth(*found, transpose.out_elements, run) ? &*found : nullptr;
  }
};

}  // namespace

bool is_transpose(const Graph& graph, const Draft& draft) {
  const Node& node = graph.nodes[draft.node];
  return draft.work.family == Family::transpose && node.op->domain.empty() && node.op->type == "Transpose";
}

std::int64_t run_left_by(const Graph& graph, const Node& transpose) {
  const Shape& shape = graph.values[transpose.inputs.at(0)].operand.shape;
  std::vector<std::int64_t> moved = order_of(transpose, shape.size());
  std::erase_if(moved, [&](std::int64_t axis) { return shape[at(axis)] == 1; });
  std::vector<std::int64_t> in_place = moved;
  std::ranges::sort(in_place);
  std::int64_t run = 1;
  for (std::size_t i = moved.size(); i-- > 0 && moved[i] == in_place[i];) run *= shape[at(moved[i])];
  return run;
}

void join_turned(const Graph& graph, Draft& before, const Draft& transpose) {
  const std::int64_t run = run_left_by(graph, graph.nodes[transpose.node]);
  before.turned_run = before.turned_run == 0 ? run : 1;
  before.nodes.insert(before.nodes.end(), transpose.nodes.begin(), transpose.nodes.end());
  before.destination = transpose.destination;
  before.statistics_passes += transpose.statistics_passes;
}

void turn(Compilation& c) {
  if (c.machine.transposition != Transposition::static_transposition) return;
  const Turning turning{c, use_counts(c)};
  List<Draft> drafts;
  drafts.reserve(c.drafts.size());
  for (Draft& draft : c.drafts) {
    if (Draft* producer = turning.producer_of(draft, drafts))
      join_turned(*c.graph, *producer, draft);
    else
      drafts.push_back(std::move(draft));
  }
  c.drafts = std::move(drafts);
}

}  // namespace sdip
