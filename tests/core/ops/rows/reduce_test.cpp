// Arithmetic along axes: reductions, rankings, softmax, norms.
#include <cmath>

#include "tests/core/ops/values_of.h"

namespace sdip {
namespace {

using enum ElementType;

const std::int64_t attribute_one = 1, attribute_zero = 0;

TEST(reduce, axes_are_an_input_from_opset_18_and_of_sums_from_13) {
  const Operand x = constant(float32, {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(result_of({"ReduceMean", {x}, {{"axes", Ints{0}}}, 13}), (Doubles{2.5, 3.5, 4.5}));
  EXPECT_EQ(result_of({"ReduceMean", {x, ints({-1})}, {{"keepdims", attribute_zero}}, 18}), (Doubles{2, 5}));
  EXPECT_EQ(result_of({"ReduceSum", {x, ints({0, 1})}, {}, 13}), Doubles{21});
  EXPECT_EQ(result_of({"ReduceMax", {x}, {}, 18}), Doubles{6});
}

TEST(reduce, without_axes_takes_all_or_with_noop_each_element_alone) {
  const Operand x = reals({-1, 2});
  EXPECT_EQ(result_of({"ReduceL1", {x, ints({})}, {}, 18}), Doubles{3});
  EXPECT_EQ(result_of({"ReduceL1", {x, ints({})}, {{"noop_with_empty_axes", attribute_one}}, 18}), (Doubles{1, 2}));
  EXPECT_EQ(result_of({"ReduceSum", {x}, {{"noop_with_empty_axes", attribute_one}}, 13}), (Doubles{-1, 2}));
}

TEST(reduce, of_nothing_is_what_changes_nothing) {
  const auto of_nothing = [](const char* type, ElementType element) {
    return result_of({type, {constant(element, {0, 2}, {}), ints({0})}, {{"keepdims", attribute_zero}}, 20});
  };
  EXPECT_EQ(of_nothing("ReduceSum", float32), (Doubles{0, 0}));
  EXPECT_EQ(of_nothing("ReduceProd", int32), (Doubles{1, 1}));
  EXPECT_EQ(of_nothing("ReduceMax", float32), (Doubles{-HUGE_VAL, -HUGE_VAL}));
  EXPECT_EQ(of_nothing("ReduceMin", int8), (Doubles{127, 127}));
  EXPECT_EQ(of_nothing("ReduceMax", uint8), (Doubles{0, 0}));
  EXPECT_EQ(of_nothing("ReduceMin", uint64), (Doubles{0x1p64, 0x1p64}));
  EXPECT_EQ(of_nothing("ReduceMax", boolean), (Doubles{0, 0}));
  EXPECT_EQ(of_nothing("ReduceLogSumExp", float32), (Doubles{-HUGE_VAL, -HUGE_VAL}));
  EXPECT_TRUE(std::isnan(of_nothing("ReduceMean", float32)[0]));
}

TEST(reduce, an_axis_of_2_to_the_40_without_elements_costs_nothing) {
  const Operand none = constant(float32, {std::int64_t{1} << 40, 0}, {});
  EXPECT_EQ(result_of({"ReduceSum", {none, ints({0, 1})}, {{"keepdims", attribute_zero}}, 13}), Doubles{0});
  EXPECT_EQ(result_of({"Transpose", {none}}), Doubles{});
  EXPECT_EQ(result_of({"Add", {none, reals({1})}}), Doubles{});
  EXPECT_EQ(result_of({"Slice", {none, ints({0}), ints({7}), ints({0})}}), Doubles{});
}

TEST(reduce, greatest_and_least_of_booleans_from_opset_20) {
  const Operand x = constant(boolean, {2}, {0, 1});
  EXPECT_EQ(result_of({"ReduceMax", {x}, {}, 20}), Doubles{1});
  EXPECT_EQ(result_of({"ReduceMin", {x}, {}, 20}), Doubles{0});
  EXPECT_EQ(code_of({"ReduceMax", {x}, {}, 18}), "shape_mismatch");
  EXPECT_EQ(code_of({"ReduceSum", {x}, {}, 20}), "shape_mismatch");
}

TEST(reduce, of_integers_is_an_integer) {
  const Operand x = constant(int8, {3}, {100, 100, -1});
  EXPECT_EQ(result_of({"ReduceSum", {x}}), Doubles{-57});  // 199 wraps
  EXPECT_EQ(result_of({"ReduceMean", {constant(int32, {2}, {-3, -4})}}), Doubles{-3});
  EXPECT_EQ(result_of({"ReduceL2", {constant(int32, {2}, {3, 5})}}), Doubles{5});
  EXPECT_EQ(result_of({"ReduceSumSquare", {constant(int32, {2}, {3, -5})}}), Doubles{34});
}

TEST(reduce, log_sum_exp_does_not_overflow) {
  expect_near(result_of({"ReduceLogSumExp", {reals({1000, 1000})}}), {1000 + std::log(2.0)}, 1e-3);
}

TEST(arg_max, takes_the_first_or_the_last_of_equal_ones) {
  const Operand x = constant(float32, {2, 3}, {7, 1, 7, 2, 9, 9});
  EXPECT_EQ(result_of({"ArgMax", {x}, {{"axis", attribute_one}, {"keepdims", attribute_zero}}}), (Doubles{0, 1}));
  EXPECT_EQ(result_of({"ArgMax", {x}, {{"axis", attribute_one}, {"select_last_index", attribute_one}}}),
            (Doubles{2, 2}));
  EXPECT_EQ(result_of({"ArgMin", {x}}), (Doubles{1, 0, 0}));
  EXPECT_EQ(code_of({"ArgMax", {floats({0, 2})}}), "shape_mismatch");
}

TEST(top_k, is_an_attribute_before_opset_10_and_may_take_the_least_from_11) {
  const Operand x = constant(float32, {5}, {3, 1, 5, 1, 4});
  EXPECT_EQ(result_of({"TopK", {x}, {{"k", std::int64_t{2}}}, 9, 2}), (Doubles{5, 4}));
  EXPECT_EQ(result_of({"TopK", {x, ints({3})}, {{"largest", attribute_zero}}, 11, 2}), (Doubles{1, 1, 3}));
  EXPECT_EQ(result_of({"TopK", {x, ints({3})}, {{"largest", attribute_zero}}, 11, 2}, 1), (Doubles{1, 3, 0}));
  const Operand halves = constant(bfloat16, {2, 2}, {1, 4, 3, 2});
  EXPECT_EQ(result_of({"TopK", {halves, ints({1})}, {{"axis", attribute_zero}}, 24, 2}), (Doubles{3, 4}));
  EXPECT_EQ(result_of({"TopK", {reals({1, std::nan(""), 2}), ints({1})}, {}, 11, 2}, 1), Doubles{1});
}

TEST(cumsum, runs_forwards_or_backwards_with_or_without_the_element) {
  const auto sums = [](std::int64_t exclusive, std::int64_t reverse) {
    return result_of({"CumSum", {reals({1, 2, 3}), ints({0})}, {{"exclusive", exclusive}, {"reverse", reverse}}});
  };
  EXPECT_EQ(sums(0, 0), (Doubles{1, 3, 6}));
  EXPECT_EQ(sums(1, 0), (Doubles{0, 1, 3}));
  EXPECT_EQ(sums(0, 1), (Doubles{6, 5, 3}));
  EXPECT_EQ(sums(1, 1), (Doubles{5, 3, 0}));
  EXPECT_EQ(code_of({"CumSum", {reals({1}), ints({1})}}), "shape_mismatch");
}

TEST(softmax, of_0_and_ln_3_is_a_quarter_and_three) {
  const Operand x = reals({0, std::log(3.0)});
  expect_near(result_of({"Softmax", {x}}), {0.25, 0.75});
  expect_near(result_of({"LogSoftmax", {x}}), {-std::log(4.0), std::log(0.75)});
  const Operand rows = constant(float32, {1, 2, 2}, {0, 0, 0, 0});
  expect_near(result_of({"Softmax", {rows}, {}, 13}), {0.5, 0.5, 0.5, 0.5});
  expect_near(result_of({"Softmax", {rows}, {}, 11}), {0.25, 0.25, 0.25, 0.25});
}

TEST(hardmax, is_one_at_the_first_of_the_greatest) {
  const Operand x = constant(float32, {2, 2}, {1, 1, 0, 5});
  EXPECT_EQ(result_of({"Hardmax", {x}}), (Doubles{1, 0, 0, 1}));
  EXPECT_EQ(result_of({"Hardmax", {constant(float32, {1, 2, 2}, {1, 1, 0, 5})}, {}, 11}), (Doubles{0, 0, 0, 1}));
  const Work work = work_of({"Hardmax", {floats({4, 10})}});
  EXPECT_EQ(work.family, Family::vector);
  EXPECT_EQ(work.read_elements, Ints{80});
}

TEST(groupnorm, scales_groups_before_opset_21_and_channels_from_there) {
  const Operand x = constant(float32, {1, 4, 1}, {1, 3, 1, 3});
  const Attributes two{{"num_groups", std::int64_t{2}}, {"epsilon", 0.0}};
  const Operand none = reals({0, 0}), none_each = reals({0, 0, 0, 0});
  expect_near(result_of({"GroupNormalization", {x, reals({1, 10}), none}, two, 18}), {-1, 1, -10, 10});
  const Operand each = reals({1, 2, 3, 4});
  expect_near(result_of({"GroupNormalization", {x, each, none_each}, two, 21}), {-1, 2, -3, 4});
  expect_near(result_of({"GroupNorm", {x, each, none_each}, two, 1, 1, "sdip"}), {-1, 2, -3, 4});
  EXPECT_EQ(code_of({"GroupNormalization", {x, each, none_each}, two, 18}), "shape_mismatch");
}

TEST(layernorm, gives_mean_and_deviation_in_the_stash_type) {
  const Operand x = constant(float16, {2, 2}, {1, 3, 10, 30});
  const Use use{"LayerNormalization", {x}, {{"epsilon", 0.0}}, 17, 3};
  EXPECT_EQ(result_of(use), (Doubles{-1, 1, -1, 1}));
  EXPECT_EQ(result_of(use, 1), (Doubles{2, 20}));
  expect_near(result_of(use, 2), {1, 0.1});
  EXPECT_EQ(outputs_of(use)[1].type, float32);
}

TEST(rms_norm, divides_by_the_root_of_the_mean_square) {
  const Operand x = reals({3, 4});
  const double root = std::sqrt(12.5);
  expect_near(result_of({"RMSNormalization", {x, reals({1, 2})}, {{"epsilon", 0.0}}, 23}), {3 / root, 8 / root});
  EXPECT_EQ(work_of({"RMSNormalization", {floats({2, 77, 768}), weight({768})}, {}, 23}).rows, 154);
}

TEST(lp_norm, divides_by_the_norm_and_keeps_zeros) {
  const Operand x = constant(float32, {2, 2}, {3, -4, 0, 0});
  expect_near(result_of({"LpNormalization", {x}}), {0.6, -0.8, 0, 0});
  expect_near(result_of({"LpNormalization", {x}, {{"p", attribute_one}, {"axis", attribute_zero}}, 22}),
              {1, -1, 0, 0});
  EXPECT_EQ(code_of({"LpNormalization", {x}, {{"p", std::int64_t{3}}}}), "unsupported_attribute");
}

TEST(batchnorm, in_training_uses_the_batch_and_moves_the_running_statistics) {
  const Operand x = constant(float32, {2, 1}, {1, 3}), ones = reals({1}), zeros = reals({0});
  const std::vector<Operand> inputs{x, ones, zeros, reals({10}), reals({5})};
  const Attributes half{{"momentum", 0.5}, {"epsilon", 0.0}};
  Attributes training = half;
  training["training_mode"] = attribute_one;
  const Use newer{"BatchNormalization", inputs, training, 15, 3}, older{"BatchNormalization", inputs, half, 9, 5};
  for (const Use& use : {newer, older}) {
    EXPECT_EQ(result_of(use), (Doubles{-1, 1}));
    EXPECT_EQ(result_of(use, 1), Doubles{6});
    EXPECT_EQ(result_of(use, 2), Doubles{3});
  }
  EXPECT_EQ(result_of(older, 3), Doubles{2});
  EXPECT_EQ(result_of(older, 4), Doubles{1});
  EXPECT_EQ(work_of(newer).family, Family::norm);
  EXPECT_EQ(work_of(newer).read_elements, (Ints{4, 1, 1, 1, 1}));
}

TEST(batchnorm, before_opset_9_may_have_statistics_for_each_place) {
  const std::vector<double> places{1, 2, 3, 4};
  const Operand x = constant(float32, {1, 2, 2}, {2, 2, 2, 2}), mean = reals(places), unit = reals({1, 1, 1, 1});
  const Use use{
      "BatchNormalization", {x, unit, mean, unit, unit}, {{"spatial", attribute_zero}, {"epsilon", 0.0}}, 7};
  EXPECT_EQ(result_of(use), (Doubles{2, 3, 4, 5}));
  EXPECT_EQ(code_of({"BatchNormalization", {x, unit, mean, unit, unit}, {}, 9}), "shape_mismatch");
}

TEST(lrn, looks_at_more_channels_behind_than_before_when_the_size_is_even) {
  const Operand x = constant(float32, {1, 4, 1}, {1, 1, 1, 1});
  const auto sums = [&](std::int64_t size) {
    return result_of(
        {"LRN", {x}, {{"size", size}, {"alpha", -static_cast<double>(size)}, {"beta", -1.0}, {"bias", 0.0}}});
  };
  expect_near(sums(3), {-2, -3, -3, -2});
  expect_near(sums(4), {-3, -4, -3, -2});
}

}  // namespace
}  // namespace sdip
