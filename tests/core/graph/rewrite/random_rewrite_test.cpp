// Random graphs of the pieces that patterns are made of: whatever is found, results stay what they were.
#include <random>

#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

/// A body of `count` nodes on values of shape [2,4]; each takes earlier values, so that patterns overlap and share.
std::string random_body(std::minstd_rand& random, int count) {
  std::vector<std::string> values = {"x", "z"};
  const auto any = [&] { return values[values.size() - 1 - random() % std::min<std::size_t>(values.size(), 4)]; };
  const std::vector<std::string> pieces = {
      "Mul(A, Sigmoid(A))",
      "Sigmoid(A)",
      "Mul(A, B)",
      "Add(A, B)",
      "Mul(A, 0.5)",
      "Add(A, 1.0)",
      "Tanh(A)",
      "Sub(A, ReduceMean{axes=[-1]}(A))",
      "Div(A, 1.41421354)",
      "Erf(A)",
      "Identity(A)",
      "Mul(A, 1.0)",
      "Add(A, 0.0)",
      "Transpose{perm=[0,1]}(A)",
      "Softmax(A)",
      "MatMul(A, w)",
      "Add(MatMul(A, w), b)",
      "Div(A, 2.0)",
      "MatMul(Softmax(Mul(MatMul(A, Transpose{perm=[1,0]}(B)), 0.3)), B)",
      "Mul(Mul(A, Add(Erf(Div(A, 1.41421354)), 1.0)), 0.5)",
      "Div(Sub(A, ReduceMean{axes=[-1]}(A)), Sqrt(Add(ReduceMean{axes=[-1]}(Pow(Sub(A, ReduceMean{axes=[-1]}(A)), "
      "2.0)), 0.01)))",
      "Div(A, Sqrt(Add(ReduceMean{axes=[-1]}(Mul(A, A)), 0.01)))",
      "Reshape(Reshape(A, [4,2]), [2,4])",
      "Einsum{equation='ij,jk->ik'}(A, w)",
      "Mul(A, Sigmoid(Mul(A, 1.702)))",
      "Cast{to=1}(Cast{to=11}(A))"};
  std::string body;
  for (int i = 0; i < count; ++i) {
    std::string piece = pieces[random() % pieces.size()];
    const std::string a = any(), b = any();
    std::string text;
    for (std::size_t c = 0; c < piece.size(); ++c) {
      const bool alone = (c + 1 == piece.size() || std::isalpha(static_cast<unsigned char>(piece[c + 1])) == 0) &&
                         (c == 0 || std::isalpha(static_cast<unsigned char>(piece[c - 1])) == 0);
      text += alone && piece[c] == 'A' ? a : alone && piece[c] == 'B' ? b : std::string(1, piece[c]);
    }
    values.push_back("h" + std::to_string(i));
    body += values.back() + " = " + text + "; ";
  }
  return body + "y = Add(" + values.back() + ", " + values[values.size() - 3] + ")";
}

TEST(rewrite, of_random_graphs_keeps_results) {
  std::minstd_rand random(11);
  std::map<std::string, std::int64_t> found;
  for (int i = 0; i < 400; ++i) {
    const std::string body = random_body(random, 4 + i % 12);
    for (const auto& [name, count] : rewritten_equal("x 2,4; z 2,4; #w 4,4; #b 4", body, 14).counts)
      found[name] += count;
    if (testing::Test::HasFatalFailure()) return;
  }
  for (const char* name :
       {"no_op", "einsum", "layernorm", "rmsnorm", "gelu", "quick_gelu", "silu", "scores", "linear"})
    EXPECT_GT(found[name], 0) << name;
}

}  // namespace
}  // namespace sdip
