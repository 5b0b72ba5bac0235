// The parts that all arithmetic shares: elements as numbers, in and out, and walks over all indices of a shape.
#pragma once

#include <string>
#include <vector>

#include "core/ops/use.h"

namespace sdip {

/// Elements of input `i`, integers as the nearest doubles; none when the input is absent. Requires that its value
/// is known.
std::vector<double> numbers_of(const OperatorUse& use, std::size_t i);

/// Elements of a tensor, integers as the nearest doubles.
std::vector<double> numbers_in(const Tensor& tensor);

/// Makes `numbers` the output's value: floats rounded to its type, integers cut and wrapped. Requires as many as
/// the output's shape says.
void set_numbers(Operand& output, const std::vector<double>& numbers);

/// One number as the type holds it: rounded, or cut to an integer and wrapped.
double held_number(ElementType type, double x);

/// The next index in row-major order, the last axis fastest; false behind the last one, which becomes the first.
bool next_index(std::vector<std::int64_t>& index, const Shape& shape);

/// `numbers` of the shape `from`, repeated as numpy's broadcast to `to` does: 7, 9 of [2,1] to [2,3] are 7, 7, 7,
/// 9, 9, 9. Requires that it broadcasts.
std::vector<double> broadcast_numbers(const std::vector<double>& numbers, const Shape& from, const Shape& to);

/// Throws limit_exceeded when a result looks at more than 2^16 elements for each one that is stored: no sane model
/// does, and a hostile one must not keep us busy. Requires counts of at least 0.
void require_bounded(const OperatorUse& use, double operations, std::int64_t stored_elements);

/// Throws shape_mismatch unless input `i` is absent or of shape `shape`.
void require_shape(const OperatorUse& use, std::size_t i, const Shape& shape);

}  // namespace sdip
