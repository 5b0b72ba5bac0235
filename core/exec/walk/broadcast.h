// Elements of one shape beside those of another, by lines.
//
// Example: a bias [3] beside elements 1 to 4 of [2,3]: 1 2 and 0 1, two lines.
#pragma once

#include "core/base/tensor.h"
#include "core/exec/walk/elements.h"

namespace sdip::exec {

/// The element of an operand of shape `from` that numpy's broadcast puts beside each element `at` of a result of
/// shape `to`. Requires that it broadcasts.
Elements elements_beside(const Shape& from, const Shape& to, const Elements& at);

/// The element of an operand of `shape` that a transposition by `permutation` puts at each element `at` of its
/// result.
Elements elements_before(const Shape& shape, std::span<const std::int64_t> permutation, const Elements& at);

}  // namespace sdip::exec
