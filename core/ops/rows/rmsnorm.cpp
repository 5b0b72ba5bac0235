// RMS norm, which rewrites make: y = x / sqrt(E[x^2] + epsilon) * gamma over the axes from `axis` on. Of [3, 4]
// with epsilon 0 and gamma 1: E[x^2] = 12.5, y = [0.8485, 1.1314].
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

std::vector<Operand> infer_rmsnorm(const OperatorUse& use) {
  if (!is_floating(input(use, 0).type)) refuse(use, "shape_mismatch", "the input must be of a float type");
  const Operand y = like_first(use);
  const std::int64_t length = count_between(y.shape, axis_attribute(use, -1), y.shape.size());
  const Operand* gamma = optional_input(use, 1);
  if (gamma != nullptr && (element_count(gamma->shape) != length || !is_floating(gamma->type))) {
    refuse(use, "shape_mismatch", fmt::format("gamma {} must have {} floats", shape_text(gamma->shape), length));
  }
  return {y};
}

/// Two passes: the sum of squares, then the result. gamma is fetched once.
Work rmsnorm_work(const OperatorUse& use, std::span<const Operand>) {
  const Shape& x = input(use, 0).shape;
  const std::int64_t rows = count_between(x, 0, axis_attribute(use, -1));
  return row_work(use, Family::norm, rows, rows == 0 ? 0 : element_count(x) / rows, 2);
}

void compute_rmsnorm(const OperatorUse& use, std::span<Operand> outputs) {
  const Operand& x = input(use, 0);
  const Operand* gamma = optional_input(use, 1);
  const double epsilon = float_attribute(use, "epsilon", 1e-5);
  Tensor y = zero_tensor(x.type, x.shape);
  const auto length = as_size(count_between(x.shape, axis_attribute(use, -1), x.shape.size()));
  for (std::size_t row = 0; row < y.floats.size(); row += length) {
    double squares = 0;
    for (std::size_t i = 0; i < length; ++i) squares += x.value->floats[row + i] * x.value->floats[row + i];
    const double root = std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (std::size_t i = 0; i < length; ++i) {
      const double scale = gamma == nullptr ? 1.0 : gamma->value->floats[i];
      y.floats[row + i] = rounded(x.type, x.value->floats[row + i] / root * scale);
    }
  }
  outputs[0].value = std::move(y);
}

constexpr Operator rmsnorm_operators[] = {
    {"sdip", "RMSNorm", "rmsnorm", 1, 2, "axis epsilon", infer_rmsnorm, rmsnorm_work, compute_rmsnorm, "1"},
};

}  // namespace

std::span<const Operator> rmsnorm_rows() { return rmsnorm_operators; }

}  // namespace sdip
