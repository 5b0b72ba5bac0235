// What matrix products and Einsum compute, in floats and in quantised integers.
#include "tests/core/ops/computed.h"

namespace sdip {
namespace {

using enum ElementType;

TEST(matmul_values, batches_broadcast) {
  EXPECT_EQ(values_of({"MatMul", {tensor({1, 2}, {1, 2}), tensor({2, 1}, {3, 4})}}), (Doubles{11}));
  const Use batched{"MatMul", {tensor({2, 1, 2}, {1, 2, 3, 4}), tensor({2, 2}, {1, 0, 0, 10})}};
  EXPECT_EQ(values_of(batched), (Doubles{1, 20, 3, 40}));
}

TEST(matmul_values, integers_are_exact_and_wrap) {
  const Operand big = tensor({1, 1}, {0}, int64);
  Operand a = big, b = big;
  a.value->ints = {(std::int64_t{1} << 53) + 1};
  b.value->ints = {3};
  EXPECT_EQ(computed({"MatMul", {a, b}}).at(0).value->ints, (Ints{((std::int64_t{1} << 53) + 1) * 3}));
  a.value->ints = b.value->ints = {std::int64_t{1} << 32};
  EXPECT_EQ(computed({"MatMul", {a, b}}).at(0).value->ints, (Ints{0}));
}

TEST(gemm_values, alpha_beta_and_transposed_operands) {
  const Use gemm{"Gemm",
                 {tensor({2, 1}, {1, 2}), tensor({3, 2}, {1, 0, 0, 1, 1, 1}), tensor({1, 3}, {10, 20, 30})},
                 {{"alpha", 2.0}, {"beta", 0.5}, {"transA", number(1)}, {"transB", number(1)}}};
  EXPECT_EQ(values_of(gemm), (Doubles{7, 14, 21}));
}

TEST(linear_values, a_transposed_weight_and_a_bias) {
  const Use linear{"Linear",
                   {tensor({1, 2}, {1, 2}), tensor({3, 2}, {1, 0, 0, 1, 1, 1}), tensor({3}, {10, 20, 30})},
                   {{"trans_b", number(1)}},
                   17,
                   1,
                   "sdip"};
  EXPECT_EQ(values_of(linear), (Doubles{11, 22, 33}));
}

Doubles einsum(const char* equation, std::vector<Operand> operands) {
  return values_of({"Einsum", std::move(operands), {{"equation", text(equation)}}});
}

TEST(einsum_values, traces_sums_products_and_chains) {
  const Operand m = counting({2, 2});
  EXPECT_EQ(einsum("ii", {m}), (Doubles{3}));
  EXPECT_EQ(einsum("ii->i", {m}), (Doubles{0, 3}));
  EXPECT_EQ(einsum("ij->ji", {m}), (Doubles{0, 2, 1, 3}));
  EXPECT_EQ(einsum("ij,jk", {m, m}), (Doubles{2, 3, 6, 11}));
  EXPECT_EQ(einsum("ab,bc,cd->ad", {m, m, m}), (Doubles{6, 11, 22, 39}));
  EXPECT_EQ(einsum("i,j->ij", {counting({2}), counting({3})}), (Doubles{0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(einsum("ij,k->", {m, counting({3})}), (Doubles{18}));  // both are summed up first
}

TEST(einsum_values, an_ellipsis_broadcasts) {
  EXPECT_EQ(einsum("...i,...i->...", {counting({2, 3}), tensor({1, 3}, {1, 1, 1})}), (Doubles{3, 12}));
  EXPECT_EQ(einsum("...ij->...ji", {counting({1, 2, 2})}), (Doubles{0, 2, 1, 3}));
}

TEST(einsum_values, equations_that_do_not_fit_or_explode_are_refused) {
  const auto code = [](const char* equation, std::vector<Operand> operands) {
    return computing_code_of({"Einsum", std::move(operands), {{"equation", text(equation)}}});
  };
  EXPECT_EQ(code("ij,jk->ik", {counting({2, 2}), counting({3, 2})}), "shape_mismatch");
  EXPECT_EQ(code("i9->i", {counting({2, 2})}), "unsupported_attribute");
  EXPECT_EQ(code("ij->k", {counting({2, 2})}), "shape_mismatch");
  const Operand wide = counting({32, 32});
  EXPECT_EQ(code("ab,cd,ef,gh,aceg,bdfh->", {wide, wide, wide, wide, counting({32, 32, 32, 32}), counting({1})}),
            "shape_mismatch");
  EXPECT_EQ(code("ab,cd,ef,gh,aceg->bdfh", {wide, wide, wide, wide, tensor({32, 32, 32, 32}, Doubles(1 << 20, 1))}),
            "limit_exceeded");
}

/// The row a composite stands for, its inputs in the order of core/ops/products/quantized.cpp.
TEST(quantised_products, sums_without_scales_are_int32) {
  const Use product{"QuantizedMatMul",
                    {tensor({2, 2}, {1, 2, 3, 4}, uint8), tensor({2, 1}, {1, 2}, int8), absent(), absent(),
                     tensor({2}, {1, 3}, uint8)},
                    {},
                    17,
                    1,
                    "sdip"};
  EXPECT_EQ(computed(product).at(0).type, int32);
  EXPECT_EQ(values_of(product), (Doubles{2, 2}));  // rows (0,1) and (0,1) by (1,2): a zero point for each row
}

TEST(quantised_products, with_scales_of_the_operands_alone_they_are_floats) {
  const Use product{"QuantizedMatMul",
                    {tensor({1, 2}, {1, 2}, int8), tensor({2, 2}, {1, 2, 3, 4}, int8), tensor({2}, {1, 0}, int32),
                     tensor({}, {0.5}), absent(), tensor({2}, {2, 4})},
                    {},
                    17,
                    1,
                    "sdip"};
  EXPECT_EQ(computed(product).at(0).type, float32);
  EXPECT_EQ(values_of(product), (Doubles{8, 20}));  // (7 + 1) * 0.5 * 2, 10 * 0.5 * 4
}

TEST(quantised_products, results_are_rounded_to_even_and_kept_within_the_type) {
  const auto rescaled = [](double sum) {
    const Use product{"QuantizedMatMul",
                      {tensor({1, 1}, {1}, uint8), tensor({1, 1}, {sum}, int8), absent(), tensor({}, {1}), absent(),
                       tensor({}, {1}), absent(), tensor({}, {2}), tensor({}, {10}, uint8)},
                      {},
                      17,
                      1,
                      "sdip"};
    return values_of(product).at(0);
  };
  EXPECT_EQ(rescaled(5), 12);    // 2.5 to 2
  EXPECT_EQ(rescaled(7), 14);    // 3.5 to 4
  EXPECT_EQ(rescaled(-100), 0);  // -40
}

TEST(quantised_products, a_convolution_pads_with_its_zero_point) {
  const Use conv{"QuantizedConv",
                 {tensor({1, 1, 2}, {5, 6}, uint8), tensor({2, 1, 2}, {1, 1, 2, 2}, uint8), absent(),
                  tensor({}, {1}), tensor({}, {5}, uint8), tensor({2}, {1, 0.5}), tensor({2}, {0, 1}, uint8),
                  tensor({}, {1}), tensor({}, {100}, uint8)},
                 {{"pads", Ints{1, 0}}},
                 17,
                 1,
                 "sdip"};
  EXPECT_EQ(values_of(conv), (Doubles{100, 101, 100, 100}));  // sums 0, 1; then 0, 1 * 0.5, which is even at 0
}

TEST(quantised_products, floats_are_no_quantised_numbers) {
  const Use product{"QuantizedMatMul", {counting({1, 1}), counting({1, 1}, uint8)}, {}, 17, 1, "sdip"};
  EXPECT_EQ(code_of(product), "invalid_graph");
}

}  // namespace
}  // namespace sdip
