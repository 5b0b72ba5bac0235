// Operators that fetch, repeat or replace elements by index: Gather, Scatter, Expand, Tile, Trilu.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

Operand typed(ElementType type, Shape shape) {
  Operand out;
  out.type = type;
  out.shape = std::move(shape);
  return out;
}

/// data [5,4] by indices [2,3] along axis 0: [2,3,4].
std::vector<Operand> infer_gather(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", 0), data.shape.size());
  Shape shape(data.shape.begin(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + static_cast<std::ptrdiff_t>(axis) + 1, data.shape.end());
  Operand out = typed(data.type, std::move(shape));
  out.fill = data.fill;
  if (!indices.value) return {out};
  for (std::int64_t i : indices.value->ints) {
    if (i < -data.shape[axis] || i >= data.shape[axis]) {
      refuse(use, "shape_mismatch", "index " + std::to_string(i) + " outside " + shape_text(data.shape));
    }
  }
  if (!data.value || !is_foldable(out.shape)) return {out};
  const std::int64_t inner = count_between(data.shape, axis + 1, data.shape.size());
  const std::int64_t chosen = element_count(indices.shape);
  std::int64_t at = 0;  // out is [outer, chosen, inner], in row-major order
  out.value = pick(*data.value, out.shape, [&](auto) {
    const std::int64_t outer = at / (chosen * inner);
    const std::int64_t index = indices.value->ints[static_cast<std::size_t>(at / inner % chosen)];
    const std::int64_t row = index < 0 ? index + data.shape[axis] : index;
    return (outer * data.shape[axis] + row) * inner + at++ % inner;
  });
  return {out};
}

std::vector<Operand> infer_gather_elements(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  axis_within(use, int_attribute(use, "axis", 0), data.shape.size());
  if (data.shape.size() != indices.shape.size()) refuse(use, "shape_mismatch", "ranks of data and indices differ");
  return {typed(data.type, indices.shape)};
}

std::vector<Operand> infer_gather_nd(const OperatorUse& use) {
  const Operand &data = input(use, 0), &indices = input(use, 1);
  const std::int64_t batch = int_attribute(use, "batch_dims", 0), rank = std::ssize(data.shape);
  const std::int64_t depth = indices.shape.empty() ? 0 : indices.shape.back();
  if (batch < 0 || batch >= rank || depth < 1 || depth > rank - batch || batch >= std::ssize(indices.shape)) {
    refuse(use, "shape_mismatch", "indices " + shape_text(indices.shape) + " into " + shape_text(data.shape));
  }
  Shape shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + batch + depth, data.shape.end());
  return {typed(data.type, std::move(shape))};
}

/// As many elements as come out are read; the indices are read once.
Work gathered_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = copy_work(use, outputs);
  work.read_elements[0] = work.write_elements;
  return work;
}

std::vector<Operand> infer_scatter(const OperatorUse& use) {
  if (string_attribute(use, "reduction", "none") != "none") {
    refuse(use, "unsupported_attribute", "only reduction 'none' is supported");
  }
  return {typed(input(use, 0).type, input(use, 0).shape)};
}

std::vector<Operand> infer_expand(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const Shape wanted = ints_of_input(use, 1);
  if (std::any_of(wanted.begin(), wanted.end(), [](auto size) { return size < 0; })) {
    refuse(use, "shape_mismatch", "cannot expand to " + shape_text(wanted));
  }
  Operand out = typed(in.type, broadcast(use, in.shape, wanted));
  out.fill = in.fill;
  if (in.value && is_foldable(out.shape)) out.value = pick_broadcast(*in.value, out.shape);
  return {out};
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
  if (!in.value || !is_foldable(out.shape)) return {out};
  const auto strides = strides_of(in.shape);
  out.value = pick(*in.value, out.shape, [&](std::span<const std::int64_t> index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < strides.size(); ++i) from += index[i] % in.shape[i] * strides[i];
    return from;
  });
  return {out};
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
  return {typed(input(use, 0).type, input(use, 0).shape)};
}

std::vector<Operand> infer_one_hot(const OperatorUse& use) {
  const auto depth = scalar_of(input(use, 1));
  if (!depth) refuse(use, "shape_unknown", "depth is not known at import");
  if (!(*depth >= 0 && *depth < 1.1e12)) refuse(use, "shape_mismatch", "depth is out of range");
  Shape shape = input(use, 0).shape;
  const std::size_t axis = axis_within(use, int_attribute(use, "axis", -1), shape.size() + 1);
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(*depth));
  return {typed(input(use, 2).type, std::move(shape))};
}

constexpr Operator rows[] = {
    {"", "Expand", "copy", 2, 2, "", infer_expand, repeated_work},
    {"", "Gather", "copy", 2, 2, "axis", infer_gather, gathered_work},
    {"", "GatherElements", "copy", 2, 2, "axis", infer_gather_elements, gathered_work},
    {"", "GatherND", "copy", 2, 2, "batch_dims", infer_gather_nd, gathered_work},
    {"", "OneHot", "one_hot", 3, 3, "axis", infer_one_hot, copy_work},
    {"", "ScatterElements", "scatter", 3, 3, "axis reduction", infer_scatter, copy_work},
    {"", "ScatterND", "scatter", 3, 3, "reduction", infer_scatter, copy_work},
    {"", "Tile", "copy", 2, 2, "", infer_tile, repeated_work},
    {"", "Trilu", "copy", 1, 2, "upper", infer_trilu, copy_work},
};

}  // namespace

std::span<const Operator> gather_rows() { return rows; }

}  // namespace sdip
