// The scores of attention, which rewrites make: scale * q k^T. q [2,8,64,40] and k [2,8,77,40] with trans_b 1 make
// [2,8,64,77]; the scale is one multiplication of each result as it leaves the array, no pass of its own.
#include "core/ops/arithmetic.h"
#include "core/ops/families.h"

namespace sdip {
namespace {

struct Product {
  Shape batch;
  std::int64_t m = 1, n = 1, k = 1;
  bool transposed = false;
};

Product score_product(const OperatorUse& use) {
  const Shape &q = input(use, 0).shape, &k = input(use, 1).shape;
  Product p;
  p.transposed = int_attribute(use, "trans_b", 0) != 0;
  if (!is_floating(input(use, 0).type) || !is_floating(input(use, 1).type))
    refuse(use, "shape_mismatch", "operands must be floats");
  if (q.size() < 2 || k.size() < 2) refuse(use, "shape_mismatch", "operands must be matrices");
  const std::int64_t rows = k[k.size() - 2], columns = k.back();
  p.m = q[q.size() - 2];
  p.k = q.back();
  p.n = p.transposed ? rows : columns;
  if (p.k != (p.transposed ? columns : rows)) {
    refuse(use, "shape_mismatch",
           "operands " + shape_text(q) + " and " + shape_text(k) + " do not agree in the dimension summed over");
  }
  p.batch = broadcast(use, Shape(q.begin(), q.end() - 2), Shape(k.begin(), k.end() - 2));
  return p;
}

std::vector<Operand> infer_scores(const OperatorUse& use) {
  const Product p = score_product(use);
  Operand out = typed(input(use, 0).type, p.batch);
  out.shape.push_back(p.m);
  out.shape.push_back(p.n);
  return {out};
}

Work scores_work(const OperatorUse& use, std::span<const Operand>) {
  const Product p = score_product(use);
  Work work;
  work.family = Family::matmul;
  work.nest.groups = element_count(p.batch);
  work.nest.out_h = work.nest.in_h = p.m;
  work.nest.out_channels = p.n;
  work.nest.in_channels = p.k;
  return work;
}

void compute_scores(const OperatorUse& use, std::span<Operand> outputs) {
  const Product p = score_product(use);
  const double scale = float_attribute(use, "scale", 1.0);
  const auto full = [&](const Operand& operand) {
    Shape shape = p.batch;
    shape.insert(shape.end(), operand.shape.end() - 2, operand.shape.end());
    return broadcast_numbers(operand.value->floats, operand.shape, shape);
  };
  const std::vector<double> q = full(input(use, 0)), k = full(input(use, 1));
  Tensor out = zero_tensor(outputs[0].type, outputs[0].shape);
  const auto rows = as_size(p.m), columns = as_size(p.n), depth = as_size(p.k);
  for (std::size_t i = 0; i < out.floats.size(); ++i) {
    const std::size_t column = i % columns, row = i / columns, matrix = row / rows;
    double sum = 0;
    for (std::size_t j = 0; j < depth; ++j) {
      const std::size_t at =
          p.transposed ? (matrix * columns + column) * depth + j : (matrix * depth + j) * columns + column;
      sum += q[row * depth + j] * k[at];
    }
    out.floats[i] = rounded(out.type, scale * sum);
  }
  outputs[0].value = std::move(out);
}

constexpr Operator scores_operators[] = {
    {"sdip", "Scores", "matmul", 2, 2, "scale trans_b", infer_scores, scores_work, compute_scores, "1"},
};

}  // namespace

std::span<const Operator> scores_rows() { return scores_operators; }

}  // namespace sdip
