// Norms by element.
#include "core/exec/chip/norms.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/exec/chip/chip.h"
#include "core/exec/kernels/wide.h"
#include "core/exec/walk/broadcast.h"
#include "core/graph/attributes.h"
#include "core/ops/values.h"

namespace sdip::exec {
namespace {

bool result_alone(const Node& node) {
  return std::all_of(node.outputs.begin() + 1, node.outputs.end(), [](ValueId v) { return v == none; });
}

/// Elements of gamma or beta. An activation is read once and held.
std::vector<double> parameters(Chip& chip, OperandPlace place, const Elements& at) {
  const ValueId v = place.first->inputs[place.second];
  const bool weight = chip.value(v).kind == ValueKind::weight;
  return doubles_of(weight ? read_operand(chip, v, at) : picked(held_operand(chip, place), at));
}

/// Which of gamma, or of beta, stand beside elements: of norms of channels those of one parameter a channel.
Elements parameters_beside(const Chip& chip, const NormRule& rule, std::size_t input, const Elements& at) {
  const Shape& whole = chip.value(rule.node->inputs[0]).operand.shape;
  if (rule.channels == 0) return elements_beside(chip.value(rule.node->inputs[input]).operand.shape, whole, at);
  return elements_beside({rule.channels, 1},
                         {element_count(whole) / rule.channels / rule.inner, rule.channels, rule.inner}, at);
}

/// Gamma or beta beside elements `at`.
std::vector<double> parameters_at(Chip& chip, const NormRule& rule, std::size_t input, const Elements& at) {
  const std::int64_t count = element_count(chip.value(rule.node->inputs[input]).operand.shape);
  const Elements beside = parameters_beside(chip, rule, input, at);
  if (rule.channels == 0 || count == rule.channels) return parameters(chip, {rule.node, input}, beside);
  Elements elements;
  beside.each([&](std::int64_t channel) { elements.add({channel * count / rule.channels, 1, 1}); });
  return parameters(chip, {rule.node, input}, elements);
}

/// The mean that is taken from a row's numbers, and the scale that multiplies the rest.
struct RowScale {
  double mean = 0, scale = 1;
};

RowScale scale_of(const NormRule& rule, const NormSums& sums, std::size_t row) {
  const auto length = static_cast<double>(rule.length);
  const double mean = rule.centred ? sums.sum[row] / length : 0;
  // E[x^2] - mean^2; below 0 by rounding alone. A NaN stays one.
  const double variance = std::max(sums.squares[row] / length - mean * mean, 0.0);
  return {mean, 1.0 / std::sqrt(variance + rule.epsilon)};
}

}  // namespace

std::optional<NormRule> norm_rule(const Graph& graph, const Node& node) {
  const std::string_view type = node.op->type, domain = node.op->domain;
  const bool groups = type == "GroupNormalization" || (domain == "sdip" && type == "GroupNorm");
  const bool instances = type == "InstanceNormalization", layers = type == "LayerNormalization";
  const bool roots = type == "RMSNormalization" || (domain == "sdip" && type == "RMSNorm");
  if (!(groups || instances || layers || roots) || !result_alone(node)) return std::nullopt;
  const Shape& shape = graph.values[node.inputs[0]].operand.shape;
  const std::int64_t count = element_count(shape);
  NormRule rule;
  rule.node = &node;
  rule.epsilon = attribute_or(node, "epsilon", 1e-5);
  rule.centred = !roots;
  rule.rows = 1;
  if (groups || instances) {
    rule.channels = shape.at(1);
    for (std::size_t axis = 2; axis < shape.size(); ++axis) rule.inner *= shape[axis];
    rule.rows = shape[0] * (instances ? shape[1] : attribute_or<std::int64_t>(node, "num_groups", 1));
  } else {
    std::int64_t axis = attribute_or<std::int64_t>(node, "axis", -1);
    if (axis < 0) axis += std::ssize(shape);
    for (std::int64_t i = 0; i < axis; ++i) rule.rows *= shape[at(i)];
  }
  if (count == 0 || rule.rows == 0) return std::nullopt;
  rule.length = count / rule.rows;
  return rule;
}

NormSums empty_sums(const NormRule& rule) {
  const std::vector<double> zeros(as_size(rule.rows), 0.0);
  return {zeros, zeros};
}

void add_to_sums(NormSums& sums, const NormRule& rule, const Elements& at, const std::vector<double>& x) {
  std::size_t i = 0;
  at.each_run(rule.length, [&](std::int64_t number, std::int64_t, std::int64_t count) {
    const auto row = as_size(number);
    double sum = sums.sum[row], squares = sums.squares[row];
    for (const std::size_t end = i + as_size(count); i < end; ++i) {
      sum += x[i];
      squares += x[i] * x[i];
    }
    sums.sum[row] = sum, sums.squares[row] = squares;
  });
}

Numbers normalised(Chip& chip, const NormRule& rule, const NormSums& sums, const Elements& at,
                   const std::vector<double>& x) {
  const ElementType type = chip.value(rule.node->outputs[0]).operand.type;
  const auto given = [&](std::size_t i) { return i < rule.node->inputs.size() && rule.node->inputs[i] != none; };
  const auto gamma = given(1) ? parameters_at(chip, rule, 1, at) : std::vector<double>(x.size(), 1.0);
  const auto beta = given(2) ? parameters_at(chip, rule, 2, at) : std::vector<double>(x.size(), 0.0);
  std::vector<double> y(x.size());
  std::size_t i = 0;
  at.each_run(rule.length, [&](std::int64_t row, std::int64_t, std::int64_t count) {
    const auto [mean, scale] = scale_of(rule, sums, as_size(row));
    for (const std::size_t end = i + as_size(count); i < end; ++i)
      y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
  });
  if (type != ElementType::float32 && type != ElementType::float64)
    for (double& number : y) number = held_double(type, number);
  return numbers_of({type, {}, {}, std::move(y)});
}

std::optional<NormParameters> norm_parameters(Chip& chip, const NormRule& rule) {
  NormParameters found;
  for (std::size_t i = 1; i < 3 && i < rule.node->inputs.size(); ++i) {
    const ValueId v = rule.node->inputs[i];
    if (v == none) continue;
    const std::int64_t count = element_count(chip.value(v).operand.shape);
    if (rule.channels != 0 && count != rule.channels) return std::nullopt;
    (i == 1 ? found.gamma : found.beta) = doubles_of(read_operand(chip, v, Elements::first(count)));
  }
  return found;
}

namespace {

/// Parameters of a row in the order of its elements: where each run of them begins, and their step.
struct ParameterRuns {
  const double* numbers = nullptr;
  Elements at{};
  std::size_t line = 0;
  std::int64_t done = 0;

