// The parts that branches, loops and scans share.
#include "core/onnx/bodies/subgraph.h"

#include "core/base/error.h"

namespace sdip {
namespace {

// The opset of the nodes made here: Unsqueeze has its axes as an attribute, Gather and Concat take negative ones.
constexpr std::int64_t made_opset = 11;

ValueId add_value(ModelReading& reading, std::string name) {
  reading.inlined_name_bytes += std::ssize(name);
  if (reading.inlined_name_bytes > reading.options.most_inlined_name_bytes) {
    throw Error("limit_exceeded", name, "the names of inlined nodes take too many bytes");
  }
  reading.graph.values.emplace_back();
  reading.graph.values.back().name = std::move(name);
  return static_cast<ValueId>(reading.graph.values.size() - 1);
}

}  // namespace

void check_attribute_names(const NodeCall& call, std::string_view known) {
  std::unordered_set<std::string_view> seen;
  for (const auto& attribute : call.node.attribute()) {
    const std::string padded = " " + attribute.name() + " ";
    if ((" " + std::string(known) + " ").find(padded) == std::string::npos) {
      call.refuse("unsupported_attribute",
                  fmt::format("attribute '{}' is not known; known are: {}", attribute.name(), known));
    }
    if (!seen.insert(attribute.name()).second) {
      call.refuse("invalid_graph", "attribute '" + attribute.name() + "' stands twice");
    }
  }
}

const onnx::GraphProto& subgraph_of(const NodeCall& call, const char* attribute) {
  for (const auto& found : call.node.attribute()) {
    if (found.name() != attribute) continue;
    if (found.has_g() && found.type() == onnx::AttributeProto::GRAPH) return found.g();
  }
  call.refuse("invalid_graph", fmt::format("attribute '{}' must be a subgraph", attribute));
}

std::vector<ValueId> read_subgraph(const NodeCall& call, const onnx::GraphProto& graph, const std::string& path,
                                   const std::vector<ValueId>& inputs) {
  ModelReading& reading = call.reading;
  const BodyPlace& place = call.place;
  if (place.depth >= reading.options.most_nesting) {
    throw Error(
        "limit_exceeded", path,
        fmt::format("'{}': calls and subgraphs are nested deeper than {}", path, reading.options.most_nesting));
  }
  spend(reading, path, (graph.input_size() + graph.output_size()) / 16);
  const BodyOrder& order = order_of_graph(reading, graph);
  const BodyPlace inside{place.opsets, place.attributes, path, place.depth + 1, &place, nullptr};
  const auto [stored, fresh] = reading.initializers.try_emplace(&graph);
  if (fresh) {
    Scope initializers;
    read_initializers(reading, inside, initializers, graph);
    stored->second = std::move(initializers.values);
  }
  Scope scope{&call.scope, &stored->second, {}};
  check(as_size(graph.input_size()) == inputs.size(), "read_subgraph: not as many inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    scope.values.emplace(graph.input(static_cast<int>(i)).name(), inputs[i]);
  }
  read_body(reading, inside, scope, graph.node(), order);
  std::vector<ValueId> results;
  for (const auto& output : graph.output()) {
    results.push_back(output.name().empty() ? none : find_value(scope, output.name()));
    if (results.back() != none) continue;
    throw Error("invalid_graph", path, fmt::format("'{}': the result '{}' is absent", path, output.name()));
  }
  return results;
}

ValueId add_constant(ModelReading& reading, std::string name, Tensor tensor) {
  const ValueId id = add_value(reading, std::move(name));
  Value& value = reading.graph.values.back();
  value.kind = ValueKind::weight;
  value.operand.type = tensor.type;
  value.operand.shape = tensor.shape;
  value.operand.weight = true;
  value.operand.value = std::move(tensor);
  return id;
}

ValueId add_node(ModelReading& reading, Node node) {
  check(node.op != nullptr, "add_node: no such operator");
  const ValueId output = add_value(reading, node.name);
  node.outputs = {output};
  append(reading, std::move(node));
  return output;
}

ValueId add_node(ModelReading& reading, const std::string& name, const char* type, std::int64_t axis,
                 std::vector<ValueId> inputs) {
  Node node;
  node.name = name;
  node.op = find_operator("", type);
  node.opset = made_opset;
  check(node.op != nullptr, "add_node: no such operator");
  if (node.op->type == "Unsqueeze") {
    node.attributes.emplace("axes", std::vector<std::int64_t>{axis});
  } else {
    node.attributes.emplace("axis", axis);
  }
  node.inputs = std::move(inputs);
  return add_node(reading, std::move(node));
}

ValueId stacked(ModelReading& reading, const std::string& path, const std::vector<ValueId>& values,
                std::int64_t axis) {
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts.push_back(
        add_node(reading, path_of(path, "Unsqueeze_" + std::to_string(i)), "Unsqueeze", axis, {values[i]}));
  }
  return add_node(reading, path_of(path, "Concat"), "Concat", axis, std::move(parts));
}

}  // namespace sdip
