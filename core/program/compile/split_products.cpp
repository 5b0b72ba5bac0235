// pass `split_products`: a product whose result is only cut along its channels becomes one for each cut.
//
// Worked example, the GEGLU of SD 1.5: y = x W + b with W [320, 2560], cut into v and g of 1280 channels, and
// v x gelu(g) read by the next product. Copied, 4096 rows of y are written, read and written in two parts, and read
// once more: 5 x 4096 x 2560 elements before the product v x gelu(g) leaves. Made apart, v = x W_v + b_v is written
// and read, and v x gelu(x W_g + b_g) leaves as it is made: 2 x 4096 x 1280, and x comes once more, 4096 x 320.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/program/compile/passes.h"
#include "core/program/compile/pieces.h"
#include "core/program/compile/weight_products.h"

namespace sdip {
namespace {

/// The pieces into which all that reads a product's result cuts its channels, in order; none where anything reads
/// it otherwise, or channels twice.
std::vector<Piece> pieces_of(const Graph& graph, const Node& node, const WeightProduct& product) {
  const ValueId result = node.outputs[0];
  const Value& made = graph.values[result];
  std::vector<Piece> pieces;
  if (std::ranges::find(graph.outputs, result) != graph.outputs.end()) return {};
  for (const NodeId reader : made.consumers) {
    const Node& cut = graph.nodes[reader];
    if (std::ranges::count(cut.inputs, result) != 1) return {};
    const std::vector<Piece> found = pieces_of_operand(graph, cut);
    const bool slices = cut.op->type == "Slice" || cut.op->type == "Split";
    if (cut.inputs.at(0) != result || found.empty() || !slices || found.front().axis != product.channels_axis)
      return {};
    pieces.insert(pieces.end(), found.begin(), found.end());
  }
  std::ranges::sort(pieces, {}, &Piece::begin);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].begin >= pieces[i].end || (i > 0 && pieces[i].begin < pieces[i - 1].end)) return {};
  return pieces;
}

/// Whether the copies cost more elements, read and written, than the operand that comes once more for each piece.
bool saves(const Graph& graph, const Node& node, const std::vector<Piece>& pieces) {
  std::int64_t copied = 0;
  for (const Piece& piece : pieces) copied += element_count(shape_of(graph, piece.value));
  const auto further = static_cast<std::int64_t>(pieces.size()) - 1;
  return further > 0 && further * element_count(shape_of(graph, node.inputs[0])) <= 2 * copied;
}

/// Appends what cuts a weight or bias along `axis` into the pieces. Channels that nobody reads are dropped.
std::vector<ValueId> cut_weight(Graph& graph, ValueId whole, std::size_t axis, const std::vector<Piece>& pieces,
                                const std::string& name) {
  std::vector<std::int64_t> sizes;
  std::vector<ValueId> outputs, parts;
  std::int64_t done = 0;
  const auto add = [&](std::int64_t size, ValueId made) {
    if (size > 0) {
      sizes.push_back(size);
      outputs.push_back(made);
    }
  };
  const std::int64_t all = shape_of(graph, whole).at(axis);
  for (const Piece& piece : pieces) {
    add(piece.begin - done, none);
    parts.push_back(add_named_value(graph, fmt::format("{}/{}", name, parts.size())));
    add(piece.end - piece.begin, parts.back());
    done = piece.end;
  }
  add(all - done, none);
  constexpr std::int64_t sizes_by_attribute = 11;
  append_node(graph, {name,
                      find_operator("", "Split"),
                      sizes_by_attribute,
                      {{"axis", static_cast<std::int64_t>(axis)}, {"split", std::move(sizes)}},
                      {whole},
                      std::move(outputs)});
  return parts;
}

/// Weights are cut once for operators that read them alike.
using CutWeights = std::map<std::vector<std::int64_t>, std::vector<ValueId>>;

void append_pieces(Graph& graph, const Node& node, const WeightProduct& product, const std::vector<Piece>& pieces,
                   CutWeights& cut) {
  const auto parts_of = [&](ValueId whole, std::size_t axis, const char* suffix) -> const std::vector<ValueId>& {
    std::vector<std::int64_t> key{whole, static_cast<std::int64_t>(axis)};
    for (const Piece& piece : pieces) key.insert(key.end(), {piece.begin, piece.end});
    const auto [entry, fresh] = cut.try_emplace(std::move(key));
    if (fresh) entry->second = cut_weight(graph, whole, axis, pieces, node.name + suffix);
    return entry->second;
  };
  const std::vector<ValueId>& weights = parts_of(product.weight, product.weight_axis, "/weight");
  const std::size_t bias_rank = product.bias == none ? 0 : shape_of(graph, product.bias).size();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    Node part = node;
    part.name += "/" + std::to_string(i);
    part.inputs[1] = weights[i];
    if (product.bias != none) part.inputs[2] = parts_of(product.bias, bias_rank - 1, "/bias")[i];
    part.outputs = {pieces[i].value};
    append_node(graph, std::move(part));
  }
}

/// A bias has one value for each channel, along its last axis.
bool has_cuttable_bias(const Graph& graph, const WeightProduct& product) {
  if (product.bias == none) return true;
  const Shape& shape = shape_of(graph, product.bias);
  return graph.values[product.bias].kind == ValueKind::weight && !shape.empty() &&
         shape.back() == shape_of(graph, product.weight).at(product.weight_axis) &&
         element_count(shape) == shape.back();
}

}  // namespace

void split_products(Compilation& c) {
  if (c.machine.split_products == SplitProducts::off) return;
  Graph graph = *c.graph;
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  CutWeights cut;
  std::set<ValueId> apart;  // made piece by piece: what cut them goes
  for (Node& node : nodes) {
    if (!node.inputs.empty() && apart.contains(node.inputs[0])) continue;
    const auto product = channel_product(*c.graph, node);
    std::vector<Piece> pieces;
    if (product && has_cuttable_bias(*c.graph, *product)) pieces = pieces_of(*c.graph, node, *product);
    if (pieces.empty() || !saves(*c.graph, node, pieces)) {
      graph.nodes.push_back(std::move(node));
      continue;
    }
    apart.insert(node.outputs[0]);
    append_pieces(graph, node, *product, pieces, cut);
  }
  if (apart.empty()) return;
  link(graph);
  remove_dead(graph);  // what was cut
  c.graph = std::make_shared<const Graph>(std::move(graph));
}

}  // namespace sdip
