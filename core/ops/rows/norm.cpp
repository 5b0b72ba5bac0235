// Normalisations: y = (x - E[x]) / sqrt(Var[x] + eps) * gamma + beta over groups of elements; and those without the
// mean, and by another norm.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

void require_rank(const OperatorUse& use, std::size_t least) {
  require_type(use, 0, is_floating, "a float");
  if (input(use, 0).shape.size() < least) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} must have rank {} or more", shape_text(input(use, 0).shape), least));
  }
}

/// Two passes over the input, sums and then the result; gamma and beta are fetched once.
Work norm_work(const OperatorUse& use, std::int64_t rows) {
  return row_work(use, Family::norm, rows, rows == 0 ? 0 : element_count(input(use, 0).shape) / rows, 2);
}

/// Mean and reciprocal of the deviation of each of `rows` equally long rows.
struct Moments {
  std::vector<double> mean, scale;
};
/// [1,3] with epsilon 0: mean 2, variance 1, scale 1.
Moments moments_of(const std::vector<double>& x, std::size_t rows, double epsilon) {
  Moments moments;
  const std::size_t length = rows == 0 ? 0 : x.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    const double* at = x.data() + row * length;
    const double mean = std::accumulate(at, at + length, 0.0) / static_cast<double>(length);
    double squares = 0;
    for (std::size_t i = 0; i < length; ++i) squares += (at[i] - mean) * (at[i] - mean);
    moments.mean.push_back(mean);
    moments.scale.push_back(1.0 / std::sqrt(squares / static_cast<double>(length) + epsilon));
  }
  return moments;
}

/// Rows normalised; then gamma and beta, each with as many elements as divide the channels: element c * size /
/// channels is channel c's.
void set_by_channel(const OperatorUse& use, std::span<Operand> outputs, std::size_t rows) {
  std::vector<double> x = value_of(use, 0).floats;
  const Moments moments = moments_of(x, rows, float_attribute(use, "epsilon", 1e-5));
  const std::vector<double>&gamma = value_of(use, 1).floats, &beta = value_of(use, 2).floats;
  const Shape& shape = input(use, 0).shape;
  const auto channels = as_size(shape[1]);
  const auto inner = as_size(count_between(shape, 2, shape.size()));
  const std::size_t length = x.size() / rows;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / length, at = i / inner % channels * gamma.size() / channels;
    x[i] = (x[i] - moments.mean[row]) * moments.scale[row] * gamma[at] + beta[at];
  }
  set_doubles(outputs[0], std::move(x));
}

std::vector<Operand> infer_instance_norm(const OperatorUse& use) {
  require_rank(use, 3);
  require_floats(use, 1, input(use, 0).shape[1]);
  require_floats(use, 2, input(use, 0).shape[1]);
  return {like_first(use)};
}

Work instance_norm_work(const OperatorUse& use, std::span<const Operand>) {
  return norm_work(use, count_between(input(use, 0).shape, 0, 2));
}

void compute_instance_norm(const OperatorUse& use, std::span<Operand> outputs) {
  set_by_channel(use, outputs, as_size(count_between(input(use, 0).shape, 0, 2)));
}

std::int64_t group_count(const OperatorUse& use) { return int_attribute(use, "num_groups", 0); }

/// ONNX's GroupNormalization (scale per group before opset 21, per channel from there) and our own (per channel).
std::vector<Operand> infer_group_norm(const OperatorUse& use) {
  require_rank(use, 2);
  const std::int64_t channels = input(use, 0).shape[1], groups = group_count(use);
  if (groups < 1 || channels % groups != 0) {
    refuse(use, "unsupported_attribute",
           fmt::format("num_groups {} does not divide {} channels", groups, channels));
  }
  const bool per_group = use.type == "GroupNormalization" && use.opset < 21;
  require_floats(use, 1, per_group ? groups : channels);
  require_floats(use, 2, per_group ? groups : channels);
  return {like_first(use)};
}

Work group_norm_work(const OperatorUse& use, std::span<const Operand>) {
  return norm_work(use, element_count({input(use, 0).shape[0], group_count(use)}));
}

void compute_group_norm(const OperatorUse& use, std::span<Operand> outputs) {
  set_by_channel(use, outputs, as_size(element_count({input(use, 0).shape[0], group_count(use)})));
}

/// Input `i` is absent or broadcasts to the input.
void require_broadcast(const OperatorUse& use, std::size_t i) {
  const Operand* operand = optional_input(use, i);
  require_type(use, i, is_floating, "a float");
  if (operand != nullptr && broadcast(use, operand->shape, input(use, 0).shape) != input(use, 0).shape) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} of shape {} does not broadcast to {}", i, shape_text(operand->shape),
                       shape_text(input(use, 0).shape)));
  }
}

