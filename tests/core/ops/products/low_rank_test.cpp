// The factors of a weight of lower rank.
#include <gtest/gtest.h>

#include <cmath>

#include "core/ops/operator.h"

namespace sdip {
namespace {

std::vector<double> factor_of(std::string_view type, const Shape& shape, const std::vector<double>& elements,
                              std::int64_t rank, bool turned = false) {
  Operand weight;
  weight.shape = shape;
  weight.value = Tensor{ElementType::float32, shape, {}, elements};
  weight.weight = true;
  const Operand* inputs[] = {&weight};
  const Attributes attributes{{"rank", rank}, {"trans_b", std::int64_t{turned}}};
  OperatorUse use{"node", type, 1, &attributes, inputs};
  return infer_use(*find_operator("sdip", type), use).at(0).value->floats;
}

/// Largest difference between A B and the weight, K x N.
double error_of(const Shape& shape, const std::vector<double>& w, std::int64_t rank) {
  const auto a = factor_of("LowRankLeft", shape, w, rank), b = factor_of("LowRankRight", shape, w, rank);
  double most = 0;
  for (std::int64_t k = 0; k < shape[0]; ++k)
    for (std::int64_t n = 0; n < shape[1]; ++n) {
      double sum = 0;
      for (std::int64_t r = 0; r < rank; ++r)
        sum += a[static_cast<std::size_t>(k * rank + r)] * b[static_cast<std::size_t>(r * shape[1] + n)];
      most = std::max(most, std::abs(sum - w[static_cast<std::size_t>(k * shape[1] + n)]));
    }
  return most;
}

TEST(low_rank, a_matrix_of_rank_one_is_the_product_of_its_factors) {
  EXPECT_LT(error_of({2, 2}, {2, 4, 1, 2}, 1), 1e-6);
  EXPECT_LT(error_of({2, 3}, {2, 4, 6, 1, 2, 3}, 1), 1e-6);
  EXPECT_LT(error_of({3, 2}, {2, 4, 1, 2, 3, 6}, 1), 1e-6);
}

TEST(low_rank, of_full_rank_nothing_is_lost_and_below_it_what_the_singular_values_say) {
  const std::vector<double> w{3, 0, 0, 0, 2, 0, 0, 0, 1};
  EXPECT_LT(error_of({3, 3}, w, 3), 1e-6);
  EXPECT_NEAR(error_of({3, 3}, w, 2), 1, 1e-6);
  EXPECT_NEAR(error_of({3, 3}, w, 1), 2, 1e-6);
}

TEST(low_rank, factors_of_a_turned_weight_are_those_of_the_weight) {
  const std::vector<double> w{1, 2, 3, 4, 5, 6}, turned{1, 4, 2, 5, 3, 6};
  EXPECT_EQ(factor_of("LowRankLeft", {2, 3}, w, 2), factor_of("LowRankLeft", {3, 2}, turned, 2, true));
  EXPECT_EQ(factor_of("LowRankRight", {2, 3}, w, 2), factor_of("LowRankRight", {3, 2}, turned, 2, true));
}

}  // namespace
}  // namespace sdip
