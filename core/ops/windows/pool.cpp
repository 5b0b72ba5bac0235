// Pooling over windows, and over whole planes; and MaxUnpool, which undoes it.
#include <cmath>
#include <limits>

#include "core/base/element_codes.h"
#include "core/ops/families.h"
#include "core/ops/windows/window.h"

namespace sdip {
namespace {

Window pool_window(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  if (x.size() < 3) refuse(use, "shape_mismatch", "input " + shape_text(x) + " must have rank 3 or more");
  const std::vector<std::int64_t> in(x.begin() + 2, x.end());
  if (!use.type.starts_with("Global")) return window_of(use, in, ints_attribute(use, "kernel_shape", {}));
  if (element_count(in) == 0) refuse(use, "shape_mismatch", "input " + shape_text(x) + " has nothing to pool");
  Window window;
  window.in = window.kernel = in;
  window.strides = window.dilations = window.out = std::vector<std::int64_t>(in.size(), 1);
  window.pads_begin = window.pads_end = std::vector<std::int64_t>(in.size(), 0);
  return window;
}

std::vector<Operand> infer_pool(const OperatorUse& use) {
  const Operand& x = input(use, 0);
  const Window window = pool_window(use);
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  if (use.type != "MaxPool") return {typed(x.type, shape)};
  return {typed(x.type, shape), typed(ElementType::int64, shape)};
}

/// Each result looks at a whole window: [1,64,56,56] by 3x3 is 200,704 x 9 elements. Perhaps only where the
/// greatest were is used.
Work pool_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Shape touched = pool_window(use).kernel;
  touched.push_back(element_count(outputs[0].shape));
  return vector_work(use, outputs.first(1), element_count(touched), {element_count(touched)});
}

/// Calls `then(number, plane, taps, position)` for each result: its number, the first element of its input plane,
/// and what lies under its window.
template <class Then>
void for_each_window(const OperatorUse& use, const Window& window, Then then) {
  const std::int64_t planes = element_count({input(use, 0).shape[0], input(use, 0).shape[1]});
  if (planes == 0) return;
  const std::int64_t outs = element_count(window.out), ins = element_count(window.in);
  for_each_position(window, [&](std::int64_t number, const auto& taps, const auto& position) {
    for (std::int64_t plane = 0; plane < planes; ++plane)
      then(as_size(plane * outs + number), plane * ins, taps, position);
  });
}

std::vector<double> results_for(const Operand& output) {
  return std::vector<double>(as_size(element_count(output.shape)), 0.0);
}

/// The mean of what lies in the input, or in the padded input (count_include_pad).
void compute_average(const OperatorUse& use, std::span<Operand> outputs) {
  const Window window = pool_window(use);
  const bool padded = int_attribute(use, "count_include_pad", 0) != 0;
  const List<double> x = doubles_of(use, 0);
  std::vector<double> y = results_for(outputs[0]);
  for_each_window(use, window, [&](std::size_t i, std::int64_t plane, const auto& taps, const auto& position) {
    const std::int64_t count = padded ? padded_taps_at(window, position) : std::ssize(taps);
    for (const Tap& tap : taps) y[i] += x[plane + tap.input];
    if (count > 0) y[i] /= static_cast<double>(count);
  });
  set_doubles(outputs[0], y);
}

/// p-th root of the sum of p-th powers.
void compute_lp(const OperatorUse& use, std::span<Operand> outputs) {
  const auto p = static_cast<double>(int_attribute(use, "p", 2));
  const List<double> x = doubles_of(use, 0);
  std::vector<double> y = results_for(outputs[0]);
  for_each_window(use, pool_window(use), [&](std::size_t i, std::int64_t plane, const auto& taps, const auto&) {
    for (const Tap& tap : taps) y[i] += std::pow(std::fabs(x[plane + tap.input]), p);
    y[i] = std::pow(y[i], 1 / p);
  });
  set_doubles(outputs[0], y);
}

double least_of(ElementType type) {
  if (is_floating(type)) return -std::numeric_limits<double>::infinity();
  return is_signed(type) ? -std::ldexp(1.0, static_cast<int>(bits_of(type)) - 1) : 0.0;
}

/// The number of an element of a plane when the first axis runs fastest: 1 of [2,3] (row 0, column 1) is 2.
std::int64_t column_major(std::int64_t element, const Shape& plane) {
  std::vector<std::int64_t> index(plane.size(), 0);
  for (std::size_t axis = plane.size(); axis-- > 0; element /= plane[axis]) index[axis] = element % plane[axis];
  std::int64_t number = 0;
  for (std::size_t axis = plane.size(); axis-- > 0;) number = number * plane[axis] + index[axis];
  return number;
}

/// The greatest, and where it was first met: its number in the whole input. Plain comparisons in doubles are exact
/// for the types that ONNX has here.
void compute_max(const OperatorUse& use, std::span<Operand> outputs) {
  const Window window = pool_window(use);
  const bool columns = int_attribute(use, "storage_order", 0) != 0;
  const List<double> x = doubles_of(use, 0);
  std::vector<double> y = results_for(outputs[0]), where = y;
  for_each_window(use, window, [&](std::size_t i, std::int64_t plane, const auto& taps, const auto&) {
    y[i] = least_of(outputs[0].type);
    std::int64_t best = taps.empty() ? 0 : taps[0].input;
    for (const Tap& tap : taps) {
      const double value = x[plane + tap.input];
      if (value > y[i]) y[i] = value, best = tap.input;
    }
    where[i] = static_cast<double>(plane + (columns ? column_major(best, window.in) : best));
  });
  set_doubles(outputs[0], y);
  if (outputs.size() > 1) set_doubles(outputs[1], where);
}

/// MaxUnpool: the greatest of each window put back where MaxPool found it.
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
    if (x[i + 2] < 1 || __builtin_mul_overflow(x[i + 2] - 1, strides[i], &steps) || steps > most_window_size) {
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
    if (size < 0 || size > most_window_size)
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
  const std::vector<double> x = doubles_of(use, 0), indices = doubles_of(use, 1);
  const std::int64_t count = element_count(outputs[0].shape);
  List<double> y(as_size(count), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(indices[i] >= 0 && indices[i] < static_cast<double>(count))) {
      refuse(use, "shape_mismatch", "an index lies outside the result " + shape_text(outputs[0].shape));
    }
    y[static_cast<std::size_t>(indices[i])] = x[i];
  }
  set_doubles(outputs[0], y);
}

