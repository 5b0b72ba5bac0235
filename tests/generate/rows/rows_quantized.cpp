// Rows of quantisation, and of what is made of no values or of random ones.
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

constexpr Range scale_range{0.02, 0.1};

ElementType byte_type(Making& m) { return maybe(m) ? ElementType::uint8 : ElementType::int8; }

/// Scale and zero point of a tensor, or of each slice along an axis.
struct Quantised {
  int scale, zero;
  AttributeList attributes;
};

Quantised drawn_quantisation(Making& m, const Shape& shape, ElementType scale_type, ElementType code,
                             bool zero_needed) {
  const bool sliced = m.opset >= 13 && shape.size() > 1 && m.draw.one_in(3);
  AttributeList attributes;
  Shape of;
  if (sliced) {
    const std::int64_t axis = m.draw.between(0, std::ssize(shape) - 1);
    attributes.emplace_back("axis", axis);
    of = {shape[static_cast<std::size_t>(axis)]};
  } else if (m.draw.one_in(4)) {
    of = {1};
  }
  const int scale = m.constant(scale_type, of, scale_range);
  const int zero =
      zero_needed || maybe(m) ? m.constant(code, of, {0, code == ElementType::int32 ? 0.0 : 5.0}) : absent;
  return {scale, zero, attributes};
}

Made quantize(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  const ElementType code = m.opset >= 21 && m.draw.one_in(4)
                               ? m.draw.of(std::vector{ElementType::int16, ElementType::uint16})
                               : byte_type(m);
  Quantised q = drawn_quantisation(m, m.shape(x), type == ElementType::int32 ? ElementType::float32 : type, code,
                                   code != ElementType::uint8);
  const int y = put(m, row, {x, q.scale, q.zero}, q.attributes)[0];
  if (maybe(m)) return {y};
  return {m.node("", "DequantizeLinear", {y, q.scale, q.zero}, q.attributes)[0]};
}

Made dequantize(Making& m, const Row& row, ElementType type) {
  const int x = m.draw.one_in(3) ? m.constant(type, m.any_shape(1, 3), {-6, 6}) : m.any(type, 1, 4);
  Quantised q = drawn_quantisation(m, m.shape(x), ElementType::float32, type, false);
  return put(m, row, {x, q.scale, q.zero}, q.attributes);
}

Made dynamic_quantize(Making& m, const Row& row, ElementType type) {
  return put(m, row, {m.any(type, 0, 4)}, {}, 3);
}

Made matmul_integer(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 3);
  const ElementType other = byte_type(m);
  const int y = m.weight(other, {m.shape(x).back(), m.size()}, {-5, 5});
  return put(
      m, row,
      {x, y, maybe(m) ? m.constant(type, {}, {0, 3}) : absent, maybe(m) ? m.constant(other, {}, {0, 3}) : absent});
}

Made conv_integer(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const Shape s = m.shape(x);
  const std::vector<std::int64_t> kernel{std::max<std::int64_t>(1, std::min<std::int64_t>(2, s[2])), 1};
  const ElementType other = byte_type(m);
  const int w = m.weight(other, {m.draw.between(1, 4), s[1], kernel[0], kernel[1]}, {-5, 5});
  return put(
      m, row,
      {x, w, maybe(m) ? m.constant(type, {}, {0, 3}) : absent, maybe(m) ? m.constant(other, {}, {0, 3}) : absent},
      {{"kernel_shape", kernel}});
}

Made qlinear_matmul(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 3);
  const ElementType other = byte_type(m);
  const int y = m.weight(other, {m.shape(x).back(), m.size()}, {-5, 5});
  const auto scale = [&] { return m.constant(ElementType::float32, {}, scale_range); };
  return put(m, row,
             {x, scale(), m.constant(type, {}, {0, 3}), y, scale(), m.constant(other, {}, {0, 3}), scale(),
              m.constant(type, {}, {0, 3})});
}

Made qlinear_conv(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 4, 4);
  const Shape s = m.shape(x);
  const ElementType other = byte_type(m);
  const std::int64_t out = m.draw.between(1, 4);
  const int w = m.weight(other, {out, s[1], 1, 1}, {-5, 5});
  const auto scale = [&](Shape of = {}) { return m.constant(ElementType::float32, of, scale_range); };
  const bool channels = m.draw.one_in(3);
  Made operands{x,
                scale(),
                m.constant(type, {}, {0, 3}),
                w,
                scale(channels ? Shape{out} : Shape{}),
                m.constant(other, channels ? Shape{out} : Shape{}, {0, 3}),
                scale(),
                m.constant(type, {}, {0, 3})};
  if (maybe(m)) operands.push_back(m.constant(ElementType::int32, {out}, {-20, 20}));
  return put(m, row, operands);
}

/// A scale and its zero point, which may be left out.
Made scale_and_zero(Making& m, ElementType type) {
  return {m.constant(ElementType::float32, {}, scale_range),
          m.draw.one_in(4) ? absent : m.constant(type, {}, {0, 5})};
}

