// Products whose first operand is a constant, each way that they are written, in any order of operands.
#include <gmock/gmock.h>

#include "core/graph/graph.h"
#include "tests/core/explore/everywhere.h"
#include "tests/core/graph/text_model.h"

namespace sdip {
namespace {

struct ProductRow {
  std::string name, values, body, rewritten;
};

const std::vector<ProductRow>& product_rows() {
  static const std::vector<ProductRow> all = {
      {"matrix", "#w 3,4; x 4,5", "y = MatMul(w, x)", "Reshape Conv Reshape"},
      {"batch", "#w 3,4; x 2,4,5", "y = Relu(MatMul(w, Relu(x)))", "Relu Conv Relu"},
      {"matrices", "#w 2,3,4; x 2,4,5", "y = MatMul(w, x)", "Reshape Conv Reshape"},
      {"heads", "#w 1,3,4,5; x 2,3,5,6", "y = MatMul(w, x)", "Reshape Conv Reshape"},
      {"broadcast_operand", "#w 2,3,4; x 1,4,5", "y = MatMul(w, x)", "MatMul"},
      {"vector", "#w 4; x 4,5", "y = MatMul(w, x)", "MatMul"},
      {"by_a_vector", "#w 3,4; x 4", "y = MatMul(w, x)", "MatMul"},
      {"half", "#w 3,4 float16; x 2,4,5 float16", "y = Cast{to=1}(MatMul(w, x))", "Conv Cast"},
      {"whole_numbers", "#w 3,4 int32; x 4,5 int32", "y = MatMul(w, x)", "MatMul"},
      {"gemm", "#w 3,4; x 4,5", "y = Gemm(w, x)", "Reshape Conv Reshape"},
      {"gemm_and_bias", "#w 3,4; x 4,5; #b 3,1", "y = Gemm(w, x, b)", "Reshape Conv Reshape"},
      {"gemm_and_bias_a_column", "#w 3,4; x 4,5; #b 5", "y = Gemm{beta=2.0}(w, x, b)", "Gemm"},
      {"gemm_turned", "#w 4,3; x 5,4; c 3,5", "y = Gemm{transA=1, transB=1, alpha=0.5}(w, x, c)", "Gemm"},
      {"einsum", "#w 3,4; x 2,4,5", "y = Einsum{equation='ij,bjd->bid'}(w, x)", "Einsum"},
      {"einsum_as_product", "#w 2,3,4; x 2,4,5", "y = Einsum{equation='bij,bjd->bid'}(w, x)",
       "Reshape Conv Reshape"},
      {"outer", "#w 3; x 5", "y = Einsum{equation='i,j->ij'}(w, x)", "Einsum"},
      {"implicit", "#w 3,4; x 4,5", "y = Einsum{equation='ij, jk'}(w, x)", "Einsum"},
      {"integers", "#w 3,4 uint8; x 4,5 uint8", "y = Cast{to=1}(MatMulInteger(w, x))",
       "Reshape QuantizedConv Reshape Cast"},
      {"integers_less_zero", "#w 3,4 int8; x 2,4,5 uint8; #a 3 int8; #b 1 uint8",
       "y = Cast{to=1}(MatMulInteger(w, x, a, b))", "QuantizedConv Cast"},
      {"quantised", "#w 3,4 uint8; x 4,5 uint8; #z uint8",
       "y = Cast{to=1}(QLinearMatMul(w, 0.02, z, x, 0.03, z, 0.05, z))", "Reshape QuantizedConv Reshape Cast"},
      {"quantised_second", "x 5,3 uint8; #w 3,4 uint8; #z uint8",
       "y = Cast{to=1}(QLinearMatMul(x, 0.02, z, w, 0.03, z, 0.05, z))", "QuantizedMatMul Cast"},
      {"learned_queries", "#q 1,2,3,4; x 2,5,8",
       "k = Transpose{perm=[0,2,1,3]}(Reshape(x, [2,5,2,4])); "
       "y = MatMul(Softmax{axis=3}(Mul(MatMul(q, Transpose{perm=[0,1,3,2]}(k)), 0.5)), k)",
       "Reshape Transpose Transpose Reshape Conv Reshape Mul Softmax MatMul"},
      {"kernel_computed", "#x 1,2,5,5; k 3,2,3,3", "y = Conv(x, Relu(k))", "Relu Conv"},
      {"rotary", "#f 1,4,1; p 1,6 int64",
       "a = Transpose{perm=[0,2,1]}(MatMul(f, Cast{to=1}(Unsqueeze(p, [1])))); e = Concat{axis=2}(a, a); "
       "y = Add(Cos(e), Sin(e))",
       "Unsqueeze Cast Conv Transpose Concat Cos Sin Add"},
      {"rotary_of_a_batch", "#f 1,4,1; p 2,6 int64",
       "a = Transpose{perm=[0,2,1]}(MatMul(Expand(f, [2,4,1]), Cast{to=1}(Unsqueeze(p, [1])))); "
       "e = Concat{axis=2}(a, a); y = Add(Cos(e), Sin(e))",
       "Unsqueeze Cast Reshape Conv Reshape Transpose Concat Cos Sin Add"},
  };
  return all;
}

TEST(constant_first, products_with_it_run_as_they_stand) {
  for (const ProductRow& row : product_rows()) {
    SCOPED_TRACE(row.name);
    expect_same_everywhere(import_model(model_of(row.values, row.body)));
  }
}

TEST(constant_first, products_with_it_run_rewritten_and_what_lies_well_is_exchanged) {
  for (const ProductRow& row : product_rows()) {
    SCOPED_TRACE(row.name);
    const Rewritten rewritten = rewritten_equal(row.values, row.body);
    EXPECT_EQ(rewritten.types(), row.rewritten);
    expect_same_everywhere(rewritten.graph);
  }
}

}  // namespace
}  // namespace sdip
