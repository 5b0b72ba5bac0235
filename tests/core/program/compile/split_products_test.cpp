// pass `split_products`: which products are made apart, and what that changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

Machine apart() {
  Machine m;
  m.split_products = SplitProducts::on;
  return m;
}

/// x [4, k] times w [k, n], cut into parts of these sizes along `axis`.
onnx::ModelProto cut_product(std::int64_t k, const std::vector<std::int64_t>& sizes, std::int64_t axis = 1) {
  std::int64_t n = 0;
  for (const std::int64_t size : sizes) n += size;
  onnx::ModelProto model = model_of_x({4, k});
  std::vector<float> weights, bias;
  for (std::int64_t i = 0; i < k * n; ++i) weights.push_back(static_cast<float>(i % 7 - 3));
  for (std::int64_t i = 0; i < n; ++i) bias.push_back(static_cast<float>(i));
  add_floats(model, "w", {k, n}, weights);
  add_floats(model, "b", {n}, bias);
  add_node(model, "Gemm", {"x", "w", "b"}, "y");
  auto& split = add_node(model, "Split", {"y"}, "y0");
  for (std::size_t i = 1; i < sizes.size(); ++i) split.add_output("y" + std::to_string(i));
  set_ints(split, "split", axis == 0 ? std::vector<std::int64_t>{2, 2} : sizes);
  set_int(split, "axis", axis);
  model.mutable_opset_import(0)->set_version(11);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    add_node(model, "Relu", {"y" + std::to_string(i)}, "z" + std::to_string(i));
    add_output(model, "z" + std::to_string(i));
  }
  return model;
}

TEST(split_products, one_product_for_each_part_and_no_copy) {
  const Application copied = compiled(cut_product(6, {3, 5}), Machine{}),
                    made = compiled(cut_product(6, {3, 5}), apart());
  EXPECT_THAT(mnemonics(copied), ElementsAre("linear", "copy", "copy", "relu", "relu"));
  EXPECT_THAT(mnemonics(made), ElementsAre("linear", "linear", "relu", "relu"));
  EXPECT_EQ(made.stages[0].program.weight_bytes, copied.stages[0].program.weight_bytes);
}

TEST(split_products, compute_what_the_whole_computes) {
  const Tensor x{ElementType::float32, {4, 6}, {}, [] {
                   std::vector<double> numbers;
                   for (int i = 0; i < 24; ++i) numbers.push_back(i * 0.25 - 2);
                   return numbers;
                 }()};
  const Application copied = compiled(cut_product(6, {3, 5}), Machine{}),
                    made = compiled(cut_product(6, {3, 5}), apart());
  const auto expected = compute(*copied.stages[0].graph, std::span(&x, 1), {});
  const auto found = compute(*made.stages[0].graph, std::span(&x, 1), {});
  ASSERT_EQ(found.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(found[i].floats, expected[i].floats);
}

TEST(split_products, what_cuts_rows_or_something_else_reads_stays) {
  EXPECT_THAT(mnemonics(compiled(cut_product(6, {2, 2}, 0), apart())),
              ElementsAre("linear", "copy", "copy", "relu", "relu"));
  onnx::ModelProto model = cut_product(6, {3, 5});
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, apart())), ElementsAre("linear", "copy", "copy", "relu", "relu"));
}

TEST(split_products, a_long_operand_is_not_read_again_for_short_results) {
  EXPECT_THAT(mnemonics(compiled(cut_product(24, {3, 3}), apart())),
              ElementsAre("linear", "copy", "copy", "relu", "relu"));
  EXPECT_THAT(mnemonics(compiled(cut_product(12, {3, 3}), apart())),
              ElementsAre("linear", "linear", "relu", "relu"));
}

TEST(split_products, slices_of_constants_cut_and_channels_that_nobody_reads_are_not_made) {
  onnx::ModelProto model = model_of_x({4, 6});
  add_weight(model, "w", {6, 10});
  add_node(model, "MatMul", {"x", "w"}, "y");
  for (const auto& [name, begin, end] : {std::tuple{"a", 0, 4}, std::tuple{"b", 7, 10}}) {
    const std::string n = name;
    add_ints(model, n + "0", {begin});
    add_ints(model, n + "1", {end});
    add_ints(model, n + "2", {-1});
    add_node(model, "Slice", {"y", n + "0", n + "1", n + "2"}, n);
    add_node(model, "Relu", {n}, n + "z");
    add_output(model, n + "z");
  }
  const Application made = compiled(model, apart());
  EXPECT_THAT(mnemonics(made), ElementsAre("matmul", "matmul", "relu", "relu"));
  EXPECT_EQ(made.stages[0].program.weight_bytes, Bytes(2 * 6 * 7));
}

TEST(split_products, of_a_convolution_are_of_its_channels) {
  onnx::ModelProto model = model_of_x({1, 3, 5, 5});
  add_weight(model, "w", {8, 3, 3, 3});
  add_node(model, "Conv", {"x", "w"}, "y");
  auto& split = add_node(model, "Split", {"y"}, "a");
  split.add_output("b");
  set_int(split, "axis", 1);
  add_node(model, "Relu", {"a"}, "az");
  add_node(model, "Relu", {"b"}, "bz");
  add_output(model, "az");
  add_output(model, "bz");
  EXPECT_THAT(mnemonics(compiled(model, apart())), ElementsAre("conv2d", "conv2d", "relu", "relu"));
}

}  // namespace
}  // namespace sdip
