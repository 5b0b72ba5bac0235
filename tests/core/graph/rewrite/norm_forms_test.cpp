// Every form of a normalisation that is recognised computes what it computed before; near misses stay.
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

std::string types_of(const std::string& values, const std::string& body, std::int64_t opset = 14) {
  return rewritten_equal(values, body, opset).types();
}

const std::string d = "m = ReduceMean{axes=[-1]}(x); d = Sub(x, m); ";

TEST(layernorm, in_every_form) {
  for (const std::string square : {"Pow(d, 2.0)", "Mul(d, d)"}) {
    const std::string root = "Sqrt(Add(ReduceMean{axes=[-1]}(" + square + "), 0.00001))";
    const std::string sum = "Add(0.00001, ReduceMean{axes=[2]}(" + square + "))";
    for (const std::string& whole : {"Div(d, " + root + ")", "Mul(d, Reciprocal(" + root + "))",
                                     "Mul(Div(1.0, " + root + "), d)", "Mul(d, Pow(" + sum + ", -0.5))"}) {
      EXPECT_EQ(types_of("x 2,3,8", d + "y = " + whole), "LayerNormalization") << whole;
      EXPECT_EQ(types_of("x 2,3,8; #g 8; #b 8", d + "y = Add(b, Mul(" + whole + ", g))"), "LayerNormalization");
      EXPECT_EQ(types_of("x 2,3,8; #g 8", d + "y = Mul(g, " + whole + ")"), "LayerNormalization");
    }
  }
}

TEST(layernorm, with_the_mean_subtracted_twice_and_over_several_axes) {
  EXPECT_EQ(types_of("x 2,3,8",
                     "y = Div(Sub(x, ReduceMean{axes=[-1]}(x)), Sqrt(Add(ReduceMean{axes=[-1]}(Pow("
                     "Sub(x, ReduceMean{axes=[-1]}(x)), 2.0)), 0.00001)))"),
            "LayerNormalization");
  const std::string two = "d = Sub(x, ReduceMean(x, [1,2])); ";
  EXPECT_EQ(types_of("x 2,3,8", two + "y = Div(d, Sqrt(Add(ReduceMean(Mul(d, d), [-2,-1]), 0.001)))", 18),
            "LayerNormalization");
}

TEST(layernorm, as_tensorflow_writes_it) {
  const std::string body =
      "m = ReduceMean{axes=[-1]}(x); d = Sub(x, m); s = Mul(Reciprocal(Sqrt(Add("
      "ReduceMean{axes=[-1]}(Mul(d, d)), 0.001))), g); ";
  EXPECT_EQ(types_of("x 2,3,8; #g 8; #b 8", body + "y = Add(Mul(x, s), Sub(b, Mul(m, s)))"), "LayerNormalization");
  EXPECT_EQ(types_of("x 2,3,8; #g 8; #b 8", body + "y = Add(Mul(x, s), Sub(b, Mul(x, s)))"),
            "ReduceMean Sub Mul ReduceMean Add Sqrt Reciprocal Mul Mul Mul Sub Add");
}

TEST(layernorm, of_another_axis_power_or_with_what_is_inside_used_stays) {
  const std::string end = "y = Div(d, Sqrt(Add(v, 0.00001)))";
  EXPECT_EQ(types_of("x 2,3,8", d + "v = ReduceMean{axes=[1]}(Pow(d, 2.0)); " + end),
            "ReduceMean Sub Pow ReduceMean Add Sqrt Div");
  EXPECT_EQ(types_of("x 2,3,8", d + "v = ReduceMean{axes=[-1]}(Abs(d)); " + end),
            "ReduceMean Sub Abs ReduceMean Add Sqrt Div");
  EXPECT_EQ(
      types_of("x 2,3,8", d + "v = ReduceMean{axes=[-1]}(Pow(d, 2.0)); y = Add(v, Div(d, Sqrt(Add(v, 0.00001))))"),
      "ReduceMean Sub Pow ReduceMean Add Sqrt Div Add");
  EXPECT_EQ(types_of("x 2,8,3",
                     "m = ReduceMean{axes=[1]}(x); d = Sub(x, m); v = ReduceMean{axes=[1]}(Mul(d, d)); " + end),
            "ReduceMean Sub Mul ReduceMean Add Sqrt Div");
}

TEST(adaln, modulates_a_norm_without_weights) {
  const std::string norm = d + "n = Div(d, Sqrt(Add(ReduceMean{axes=[-1]}(Mul(d, d)), 0.00001))); ";
  Rewritten found =
      rewritten_equal("x 2,3,8; scale 2,1,8; shift 2,1,8", norm + "y = Add(Mul(n, Add(scale, 1.0)), shift)", 14);
  EXPECT_EQ(found.counts["adaln_modulate"], 1);
  EXPECT_EQ(found.types(), "LayerNormalization Add Mul Add");
  found =
      rewritten_equal("x 2,3,8; scale 2,1,8; shift 2,1,8", norm + "y = Add(Mul(n, Add(scale, 2.0)), shift)", 14);
  EXPECT_EQ(found.counts["adaln_modulate"], 0);
}

