// Losses of classifiers: negative log-likelihood, and with the softmax before it.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

/// Scores [N,C,...] by target [N,...]: seen as [outer, classes, inner].
struct Loss {
  std::int64_t outer = 1, classes = 1, inner = 1;
  std::string reduction;
};

Loss loss_of(const OperatorUse& use) {
  const Shape& x = input(use, 0).shape;
  if (x.size() < 2) refuse(use, "shape_mismatch", "input " + shape_text(x) + " must have rank 2 or more");
  return {x[0], x[1], count_between(x, 2, x.size()),
          known_attribute(use, "reduction", "mean", {"none", "sum", "mean"})};
}

std::vector<Operand> infer_loss(const OperatorUse& use) {
  const Loss loss = loss_of(use);
  const Operand& x = input(use, 0);
  Shape target = {x.shape[0]};
  target.insert(target.end(), x.shape.begin() + 2, x.shape.end());
  input(use, 1);
  require_shape(use, 1, target);
  require_shape(use, 2, {x.shape[1]});
  std::vector<Operand> outputs = {typed(x.type, loss.reduction == "none" ? target : Shape{})};
  if (use.type == "SoftmaxCrossEntropyLoss") outputs.push_back(typed(x.type, x.shape));
  return outputs;
}

/// One score and one weight are fetched for each target.
Work likelihood_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const std::int64_t targets = element_count(input(use, 1).shape);
  return vector_work(use, outputs, targets, std::vector(use.inputs.size(), targets));
}

/// The softmax's three passes over all classes of each target; the loss takes what is there.
Work entropy_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Loss loss = loss_of(use);
  const std::int64_t rows = element_count({loss.outer, loss.inner});
  Work work = vector_work(use, outputs, loss.classes, std::vector(use.inputs.size(), rows));
  work.family = Family::softmax;
  work.rows = rows;
  work.passes = 3;
  work.read_elements[0] = 3 * element_count(input(use, 0).shape);
  return work;
}

/// -log_prob of each target, weighted; 0 where it is to be ignored. Mean: over the weights of what is not ignored.
void set_loss(const OperatorUse& use, const std::vector<double>& log_prob, Operand& output) {
  const Loss loss = loss_of(use);
  const std::vector<double> target = doubles_of(use, 1), weights = doubles_of(use, 2);
  const bool ignores = has_attribute(use, "ignore_index");
  const auto ignored = static_cast<double>(int_attribute(use, "ignore_index", 0));
  std::vector<double> losses(target.size(), 0.0);
  double total = 0, weight = 0;
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (ignores && target[i] == ignored) continue;
    if (!(target[i] >= 0 && target[i] < static_cast<double>(loss.classes))) {
      refuse(use, "shape_mismatch", fmt::format("a target is none of the {} classes", loss.classes));
    }
    const auto inner = as_size(loss.inner), label = static_cast<std::size_t>(target[i]);
    const std::size_t at = (i / inner * as_size(loss.classes) + label) * inner + i % inner;
    const double own = weights.empty() ? 1.0 : weights[label];
    losses[i] = -log_prob[at] * own;
    total += losses[i];
    weight += own;
  }
  if (loss.reduction == "none") return set_doubles(output, losses);
  set_doubles(output, {loss.reduction == "sum" ? total : total / weight});
}

void compute_likelihood(const OperatorUse& use, std::span<Operand> outputs) {
  set_loss(use, doubles_of(use, 0), outputs[0]);
}

void compute_entropy(const OperatorUse& use, std::span<Operand> outputs) {
  const Loss loss = loss_of(use);
  std::vector<double> x = doubles_of(use, 0);
  const auto classes = as_size(loss.classes), inner = as_size(loss.inner);
  for (std::size_t row = 0; row < x.size() / std::max<std::size_t>(1, classes); ++row) {
    const std::size_t first = row / inner * classes * inner + row % inner;
    double most = x[first], sum = 0;
    for (std::size_t c = 0; c < classes; ++c) most = std::max(most, x[first + c * inner]);
    for (std::size_t c = 0; c < classes; ++c) sum += std::exp(x[first + c * inner] - most);
    for (std::size_t c = 0; c < classes; ++c) x[first + c * inner] -= most + std::log(sum);
  }
  set_loss(use, x, outputs[0]);
  set_doubles(outputs[1], x);
}

constexpr Operator loss_operators[] = {
    {"", "NegativeLogLikelihoodLoss", "nll_loss", 2, 3, "ignore_index reduction", infer_loss, likelihood_work,
     compute_likelihood, "12 13 22"},
    {"", "SoftmaxCrossEntropyLoss", "softmax_loss", 2, 3, "ignore_index reduction", infer_loss, entropy_work,
     compute_entropy, "12 13"},
};

}  // namespace

std::span<const Operator> loss_rows() { return loss_operators; }

}  // namespace sdip
