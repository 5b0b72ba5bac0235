// Products with weights.
#include "core/program/compile/weight_products.h"

#include <string_view>
#include <utility>

namespace sdip {
namespace {

const Value& value_of(const Graph& graph, ValueId v) { return graph.values[v]; }

bool number_is(const Node& node, const char* attribute, double expected, double otherwise) {
  const auto found = node.attributes.find(attribute);
  if (found == node.attributes.end()) return otherwise == expected;
  if (const auto* real = std::get_if<double>(&found->second)) return *real == expected;
  const auto* whole = std::get_if<std::int64_t>(&found->second);
  return whole != nullptr && static_cast<double>(*whole) == expected;
}

bool multiplies_floating_weights(const Graph& graph, const Node& node) {
  const Value& second = value_of(graph, node.inputs.at(1));
  return value_of(graph, node.inputs.at(0)).kind != ValueKind::weight && second.kind == ValueKind::weight &&
         is_floating(second.operand.type);
}

ValueId bias_of(const Node& node) { return node.inputs.size() > 2 ? node.inputs[2] : none; }

}  // namespace

std::optional<WeightProduct> matrix_product(const Graph& graph, const Node& node) {
  const std::string_view type = node.op->type;
  const bool gemm = node.op->domain.empty() && type == "Gemm";
  const bool linear = node.op->domain == "sdip" && type == "Linear";
  if (!gemm && !linear && !(node.op->domain.empty() && type == "MatMul")) return std::nullopt;
  if (gemm && !(number_is(node, "alpha", 1, 1) && number_is(node, "beta", 1, 1) && number_is(node, "transA", 0, 0)))
    return std::nullopt;
  if (!multiplies_floating_weights(graph, node) || value_of(graph, node.inputs[1]).operand.shape.size() != 2)
    return std::nullopt;
  const bool turned = !number_is(node, gemm ? "transB" : "trans_b", 0, 0);
  const std::size_t rank = value_of(graph, node.outputs[0]).operand.shape.size();
  return WeightProduct{node.inputs[1], bias_of(node), turned, turned ? 0U : 1U, rank == 0 ? 0 : rank - 1};
}

std::optional<WeightProduct> channel_product(const Graph& graph, const Node& node) {
  if (!node.op->domain.empty() || node.op->type != "Conv") return matrix_product(graph, node);
  if (!multiplies_floating_weights(graph, node) || !number_is(node, "group", 1, 1)) return std::nullopt;
  return WeightProduct{node.inputs[1], bias_of(node), true, 0, 1};
}

ValueId add_named_value(Graph& graph, std::string name) {
  Value value;
  value.name = std::move(name);
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

ValueId append_like(Graph& graph, std::string_view type, ValueId v, std::string node_name, std::string name) {
  const ValueId made = add_named_value(graph, std::move(name));
  graph.values[made].operand.type = graph.values[v].operand.type;
  graph.values[made].operand.shape = graph.values[v].operand.shape;
  graph.nodes.push_back({std::move(node_name), find_operator("sdip", type), 1, {}, {v}, {made}});
  return made;
}

}  // namespace sdip
