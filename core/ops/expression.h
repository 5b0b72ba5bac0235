// Small integer expressions over the sizes of tensors and attributes: "ceil_div(x.shape[-1] * heads, 8)". Internal
// to its room.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/operator.h"

namespace sdip {

/// The names that an expression may use: tensors (inputs, and once it is known the output "y"), integer attributes,
/// lists.
struct ExpressionNames {
  std::vector<std::string> tensors, integers, lists;
};

/// The values of these names, in the same order; an absent tensor is nullptr.
struct ExpressionValues {
  std::vector<const Shape*> tensors;
  std::vector<std::int64_t> integers;
  std::vector<const std::vector<std::int64_t>*> lists;
};

/// A parsed expression: operations in postfix order over a stack of integers.
struct Expression {
  enum class Step : std::uint8_t {
    number,
    integer,
    element,
    size_at,
    rank,
    size,
    given,
    count_between,
    negate,
    add,
    subtract,
    multiply,
    divide,
    ceil_div,
    min,
    max
  };
  struct Part {
    Step step = Step::number;
    std::int64_t value = 0;         // a number, or which name
    bool from = false, to = false;  // of count_between: which bounds stand on the stack
  };
  std::string text;
  std::vector<Part> parts;
};

inline constexpr std::size_t most_expression_bytes = 256, most_expression_depth = 32;

/// Grammar, loosest first: a + b, a - b; a * b, a / b (rounded down); -a; numbers, (a), ceil_div(a, b), min(a, b),
/// max(a, b), product(x.shape[a:b]); of a tensor x: x.shape[a] (a < 0 counts from the end), x.rank, x.size (its
/// elements), x.given (0 when an optional input is absent); an integer attribute; an element list[a] of a list.
/// Throws Error("operator_invalid", where, ...) with the position, counted from 1.
Expression parse_expression(std::string_view text, const ExpressionNames& names, const std::string& where);

/// Throws Error("shape_mismatch", node, ...) on overflow, division by zero, an axis or element that is not there,
/// and an absent tensor.
std::int64_t number_of(const Expression& expression, const ExpressionValues& values, const OperatorUse& use);

/// The sizes of a shape, outermost first: an expression each, or a spread of part of a shape or list,
/// "...x.shape[a:b]".
struct ShapeExpression {
  struct Item {
    bool spread = false, list = false, from = false, to = false;
    std::size_t name = 0;    // of a spread: which tensor or list
    Expression value;        // of a size
    Expression first, last;  // of a spread: its bounds, where given
  };
  std::vector<Item> items;
};
inline constexpr std::size_t most_shape_items = 16;

ShapeExpression parse_shape(const std::vector<std::string>& texts, const ExpressionNames& names,
                            const std::string& where);
Shape sizes_of(const ShapeExpression& shape, const ExpressionValues& values, const OperatorUse& use);

}  // namespace sdip
