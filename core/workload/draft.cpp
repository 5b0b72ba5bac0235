// Writing nodes, weights and constants into an ONNX message.
#include "core/workload/draft.h"

#include <bit>
#include <cstring>

#include "core/base/error.h"

namespace sdip::workload {
namespace {

// Weights are copied as they lie in memory, and ONNX's raw data is little-endian.
static_assert(std::endian::native == std::endian::little);

onnx::GraphProto& graph_of(Draft& draft) { return *draft.model.mutable_graph(); }

void assign(std::string& to, std::string_view from) { to.assign(from.data(), from.size()); }

/// "/blocks.0/Add", then "/blocks.0/Add_1", ... as the exporter numbers them.
std::string unused_node_name(Draft& draft, std::string_view op) {
  std::string name;
  name.reserve(draft.path.size() + op.size() + 4);
  name.append(draft.path).append("/").append(op);
  const int earlier = draft.nodes_named[name]++;
  if (earlier > 0) name.append("_").append(std::to_string(earlier));
  return name;
}

void set(onnx::NodeProto& to, const Attribute& attribute) {
  onnx::AttributeProto& proto = *to.add_attribute();
  assign(*proto.mutable_name(), attribute.name);
  if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*integer);
  } else if (const auto* real = std::get_if<float>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*real);
  } else if (const auto* text = std::get_if<std::string_view>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::STRING);
    assign(*proto.mutable_s(), *text);
  } else {
    const Shape& integers = std::get<Shape>(attribute.value);
    proto.set_type(onnx::AttributeProto::INTS);
    proto.mutable_ints()->Add(integers.begin(), integers.end());
  }
}

onnx::NodeProto& begin_node(Draft& draft, std::string_view op, Inputs inputs, Attributes attributes) {
  onnx::NodeProto& proto = *graph_of(draft).add_node();
  assign(*proto.mutable_op_type(), op);
  proto.set_name(unused_node_name(draft, op));
  for (const std::string_view input : inputs) assign(*proto.add_input(), input);
  for (const Attribute& attribute : attributes) set(proto, attribute);
  return proto;
}

void describe(onnx::ValueInfoProto& info, std::string_view name, onnx::TensorProto::DataType type,
              const Shape& shape) {
  assign(*info.mutable_name(), name);
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const std::int64_t extent : shape) tensor.mutable_shape()->add_dim()->set_dim_value(extent);
}

Value input(Draft& draft, std::string_view name, onnx::TensorProto::DataType type, Shape shape) {
  describe(*graph_of(draft).add_input(), name, type, shape);
  return {std::string(name), std::move(shape)};
}

onnx::TensorProto& constant_node(Draft& draft, const std::string& output) {
  onnx::NodeProto& node = *graph_of(draft).add_node();
  node.set_op_type("Constant");
  node.set_name("/" + output);
  node.add_output(output);
  onnx::AttributeProto& value = *node.add_attribute();
  value.set_name("value");
  value.set_type(onnx::AttributeProto::TENSOR);
  return *value.mutable_t();
}

template <class Element>
std::string constant(Draft& draft, onnx::TensorProto::DataType type, const Shape& shape,
                     std::span<const Element> values) {
  std::string bytes(values.size_bytes(), '\0');
  std::memcpy(bytes.data(), values.data(), values.size_bytes());
  std::string key = type == onnx::TensorProto::FLOAT ? "f" : "i";
  for (const std::int64_t extent : shape) key.append(std::to_string(extent)).append(",");
  key.append(":").append(bytes);
  const auto [found, added] = draft.constants.try_emplace(std::move(key));
  if (added) {
    found->second = "onnx::Constant_" + std::to_string(draft.constants.size());
    // Floats as an exporter writes them: nodes, so that initializers are the parameters and what shapes need.
    onnx::TensorProto& tensor =
        type == onnx::TensorProto::FLOAT ? constant_node(draft, found->second) : *graph_of(draft).add_initializer();
    if (type != onnx::TensorProto::FLOAT) tensor.set_name(found->second);
    tensor.set_data_type(type);
    tensor.mutable_dims()->Add(shape.begin(), shape.end());
    *tensor.mutable_raw_data() = std::move(bytes);
  }
  return found->second;
}

