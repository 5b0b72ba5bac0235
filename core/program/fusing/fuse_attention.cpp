// pass `fuse_attention`: softmax(q k^T) v becomes one instruction whose scores never leave the chip.
//
// Worked example. matmul(q, k) makes [2,8,64,77], add(bias) and where(mask) follow, softmax along 77, matmul with v
// [2,8,77,40]: walked up from the softmax, add and where are element-wise, of the scores' size and used once, so
// they are fused to the scores; the product's heads 16, rows 64 and summed 77 agree with the scores'. Drafts q k v
// stay as they are; the five become "attention+add+where" at the place of the last.
#include <algorithm>

#include "core/graph/attributes.h"
#include "core/program/compile/passes.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

constexpr std::size_t no_draft = ~std::size_t{0};
constexpr std::size_t most_masks = 8;

/// Drafts of one attention. `masks`: in the order they run.
struct Attention {
  std::size_t scores = no_draft, softmax = no_draft, product = no_draft;
  std::vector<std::size_t> masks;
};

class Finder {
 public:
  explicit Finder(const Compilation& c)
      : c_(c), uses_(use_counts(c)), maker_(uses_.size(), no_draft), reader_(uses_.size(), no_draft) {
    for (std::size_t i = 0; i < c.drafts.size(); ++i) {
      maker_[c.drafts[i].destination] = i;
      for (const DraftOperand& operand : c.drafts[i].operands) reader_[operand.value] = i;
    }
  }

  /// The attention whose softmax is draft `softmax`, if all of it is there and nothing else reads what is inside.
  std::optional<Attention> around(std::size_t softmax) const {
    const Draft& draft = c_.drafts[softmax];
    if (draft.work.family != Family::softmax || draft.operands.size() != 1 ||
        !is_softmax_of_last_axis(*c_.graph, node_of(draft)))
      return std::nullopt;
    Attention found;
    found.softmax = softmax;
    if (!climb(draft, draft.operands[0].value, found)) return std::nullopt;
    std::ranges::reverse(found.masks);
    if (uses_[draft.destination] != 1) return std::nullopt;
    found.product = reader_[draft.destination];
    if (found.product == no_draft || !weighs(found) || !in_one_format(found)) return std::nullopt;
    return found;
  }

 private:
  const Node& node_of(const Draft& draft) const { return c_.graph->nodes[draft.node]; }
  ValueId root(ValueId v) const { return v == none ? none : c_.roots[v]; }
  std::int64_t elements(ValueId v) const { return element_count(c_.graph->values[v].operand.shape); }

  /// Whether between an operand of `draft` and the draft that made it only the shape changed, no order of elements.
  bool is_in_order(const Draft& draft, ValueId operand) const {
    for (const ValueId input : node_of(draft).inputs) {
      if (root(input) != operand) continue;
      for (ValueId v = input; v != operand;) {
        const NodeId maker = c_.graph->values[v].producer;
        const Node& node = c_.graph->nodes[maker];
        if (work_of(*c_.graph, node).family != Family::view) return false;
        v = *std::ranges::find_if(node.inputs, [&](ValueId from) { return root(from) == operand; });
      }
    }
    return true;
  }

  /// Whether a draft is a product of matrices. An Einsum is none: its operands and axes come in any order, heads
  /// inside rows, keys before queries.
  bool is_product(const Draft& draft) const {
    return draft.work.family == Family::matmul && node_of(draft).op->type != "Einsum" && !draft.weighted &&
           draft.operands.size() == 2 && draft.compound == Compound::single && draft.work.nest.batch == 1;
  }

  /// From a reader's operand up to the product that makes the scores, by element-wise operators of their size.
  bool climb(const Draft& reader, ValueId operand, Attention& found) const {
    const std::size_t maker = maker_[operand];
    if (maker == no_draft || uses_[operand] != 1 || !is_in_order(reader, operand)) return false;
    const Draft& draft = c_.drafts[maker];
    const Draft& softmax = c_.drafts[found.softmax];
    if (draft.out_elements != softmax.work.rows * softmax.work.row_length) return false;
    if (is_product(draft)) {
      found.scores = maker;
      return draft.work.nest.out_channels == softmax.work.row_length;
    }
    if (!draft.elementwise || found.masks.size() == most_masks) return false;
    found.masks.push_back(maker);
    for (const DraftOperand& above : draft.operands)
      if (elements(above.value) == draft.out_elements && climb(draft, above.value, found)) return true;
    found.masks.pop_back();
    return false;
  }

