// Operands with values, and the values that a use gives, for tests of arithmetic.
#pragma once

#include "core/ops/values.h"
#include "tests/core/ops/use_of.h"

namespace sdip {

using Doubles = std::vector<double>;

/// A constant of any type and shape; integers are cut from the doubles.
inline Operand constant(ElementType type, Shape shape, const Doubles& values) {
  Operand operand;
  operand.type = type;
  operand.shape = std::move(shape);
  operand.weight = true;
  set_doubles(operand, values);
  return operand;
}

/// A list of float32.
inline Operand reals(const Doubles& values) { return constant(ElementType::float32, {std::ssize(values)}, values); }

/// What a use's output `i` holds.
inline Doubles result_of(const Use& use, std::size_t i = 0) {
  return doubles_of(outputs_of(use).at(i).value.value());
}

inline void expect_near(const Doubles& found, const Doubles& expected, double within = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], within) << "element " << i;
}

}  // namespace sdip
