// Products of quantised operands: two canonical rows, and ONNX's own operators as composites of them.
//
// sdip.QuantizedConv and sdip.QuantizedMatMul take
//   (x, w, bias, x_scale, x_zero, w_scale, w_zero, y_scale, y_zero),
// each from `bias` on absent where there is none, and compute
//   sum = product of (x - x_zero) and (w - w_zero), in integers, + bias (int32, in units of x_scale * w_scale)
//   no scales:              y = sum, int32
//   x_scale, w_scale only:  y = sum * (x_scale * w_scale), a float of x_scale's type
//   all three:              y = round(sum * (x_scale * w_scale / y_scale)) + y_zero, kept within y_zero's type
//                           (uint8 when absent); scales are combined and applied in float32, as runtimes do
// Scales and zero points are one number each, or for w one an output channel (column), for x of a MatMul one a row.
// Attributes: those of Conv; trans_b, when w of a MatMul is stored transposed.
#include "core/ops/elementwise/quantize.h"
#include "core/ops/families.h"
#include "core/ops/products/conv.h"
#include "core/ops/products/matmul.h"

namespace sdip {
namespace {

enum Place : std::size_t { bias_place = 2, x_scale, x_zero, w_scale, w_zero, y_scale, y_zero };

bool trans_b(const OperatorUse& use) { return int_attribute(use, "trans_b", 0) != 0; }

ElementType output_type(const OperatorUse& use) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{y_zero}}) {
    if (i == y_zero && optional_input(use, i) == nullptr) continue;
    const ElementType type = input(use, i).type;
    const bool small = bits_of(type) <= 16 && bits_of(type) > 0 && type != ElementType::boolean;
    if (!small || type == ElementType::float16 || type == ElementType::bfloat16) {
      refuse(use, "invalid_graph",
             fmt::format("input {} is {}, which is no quantised type", i, element_type_text(type)));
    }
  }
  const bool scaled = optional_input(use, x_scale) != nullptr;
  const bool rescaled = optional_input(use, y_scale) != nullptr;
  if (scaled != (optional_input(use, w_scale) != nullptr) || (rescaled && !scaled)) {
    refuse(use, "invalid_graph", "some scales are there and others are not");
  }
  if (!scaled) return ElementType::int32;
  if (!is_floating(input(use, x_scale).type)) refuse(use, "invalid_graph", "a scale is no float");
  if (!rescaled) return input(use, x_scale).type;
  const Operand* zero = optional_input(use, y_zero);
  return zero == nullptr ? ElementType::uint8 : zero->type;
}

/// A scale or zero point as broadcasting sees it: a list along rows, or along the last axis.
Shape parameter_shape(const Operand& parameter, bool along_rows) {
  if (element_count(parameter.shape) == 1) return {};
  return parameter.shape.size() == 1 && along_rows ? Shape{parameter.shape[0], 1} : parameter.shape;
}

void require_parameter(const OperatorUse& use, std::size_t i, const Shape& over, bool along_rows) {
  const Operand* parameter = optional_input(use, i);
  if (parameter == nullptr) return;
  if (broadcast(use, parameter_shape(*parameter, along_rows), over) != over) {
    refuse(use, "shape_mismatch",
           "scale or zero point " + shape_text(parameter->shape) + " does not fit " + shape_text(over));
  }
}

/// One number for each element of `over`; `otherwise` when absent.
std::vector<double> parameter_over(const OperatorUse& use, std::size_t i, const Shape& over, bool along_rows,
                                   double otherwise) {
  const std::vector<double> numbers = doubles_of(use, i);
  if (numbers.size() <= 1) {
    return std::vector<double>(as_size(element_count(over)), numbers.empty() ? otherwise : numbers[0]);
  }
  return broadcast_doubles(numbers, parameter_shape(*use.inputs[i], along_rows), over);
}

std::vector<double> without_zero(const OperatorUse& use, std::size_t i, std::size_t zero, bool along_rows) {
  std::vector<double> numbers = doubles_of(use, i);
  const auto zeros = parameter_over(use, zero, use.inputs[i]->shape, along_rows, 0);
  for (std::size_t at = 0; at < numbers.size(); ++at) numbers[at] -= zeros[at];
  return numbers;
}

/// Sums, bias added, as the output holds them: `weight_scale` is one number an element of the output.
void set_rescaled(const OperatorUse& use, Operand& output, std::vector<double> sums,
                  const std::vector<double>& weight_scale) {
  const bool integers = !is_floating(input(use, 0).type) && !is_floating(input(use, 1).type);
  const auto scales = parameter_over(use, x_scale, output.shape, true, 1);
  const auto rescales = parameter_over(use, y_scale, output.shape, true, 1);
  const auto zeros = parameter_over(use, y_zero, output.shape, true, 0);
  const bool scaled = optional_input(use, x_scale) != nullptr, rescaled = optional_input(use, y_scale) != nullptr;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (integers) sums[i] = held_double(ElementType::int32, sums[i]);
    if (!scaled) continue;
    const float both = static_cast<float>(scales[i]) * static_cast<float>(weight_scale[i]);
    const float factor = rescaled ? both / static_cast<float>(rescales[i]) : both;
    const auto y = static_cast<double>(static_cast<float>(sums[i]) * factor);
    sums[i] = rescaled ? quantised(output.type, y, zeros[i]) : y;
  }
  set_doubles(output, sums);
}

