// Every form of an activation that is recognised computes what it computed before; near misses stay.
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

struct Form {
  std::string body, types;
  std::int64_t opset = 17;
};

void check_forms(const std::string& values, const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    EXPECT_EQ(rewritten_equal(values, form.body, form.opset).types(), form.types) << form.body;
  }
}

TEST(silu, in_either_order_and_with_the_sigmoid_written_out) {
  check_forms("x 2,8", {{"y = Mul(x, Sigmoid(x))", "Silu"},
                        {"y = Mul(Sigmoid(x), x)", "Silu"},
                        {"y = Mul(x, Div(1.0, Add(1.0, Exp(Neg(x)))))", "Silu"},
                        {"y = Mul(Reciprocal(Add(Exp(Neg(x)), 1.0)), x)", "Silu"},
                        {"y = Div(x, Add(Exp(Neg(x)), 1.0))", "Silu"}});
}

TEST(silu, is_not_a_gate_nor_one_whose_sigmoid_is_used_again) {
  check_forms("x 2,8; z 2,8", {{"y = Mul(z, Sigmoid(x))", "Sigmoid Mul"},
                               {"s = Sigmoid(x); y = Add(s, Mul(x, s))", "Sigmoid Mul Add"},
                               {"y = Div(x, Add(Exp(Neg(z)), 1.0))", "Neg Exp Add Div"},
                               {"y = Div(x, Add(Exp(Neg(x)), 2.0))", "Neg Exp Add Div"}});
}

TEST(quick_gelu, has_its_factor_on_either_side_or_divides) {
  check_forms("x 2,8", {{"y = Mul(x, Sigmoid(Mul(x, 1.702)))", "QuickGelu"},
                        {"y = Mul(Sigmoid(Mul(1.702, x)), x)", "QuickGelu"},
                        {"y = Mul(Sigmoid(Div(x, 0.5875)), x)", "QuickGelu"}});
  check_forms("x 2,8; z 2,8", {{"y = Mul(z, Sigmoid(Mul(x, 1.702)))", "Mul Sigmoid Mul"}});
  check_forms("x 8; #c 2,8", {{"y = Mul(x, Sigmoid(Mul(x, c)))", "Mul Sigmoid Mul"}});
}

TEST(hard_swish, is_a_hard_sigmoid_of_a_sixth_or_a_clip) {
  check_forms("x 2,8", {{"y = Mul(x, HardSigmoid{alpha=0.16666667, beta=0.5}(x))", "HardSwish"},
                        {"y = Mul(HardSigmoid{alpha=0.16666667, beta=0.5}(x), x)", "HardSwish"},
                        {"y = Div(Mul(x, Clip(Add(x, 3.0), 0.0, 6.0)), 6.0)", "HardSwish"},
                        {"y = Mul(x, Div(Clip(Add(x, 3.0), 0.0, 6.0), 6.0))", "HardSwish"},
                        {"y = Mul(x, HardSigmoid(x))", "HardSigmoid Mul"}});
}

TEST(mish, is_x_times_tanh_of_softplus) {
  check_forms("x 2,8; z 2,8", {{"y = Mul(x, Tanh(Softplus(x)))", "Mish"},
                               {"y = Mul(Tanh(Log(Add(Exp(x), 1.0))), x)", "Mish"},
                               {"y = Mul(z, Tanh(Softplus(x)))", "Softplus Tanh Mul"}});
}

TEST(gelu, by_erf_in_every_form) {
  const std::string erf = "Erf(Div(x, 1.41421354))", by_mul = "Erf(Mul(x, 0.70710677))";
  std::vector<Form> forms;
  for (const std::string& e : {erf, by_mul}) {
    forms.push_back({"y = Mul(Mul(x, Add(" + e + ", 1.0)), 0.5)", "Gelu"});
    forms.push_back({"y = Mul(0.5, Mul(x, Add(1.0, " + e + ")))", "Gelu"});
    forms.push_back({"y = Mul(Mul(x, 0.5), Add(" + e + ", 1.0))", "Gelu"});
    forms.push_back({"y = Mul(Mul(0.5, x), Add(1.0, " + e + "))", "Gelu"});
    forms.push_back({"y = Mul(x, Mul(0.5, Add(1.0, " + e + ")))", "Gelu"});
    forms.push_back({"y = Mul(x, Add(0.5, Mul(0.5, " + e + ")))", "Gelu"});
    forms.push_back({"y = Div(Mul(x, Add(" + e + ", 1.0)), 2.0)", "Gelu"});
  }
  check_forms("x 2,8", forms);
  check_forms("x 2,8 float16", {{"y = Mul(Mul(x, Add(Erf(Div(x, 1.4142135h)), 1.0h)), 0.5h)", "Gelu"}});
}

