// The common elementwise operators on floats: computed in double, rounded to single precision, as by the operators'
// own arithmetic, without what that asks of every element.
#pragma once

#include <span>
#include <vector>

#include "core/exec/numbers.h"
#include "core/graph/graph.h"

namespace sdip::exec {

/// `count` results of type `type` of a node whose operands stand in `operands` (one number, or one for each
/// result). False, and nothing done, of other operators and types.
bool apply_plain(const Node& node, ElementType type, std::span<const Numbers* const> operands, std::size_t count,
                 Numbers& results);

/// The same bits as std::exp up to a unit in the last place of a double, for many numbers at a time.
void exponentials(std::span<double> numbers);

}  // namespace sdip::exec
