// ONNX in: from what the walk left of a model to a graph with every shape known.
#include "core/onnx/import.h"

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "core/base/error.h"
#include "core/onnx/attribute.h"
#include "core/onnx/tensor.h"
#include "core/onnx/wire.h"
#include "core/ops/custom.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

// The operators' rules are written from ONNX's specification for these opsets of ai.onnx.
constexpr std::int64_t newest_opset = 21;

/// What stands while a model is read.
struct Reading {
  const ImportOptions& options;
  Graph graph;
  std::unordered_map<std::string, ValueId> ids;  // values by name
  std::map<std::string, std::int64_t> opsets;    // by domain
};

[[noreturn]] void fail(const Reading& reading, const char* code, const std::string& what) {
  throw Error(code, reading.options.label, reading.options.label + ": " + what);
}

ValueId value_named(Reading& reading, const std::string& name) {
  if (name.empty()) return none;
  const auto [at, fresh] = reading.ids.emplace(name, static_cast<ValueId>(reading.graph.values.size()));
  if (fresh) {
    reading.graph.values.emplace_back();
    reading.graph.values.back().name = name;
  }
  return at->second;
}

ValueId new_value(Reading& reading, const std::string& name) {
  if (name.empty()) fail(reading, "invalid_graph", "an input or initializer of the graph has no name");
  if (reading.ids.contains(name)) fail(reading, "invalid_graph", "value '" + name + "' is made twice");
  return value_named(reading, name);
}

void read_opsets(Reading& reading, const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    const std::string domain = import.domain() == "ai.onnx" ? "" : import.domain();
    const auto [at, fresh] = reading.opsets.emplace(domain, import.version());
    if (!fresh && at->second != import.version()) {
      fail(reading, "unsupported_opset", "domain '" + domain + "' is imported in two versions");
    }
  }
  const auto standard = reading.opsets.find("");
  if (standard == reading.opsets.end()) {
    fail(reading, "unsupported_opset", "the model does not say which opset of ai.onnx it is written in");
  }
  if (standard->second < least_opset || standard->second > newest_opset) {
    fail(reading, "unsupported_opset",
         "opset " + std::to_string(standard->second) + ", expected " + std::to_string(least_opset) + " to " +
             std::to_string(newest_opset));
  }
  reading.graph.opset = standard->second;
}

void read_initializers(Reading& reading, const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) {
    const ValueId id = new_value(reading, tensor.name());
    ReadTensor read = read_tensor(tensor, "initializer '" + tensor.name() + "'", reading.options);
    Value& value = reading.graph.values[static_cast<std::size_t>(id)];
    value.kind = ValueKind::weight;
    value.operand = std::move(read.operand);
    value.bytes = std::move(read.bytes);
    value.initializer = true;
  }
}

/// One symbolic dimension's name: its own, or that of its place.
std::string dimension_name(const onnx::TensorShapeProto::Dimension& dimension, const std::string& input, int axis) {
  if (dimension.has_dim_param() && !dimension.dim_param().empty()) return dimension.dim_param();
  return input + "[" + std::to_string(axis) + "]";
}

Shape bound_shape(Reading& reading, const onnx::TensorShapeProto& shape, const std::string& input,
                  std::set<std::string>& bound, std::vector<std::string>& unbound) {
  Shape sizes;
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    const auto& dimension = shape.dim(axis);
    if (dimension.has_dim_value() && dimension.dim_value() >= 0) {
      sizes.push_back(dimension.dim_value());
      continue;
    }
    const std::string name = dimension_name(dimension, input, axis);
    const auto given = reading.options.dims.find(name);
    sizes.push_back(given == reading.options.dims.end() ? 1 : given->second);
    if (given != reading.options.dims.end()) {
      bound.insert(name);
    } else if (std::find(unbound.begin(), unbound.end(), name) == unbound.end()) {
      unbound.push_back(name);
    }
  }
  return sizes;
}

