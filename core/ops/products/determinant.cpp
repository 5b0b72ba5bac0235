// Det: determinants of square matrices.
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::vector<Operand> infer_det(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  if (x.size() < 2 || x[x.size() - 1] != x[x.size() - 2]) {
    refuse(use, "shape_mismatch", "input " + shape_text(x) + " must end in a square matrix");
  }
  return {typed(input(use, 0).type, Shape(x.begin(), x.end() - 2))};
}

/// Elimination goes once over the matrix for each of its rows.
Work det_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = first_input_work(use, outputs);
  work.passes = input(use, 0).shape.back();
  work.read_elements[0] = element_count({work.row_length, work.passes});
  return work;
}

/// By elimination, each column's largest element first: [[0,2],[3,4]] swaps its rows and gives -6.
double determinant(double* matrix, std::size_t n) {
  double product = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t largest = c;
    for (std::size_t r = c + 1; r < n; ++r) {
      if (std::fabs(matrix[r * n + c]) > std::fabs(matrix[largest * n + c])) largest = r;
    }
    if (matrix[largest * n + c] == 0) return 0;
    if (largest != c) {
      for (std::size_t i = 0; i < n; ++i) std::swap(matrix[c * n + i], matrix[largest * n + i]);
      product = -product;
    }
    product *= matrix[c * n + c];
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = matrix[r * n + c] / matrix[c * n + c];
      for (std::size_t i = c; i < n; ++i) matrix[r * n + i] -= factor * matrix[c * n + i];
    }
  }
  return product;
}

void compute_det(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = doubles_of(use, 0), y;
  const auto n = as_size(input(use, 0).shape.back());
  for (std::int64_t i = 0; i < element_count(outputs[0].shape); ++i) {
    y.push_back(determinant(x.data() + as_size(i) * n * n, n));
  }
  set_doubles(outputs[0], y);
}

constexpr Operator determinant_operators[] = {
    {"", "Det", "det", 1, 1, "", infer_det, det_work, compute_det, "11 22"},
};

}  // namespace

std::span<const Operator> determinant_rows() { return determinant_operators; }

}  // namespace sdip