  /// Whether the product's first operand is the probabilities, head by head and row by row as the scores were made.
  bool weighs(const Attention& found) const {
    const Draft& product = c_.drafts[found.product];
    const ValueId probabilities = c_.drafts[found.softmax].destination;
    if (!is_product(product) || product.operands[0].value != probabilities || !is_in_order(product, probabilities))
      return false;
    const LoopNest& scores = c_.drafts[found.scores].work.nest;
    const LoopNest& nest = product.work.nest;
    return nest.groups == scores.groups && nest.out_h == scores.out_h && nest.in_channels == scores.out_channels;
  }

  bool in_one_format(const Attention& found) const {
    std::vector<std::size_t> all = found.masks;
    all.insert(all.end(), {found.scores, found.softmax, found.product});
    return std::ranges::all_of(all, [&](std::size_t a) {
      return std::ranges::all_of(
          all, [&](std::size_t b) { return share_formats(c_.drafts[a], c_.drafts[b], c_.machine); });
    });
  }

  const Compilation& c_;
  const List<std::int32_t> uses_;
  List<std::size_t> maker_, reader_;  // of a value; of one used once, its only reader
};

Part part_of(const Draft& draft) {
  Part part;
  part.work = draft.work;
  part.work.read_elements.clear();
  part.out_elements = draft.out_elements;
  return part;
}

/// The drafts that an attention is made of, the masks behind the scores; nothing where these read anything else.
List<Draft> apart(const List<Draft>& drafts, const Attention& found) {
  Draft scores = drafts[found.scores];
  for (const std::size_t mask : found.masks) join_behind(scores, drafts[mask]);
  if (scores.operands.size() != 2 || !scores.weights.empty()) return {};
  return {std::move(scores), drafts[found.softmax], drafts[found.product]};
}

/// Operands: queries, keys, values, then what is fused to the scores.
Draft joined(const List<Draft>& drafts, const Attention& found) {
  const Draft &scores = drafts[found.scores], &softmax = drafts[found.softmax], &product = drafts[found.product];
  Draft draft = product;
  draft.mnemonic = "attention";
  draft.compound = Compound::attention;
  draft.work = scores.work;
  draft.operands = {scores.operands[0], scores.operands[1], product.operands[1]};
  draft.parts = {part_of(scores), part_of(softmax), part_of(product)};
  const auto add_nodes = [&](const Draft& from) {
    draft.nodes.insert(draft.nodes.end(), from.nodes.begin(), from.nodes.end());
  };
  add_nodes(scores);
  add_nodes(softmax);
  ValueId inside = scores.destination;
  for (const std::size_t i : found.masks) {
    const Draft& mask = drafts[i];
    add_nodes(mask);
    for (const DraftOperand& operand : mask.operands)
      if (operand.value != inside) draft.operands.push_back(operand);
    take_formats(draft, mask);
    draft.weights.insert(draft.weights.end(), mask.weights.begin(), mask.weights.end());
    draft.weight_fetches.insert(draft.weight_fetches.end(), mask.weight_fetches.begin(), mask.weight_fetches.end());
    draft.held_weight_elements += mask.held_weight_elements;
    draft.fused.push_back(mask.mnemonic);
    inside = mask.destination;
  }
  std::ranges::sort(draft.nodes);
  return draft;
}

}  // namespace

bool is_softmax_of_last_axis(const Graph& graph, const Node& node) {
  if (!node.op->domain.empty() || node.op->type != "Softmax") return false;
  const auto rank = std::ssize(shape_of(graph, node.inputs.at(0)));
  const auto axis = attribute_or<std::int64_t>(node, "axis", node.opset < 13 ? 1 : -1);
  return rank > 0 && (axis == -1 || axis == rank - 1);
}

void fuse_attention(Compilation& c) {
  if (c.machine.fused_attention == FusedAttention::off) return;
  const Finder finder(c);
  std::vector<char> gone(c.drafts.size(), 0), taken(c.drafts.size(), 0);
  std::vector<std::pair<std::size_t, Draft>> made;
  for (std::size_t i = 0; i < c.drafts.size(); ++i) {
    const auto found = finder.around(i);
    if (!found || taken[found->scores] != 0) continue;  // its scores are another's results
    gone[found->scores] = gone[i] = 1;
    for (const std::size_t mask : found->masks) gone[mask] = 1;
    taken[found->scores] = taken[found->product] = 1;
    made.emplace_back(found->product, joined(c.drafts, *found));
    if (c.machine.fused_chains == FusedChains::on) made.back().second.apart = apart(c.drafts, *found);
  }
  for (auto& [product, draft] : made) c.drafts[product] = std::move(draft);
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (gone[i] != 0) c.drafts[i].destination = none;
  std::erase_if(c.drafts, [](const Draft& draft) { return draft.destination == none; });
}

}  // namespace sdip
