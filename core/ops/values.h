// The parts that the arithmetic of operators shares: values of operands, where elements stand, results as types
// hold them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/operator.h"

namespace sdip {

/// The value of input `i`. Requires what `compute` requires, and that the input is there.
const Tensor& value_of(const OperatorUse& use, std::size_t i);
/// The same, or nullptr where the input is absent.
const Tensor* optional_value(const OperatorUse& use, std::size_t i);
/// The only element of input `i` as an integer, or `otherwise` where the input is absent. Throws shape_mismatch
/// when it is no integer, or not one.
std::int64_t int_of_input(const OperatorUse& use, std::size_t i, std::int64_t otherwise);

/// The number an integer stands for: uint64 as the positive one of its bits.
double double_of(ElementType type, std::int64_t x);
/// All elements as numbers.
std::vector<double> doubles_of(const Tensor& tensor);
/// The integer that a float becomes: cut towards zero, then wrapped as the type does; NaN is 0, beyond 64 bits the
/// nearest integer of 64 bits. boolean: whether it is not 0.
std::int64_t int_of(ElementType type, double x);
/// An integer that sorts as the number sorts: uint64's bits stand in another order.
std::int64_t sort_key(ElementType type, std::int64_t x);
/// A float's place among others, NaN above all numbers as numpy sorts it.
bool float_below(double a, double b);

/// The value of an output of a float type: each number rounded.
void give_floats(Operand& out, std::vector<double> values);
/// The value of an output of an integer type: each wrapped.
void give_ints(Operand& out, std::vector<std::int64_t> values);
/// The value of an output of either: floats rounded, integers as int_of says.
void give_numbers(Operand& out, std::vector<double> values);

/// Per axis, how far each index lies from the first; -1 for an index that stands for nothing.
using Offsets = std::vector<std::vector<std::int64_t>>;
/// As many of each axis as `shape` has, `at(axis, i)` each.
template <class At>
Offsets offsets_over(const Shape& shape, At at) {
  Offsets offsets(shape.size());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    for (std::int64_t i = 0; i < shape[axis]; ++i) offsets[axis].push_back(at(axis, i));
  }
  return offsets;
}
/// Row-major distance between neighbours along each axis, as lists: [2,3] has {{0,3},{0,1,2}}. Requires elements.
Offsets offsets_of(const Shape& shape);
/// The sums over all indices in row-major order, -1 where an offset is -1. {{0,3},{2,1}}: 2, 1, 5, 4.
std::vector<std::int64_t> positions(const Offsets& offsets);

/// The tensor of `shape` of the elements at `positions`; where a position is -1, the element of `filler` (one, of
/// the same type), or 0 without.
Tensor gathered_elements(const Tensor& source, Shape shape, const std::vector<std::int64_t>& positions,
                         const Tensor* filler = nullptr);

/// Where in `data` the elements stand that `indices` name along an axis, each in its own place along the others.
std::vector<std::int64_t> named_elements(const OperatorUse& use, const Shape& data, const Tensor& indices,
                                         std::size_t axis);
/// Where the elements of the slices stand that each row of `indices` names by its first axes, behind `batch` axes
/// that data and indices share.
std::vector<std::int64_t> named_slices(const OperatorUse& use, const Shape& data, const Tensor& indices,
                                       std::size_t batch);

/// Where the elements of an operand stand when it is broadcast to a shape.
struct Spread {
  std::vector<std::int64_t> at;  // empty: as they are
  std::size_t operator[](std::size_t i) const { return at.empty() ? i : as_size(at[i]); }
};
/// Requires that numpy would broadcast `from` to `to`.
Spread spread(const Shape& from, const Shape& to);

/// A tensor as lines along one axis: element k of a line stands `inner` elements behind element k - 1.
struct Lines {
  std::size_t outer, length, inner;
};
Lines lines_along(const Shape& shape, std::size_t axis);
/// Calls f(position of its first element) for each line.
template <class F>
void for_each_line(const Lines& lines, F f) {
  for (std::size_t o = 0; o < lines.outer; ++o) {
    for (std::size_t i = 0; i < lines.inner; ++i) f(o * lines.length * lines.inner + i);
  }
}

/// `f` on the list that holds the tensor's elements, of int64_t or of double.
template <class T, class F>
auto on_elements(T& tensor, F f) {
  return is_floating(tensor.type) ? f(tensor.floats) : f(tensor.ints);
}

}  // namespace sdip
