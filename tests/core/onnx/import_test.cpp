// What a model becomes: weights located and left out, constants kept, names, order, old ways of writing.
#include <cstring>

#include "tests/core/onnx/build.h"

#include "core/onnx/wire.h"

namespace sdip {
namespace {

const Value& value_named(const Graph& graph, const std::string& name) {
  for (const Value& value : graph.values) {
    if (value.name == name) return value;
  }
  throw std::runtime_error("no value " + name);
}

TEST(weights, lie_in_the_file_where_the_graph_says_and_are_not_copied) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 64});
  auto& weight = add_weight(model, "w", {64, 64});
  std::string data(64 * 64 * 4, '\0');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i % 251);
  weight.set_raw_data(data);
  add_floats(model, "f", {50, 60}, std::vector<float>(3000, 1.5f));
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_node(model, "Add", {"f", "f"}, "z");
  add_output(model, "y");
  add_output(model, "z");
  const std::string bytes = model.SerializeAsString();
  EXPECT_LT(slim_model(std::as_bytes(std::span(bytes)), {}).size(), 600u);
  const Graph graph = import_bytes(bytes);
  const Value& raw = value_named(graph, "w");
  EXPECT_EQ(raw.kind, ValueKind::weight);
  EXPECT_FALSE(raw.operand.value.has_value());
  ASSERT_TRUE(raw.bytes.has_value());
  EXPECT_EQ(bytes.substr(static_cast<std::size_t>(raw.bytes->offset), static_cast<std::size_t>(raw.bytes->length)),
            data);
  const Value& typed = value_named(graph, "f");
  EXPECT_EQ(typed.bytes->length, 12000);
  float first = 0;
  std::memcpy(&first, bytes.data() + typed.bytes->offset, sizeof(first));
  EXPECT_EQ(first, 1.5f);
}

TEST(weights, of_the_wrong_size_are_refused) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_floats(model, "w", {4}, {1, 2, 3});
  add_node(model, "Add", {"x", "w"}, "y");
  add_output(model, "y");
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "invalid_graph");
}

TEST(constants, of_every_stored_type_have_their_values) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2});
  auto& half = add_weight(model, "half", {3});
  half.set_data_type(10);
  half.set_raw_data(std::string("\x00\x3c\x00\xc0\x01\x00", 6));  // 1, -2, 2^-24
  auto& byte = add_weight(model, "byte", {2});
  byte.set_data_type(3);
  byte.set_raw_data(std::string("\xff\x05", 2));
  auto& brain = add_weight(model, "brain", {1});
  brain.set_data_type(16);
  brain.add_int32_data(0x4049);  // 3.140625
  for (const char* name : {"half", "byte", "brain"}) {
    add_node(model, "Identity", {name}, std::string(name) + "2");
    add_output(model, std::string(name) + "2");
  }
  const Graph graph = import_model(model);
  EXPECT_EQ(value_named(graph, "half2").operand.value->floats, (std::vector<double>{1, -2, 0x1p-24}));
  EXPECT_EQ(value_named(graph, "byte2").operand.value->ints, (std::vector<std::int64_t>{-1, 5}));
  EXPECT_EQ(value_named(graph, "brain2").operand.value->floats, (std::vector<double>{3.140625}));
}

TEST(constants, of_8_and_4_bits_have_their_values) {
  // Codes of 1, -2 and the largest number of each type, from the tables of
  // https://onnx.ai/onnx/technical/float8.html and float4.html; raw, and in int32_data.
  struct Row {
    int type;
    std::vector<int> codes;
    std::vector<double> values;
  };
  const Row rows[] = {{17, {0x38, 0xc0, 0x7e}, {1, -2, 448}},
                      {18, {0x40, 0xc8, 0x7f}, {1, -2, 240}},
                      {19, {0x3c, 0xc0, 0x7b}, {1, -2, 57344}},
                      {20, {0x40, 0xc4, 0x7f}, {1, -2, 57344}},
                      {23, {0xc2, 0x07}, {1, -2, 6}},
                      {21, {0xe1, 0x0f}, {1, 14, 15}},
                      {22, {0xe1, 0x07}, {1, -2, 7}}};
  for (const bool raw : {true, false}) {
    for (const Row& row : rows) {
      onnx::ModelProto model = empty_model(21);
      add_input(model, "x", {3});
      auto& tensor = add_weight(model, "w", {3});
      tensor.set_data_type(row.type);
      std::string bytes;
      for (int code : row.codes) bytes += static_cast<char>(code);
      if (raw) tensor.set_raw_data(bytes);
      for (int code : row.codes) {
        if (!raw) tensor.add_int32_data(code);
      }
      add_node(model, "Identity", {"w"}, "y");
      add_output(model, "y");
      const Graph graph = import_model(model);
      const Tensor& found = *value_named(graph, "y").operand.value;
      std::vector<double> values = found.floats;
      for (std::int64_t x : found.ints) values.push_back(static_cast<double>(x));
      EXPECT_EQ(values, row.values) << row.type << (raw ? " raw" : " in int32_data");
    }
  }
}

