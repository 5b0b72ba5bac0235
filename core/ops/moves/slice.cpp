// Operators that cut tensors apart and put them together: Slice, Split, Concat.
#include <algorithm>
#include <numeric>

#include "core/base/units.h"
#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

struct Cut {
  std::int64_t start = 0, step = 1, count = 0;
};

/// Numpy's rule. Example: in a size of 10, start 8, end INT64_MIN, step -3 keeps 8, 5, 2.
Cut cut_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  const std::int64_t last = step > 0 ? size : size - 1, first = step > 0 ? 0 : -1;
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = std::clamp(start, std::int64_t{0}, std::max<std::int64_t>(last, 0));
  end = std::clamp(end, first, std::max(first, last));
  const std::int64_t room = step > 0 ? end - start : start - end;
  if (room <= 0 || size == 0) return {start, step, 0};  // backwards from -1 to before it there is room for nothing
  // A step beyond the size keeps one; so -step cannot overflow below.
  const std::int64_t stride = step > 0 ? std::min(step, size) : -std::max(step, -size);
  return {start, step > 0 ? stride : -stride, ceil_div(room, stride)};
}

/// Before opset 10 starts, ends and axes are attributes, from there on they are inputs.
std::vector<Cut> whole(const Shape& shape) {
  std::vector<Cut> cuts;
  for (std::int64_t size : shape) cuts.push_back({0, 1, size});
  return cuts;
}

std::vector<Cut> cuts_of(const OperatorUse& use) {
  const Shape& in = input(use, 0).shape;
  const bool by_input = use.opset >= 10;
  const auto given = [&](std::size_t i, const char* name, std::vector<std::int64_t> otherwise) {
    if (!by_input) return ints_attribute(use, name, std::move(otherwise));
    return optional_input(use, i) == nullptr ? std::move(otherwise) : ints_of_input(use, i);
  };
  const auto starts = given(1, "starts", {}), ends = given(2, "ends", {});
  std::vector<std::int64_t> all(starts.size());
  std::iota(all.begin(), all.end(), 0);
  const auto axes = given(3, "axes", all);
  const auto steps =
      by_input && optional_input(use, 4) ? ints_of_input(use, 4) : std::vector<std::int64_t>(starts.size(), 1);
  if (starts.empty() || ends.size() != starts.size() || axes.size() != starts.size() ||
      steps.size() != starts.size()) {
    refuse(use, "shape_mismatch", "starts, ends, axes and steps are not equally many");
  }
  axes_within(use, axes, in.size());
  std::vector<Cut> cuts = whole(in);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) refuse(use, "unsupported_attribute", "a step is 0");
    const std::size_t axis = axis_within(use, axes[i], in.size());
    cuts[axis] = cut_of(in[axis], starts[i], ends[i], steps[i]);
  }
  return cuts;
}

/// The part of `in` that the cuts keep.
Operand keep(const Operand& in, const std::vector<Cut>& cuts) {
  Operand out = typed(in.type, {});
  out.fill = in.fill;
  for (const Cut& cut : cuts) out.shape.push_back(cut.count);
  return out;
}

Tensor kept(const Tensor& in, const std::vector<Cut>& cuts) {
  Shape shape;
  for (const Cut& cut : cuts) shape.push_back(cut.count);
  if (element_count(shape) == 0) return {in.type, std::move(shape), {}, {}};
  const auto strides = strides_of(in.shape);
  const auto from = positions(offsets_over(shape, [&](std::size_t axis, std::int64_t i) {
    return (cuts[axis].start + i * cuts[axis].step) * strides[axis];
  }));
  return gathered_elements(in, std::move(shape), from);
}

std::vector<Operand> infer_slice(const OperatorUse& use) { return {keep(input(use, 0), cuts_of(use))}; }

void compute_slice(const OperatorUse& use, std::span<Operand> outputs) {
  outputs[0].value = kept(value_of(use, 0), cuts_of(use));
}

/// Only what is kept is read; the integers that say what are in the program.
Work kept_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = copy_work(use, outputs);
  return vector_work(use, outputs, work.row_length, {work.row_length});
}

