// Operators of an attention accelerator on a PYNQ-Z2 (domain pynq): softmax at a temperature, which its host
// computes, and the quantiser behind it.
#include "core/ops/elementwise/shift_quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/ops/families.h"
#include "core/ops/use.h"
#include "core/ops/values.h"

namespace sdip {
namespace {

std::vector<Operand> infer_shift_quantize(const OperatorUse& use) {
  require_type(
      use, 0, [](ElementType type) { return type == ElementType::float32; }, "float32");
  return {typed(ElementType::uint8, input(use, 0).shape)};
}

void compute_shift_quantize(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<std::int64_t> codes;
  for (const double x : value_of(use, 0).floats)
    codes.push_back(shift_quantised(std::bit_cast<std::uint32_t>(static_cast<float>(x))));
  give_ints(outputs[0], std::move(codes));
}

std::vector<Operand> infer_temperature_softmax(const OperatorUse& use) {
  require_type(use, 0, is_number, "a number");
  axis_attribute(use, -1);
  if (!(float_attribute(use, "temperature", 1) > 0))
    refuse(use, "unsupported_attribute", "a temperature is positive");
  return {typed(ElementType::float32, input(use, 0).shape)};
}

/// e^(x / T) over its sum along the axis, the greatest x taken out first. [0, 64 ln 3] at T = 64: [1/4, 3/4].
void compute_temperature_softmax(const OperatorUse& use, std::span<Operand> outputs) {
  std::vector<double> values = doubles_of(value_of(use, 0));
  const double temperature = float_attribute(use, "temperature", 1);
  const Lines lines = lines_along(input(use, 0).shape, axis_attribute(use, -1));
  for_each_line(lines, [&](std::size_t start) {
    const std::size_t end = start + lines.length * lines.inner;
    double most = -HUGE_VAL, sum = 0;
    for (std::size_t i = start; i < end; i += lines.inner) most = std::max(most, values[i]);
    for (std::size_t i = start; i < end; i += lines.inner)
      sum += values[i] = std::exp((values[i] - most) / temperature);
    for (std::size_t i = start; i < end; i += lines.inner) values[i] /= sum;
  });
  give_floats(outputs[0], std::move(values));
}

/// Three passes, as any softmax.
Work temperature_softmax_work(const OperatorUse& use, std::span<const Operand>) {
  const Shape& shape = input(use, 0).shape;
  const std::int64_t length = shape[axis_attribute(use, -1)];
  return row_work(use, Family::softmax, length == 0 ? 0 : element_count(shape) / length, length, 3);
}

constexpr Operator shift_quantize_operators[] = {
    {"pynq", "ShiftQuantize", "shift_quantize", 1, 1, "", infer_shift_quantize, elementwise_work,
     compute_shift_quantize, "1"},
    {"pynq", "TemperatureSoftmax", "softmax", 1, 1, "axis temperature", infer_temperature_softmax,
     temperature_softmax_work, compute_temperature_softmax, "1"},
};

}  // namespace

std::span<const Operator> shift_quantize_rows() { return shift_quantize_operators; }

}  // namespace sdip
