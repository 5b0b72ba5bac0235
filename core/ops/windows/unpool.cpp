// MaxUnpool: the greatest of each window put back where MaxPool found it.
#include "core/ops/arithmetic.h"
#include "core/ops/families.h"
#include "core/ops/windows/window.h"

namespace sdip {
namespace {

constexpr std::int64_t most_unpooled_size = std::int64_t{1} << 40;  // of any size

/// By output_shape, or (size - 1) * stride + kernel without the pads.
Shape unpooled_shape(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  if (x.size() < 3) refuse(use, "shape_mismatch", "input " + shape_text(x) + " must have rank 3 or more");
  const std::size_t rank = x.size() - 2;
  const auto kernel = window_sizes(use, "kernel_shape", rank, 1, 1),
             strides = window_sizes(use, "strides", rank, 1, 1), pads = window_sizes(use, "pads", 2 * rank, 0, 0);
  Shape shape = {x[0], x[1]};
  for (std::size_t i = 0; i < rank; ++i) {
    std::int64_t steps = 0;
    if (x[i + 2] < 1 || __builtin_mul_overflow(x[i + 2] - 1, strides[i], &steps) || steps > most_unpooled_size) {
      refuse(use, "shape_mismatch", "sizes or strides are out of range");
    }
    shape.push_back(steps + kernel[i] - pads[i] - pads[rank + i]);
  }
  if (optional_input(use, 2) != nullptr) {
    const auto given = ints_of_input(use, 2);
    if (given.size() != x.size()) refuse(use, "shape_mismatch", "output_shape " + shape_text(given));
    shape = given;
  }
  for (std::int64_t size : shape) {
    if (size < 0 || size > most_unpooled_size)
      refuse(use, "shape_mismatch", "the result would be " + shape_text(shape));
  }
  return shape;
}

std::vector<Operand> infer_unpool(const OperatorUse& use) {
  require_shape(use, 1, input(use, 0).shape);
  return {typed(input(use, 0).type, unpooled_shape(use))};
}

/// Each element is written where its index says, all others as 0.
Work unpool_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const std::int64_t given = element_count(input(use, 0).shape);
  return vector_work(use, outputs, element_count(outputs[0].shape), {given, given});
}

/// Indices are numbers of elements of the whole result, as MaxPool gives them for its input.
void compute_unpool(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<double> x = numbers_of(use, 0), indices = numbers_of(use, 1);
  const std::int64_t count = element_count(outputs[0].shape);
  List<double> y(as_size(count), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(indices[i] >= 0 && indices[i] < static_cast<double>(count))) {
      refuse(use, "shape_mismatch", "an index lies outside the result " + shape_text(outputs[0].shape));
    }
    y[static_cast<std::size_t>(indices[i])] = x[i];
  }
  set_numbers(outputs[0], y);
}

constexpr Operator unpool_operators[] = {
    {"", "MaxUnpool", "max_unpool", 2, 3, "kernel_shape pads strides", infer_unpool, unpool_work, compute_unpool,
     "9 11 22"},
};

}  // namespace

std::span<const Operator> unpool_rows() { return unpool_operators; }

}  // namespace sdip
