// Products, views and quantised sandwiches in every form that is recognised; near misses stay; skips are counted.
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

std::string product_types(const std::string& values, const std::string& body, std::int64_t opset = 17) {
  return rewritten_equal(values, body, opset).types();
}

TEST(linear, in_every_form) {
  EXPECT_EQ(product_types("x 2,3,4; #w 4,5; #b 5", "y = Add(MatMul(x, w), b)"), "Linear");
  EXPECT_EQ(product_types("x 2,3,4; #w 4,5; #b 5", "y = Add(b, MatMul(x, w))"), "Linear");
  EXPECT_EQ(product_types("x 3,4; #w 5,4; #b 5", "y = Gemm{transB=1}(x, w, b)"), "Linear");
  EXPECT_EQ(
      product_types("x 2,3,4; #w 5,4; #b 5", "y = Reshape(Gemm{transB=1}(Reshape(x, [-1,4]), w, b), [2,3,5])"),
      "Reshape Linear Reshape");
  EXPECT_EQ(product_types("x 2,3,4; #w 4,5; #b 5", "y = Reshape(Gemm(Reshape(x, [-1,4]), w, b), [2,3,5])"),
            "Reshape Linear Reshape");
  EXPECT_EQ(product_types("x 2,3,4; #w 4,5", "y = Einsum{equation='bnd,do->bno'}(x, w)"), "Linear");
  EXPECT_EQ(product_types("x 2,3,4; #w 5,4", "y = Einsum{equation='b n d, o d -> b n o'}(x, w)"), "Linear");
  EXPECT_EQ(product_types("x 2,3,4; #w 4,4; b 4", "y = Add(MatMul(x, w), b)"), "Linear Add");
}

TEST(einsum, that_is_a_transposition_or_a_product) {
  EXPECT_EQ(product_types("x 1,2,2,3,3,4", "y = Einsum{equation='nhwpqc->nchpwq'}(x)"), "Transpose");
  EXPECT_EQ(product_types("a 2,3,4; b 2,4,5", "y = Einsum{equation='bij,bjk->bik'}(a, b)"), "MatMul");
  EXPECT_EQ(product_types("a 2,3,4; b 2,5,4", "y = Einsum{equation='bij,bkj->bik'}(a, b)"), "Scores");
  EXPECT_EQ(product_types("a 2,3,4; b 2,5,4", "y = Einsum{equation='bij,bkj->bki'}(a, b)"), "Scores");
  EXPECT_EQ(product_types("a 2,3,4; b 2,4,5", "y = Einsum{equation='bij,bjk->ikb'}(a, b)"), "Einsum");
  EXPECT_EQ(product_types("x 2,3", "y = Einsum{equation='ij->i'}(x)"), "Einsum");
}

TEST(unpatchify, is_a_transposition_between_two_views) {
  Rewritten found = rewritten_equal("x 1,4,16",
                                    "y = Reshape(Einsum{equation='nhwpqc->nchpwq'}(Reshape(x, "
                                    "[1,2,2,2,2,4])), [1,4,4,4])");
  EXPECT_EQ(found.counts["unpatchify"], 1);
  EXPECT_EQ(found.counts["einsum"], 1);
}

TEST(conv, takes_a_bias_or_a_batch_norm_behind_it) {
  const std::string values = "x 1,2,4,4; #w 3,2,3,3; #b 3; #c 1,3,1,1; #d 3,1,1; #e 1,1,2,2";
  EXPECT_EQ(product_types(values, "y = Add(Conv(x, w), c)"), "Conv");
  EXPECT_EQ(product_types(values, "y = Add(d, Conv(x, w))"), "Conv");
  EXPECT_EQ(product_types(values, "y = Add(Conv(x, w, b), c)"), "Conv Add");
  EXPECT_EQ(product_types(values, "y = Add(Conv(x, w), e)"), "Conv Add");
  EXPECT_EQ(
      product_types("x 1,2,4,4; #w 3,2,3,3; #b 3; #v 3", "y = BatchNormalization(Conv(x, w), b, b, b, Abs(v))"),
      "Conv");
  EXPECT_EQ(product_types("x 1,2,4,4; #w 3,2,3,3; #b 3; #v 3",
                          "c = Conv(x, w, b); y = Add(c, BatchNormalization(c, b, b, b, Abs(v)))"),
            "Conv BatchNormalization Add");
}