/// Outputs: the result, and the mean and reciprocal deviation of each row in the type that stash_type names.
std::vector<Operand> infer_layer_norm(const OperatorUse& use) {
  require_rank(use, 1);
  const std::size_t axis = axis_attribute(use, -1);
  require_broadcast(use, 1);
  require_broadcast(use, 2);
  Operand mean = like_first(use);
  mean.type = type_attribute(use, "stash_type", ElementType::float32);
  if (!is_floating(mean.type))
    refuse(use, "unsupported_attribute", "attribute 'stash_type' must name a float type");
  std::fill(mean.shape.begin() + static_cast<std::ptrdiff_t>(axis), mean.shape.end(), 1);
  return {like_first(use), mean, mean};
}

/// x times the broadcast elements of input `i`, or plus them; where it is there.
void apply_broadcast(const OperatorUse& use, std::size_t i, bool times, std::vector<double>& x) {
  const Tensor* operand = optional_value(use, i);
  if (operand == nullptr) return;
  const BroadcastIndex at = broadcast_index(operand->shape, input(use, 0).shape);
  for (std::size_t e = 0; e < x.size(); ++e)
    x[e] = times ? x[e] * operand->floats[at[e]] : x[e] + operand->floats[at[e]];
}

void compute_layer_norm(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  const auto rows = as_size(count_between(input(use, 0).shape, 0, axis_attribute(use, -1)));
  Moments moments = moments_of(x, rows, float_attribute(use, "epsilon", 1e-5));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t row = i / (x.size() / rows);
    x[i] = (x[i] - moments.mean[row]) * moments.scale[row];
  }
  apply_broadcast(use, 1, true, x);
  apply_broadcast(use, 2, false, x);
  set_doubles(outputs[0], std::move(x));
  set_doubles(outputs[1], std::move(moments.mean));
  set_doubles(outputs[2], std::move(moments.scale));
}

Work layer_norm_work(const OperatorUse& use, std::span<const Operand>) {
  return norm_work(use, count_between(input(use, 0).shape, 0, axis_attribute(use, -1)));
}

std::vector<Operand> infer_rms_norm(const OperatorUse& use) {
  require_rank(use, 1);
  axis_attribute(use, -1);
  require_broadcast(use, 1);
  return {like_first(use)};
}

/// x / sqrt(E[x^2] + eps) * gamma. [3,4] with epsilon 0 is divided by sqrt(12.5).
void compute_rms_norm(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  const auto rows = as_size(count_between(input(use, 0).shape, 0, axis_attribute(use, -1)));
  const std::size_t length = x.size() / rows;
  const double epsilon = float_attribute(use, "epsilon", 1e-5);
  for (std::size_t row = 0; row < rows; ++row) {
    double* at = x.data() + row * length;
    const double squares = std::inner_product(at, at + length, at, 0.0);
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (std::size_t i = 0; i < length; ++i) at[i] *= scale;
  }
  apply_broadcast(use, 1, true, x);
  set_doubles(outputs[0], std::move(x));
}

/// sdip.RMSNorm, which rewrites make: gamma over all axes from `axis` on, divided by the root where ONNX's
/// multiplies by its reciprocal. Example: for [3, 4] with epsilon 0 and gamma 1, E[x^2] = 12.5, y = [0.8485,
/// 1.1314].
std::vector<Operand> infer_fused_rms_norm(const OperatorUse& use) {
  if (!is_floating(input(use, 0).type)) refuse(use, "shape_mismatch", "the input must be of a float type");
  const Operand y = like_first(use);
  const std::int64_t length = count_between(y.shape, axis_attribute(use, -1), y.shape.size());
  const Operand* gamma = optional_input(use, 1);
  if (gamma != nullptr && (element_count(gamma->shape) != length || !is_floating(gamma->type))) {
    refuse(use, "shape_mismatch", fmt::format("gamma {} must have {} floats", shape_text(gamma->shape), length));
  }
  return {y};
}

void compute_fused_rms_norm(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  const Tensor* gamma = optional_value(use, 1);
  const double epsilon = float_attribute(use, "epsilon", 1e-5);
  const Shape& shape = input(use, 0).shape;
  const auto length = as_size(count_between(shape, axis_attribute(use, -1), shape.size()));
  for (std::size_t row = 0; row < x.size(); row += length) {
    double* at = x.data() + row;
    const double squares = std::inner_product(at, at + length, at, 0.0);
    const double root = std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (std::size_t i = 0; i < length; ++i) at[i] = at[i] / root * (gamma == nullptr ? 1.0 : gamma->floats[i]);
  }
  set_doubles(outputs[0], std::move(x));
}