TEST(shape_chains, are_computed_and_leave_the_graph) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 6, 4});
  add_ints(model, "one", {1});
  add_ints(model, "two", {2});
  add_ints(model, "minus", {-1});
  add_node(model, "Shape", {"x"}, "shape");
  set_int(add_node(model, "Gather", {"shape", "one"}, "channels"), "axis", 0);
  add_node(model, "Div", {"channels", "two"}, "halved");
  set_int(add_node(model, "Concat", {"halved", "minus"}, "target"), "axis", 0);
  add_node(model, "Reshape", {"x", "target"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(value_named(graph, "y").operand.shape, (Shape{3, 16}));
}

TEST(nodes, out_of_order_are_sorted_and_others_keep_their_order) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_node(model, "Relu", {"b"}, "y", "last");
  add_node(model, "Abs", {"x"}, "a", "first");
  add_node(model, "Neg", {"x"}, "n", "aside");
  add_node(model, "Add", {"a", "n"}, "b", "middle");
  add_output(model, "y");
  const Graph graph = import_model(model);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"first", "aside", "middle", "last"}));
}

TEST(nodes, that_reach_no_output_are_dropped) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_weight(model, "unused", {1000, 4});
  add_node(model, "Relu", {"x"}, "y");
  add_node(model, "Add", {"x", "unused"}, "z");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(facts_of(graph).parameters, 0);
}

TEST(initializers, that_are_listed_as_inputs_too_are_weights) {
  onnx::ModelProto model = empty_model(9);
  model.set_ir_version(3);
  add_input(model, "x", {1, 64});
  add_input(model, "w", {64, 64});
  add_weight(model, "w", {64, 64});
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(facts_of(graph).parameters, 4096);
  EXPECT_EQ(facts_of(graph).macs_linear, 4096);
}

TEST(parameters, reach_the_sum_through_a_change_of_shape) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 2, 3, 3});
  add_floats(model, "gamma", {2}, {1, 2});
  add_ints(model, "axes", {1, 2});
  add_node(model, "Unsqueeze", {"gamma", "axes"}, "g");
  add_node(model, "Mul", {"x", "g"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(facts_of(graph).parameters, 2);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(work_of(graph, graph.nodes[0]).family, Family::constant);
}

/// A constant of the numbers 0, 1, 2, ..., or of one number.
void add_constant_node(onnx::ModelProto& model, const std::string& name, const Shape& shape, bool varied = true) {
  auto* attribute = add_node(model, "Constant", {}, name).add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->set_data_type(1);
  for (const std::int64_t size : shape) attribute->mutable_t()->add_dims(size);
  for (std::int64_t i = 0; i < element_count(shape); ++i)
    attribute->mutable_t()->add_float_data(varied ? static_cast<float>(i) : 1.0F);
}

TEST(parameters, that_the_file_has_as_constants_are_counted_where_weights_stand) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 2, 4, 4});
  add_constant_node(model, "kernel", {3, 2, 1, 1});
  add_constant_node(model, "bias", {3});
  add_node(model, "Conv", {"x", "kernel", "bias"}, "c");
  add_constant_node(model, "scale", {3}, false);  // as exporters write a norm without one
  add_constant_node(model, "shift", {3});
  add_node(model, "InstanceNormalization", {"c", "scale", "shift"}, "n");
  add_constant_node(model, "turned", {5, 4});
  add_node(model, "Transpose", {"turned"}, "matrix");
  add_node(model, "MatMul", {"n", "matrix"}, "m");
  add_constant_node(model, "added", {5});
  add_node(model, "Add", {"m", "added"}, "s");
  add_constant_node(model, "mask", {1, 1, 4, 5});
  add_node(model, "Mul", {"s", "mask"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(facts_of(graph).parameters, 6 + 3 + 3 + 20 + 5);
}

TEST(import, is_the_same_twice) {
  SDIP_SHARED_MODEL(bytes, std::string("exports/kj_sd1_unet_op14.onnx"));
  const Graph a = import_bytes(bytes), b = import_bytes(bytes);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    ASSERT_EQ(a.nodes[i].name, b.nodes[i].name);
    ASSERT_EQ(a.nodes[i].inputs, b.nodes[i].inputs);
    ASSERT_EQ(work_of(a, a.nodes[i]), work_of(b, b.nodes[i]));
  }
}

}  // namespace
}  // namespace sdip