Made qlinear_pair(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  const int y = m.draw.one_in(6) ? x : m.broadcast(type, m.shape(x), {-6, 6});
  Made operands;
  for (const int operand : m.draw.one_in(3) ? Made{y, x} : Made{x, y}) {
    operands.push_back(operand);
    for (const int one : scale_and_zero(m, type)) operands.push_back(one);
  }
  for (const int one : scale_and_zero(m, type)) operands.push_back(one);
  return put(m, row, operands);
}

Made qlinear_unary(Making& m, const Row& row, ElementType type) {
  Made operands{m.any(type, 0, 4)};
  for (int i = 0; i < 2; ++i)
    for (const int one : scale_and_zero(m, type)) operands.push_back(one);
  AttributeList attributes;
  if (std::string_view(row.type) == "QLinearLeakyRelu" && maybe(m)) attributes.emplace_back("alpha", 0.25);
  return put(m, row, operands, attributes);
}

/// Weights of 2, 4 or 8 bits in blocks, the last of which may be wider than what is left.
Made matmul_bits(Making& m, const Row& row, ElementType type) {
  const int x =
      maybe(m) ? m.any(type, 2, 3) : m.like(type, {m.size(), m.draw.of(std::vector<std::int64_t>{16, 24, 32, 40})});
  const std::int64_t inner = m.shape(x).back(), outer = m.draw.between(1, 5);
  if (inner < 1) return {m.op("Identity", {x})};
  const std::int64_t bits = m.draw.of(std::vector<std::int64_t>{2, 4, 4, 8}), size = maybe(m) ? 16 : 32;
  const std::int64_t blocks = (inner + size - 1) / size, zero_bytes = (blocks * bits + 7) / 8;
  const int weights = m.constant(ElementType::uint8, {outer, blocks, size * bits / 8}, {0, 255});
  const Shape each = maybe(m) ? Shape{outer * blocks} : Shape{outer, blocks};
  Made operands{x, weights, m.constant(type, each, scale_range)};
  const std::int64_t zeros = m.draw.between(0, 2);
  operands.push_back(zeros == 0   ? absent
                     : zeros == 1 ? m.constant(ElementType::uint8, {outer * zero_bytes}, {0, 255})
                                  : m.constant(type, each, {0, 8}));
  operands.push_back(absent);
  operands.push_back(m.draw.one_in(3) ? m.weight(type, {outer}) : absent);
  AttributeList attributes{{"K", inner}, {"N", outer}, {"bits", bits}, {"block_size", size}};
  if (m.draw.one_in(3)) attributes.emplace_back("accuracy_level", m.draw.between(0, 4));
  return put(m, row, operands, attributes);
}

/// Around a product: what a quantised network has at each.
Made fake_quantised(Making& m, const Row& row, ElementType type) {
  const int x = m.any(ElementType::float32, 2, 3);
  const auto through = [&](int v) {
    const int scale = m.constant(ElementType::float32, {}, scale_range), zero = m.constant(type, {}, {0, 3});
    return m.op("DequantizeLinear", {m.op("QuantizeLinear", {v, scale, zero}), scale, zero});
  };
  const int w = m.constant(type, {m.shape(x).back(), m.size()}, {-6, 6});
  const int scale = m.constant(ElementType::float32, {}, scale_range);
  const int weights = m.op("DequantizeLinear", {w, scale, maybe(m) ? m.constant(type, {}, {0, 3}) : absent});
  const int y = m.op("MatMul", {through(x), weights});
  const int s = m.constant(ElementType::float32, {}, scale_range), zero = m.constant(type, {}, {0, 3});
  const int q = m.op("QuantizeLinear", {y, s, zero});
  return put(m, row, {q, s, zero});
}

Made constant_of_shape(Making& m, const Row& row, ElementType type) {
  const Shape s = m.any_shape(1, 3);
  AttributeList attributes;
  if (type != ElementType::float32 || maybe(m)) {
    Tensor value{type, {1}, {}, {}};
    if (is_floating(type))
      value.floats = {1.5};
    else
      value.ints = {1};
    attributes.emplace_back("value", proto_of(value, "", maybe(m)));
  }
  const int made = put(m, row, {m.ints(s)}, attributes)[0];
  if (type == ElementType::boolean) return {m.op("And", {made, m.like(type, s)})};
  return {m.op("Concat", {made, m.like(type, s)}, {{"axis", 0}})};
}

Made range(Making& m, const Row& row, ElementType type) {
  const bool back = m.draw.one_in(3);
  const int made = put(m, row,
                       {m.scalar(type, back ? 6 : 0), m.scalar(type, back ? 0 : 5),
                        m.scalar(type, back               ? -2
                                       : m.draw.one_in(2) ? 2
                                                          : 1)})[0];
  return {m.op("Concat", {made, m.like(type, {m.size()})}, {{"axis", 0}})};
}

Made eye_like(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 2);
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("k", m.draw.between(-1, 1));
  if (maybe(m)) attributes.emplace_back("dtype", number_of(ElementType::float32));
  return put(m, row, {x}, attributes);
}