TEST(instancenorm, of_means_over_an_image) {
  const std::string body =
      "d = Sub(x, ReduceMean{axes=[2,3]}(x)); n = Div(d, Sqrt(Add(ReduceMean{axes=[2,3]}(Pow(d, "
      "2.0)), 0.00001))); ";
  EXPECT_EQ(types_of("x 2,4,3,3; #g 4,1,1; #b 1,4,1,1", body + "y = Add(Mul(n, g), b)"), "InstanceNormalization");
  EXPECT_EQ(types_of("x 2,4,3,3", body + "y = Mul(n, 2.0)"), "LayerNormalization Mul");
}

TEST(rmsnorm, in_every_form) {
  const std::string sum = "Add(ReduceMean{axes=[-1]}(Pow(x, 2.0)), 0.000001)";
  for (const std::string& whole :
       {"Div(x, Sqrt(" + sum + "))", "Mul(x, Div(1.0, Sqrt(" + sum + ")))", "Mul(Reciprocal(Sqrt(" + sum + ")), x)",
        "Mul(x, Pow(" + sum + ", -0.5))", "Div(x, Pow(" + sum + ", 0.5))"}) {
    EXPECT_EQ(types_of("x 2,3,8", "y = " + whole), "RMSNorm") << whole;
    EXPECT_EQ(types_of("x 2,3,8; #g 8", "y = Mul(g, " + whole + ")"), "RMSNorm") << whole;
  }
  EXPECT_EQ(types_of("x 2,3,8; #g 8", "y = Mul(Div(x, Sqrt(Add(ReduceMean{axes=[1]}(Mul(x, x)), 0.1))), g)"),
            "Mul ReduceMean Add Sqrt Div Mul");
  EXPECT_EQ(types_of("x 2,3,8; z 2,3,8", "y = Div(z, Sqrt(Add(ReduceMean{axes=[-1]}(Mul(x, x)), 0.1)))"),
            "Mul ReduceMean Add Sqrt Div");
}

TEST(rmsnorm, of_half_precision_takes_the_casts_around_it) {
  const std::string body =
      "c = Cast{to=1}(x); n = Mul(c, Div(1.0, Sqrt(Add(ReduceMean{axes=[-1]}(Pow(c, 2.0)), "
      "0.000001)))); y = Mul(g, Cast{to=10}(n))";
  EXPECT_EQ(types_of("x 2,3,8 float16; #g 8 float16", body), "RMSNorm");
}

std::string grouped(const std::string& norm, const std::string& shape = "[2,4,3,3]") {
  return "r = Reshape(x, [0,2,-1]); n = Reshape(" + norm + ", " + shape + "); ";
}

TEST(groupnorm, in_every_form) {
  const std::string instance = "InstanceNormalization(r, one, zero)";
  const std::string means =
      "Div(Sub(r, ReduceMean{axes=[-1]}(r)), Sqrt(Add(ReduceMean{axes=[-1]}(Pow(Sub(r, "
      "ReduceMean{axes=[-1]}(r)), 2.0)), 0.00001)))";
  const std::string ones = "; #g 4,1,1; #b 4,1,1; #h 1,4,1,1", units = "one = Sub(2.0, 1.0); ";
  for (const std::string& norm : {means}) {
    EXPECT_EQ(types_of("x 2,4,3,3" + ones, grouped(norm) + "y = Add(Mul(n, g), b)"), "GroupNorm");
    EXPECT_EQ(types_of("x 2,4,3,3" + ones, grouped(norm) + "y = Add(b, Mul(h, n))"), "GroupNorm");
    EXPECT_EQ(types_of("x 2,4,3,3" + ones, grouped(norm) + "y = Mul(n, g)"), "GroupNorm");
    EXPECT_EQ(types_of("x 2,4,3,3" + ones, grouped(norm) + "y = Add(n, b)"), "GroupNorm");
    EXPECT_EQ(types_of("x 2,4,3,3", grouped(norm) + "y = Relu(n)"), "GroupNorm Relu");
    EXPECT_EQ(types_of("x 2,4,9; #g 4,1; #b 4,1", grouped(norm, "[2,4,9]") + "y = Add(Mul(n, g), b)"), "GroupNorm");
    EXPECT_EQ(types_of("x 2,4,3,3; #g 3; #b 4,1,1", grouped(norm) + "y = Add(Mul(n, g), b)"), "GroupNorm Mul Add");
  }
  const std::string filled = "one = Expand(1.0, [2]); zero = Expand(0.0, [2]); ";
  EXPECT_EQ(types_of("x 2,4,3,3" + ones, filled + grouped(instance) + "y = Add(Mul(n, g), b)"), "GroupNorm");
  EXPECT_EQ(types_of("x 2,4,3,3" + ones, "one = Expand(2.0, [2]); zero = Expand(0.0, [2]); " + grouped(instance) +
                                             "y = Add(Mul(n, g), b)"),
            "Reshape InstanceNormalization Reshape Mul Add");
}

TEST(groupnorm, of_half_precision_takes_the_casts_around_it) {
  const std::string body =
      "one = Expand(1.0, [2]); zero = Expand(0.0, [2]); r = Reshape(Cast{to=1}(x), [0,2,-1]); n = "
      "Reshape(InstanceNormalization(r, one, zero), [2,4,3,3]); y = Relu(Cast{to=10}(Add(Mul(n, "
      "g), b)))";
  EXPECT_EQ(types_of("x 2,4,3,3 float16; #g 4,1,1; #b 4,1,1", body), "GroupNorm Relu");
}

}  // namespace
}  // namespace sdip