/// Inputs that are initializers too (IR 3 lists all of them) are weights.
void read_inputs(Reading& reading, const onnx::GraphProto& graph) {
  std::set<std::string> bound;
  std::vector<std::string> unbound;
  for (const auto& input : graph.input()) {
    const auto known = reading.ids.find(input.name());
    const bool weight =
        known != reading.ids.end() && reading.graph.values[static_cast<std::size_t>(known->second)].initializer;
    if (weight) continue;
    const ValueId id = new_value(reading, input.name());
    const std::string what = "input '" + input.name() + "'";
    const auto type = element_type_of_onnx(input.type().tensor_type().elem_type());
    if (!input.type().has_tensor_type() || !type)
      fail(reading, "invalid_graph", what + " is no tensor of a known type");
    if (!input.type().tensor_type().has_shape()) fail(reading, "shape_unknown", what + " has no shape");
    Shape shape = bound_shape(reading, input.type().tensor_type().shape(), input.name(), bound, unbound);
    check_shape(shape, what, reading.options);
    Value& value = reading.graph.values[static_cast<std::size_t>(id)];
    value.kind = ValueKind::input;
    value.operand.type = *type;
    value.operand.shape = std::move(shape);
    reading.graph.inputs.push_back(id);
  }
  if (!unbound.empty()) {
    std::string list;
    for (const std::string& name : unbound) list += (list.empty() ? "" : ", ") + name;
    fail(reading, "unbound_dimension", "these dimensions have no size, give one for each: " + list);
  }
  for (const auto& [name, size] : reading.options.dims) {
    if (!bound.contains(name)) fail(reading, "unknown_dimension", "no input has a free dimension '" + name + "'");
  }
}

std::string name_of(const onnx::NodeProto& node, int index) {
  return node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
}

/// The rows of all nodes; an error lists every operator that is not known.
std::vector<const Operator*> find_operators(const Reading& reading, const onnx::GraphProto& graph) {
  std::vector<const Operator*> rows;
  std::set<std::string> unknown;
  std::string first;
  for (int i = 0; i < graph.node_size(); ++i) {
    const auto& node = graph.node(i);
    rows.push_back(find_operator(reading.options.own_operators.get(), node.domain(), node.op_type()));
    if (rows.back() != nullptr) continue;
    if (unknown.empty()) first = name_of(node, i);
    if (unknown.size() < 20)
      unknown.insert(node.domain().empty() ? node.op_type() : node.domain() + "::" + node.op_type());
  }
  if (unknown.empty()) return rows;
  std::string list;
  for (const std::string& type : unknown) list += (list.empty() ? "" : ", ") + type;
  throw Error(
      "unknown_operator", reading.options.label + ": " + first,
      reading.options.label + ": node '" + first + "' and perhaps others use operators not known here: " + list);
}

/// A constant is a value, not a node; so is a float parameter written as ConstantOfShape, as in ONNX's light
/// models.
bool read_as_weight(Reading& reading, const onnx::NodeProto& proto, const Node& node) {
  const bool filled = node.op->type == "ConstantOfShape" && proto.input_size() == 1;
  if (node.op->type == "Constant") {
    if (proto.output_size() != 1)
      fail(reading, "invalid_graph", "node '" + node.name + "' (Constant) must have one output");
    Value& value = reading.graph.values[static_cast<std::size_t>(node.outputs[0])];
    value.kind = ValueKind::weight;
    for (const auto& attribute : proto.attribute()) {
      if (attribute.name() != "value" || !attribute.has_t()) continue;
      ReadTensor read = read_tensor(attribute.t(), "constant '" + node.name + "'", reading.options);
      value.operand = std::move(read.operand);
      value.bytes = std::move(read.bytes);
      return true;
    }
    const OperatorUse use{node.name, node.op->type, node.opset, &node.attributes, {}, 1};
    value.operand = infer_use(*node.op, use).at(0);
    return true;
  }
  if (!filled || node.inputs[0] == none || node.outputs.size() != 1) return false;
  const Value& shape = reading.graph.values[static_cast<std::size_t>(node.inputs[0])];
  if (!shape.initializer || !shape.operand.value) return false;
  const Operand* inputs[] = {&shape.operand};
  Operand made = infer_use(*node.op, {node.name, node.op->type, node.opset, &node.attributes, inputs, 1}).at(0);
  if (!is_floating(made.type)) return false;
  Value& value = reading.graph.values[static_cast<std::size_t>(node.outputs[0])];
  value.kind = ValueKind::weight;
  value.operand = std::move(made);
  value.bytes = WeightBytes{};
  value.initializer = true;
  return true;
}

