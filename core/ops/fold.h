// Constants small enough to compute with at import.
#pragma once

#include <optional>
#include <vector>

#include "core/ops/operator.h"

namespace sdip {

/// Whether a constant of this shape is computed with at import.
bool is_foldable(const Shape& shape);

/// Gives an operand without elements its value, whatever it is made of: so arithmetic works on elements, and never
/// along an axis of 2^40 without any. Throws what element_count does.
void know_if_empty(Operand& operand);

/// Row-major distance between neighbours along each axis.
std::vector<std::int64_t> strides_of(const Shape& shape);

/// The only value of a constant of one element, or a fill.
std::optional<double> scalar_of(const Operand& operand);

}  // namespace sdip
