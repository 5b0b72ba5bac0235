// Batch normalisation, with statistics given or of the batch, and normalisation over neighbouring channels.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// From opset 14 on an attribute says so; before, the outputs that only training has.
bool is_training(const OperatorUse& use) {
  return use.opset >= 14 ? int_attribute(use, "training_mode", 0) != 0 : use.output_count > 1;
}

/// Statistics for whole channels, or (before opset 9, spatial = 0) for each place within them.
std::int64_t statistics_count(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  const bool by_place = use.opset < 9 && int_attribute(use, "spatial", 1) == 0;
  return by_place ? count_between(x, 1, x.size()) : x[1];
}

/// Outputs: the result and, in training, running mean and variance; before opset 14 the batch's own, too.
std::vector<Operand> infer_batch_norm(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  const Shape& x = input(use, 0).shape;
  if (x.size() < 2) refuse(use, "shape_mismatch", "input " + shape_text(x) + " must have rank 2 or more");
  for (std::size_t i = 1; i < 5; ++i) require_floats(use, i, statistics_count(use));
  std::vector<Operand> outputs{like_first(use)};
  if (!is_training(use)) return outputs;
  const std::size_t count = use.opset >= 14 ? 3 : 5;
  while (outputs.size() < count) {
    const Operand& like = input(use, outputs.size() % 2 == 1 ? 3 : 4);
    outputs.push_back(typed(like.type, like.shape));
  }
  return outputs;
}

/// For each element of the input, the statistics it belongs to.
class StatisticsOf {
 public:
  explicit StatisticsOf(const OperatorUse& use) : count_(as_size(statistics_count(use))) {
    const Shape& x = input(use, 0).shape;
    const auto sample = as_size(count_between(x, 1, x.size()));
    inner_ = count_ == 0 ? 1 : std::max<std::size_t>(1, sample / count_);
  }
  std::size_t operator[](std::size_t element) const { return element / inner_ % count_; }

 private:
  std::size_t count_, inner_;
};

struct Statistics {
  std::vector<double> mean, variance;
};

Statistics batch_statistics(const std::vector<double>& x, const StatisticsOf& of, std::size_t count) {
  Statistics found{std::vector<double>(count), std::vector<double>(count)};
  const double each = static_cast<double>(x.size()) / static_cast<double>(count);
  for (std::size_t i = 0; i < x.size(); ++i) found.mean[of[i]] += x[i] / each;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double apart = x[i] - found.mean[of[i]];
    found.variance[of[i]] += apart * apart / each;
  }
  return found;
}

/// In training with momentum m: running mean = m times the old one + (1 - m) times the batch's; the variance, that
/// of the population, the same.
void compute_batch_norm(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  const std::vector<double>&scale = value_of(use, 1).floats, &bias = value_of(use, 2).floats;
  const StatisticsOf of(use);
  Statistics used{value_of(use, 3).floats, value_of(use, 4).floats};
  if (is_training(use)) {
    Statistics running = used;
    used = batch_statistics(x, of, used.mean.size());
    const double momentum = float_attribute(use, "momentum", 0.9);
    for (std::size_t c = 0; c < used.mean.size(); ++c) {
      running.mean[c] = running.mean[c] * momentum + used.mean[c] * (1 - momentum);
      running.variance[c] = running.variance[c] * momentum + used.variance[c] * (1 - momentum);
    }
    set_doubles(outputs[1], std::move(running.mean));
    set_doubles(outputs[2], std::move(running.variance));
    if (outputs.size() > 3) {
      set_doubles(outputs[3], used.mean);
      set_doubles(outputs[4], used.variance);
    }
  }
  const double epsilon = float_attribute(use, "epsilon", 1e-5);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t c = of[i];
    x[i] = (x[i] - used.mean[c]) / std::sqrt(used.variance[c] + epsilon) * scale[c] + bias[c];
  }
  set_doubles(outputs[0], std::move(x));
}

/// With mean and variance known it is elementwise; scale, bias, mean and variance stay in registers over a channel.
/// In training it is a norm: two passes over each channel's elements, sums and then the result.
Work batch_norm_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape& x = input(use, 0).shape;
  Work work;
  work.row_length = work.write_elements = element_count(x);
  const bool by_channel = statistics_count(use) == x[1];
  work.read_elements.assign(use.inputs.size(), by_channel ? element_count({x[0], x[1]}) : work.row_length);
  work.read_elements[0] = work.row_length;
  if (!is_training(use)) return work;
  work.family = Family::norm;
  work.rows = statistics_count(use);
  work.row_length = work.rows == 0 ? 0 : work.row_length / work.rows;
  work.passes = 2;
  work.read_elements.assign(use.inputs.size(), work.rows);
  work.read_elements[0] = 2 * work.write_elements;
  for (std::size_t i = 1; i < outputs.size(); ++i) work.write_elements += element_count(outputs[i].shape);
  return work;
}

std::vector<Operand> infer_lrn(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  if (input(use, 0).shape.size() < 2) refuse(use, "shape_mismatch", "the input must have rank 2 or more");
  const std::int64_t size = int_attribute(use, "size", 0);
  if (size < 1 || size > 1'000'000) refuse(use, "unsupported_attribute", "attribute 'size' is out of range");
  return {like_first(use)};
}

/// x / (bias + alpha / size * sum of squares)^beta, summed over `size` channels around each: of size 3 one to each
/// side, of size 4 one before and two behind.
void compute_lrn(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<double>& in = value_of(use, 0).floats;
  std::vector<double> values(in.size());
  const double alpha = float_attribute(use, "alpha", 0.0001), beta = float_attribute(use, "beta", 0.75);
  const double bias = float_attribute(use, "bias", 1.0);
  const auto size = as_size(int_attribute(use, "size", 1));
  const std::size_t before = (size - 1) / 2, behind = size - 1 - before;
  const Lines lines = lines_along(input(use, 0).shape, 1);
  for_each_line(lines, [&](std::size_t start) {
    for (std::size_t c = 0; c < lines.length; ++c) {
      double squares = 0;
      const std::size_t first = c - std::min(before, c), last = std::min(lines.length - 1, c + behind);
      for (std::size_t k = first; k <= last; ++k)
        squares += in[start + k * lines.inner] * in[start + k * lines.inner];
      const std::size_t at = start + c * lines.inner;
      values[at] = in[at] / std::pow(bias + alpha / static_cast<double>(size) * squares, beta);
    }
  });
  set_doubles(outputs[0], std::move(values));
}

/// Each result looks at `size` neighbouring channels.
Work lrn_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const std::int64_t squares = element_count({element_count(outputs[0].shape), int_attribute(use, "size", 1)});
  return vector_work(use, outputs, squares, {squares});
}

constexpr Operator batchnorm_operators[] = {
    {"", "BatchNormalization", "batchnorm", 5, 5, "epsilon momentum spatial training_mode", infer_batch_norm,
     batch_norm_work, compute_batch_norm, "7 9 14 15"},
    {"", "LRN", "lrn", 1, 1, "alpha beta bias size", infer_lrn, lrn_work, compute_lrn, "7 13"},
};

}  // namespace

std::span<const Operator> batchnorm_rows() { return batchnorm_operators; }

}  // namespace sdip
