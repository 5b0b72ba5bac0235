// The common elementwise operators on floats: computed in double, rounded to single precision, as by the operators'
// own arithmetic, without what that asks of every element.
#pragma once

#include <span>

#include "core/exec/numbers/numbers.h"
#include "core/graph/graph.h"

namespace sdip::exec {

/// `count` results of type `type` of a node whose operands stand in `operands` (one number, or one for each
/// result). False, and nothing done, of other operators and types.
bool apply_plain(const Node& node, ElementType type, std::span<const Numbers* const> operands, std::size_t count,
                 Numbers& results);

/// e^x of each number, within 2 units in the last place of a double: the same bits on every processor.
void exponentials(std::span<double> numbers);

/// e^(x - less) of each number, in its place. The sum of them: number i goes to sum i mod 8, the eight are added as
/// a tree of neighbours.
double exponentials_less(double less, std::span<double> numbers);

/// Each number over `by`, rounded twice: in double, then in single precision.
void divided(std::span<const double> numbers, double by, float* to);

/// The least and the greatest of those that are numbers (infinity and -infinity of none); whether all are.
struct Range {
  float least = 0, most = 0;
  bool numbers = true;
};
Range range_of(std::span<const float> numbers);

/// As exponentials_less(range.most, ...) of the numbers in double, whose range is given.
double exponentials_less(const Range& range, std::span<const float> numbers, double* to);

/// The greatest; -infinity of none.
double greatest(std::span<const double> numbers);

}  // namespace sdip::exec