void add_entry(onnx::TensorProto& tensor, const char* key, std::string value) {
  onnx::StringStringEntryProto& entry = *tensor.add_external_data();
  entry.set_key(key);
  entry.set_value(std::move(value));
}

}  // namespace

Draft::Draft(std::string_view model_name)
    : model(*google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena)),
      weights_file(std::string(model_name) + ".weights") {
  model.set_ir_version(8);
  model.set_producer_name("sdip");
  onnx::OperatorSetIdProto& opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(17);
  assign(*graph_of(*this).mutable_name(), model_name);
}

Module::Module(Draft& draft, std::string_view name) : of(draft), outer_length(draft.path.size()) {
  draft.path.append("/").append(name);
}

Module::~Module() { of.path.resize(outer_length); }

Value node(Draft& draft, std::string_view op, Inputs inputs, Shape shape, Attributes attributes) {
  onnx::NodeProto& proto = begin_node(draft, op, inputs, attributes);
  Value value{proto.name() + "_output_0", std::move(shape)};
  proto.add_output(value.name);
  return value;
}

std::vector<Value> node_with_outputs(Draft& draft, std::string_view op, Inputs inputs,
                                     std::span<const Shape> shapes, Attributes attributes) {
  onnx::NodeProto& proto = begin_node(draft, op, inputs, attributes);
  std::vector<Value> values;
  values.reserve(shapes.size());
  for (const Shape& shape : shapes) {
    values.push_back({fmt::format("{}_output_{}", proto.name(), values.size()), shape});
    proto.add_output(values.back().name);
  }
  return values;
}

Value float_input(Draft& draft, std::string_view name, Shape shape) {
  return input(draft, name, onnx::TensorProto::FLOAT, std::move(shape));
}

Value int64_input(Draft& draft, std::string_view name, Shape shape) {
  return input(draft, name, onnx::TensorProto::INT64, std::move(shape));
}

Value int32_input(Draft& draft, std::string_view name, Shape shape) {
  return input(draft, name, onnx::TensorProto::INT32, std::move(shape));
}

void output(Draft& draft, std::string_view name, const Value& value, onnx::TensorProto::DataType type) {
  onnx::GraphProto& graph = graph_of(draft);
  // The exporter renames the value itself; it can only occur after the node that makes it.
  bool made = false;
  for (int i = graph.node_size() - 1; i >= 0 && !made; --i) {
    onnx::NodeProto& proto = *graph.mutable_node(i);
    for (std::string& used : *proto.mutable_input()) {
      if (used == value.name) assign(used, name);
    }
    for (std::string& result : *proto.mutable_output()) {
      if (result != value.name) continue;
      assign(result, name);
      made = true;
    }
  }
  check(made, "a graph output is made by a node");
  describe(*graph.add_output(), name, type, value.shape);
}

std::string weight(Draft& draft, std::string_view leaf, const Shape& shape) {
  std::int64_t bytes = sizeof(float);
  for (const std::int64_t extent : shape) bytes *= extent;
  std::string name;
  name.reserve(draft.path.size() + leaf.size() + 1);
  if (!draft.path.empty()) name.append(draft.path, 1).append(".");
  for (char& letter : name) letter = letter == '/' ? '.' : letter;
  name.append(leaf);
  onnx::TensorProto& tensor = *graph_of(draft).add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  add_entry(tensor, "location", draft.weights_file);
  add_entry(tensor, "offset", std::to_string(draft.weight_bytes));
  add_entry(tensor, "length", std::to_string(bytes));
  draft.weight_bytes += bytes;
  return name;
}

std::string int64_constant(Draft& draft, const Shape& values) {
  return constant<std::int64_t>(draft, onnx::TensorProto::INT64, {static_cast<std::int64_t>(values.size())},
                                values);
}

std::string int64_scalar(Draft& draft, std::int64_t value) {
  return constant<std::int64_t>(draft, onnx::TensorProto::INT64, {}, {&value, 1});
}

std::string float_constant(Draft& draft, const Shape& shape, std::span<const float> values) {
  return constant<float>(draft, onnx::TensorProto::FLOAT, shape, values);
}

std::string float_scalar(Draft& draft, float value) {
  return constant<float>(draft, onnx::TensorProto::FLOAT, {}, {&value, 1});
}

}  // namespace sdip::workload