TEST(gelu, by_erf_with_another_constant_operand_or_use_stays) {
  check_forms("x 2,8; z 2,8", {{"y = Mul(Mul(x, Add(Erf(Div(x, 1.4)), 1.0)), 0.5)", "Div Erf Add Mul Mul"},
                               {"y = Mul(Mul(x, Add(Erf(Div(x, 1.41421354)), 1.0)), 0.25)", "Div Erf Add Mul Mul"},
                               {"y = Mul(Mul(x, Add(Erf(Div(z, 1.41421354)), 1.0)), 0.5)", "Div Erf Add Mul Mul"},
                               {"y = Mul(x, Add(Erf(Div(x, 1.41421354)), 1.0))", "Div Erf Add Mul"},
                               {"e = Erf(Div(x, 1.41421354)); y = Add(e, Mul(Mul(x, Add(e, 1.0)), 0.5))",
                                "Div Erf Add Mul Mul Add"}});
}

TEST(gelu, by_tanh_in_every_form) {
  std::vector<Form> forms;
  for (const std::string cube : {"Pow(x, 3.0)", "Mul(x, Mul(x, x))", "Mul(Mul(x, x), x)", "Mul(Pow(x, 2.0), x)"}) {
    for (const std::string& inner : {"Mul(Add(x, Mul(" + cube + ", 0.044715)), 0.7978845608)",
                                     "Mul(0.7978845608, Add(Mul(0.044715, " + cube + "), x))"}) {
      forms.push_back({"y = Mul(Mul(x, Add(Tanh(" + inner + "), 1.0)), 0.5)", "Gelu"});
      forms.push_back({"y = Mul(Mul(0.5, x), Add(1.0, Tanh(" + inner + ")))", "Gelu"});
    }
  }
  const std::string tail = ", 1.0)), 0.5)";
  for (const std::string inner : {"Mul(Mul(x, 0.7978845608), Add(1.0, Mul(Mul(0.044715, x), x)))",
                                  "Mul(x, Mul(0.7978845608, Add(1.0, Mul(0.044715, Mul(x, x)))))",
                                  "Mul(x, Add(0.7978845608, Mul(0.035677408136, Mul(x, x))))",
                                  "Mul(0.7978845608, Add(x, Mul(x, Mul(x, Mul(x, 0.044715)))))"}) {
    forms.push_back({"y = Mul(Mul(x, Add(Tanh(" + inner + ")" + tail, "Gelu"});
  }
  forms.push_back({"y = Mul(x, Sigmoid(Mul(1.5957691216, Add(x, Mul(0.044715, Pow(x, 3.0))))))", "Gelu"});
  check_forms("x 2,8", forms);
  check_forms("x 2,8 float16",
              {{"y = Mul(Mul(x, Add(Tanh(Mul(Add(x, Mul(Mul(x, Mul(x, x)), 0.044715h)), 0.79788h)), 1.0h)), 0.5h)",
                "Gelu"}});
}

TEST(gelu, by_tanh_with_another_constant_or_power_stays) {
  check_forms("x 2,8",
              {{"y = Mul(Mul(x, Add(Tanh(Mul(Add(x, Mul(Pow(x, 3.0), 0.05)), 0.7978845608)), 1.0)), 0.5)",
                "Pow Mul Add Mul Tanh Add Mul Mul"},
               {"y = Mul(Mul(x, Add(Tanh(Mul(Add(x, Mul(Pow(x, 2.0), 0.044715)), 0.7978845608)), 1.0)), 0.5)",
                "Pow Mul Add Mul Tanh Add Mul Mul"}});
}

TEST(geglu, is_counted_when_value_and_gate_are_halves_of_one) {
  const std::string gelu = "Mul(Mul(g, Add(Erf(Div(g, 1.41421354)), 1.0)), 0.5)";
  Rewritten found = rewritten_equal("x 2,8", "a, g = Split{axis=1}(x); y = Mul(a, " + gelu + ")");
  EXPECT_EQ(found.counts["geglu"], 1);
  EXPECT_EQ(found.types(), "Split Gelu Mul");
  found = rewritten_equal("x 2,8", "a = Slice(x,[0],[4],[1]); g = Slice(x,[4],[8],[1]); y = Mul(" + gelu + ", a)");
  EXPECT_EQ(found.counts["geglu"], 1);
  found = rewritten_equal("g 2,8; a 2,8", "y = Mul(a, " + gelu + ")");
  EXPECT_EQ(found.counts["geglu"], 0);
}

TEST(softmax, written_out_is_one) {
  const std::string e = "e = Exp(Sub(x, ReduceMax{axes=[-1]}(x))); ";
  check_forms("x 2,3,8", {{e + "y = Div(e, ReduceSum(e, [-1]))", "Softmax"},
                          {e + "y = Mul(e, Reciprocal(ReduceSum(e, [2])))", "Softmax"},
                          {e + "y = Div(e, ReduceSum(e, [1]))", "ReduceMax Sub Exp ReduceSum Div"},
                          {e + "y = Add(e, Div(e, ReduceSum(e, [2])))", "ReduceMax Sub Exp ReduceSum Div Add"}});
}

}  // namespace
}  // namespace sdip
