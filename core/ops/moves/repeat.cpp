// Operators that repeat elements or keep them in place: Expand, Tile, Trilu, OneHot.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::vector<Operand> infer_expand(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const Shape wanted = ints_of_input(use, 1);
  if (std::any_of(wanted.begin(), wanted.end(), [](auto size) { return size < 0; })) {
    refuse(use, "shape_mismatch", "cannot expand to " + shape_text(wanted));
  }
  Operand out = typed(in.type, broadcast(use, in.shape, wanted));
  out.fill = in.fill;
  return {out};
}

void compute_expand(const OperatorUse& use, std::span<Operand> outputs) {
  outputs[0].value = broadcast_elements(value_of(use, 0), outputs[0].shape);
}

std::vector<Operand> infer_tile(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const auto repeats = ints_of_input(use, 1);
  if (repeats.size() != in.shape.size()) refuse(use, "shape_mismatch", "repeats must have one value an axis");
  Operand out = typed(in.type, in.shape);
  out.fill = in.fill;
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0 || __builtin_mul_overflow(out.shape[i], repeats[i], &out.shape[i])) {
      refuse(use, "shape_mismatch", "repeats " + shape_text(repeats) + " of " + shape_text(in.shape));
    }
  }
  return {out};
}

void compute_tile(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const auto strides = strides_of(in.shape);
  const Offsets offsets = offsets_over(
      outputs[0].shape, [&](std::size_t axis, std::int64_t i) { return i % in.shape[axis] * strides[axis]; });
  outputs[0].value = gathered_elements(in, outputs[0].shape, positions(offsets));
}

/// Each element of the input is read once, however often it is written.
Work repeated_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = copy_work(use, outputs);
  work.read_elements[1] = 0;
  return work;
}

/// The upper or lower triangle; the other is zero.
std::vector<Operand> infer_trilu(const OperatorUse& use) {
  if (input(use, 0).shape.size() < 2) refuse(use, "shape_mismatch", "the input is no matrix");
  require_type(use, 1, is_integer, "an integer");
  return {like_first(use)};
}

/// Diagonal k is the least that the upper triangle keeps, and the greatest that the lower keeps.
void compute_trilu(const OperatorUse& use, std::span<Operand> outputs) {
  Tensor out = value_of(use, 0);
  const std::int64_t k = int_of_input(use, 1, 0);
  const bool upper = int_attribute(use, "upper", 1) != 0;
  const std::int64_t columns = out.shape.back(), rows = out.shape[out.shape.size() - 2];
  on_elements(out, [&](auto& elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const std::int64_t diagonal = at % columns - at / columns % rows;
      if (upper ? diagonal < k : diagonal > k) elements[i] = 0;
    }
  });
  outputs[0].value = std::move(out);
}

std::size_t one_hot_axis(const OperatorUse& use) {
  return axis_within(use, int_attribute(use, "axis", -1), input(use, 0).shape.size() + 1);
}

std::vector<Operand> infer_one_hot(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  require_type(use, 1, is_number, "a number");
  const auto depth = scalar_of(input(use, 1));
  if (!depth) refuse(use, "shape_unknown", "depth is not known at import");
  if (!(*depth >= 0 && *depth < 1.1e12)) refuse(use, "shape_mismatch", "depth is out of range");
  if (input(use, 2).shape != Shape{2}) refuse(use, "shape_mismatch", "values must be two, off and on");
  Shape shape = input(use, 0).shape;
  const std::size_t axis = one_hot_axis(use);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(*depth));
  return {typed(input(use, 2).type, std::move(shape))};
}

/// Index 1 of depth 3: off, on, off. From opset 11 on -1 stands for the last; beyond, all are off.
void compute_one_hot(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<double> indices = doubles_of(use, 0);
  const Tensor& values = value_of(use, 2);
  const std::size_t axis = one_hot_axis(use);
  const Lines lines = lines_along(outputs[0].shape, axis);
  const auto depth = static_cast<double>(lines.length);
  std::vector<std::int64_t> from(lines.outer * lines.length * lines.inner, 0);
  std::size_t next = 0;
  for_each_line(lines, [&](std::size_t start) {
    double index = std::trunc(indices[next++]);
    if (index < 0 && use.opset >= 11) index += depth;
    if (index >= 0 && index < depth) from[start + static_cast<std::size_t>(index) * lines.inner] = 1;
  });
  outputs[0].value = gathered_elements(values, outputs[0].shape, from);
}

constexpr Operator repeat_operators[] = {
    {"", "Expand", "copy", 2, 2, "", infer_expand, repeated_work, compute_expand, "8 13"},
    {"", "OneHot", "one_hot", 3, 3, "axis", infer_one_hot, copy_work, compute_one_hot, "9 11"},
    {"", "Tile", "copy", 2, 2, "", infer_tile, repeated_work, compute_tile, "7 13"},
    {"", "Trilu", "copy", 1, 2, "upper", infer_trilu, copy_work, compute_trilu, "14"},
};

}  // namespace

std::span<const Operator> repeat_rows() { return repeat_operators; }

}  // namespace sdip
