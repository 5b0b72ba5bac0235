// What the conversions between floats and scaled numbers compute.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

using enum ElementType;

TEST(quantize, rounds_halves_to_even_and_keeps_within_the_type) {
  const Operand x = tensor({5}, {1, 3, -300, 300, 0.99});
  EXPECT_EQ(values_of({"QuantizeLinear", {x, tensor({}, {2}), tensor({}, {10}, uint8)}}),
            (Doubles{10, 12, 0, 160, 10}));
  EXPECT_EQ(values_of({"QuantizeLinear", {x, tensor({}, {2})}}), (Doubles{0, 2, 0, 150, 0}));
  EXPECT_EQ(values_of({"QuantizeLinear", {x, tensor({}, {2}), tensor({}, {0}, int4)}, {}, 21}),
            (Doubles{0, 2, -8, 7, 0}));
  EXPECT_EQ(values_of({"QuantizeLinear", {x, tensor({}, {2}), tensor({}, {0}, int2)}, {}, 25}),
            (Doubles{0, 1, -2, 1, 0}));
  EXPECT_EQ(values_of({"QuantizeLinear", {x, tensor({}, {2}), tensor({}, {1}, uint2)}, {}, 25}),
            (Doubles{1, 3, 0, 3, 1}));
  const Use sixteen{"QuantizeLinear", {x, tensor({}, {0.001})}, {{"output_dtype", number(4)}}, 21};
  EXPECT_EQ(values_of(sixteen), (Doubles{1000, 3000, 0, 65535, 990}));
}

TEST(quantize, takes_one_scale_and_one_zero_point_of_any_rank) {
  const Operand x = tensor({2, 2}, {1, 3, -300, 300}), codes = counting({2, 2}, uint8);
  for (const auto& [scale, zero] : {std::pair<Shape, Shape>{{}, {1}}, {{1}, {}}, {{1}, {1}}, {{1, 1}, {1}}}) {
    EXPECT_EQ(values_of({"QuantizeLinear", {x, tensor(scale, {2}), tensor(zero, {10}, uint8)}}),
              (Doubles{10, 12, 0, 160}));
    EXPECT_EQ(values_of({"DequantizeLinear", {codes, tensor(scale, {2}), tensor(zero, {1}, uint8)}}),
              (Doubles{-2, 0, 2, 4}));
  }
}

TEST(quantize, to_small_floats_saturates_or_not) {
  const Operand x = tensor({3}, {1.06, 1000, -1000}), scale = tensor({}, {1}), zero = tensor({}, {0}, float8e4m3fn);
  EXPECT_EQ(values_of({"QuantizeLinear", {x, scale, zero}, {}, 19}), (Doubles{1, 448, -448}));
  EXPECT_TRUE(std::isnan(values_of({"QuantizeLinear", {x, scale, zero}, {{"saturate", number(0)}}, 19}).at(1)));
  const Use four{"QuantizeLinear", {tensor({3}, {2.6, 9, -0.3}), scale}, {{"output_dtype", number(23)}}, 23};
  EXPECT_EQ(values_of(four), (Doubles{3, 6, -0.5}));
}

TEST(quantize, along_an_axis_and_by_blocks_of_it) {
  const Operand x = counting({2, 4});
  EXPECT_EQ(
      values_of({"DequantizeLinear", {counting({2, 2}, int8), tensor({2}, {1, 10}), tensor({2}, {0, 1}, int8)}}),
      (Doubles{0, 0, 2, 20}));
  const Use rows{"DequantizeLinear", {counting({2, 2}, int8), tensor({2}, {1, 10})}, {{"axis", number(-2)}}};
  EXPECT_EQ(values_of(rows), (Doubles{0, 1, 20, 30}));
  const Use blocks{"DequantizeLinear",
                   {counting({2, 4}, uint4), tensor({2, 2}, {1, 10, 100, 1000})},
                   {{"axis", number(1)}, {"block_size", number(2)}},
                   21};
  EXPECT_EQ(values_of(blocks), (Doubles{0, 1, 20, 30, 400, 500, 6000, 7000}));
  // 3 rows in blocks of 2: the last block is shorter
  const Use outer{"QuantizeLinear",
                  {tensor({3, 2}, {2, 40, 4, 80, 6, 120}), tensor({2, 2}, {2, 40, 6, 60})},
                  {{"axis", number(0)}, {"block_size", number(2)}},
                  21};
  EXPECT_EQ(values_of(outer), (Doubles{1, 1, 2, 2, 1, 2}));
  EXPECT_EQ(code_of({"QuantizeLinear",
                     {floats({3, 2}), floats({3, 2})},
                     {{"axis", number(0)}, {"block_size", number(2)}},
                     21}),
            "shape_mismatch");
}

TEST(quantize, types_go_with_the_opset) {
  EXPECT_EQ(outputs_of({"DequantizeLinear", {typed(int32, {2}), typed(float16, {})}, {}, 19}).at(0).type, float16);
  const Use asked{"DequantizeLinear", {typed(int8, {2}), typed(float16, {})}, {{"output_dtype", number(1)}}, 23};
  EXPECT_EQ(outputs_of(asked).at(0).type, float32);
  EXPECT_EQ(code_of({"QuantizeLinear", {floats({2}), floats({})}, {{"output_dtype", number(7)}}, 21}),
            "unsupported_attribute");
}

TEST(dynamic_quantize, the_range_always_holds_zero) {
  const Use use{"DynamicQuantizeLinear", {tensor({3}, {-1, 0, 1.5})}, {}, 11, 3};
  EXPECT_EQ(values_of(use), (Doubles{0, 102, 255}));
  expect_each_near(values_of(use, 1), {2.5 / 255});
  EXPECT_EQ(values_of(use, 2), (Doubles{102}));
  EXPECT_EQ(values_of({"DynamicQuantizeLinear", {tensor({1}, {0})}, {}, 11, 3}, 1), (Doubles{1}));
}

}  // namespace
}  // namespace sdip
