// pass `factor_weights`: a linear operator becomes two thinner ones.
//
// Worked example, low_rank_share 25: y = x W + b with W [8, 16] has rank 2 of at most 8. The factors hold
// 2 x (8 + 16) = 48 elements for 128, so y = (x A) B + b. W [2, 16] keeps rank 1: 18 for 32. W [1, 16] would take
// 17 for 16 and stays.
#include <algorithm>

#include "core/program/compile/passes.h"

namespace sdip {
namespace {

bool number_is(const Node& node, const char* attribute, double expected, double otherwise) {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return otherwise == expected;
  if (const auto* real = std::get_if<double>(&found->second)) return *real == expected;
  const auto* whole = std::get_if<std::int64_t>(&found->second);
  return whole != nullptr && static_cast<double>(*whole) == expected;
}

/// A product with a matrix of weights, and how it is stored.
struct Product {
  ValueId weight = none, bias = none;
  bool turned = false;
};
std::optional<Product> product_of(const Graph& graph, const Node& node) {
  const std::string_view type = node.op->type;
  const bool gemm = node.op->domain.empty() && type == "Gemm";
  const bool linear = node.op->domain == "sdip" && type == "Linear";
  if (!gemm && !linear && !(node.op->domain.empty() && type == "MatMul")) return std::nullopt;
  if (gemm && !(number_is(node, "alpha", 1, 1) && number_is(node, "beta", 1, 1) && number_is(node, "transA", 0, 0)))
    return std::nullopt;
  const Value& first = graph.values[static_cast<std::size_t>(node.inputs.at(0))];
  const Value& second = graph.values[static_cast<std::size_t>(node.inputs.at(1))];
  if (first.kind == ValueKind::weight || second.kind != ValueKind::weight) return std::nullopt;
  if (second.operand.shape.size() != 2 || !is_floating(second.operand.type)) return std::nullopt;
  return Product{node.inputs[1], node.inputs.size() > 2 ? node.inputs[2] : none,
                 !number_is(node, gemm ? "transB" : "trans_b", 0, 0)};
}

std::int64_t rank_of(const Shape& weight, const Machine& machine) {
  const std::int64_t least = std::min(weight[0], weight[1]);
  return std::max<std::int64_t>(1, ceil_div(least * machine.low_rank_share.hundredths, 100));
}

ValueId add_value(Graph& graph, std::string name) {
  Value value;
  value.name = std::move(name);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

ValueId append(Graph& graph, const Node& from, std::string_view type, std::vector<ValueId> inputs,
               Attributes attributes, ValueId output = none) {
  const std::string name = output == none ? from.name + "/" + std::string(type) : from.name;
  const ValueId made = output == none ? add_value(graph, name) : output;
  Node node;
  node.name = name;
  node.op = find_operator("sdip", type);
  node.opset = 1;
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  node.outputs = {made};
  append_node(graph, std::move(node));
  return made;
}

/// Factors are made once for a weight that several operators read.
using Factors = std::map<std::pair<ValueId, bool>, std::pair<ValueId, ValueId>>;

void append_factored(Graph& graph, const Node& node, const Product& product, std::int64_t rank, Factors& factors) {
  const auto [entry, fresh] = factors.try_emplace({product.weight, product.turned});
  if (fresh) {
    Attributes attributes{{"rank", rank}, {"trans_b", std::int64_t{product.turned}}};
    entry->second.first = append(graph, node, "LowRankLeft", {product.weight}, attributes);
    entry->second.second = append(graph, node, "LowRankRight", {product.weight}, std::move(attributes));
  }
  Node thin = node;
  thin.name += "/thin";
  const ValueId between = append(graph, thin, "Linear", {node.inputs[0], entry->second.first}, {});
  std::vector<ValueId> inputs{between, entry->second.second};
  if (product.bias != none) inputs.push_back(product.bias);
  append(graph, node, "Linear", std::move(inputs), {}, node.outputs[0]);
}

}  // namespace

void factor_weights(Compilation& c) {
  if (c.machine.low_rank == LowRank::off) return;
  Graph graph = *c.graph;
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  Factors factors;
  for (Node& node : nodes) {
    const auto product = product_of(graph, node);
    const Shape shape = product ? graph.values[static_cast<std::size_t>(product->weight)].operand.shape : Shape{};
    const std::int64_t rank = product ? rank_of(shape, c.machine) : 0;
    const bool thinner = product && static_cast<double>(rank) * static_cast<double>(shape[0] + shape[1]) <
                                        static_cast<double>(shape[0]) * static_cast<double>(shape[1]);
    if (thinner)
      append_factored(graph, node, *product, rank, factors);
    else
      graph.nodes.push_back(std::move(node));
  }
  link(graph);
  c.graph = std::make_shared<const Graph>(std::move(graph));
}

}  // namespace sdip
