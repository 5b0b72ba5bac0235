// Ranges of integer formats, and scales of activations from what a graph computes.
#include "core/exec/run/calibration.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/graph/attributes.h"
#include "core/program/weights/weight_scales.h"

namespace sdip {
namespace {

/// The number that `percent` of them do not exceed: the nearest rank, from 1. Requires numbers.
double nearest_rank(std::vector<double> numbers, double percent) {
  const auto count = static_cast<double>(numbers.size());
  const double rank = std::clamp(std::ceil(percent / 100 * count), 1.0, count);
  const auto at = numbers.begin() + static_cast<std::ptrdiff_t>(rank) - 1;
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

NumberRange percentile_range(NumberFormat format, std::vector<double> numbers, double percent) {
  check(percent > 50 && percent <= 100, "a percentile above 50");
  if (!needs_zero_point(format)) {
    for (double& x : numbers) x = std::fabs(x);
    const double most = nearest_rank(std::move(numbers), percent);
    return {-most, most};
  }
  const double most = nearest_rank(numbers, percent);
  for (double& x : numbers) x = -x;
  return {std::min(0.0, -nearest_rank(std::move(numbers), percent)), std::max(0.0, most)};
}

NumberRange with_least_error(NumberFormat format, const std::vector<double>& numbers, const NumberRange& whole) {
  NumberRange best = whole;
  double least_error = std::numeric_limits<double>::infinity();
  for (int step = mse_steps; step > 0; --step) {
    const double share = static_cast<double>(step) / mse_steps;
    const NumberRange range{whole.least * share, whole.most * share};
    const WeightScale scale = weight_scale(format, range.least, range.most);
    const std::int64_t zero = scale.zero.value_or(0);
    double error = 0;
    for (const double x : numbers) {
      const std::uint32_t code = encoded(format, static_cast<float>(x), scale.scale, zero);
      const double off = x - static_cast<double>(decoded(format, code, scale.scale, zero));
      error += off * off;
    }
    if (error >= least_error) continue;
    least_error = error;
    best = range;
  }
  return best;
}

/// Samples of a value: its bounds, and elements to look at.
struct Seen {
  NumberRange whole;
  std::vector<float> looked_at;
};

NumberRange range_of_seen(NumberFormat format, const Seen& seen, const CalibrationRule& rule) {
  NumberRange whole = seen.whole;
  if (!needs_zero_point(format)) {
    const double most = std::max(-whole.least, whole.most);
    whole = {-most, most};
  }
  if (rule.method == CalibrationMethod::minmax || seen.looked_at.empty()) return whole;
  std::vector<double> numbers(seen.looked_at.begin(), seen.looked_at.end());
  if (rule.method == CalibrationMethod::percentile)
    return percentile_range(format, std::move(numbers), rule.percent);
  return with_least_error(format, numbers, whole);
}

/// The Softmax that alone reads a value, perhaps under other shapes; nullptr when others do, too.
const Node* only_softmax(const Graph& graph, ValueId v) {
  static constexpr std::string_view same_order[] = {"Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity"};
  for (;;) {
    const Value& value = graph.values[v];
    const bool result = std::ranges::find(graph.outputs, v) != graph.outputs.end();
    if (value.consumers.size() != 1 || result) return nullptr;
    const Node& node = graph.nodes[value.consumers[0]];
    if (node.inputs[0] != v) return nullptr;
    if (node.op->domain.empty() && node.op->type == "Softmax") return &node;
    if (std::ranges::find(same_order, node.op->type) == std::end(same_order)) return nullptr;
    v = node.outputs[0];
  }
}

/// Elements of a row of a Softmax's operand that stand one behind the other; 0 where they do not.
std::int64_t row_of_softmax(const Graph& graph, const Node& softmax) {
  const Shape& shape = graph.values[softmax.inputs[0]].operand.shape;
  if (shape.empty()) return 0;
  const auto axis = attribute_or<std::int64_t>(softmax, "axis", softmax.opset < 13 ? 1 : -1);
  return axis == -1 || axis == std::ssize(shape) - 1 ? shape.back() : 0;
}

void look_at(Seen& seen, const std::vector<double>& numbers, std::int64_t stride) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double x = numbers[i];
    if (!std::isfinite(x)) continue;
    seen.whole = {std::min(seen.whole.least, x), std::max(seen.whole.most, x)};
    if (static_cast<std::int64_t>(i) % stride == 0) seen.looked_at.push_back(static_cast<float>(x));
  }
}

/// A graph whose results are all floats that are given or made.
Graph with_all_results(const Graph& graph) {
  Graph all = graph;
  all.outputs.clear();
  for (ValueId v = 0; v < std::ssize(graph.values); ++v) {
    const Value& value = graph.values[v];
    const bool made =
        value.kind == ValueKind::input || (value.kind == ValueKind::activation && value.producer != none);
    if (made && is_floating(value.operand.type)) all.outputs.push_back(v);
  }
  return all;
}

}  // namespace

