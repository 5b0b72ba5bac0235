// Arithmetic of elements: types, wrapping, rounding, comparing.
#include <cmath>

#include "tests/core/ops/values_of.h"

namespace sdip {
namespace {

using enum ElementType;

Doubles of_pair(const char* type, ElementType element, const Doubles& a, const Doubles& b,
                Attributes attributes = {}, std::int64_t opset = 17) {
  return result_of({type,
                    {constant(element, {std::ssize(a)}, a), constant(element, {std::ssize(b)}, b)},
                    std::move(attributes),
                    opset});
}

TEST(positions, are_sums_of_offsets_in_row_major_order) {
  EXPECT_EQ(positions({{0, 3}, {2, 1}}), (Ints{2, 1, 5, 4}));
  EXPECT_EQ(positions({{0, -1}, {0, 1}}), (Ints{0, 1, -1, -1}));
  EXPECT_EQ(positions({}), Ints{0});
  EXPECT_EQ(offsets_of({2, 3}), (Offsets{{0, 3}, {0, 1, 2}}));
}

TEST(arithmetic, integers_wrap_as_their_type_does) {
  EXPECT_EQ(of_pair("Add", int8, {127, -128}, {1, -1}), (Doubles{-128, 127}));
  EXPECT_EQ(of_pair("Mul", uint8, {16, 255}, {16, 255}), (Doubles{0, 1}));
  EXPECT_EQ(of_pair("Sub", uint32, {0}, {1}), Doubles{4294967295.0});
  EXPECT_EQ(of_pair("Sub", uint64, {0}, {1}), Doubles{0x1p64});
  EXPECT_EQ(of_pair("Div", int8, {-128}, {-1}), Doubles{-128});
  EXPECT_EQ(outputs_of({"Mul", {ints({INT64_MAX}), ints({2})}})[0].value->ints, Ints{-2});
  EXPECT_EQ(outputs_of({"Div", {ints({INT64_MIN}), ints({-1})}})[0].value->ints, Ints{INT64_MIN});
}

TEST(arithmetic, scaled_tanh_has_two_numbers_and_no_defaults) {
  const Attributes both = {{"alpha", 150.0}, {"beta", 0.5}};
  expect_near(result_of({"ScaledTanh", {reals({-2, 0, 4})}, both, 9}),
              {150 * std::tanh(-1.0), 0, 150 * std::tanh(2.0)}, 1e-4);
  EXPECT_EQ(shape_of({"ScaledTanh", {floats({2, 3})}, both, 9}), (Shape{2, 3}));
  EXPECT_EQ(work_of({"ScaledTanh", {floats({2, 3})}, both, 9}).row_length, 6);
  EXPECT_EQ(code_of({"ScaledTanh", {floats({2})}, {{"alpha", 2.0}}, 9}), "unsupported_attribute");
  EXPECT_EQ(code_of({"ScaledTanh", {ints({2})}, both, 9}), "shape_mismatch");
}

TEST(arithmetic, uint64_is_divided_and_compared_as_a_positive_number) {
  const Operand large = constant(uint64, {1}, {0x1p63}), two = constant(uint64, {1}, {2});
  EXPECT_EQ(result_of({"Div", {large, two}}), Doubles{0x1p62});
  EXPECT_EQ(result_of({"Greater", {large, two}}), Doubles{1});
  EXPECT_EQ(result_of({"Max", {large, two}}), Doubles{0x1p63});
  EXPECT_EQ(result_of({"ReduceMax", {constant(uint64, {2}, {0x1p63, 2})}}), Doubles{0x1p63});
  EXPECT_EQ(result_of({"Cast", {large}, {{"to", std::int64_t{1}}}}), Doubles{0x1p63});
}

TEST(arithmetic, floats_are_rounded_to_their_type_once) {
  EXPECT_EQ(of_pair("Add", float16, {2048}, {1}), Doubles{2048});
  EXPECT_EQ(of_pair("Add", bfloat16, {256}, {1}), Doubles{256});
  // In float32, 1 + 2^-24 is 1, and adding again keeps it; summed in double it is rounded at the end.
  const Operand tiny = reals({0x1p-24});
  EXPECT_EQ(result_of({"Sum", {reals({1}), tiny, tiny}}), Doubles{1 + 0x1p-23});
  EXPECT_EQ(result_of({"Mean", {reals({1}), reals({2}), reals({6})}}), Doubles{3});
}

TEST(arithmetic, a_fill_passes_through_whatever_the_size) {
  Operand twos = floats({1024, 1024});
  twos.fill = 2.0;
  const Operand out = outputs_of({"Div", {twos, constant(float32, {}, {3})}})[0];
  EXPECT_FALSE(out.value.has_value());
  EXPECT_EQ(out.fill, rounded(float32, 2.0 / 3.0));
}

TEST(mod, has_the_sign_of_the_divisor_or_with_fmod_of_the_dividend) {
  EXPECT_EQ(of_pair("Mod", int32, {-7, 7, -7}, {3, -3, -3}), (Doubles{2, -2, -1}));
  EXPECT_EQ(of_pair("Mod", int32, {-7, 7}, {3, -3}, {{"fmod", std::int64_t{1}}}), (Doubles{-1, 1}));
  EXPECT_EQ(of_pair("Mod", float32, {-7.5}, {2}, {{"fmod", std::int64_t{1}}}), Doubles{-1.5});
  EXPECT_EQ(code_of({"Mod", {reals({1}), reals({1})}}), "unsupported_attribute");
  EXPECT_EQ(code_of({"Mod", {ints({1}), ints({0})}}), "not_computable");
}

TEST(pow, keeps_the_type_of_the_base) {
  EXPECT_EQ(result_of({"Pow", {constant(int32, {2}, {2, 3}), reals({0.5, 2.0})}}), (Doubles{1, 9}));
  EXPECT_EQ(result_of({"Pow", {reals({4}), ints({-1})}}), Doubles{0.25});
  EXPECT_EQ(outputs_of({"Pow", {ints({2, -1, -1, 2}), ints({63, -3, -2, -1})}})[0].value->ints,
            (Ints{INT64_MIN, -1, 1, 0}));
}

TEST(shift, beyond_the_bits_leaves_nothing) {
  const Attributes left{{"direction", std::string("LEFT")}}, right{{"direction", std::string("RIGHT")}};
  EXPECT_EQ(of_pair("BitShift", uint8, {129, 1}, {1, 200}, left), (Doubles{2, 0}));
  EXPECT_EQ(of_pair("BitShift", uint64, {0x1p63, 1}, {63, 64}, right), (Doubles{1, 0}));
  EXPECT_EQ(code_of({"BitShift", {ints({1}), ints({1})}}), "unsupported_attribute");
}

TEST(bitwise, works_on_integers_and_logic_on_booleans) {
  EXPECT_EQ(of_pair("BitwiseAnd", int8, {-1, 12}, {6, 10}, {}, 18), (Doubles{6, 8}));
  EXPECT_EQ(of_pair("BitwiseOr", uint8, {12}, {10}, {}, 18), Doubles{14});
  EXPECT_EQ(of_pair("BitwiseXor", uint8, {12}, {10}, {}, 18), Doubles{6});
  EXPECT_EQ(result_of({"BitwiseNot", {constant(uint8, {2}, {0, 255})}, {}, 18}), (Doubles{255, 0}));
  EXPECT_EQ(of_pair("Xor", boolean, {0, 1}, {1, 1}), (Doubles{1, 0}));
  EXPECT_EQ(code_of({"And", {ints({1}), ints({1})}}), "shape_mismatch");
  EXPECT_EQ(code_of({"BitwiseAnd", {reals({1}), reals({1})}, {}, 18}), "shape_mismatch");
}

TEST(prelu, broadcasts_the_slope_to_the_input_only) {
  const Operand x = constant(float32, {2, 2}, {-1, 2, -3, 4});
  EXPECT_EQ(result_of({"PRelu", {x, constant(float32, {2, 1}, {0.5, 10})}}), (Doubles{-0.5, 2, -30, 4}));
  EXPECT_EQ(code_of({"PRelu", {floats({2}), floats({3, 2})}}), "shape_mismatch");
}

TEST(comparison, of_not_a_number_is_false_and_the_greatest_is_not_a_number) {
  const double nan = std::nan("");
  EXPECT_EQ(of_pair("Equal", float32, {nan, 1}, {nan, 1}), (Doubles{0, 1}));
  EXPECT_EQ(of_pair("LessOrEqual", float32, {nan, 1}, {1, 1}), (Doubles{0, 1}));
  EXPECT_TRUE(std::isnan(of_pair("Max", float32, {1}, {nan})[0]));
  EXPECT_TRUE(std::isnan(of_pair("Min", float32, {nan}, {1})[0]));
  EXPECT_EQ(of_pair("Equal", boolean, {1, 0}, {1, 1}), (Doubles{1, 0}));
}

TEST(clip, takes_attributes_before_opset_11_and_inputs_after) {
  const Operand x = reals({-5, 0, 5});
  EXPECT_EQ(result_of({"Clip", {x}, {{"min", -1.0}, {"max", 2.0}}, 7}), (Doubles{-1, 0, 2}));
  EXPECT_EQ(result_of({"Clip", {x, constant(float32, {}, {-1})}, {}, 11}), (Doubles{-1, 0, 5}));
  EXPECT_EQ(result_of({"Clip", {constant(int8, {2}, {-7, 7}), constant(int8, {}, {3}), constant(int8, {}, {1})}}),
            (Doubles{1, 1}));
  EXPECT_EQ(code_of({"Clip", {x, ints({1})}}), "shape_mismatch");
}

TEST(unary, functions_of_integers_stay_integers) {
  EXPECT_EQ(result_of({"Abs", {constant(int8, {2}, {-128, -5})}}), (Doubles{-128, 5}));
  EXPECT_EQ(result_of({"Neg", {constant(int16, {1}, {-32768})}}), Doubles{-32768});
  EXPECT_EQ(result_of({"Sign", {constant(uint8, {2}, {0, 9})}}), (Doubles{0, 1}));
  EXPECT_EQ(result_of({"Relu", {constant(int8, {2}, {-3, 3})}}), (Doubles{0, 3}));
  EXPECT_EQ(result_of({"Round", {reals({0.5, 1.5, -2.5})}}), (Doubles{0, 2, -2}));
  EXPECT_EQ(code_of({"Exp", {ints({1})}}), "shape_mismatch");
}

TEST(is_inf, tells_signs_apart) {
  const Operand x = reals({HUGE_VAL, -HUGE_VAL, 1});
  EXPECT_EQ(result_of({"IsInf", {x}}), (Doubles{1, 1, 0}));
  EXPECT_EQ(result_of({"IsInf", {x}, {{"detect_negative", std::int64_t{0}}}}), (Doubles{1, 0, 0}));
}

TEST(activation, newer_ones_are_what_they_are_made_of) {
  const Doubles x{-2, -0.5, 0, 1, 3};
  const auto at = [&](const char* type, Attributes attributes, std::int64_t opset, const char* domain = "") {
    return result_of({type, {reals(x)}, std::move(attributes), opset, 1, domain});
  };
  Doubles mish, silu, quick, gelu;
  for (double v : x) {
    mish.push_back(v * std::tanh(std::log(1 + std::exp(v))));
    silu.push_back(v / (1 + std::exp(-v)));
    quick.push_back(v / (1 + std::exp(-1.702 * v)));
    gelu.push_back(v * 0.5 * std::erfc(-v / std::sqrt(2.0)));
  }
  expect_near(at("Mish", {}, 18), mish);
  expect_near(at("Swish", {}, 24), silu);
  expect_near(at("Silu", {}, 1, "sdip"), silu);
  expect_near(at("Swish", {{"alpha", 1.702}}, 24), quick);
  expect_near(at("QuickGelu", {}, 1, "sdip"), quick);
  expect_near(at("Gelu", {}, 20), gelu);
  expect_near(at("Gelu", {}, 1, "sdip"), gelu);
  expect_near(at("Gelu", {{"approximate", std::string("tanh")}}, 20), gelu, 1e-3);
  EXPECT_EQ(code_of({"Gelu", {reals(x)}, {{"approximate", std::string("fast")}}, 20}), "unsupported_attribute");
  EXPECT_EQ(result_of({"Softplus", {reals({1000, -1000})}}), (Doubles{1000, 0}));
}

TEST(cast, to_a_narrower_integer_keeps_the_low_bits) {
  const auto cast = [](const Operand& from, std::int64_t to) {
    return result_of({"Cast", {from}, {{"to", to}}, 21});
  };
  EXPECT_EQ(cast(ints({200, -129}), 3), (Doubles{-56, 127}));
  EXPECT_EQ(cast(ints({-1}), 13), Doubles{0x1p64});
  EXPECT_EQ(cast(reals({-2.7, 2.7}), 7), (Doubles{-2, 2}));
  EXPECT_EQ(cast(reals({-0.0, 0.3, std::nan("")}), 9), (Doubles{0, 1, 1}));
  EXPECT_EQ(cast(ints({17, -9}), 22), (Doubles{1, 7}));                   // int4 of an integer: low bits
  EXPECT_EQ(cast(reals({2.5, 3.4, 9, -9}), 22), (Doubles{3, 3, -7, 7}));  // of a float: nearest, then low bits
  EXPECT_EQ(cast(reals({-1, 2.5, 99}), 21), (Doubles{15, 3, 3}));
  EXPECT_EQ(cast(ints({-3, 1, 2, 6}), 26), (Doubles{1, 1, -2, -2}));            // int2
  EXPECT_EQ(cast(reals({-3, -1, 0.5, 2, 4.4}), 25), (Doubles{1, 3, 1, 2, 0}));  // uint2
}

TEST(cast, to_float8e8m0_is_a_power_of_two_up_down_or_nearest) {
  const auto cast = [](std::vector<double> x, const char* mode, std::int64_t saturate = 1) {
    return result_of({"Cast",
                      {reals(x)},
                      {{"to", std::int64_t{24}}, {"round_mode", std::string(mode)}, {"saturate", saturate}},
                      24});
  };
  const double least = 0x1p-127, largest = 0x1p127;
  EXPECT_EQ(cast({1, 1.1, 1.5, 1.9, 0.3}, "up"), (Doubles{1, 2, 2, 2, 0.5}));
  EXPECT_EQ(cast({1, 1.1, 1.5, 1.9, 0.3}, "down"), (Doubles{1, 1, 1, 1, 0.25}));
  EXPECT_EQ(cast({1, 1.1, 1.5, 1.9, 0.3}, "nearest"), (Doubles{1, 1, 2, 2, 0.25}));
  EXPECT_EQ(cast({0, 1e-40, 0x1.8p127, HUGE_VAL}, "up"), (Doubles{least, least, largest, largest}));
  for (const double x : {0.0, 0x1p-129, 0x1.8p127, HUGE_VAL})
    EXPECT_TRUE(std::isnan(cast({x}, "nearest", 0)[0])) << x;
  EXPECT_EQ(cast({0x1p-127, 0x1p127}, "nearest", 0), (Doubles{least, largest}));
  EXPECT_TRUE(std::isnan(cast({std::nan("")}, "up")[0]));
  EXPECT_EQ(code_of({"Cast", {reals({1})}, {{"to", std::int64_t{24}}, {"round_mode", std::string("odd")}}, 24}),
            "unsupported_attribute");
}

TEST(cast, to_fp8_saturates_unless_told_not_to) {
  const auto cast = [](double x, std::int64_t to, std::int64_t saturate) {
    return result_of({"Cast", {reals({x})}, {{"to", to}, {"saturate", saturate}}, 19})[0];
  };
  EXPECT_EQ(cast(1000, 17, 1), 448);
  EXPECT_TRUE(std::isnan(cast(1000, 17, 0)));
  EXPECT_EQ(cast(-HUGE_VAL, 18, 1), -240);
  EXPECT_TRUE(std::isnan(cast(HUGE_VAL, 18, 0)));
  EXPECT_EQ(cast(1e6, 19, 1), 57344);
  EXPECT_EQ(cast(1e6, 19, 0), HUGE_VAL);
  EXPECT_TRUE(std::isnan(cast(1e6, 20, 0)));
  EXPECT_EQ(cast(-1e6, 20, 1), -57344);
  EXPECT_EQ(cast(2.6, 23, 0), 3);  // float4, which has neither infinity nor NaN
  EXPECT_EQ(cast(100, 23, 0), 6);
}

TEST(cast_like, needs_no_more_of_its_second_input_than_the_type) {
  const Operand out = outputs_of({"CastLike", {ints({3}), floats({512, 512})}})[0];
  EXPECT_EQ(out.type, float32);
  EXPECT_EQ(doubles_of(out.value.value()), Doubles{3});
  EXPECT_EQ(work_of({"CastLike", {typed(int64, {4}), floats({2, 3, 4})}}).read_elements, (Ints{4, 0}));
  EXPECT_EQ(code_of({"Cast", {ints({3})}, {{"to", std::int64_t{8}}}}), "unsupported_attribute");
}

}  // namespace
}  // namespace sdip
