// What generated models found and is mended: the smallest model of each, checked as they are.
#include <gtest/gtest.h>

#include "tests/core/onnx/build.h"
#include "tests/generate/check.h"

namespace sdip::generate {
namespace {

Machine exact() {
  Machine machine;
  machine.weight_format = machine.activation_format = NumberFormat::fp32;
  machine.accumulator_format = NumberFormat::int32;
  return machine;
}

Outcome outcome_on(Machine machine, const onnx::ModelProto& model) {
  Generated given;
  given.model = model;
  return check_model(given, machine, 1, [](const char*) {});
}

std::string found_on(const Machine& machine, const onnx::ModelProto& model) {
  const Outcome outcome = outcome_on(machine, model);
  return outcome.verdict == Verdict::passed ? ""
                                            : std::string(verdict_text(outcome.verdict)) + " " + outcome.detail;
}

/// It read the constant of the instruction before: its own was not stored, fetched or charged.
TEST(found, a_product_of_two_activations_adds_its_own_constant_bias) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3, 5});
  add_input(model, "y", {5, 4});
  add_floats(model, "c", {1, 5}, {1, 2, 3, 4, 5});
  add_floats(model, "bias", {4}, {10, 20, 30, 40});
  add_node(model, "Add", {"x", "c"}, "sum");
  add_node(model, "Gemm", {"x", "y", "bias"}, "product");
  add_output(model, "sum");
  add_output(model, "product");
  const Outcome outcome = outcome_on(exact(), model);
  EXPECT_EQ(outcome.verdict, Verdict::passed) << outcome.detail;
  EXPECT_TRUE(outcome.executed);
  EXPECT_EQ(found_on(Machine(), model), "");
}

TEST(found, a_convolution_by_an_activation_adds_its_bias) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 3, 4, 4});
  add_input(model, "kernel", {5, 3, 1, 2});
  add_floats(model, "bias", {5}, {1, 2, 3, 4, 5});
  add_node(model, "Conv", {"x", "kernel", "bias"}, "y");
  add_output(model, "y");
  EXPECT_EQ(found_on(exact(), model), "");
  EXPECT_EQ(found_on(Machine(), model), "");
}

/// It was taken for another shape of the input, of another type and width: memory was overwritten.
TEST(found, a_mask_of_dropout_that_is_used_keeps_everything) {
  for (const std::int64_t opset : {7, 13}) {
    onnx::ModelProto model = empty_model(opset);
    add_input(model, "x", {3, 6}, 10);
    add_input(model, "z", {3, 6}, opset < 10 ? 10 : 9);
    auto& node = add_node(model, "Dropout", {"x"}, "kept");
    node.add_output("mask");
    add_node(model, opset < 10 ? "Add" : "And", {"mask", "z"}, "both");
    add_node(model, "Neg", {"kept"}, "y");
    add_output(model, "y");
    add_output(model, "both");
    add_output(model, "mask");
    EXPECT_EQ(found_on(exact(), model), "") << opset;
    EXPECT_EQ(found_on(find_preset("edge")->machine, model), "") << opset;
  }
}

/// The number of outputs says how large each is.
TEST(found, a_part_of_a_split_without_a_name_still_counts) {
  onnx::ModelProto model = empty_model(11);
  add_input(model, "x", {2, 8});
  auto& node = add_node(model, "Split", {"x"}, "first");
  node.add_output("");
  set_int(node, "axis", 1);
  add_node(model, "Neg", {"first"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs[0])].operand.shape, (Shape{2, 4}));
  EXPECT_EQ(found_on(exact(), model), "");
}

/// Backwards over nothing it divided by a step of 0.
TEST(found, a_slice_backwards_over_no_elements_has_none) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3, 0});
  add_ints(model, "starts", {-1});
  add_ints(model, "ends", {INT64_MIN});
  add_ints(model, "axes", {1});
  add_ints(model, "steps", {-1});
  add_node(model, "Slice", {"x", "starts", "ends", "axes", "steps"}, "y");
  add_output(model, "y");
  const Graph graph = import_model(model);
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs[0])].operand.shape, (Shape{3, 0}));
}

/// The reference of a layer alone had all of them.
TEST(found, integer_weights_are_pruned_in_the_reference_too) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4, 2}, 7);
  auto& weight = *model.mutable_graph()->add_initializer();
  weight.set_name("w");
  weight.set_data_type(7);
  for (const std::int64_t size : {2, 3}) weight.add_dims(size);
  for (const std::int64_t x : {-2, 1, 2, -1, 1, 2}) weight.add_int64_data(x);
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  Machine machine = exact();
  machine.sparsity = Sparsity::skipping;
  machine.weight_density = Decimal{58};
  EXPECT_EQ(found_on(machine, model), "");
}

}  // namespace
}  // namespace sdip::generate
