// Operators that put something around a tensor, or take its edges away: Pad, CenterCropPad.
#include <algorithm>
#include <numeric>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

constexpr std::int64_t most_pad = std::int64_t{1} << 40;

/// The elements added before and behind each axis; taken away where negative.
struct Pads {
  std::vector<std::int64_t> before, behind;
};

/// Pads are an attribute before opset 11, an input from there on; with axes from opset 18.
Pads pads_of(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  const auto given = use.opset < 11 ? ints_attribute(use, "pads", {}) : ints_of_input(use, 1);
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (optional_input(use, 3) != nullptr) axes = ints_of_input(use, 3);
  if (given.size() != 2 * axes.size()) refuse(use, "shape_mismatch", "pads must have two values an axis");
  axes_within(use, axes, rank);
  Pads pads{std::vector<std::int64_t>(rank), std::vector<std::int64_t>(rank)};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::size_t axis = axis_within(use, axes[i], rank);
    pads.before[axis] = given[i];
    pads.behind[axis] = given[i + axes.size()];
    for (std::int64_t pad : {given[i], given[i + axes.size()]}) {
      if (pad > most_pad || pad < -most_pad) refuse(use, "shape_mismatch", "a pad is out of range");
    }
  }
  return pads;
}

std::string mode_of(const OperatorUse& use) {
  return choice_attribute(use, "mode", "constant", {"constant", "reflect", "edge", "wrap"});
}

std::vector<Operand> infer_pad(const OperatorUse& use) {
  const Pads pads = pads_of(use);
  const bool repeats = mode_of(use) != "constant";
  const Operand* filler = use.opset < 11 ? nullptr : optional_input(use, 2);
  if (filler != nullptr && (element_count(filler->shape) != 1 || filler->type != input(use, 0).type)) {
    refuse(use, "shape_mismatch", "the value to pad with must be one of the input's type");
  }
  Operand out = like_first(use);
  for (std::size_t axis = 0; axis < out.shape.size(); ++axis) {
    std::int64_t& size = out.shape[axis];
    const std::int64_t left =
        size + std::min<std::int64_t>(pads.before[axis], 0) + std::min<std::int64_t>(pads.behind[axis], 0);
    size += pads.before[axis] + pads.behind[axis];
    if (left < 0 || size < 0) refuse(use, "shape_mismatch", "pads remove more than there is");
    if (repeats && left == 0 && size > 0) {
      refuse(use, "shape_mismatch", fmt::format("axis {} has nothing to repeat", axis));
    }
  }
  return {out};
}

/// The index within `size` that stands for one outside, -1 for none. Example: in a size of 3, at -1, -2 and 3,
/// reflect finds 1, 2 and 1; edge 0, 0 and 2; wrap 2, 1 and 0.
std::int64_t index_for(const std::string& mode, std::int64_t at, std::int64_t size) {
  if (at >= 0 && at < size) return at;
  if (mode == "constant") return -1;
  if (mode == "edge" || size == 1) return at < 0 ? 0 : size - 1;
  const std::int64_t period = mode == "wrap" ? size : 2 * (size - 1);
  const std::int64_t within = (at % period + period) % period;
  return within < size ? within : period - within;
}

/// Takes elements away first; those that are put around repeat what is left.
void compute_pad(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const Pads pads = pads_of(use);
  const std::string mode = mode_of(use);
  const auto strides = strides_of(in.shape);
  const Offsets offsets = offsets_over(outputs[0].shape, [&](std::size_t axis, std::int64_t i) {
    const std::int64_t first = std::max<std::int64_t>(0, -pads.before[axis]);
    const std::int64_t left = in.shape[axis] - first + std::min<std::int64_t>(0, pads.behind[axis]);
    const std::int64_t from = index_for(mode, i - std::max<std::int64_t>(0, pads.before[axis]), left);
    return from < 0 ? -1 : (from + first) * strides[axis];
  });
  const Tensor* filler = use.opset < 11 ? nullptr : optional_value(use, 2);
  const Tensor attribute{in.type, {}, {}, {rounded(in.type, float_attribute(use, "value", 0.0))}};
  if (use.opset < 11 && is_floating(in.type)) filler = &attribute;
  outputs[0].value = gathered_elements(in, outputs[0].shape, positions(offsets), filler);
}

/// Padding is written, not read, and what is taken away is not read.
Work pad_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Pads pads = pads_of(use);
  Shape left = input(use, 0).shape;
  for (std::size_t axis = 0; axis < left.size(); ++axis)
    left[axis] += std::min<std::int64_t>(pads.before[axis], 0) + std::min<std::int64_t>(pads.behind[axis], 0);
  return vector_work(use, outputs, element_count(outputs[0].shape), {element_count(left)});
}

/// The axes that get a size each; all when not given.
std::vector<std::int64_t> centered_axes(const OperatorUse& use) {
  std::vector<std::int64_t> all(input(use, 0).shape.size());
  std::iota(all.begin(), all.end(), 0);
  return ints_attribute(use, "axes", all);
}

std::vector<Operand> infer_center(const OperatorUse& use) {
  const auto axes = centered_axes(use), sizes = ints_of_input(use, 1);
  Operand out = like_first(use);
  axes_within(use, axes, out.shape.size());
  if (axes.size() != sizes.size()) refuse(use, "shape_mismatch", "the shape must have one size an axis");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0) refuse(use, "shape_mismatch", "cannot pad to " + shape_text(sizes));
    out.shape[axis_within(use, axes[i], out.shape.size())] = sizes[i];
  }
  return {out};
}

/// 5 to 2 keeps elements 1 and 2; 2 to 5 puts one 0 before and two behind.
void compute_center(const OperatorUse& use, std::span<Operand> outputs) {
  const Tensor& in = value_of(use, 0);
  const auto strides = strides_of(in.shape);
  const Offsets offsets = offsets_over(outputs[0].shape, [&](std::size_t axis, std::int64_t i) {
    const std::int64_t size = in.shape[axis], wanted = outputs[0].shape[axis];
    const std::int64_t from = i + (wanted < size ? (size - wanted) / 2 : -((wanted - size) / 2));
    return from < 0 || from >= size ? -1 : from * strides[axis];
  });
  outputs[0].value = gathered_elements(in, outputs[0].shape, positions(offsets));
}

/// Only what stays is read.
Work center_work(const OperatorUse& use, std::span<const Operand> outputs) {
  std::int64_t stays = 1;
  for (std::size_t axis = 0; axis < outputs[0].shape.size(); ++axis)
    stays *= std::min(outputs[0].shape[axis], input(use, 0).shape[axis]);
  return vector_work(use, outputs, element_count(outputs[0].shape), {stays});
}

constexpr Operator pad_operators[] = {
    {"", "CenterCropPad", "copy", 2, 2, "axes", infer_center, center_work, compute_center, "18"},
    {"", "Pad", "copy", 1, 4, "mode pads value", infer_pad, pad_work, compute_pad, "7 11 13 18 19 21 23 24 25"},
};

}  // namespace

std::span<const Operator> pad_rows() { return pad_operators; }

}  // namespace sdip