  /// Those of the next elements, at most `most`: `count` of them, at steps of 0 or 1.
  const double* next(std::int64_t most, std::int64_t& count, std::int64_t& step) const {
    static constexpr double one = 1;
    count = most, step = 0;
    if (numbers == nullptr) return &one;
    const Line& now = at.lines()[line];
    step = now.count == 1 ? 0 : now.step;
    count = step > 1 || step < 0 ? 1 : std::min(most, now.count - done);
    return numbers + now.begin + done * now.step;
  }
  void skip(std::int64_t count) {
    if (numbers == nullptr) return;
    done += count;
    if (done == at.lines()[line].count) ++line, done = 0;
  }
};

}  // namespace

void normalise_rows(Chip& chip, const NormRule& rule, const NormParameters& parameters, NormSums& sums,
                    bool sum_here, std::int64_t first, std::span<const float> x, float* to) {
  for (std::int64_t begin = 0; begin < std::ssize(x); begin += rule.length) {
    const auto row = at(rule.row_of(first + begin));
    const float* from = x.data() + begin;
    if (sum_here) {
      double sum = 0, squares = 0;
      for (std::int64_t i = 0; i < rule.length; ++i) {
        const auto number = static_cast<double>(from[i]);
        sum += number;
        squares += number * number;
      }
      sums.sum[row] = sum, sums.squares[row] = squares;
    }
    const RowScale of_row = scale_of(rule, sums, row);
    const double mean = of_row.mean, scale = of_row.scale;
    const Elements at = Elements::line({first + begin, rule.length, 1});
    ParameterRuns gamma, beta;
    if (!parameters.gamma.empty()) gamma = {parameters.gamma.data(), parameters_beside(chip, rule, 1, at)};
    if (!parameters.beta.empty()) beta = {parameters.beta.data(), parameters_beside(chip, rule, 2, at)};
    for (std::int64_t done = 0; done < rule.length;) {
      std::int64_t count = 0, gamma_step = 0, beta_step = 0;
      const double* g = gamma.next(rule.length - done, count, gamma_step);
      const double* b = beta.next(count, count, beta_step);
      static constexpr double nothing = 0;
      if (parameters.beta.empty()) b = &nothing;
      const float* some = from + done;
      float* made = to + begin + done;
      if (gamma_step == 0 && beta_step == 0) {
        const double by = *g, plus = *b;
        widely([=]() SDIP_WIDE {
          for (std::int64_t i = 0; i < count; ++i)
            made[i] = static_cast<float>((static_cast<double>(some[i]) - mean) * scale * by + plus);
        });
      } else {
        widely([=]() SDIP_WIDE {
          for (std::int64_t i = 0; i < count; ++i)
            made[i] = static_cast<float>((static_cast<double>(some[i]) - mean) * scale * g[i * gamma_step] +
                                         b[i * beta_step]);
        });
      }
      gamma.skip(count), beta.skip(count);
      done += count;
    }
  }
}

const NormSums& sums_of(const Chip& chip, const NormRule& rule) {
  const auto found = chip.norm_sums.find(rule.node);
  if (found == chip.norm_sums.end())
    throw Error("execution_failed", chip.who,
                chip.who + " reads the sums of '" + rule.node->name + "', which no instruction before it made");
  return found->second;
}

void begin_result_sums(Chip& chip) {
  chip.summed.clear();
  const InstructionClass& c = chip.instruction_class();
  const bool strips = c.compound == Compound::strips && !c.parts.empty();
  if ((strips ? c.parts.back().statistics_passes : c.statistics_passes) == 0 || chip.instruction().nodes.empty())
    return;
  for (const Node& node : chip.graph.nodes) {
    const auto rule = node.inputs.empty() || node.inputs[0] == none ? std::nullopt : norm_rule(chip.graph, node);
    const ValueId made = chip.instruction().destination;
    if (!rule || chip.views.root[node.inputs[0]] != made ||
        element_count(chip.value(node.inputs[0]).operand.shape) != element_count(chip.value(made).operand.shape))
      continue;
    chip.summed.push_back(*rule);
    chip.norm_sums[rule->node] = empty_sums(*rule);
  }
}

void add_result_sums(Chip& chip, const Elements& at, const Tensor& numbers) {
  for (const NormRule& rule : chip.summed)
    add_to_sums(chip.norm_sums.at(rule.node), rule, elements_in_view(chip.views, rule.node->inputs[0], at),
                doubles_of(numbers));
}

}  // namespace sdip::exec
