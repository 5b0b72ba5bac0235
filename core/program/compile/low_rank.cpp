// pass `factor_weights`: a linear operator becomes two thinner ones.
//
// Worked example, low_rank_share 25: y = x W + b with W [8, 16] has rank 2 of at most 8. The factors hold
// 2 x (8 + 16) = 48 elements for 128, so y = (x A) B + b. W [2, 16] keeps rank 1: 18 for 32. W [1, 16] would take
// 17 for 16 and stays.
#include <algorithm>

#include "core/program/compile/passes.h"
#include "core/program/compile/weight_products.h"

namespace sdip {
namespace {

std::int64_t rank_of(const Shape& weight, const Machine& machine) {
  const std::int64_t least = std::min(weight[0], weight[1]);
  return std::max<std::int64_t>(1, ceil_div(least * machine.low_rank_share.hundredths, 100));
}

ValueId append(Graph& graph, const Node& from, std::string_view type, std::vector<ValueId> inputs,
               Attributes attributes, ValueId output = none) {
  const std::string name = output == none ? from.name + "/" + std::string(type) : from.name;
  const ValueId made = output == none ? add_named_value(graph, name) : output;
  append_node(graph, {name, find_operator("sdip", type), 1, std::move(attributes), std::move(inputs), {made}});
  return made;
}

/// Factors are made once for a weight that several operators read.
using Factors = std::map<std::pair<ValueId, bool>, std::pair<ValueId, ValueId>>;

void append_factored(Graph& graph, const Node& node, const WeightProduct& product, std::int64_t rank,
                     Factors& factors) {
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
    const auto product = matrix_product(graph, node);
    const Shape shape = product ? graph.values[product->weight].operand.shape : Shape{};
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
