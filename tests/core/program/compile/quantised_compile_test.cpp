// Quantised and three-dimensional models compiled: they cost what their float twins cost.
#include <functional>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

onnx::TensorProto& add_bytes(onnx::ModelProto& model, const std::string& name, const Shape& shape, int type) {
  auto& tensor = add_weight(model, name, shape);
  tensor.set_data_type(type);
  return tensor;
}

void add_scale(onnx::ModelProto& model, const std::string& name, float scale, int zero, int type = 2) {
  add_floats(model, name + "_scale", {}, {scale});
  auto& tensor = add_bytes(model, name + "_zero", {}, type);
  tensor.add_int32_data(zero);
}

/// relu(x) by a 3x3 weight [8,4,3,3], quantised to 8 bits and back, or in floats.
onnx::ModelProto convolution(bool quantised) {
  onnx::ModelProto model = model_of_x({1, 4, 16, 16});
  add_node(model, "Relu", {"x"}, "r");
  if (quantised) {
    for (const char* name : {"r", "w", "y"}) add_scale(model, name, 0.5F, 3);
    add_bytes(model, "w", {8, 4, 3, 3}, 2);
    add_node(model, "QuantizeLinear", {"r", "r_scale", "r_zero"}, "q");
    add_node(model, "QLinearConv", {"q", "r_scale", "r_zero", "w", "w_scale", "w_zero", "y_scale", "y_zero"}, "y");
  } else {
    add_weight(model, "w", {8, 4, 3, 3});
    add_node(model, "Conv", {"r", "w"}, "y");
  }
  add_output(model, "y");
  return model;
}

TEST(quantised_convolution, has_the_macs_and_weights_of_its_float_twin) {
  const Graph floats = import_model(convolution(false)), bytes = import_model(convolution(true));
  EXPECT_EQ(facts_of(bytes).macs_conv, facts_of(floats).macs_conv);
  EXPECT_EQ(facts_of(floats).macs_conv, 8 * 4 * 9 * 14 * 14);
  const Application a = compiled(floats, Machine{}), b = compiled(bytes, Machine{});
  EXPECT_EQ(mnemonics(a), (std::vector<std::string>{"relu", "conv2d"}));
  EXPECT_EQ(mnemonics(b), (std::vector<std::string>{"relu", "quantize", "conv2d"}));
  EXPECT_EQ(class_at(a, 1).work.nest, class_at(b, 2).work.nest);
  EXPECT_EQ(class_at(a, 1).weight_elements_per_channel, class_at(b, 2).weight_elements_per_channel);
}

TEST(quantised_convolution, its_bytes_are_parameters_and_its_zero_points_are_not) {
  // 288 bytes of weight and three scales.
  EXPECT_EQ(facts_of(import_model(convolution(true))).parameters, 288 + 3);
  EXPECT_EQ(facts_of(import_model(convolution(false))).parameters, 288);
}

TEST(dynamic_quantisation, of_a_product_compiles_with_its_zero_point_an_activation) {
  onnx::ModelProto model = model_of_x({32, 64});
  add_node(model, "Relu", {"x"}, "r");
  auto& node = add_node(model, "DynamicQuantizeLinear", {"r"}, "q");
  node.add_output("scale");
  node.add_output("zero");
  add_bytes(model, "w", {64, 48}, 3);
  add_bytes(model, "w_zero", {}, 3).add_int32_data(0);
  add_node(model, "MatMulInteger", {"q", "w", "zero", "w_zero"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(facts_of(graph).macs_linear, 32 * 64 * 48);
  EXPECT_EQ(facts_of(graph).parameters, 64 * 48);
  EXPECT_FALSE(mnemonics(compiled(graph, Machine{})).empty());
}

TEST(recurrent_layers, keep_their_products_when_more_than_one_output_is_used) {
  onnx::ModelProto model = model_of_x({5, 2, 16});
  add_node(model, "Relu", {"x"}, "r");
  add_weight(model, "w", {1, 32, 16});
  add_weight(model, "s", {1, 32, 8});
  auto& node = add_node(model, "LSTM", {"r", "w", "s"}, "y");
  for (const char* name : {"h", "c"}) {
    node.add_output(name);
    add_output(model, name);
  }
  add_output(model, "y");
  const Application application = compiled(model, Machine{});
  EXPECT_EQ(mnemonics(application), (std::vector<std::string>{"relu", "lstm", "lstm", "lstm"}));
  EXPECT_EQ(mac_count(class_at(application, 1).work.nest), 5 * 2 * 32 * (16 + 8));
}

/// One node between x and y with weights of the shapes given compiles.
void expect_compiles(const char* type, const Shape& x, const std::vector<Shape>& weights,
                     const std::function<void(onnx::NodeProto&)>& with = {}, std::int64_t opset = 17) {
  onnx::ModelProto model = empty_model(opset);
  add_input(model, "x", x);
  add_node(model, "Relu", {"x"}, "r");
  std::vector<std::string> inputs = {"r"};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    inputs.push_back("w" + std::to_string(i));
    add_weight(model, inputs.back(), weights[i]);
  }
  auto& node = add_node(model, type, inputs, "y");
  if (with) with(node);
  add_output(model, "y");
  const Application application = compiled(import_model(model), Machine{});
  EXPECT_FALSE(mnemonics(application).empty()) << type;
}

TEST(operators_of_windows_and_products, compile) {
  expect_compiles("Conv", {1, 4, 6, 8, 8}, {{8, 4, 3, 3, 3}});
  expect_compiles("ConvTranspose", {1, 4, 8, 8}, {{4, 8, 4, 4}}, [](auto& node) {
    set_ints(node, "strides", {2, 2});
  });
  expect_compiles("ConvTranspose", {1, 4, 8}, {{4, 8, 3}}, [](auto& node) { set_ints(node, "strides", {3}); });
  expect_compiles("LSTM", {5, 2, 16}, {{1, 32, 16}, {1, 32, 8}});
  expect_compiles("GRU", {5, 2, 16}, {{1, 24, 16}, {1, 24, 8}});
  expect_compiles("DeformConv", {1, 4, 8, 8}, {{8, 4, 3, 3}, {1, 18, 6, 6}}, {}, 19);
  expect_compiles("GridSample", {1, 4, 8, 8}, {{1, 5, 6, 2}});
  expect_compiles("GlobalLpPool", {1, 4, 8, 8}, {});
  expect_compiles("Det", {3, 4, 4}, {});
  expect_compiles("DFT", {1, 64, 1}, {});
}

}  // namespace
}  // namespace sdip
