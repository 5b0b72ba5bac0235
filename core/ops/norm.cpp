// Normalisations: y = (x - E[x]) / sqrt(Var[x] + eps) * gamma + beta over groups of elements.
#include <algorithm>

#include "core/ops/families.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

Operand like_first(const OperatorUse& use) {
  Operand out;
  out.type = input(use, 0).type;
  out.shape = input(use, 0).shape;
  return out;
}

void require_rank(const OperatorUse& use, std::size_t least) {
  if (input(use, 0).shape.size() < least) {
    refuse(use, "shape_mismatch",
           "input " + shape_text(input(use, 0).shape) + " must have rank " + std::to_string(least) + " or more");
  }
}

/// Input `i` is absent or has `count` elements.
void require_elements(const OperatorUse& use, std::size_t i, std::int64_t count) {
  const Operand* operand = optional_input(use, i);
  if (operand != nullptr && element_count(operand->shape) != count) {
    refuse(use, "shape_mismatch",
           "input " + std::to_string(i) + " has shape " + shape_text(operand->shape) + ", expected " +
               std::to_string(count) + " elements");
  }
}

/// Two passes over the input, sums and then the result; gamma and beta are fetched once.
Work norm_work(const OperatorUse& use, std::int64_t rows) {
  const std::int64_t count = element_count(input(use, 0).shape);
  Work work;
  work.family = Family::norm;
  work.rows = rows;
  work.row_length = rows == 0 ? 0 : count / rows;
  work.passes = 2;
  work.read_elements.push_back(2 * count);
  for (std::size_t i = 1; i < use.inputs.size(); ++i) {
    work.read_elements.push_back(use.inputs[i] == nullptr ? 0 : element_count(use.inputs[i]->shape));
  }
  work.write_elements = count;
  return work;
}

std::vector<Operand> infer_instance_norm(const OperatorUse& use) {
  require_rank(use, 3);
  require_elements(use, 1, input(use, 0).shape[1]);
  require_elements(use, 2, input(use, 0).shape[1]);
  return {like_first(use)};
}

Work instance_norm_work(const OperatorUse& use, std::span<const Operand>) {
  return norm_work(use, count_between(input(use, 0).shape, 0, 2));
}

std::int64_t group_count(const OperatorUse& use) { return int_attribute(use, "num_groups", 0); }

/// ONNX's GroupNormalization (scale per group before opset 21, per channel from there) and our own (per channel).
std::vector<Operand> infer_group_norm(const OperatorUse& use) {
  require_rank(use, 2);
  const std::int64_t channels = input(use, 0).shape[1], groups = group_count(use);
  if (groups < 1 || channels % groups != 0) {
    refuse(use, "unsupported_attribute",
           "num_groups " + std::to_string(groups) + " does not divide " + std::to_string(channels) + " channels");
  }
  const bool per_group = use.type == "GroupNormalization" && use.opset < 21;
  require_elements(use, 1, per_group ? groups : channels);
  require_elements(use, 2, per_group ? groups : channels);
  return {like_first(use)};
}

Work group_norm_work(const OperatorUse& use, std::span<const Operand>) {
  return norm_work(use, input(use, 0).shape[0] * group_count(use));
}

std::size_t layer_norm_axis(const OperatorUse& use) {
  return axis_within(use, int_attribute(use, "axis", -1), input(use, 0).shape.size());
}

std::vector<Operand> infer_layer_norm(const OperatorUse& use) {
  const Operand y = like_first(use);
  const std::size_t axis = layer_norm_axis(use);
  const std::int64_t length = count_between(y.shape, axis, y.shape.size());
  require_elements(use, 1, length);
  require_elements(use, 2, length);
  Operand mean = y;
  std::fill(mean.shape.begin() + static_cast<std::ptrdiff_t>(axis), mean.shape.end(), 1);
  return {y, mean, mean};
}

Work layer_norm_work(const OperatorUse& use, std::span<const Operand>) {
  return norm_work(use, count_between(input(use, 0).shape, 0, layer_norm_axis(use)));
}

std::vector<Operand> infer_batch_norm(const OperatorUse& use) {
  require_rank(use, 2);
  if (int_attribute(use, "training_mode", 0) != 0 || int_attribute(use, "spatial", 1) != 1) {
    refuse(use, "unsupported_attribute", "only inference over whole channels is supported");
  }
  for (std::size_t i = 1; i < 5; ++i) require_elements(use, i, input(use, 0).shape[1]);
  return {like_first(use)};
}

/// With mean and variance known it is elementwise; scale, bias, mean and variance stay in registers over a channel.
Work batch_norm_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape& x = outputs[0].shape;
  Work work;
  work.row_length = work.write_elements = element_count(x);
  work.read_elements.assign(use.inputs.size(), x[0] * x[1]);
  work.read_elements[0] = work.row_length;
  return work;
}

std::vector<Operand> infer_lrn(const OperatorUse& use) {
  require_rank(use, 2);
  if (int_attribute(use, "size", 0) < 1) refuse(use, "unsupported_attribute", "attribute 'size' must be 1 or more");
  return {like_first(use)};
}

/// Each result looks at `size` neighbouring channels.
Work lrn_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work;
  work.write_elements = element_count(outputs[0].shape);
  work.row_length = work.write_elements * int_attribute(use, "size", 1);
  work.read_elements = {work.row_length};
  return work;
}

constexpr Operator rows[] = {
    {"", "BatchNormalization", "batchnorm", 5, 5, "epsilon momentum spatial training_mode", infer_batch_norm,
     batch_norm_work},
    {"", "GroupNormalization", "groupnorm", 3, 3, "epsilon num_groups stash_type", infer_group_norm,
     group_norm_work},
    {"", "InstanceNormalization", "instancenorm", 3, 3, "epsilon", infer_instance_norm, instance_norm_work},
    {"", "LRN", "lrn", 1, 1, "alpha beta bias size", infer_lrn, lrn_work},
    {"", "LayerNormalization", "layernorm", 1, 3, "axis epsilon stash_type", infer_layer_norm, layer_norm_work},
    {"sdip", "GroupNorm", "groupnorm", 3, 3, "epsilon num_groups", infer_group_norm, group_norm_work},
};

}  // namespace

std::span<const Operator> norm_rows() { return rows; }

}  // namespace sdip
