// What generated models found from lowering to execution and is mended: the smallest model of each.
#include <gtest/gtest.h>

#include "tests/generate/found.h"

namespace sdip::generate {
namespace {

/// A value of no bytes at the same address took the other's entry from the list of what is alive.
TEST(found, an_output_without_elements_leaves_the_others_where_they_are) {
  onnx::ModelProto model = empty_model(14);
  add_input(model, "x", {2, 0});
  add_input(model, "y", {3});
  add_input(model, "z", {2, 3});
  add_node(model, "Neg", {"x"}, "nothing");
  add_node(model, "Neg", {"y"}, "three");
  add_node(model, "Neg", {"z"}, "six");
  add_floats(model, "w", {0, 2}, {});
  add_node(model, "Gemm", {"nothing", "w"}, "zeros");
  for (const char* name : {"nothing", "three", "six", "zeros"}) add_output(model, name);
  EXPECT_EQ(found_on(exact(), model), "");
  EXPECT_EQ(found_on(in_one_memory(), model), "");
}

/// It was written nowhere, but read in DSRAM.
TEST(found, a_product_of_a_constant_without_elements_reads_it_where_it_lies) {
  onnx::ModelProto model = empty_model(14);
  add_floats(model, "x", {1, 1, 0}, {});
  add_floats(model, "w", {1, 8, 0}, {});
  add_floats(model, "r", {1, 8, 2}, std::vector<float>(16, 0.25F));
  add_floats(model, "b", {1, 16}, std::vector<float>(16, 0.125F));
  add_input(model, "h", {1, 1, 2});
  add_node(model, "LSTM", {"x", "w", "r", "b", "", "h"}, "y");
  add_output(model, "y");
  EXPECT_EQ(found_on(exact(), model), "");
  EXPECT_EQ(found_on(in_one_memory(), model), "");
}

/// It was read once and charged twice.
TEST(found, an_operator_that_takes_one_small_operand_twice_reads_it_twice) {
  for (const char* type : {"Min", "Sum", "Max"}) {
    onnx::ModelProto model = empty_model();
    add_input(model, "x", {3, 1});
    add_input(model, "y", {3, 4});
    add_node(model, type, {"x", "y", "x"}, "z");
    add_node(model, "Mul", {"z", "x"}, "w");  // one instruction with fusion
    add_output(model, "w");
    EXPECT_EQ(found_on(exact(), model), "") << type;
    Machine fused = exact();
    fused.fusion = Fusion::pointwise;
    EXPECT_EQ(found_on(fused, model), "") << type;
  }
}

/// Its tiles were charged and nothing read.
TEST(found, the_sums_of_a_norm_that_its_reader_computes_read_its_operand) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {7, 4});
  add_floats(model, "w", {7, 3}, std::vector<float>(21, 0.5F));
  add_node(model, "LpNormalization", {"x"}, "n");
  auto& product = add_node(model, "Gemm", {"n", "w"}, "y");
  set_int(product, "transA", 1);
  add_output(model, "y");
  Machine machine = exact();
  machine.fusion = Fusion::norm;
  EXPECT_EQ(found_on(machine, model), "");
}

/// A norm whose statistics are used was a copy, and its work nobody's.
TEST(found, an_operator_of_several_results_does_its_work_once_and_copies_the_others) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 4});
  add_floats(model, "gamma", {4}, {1, 2, 3, 4});
  add_node(model, "LayerNormalization", {"x", "gamma"}, "y").add_output("mean");
  add_node(model, "Greater", {"y", "mean"}, "above");
  add_output(model, "above");
  for (const Fusion fusion : {Fusion::no_fusion, Fusion::pointwise, Fusion::norm}) {
    Machine machine = exact();
    machine.fusion = fusion;
    EXPECT_EQ(found_on(machine, model), "");
    EXPECT_EQ(found_on(find_preset("edge")->machine, model), "");
  }
}

/// The instruction's own result was taken for the part that a register has.
TEST(found, a_split_whose_one_part_is_a_scalar_goes_on_with_the_other) {
  for (const auto& [sizes, first, second] : {std::tuple{std::vector<std::int64_t>{1, 7}, "one", "rest"},
                                             {std::vector<std::int64_t>{7, 1}, "rest", "one"}}) {
    onnx::ModelProto model = empty_model(17);
    add_input(model, "x", {8});
    add_ints(model, "sizes", sizes);
    add_node(model, "Split", {"x", "sizes"}, first).add_output(second);
    add_node(model, "Sub", {"one", "rest"}, "y");
    add_output(model, "y");
    for (const Fusion fusion : {Fusion::no_fusion, Fusion::pointwise}) {
      Machine machine = exact();
      machine.fusion = fusion;
      EXPECT_EQ(found_on(machine, model), "") << first;
    }
  }
}