TEST(upsample, by_repetition_is_a_resize) {
  Rewritten found =
      rewritten_equal("x 1,2,3,4", "y = Reshape(Expand(Reshape(x, [1,2,3,1,4,1]), [1,2,3,2,4,2]), [1,2,6,8])");
  EXPECT_EQ(found.types(), "Resize");
  EXPECT_EQ(found.counts["upsample_nearest_2x"], 1);
  EXPECT_EQ(product_types("x 1,2,3,4", "y = Reshape(Expand(Reshape(x, [1,2,1,3,1,4]), [1,2,2,3,2,4]), [1,2,6,8])"),
            "Reshape Expand Reshape");
}

TEST(no_op, of_every_kind_goes) {
  const std::vector<std::string> kinds = {"Identity(x)",
                                          "Dropout(x)",
                                          "Mul(x, 1.0)",
                                          "Mul(1.0, x)",
                                          "Div(x, 1.0)",
                                          "Add(x, 0.0)",
                                          "Sub(x, 0.0)",
                                          "Pow(x, 1.0)",
                                          "Cast{to=1}(x)",
                                          "Expand(x, [2,3])",
                                          "Slice(x, [0], [9], [1])",
                                          "Transpose{perm=[0,1]}(x)",
                                          "Concat{axis=0}(x)",
                                          "Pad(x, [0,0,0,0])",
                                          "Reshape(x, [2,3])",
                                          "Cast{to=1}(Cast{to=11}(x))",
                                          "Sum(x)",
                                          "Add(x, Mul(ConstantOfShape([2,3]), 0.0))",
                                          "Where(Cast{to=9}(Expand(1.0, [2,3])), x, 5.0)"};
  for (const std::string& kind : kinds) EXPECT_EQ(product_types("x 2,3", "y = Neg(" + kind + ")"), "Neg") << kind;
}

TEST(no_op, that_does_something_stays) {
  EXPECT_EQ(product_types("x 2,3", "y = Neg(Pad(x, [0,-1,0,1]))"), "Pad Neg");
  EXPECT_EQ(product_types("x 2,3", "y = Neg(Div(1.0, Add(x, 9.0)))"), "Add Div Neg");
  EXPECT_EQ(product_types("x 2,3", "y = Neg(Sub(0.0, x))"), "Sub Neg");
  EXPECT_EQ(product_types("x 2,3", "y = Neg(Cast{to=1}(Cast{to=10}(x)))"), "Cast Cast Neg");
  EXPECT_EQ(product_types("x 3,3", "y = Neg(Transpose{perm=[1,0]}(x))"), "Transpose Neg");
}

const std::string conv = "Conv(DequantizeLinear(x, 0.021, z), DequantizeLinear{axis=0}(w, s, n)";
const std::string quantised_values =
    "x 1,2,4,4 uint8; #z uint8; #w 3,2,3,3 int8; #n 3 int8; #b 3 int32; #f 3; #o uint8";

/// Scales of weights must be positive; they stand beside the model's random weights.
Rewritten quantised(const std::string& body) {
  const std::string scale = "s = Add(Abs(f), 0.013); ";
  return rewritten_equal(quantised_values, scale + body, 13);
}

TEST(quantised, convolution_between_dequantize_and_quantize) {
  Rewritten found = quantised("y = QuantizeLinear(" + conv + "), 0.37, o)");
  EXPECT_EQ(found.types(), "QuantizedConv");
  EXPECT_EQ(found.counts["quantized"], 1);
  EXPECT_EQ(found.graph.nodes.back().inputs.size(), 9u);
  found = quantised("y = QuantizeLinear(" + conv + ", f), 0.37, o)");
  EXPECT_EQ(found.types(), "QuantizedConv Add QuantizeLinear");
  found = quantised("y = " + conv + ")");
  EXPECT_EQ(found.types(), "QuantizedConv");
  found = quantised("y = QuantizeLinear(Relu(" + conv + ")), 0.37)");
  EXPECT_EQ(found.types(), "QuantizedConv");
}

