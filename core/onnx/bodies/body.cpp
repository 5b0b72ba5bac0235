// One body of nodes into the graph: names become values, nodes are appended once their inputs are known.
#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/needed_input.h"
#include "core/onnx/reading.h"
#include "core/onnx/tensor.h"
#include "core/onnx/versions.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

Value& value_at(ModelReading& reading, ValueId id) { return reading.graph.values[id]; }

void make_weight(Value& value, ReadTensor read) {
  value.kind = ValueKind::weight;
  value.operand = std::move(read.operand);
  value.operand.weight = true;
  value.bytes = std::move(read.bytes);
}

/// A path that no inlined node had yet: "a", "a#2", "a#3".
std::string fresh_path(ModelReading& reading, const std::string& path) {
  std::string name = path;
  while (!reading.paths.try_emplace(name, 1).second) {
    name = fmt::format("{}#{}", path, ++reading.paths[path]);
  }
  return name;
}

void count_name(ModelReading& reading, const BodyPlace& place, const std::string& name) {
  if (place.depth == 0) return;
  reading.inlined_name_bytes += std::ssize(name);
  const bool long_name = std::ssize(name) > reading.options.most_name_bytes;
  if (long_name || reading.inlined_name_bytes > reading.options.most_inlined_name_bytes) {
    throw Error("limit_exceeded", place.path,
                fmt::format("names of inlined nodes: at most {} bytes each, {} in all",
                            reading.options.most_name_bytes, reading.options.most_inlined_name_bytes));
  }
}

void read_constant(ModelReading& reading, const BodyPlace& place, const onnx::NodeProto& proto, const Node& node) {
  if (node.outputs.size() != 1) refuse_node(node.name, proto, "invalid_graph", "must have one output");
  Value& value = value_at(reading, node.outputs[0]);
  for (const auto& attribute : proto.attribute()) {
    const auto* given = resolved_attribute(attribute, node.name, place.attributes);
    if (given == nullptr || attribute.name() != "value" || !given->has_t()) continue;
    make_weight(value, read_tensor(given->t(), "constant '" + node.name + "'", reading.options));
    return;
  }
  value.kind = ValueKind::weight;
  value.operand = infer_use(*node.op, {node.name, node.op->type, node.opset, &node.attributes, {}, 1}).at(0);
  value.operand.weight = true;
}

/// A float parameter written as ConstantOfShape, as in ONNX's light models.
bool read_filled_parameter(ModelReading& reading, const Node& node) {
  if (node.op->type != "ConstantOfShape" || node.inputs.size() != 1 || node.outputs.size() != 1) return false;
  const Value& shape = value_at(reading, node.inputs[0]);
  if (!shape.initializer || !shape.operand.value) return false;
  const Operand* inputs[] = {&shape.operand};
  Operand made = infer_use(*node.op, {node.name, node.op->type, node.opset, &node.attributes, inputs, 1}).at(0);
  if (!is_floating(made.type)) return false;
  Value& value = value_at(reading, node.outputs[0]);
  value.kind = ValueKind::weight;
  value.operand = std::move(made);
  value.operand.weight = true;
  value.bytes = WeightBytes{};
  value.initializer = value.parameter = true;
  return true;
}

std::int64_t opset_of(const BodyPlace& place, const onnx::NodeProto& node, const std::string& name) {
  const auto found = place.opsets->find(std::string(domain_of(node.domain())));
  if (found != place.opsets->end()) return found->second;
  refuse_node(name, node, "invalid_graph", "domain '" + node.domain() + "' is not imported");
}

/// A rule said shape_unknown: of which inputs it should have known the numbers. The first operand is data unless it
/// is the only one that is not known.
[[noreturn]] void refuse_unknown_operands(const ModelReading& reading, const Scope& scope,
                                          const onnx::NodeProto& proto, const Error& error) {
  std::vector<ValueId> unknown;
  for (const std::string& input : proto.input()) {
    const ValueId id = input.empty() ? none : find_value(scope, input);
    if (id != none && !reading.graph.values[id].operand.value) unknown.push_back(id);
  }
  const bool first_is_data = unknown.size() > 1 && unknown[0] == find_value(scope, proto.input(0));
  const std::span<const ValueId> asked = std::span(unknown).subspan(first_is_data ? 1 : 0);
  refuse_unknown_numbers(reading.graph, asked, error.where, std::string(error.what()) + "; it");
}

void read_node(ModelReading& reading, const BodyPlace& place, Scope& scope, const onnx::NodeProto& proto,
               const std::string& name) {
  Node node;
  node.name = name;
  node.op = find_operator(reading.options.own_operators.get(), proto.domain(), proto.op_type());
  check(node.op != nullptr, "read_node: an unknown operator was not refused");
  node.opset = opset_of(place, proto, name);
  for (const std::string& input : proto.input()) {
    node.inputs.push_back(input.empty() ? none : find_value(scope, input));
  }
  for (const std::string& output : proto.output()) {
    node.outputs.push_back(output.empty() ? none : define(reading, place, scope, output));
  }
  // An absent input at the end is as good as not written, but for the parts of a Split, whose number says their
  // size.
  while (!node.inputs.empty() && node.inputs.back() == none) node.inputs.pop_back();
  const bool counted =
      node.op->type == "Split" && std::ranges::any_of(node.outputs, [](ValueId v) { return v != none; });
  while (!counted && !node.outputs.empty() && node.outputs.back() == none) node.outputs.pop_back();
  if (node.outputs.empty()) refuse_node(name, proto, "invalid_graph", "has no outputs");
  node.attributes = read_attributes(proto, name, place.attributes, reading.options);
  if (node.op->type == "Constant" && node.op->domain.empty()) {
    read_constant(reading, place, proto, node);
  } else if (!read_filled_parameter(reading, node)) {
    try {
      append(reading, std::move(node));
    } catch (const Error& error) {
      if (error.code != "shape_unknown") throw;
      refuse_unknown_operands(reading, scope, proto, error);
    }
  }
}

}  // namespace