NumberRange calibrated_range(NumberFormat format, std::span<const float> numbers, const CalibrationRule& rule) {
  check(needs_scale(format), "a format with a scale");
  Seen seen;
  look_at(seen, std::vector<double>(numbers.begin(), numbers.end()), 1);
  return range_of_seen(format, seen, rule);
}

/// Infinities are raised, too; rows of nothing but -infinity stay.
void raise_masked(const Graph& graph, ValueId v, NumberFormat format, std::vector<double>& numbers) {
  const Node* softmax = only_softmax(graph, v);
  const std::int64_t row = softmax == nullptr ? 0 : row_of_softmax(graph, *softmax);
  if (row == 0) return;
  const bool floating = is_floating(format);
  const double largest = floating ? 0x1p24 : static_cast<double>(largest_code(format));
  const double depth = std::log(2 * largest * static_cast<double>(row));
  for (auto begin = numbers.begin(); numbers.end() - begin >= row; begin += row) {
    const double most = *std::max_element(begin, begin + row);
    if (!std::isfinite(most)) continue;
    for (auto x = begin; x != begin + row; ++x) *x = std::max(*x, most - depth);
  }
}

ActivationScales calibrated_scales(const Graph& graph, const Machine& machine,
                                   std::span<const std::vector<Tensor>> samples, const StoredTensors& stored,
                                   const CalibrationRule& rule, const Stop& stop) {
  check(!samples.empty(), "a sample");
  ActivationScales scales;
  const auto format_of = [&](ValueId v) { return graph.values[v].format.value_or(machine.activation_format); };
  const auto is_scaled = [&](const Value& value) {
    return needs_scale(value.format.value_or(machine.activation_format));
  };
  if (std::ranges::none_of(graph.values, is_scaled)) return scales;
  const Graph all = with_all_results(graph);
  std::map<ValueId, Seen> seen;
  for (const std::vector<Tensor>& inputs : samples) {
    std::vector<Tensor> tensors = compute(all, inputs, stored, stop);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      std::vector<double>& numbers = tensors[i].floats;
      const NumberFormat format = format_of(all.outputs[i]);
      if (!needs_scale(format)) continue;
      raise_masked(graph, all.outputs[i], format, numbers);
      const std::int64_t elements = std::ssize(numbers) * std::ssize(samples);
      look_at(seen[all.outputs[i]], numbers,
              std::max<std::int64_t>(ceil_div(elements, most_calibration_elements), 1));
    }
  }
  for (const auto& [value, of_value] : seen) {
    const NumberFormat format = format_of(value);
    const NumberRange range = range_of_seen(format, of_value, rule);
    scales[value] = weight_scale(format, range.least, range.most);
  }
  return scales;
}

ActivationScales activation_scales(const Graph& graph, const Machine& machine, std::span<const Tensor> inputs,
                                   const StoredTensors& stored, const Stop& stop) {
  const std::vector<Tensor> sample(inputs.begin(), inputs.end());
  return calibrated_scales(graph, machine, std::span(&sample, 1), stored, {}, stop);
}

}  // namespace sdip