TEST(quantised, convolution_with_a_bias_of_its_own_scale) {
  const std::string body =
      "y = QuantizeLinear(Conv(DequantizeLinear(x, 0.021), DequantizeLinear(w, 0.5), "
      "DequantizeLinear(b, 0.0105)), 0.37, o)";
  Rewritten found = rewritten_equal(quantised_values, body, 13);
  EXPECT_EQ(found.types(), "QuantizedConv");
  EXPECT_NE(found.graph.nodes.back().inputs[2], none);
  const std::string other =
      "y = QuantizeLinear(Conv(DequantizeLinear(x, 0.021), DequantizeLinear(w, 0.5), "
      "DequantizeLinear(b, 0.02)), 0.37, o)";
  found = rewritten_equal(quantised_values, other, 13);
  EXPECT_EQ(found.types(), "QuantizedConv Add QuantizeLinear");
}

TEST(quantised, products_by_matmul_and_gemm) {
  const std::string values = "x 2,4 uint8; #w 4,3 int8; #v 3,4 int8; #s 3; q 2,4 int8";
  EXPECT_EQ(rewritten_equal(values,
                            "y = QuantizeLinear(MatMul(DequantizeLinear(x, 0.021), DequantizeLinear{axis=1}(w, "
                            "Add(Abs(s), 0.013))), 0.37)",
                            13)
                .types(),
            "QuantizedMatMul");
  EXPECT_EQ(rewritten_equal(values,
                            "y = QuantizeLinear(Gemm{transB=1}(DequantizeLinear(x, 0.021), "
                            "DequantizeLinear{axis=0}(v, Add(Abs(s), 0.013))), 0.37)",
                            13)
                .types(),
            "QuantizedMatMul");
  EXPECT_EQ(rewritten_equal(values,
                            "y = MatMul(DequantizeLinear(x, 0.021), Transpose{perm=[1,0]}(DequantizeLinear(q, "
                            "0.5)))",
                            13)
                .types(),
            "DequantizeLinear DequantizeLinear Transpose MatMul");
}

TEST(skips, are_adds_and_concats_of_a_value_with_one_computed_from_it) {
  const auto skips = [](const std::string& values, const std::string& body) {
    return skips_of(import_model(model_of(values, body)));
  };
  Skips found = skips("x 1,2,4,4; z 1,2,4,4", "a = Relu(x); y = Add(Add(a, Neg(a)), Abs(z))");
  EXPECT_EQ(found.adds, 1);
  found =
      skips("x 1,2,4,4", "a = Relu(x); b = Neg(a); c = Abs(b); d = Concat{axis=1}(c, b); y = Concat{axis=1}(d, a)");
  EXPECT_EQ(found.concats, 2);
  EXPECT_TRUE(found.is_stack);
  found =
      skips("x 1,2,4,4", "a = Relu(x); b = Neg(a); c = Abs(b); d = Concat{axis=1}(c, a); y = Concat{axis=1}(d, b)");
  EXPECT_EQ(found.concats, 2);
  EXPECT_FALSE(found.is_stack);
}

TEST(embedding, of_time_steps_and_rotary_positions_are_counted) {
  Rewritten found = rewritten_equal("t 2,1; #f 1,4", "a = Mul(t, f); y = Concat{axis=1}(Sin(a), Cos(a))");
  EXPECT_EQ(found.counts["timestep_embedding"], 1);
  found = rewritten_equal("x 2,3,4; c 3,4; s 3,4",
                          "a, b = Split{axis=2}(x); y = Add(Mul(x, c), Mul(Concat{axis=2}(Neg(b), a), s))");
  EXPECT_EQ(found.counts["rotary"], 1);
  found = rewritten_equal("x 2,3,4; z 2,3,4; c 3,4; s 3,4",
                          "a, b = Split{axis=2}(z); y = Add(Mul(x, c), Mul(Concat{axis=2}(Neg(b), a), s))");
  EXPECT_EQ(found.counts["rotary"], 0);
}

TEST(decomposed, names_what_no_pattern_took_and_the_first_node) {
  Rewritten found = rewritten_equal("x 2,3; z 2,3", "y = Add(Mul(z, Sigmoid(x)), Mul(z, Sigmoid(z)))");
  const auto left = decomposed(found.graph);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].pattern, "silu");
  EXPECT_EQ(left[0].count, 1);
  found = rewritten_equal("x 2,3; z 2,3", "y = Mul(Erf(x), Softmax(z))");
  const auto both = decomposed(found.graph);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[0].pattern, "gelu");
  EXPECT_EQ(both[1].pattern, "attention");
}

}  // namespace
}  // namespace sdip
