// Softmax, its logarithm, and the one at the greatest: along one axis from opset 13 on, before that over all axes
// from one on.
#include <algorithm>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::size_t softmax_axis(const OperatorUse& use) {
  const std::size_t rank = input(use, 0).shape.size();
  const std::int64_t axis = int_attribute(use, "axis", use.opset < 13 ? 1 : -1);
  // Before opset 13 the axis splits the tensor in two, and may stand behind the last.
  if (use.opset < 13 && axis == static_cast<std::int64_t>(rank)) return rank;
  return axis_within(use, axis, rank);
}

std::vector<Operand> infer_softmax(const OperatorUse& use) {
  require_type(use, 0, is_floating, "a float");
  softmax_axis(use);
  return {like_first(use)};
}

Lines softmax_lines(const OperatorUse& use) {
  const Shape& shape = input(use, 0).shape;
  const std::size_t axis = softmax_axis(use);
  if (use.opset >= 13) return lines_along(shape, axis);
  return lines_along({count_between(shape, 0, axis), count_between(shape, axis, shape.size())}, 1);
}

/// e^(x / T) over its sum along each line, or its logarithm; the greatest x is taken out first, so that no
/// exponential overflows. [0, ln 3]: [1/4, 3/4], logarithms -ln 4 and ln 3 - ln 4; [0, 64 ln 3] at T = 64: [1/4,
/// 3/4].
template <bool Logarithm>
void softmax_lines(std::vector<double>& values, const Lines& lines, double temperature) {
  for_each_line(lines, [&](std::size_t start) {
    const std::size_t end = start + lines.length * lines.inner;
    double most = -HUGE_VAL, sum = 0;
    for (std::size_t i = start; i < end; i += lines.inner) most = std::max(most, values[i]);
    for (std::size_t i = start; i < end; i += lines.inner) {
      values[i] = (values[i] - most) / temperature;
      sum += std::exp(values[i]);
    }
    for (std::size_t i = start; i < end; i += lines.inner)
      values[i] = Logarithm ? values[i] - std::log(sum) : std::exp(values[i]) / sum;
  });
}

template <bool Logarithm>
void compute_softmax(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> values = value_of(use, 0).floats;
  softmax_lines<Logarithm>(values, softmax_lines(use), 1);
  set_doubles(outputs[0], std::move(values));
}

/// 1 at the first of the greatest, 0 elsewhere.
void compute_hardmax(const OperatorUse& use, std::span<Operand> outputs) {
  const std::vector<double>& in = value_of(use, 0).floats;
  std::vector<double> values(in.size(), 0.0);
  const Lines lines = softmax_lines(use);
  for_each_line(lines, [&](std::size_t start) {
    std::size_t best = start;
    for (std::size_t k = 1; k < lines.length; ++k) {
      if (float_below(in[best], in[start + k * lines.inner])) best = start + k * lines.inner;
    }
    if (lines.length > 0) values[best] = 1.0;
  });
  set_doubles(outputs[0], std::move(values));
}

/// [2,8,64,77] along the last axis: 1024 rows of 77.
Work work_of_rows(const OperatorUse& use, std::int64_t length, Family family, std::int64_t passes) {
  const std::int64_t elements = element_count(input(use, 0).shape);
  return row_work(use, family, length == 0 ? 0 : elements / length, length, passes);
}

std::int64_t softmax_length(const OperatorUse& use) {
  const Shape& shape = input(use, 0).shape;
  const std::size_t axis = softmax_axis(use);
  return use.opset < 13 ? count_between(shape, axis, shape.size()) : shape[axis];
}

/// Three passes: the greatest; exp and its sum; exp again, divided.
Work softmax_work(const OperatorUse& use, std::span<const Operand>) {
  return work_of_rows(use, softmax_length(use), Family::softmax, 3);
}

/// Two passes: the greatest; ones and zeros. It has no exponentials, so the vector circuit does it.
Work hardmax_work(const OperatorUse& use, std::span<const Operand>) {
  return work_of_rows(use, softmax_length(use), Family::vector, 2);
}

/// Softmax at a temperature, which the host of an attention accelerator on a PYNQ-Z2 computes (domain pynq).
std::vector<Operand> infer_temperature_softmax(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  axis_attribute(use, -1);
  if (!(float_attribute(use, "temperature", 1) > 0))
    refuse(use, "unsupported_attribute", "a temperature is positive");
  return {typed(ElementType::float32, input(use, 0).shape)};
}

void compute_temperature_softmax(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> values = doubles_of(use, 0);
  softmax_lines<false>(values, lines_along(input(use, 0).shape, axis_attribute(use, -1)),
                       float_attribute(use, "temperature", 1));
  set_doubles(outputs[0], std::move(values));
}

/// Three passes, as any softmax.
Work temperature_softmax_work(const OperatorUse& use, std::span<const Operand>) {
  return work_of_rows(use, input(use, 0).shape[axis_attribute(use, -1)], Family::softmax, 3);
}

constexpr Operator softmax_operators[] = {
    {"", "Hardmax", "hardmax", 1, 1, "axis", infer_softmax, hardmax_work, compute_hardmax, "7 11 13"},
    {"", "LogSoftmax", "logsoftmax", 1, 1, "axis", infer_softmax, softmax_work, compute_softmax<true>, "7 11 13"},
    {"", "Softmax", "softmax", 1, 1, "axis", infer_softmax, softmax_work, compute_softmax<false>, "7 11 13"},
    {"pynq", "TemperatureSoftmax", "softmax", 1, 1, "axis temperature", infer_temperature_softmax,
     temperature_softmax_work, compute_temperature_softmax, "1"},
};

}  // namespace

std::span<const Operator> softmax_rows() { return softmax_operators; }

}  // namespace sdip