Made noise(Making& m, const Row& row, ElementType type) {
  const int made = put(m, row, {}, {{"shape", m.any_shape(1, 3)}, {"dtype", number_of(type)}, {"seed", 3.0}})[0];
  return {m.op("Relu", {made})};
}

Made noise_like(Making& m, const Row& row, ElementType type) {
  const std::string name = row.type;
  AttributeList attributes;
  if (name == "Multinomial") {
    const int x = m.any(type, 2, 2);
    return put(m, row, {x}, {{"sample_size", m.draw.between(1, 3)}});
  }
  const int x = m.any(type, 1, 4);
  if (maybe(m)) attributes.emplace_back("dtype", number_of(ElementType::float32));
  return put(m, row, {x}, attributes);
}

Made signal_window(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("periodic", m.draw.between(0, 1));
  attributes.emplace_back("output_datatype", number_of(type));
  const std::int64_t size = m.draw.between(2, 8);
  const int made = put(m, row, {m.scalar(ElementType::int64, static_cast<double>(size))}, attributes)[0];
  return {m.op("Mul", {m.like(type, {m.draw.between(1, 3), size}), made})};
}

Made mel(Making& m, const Row& row, ElementType type) {
  const auto number = [&](double x) { return m.scalar(ElementType::int64, x); };
  const int made =
      put(m, row,
          {number(3), number(8), number(64), m.scalar(ElementType::float32, 0), m.scalar(ElementType::float32, 24)},
          {{"output_datatype", number_of(type)}})[0];
  return {m.op("MatMul", {m.like(type, {m.draw.between(1, 3), m.shape(made)[0]}), made})};
}

Made dft(Making& m, const Row& row, ElementType type) {
  const std::int64_t size = m.draw.between(1, 6);
  const bool real = maybe(m), inverse = !real && m.draw.one_in(3);
  const int x = m.like(type, {m.draw.between(1, 2), size, m.draw.between(1, 2), real ? 1 : 2});
  const int length =
      m.draw.one_in(3) ? m.scalar(ElementType::int64, static_cast<double>(m.draw.between(1, size + 1))) : absent;
  AttributeList attributes;
  if (inverse) attributes.emplace_back("inverse", 1);
  if (real && maybe(m)) attributes.emplace_back("onesided", 1);
  if (m.opset >= 20) return put(m, row, {x, length, m.scalar(ElementType::int64, 1)}, attributes);
  attributes.emplace_back("axis", 1);
  return put(m, row, {x, length}, attributes);
}

Made stft(Making& m, const Row& row, ElementType type) {
  const int x = m.like(type, {m.draw.between(1, 2), 12, 1});
  const std::int64_t frame = m.draw.between(2, 6);
  const int window = maybe(m) ? m.constant(type, {frame}) : absent;
  return put(m, row,
             {x, m.scalar(ElementType::int64, static_cast<double>(m.draw.between(1, 4))), window,
              m.scalar(ElementType::int64, static_cast<double>(frame))},
             {{"onesided", m.draw.between(0, 1)}});
}

constexpr Row quantized_table[] = {
    {"", "Bernoulli", common_floats, noise_like},
    {"", "BlackmanWindow", common_floats, signal_window, -1},
    {"", "ConstantOfShape", all_types, constant_of_shape, -1},
    {"", "ConvInteger", bytes_types, conv_integer},
    {"", "DFT", common_floats, dft},
    {"", "DequantizeLinear", bytes_types, dequantize},
    {"", "DequantizeLinear", bytes_types, fake_quantised},
    {"", "DynamicQuantizeLinear", single, dynamic_quantize},
    {"", "EyeLike", numbers, eye_like},
    {"", "HammingWindow", common_floats, signal_window, -1},
    {"", "HannWindow", common_floats, signal_window, -1},
    {"", "MatMulInteger", bytes_types, matmul_integer},
    {"", "MelWeightMatrix", common_floats, mel, -1},
    {"", "Multinomial", common_floats, noise_like},
    {"", "QLinearConv", bytes_types, qlinear_conv},
    {"", "QLinearMatMul", bytes_types, qlinear_matmul},
    {"", "QuantizeLinear", single, quantize},
    {"", "RandomNormal", common_floats, noise, -1},
    {"", "RandomNormalLike", common_floats, noise_like},
    {"", "RandomUniform", common_floats, noise, -1},
    {"", "RandomUniformLike", common_floats, noise_like},
    {"", "Range", signed_numbers, range},
    {"", "STFT", common_floats, stft},
    {"com.microsoft", "MatMulNBits", half_floats, matmul_bits},
    {"com.microsoft", "QLinearAdd", bytes_types, qlinear_pair},
    {"com.microsoft", "QLinearLeakyRelu", bytes_types, qlinear_unary},
    {"com.microsoft", "QLinearMul", bytes_types, qlinear_pair},
    {"com.microsoft", "QLinearSigmoid", bytes_types, qlinear_unary},
};

}  // namespace

std::span<const Row> quantized_rows() { return quantized_table; }

}  // namespace sdip::generate
