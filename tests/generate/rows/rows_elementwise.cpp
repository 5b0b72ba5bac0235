// Rows of what works element by element: functions, pairs that broadcast, comparisons, casts.
#include "core/ops/operator.h"
#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

Made unary(Making& m, const Row& row, ElementType type) { return put(m, row, {m.any(type, 0, 5)}); }

/// Functions that are defined for positive numbers alone, of such mostly.
Made positive(Making& m, const Row& row, ElementType type) {
  int x = m.any(type, 0, 5);
  if (!m.draw.one_in(3)) x = m.op("Abs", {x});
  return put(m, row, {x});
}

/// The numbers that an activation may be given, each there or not.
Made activation(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  const Operator* op = find_operator(row.domain, row.type);
  for (const char* name : {"alpha", "beta", "gamma", "bias", "lambd"})
    if ((" " + std::string(op->attributes) + " ").find(" " + std::string(name) + " ") != std::string::npos &&
        maybe(m))
      attributes.emplace_back(name, static_cast<double>(m.draw.between(1, 12)) / 8);
  return put(m, row, {m.any(type, 0, 5)}, attributes);
}

Made scaled_tanh(Making& m, const Row& row, ElementType type) {
  return put(m, row, {m.any(type, 0, 5)}, {{"alpha", 1.5}, {"beta", 0.5}});
}

Made gelu(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("approximate", maybe(m) ? "tanh" : "none");
  return put(m, row, {m.any(type, 0, 5)}, attributes);
}

/// Both operands in either order: a constant may come first.
Made pair(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 5);
  const int y = m.broadcast(type, m.shape(x));
  return put(m, row, m.draw.one_in(3) ? Made{y, x} : Made{x, y});
}

Made division(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 5);
  const int y = m.broadcast(type, m.shape(x), {1, 4});
  return put(m, row, m.draw.one_in(4) ? Made{y, x} : Made{x, y});
}

Made power(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  const ElementType other =
      m.opset >= 12 && m.draw.one_in(3)
          ? m.draw.of(std::vector{ElementType::float32, ElementType::int32, ElementType::int64})
          : type;
  const int y = maybe(m) ? m.scalar(other, static_cast<double>(m.draw.between(0, 3)))
                         : m.broadcast(other, m.shape(x), {0, 2});
  return put(m, row, {x, y});
}

Made modulo(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  AttributeList attributes;
  if (is_floating(type) || m.draw.one_in(4)) attributes.emplace_back("fmod", 1);
  return put(m, row, {x, m.broadcast(type, m.shape(x), {1, 5})}, attributes);
}

Made shift(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  return put(m, row, {x, m.broadcast(type, m.shape(x), {0, 5})}, {{"direction", maybe(m) ? "LEFT" : "RIGHT"}});
}

Made prelu(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 5);
  return put(m, row, {x, m.broadcast(type, m.shape(x), {}, true)});
}

/// One to four operands.
Made many(Making& m, const Row& row, ElementType type) {
  Made operands{m.any(type, 0, 4)};
  for (std::int64_t i = m.draw.between(0, 3); i > 0; --i)
    operands.push_back(m.broadcast(type, m.shape(operands[0]), {}, i > 1));
  if (m.draw.one_in(3)) std::swap(operands.front(), operands.back());
  return put(m, row, operands);
}

Made where(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 4);
  const int y = m.broadcast(type, m.shape(x));
  const int condition = m.broadcast(ElementType::boolean, m.shape(x), {}, true);
  return put(m, row, m.draw.one_in(3) ? Made{condition, y, x} : Made{condition, x, y});
}

/// Limits as attributes up to opset 10, then as inputs, each of which may be absent.
Made clip(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 5);
  const double least = static_cast<double>(m.draw.between(0, 1)), most = static_cast<double>(m.draw.between(1, 3));
  if (m.opset < 11) {
    AttributeList attributes;
    if (maybe(m)) attributes.emplace_back("min", -least);
    if (maybe(m)) attributes.emplace_back("max", most);
    return put(m, row, {x}, attributes);
  }
  const int low = maybe(m) ? m.scalar(type, is_floating(type) ? -least : least) : absent;
  const int high = maybe(m) ? m.scalar(type, most) : absent;
  return put(m, row, {x, low, high});
}

std::vector<ElementType> cast_targets(std::int64_t opset) {
  using enum ElementType;
  std::vector<ElementType> types{float32, float16, float64, int64,  int32,  int16,
                                 int8,    uint8,   uint16,  uint32, uint64, boolean};
  if (opset >= 13) types.push_back(bfloat16);
  if (opset >= 19) types.insert(types.end(), {float8e4m3fn, float8e5m2});
  if (opset >= 21) types.insert(types.end(), {int4, uint4});
  return types;
}

Made cast_to(Making& m, const Row& row, ElementType type) {
  const ElementType to = m.draw.of(cast_targets(m.opset));
  AttributeList attributes{{"to", number_of(to)}};
  const bool narrow = to == ElementType::float8e4m3fn || to == ElementType::float8e5m2;
  if (narrow && m.draw.one_in(3)) attributes.emplace_back("saturate", m.draw.between(0, 1));
  const int y = put(m, row, {m.any(type, 0, 5)}, attributes)[0];
  if (narrow || to == ElementType::int4 || to == ElementType::uint4) return {m.cast(y, ElementType::float32)};
  return {y};
}

