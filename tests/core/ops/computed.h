// Operands with values, and the values that an operator computes of them, for tests.
#pragma once

#include <gmock/gmock.h>

#include <numeric>

#include "core/ops/values.h"
#include "tests/core/ops/use_of.h"

namespace sdip {

using Doubles = std::vector<double>;

/// A constant of any type: floats rounded, integers as they are.
inline Operand tensor(Shape shape, const Doubles& values, ElementType type = ElementType::float32) {
  Operand operand = typed(type, std::move(shape));
  set_doubles(operand, values);
  return operand;
}

/// 0, 1, 2, ... in the shape given.
inline Operand counting(Shape shape, ElementType type = ElementType::float32) {
  Doubles values(static_cast<std::size_t>(element_count(shape)));
  std::iota(values.begin(), values.end(), 0.0);
  return tensor(std::move(shape), values, type);
}

/// An optional input that is not there is an operand of type string.
inline Operand absent() { return typed(ElementType::string, {}); }

/// All outputs with their values; operands of type string are absent.
inline std::vector<Operand> computed(const Use& given) {
  const Operator* op = find_operator(given.domain, given.type);
  if (op == nullptr) throw std::runtime_error("no operator " + given.type);
  std::vector<const Operand*> inputs;
  for (const Operand& operand : given.inputs) {
    inputs.push_back(operand.type == ElementType::string ? nullptr : &operand);
  }
  return infer_use(*op, {"n", given.type, given.opset, &given.attributes, inputs, given.output_count},
                   std::int64_t{1} << 40);
}

inline Doubles values_of(const Use& given, std::size_t output = 0) {
  return doubles_of(computed(given).at(output).value.value());
}

inline std::string computing_code_of(const Use& given) {
  try {
    computed(given);
  } catch (const Error& error) {
    return error.code;
  }
  return "no error";
}

/// Equal within 1e-6 of rounding.
inline void expect_each_near(const Doubles& found, const Doubles& wanted) {
  EXPECT_THAT(found, testing::Pointwise(testing::DoubleNear(1e-6), wanted));
}

inline Attribute text(const char* value) { return std::string(value); }
inline Attribute number(std::int64_t value) { return value; }

}  // namespace sdip
