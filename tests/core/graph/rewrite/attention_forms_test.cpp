// Attention as exporters write it: the scale goes into the product of q and k, results stay equal.
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

const std::string head_inputs = "q 2,3,4,8; k 2,3,5,8; v 2,3,5,8";

double scale_of(const Rewritten& found) {
  for (const Node& node : found.graph.nodes) {
    if (node.op->type == "Scores") return std::get<double>(node.attributes.at("scale"));
  }
  return 0;
}

void expect_attention(const std::string& values, const std::string& body, const std::string& types, double scale,
                      std::int64_t opset = 17) {
  Rewritten found = rewritten_equal(values, body, opset);
  EXPECT_EQ(found.types(), types) << body;
  EXPECT_EQ(found.counts["attention"], 1) << body;
  EXPECT_NEAR(scale_of(found), scale, 1e-6) << body;
}

TEST(attention, scale_after_the_product_by_mul_or_div) {
  const std::string t = "t = Transpose{perm=[0,1,3,2]}(k); ";
  for (const std::string scaled : {"Mul(MatMul(q, t), 0.25)", "Div(MatMul(q, t), 4.0)", "Mul(0.25, MatMul(q, t))"})
    expect_attention(head_inputs, t + "y = MatMul(Softmax{axis=-1}(" + scaled + "), v)", "Scores Softmax MatMul",
                     0.25);
}

TEST(attention, scale_on_q_on_both_and_behind_views) {
  expect_attention(head_inputs,
                   "y = MatMul(Softmax(MatMul(Mul(q, 0.5), Mul(Transpose{perm=[0,1,3,2]}(k), 0.5))), v)",
                   "Scores Softmax MatMul", 0.25);
  expect_attention(head_inputs,
                   "y = MatMul(Softmax(Mul(MatMul(Div(q, 8.0), Transpose{perm=[0,1,3,2]}(k)), 1.0)), v)",
                   "Scores Softmax MatMul", 0.125);
  expect_attention("q 2,4,24; k 2,5,24; v 2,3,5,8",
                   "s = Transpose{perm=[0,2,1,3]}(Reshape(Mul(q, 0.3), [0,0,3,8])); t = "
                   "Transpose{perm=[0,2,3,1]}(Reshape(k, [0,0,3,8])); y = MatMul(Softmax(MatMul(s, t)), v)",
                   "Reshape Transpose Reshape Transpose Scores Softmax MatMul", 0.3);
}

TEST(attention, with_a_mask_that_stays) {
  const std::string t = "p = MatMul(q, Transpose{perm=[0,1,3,2]}(k)); ";
  expect_attention(head_inputs + "; m 2,1,1,5", t + "y = MatMul(Softmax(Add(Div(p, 8.0), m)), v)",
                   "Scores Add Softmax MatMul", 0.125);
  expect_attention(head_inputs + "; m 2,1,1,5", t + "y = MatMul(Softmax(Add(m, Mul(p, 0.5))), v)",
                   "Scores Add Softmax MatMul", 0.5);
  expect_attention(head_inputs + "; c 4,5 bool", t + "y = MatMul(Softmax(Where(c, Div(p, 8.0), -10000.0)), v)",
                   "Scores Where Softmax MatMul", 0.125);
}

TEST(attention, scale_after_an_infinite_mask_is_folded_after_a_sum_it_stays) {
  const std::string p = "p = MatMul(q, Transpose{perm=[0,2,1]}(k)); ";
  Rewritten found = rewritten_equal("q 2,4,8; k 2,4,8; v 2,4,8; #c 4,4 bool",
                                    p + "y = MatMul(Softmax(Div(Where(c, -50000.0, p), 2.0)), v)");
  EXPECT_EQ(found.types(), "Scores Where Div Softmax MatMul");
  expect_attention("q 2,4,8; k 2,4,8; v 2,4,8; m 2,4,4", p + "y = MatMul(Softmax(Div(Add(p, m), 2.0)), v)",
                   "Scores Add Div Softmax MatMul", 1.0);
  const Graph graph = import_model(
      model_of("q 2,4,8; k 2,4,8; v 2,4,8; c 4,4 bool", p + "y = MatMul(Softmax(Div(Where(c, -inf, p), 2.0)), v)"));
  Graph after = graph;
  rewrite(after);
  EXPECT_EQ(facts_of(after).operator_counts.count("Div"), 0u);
}

