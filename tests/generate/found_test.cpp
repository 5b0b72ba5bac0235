// What generated models found and is mended: the smallest model of each, checked as they are.
#include <gtest/gtest.h>

#include "tests/generate/found.h"

namespace sdip::generate {
namespace {

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

/// 2^64 - 1 and the like: what a factor of no bias did, and what stood as a number of 64 bits with a sign.
TEST(found, products_of_integers_of_64_bits_wrap_and_are_exact_whatever_factors_they_have) {
  struct Row {
    const char* name;
    float alpha, beta;
    bool biased, constant_first;
  };
  for (const Row& row : {Row{"beta alone", 1, 2, false, false}, Row{"constant first", 1, 2, false, true},
                         Row{"alpha", 0.5F, 1, false, false}, Row{"all", 0.25F, 3, true, false}}) {
    onnx::ModelProto model = empty_model(14);
    add_input(model, "x", {2, 3}, 7);
    add_ints(model, "less", {3, 1, -5});
    auto& weight = *model.mutable_graph()->add_initializer();
    weight.set_name("w");
    weight.set_data_type(13);
    for (const std::int64_t size : {3, 3}) weight.add_dims(size);
    for (const std::uint64_t w : {1U, 0U, 2U, 3U, 4U, 1U, 0U, 0U, 5U}) weight.add_uint64_data(w);
    add_node(model, "Sub", {"x", "less"}, "below");
    set_int(add_node(model, "Cast", {"below"}, "words"), "to", 13);
    add_node(model, row.constant_first ? "Transpose" : "Identity", {"words"}, "turned");
    std::vector<std::string> operands = {"turned", "w"};
    if (row.constant_first) std::swap(operands[0], operands[1]);
    if (row.biased) operands.push_back("words");
    auto& node = add_node(model, "Gemm", operands, "y");
    for (const auto& [factor, value] : {std::pair("alpha", row.alpha), std::pair("beta", row.beta)}) {
      auto& attribute = *node.add_attribute();
      attribute.set_name(factor);
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(value);
    }
    add_output(model, "y");
    Machine machine = exact();
    machine.accumulator_format = NumberFormat::fp32;  // keeps sums of integers whole
    EXPECT_EQ(found_on(machine, model), "") << row.name;
  }
}

/// The variance was the greater of 0 and of what is no number: 0.
TEST(found, a_row_of_a_norm_that_has_a_nan_is_nan) {
  for (const char* norm : {"SimplifiedLayerNormalization", "LayerNormalization"}) {
    onnx::ModelProto model = empty_model();
    add_input(model, "x", {2, 4});
    add_floats(model, "c", {2, 4}, {-4, 4, 5, 6, 4, 5, 6, 7});
    add_floats(model, "gamma", {4}, {1, 2, 3, 4});
    add_node(model, "Add", {"x", "c"}, "sum");
    add_node(model, "Acosh", {"sum"}, "v");  // of a number below 1
    add_node(model, norm, {"v", "gamma"}, "y");
    add_output(model, "y");
    const Outcome outcome = outcome_on(exact(), model);
    EXPECT_EQ(outcome.verdict, Verdict::passed) << norm << ": " << outcome.detail;
    EXPECT_TRUE(outcome.executed) << norm;
    Machine on_the_fly = exact();
    on_the_fly.fusion = Fusion::norm;
    EXPECT_EQ(found_on(on_the_fly, model), "") << norm;
  }
}

/// The reference of a last state alone had the weights as the model has them.
TEST(found, a_further_state_of_a_recurrent_layer_is_of_the_weights_that_were_fetched) {
  for (const auto& [type, gates] : {std::pair("RNN", 1), std::pair("GRU", 3), std::pair("LSTM", 4)}) {
    onnx::ModelProto model = empty_model();
    add_input(model, "x", {3, 2, 4});
    const std::int64_t rows = gates * std::int64_t{5};
    std::vector<float> w, r;
    for (std::int64_t i = 0; i < rows * 4; ++i) w.push_back(static_cast<float>(i * 37 % 101) / 101 - 0.5F);
    for (std::int64_t i = 0; i < rows * 5; ++i) r.push_back(static_cast<float>(i * 29 % 97) / 97 - 0.5F);
    add_floats(model, "w", {1, rows, 4}, w);
    add_floats(model, "r", {1, rows, 5}, r);
    auto& node = add_node(model, type, {"x", "w", "r"}, "y");
    node.add_output("last");
    set_int(node, "hidden_size", 5);
    add_output(model, "y");
    add_output(model, "last");
    Machine machine;
    machine.weight_format = NumberFormat::fp8_e4m3;
    EXPECT_EQ(found_on(machine, model), "") << type;
    EXPECT_EQ(found_on(find_preset("edge")->machine, model), "") << type;
  }
}

/// Max of [3,1,8] and two of [3,3,8] is [3,1,8] there, and so is what is made of it.
TEST(found, a_shape_that_follows_from_a_wrong_one_of_libonnx_is_no_finding) {
  onnx::ModelProto model = empty_model(7);
  add_input(model, "x", {3, 1, 8});
  add_input(model, "y", {3, 3, 8});
  add_input(model, "z", {3, 3, 8});
  add_node(model, "Max", {"x", "y", "z"}, "most");
  add_node(model, "Abs", {"most"}, "a");
  add_output(model, "a");
  EXPECT_EQ(found_on(exact(), model), "");
}

/// numpy and ONNX have none; libonnx takes one.
TEST(found, a_slice_backwards_over_a_size_of_0_is_empty_whatever_libonnx_says) {
  onnx::ModelProto model = empty_model(11);
  add_floats(model, "x", {0}, {});
  add_ints(model, "first", {-1});
  add_ints(model, "axis", {-1});
  add_ints(model, "step", {-2});
  add_node(model, "Slice", {"x", "first", "first", "axis", "step"}, "y");
  add_output(model, "y");
  EXPECT_EQ(found_on(exact(), model), "");
}

/// As many as the products of the last phase lack, which it was taken for.
TEST(found, a_bias_of_a_transposed_convolution_is_added) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 4, 1, 2});
  add_floats(model, "w", {4, 4, 1, 3}, std::vector<float>(48, 0.25F));
  add_floats(model, "bias", {16}, std::vector<float>(16, 3));
  auto& node = add_node(model, "ConvTranspose", {"x", "w", "bias"}, "y");
  set_ints(node, "strides", {1, 2});
  set_int(node, "group", 4);
  add_output(model, "y");
  EXPECT_EQ(found_on(exact(), model), "");
  const Outcome outcome = outcome_on(Machine(), model);
  EXPECT_EQ(outcome.verdict, Verdict::passed) << outcome.detail;
  EXPECT_TRUE(outcome.tensors);
}

