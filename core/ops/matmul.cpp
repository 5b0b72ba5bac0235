// Matrix products. A product with a weight is family linear, one of two activations family matmul.
#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// M x K by K x N for each of `batch` broadcast matrices.
struct Product {
  Shape batch;  // of the output
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t batch_a = 1, batch_b = 1;  // matrices in each operand
};

Product product_of(const OperatorUse& use, const Shape& a, const Shape& b, bool trans_a, bool trans_b) {
  if (a.empty() || b.empty()) refuse(use, "shape_mismatch", "an operand of a matrix product is a scalar");
  Product p;
  const std::size_t last_a = a.size() - 1, last_b = b.size() - 1;
  std::int64_t k_b = b[last_b];
  p.k = a[last_a];
  if (a.size() > 1) {
    p.m = a[last_a - 1];
    if (trans_a) std::swap(p.m, p.k);
  }
  if (b.size() > 1) {
    p.n = b[last_b];
    k_b = b[last_b - 1];
    if (trans_b) std::swap(p.n, k_b);
  }
  if (p.k != k_b) {
    refuse(use, "shape_mismatch",
           "operands " + shape_text(a) + " and " + shape_text(b) + " do not agree in the dimension summed over");
  }
  const Shape leading_a(a.begin(), a.end() - std::min<std::ptrdiff_t>(2, std::ssize(a)));
  const Shape leading_b(b.begin(), b.end() - std::min<std::ptrdiff_t>(2, std::ssize(b)));
  p.batch = broadcast(use, leading_a, leading_b);
  p.batch_a = element_count(leading_a);
  p.batch_b = element_count(leading_b);
  return p;
}

Product product_of(const OperatorUse& use) {
  return product_of(use, input(use, 0).shape, input(use, 1).shape, int_attribute(use, "transA", 0) != 0,
                    int_attribute(use, "transB", 0) != 0 || int_attribute(use, "trans_b", 0) != 0);
}

std::vector<Operand> infer_matmul(const OperatorUse& use) {
  const Product p = product_of(use);
  Operand out;
  out.type = input(use, 0).type;
  out.shape = p.batch;
  if (input(use, 0).shape.size() > 1) out.shape.push_back(p.m);
  if (input(use, 1).shape.size() > 1) out.shape.push_back(p.n);
  return {out};
}

void require_bias(const OperatorUse& use, const Shape& out) {
  const Operand* bias = optional_input(use, 2);
  if (bias != nullptr && broadcast(use, bias->shape, out) != out) {
    refuse(use, "shape_mismatch",
           "bias " + shape_text(bias->shape) + " does not fit the result " + shape_text(out));
  }
}

std::vector<Operand> infer_gemm(const OperatorUse& use) {
  if (input(use, 0).shape.size() != 2 || input(use, 1).shape.size() != 2) {
    refuse(use, "shape_mismatch",
           "operands of Gemm must be matrices, but are " + shape_text(input(use, 0).shape) + " and " +
               shape_text(input(use, 1).shape));
  }
  std::vector<Operand> outputs = infer_matmul(use);
  require_bias(use, outputs[0].shape);
  return outputs;
}

std::vector<Operand> infer_linear(const OperatorUse& use) {
  const std::size_t rank = input(use, 1).shape.size();
  if (use.type == "Linear" ? rank != 2 : rank < 3) {
    refuse(use, "shape_mismatch", "a weight of shape " + shape_text(input(use, 1).shape));
  }
  std::vector<Operand> outputs = infer_matmul(use);
  require_bias(use, outputs[0].shape);
  return outputs;
}

/// The second operand a weight: its columns are the output channels, all rows that meet the same matrix are out_h.
/// The first a weight: y^T = x^T W^T, so that its rows are the output channels.
Work product_work(const OperatorUse& use, std::span<const Operand>) {
  const Product p = product_of(use);
  const bool weight_a = input(use, 0).weight, weight_b = input(use, 1).weight;
  const std::int64_t batch = element_count(p.batch);
  Work work;
  work.family = weight_a || weight_b ? Family::linear : Family::matmul;
  LoopNest& nest = work.nest;
  const bool first_is_weight = weight_a && !weight_b;
  const std::int64_t matrices = first_is_weight ? p.batch_a : p.batch_b;
  nest.groups = work.family == Family::linear && matrices == 1 ? 1 : batch;
  nest.out_h = (first_is_weight ? p.n : p.m) * (nest.groups == 1 ? batch : 1);
  nest.out_channels = first_is_weight ? p.m : p.n;
  nest.in_channels = p.k;
  nest.in_h = nest.out_h;
  return work;
}

constexpr Operator rows[] = {
    {"", "Gemm", "linear", 2, 3, "alpha beta transA transB", infer_gemm, product_work},
    {"", "MatMul", "matmul", 2, 2, "", infer_matmul, product_work},
    {"sdip", "Linear", "linear", 2, 3, "trans_b", infer_linear, product_work},
    {"sdip", "LinearBatch", "linear_batch", 2, 3, "", infer_linear, product_work},
};

}  // namespace

std::span<const Operator> matmul_rows() { return rows; }

}  // namespace sdip
