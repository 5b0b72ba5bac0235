// pass `factor_weights`: which weights are factored, and what that changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

onnx::ModelProto linear(std::int64_t k, std::int64_t n) {
  onnx::ModelProto model = model_of_x({4, k});
  add_weight(model, "w", {k, n});
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  return model;
}

Machine low_rank(std::int64_t share) {
  Machine m;
  m.low_rank = LowRank::on;
  m.low_rank_share = Decimal{share};
  return m;
}

TEST(factor_weights, eight_by_sixteen_at_a_quarter_is_48_weights_for_128) {
  const Application whole = compiled(linear(8, 16), Machine{}), thin = compiled(linear(8, 16), low_rank(25));
  EXPECT_THAT(mnemonics(whole), ElementsAre("matmul"));
  EXPECT_THAT(mnemonics(thin), ElementsAre("linear", "linear"));
  EXPECT_EQ(whole.stages[0].program.weight_bytes, Bytes(2 * 128));
  EXPECT_EQ(thin.stages[0].program.weight_bytes, Bytes(2 * 48));
}

TEST(factor_weights, a_weight_that_would_not_shrink_stays) {
  EXPECT_THAT(mnemonics(compiled(linear(1, 16), low_rank(25))), ElementsAre("matmul"));
  EXPECT_THAT(mnemonics(compiled(linear(8, 16), low_rank(100))), ElementsAre("matmul"));
}

TEST(factor_weights, a_weight_read_twice_is_factored_once) {
  onnx::ModelProto model = linear(8, 16);
  add_node(model, "MatMul", {"x", "w"}, "z");
  add_output(model, "z");
  const Application thin = compiled(model, low_rank(25));
  EXPECT_EQ(thin.stages[0].program.distinct_weight_bytes, Bytes(2 * 48));
}

TEST(factor_weights, at_full_rank_of_a_thin_product_the_network_computes_what_it_did) {
  onnx::ModelProto model = model_of_x({1, 3});
  add_floats(model, "w", {3, 4}, {1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12});  // rank 1
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  const Application thin = compiled(model, low_rank(25));
  ASSERT_THAT(mnemonics(thin), ElementsAre("linear", "linear"));
  const Tensor x{ElementType::float32, {1, 3}, {}, {1, 1, 1}};
  const auto y = compute(*thin.stages[0].graph, std::span(&x, 1), {});
  ASSERT_EQ(y.at(0).floats.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[0].floats[i], 6.0 * static_cast<double>(i + 1), 1e-4);
}

}  // namespace
}  // namespace sdip
