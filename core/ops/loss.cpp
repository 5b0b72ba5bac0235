// Losses: how far log probabilities are from the classes that were right.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/use.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

enum class Reduction { none, sum, mean };

Reduction reduction_of(const OperatorUse& use) {
  const std::string text = string_attribute(use, "reduction", "mean");
  if (text == "none") return Reduction::none;
  if (text == "sum") return Reduction::sum;
  if (text == "mean") return Reduction::mean;
  refuse(use, "unsupported_attribute", "attribute 'reduction' is '" + text + "', expected none, sum or mean");
}

/// Scores [N,C,d1,..] of classes, targets [N,d1,..], a weight for each class; the loss of each target, or one.
Operand loss_operand(const OperatorUse& use) {
  const Operand &scores = input(use, 0), &targets = input(use, 1);
  const Operand* weights = optional_input(use, 2);
  require_type(use, 0, is_floating, "a float");
  require_type(use, 1, is_integer, "an integer");
  Shape expected = scores.shape;
  if (expected.size() >= 2) expected.erase(expected.begin() + 1);
  if (scores.shape.size() < 2 || targets.shape != expected) {
    refuse(use, "shape_mismatch",
           "targets " + shape_text(targets.shape) + " do not fit scores " + shape_text(scores.shape));
  }
  if (weights != nullptr && (weights->shape != Shape{scores.shape[1]} || weights->type != scores.type)) {
    refuse(use, "shape_mismatch", "weights must be one a class, but are " + shape_text(weights->shape));
  }
  return typed(scores.type, reduction_of(use) == Reduction::none ? targets.shape : Shape{});
}

/// Minus the weighted log probability of each target's class; an ignored target counts nothing. The mean is over
/// the weights. Log probabilities -1 and -2 of the targets with weights 1 and 3: losses 1 and 6, mean 7/4.
void give_loss(const OperatorUse& use, const std::vector<double>& log_probabilities, Operand& out) {
  const Tensor& targets = value_of(use, 1);
  const Tensor* weights = optional_value(use, 2);
  const Lines lines = lines_along(input(use, 0).shape, 1);
  const bool ignores = has_attribute(use, "ignore_index");
  const std::int64_t ignored = int_attribute(use, "ignore_index", 0);
  std::vector<double> losses;
  double weight_sum = 0, loss_sum = 0;
  for_each_line(lines, [&](std::size_t start) {
    const std::int64_t target = targets.ints[losses.size()];
    if (ignores && target == ignored) {
      losses.push_back(0);
      return;
    }
    if (target < 0 || target >= static_cast<std::int64_t>(lines.length)) {
      refuse(use, "shape_mismatch",
             "target " + std::to_string(target) + " of " + std::to_string(lines.length) + " classes");
    }
    const auto at = static_cast<std::size_t>(target);
    const double weight = weights == nullptr ? 1.0 : weights->floats[at];
    losses.push_back(-weight * log_probabilities[start + at * lines.inner]);
    weight_sum += weight;
    loss_sum += losses.back();
  });
  switch (reduction_of(use)) {
    case Reduction::none:
      give_floats(out, std::move(losses));
      break;
    case Reduction::sum:
      give_floats(out, {loss_sum});
      break;
    case Reduction::mean:
      give_floats(out, {loss_sum / weight_sum});
  }
}

std::vector<Operand> infer_likelihood(const OperatorUse& use) { return {loss_operand(use)}; }

void compute_likelihood(const OperatorUse& use, std::span<Operand> outputs) {
  give_loss(use, value_of(use, 0).floats, outputs[0]);
}

/// One score is read for each target.
Work likelihood_work(const OperatorUse& use, std::span<const Operand> outputs) {
  Work work;
  work.row_length = element_count(input(use, 1).shape);
  work.read_elements.assign(use.inputs.size(), work.row_length);
  work.write_elements = element_count(outputs[0].shape);
  return work;
}

/// Outputs: the loss, and the log probabilities.
std::vector<Operand> infer_cross_entropy(const OperatorUse& use) { return {loss_operand(use), like_first(use)}; }

void compute_cross_entropy(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> x = value_of(use, 0).floats;
  const Lines lines = lines_along(input(use, 0).shape, 1);
  for_each_line(lines, [&](std::size_t start) {
    const std::size_t end = start + lines.length * lines.inner;
    double most = -HUGE_VAL, sum = 0;
    for (std::size_t i = start; i < end; i += lines.inner) most = std::max(most, x[i]);
    for (std::size_t i = start; i < end; i += lines.inner) sum += std::exp(x[i] - most);
    for (std::size_t i = start; i < end; i += lines.inner) x[i] -= most + std::log(sum);
  });
  give_loss(use, x, outputs[0]);
  give_floats(outputs[1], std::move(x));
}

/// Two passes over each target's scores, the greatest and the sum of exponentials; a third where the log
/// probabilities are asked for.
Work cross_entropy_work(const OperatorUse& use, std::span<const Operand> outputs) {
  const Shape& scores = input(use, 0).shape;
  Work work;
  work.family = Family::softmax;
  work.row_length = scores[1];
  work.rows = element_count(input(use, 1).shape);
  work.passes = outputs.size() > 1 ? 3 : 2;
  work.read_elements.assign(use.inputs.size(), work.rows);
  work.read_elements[0] = element_count({work.passes, element_count(scores)});
  for (const Operand& output : outputs) work.write_elements += element_count(output.shape);
  return work;
}

constexpr Operator rows[] = {
    {"", "NegativeLogLikelihoodLoss", "nll_loss", 2, 3, "ignore_index reduction", infer_likelihood, likelihood_work,
     compute_likelihood, "12 13 22"},
    {"", "SoftmaxCrossEntropyLoss", "cross_entropy", 2, 3, "ignore_index reduction", infer_cross_entropy,
     cross_entropy_work, compute_cross_entropy, "12 13"},
};

}  // namespace

std::span<const Operator> loss_rows() { return rows; }

}  // namespace sdip
