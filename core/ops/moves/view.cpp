// Views: the same elements under another shape, at no cost.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/fold.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

Operand viewed(const Operand& in, Shape shape) {
  Operand out = typed(in.type, std::move(shape));
  out.fill = in.fill;
  return out;
}

void compute_view(const OperatorUse& use, std::span<Operand> outputs) {
  outputs[0].value = value_of(use, 0);
  outputs[0].value->shape = outputs[0].shape;
}

/// [2,3,4] to [0,-1]: 0 keeps a size, -1 takes what is left: [2,12].
std::vector<Operand> infer_reshape(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  Shape shape = ints_of_input(use, 1);
  const bool zero_is_zero = int_attribute(use, "allowzero", 0) != 0;
  std::ptrdiff_t free_axis = -1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      if (i >= in.shape.size())
        refuse(use, "shape_mismatch", "a 0 in the target keeps a size that the input lacks");
      shape[i] = in.shape[i];
    } else if (shape[i] == -1 && free_axis < 0) {
      free_axis = static_cast<std::ptrdiff_t>(i);
    } else if (shape[i] < 0) {
      refuse(use, "shape_mismatch", "cannot reshape to " + shape_text(shape));
    }
  }
  const std::int64_t count = element_count(in.shape);
  if (free_axis >= 0) {
    std::int64_t& size = shape[at(free_axis)];
    size = 1;
    const std::int64_t rest = element_count(shape);
    if (rest == 0 || count % rest != 0) {
      size = -1;
      refuse(use, "shape_mismatch", "cannot reshape " + shape_text(in.shape) + " to " + shape_text(shape));
    }
    size = count / rest;
  }
  if (element_count(shape) != count) {
    refuse(use, "shape_mismatch", "cannot reshape " + shape_text(in.shape) + " to " + shape_text(shape));
  }
  return {viewed(in, std::move(shape))};
}

std::vector<Operand> infer_flatten(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const std::int64_t axis = int_attribute(use, "axis", 1);
  const std::size_t rank = in.shape.size();
  const std::size_t at = axis == static_cast<std::int64_t>(rank) ? rank : axis_within(use, axis, rank);
  return {viewed(in, {count_between(in.shape, 0, at), count_between(in.shape, at, rank)})};
}

/// Axes are an attribute before opset 13, an input from there on. Absent when neither is given.
std::optional<std::vector<std::int64_t>> axes_given(const OperatorUse& use) {
  if (optional_input(use, 1) != nullptr) return ints_of_input(use, 1);
  if (has_attribute(use, "axes")) return ints_attribute(use, "axes", {});
  return std::nullopt;
}

std::vector<Operand> infer_squeeze(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const auto given = axes_given(use);
  Shape shape;
  if (!given) {
    std::copy_if(in.shape.begin(), in.shape.end(), std::back_inserter(shape), [](auto size) { return size != 1; });
    return {viewed(in, std::move(shape))};
  }
  const auto axes = axes_within(use, *given, in.shape.size());
  for (std::size_t i = 0; i < in.shape.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) {
      shape.push_back(in.shape[i]);
    } else if (in.shape[i] != 1) {
      refuse(use, "shape_mismatch", fmt::format("axis {} of {} has not size 1", i, shape_text(in.shape)));
    }
  }
  return {viewed(in, std::move(shape))};
}

std::vector<Operand> infer_unsqueeze(const OperatorUse& use) {
  const Operand& in = input(use, 0);
  const auto given = axes_given(use);
  if (!given) refuse(use, "invalid_graph", "axes are missing");
  const auto axes = axes_within(use, *given, in.shape.size() + given->size());
  Shape shape = in.shape;
  for (std::size_t axis : axes) shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), 1);
  return {viewed(in, std::move(shape))};
}

std::vector<Operand> infer_identity(const OperatorUse& use) { return {viewed(input(use, 0), input(use, 0).shape)}; }

/// In inference, or with ratio 0: the input, and a mask that keeps everything, of the input's type before opset 10.
/// ratio is an attribute before opset 12 and an input from there on; only with `training_mode` is it used.
std::vector<Operand> infer_dropout(const OperatorUse& use) {
  const Operand *ratio = optional_input(use, 1), *training = optional_input(use, 2);
  const auto trains = training == nullptr ? 0.0 : scalar_of(*training);
  const auto dropped = ratio == nullptr ? 0.5 : scalar_of(*ratio);
  if (trains != 0.0 && dropped != 0.0) {
    const bool known = trains && dropped;
    refuse(use, known ? "unsupported_attribute" : "shape_unknown",
           known ? "training_mode with a ratio other than 0 draws random numbers"
                 : "whether it draws random numbers depends on inputs that are not known at import");
  }
  Operand mask = typed(use.opset < 10 ? input(use, 0).type : ElementType::boolean, input(use, 0).shape);
  mask.fill = 1.0;
  return {viewed(input(use, 0), input(use, 0).shape), mask};
}

void compute_dropout(const OperatorUse& use, std::span<Operand> outputs) {
  compute_view(use, outputs);
  set_doubles(outputs[1], std::vector<double>(as_size(element_count(outputs[1].shape)), 1.0));
}

/// The mask, where it is used, is written.
Work dropout_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const bool mask = outputs.size() > 1 && element_count(outputs[1].shape) > 0;
  return mask ? copy_work(use, outputs) : view_work(use, outputs);
}

/// sdip.Copy, which the compiler puts where a constant has to be an activation, and where a program would have no
/// instruction: even of nothing it is one.
Work copied_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work = copy_work(use, outputs);
  work.row_length = std::max<std::int64_t>(1, work.row_length);
  return work;
}

constexpr Operator view_operators[] = {
    {"", "Dropout", "copy", 1, 3, "ratio seed", infer_dropout, dropout_work, compute_dropout, "7 10 12 13 22"},
    {"", "Flatten", "copy", 1, 1, "axis", infer_flatten, view_work, compute_view, "7 9 11 13 21 23 24 25"},
    {"", "Identity", "copy", 1, 1, "", infer_identity, view_work, compute_view, "7 13 14 16 19 21 23 24 25"},
    {"", "Reshape", "copy", 2, 2, "allowzero", infer_reshape, view_work, compute_view, "7 13 14 19 21 23 24 25"},
    {"", "Squeeze", "copy", 1, 2, "axes", infer_squeeze, view_work, compute_view, "7 11 13 21 23 24 25"},
    {"", "Unsqueeze", "copy", 1, 2, "axes", infer_unsqueeze, view_work, compute_view, "7 11 13 21 23 24 25"},
    {"sdip", "Copy", "copy", 1, 1, "", infer_identity, copied_work, compute_view, "1"},
};

}  // namespace

std::span<const Operator> view_rows() { return view_operators; }

}  // namespace sdip