/// Sizes by attribute before opset 13, by input from there on; equal parts when not given.
std::vector<std::int64_t> parts_of(const OperatorUse& use, std::int64_t size) {
  if (optional_input(use, 1) != nullptr) return ints_of_input(use, 1);
  if (has_attribute(use, "split")) return ints_attribute(use, "split", {});
  const auto count = int_attribute(use, "num_outputs", static_cast<std::int64_t>(use.output_count));
  if (count < 1 || count > 1'000'000) refuse(use, "unsupported_attribute", "num_outputs " + std::to_string(count));
  const std::int64_t part = ceil_div(size, count);
  if (use.opset < 18 && size % count != 0) {
    refuse(use, "shape_mismatch", fmt::format("{} does not split into {}", size, count));
  }
  std::vector<std::int64_t> parts(as_size(count), part);
  parts.back() = size - part * (count - 1);
  return parts;
}

std::vector<Operand> infer_split(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const std::size_t axis = axis_attribute(use, 0);
  const auto parts = parts_of(use, in.shape[axis]);
  std::int64_t left = in.shape[axis];
  std::vector<Operand> outputs;
  std::vector<Cut> cuts = whole(in.shape);
  for (std::int64_t part : parts) {
    if (part < 0 || part > left) break;
    cuts[axis] = {in.shape[axis] - left, 1, part};
    outputs.push_back(keep(in, cuts));
    left -= part;
  }
  if (outputs.size() != parts.size() || left != 0 || parts.size() != use.output_count) {
    refuse(use, "shape_mismatch",
           fmt::format("sizes {} do not split {} into {} outputs", shape_text(parts), shape_text(in.shape),
                       use.output_count));
  }
  return outputs;
}

void compute_split(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const std::size_t axis = axis_attribute(use, 0);
  std::vector<Cut> cuts = whole(in.shape);
  std::int64_t start = 0;
  for (Operand& out : outputs) {
    cuts[axis] = {start, 1, out.shape[axis]};
    out.value = kept(in, cuts);
    start += out.shape[axis];
  }
}

Operand joined(const OperatorUse& use, std::size_t axis) {
  Operand out = like_first(use);
  for (std::size_t i = 1; i < use.inputs.size(); ++i) {
    const Operand& next = input(use, i);
    Shape others = next.shape;
    if (others.size() == out.shape.size()) others[axis] = out.shape[axis];
    if (others != out.shape || next.type != out.type) {
      refuse(use, "shape_mismatch",
             fmt::format("input {} of shape {} does not join {}", i, shape_text(next.shape),
                         shape_text(input(use, 0).shape)));
    }
    if (__builtin_add_overflow(out.shape[axis], next.shape[axis], &out.shape[axis])) {
      refuse(use, "model_too_large", "sizes overflow");
    }
  }
  return out;
}

std::size_t concat_axis(const OperatorUse& use) {
  require_attribute(use, "axis");
  return axis_attribute(use, 0);
}

std::vector<Operand> infer_concat(const OperatorUse& use) { return {joined(use, concat_axis(use))}; }

/// Rows before the axis stand in turn: one of the first input, one of the second, ...
void compute_concat(const OperatorUse& use, std::span<Operand> outputs) {
  const std::size_t axis = concat_axis(use);
  const Shape& shape = outputs[0].shape;
  const std::int64_t rows = count_between(shape, 0, axis);
  Tensor out{outputs[0].type, shape, {}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < use.inputs.size(); ++i) {
      const Tensor& from = value_of(use, i);
      const std::int64_t length = count_between(from.shape, axis, from.shape.size());
      const auto add = [&](const auto& elements, auto& to) {
        to.insert(to.end(), elements.begin() + row * length, elements.begin() + (row + 1) * length);
      };
      is_floating(out.type) ? add(from.floats, out.floats) : add(from.ints, out.ints);
    }
  }
  outputs[0].value = std::move(out);
}

constexpr std::size_t most_concatenated = 1'000'000;
constexpr Operator slice_operators[] = {
    {"", "Concat", "copy", 1, most_concatenated, "axis", infer_concat, copy_work, compute_concat, "7 11 13"},
    {"", "Slice", "copy", 1, 5, "axes ends starts", infer_slice, kept_work, compute_slice, "7 10 11 13"},
    {"", "Split", "copy", 1, 2, "axis num_outputs split", infer_split, kept_work, compute_split, "7 11 13 18"},
};

}  // namespace

std::span<const Operator> slice_rows() { return slice_operators; }

}  // namespace sdip
