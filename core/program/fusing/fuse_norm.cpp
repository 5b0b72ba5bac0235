// pass `fuse_norm`: norms and their activations become the prologues of the nests that read them.
//
// Worked example. groupnorm+silu over 32 groups of x, then conv2d (its only user): "groupnorm_sums" reads x once
// and keeps 2 x 32 sums in general registers; "groupnorm+silu+conv2d" reads x, and gamma and beta from PSRAM, with
// two prologue passes (normalise, silu). x is read twice and nothing between is stored; before, x was read twice,
// its normalised form written and read.
#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/program/compile/passes.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

/// A norm whose operands beyond the first, if any, can be held: sums and result are its two passes.
bool is_norm(const Draft& draft) {
  return draft.work.family == Family::norm && draft.work.passes == 2 && draft.work.element_cycles == 1 &&
         !draft.operands.empty() && draft.operands[0].fetch.per_fold && draft.operands[0].fetch.passes == 2 &&
         draft.out_elements == draft.work.rows * draft.work.row_length && draft.prologue.empty();
}

/// Whether the norm can be done element by element as another reads its operand.
bool can_be_prologue(const Draft& norm) {
  return is_norm(norm) && std::all_of(norm.operands.begin() + 1, norm.operands.end(),
                                      [](const DraftOperand& operand) { return !operand.fetch.per_fold; });
}

/// The drafts that read `value`, all of them nests that read it as their first operand only; else none.
std::vector<std::size_t> nests_that_read(const List<Draft>& drafts, ValueId value) {
  std::vector<std::size_t> readers;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const auto reads = std::ranges::count(drafts[i].operands, value, &DraftOperand::value);
    if (reads == 0) continue;
    const bool first = drafts[i].operands[0].value == value;
    if (drafts[i].compound == Compound::strips || reads > 1 || !first || !is_nest(drafts[i].work.family) ||
        !drafts[i].prologue.empty())
      return {};
    readers.push_back(i);
  }
  return readers;
}

/// True when each row that the norm sums is one row of operand A, so that a tile of whole rows has all of it.
bool sums_rows_of(const Draft& norm, const Draft& reader) {
  const LoopNest& nest = reader.work.nest;
  return norm.work.row_length == nest.in_channels && nest.groups == 1 && nest.in_w == 1 && nest.kernel_h == 1 &&
         nest.kernel_w == 1 && nest.stride_h == 1 && norm.work.rows == nest.batch * nest.in_h;
}

/// The draft that is left of a norm whose result others make: its sums, in general registers.
Draft sums_of(const Draft& norm, Graph& graph, List<ValueId>& roots) {
  Draft sums;
  sums.node = norm.node;
  sums.mnemonic = norm.mnemonic + "_sums";
  sums.work = norm.work;
  sums.work.passes = 1;
  sums.operands = {norm.operands[0]};
  sums.operands[0].fetch.passes = 1;
  sums.formats = norm.formats;
  sums.destination = add_sums(graph, norm.node, norm.work.rows, roots);
  return sums;
}

/// A producer makes a norm's sums, too; of strips the last part does.
void make_sums(Draft& producer) {
  ++(producer.compound == Compound::strips ? producer.parts.back().statistics_passes : producer.statistics_passes);
}

struct NormFusion {
  Compilation& c;
  std::shared_ptr<Graph> graph{};                 // ours, once a value was added
  std::set<ValueId> joined = parts_of(c.joined);  // read where they are joined with others

  static std::set<ValueId> parts_of(const Joined& all) {
    std::set<ValueId> parts;
    for (const auto& [_, joined] : all) parts.insert(joined.begin(), joined.end());
    return parts;
  }

  /// The draft before `norm` that makes its operand and no more; nullptr for an input, and for what is joined.
  Draft* producer_of(std::size_t norm) const {
    const ValueId value = c.drafts[norm].operands[0].value;
    const Node& node = c.graph->nodes[c.drafts[norm].node];
    if (is_part(*c.graph, c.roots, node.inputs[0])) return nullptr;
    for (std::size_t i = norm; i-- > 0;)
      if (c.drafts[i].destination == value) return &c.drafts[i];
    return nullptr;
  }

  bool is_output(ValueId value) const {
    return std::ranges::any_of(c.graph->outputs, [&](ValueId out) { return c.roots[out] == value; });
  }

  /// Fuses the norm at `index`. False when it stays an instruction.
  bool fuse(std::size_t index) {
    Draft& norm = c.drafts[index];
    if (!can_be_prologue(norm) || is_output(norm.destination) || joined.contains(norm.destination)) return false;
    const std::vector<std::size_t> readers = nests_that_read(c.drafts, norm.destination);
    if (readers.empty()) return false;
    for (const std::size_t reader : readers)
      if (!share_formats(norm, c.drafts[reader], c.machine)) return false;
    const bool rows =
        std::ranges::all_of(readers, [&](std::size_t reader) { return sums_rows_of(norm, c.drafts[reader]); });
    for (const std::size_t reader : readers) add_prologue(norm, rows, c.drafts[reader]);
    Draft* producer = c.machine.norm_statistics == NormStatistics::own_pass || rows ? nullptr : producer_of(index);
    if (rows || producer != nullptr) {
      norm.destination = none;  // nothing is left of it
      if (producer != nullptr) make_sums(*producer);
      return true;
    }
    if (!graph) graph = std::make_shared<Graph>(*c.graph);
    norm = sums_of(norm, *graph, c.roots);
    return true;
  }
};

}  // namespace

ValueId add_sums(Graph& graph, NodeId node, std::int64_t rows, List<ValueId>& roots) {
  const auto sums = static_cast<ValueId>(graph.values.size());
  Value& value = graph.values.emplace_back();
  value.name = graph.nodes[node].name + "/sums";
  value.operand.shape = {rows, 2};
  roots.push_back(sums);
  return sums;
}

void add_prologue(const Draft& norm, bool makes_sums, Draft& reader) {
  take_formats(reader, norm);
  reader.operands[0].value = norm.operands[0].value;
  reader.operands.insert(reader.operands.end(), norm.operands.begin() + 1, norm.operands.end());
  reader.weight_fetches.insert(reader.weight_fetches.end(), norm.weight_fetches.begin(), norm.weight_fetches.end());
  reader.weights.insert(reader.weights.end(), norm.weights.begin(), norm.weights.end());
  reader.held_weight_elements += norm.held_weight_elements;
  reader.nodes.insert(reader.nodes.begin(), norm.nodes.begin(), norm.nodes.end());
  reader.prologue = norm.fused;
  reader.prologue.insert(reader.prologue.begin(), norm.mnemonic);
  reader.prologue_passes = 1 + std::ssize(norm.fused) + (makes_sums ? 1 : 0);
  reader.prologue_sums = makes_sums;
}

void fuse_norm(Compilation& c) {
  if (c.machine.fusion != Fusion::norm) return;
  NormFusion fusion{c};
  for (std::size_t i = 0; i < c.drafts.size(); ++i) {
    if (fusion.fuse(i) || !is_norm(c.drafts[i]) || c.machine.norm_statistics == NormStatistics::own_pass) continue;
    Draft* producer = fusion.producer_of(i);
    if (producer == nullptr) continue;
    make_sums(*producer);
    c.drafts[i].work.passes = c.drafts[i].operands[0].fetch.passes = 1;
  }
  std::erase_if(c.drafts, [](const Draft& draft) { return draft.destination == none; });
  if (fusion.graph) c.graph = std::move(fusion.graph);
}

}  // namespace sdip