std::vector<std::size_t> mvn_axes(const OperatorUse& use) {
  return axes_within(use, ints_attribute(use, "axes", {0, 2, 3}), input(use, 0).shape.size());
}

std::vector<Operand> infer_mvn(const OperatorUse& use) {
  require_rank(use, 1);
  mvn_axes(use);
  return {like_first(use)};
}

/// (x - E[x]) / (sqrt(E[x^2] - E[x]^2) + 1e-9): the epsilon stands outside the root, as the specification's
/// function body has it.
void compute_mvn(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  Shape kept = input(use, 0).shape;
  const auto axes = mvn_axes(use);
  for (std::size_t axis : axes) kept[axis] = 1;
  const BroadcastIndex slot = broadcast_index(kept, input(use, 0).shape);
  std::vector<double> sum(as_size(element_count(kept))), squares(sum.size());
  const double count = static_cast<double>(x.size()) / static_cast<double>(sum.size());
  for (std::size_t i = 0; i < x.size(); ++i) sum[slot[i]] += x[i];
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double apart = x[i] - sum[slot[i]] / count;
    squares[slot[i]] += apart * apart;
  }
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (x[i] - sum[slot[i]] / count) / (std::sqrt(squares[slot[i]] / count) + 1e-9);
  set_doubles(outputs[0], std::move(x));
}

Work mvn_work(const OperatorUse& use, std::span<const Operand>) {
  Shape kept = input(use, 0).shape;
  for (std::size_t axis : mvn_axes(use)) kept[axis] = 1;
  return norm_work(use, element_count(kept));
}

std::vector<Operand> infer_lp_norm(const OperatorUse& use) {
  require_rank(use, 1);
  axis_attribute(use, -1);
  const std::int64_t p = int_attribute(use, "p", 2);
  if (p != 1 && p != 2) refuse(use, "unsupported_attribute", "attribute 'p' must be 1 or 2");
  return {like_first(use)};
}

/// A line of zeros stays one.
void compute_lp_norm(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  const Lines lines = lines_along(input(use, 0).shape, axis_attribute(use, -1));
  const bool absolute = int_attribute(use, "p", 2) == 1;
  for_each_line(lines, [&](std::size_t start) {
    const std::size_t end = start + lines.length * lines.inner;
    double sum = 0;
    for (std::size_t i = start; i < end; i += lines.inner) sum += absolute ? std::fabs(x[i]) : x[i] * x[i];
    const double norm = absolute ? sum : std::sqrt(sum);
    if (norm == 0) return;
    for (std::size_t i = start; i < end; i += lines.inner) x[i] /= norm;
  });
  set_doubles(outputs[0], std::move(x));
}

Work lp_norm_work(const OperatorUse& use, std::span<const Operand>) {
  const Shape& shape = input(use, 0).shape;
  const Lines lines = lines_along(shape, axis_attribute(use, -1));
  return norm_work(use,
                   element_count({static_cast<std::int64_t>(lines.outer), static_cast<std::int64_t>(lines.inner)}));
}

constexpr Operator norm_operators[] = {
    {"", "GroupNormalization", "groupnorm", 3, 3, "epsilon num_groups stash_type", infer_group_norm,
     group_norm_work, compute_group_norm, "18 21"},
    {"", "InstanceNormalization", "instancenorm", 3, 3, "epsilon", infer_instance_norm, instance_norm_work,
     compute_instance_norm, "7 22"},
    {"", "LayerNormalization", "layernorm", 1, 3, "axis epsilon stash_type", infer_layer_norm, layer_norm_work,
     compute_layer_norm, "17"},
    {"", "LpNormalization", "lpnorm", 1, 1, "axis p", infer_lp_norm, lp_norm_work, compute_lp_norm, "7 22"},
    {"", "MeanVarianceNormalization", "instancenorm", 1, 1, "axes", infer_mvn, mvn_work, compute_mvn, "9 13"},
    {"", "RMSNormalization", "rmsnorm", 2, 2, "axis epsilon stash_type", infer_rms_norm, layer_norm_work,
     compute_rms_norm, "23"},
    {"sdip", "GroupNorm", "groupnorm", 3, 3, "epsilon num_groups", infer_group_norm, group_norm_work,
     compute_group_norm, "1"},
    {"sdip", "RMSNorm", "rmsnorm", 1, 2, "axis epsilon", infer_fused_rms_norm, layer_norm_work,
     compute_fused_rms_norm, "1"},
};

}  // namespace

std::span<const Operator> norm_rows() { return norm_operators; }

}  // namespace sdip