TEST(attention, by_einsum_and_baddbmm) {
  const std::string flat = "q 6,4,8; k 6,5,8; v 6,5,8";
  const auto einsum = [](const std::string& equation) { return "Einsum{equation='" + equation + "'}"; };
  expect_attention(flat,
                   "y = " + einsum("b i j, b j d -> b i d") + "(Softmax(Mul(" + einsum("b i d, b j d -> b i j") +
                       "(q, k), 0.3)), v)",
                   "Scores Softmax MatMul", 0.3);
  expect_attention(
      head_inputs,
      "y = " + einsum("bhij,bhjd->bhid") + "(Softmax(Mul(" + einsum("bhid,bhjd->bhij") + "(q, k), 0.3)), v)",
      "Scores Softmax MatMul", 0.3);
  expect_attention(flat,
                   "z = Mul(ConstantOfShape([6,4,5]), 0.0); y = MatMul(Softmax(Add(z, Mul(MatMul(q, "
                   "Transpose{perm=[0,2,1]}(k)), 0.3))), v)",
                   "Scores Softmax MatMul", 0.3);
}

TEST(attention, with_softmax_as_the_second_operand) {
  expect_attention("q 1,8,4; k 1,8,5; v 1,8,5",
                   "w = Softmax{axis=2}(Mul(MatMul(Transpose{perm=[0,2,1]}(q), k), 0.3)); y = MatMul(v, "
                   "Transpose{perm=[0,2,1]}(w))",
                   "Transpose Scores Softmax Transpose MatMul", 0.3);
}

TEST(attention, with_casts_around_the_softmax) {
  expect_attention(
      "q 2,4,8 float16; k 2,5,8 float16; v 2,5,8 float16",
      "p = Mul(MatMul(q, Transpose{perm=[0,2,1]}(k)), 0.25h); y = MatMul(Cast{to=10}(Softmax(Cast{to=1}("
      "p))), v)",
      "Scores Softmax MatMul", 0.25);
}

TEST(attention, with_heads_from_one_projection_or_keys_repeated) {
  expect_attention(
      "x 1,4,24; #z int64; #o int64",
      "r = Transpose{perm=[2,0,3,1,4]}(Reshape(x, [1,4,3,2,4])); q = Gather{axis=0}(r, z); k = "
      "Gather{axis=0}(r, o); y = MatMul(Softmax(MatMul(Mul(q, 0.5), Transpose{perm=[0,1,3,2]}(k))), k); "
      "unused = Neg(x)",
      "Reshape Transpose Gather Gather Scores Softmax MatMul", 0.5);
  expect_attention(
      "q 1,4,3,8; k 1,2,5,8; v 1,4,5,8",
      "e = Reshape(Expand(Unsqueeze(k, [2]), [1,2,2,5,8]), [1,4,5,8]); y = MatMul(Softmax(Mul(MatMul(q, "
      "Transpose{perm=[0,1,3,2]}(e)), 0.3)), v)",
      "Unsqueeze Expand Reshape Scores Softmax MatMul", 0.3);
}

TEST(attention, with_a_guard_against_rows_masked_throughout) {
  expect_attention(head_inputs,
                   "w = Softmax(Mul(MatMul(q, Transpose{perm=[0,1,3,2]}(k)), 0.3)); y = MatMul(Where(IsNaN(w), "
                   "0.0, w), v)",
                   "Scores Softmax IsNaN Where MatMul", 0.3);
}

TEST(attention, near_misses_keep_their_scale) {
  const std::string p = "t = Transpose{perm=[0,1,3,2]}(k); p = MatMul(q, t); ";
  Rewritten found = rewritten_equal(head_inputs, p + "y = Add(MatMul(Softmax(Mul(p, 0.5)), v), MatMul(p, v))");
  EXPECT_EQ(found.types(), "Transpose MatMul Mul Softmax MatMul MatMul Add");
  found = rewritten_equal(head_inputs,
                          p + "u = Neg(t); y = Add(MatMul(Softmax(Mul(p, 0.5)), v), MatMul(q, MatMul(u, v)))");
  EXPECT_EQ(found.types(), "Transpose Scores Neg Softmax MatMul MatMul MatMul Add");
  found = rewritten_equal("q 2,3,4,8; k 2,3,5,8; v 2,3,5,8; s 1", p + "y = MatMul(Softmax(Mul(p, s)), v)");
  EXPECT_EQ(found.types(), "Scores Mul Softmax MatMul");
  EXPECT_EQ(found.counts["attention"], 1);
  found = rewritten_equal("q 2,4,8; #w 8,5; v 2,5,8", "y = MatMul(Softmax(Mul(MatMul(q, w), 0.5)), v)");
  EXPECT_EQ(found.types(), "Linear Mul Softmax MatMul");
  EXPECT_EQ(found.counts["attention"], 0);
}

}  // namespace
}  // namespace sdip