/// Behind a Where that always takes a constant stood what was called an activation, though no instruction makes it.
TEST(found, what_follows_a_condition_that_is_always_false_is_a_constant) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3});
  auto& never = *model.mutable_graph()->add_initializer();
  never.set_name("never");
  never.set_data_type(9);
  never.add_int32_data(0);
  add_floats(model, "c", {3}, {1, 2, 3});
  add_ints(model, "shape", {1, 3});
  add_node(model, "Where", {"never", "x", "c"}, "taken");
  add_node(model, "Reshape", {"taken", "shape"}, "row");
  add_output(model, "row");
  EXPECT_EQ(found_on(exact(), model), "");
  add_node(model, "Neg", {"x"}, "y");
  add_output(model, "y");
  EXPECT_EQ(found_on(exact(), model), "");
}

/// It was taken for another shape of the operand that only says a type, or how much to drop.
TEST(found, a_constant_that_is_cast_like_an_activation_stays_that_constant) {
  const std::vector<float> numbers(2048, 2.5F);
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2048});
  add_input(model, "ratio", {});
  add_floats(model, "c", {2048}, numbers);
  add_node(model, "CastLike", {"c", "x"}, "cast");
  add_node(model, "Dropout", {"c", "ratio"}, "kept");
  add_node(model, "Neg", {"x"}, "y");
  for (const char* name : {"cast", "kept", "y"}) add_output(model, name);
  const Outcome outcome = outcome_on(exact(), model);
  EXPECT_EQ(outcome.verdict, Verdict::passed) << outcome.detail;
  EXPECT_TRUE(outcome.executed);
}

/// The lengths were turned in its place, which have fewer elements.
TEST(found, a_constant_reversed_by_lengths_that_are_no_constant_is_turned_itself) {
  onnx::ModelProto model = empty_model();
  add_input(model, "lengths", {2}, 7);
  add_floats(model, "c", {2, 3}, {1, 2, 3, 4, 5, 6});
  auto& node = add_node(model, "ReverseSequence", {"c", "lengths"}, "y");
  set_int(node, "batch_axis", 0);
  set_int(node, "time_axis", 1);
  add_output(model, "y");
  Generated given;
  given.model = model;
  given.ranges["lengths"] = {1, 3};
  Machine machine = exact();
  machine.transposition = Transposition::dynamic_transposition;
  const Outcome outcome = check_model(given, machine, 1, [](const char*) {});
  EXPECT_EQ(outcome.verdict, Verdict::passed) << outcome.detail;
}

/// The compiler asked for the first instruction of a core that has none.
TEST(found, a_core_without_instructions_has_no_first_one) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {0, 3});
  add_floats(model, "c", {2, 3}, {1, 2, 3, 4, 5, 6});
  add_floats(model, "d", {1, 3}, {1, 2, 3});
  set_int(add_node(model, "Concat", {"x", "c"}, "of_nothing"), "axis", 0);
  set_int(add_node(model, "Concat", {"d", "d"}, "twice"), "axis", 0);
  add_output(model, "of_nothing");
  add_output(model, "twice");
  Machine machine = exact();
  machine.operator_dsram = OperatorDsram::per_operator;
  machine.core_weights = CoreWeights::per_core;
  machine.schedule = ScheduleOrder::least_live;
  EXPECT_EQ(found_on(machine, model), "");
}

/// The reference of a layer had the largest number of float16 in the place of an infinity, which memory holds.
TEST(found, an_infinity_of_a_half_precision_mask_is_one_in_the_reference_too) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 3}, 10);
  add_input(model, "hidden", {2, 3}, 9);
  auto& never = *model.mutable_graph()->add_initializer();
  never.set_name("never");
  never.set_data_type(10);
  never.add_int32_data(0xfc00);  // -infinity
  add_node(model, "Where", {"hidden", "never", "x"}, "masked");
  add_node(model, "Softmax", {"masked"}, "y");
  add_output(model, "masked");
  add_output(model, "y");
  EXPECT_EQ(found_on(Machine(), model), "");
}

}  // namespace
}  // namespace sdip::generate
