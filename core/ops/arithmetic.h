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

/// For each element of `to`, in row-major order, the number of the element of `from` that numpy's broadcast puts
/// there. [2,1] to [2,3]: 0, 0, 0, 1, 1, 1. Requires that it broadcasts.
std::vector<std::size_t> broadcast_elements(const Shape& from, const Shape& to);

/// Numbers and words of an attribute, or `otherwise` when it is absent. Throw unsupported_attribute when of another
/// type.
std::vector<double> floats_attribute(const OperatorUse& use, std::string_view name, std::vector<double> otherwise);
std::vector<std::string> strings_attribute(const OperatorUse& use, std::string_view name,
                                           std::vector<std::string> otherwise);

/// Throws limit_exceeded when a result looks at more than 2^16 elements for each one that is stored: no sane model
/// does, and a hostile one must not keep us busy. Requires counts of at least 0.
void require_bounded(const OperatorUse& use, double operations, std::int64_t stored_elements);

/// An operand of this type and shape, nothing else known.
Operand operand_like(ElementType type, Shape shape);

/// Throws shape_mismatch unless input `i` is absent or of shape `shape`.
void require_shape(const OperatorUse& use, std::size_t i, const Shape& shape);

}  // namespace sdip