std::vector<Operand> infer_quantized_conv(const OperatorUse& use) {
  const Convolution conv = convolution_of(use);
  require_shape(use, bias_place, {conv.out_channels});
  for (std::size_t i : {x_scale, x_zero, y_scale, y_zero}) require_parameter(use, i, {1}, false);
  for (std::size_t i : {w_scale, w_zero}) require_parameter(use, i, {conv.out_channels}, false);
  return {typed(output_type(use), shape_of(conv))};
}

Work quantized_conv_work(const OperatorUse& use, std::span<const Operand>) {
  return convolution_work(convolution_of(use));
}

void compute_quantized_conv(const OperatorUse& use, std::span<Operand> outputs) {
  const Convolution conv = convolution_of(use);
  const auto x = without_zero(use, 0, x_zero, false);
  std::vector<double> w = doubles_of(use, 1);
  const Shape channels = {conv.out_channels};
  const auto zeros = parameter_over(use, w_zero, channels, false, 0);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= zeros[i / (w.size() / zeros.size())];
  std::vector<double> sums = convolved(conv, x, w, doubles_of(use, bias_place), use.stop);
  const auto scales = parameter_over(use, w_scale, channels, false, 1);
  const auto plane = as_size(element_count(conv.window.out));
  std::vector<double> scale_of_each(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i) scale_of_each[i] = scales[i / plane % scales.size()];
  set_rescaled(use, outputs[0], std::move(sums), scale_of_each);
}

Product quantised_product(const OperatorUse& use) {
  return product_of(use, input(use, 0).shape, input(use, 1).shape, false, trans_b(use));
}

std::vector<Operand> infer_quantized_matmul(const OperatorUse& use) {
  const Shape out = shape_of(quantised_product(use), input(use, 0).shape, input(use, 1).shape);
  const Operand* bias = optional_input(use, bias_place);
  if (bias != nullptr && broadcast(use, bias->shape, out) != out) {
    refuse(use, "shape_mismatch", "bias " + shape_text(bias->shape) + " does not fit " + shape_text(out));
  }
  require_parameter(use, x_zero, input(use, 0).shape, true);
  require_parameter(use, w_zero, input(use, 1).shape, trans_b(use));
  for (std::size_t i : {x_scale, y_scale, y_zero}) require_parameter(use, i, out, true);
  require_parameter(use, w_scale, out, false);
  return {typed(output_type(use), out)};
}

Work quantized_matmul_work(const OperatorUse& use, std::span<const Operand>) {
  return product_work(quantised_product(use), input(use, 0).weight, input(use, 1).weight);
}

void compute_quantized_matmul(const OperatorUse& use, std::span<Operand> outputs) {
  const Shape& out = outputs[0].shape;
  std::vector<double> sums = multiplied(quantised_product(use), without_zero(use, 0, x_zero, true),
                                        without_zero(use, 1, w_zero, trans_b(use)), use.stop);
  const auto bias = parameter_over(use, bias_place, out, false, 0);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += bias[i];
  set_rescaled(use, outputs[0], std::move(sums), parameter_over(use, w_scale, out, false, 1));
}

/// One node of `type` that takes the use's inputs as `order` says; those the use does not have are absent.
Body quantised_body(const OperatorUse& use, const char* type, std::vector<int> order) {
  for (int& i : order) {
    if (i >= 0 && optional_input(use, as_size(i)) == nullptr) i = -1;
  }
  while (!order.empty() && order.back() < 0) order.pop_back();
  Body body;
  body.nodes.push_back({"sdip", type, std::move(order), *use.attributes, 1});
  body.results = {static_cast<int>(use.inputs.size())};
  return body;
}

Body expand_integer(const OperatorUse& use) {
  return quantised_body(use, use.type == "ConvInteger" ? "QuantizedConv" : "QuantizedMatMul",
                        {0, 1, -1, -1, 2, -1, 3});
}

Body expand_linear(const OperatorUse& use) {
  return quantised_body(use, use.type == "QLinearConv" ? "QuantizedConv" : "QuantizedMatMul",
                        {0, 3, 8, 1, 2, 4, 5, 6, 7});
}

constexpr std::string_view quantized_conv_attributes = "auto_pad dilations group kernel_shape pads strides";
constexpr Operator quantized_operators[] = {
    {"", "ConvInteger", "conv2d", 2, 4, quantized_conv_attributes, nullptr, nullptr, nullptr, "10", false,
     expand_integer},
    {"", "MatMulInteger", "matmul", 2, 4, "", nullptr, nullptr, nullptr, "10", false, expand_integer},
    {"", "QLinearConv", "conv2d", 8, 9, quantized_conv_attributes, nullptr, nullptr, nullptr, "10", false,
     expand_linear},
    {"", "QLinearMatMul", "matmul", 8, 8, "", nullptr, nullptr, nullptr, "10 21", false, expand_linear},
    {"sdip", "QuantizedConv", "conv2d", 2, 9, quantized_conv_attributes, infer_quantized_conv, quantized_conv_work,
     compute_quantized_conv},
    {"sdip", "QuantizedMatMul", "matmul", 2, 9, "trans_b", infer_quantized_matmul, quantized_matmul_work,
     compute_quantized_matmul},
};

}  // namespace

std::span<const Operator> quantized_rows() { return quantized_operators; }

}  // namespace sdip
