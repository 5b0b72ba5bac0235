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

}  // namespace
}  // namespace sdip::generate