std::string own_name(const onnx::NodeProto& node, std::int64_t index) {
  return node.name().empty() ? fmt::format("{}_{}", node.op_type(), index) : node.name();
}

std::string path_of(const std::string& path, std::string_view name) {
  if (path.empty()) return std::string(name);
  return path + (name.starts_with('/') ? "" : "/") + std::string(name);
}

void refuse_node(const std::string& name, const onnx::NodeProto& node, const char* code, const std::string& what) {
  throw Error(code, name, fmt::format("node '{}' ({}): {}", name, node.op_type(), what));
}

void spend(ModelReading& reading, const std::string& name, std::int64_t nodes, std::int64_t elements) {
  reading.steps += nodes;
  reading.inlined_elements += elements;
  if (reading.steps > reading.options.most_nodes) {
    throw Error("limit_exceeded", name,
                fmt::format("node '{}': more than {} nodes after inlining functions and unrolling loops", name,
                            reading.options.most_nodes));
  }
  if (reading.inlined_elements > reading.options.most_folded_elements_in_all) {
    throw Error("limit_exceeded", name, "node '" + name + "': too large constants are inlined too often");
  }
}

ValueId find_value(const Scope& scope, std::string_view name) {
  for (const Scope* at = &scope; at != nullptr; at = at->outer) {
    if (const auto found = at->values.find(name); found != at->values.end()) return found->second;
    if (at->initializers == nullptr) continue;
    if (const auto found = at->initializers->find(name); found != at->initializers->end()) return found->second;
  }
  throw Bug("find_value: a name that no scope has was not refused");
}

ValueId define(ModelReading& reading, const BodyPlace& place, Scope& scope, const std::string& name) {
  const auto id = static_cast<ValueId>(reading.graph.values.size());
  if (!scope.values.emplace(name, id).second) {
    throw Error("invalid_graph", place.path, "value '" + path_of(place.path, name) + "' is made twice");
  }
  reading.graph.values.emplace_back();
  reading.graph.values.back().name = path_of(place.path, name);
  count_name(reading, place, reading.graph.values.back().name);
  return id;
}

void read_initializers(ModelReading& reading, const BodyPlace& place, Scope& scope, const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) {
    ReadTensor read = read_tensor(tensor, "initializer '" + tensor.name() + "'", reading.options);
    Value& value = value_at(reading, define(reading, place, scope, tensor.name()));
    make_weight(value, std::move(read));
    value.initializer = true;
    value.parameter = may_be_parameter(value.operand.type);
  }
}

void append(ModelReading& reading, Node node) {
  const std::string name = node.name;
  append_node(reading.graph, std::move(node));
  if (std::ssize(reading.graph.nodes) > reading.options.most_nodes) {
    throw Error("limit_exceeded", name,
                fmt::format("node '{}': more than {} nodes with what composites stand for", name,
                            reading.options.most_nodes));
  }
  if (reading.graph.imported.folded_elements > reading.options.most_folded_elements_in_all) {
    throw Error("limit_exceeded", name,
                fmt::format("node '{}': computing constants takes more than {} elements in all", name,
                            reading.options.most_folded_elements_in_all));
  }
}

void deliver(const NodeCall& call, const std::vector<ValueId>& results, std::size_t first_made) {
  const onnx::NodeProto& node = call.node;
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty()) continue;
    const ValueId id = results.at(as_size(i));
    if (id == none) call.refuse("invalid_graph", "output '" + node.output(i) + "' is an absent input");
    if (!call.scope.values.emplace(node.output(i), id).second) {
      call.refuse("invalid_graph", "value '" + node.output(i) + "' is made twice");
    }
    if (as_size(id) < first_made) continue;
    value_at(call.reading, id).name = path_of(call.place.path, node.output(i));
    count_name(call.reading, call.place, value_at(call.reading, id).name);
  }
}

void read_body(ModelReading& reading, const BodyPlace& place, Scope& scope, const Nodes& nodes,
               const BodyOrder& order) {
  for (std::int32_t index : order.nodes) {
    const auto& node = nodes[index];
    std::string name = path_of(place.path, own_name(node, index));
    const Function* function = find_function(reading, node);
    if (place.depth > 0 || function != nullptr || is_control(node)) name = fresh_path(reading, name);
    count_name(reading, place, name);
    // Each of many inputs is work, too; the file's own nodes are bounded by the file.
    const std::int64_t elements = place.depth == 0 ? 0 : static_cast<std::int64_t>(node.ByteSizeLong() / 8);
    spend(reading, name, 1 + (place.depth == 0 ? 0 : (node.input_size() + node.output_size()) / 16), elements);
    if (function != nullptr) {
      inline_function({reading, place, scope, node, name}, *function);
    } else if (is_control(node)) {
      read_control({reading, place, scope, node, name});
    } else {
      read_node(reading, place, scope, node, name);
    }
  }
}

}  // namespace sdip
