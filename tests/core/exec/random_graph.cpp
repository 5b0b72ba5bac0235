// Small random networks.
#include "tests/core/exec/random_graph.h"

#include <cmath>

namespace sdip {

ValueId NetworkMaker::input(Shape shape, ElementType type) {
  Value value;
  value.name = "input" + std::to_string(made_.graph.values.size());
  value.kind = ValueKind::input;
  value.operand.type = type;
  value.operand.shape = shape;
  Tensor tensor = zero_tensor(type, shape);
  for (double& x : tensor.floats) x = rounded(type, 2 * draw_.unit());
  for (std::int64_t& x : tensor.ints) x = draw_.between(-3, 3);
  made_.inputs.push_back(std::move(tensor));
  made_.graph.values.push_back(std::move(value));
  made_.graph.inputs.push_back(static_cast<ValueId>(made_.graph.values.size() - 1));
  return made_.graph.inputs.back();
}

ValueId NetworkMaker::weight(Shape shape, std::int64_t fan_in, ElementType type) {
  Value value;
  value.name = "weight" + std::to_string(made_.graph.values.size());
  value.kind = ValueKind::weight;
  value.initializer = value.parameter = true;
  value.operand.type = type;
  value.operand.shape = shape;
  value.operand.weight = true;
  value.bytes = WeightBytes{"weights", 0, 1};
  Tensor tensor = zero_tensor(type, shape);
  for (double& x : tensor.floats) x = rounded(type, draw_.unit() / std::sqrt(static_cast<double>(fan_in)) * 1.5);
  for (std::int64_t& x : tensor.ints) x = draw_.between(-4, 4);
  made_.weights[value.name] = std::move(tensor);
  made_.graph.values.push_back(std::move(value));
  return static_cast<ValueId>(made_.graph.values.size() - 1);
}

namespace {

Value constant(std::size_t number, Tensor tensor) {
  Value value;
  value.name = "constant" + std::to_string(number);
  value.kind = ValueKind::weight;
  value.operand.type = tensor.type;
  value.operand.shape = tensor.shape;
  value.operand.weight = true;
  value.operand.value = std::move(tensor);
  return value;
}

}  // namespace

ValueId NetworkMaker::ints(std::vector<std::int64_t> values) {
  const std::size_t number = made_.graph.values.size();
  const Shape shape{std::ssize(values)};
  made_.graph.values.push_back(constant(number, {ElementType::int64, shape, std::move(values), {}}));
  return static_cast<ValueId>(number);
}

ValueId NetworkMaker::number(double value) {
  const std::size_t number = made_.graph.values.size();
  const double held = rounded(ElementType::float32, value);
  made_.graph.values.push_back(constant(number, {ElementType::float32, {}, {}, {held}}));
  return static_cast<ValueId>(number);
}

std::vector<ValueId> NetworkMaker::nodes(const char* domain, const char* type, std::vector<ValueId> inputs,
                                         Attributes attributes, std::size_t outputs) {
  Node node;
  node.op = find_operator(domain, type);
  if (node.op == nullptr) throw std::logic_error(type);
  node.name = std::string("/") + type + "_" + std::to_string(made_.graph.nodes.size());
  node.attributes = std::move(attributes);
  node.inputs = std::move(inputs);
  for (std::size_t i = 0; i < outputs; ++i) {
    Value value;
    value.name = "value" + std::to_string(made_.graph.values.size());
    node.outputs.push_back(static_cast<ValueId>(made_.graph.values.size()));
    made_.graph.values.push_back(std::move(value));
  }
  const std::vector<ValueId> made = node.outputs;
  append_node(made_.graph, std::move(node));
  return made;
}

MadeNetwork NetworkMaker::finish(const std::vector<ValueId>& outputs, bool rewritten) {
  made_.graph.outputs = outputs;
  link(made_.graph);
  remove_dead(made_.graph);
  if (rewritten) rewrite(made_.graph);
  return std::move(made_);
}

}  // namespace sdip