/// The same bits as numbers of another type as wide.
Made bit_cast(Making& m, const Row& row, ElementType type) {
  std::vector<ElementType> as_wide;
  for (const ElementType to : numbers)
    if (bits_of(to) == bits_of(type)) as_wide.push_back(to);
  return put(m, row, {m.any(type, 0, 5)}, {{"to", number_of(m.draw.of(as_wide))}});
}

Made cast_like(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 0, 5);
  return put(
      m, row,
      {x, m.any(m.draw.of(std::vector{ElementType::float32, ElementType::float16, ElementType::int64}), 0, 4)});
}

Made is_infinite(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  for (const char* name : {"detect_negative", "detect_positive"})
    if (maybe(m)) attributes.emplace_back(name, m.draw.between(0, 1));
  return put(m, row, {m.any(type, 0, 5)}, attributes);
}

Made dropout(Making& m, const Row& row, ElementType type) {
  const int outputs = maybe(m) ? 1 : 2;
  const int x = m.any(type, 0, 5);
  if (m.opset < 12) {
    AttributeList attributes;
    if (maybe(m)) attributes.emplace_back("ratio", 0.25);
    return put(m, row, {x}, attributes, m.opset >= 10 ? outputs : 1);
  }
  const int ratio = maybe(m) ? m.scalar(ElementType::float32, 0.25) : absent;
  const int training = m.draw.one_in(3) ? m.scalar(ElementType::boolean, 0) : absent;
  return put(m, row, {x, ratio, training}, {}, outputs);
}

constexpr Row elementwise_table[] = {
    {"", "Abs", numbers, unary},
    {"", "Acos", common_floats, unary},
    {"", "Acosh", common_floats, unary},
    {"", "Add", numbers, pair},
    {"", "And", booleans, pair},
    {"", "Asin", common_floats, unary},
    {"", "Asinh", common_floats, unary},
    {"", "Atan", common_floats, unary},
    {"", "Atanh", common_floats, unary},
    {"", "BitCast", numbers, bit_cast},
    {"", "BitShift", unsigned_integers, shift},
    {"", "BitwiseAnd", integers, pair},
    {"", "BitwiseNot", integers, unary},
    {"", "BitwiseOr", integers, pair},
    {"", "BitwiseXor", integers, pair},
    {"", "Cast", all_types, cast_to},
    {"", "CastLike", all_types, cast_like},
    {"", "Ceil", floats, unary},
    {"", "Celu", single, activation},
    {"", "Clip", numbers, clip},
    {"", "Cos", common_floats, unary},
    {"", "Cosh", common_floats, unary},
    {"", "Div", numbers, division},
    {"", "Dropout", floats, dropout},
    {"", "Elu", common_floats, activation},
    {"", "Equal", all_types, pair},
    {"", "Erf", floats, unary},
    {"", "Exp", floats, unary},
    {"", "Floor", floats, unary},
    {"", "Gelu", floats, gelu},
    {"", "Greater", numbers, pair},
    {"", "GreaterOrEqual", numbers, pair},
    {"", "HardSigmoid", common_floats, activation},
    {"", "HardSwish", common_floats, unary},
    {"", "Identity", all_types, unary},
    {"", "IsInf", common_floats, is_infinite},
    {"", "IsNaN", floats, unary},
    {"", "LeakyRelu", floats, activation},
    {"", "Less", numbers, pair},
    {"", "LessOrEqual", numbers, pair},
    {"", "Log", floats, positive},
    {"", "Max", numbers, many},
    {"", "Mean", floats, many},
    {"", "Min", numbers, many},
    {"", "Mish", common_floats, unary},
    {"", "Mod", numbers, modulo},
    {"", "Mul", numbers, pair},
    {"", "Neg", signed_numbers, unary},
    {"", "Not", booleans, unary},
    {"", "Or", booleans, pair},
    {"", "PRelu", floats, prelu},
    {"", "Pow", signed_numbers, power},
    {"", "Reciprocal", floats, unary},
    {"", "Relu", signed_numbers, unary},
    {"", "Round", common_floats, unary},
    {"", "ScaledTanh", common_floats, scaled_tanh, -1, 9},
    {"", "Selu", common_floats, activation},
    {"", "Shrink", numbers, activation},
    {"", "Sigmoid", floats, unary},
    {"", "Sign", numbers, unary},
    {"", "Sin", common_floats, unary},
    {"", "Sinh", common_floats, unary},
    {"", "Softplus", common_floats, unary},
    {"", "Softsign", common_floats, unary},
    {"", "Sqrt", floats, positive},
    {"", "Sub", numbers, pair},
    {"", "Sum", floats, many},
    {"", "Swish", floats, activation},
    {"", "Tan", common_floats, unary},
    {"", "Tanh", floats, unary},
    {"", "ThresholdedRelu", common_floats, activation},
    {"", "Where", all_types, where, 1},
    {"", "Xor", booleans, pair},
};

}  // namespace

std::span<const Row> elementwise_rows() { return elementwise_table; }

}  // namespace sdip::generate
