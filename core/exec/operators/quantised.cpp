// Zero points and scales of quantised products, element by element.
#include "core/exec/operators/quantised.h"

#include "core/graph/attributes.h"
#include "core/ops/elementwise/quantize.h"
#include "core/ops/values.h"

namespace sdip::exec {
namespace {

enum Position : std::size_t { x_scale = 3, x_zero, w_scale, w_zero, y_scale, y_zero };

bool has(const Node& node, std::size_t i) { return i < node.inputs.size() && node.inputs[i] != none; }

/// How a parameter lies over an operand or result: along its rows, its columns, or its channels (axis 0 of a
/// convolution's weight, axis 1 of its result).
enum class Along { rows, columns, first, second };

/// One number, or one for each element of `shape`.
std::vector<double> parameter_over(Chip& chip, const Node& node, std::size_t i, const Shape& shape, Along along,
                                   double otherwise) {
  if (!has(node, i)) return {otherwise};
  const Tensor tensor = read_whole(chip, node.inputs[i]);
  std::vector<double> numbers = doubles_of(tensor);
  if (numbers.size() == 1) return numbers;
  Shape from = tensor.shape;
  if (from.size() == 1 && along == Along::rows) from.push_back(1);
  if (from.size() == 1 && along == Along::first) from.insert(from.end(), shape.size() - 1, 1);
  if (from.size() == 1 && along == Along::second) from.insert(from.end(), shape.size() - 2, 1);
  return broadcast_doubles(numbers, from, shape);
}

double at_element(const std::vector<double>& numbers, std::int64_t element) {
  return numbers.size() == 1 ? numbers[0] : numbers[as_size(element)];
}

}  // namespace

bool is_quantised(const Node& node) {
  return node.op->domain == "sdip" && (node.op->type == "QuantizedConv" || node.op->type == "QuantizedMatMul");
}

OperandReader without_zero(Chip& chip, const Node& node, std::size_t index, OperandReader read) {
  if (!is_quantised(node) || !has(node, index == 0 ? x_zero : w_zero)) return read;
  const bool conv = node.op->type == "QuantizedConv";
  const Along along = index == 0 ? Along::rows
                      : conv     ? Along::first
                                 : (is_set(node, "trans_b") ? Along::rows : Along::columns);
  const Shape& shape = chip.value(node.inputs[index]).operand.shape;
  auto zeros = parameter_over(chip, node, index == 0 ? x_zero : w_zero, shape, along, 0);
  return [read = std::move(read), zeros = std::move(zeros)](const Elements& at) {
    Numbers numbers = read(at);
    std::size_t i = 0;
    at.each([&](std::int64_t element) {
      const double zero = at_element(zeros, element);
      if (!numbers.floats.empty())
        numbers.floats[i] = static_cast<float>(static_cast<double>(numbers.floats[i]) - zero);
      if (!numbers.doubles.empty()) numbers.doubles[i] -= zero;
      if (!numbers.ints.empty()) numbers.ints[i] -= static_cast<std::int64_t>(zero);
      ++i;
    });
    return numbers;
  };
}

double Rescale::operator()(ElementType type, std::int64_t element, double sum) const {
  if (integers) sum = held_double(ElementType::int32, sum);
  if (!scaled) return sum;
  const float both =
      static_cast<float>(at_element(x_scale, element)) * static_cast<float>(at_element(w_scale, element));
  const float factor = rescaled ? both / static_cast<float>(at_element(y_scale, element)) : both;
  const auto y = static_cast<double>(static_cast<float>(sum) * factor);
  return rescaled ? quantised(type, y, at_element(y_zero, element)) : y;
}

Rescale rescale_of(Chip& chip, const Node& node) {
  const Shape& out = chip.value(node.outputs[0]).operand.shape;
  const auto type = [&](std::size_t i) { return chip.value(node.inputs[i]).operand.type; };
  const Along weight = node.op->type == "QuantizedConv" ? Along::second : Along::columns;
  Rescale rescale;
  rescale.integers = !is_floating(type(0)) && !is_floating(type(1));
  rescale.scaled = has(node, x_scale);
  rescale.rescaled = has(node, y_scale);
  rescale.x_scale = parameter_over(chip, node, x_scale, out, Along::rows, 1);
  rescale.w_scale = parameter_over(chip, node, w_scale, out, weight, 1);
  rescale.y_scale = parameter_over(chip, node, y_scale, out, Along::rows, 1);
  rescale.y_zero = parameter_over(chip, node, y_zero, out, Along::rows, 0);
  return rescale;
}

}  // namespace sdip::exec
