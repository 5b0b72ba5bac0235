// Operands with values, and the values that a use gives, for tests of arithmetic.
#pragma once

#include "core/ops/use.h"
#include "core/ops/values.h"
#include "tests/core/ops/use_of.h"

namespace sdip {

using Numbers = std::vector<double>;

/// A constant of any type and shape; integers are cut from the doubles.
inline Operand constant(ElementType type, Shape shape, const Numbers& values) {
  Operand operand;
  operand.type = type;
  operand.shape = std::move(shape);
  operand.weight = true;
  give_numbers(operand, values);
  return operand;
}

/// A list of float32.
inline Operand reals(const Numbers& values) { return constant(ElementType::float32, {std::ssize(values)}, values); }

/// What an output holds, as doubles; uint64 as the positive number.
inline Numbers numbers_of(const Operand& operand) { return doubles_of(operand.value.value()); }

/// What a use's output `i` holds.
inline Numbers result_of(const Use& use, std::size_t i = 0) { return numbers_of(outputs_of(use).at(i)); }

inline void expect_near(const Numbers& found, const Numbers& expected, double within = 1e-6) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], within) << "element " << i;
}

}  // namespace sdip
