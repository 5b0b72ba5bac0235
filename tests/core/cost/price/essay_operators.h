// The seed essay's eighteen operators, each in a program of its own, at any size. For tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// A dimension of an operator, how many it has of it where nothing else is said, and the fewest that are an
/// instruction (of transpose 2: turning a row into a column moves nothing).
struct OperatorDimension {
  std::string_view name;
  std::int64_t size, least = 1;
};

/// A row of the essay's table of operators.
struct EssayOperator {
  std::string_view name;
  std::string_view essay;  // "the dimension of its latency", as the essay's table has it
  std::vector<OperatorDimension> dimensions;
  /// A network of this operator, its last, behind one that makes its first operand.
  Graph (*graph)(std::span<const std::int64_t> sizes);
};
std::span<const EssayOperator> essay_operators();

}  // namespace sdip