/// Its rows were charged as if it were as large as what it makes, and not moved.
TEST(found, strips_do_not_begin_with_an_operand_that_repeats) {
  for (const bool behind : {false, true}) {  // or the strips that are cut there
    onnx::ModelProto model = empty_model(17);
    add_floats(model, "v", {1, 2, 1, 6}, std::vector<float>(12, 0.5F));
    add_floats(model, "w", {1, 2, 1, 6}, std::vector<float>(12, 0.25F));
    add_input(model, "a", {1, 1, 1, 6});
    add_input(model, "b", {1, 1, 1, 6});
    add_node(model, "Mul", {"v", "a"}, "c");
    add_node(model, "Mul", {"w", "b"}, "d");
    add_node(model, "Add", {"c", "d"}, "y");
    if (behind) add_node(model, "Relu", {"y"}, "z");
    add_output(model, behind ? "z" : "y");
    for (const Strips strips : {Strips::halo_recompute, Strips::line_buffers}) {
      Machine machine = exact();
      machine.fusion = Fusion::pointwise;
      machine.strips = strips;
      EXPECT_EQ(found_on(machine, model), "");
    }
  }
}

/// The largest integer that a float holds apart was taken for the least of all.
TEST(found, integers_of_64_bits_are_kept_beside_weights_that_are_skipped) {
  onnx::ModelProto model = empty_model(14);
  add_input(model, "x", {2, 0}, onnx::TensorProto::INT64);
  auto& most = add_node(model, "ReduceMax", {"x"}, "y");
  set_ints(most, "axes", {1});
  add_output(model, "y");
  Machine machine = exact();
  machine.sparsity = Sparsity::skipping;
  EXPECT_EQ(found_on(machine, model), "");
}

/// An accumulator without signs has no place for them, which was not seen as an overflow.
TEST(found, sums_below_zero_overflow_where_accumulators_have_no_signs) {
  onnx::ModelProto model = empty_model(14);
  add_input(model, "a", {2, 4, 1});
  add_input(model, "b", {2, 1, 4});
  add_node(model, "MatMul", {"a", "b"}, "y");
  add_output(model, "y");
  Machine machine = exact();
  machine.weight_format = machine.activation_format = NumberFormat::int4;
  machine.accumulator_format = NumberFormat::uint8;
  EXPECT_EQ(found_on(machine, model), "");
}

/// What a cast cuts off is not settled by sums that are right but for their rounding.
TEST(found, casts_of_rounded_sums_are_compared_where_the_sums_settle_them) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {16, 8});
  std::vector<float> weights(8 * 16);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = 0.25F * static_cast<float>(i * 5 % 13) - 1;
  add_floats(model, "w", {8, 16}, weights);
  add_node(model, "Gemm", {"x", "w"}, "sums");
  auto& cast = add_node(model, "Cast", {"sums"}, "y");
  set_int(cast, "to", onnx::TensorProto::INT32);
  add_output(model, "y");
  Machine machine = exact();
  machine.fusion = Fusion::pointwise;
  machine.activation_format = NumberFormat::int8;
  machine.accumulator_format = NumberFormat::fp8_e5m2;
  EXPECT_EQ(found_on(machine, model), "");
}

/// The other one is in a memory, rounded, when the second is computed.
TEST(found, the_second_result_of_a_layer_meets_the_first_as_a_memory_holds_it) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3, 1, 2});
  add_floats(model, "w", {1, 32, 2}, std::vector<float>(64, 0.25F));
  add_floats(model, "r", {1, 32, 8}, std::vector<float>(256, -0.125F));
  auto& lstm = add_node(model, "LSTM", {"x", "w", "r"}, "");
  lstm.add_output("h");
  lstm.add_output("c");
  set_int(lstm, "hidden_size", 8);
  add_node(model, "Div", {"c", "h"}, "y");
  add_output(model, "y");
  Machine machine = exact();
  machine.fusion = Fusion::pointwise;
  machine.activation_format = NumberFormat::int4;
  EXPECT_EQ(found_on(machine, model), "");
}

/// It was charged as a register's and moved from the memory where the product has it.
TEST(found, a_scalar_that_is_multiplied_and_then_scales_the_product_comes_from_a_register) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {});
  add_input(model, "w", {2, 1, 1, 1});
  add_node(model, "Neg", {"x"}, "s");
  add_ints(model, "shape", {1, 1, 1, 1});
  add_node(model, "Reshape", {"s", "shape"}, "map");
  add_node(model, "Conv", {"map", "w"}, "c");
  add_node(model, "Mul", {"s", "c"}, "y");
  add_node(model, "Abs", {"s"}, "z");
  for (const char* name : {"y", "z"}) add_output(model, name);
  Machine machine = exact();
  machine.fusion = Fusion::pointwise;
  for (const SkipHandling skips : {SkipHandling::hold, SkipHandling::spill}) {
    machine.skip_handling = skips;
    EXPECT_EQ(found_on(machine, model), "");
  }
}

}  // namespace
}  // namespace sdip::generate