void read_node(Reading& reading, const onnx::NodeProto& proto, int index, const Operator* op) {
  Node node;
  node.name = name_of(proto, index);
  node.op = op;
  const auto opset = reading.opsets.find(proto.domain() == "ai.onnx" ? "" : proto.domain());
  if (opset == reading.opsets.end()) {
    fail(reading, "invalid_graph", "node '" + node.name + "': domain '" + proto.domain() + "' is not imported");
  }
  node.opset = opset->second;
  for (const std::string& name : proto.input()) node.inputs.push_back(value_named(reading, name));
  for (const std::string& name : proto.output()) {
    node.outputs.push_back(value_named(reading, name));
    if (name.empty()) continue;
    Value& value = reading.graph.values[static_cast<std::size_t>(node.outputs.back())];
    if (value.producer != none || value.kind != ValueKind::activation || value.initializer) {
      fail(reading, "invalid_graph",
           "node '" + node.name + "' makes value '" + name + "', which is made elsewhere");
    }
    value.producer = static_cast<NodeId>(index);
  }
  // Absent inputs at the end are as good as not written.
  while (!node.inputs.empty() && node.inputs.back() == none) node.inputs.pop_back();
  while (!node.outputs.empty() && node.outputs.back() == none) node.outputs.pop_back();
  if (node.outputs.empty()) fail(reading, "invalid_graph", "node '" + node.name + "' has no outputs");
  node.attributes = read_attributes(proto, node.name, reading.options);
  if (!read_as_weight(reading, proto, node)) reading.graph.nodes.push_back(std::move(node));
}

void read_outputs(Reading& reading, const onnx::GraphProto& graph) {
  for (const auto& output : graph.output()) {
    const auto known = reading.ids.find(output.name());
    if (known == reading.ids.end()) {
      fail(reading, "invalid_graph", "output '" + output.name() + "' is made by no node");
    }
    reading.graph.outputs.push_back(known->second);
  }
  if (reading.graph.outputs.empty()) fail(reading, "invalid_graph", "the graph has no outputs");
}

/// Every value that is used is an input, a weight, or made by a node.
void check_values(const Reading& reading) {
  for (const Value& value : reading.graph.values) {
    if (value.kind == ValueKind::activation && value.producer == none) {
      fail(reading, "invalid_graph", "value '" + value.name + "' is used, but made by no node");
    }
  }
}

Graph read_model(const onnx::ModelProto& model, const ImportOptions& options) {
  Reading reading{options, {}, {}, {}};
  if (!model.has_graph())
    fail(reading, "not_onnx", "holds no graph: this is not an ONNX model, or it is truncated");
  read_opsets(reading, model);
  const auto& graph = model.graph();
  reading.graph.name = graph.name();
  reading.graph.own_operators = reading.options.own_operators;
  reading.graph.producer =
      model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version());
  const auto rows = find_operators(reading, graph);
  read_initializers(reading, graph);
  read_inputs(reading, graph);
  for (int i = 0; i < graph.node_size(); ++i)
    read_node(reading, graph.node(i), i, rows[static_cast<std::size_t>(i)]);
  read_outputs(reading, graph);
  check_values(reading);
  return std::move(reading.graph);
}

}  // namespace

Graph import_onnx(std::span<const std::byte> bytes, const ImportOptions& options) {
  const std::string slim = slim_model(bytes, options);
  google::protobuf::Arena arena;
  auto* model = google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (!model->ParseFromString(slim)) {
    throw Error("not_onnx", options.label, options.label + ": this is not an ONNX model, or it is damaged");
  }
  Graph graph = read_model(*model, options);
  try {
    sort_nodes(graph);
    infer(graph);
    remove_dead(graph);
  } catch (const Error& error) {
    throw Error(error.code, options.label + ": " + error.where, options.label + ": " + error.what());
  }
  return graph;
}

}  // namespace sdip