constexpr Operator pool_operators[] = {
    {"", "AveragePool", "average_pool", 1, 1,
     "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides", infer_pool, pool_work,
     compute_average, "7 10 11 19 22"},
    {"", "GlobalAveragePool", "average_pool", 1, 1, "", infer_pool, pool_work, compute_average, "7 22"},
    {"", "GlobalLpPool", "lp_pool", 1, 1, "p", infer_pool, pool_work, compute_lp, "7 22"},
    {"", "GlobalMaxPool", "max_pool", 1, 1, "", infer_pool, pool_work, compute_max, "7 22"},
    {"", "LpPool", "lp_pool", 1, 1, "auto_pad ceil_mode dilations kernel_shape p pads strides", infer_pool,
     pool_work, compute_lp, "7 11 18 22"},
    {"", "MaxPool", "max_pool", 1, 1, "auto_pad ceil_mode dilations kernel_shape pads storage_order strides",
     infer_pool, pool_work, compute_max, "7 8 10 11 12 22"},
    {"", "MaxUnpool", "max_unpool", 2, 3, "kernel_shape pads strides", infer_unpool, unpool_work, compute_unpool,
     "9 11 22"},
};

}  // namespace

std::span<const Operator> pool_rows() { return pool_operators; }

}  // namespace sdip
