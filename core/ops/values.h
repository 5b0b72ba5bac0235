// The parts that the arithmetic of operators shares: values of operands, where elements stand, results as types
// hold them, walks over the indices of a shape.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ops/use.h"

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
/// All elements, integers as the nearest doubles.
std::vector<double> doubles_of(const Tensor& tensor);
/// The same of input `i`; none where it is absent. Requires that its value is known.
std::vector<double> doubles_of(const OperatorUse& use, std::size_t i);
/// The integer that a float becomes: cut towards zero, then wrapped as the type does; NaN is 0, beyond 64 bits the
/// nearest integer of 64 bits. boolean: whether it is not 0.
std::int64_t int_of(ElementType type, double x);
/// A number as the type holds it: a float rounded, an integer as int_of says.
double held_double(ElementType type, double x);
/// An integer that sorts as the number sorts: uint64's bits stand in another order.
std::int64_t sort_key(ElementType type, std::int64_t x);
/// A float's place among others, NaN above all numbers as numpy sorts it.
bool float_below(double a, double b);

/// The value of an output of any type: each number as the type holds it. Requires as many as the shape says.
void set_doubles(Operand& out, std::vector<double> values);
/// The value of an output of an integer type: each wrapped. Requires the same.
void set_ints(Operand& out, std::vector<std::int64_t> values);
/// The first output is `f` of each element of the first input; of integers, cut to the type.
template <class F>
void compute_each(const OperatorUse& use, std::span<Operand> outputs, F f) {
  std::vector<double> values = doubles_of(use, 0);
  for (double& x : values) x = f(x);
  set_doubles(outputs[0], std::move(values));
}
template <double (*F)(double)>
void compute_function(const OperatorUse& use, std::span<Operand> outputs) {
  compute_each(use, outputs, F);
}

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
struct BroadcastIndex {
  std::vector<std::int64_t> at;  // empty: as they are
  std::size_t operator[](std::size_t i) const { return at.empty() ? i : as_size(at[i]); }
};
/// Requires that numpy would broadcast `from` to `to`.
BroadcastIndex broadcast_index(const Shape& from, const Shape& to);
/// The tensor, or `values` of the shape `from`, repeated so: 7, 9 of [2,1] to [2,3] are 7, 7, 7, 9, 9, 9.
Tensor broadcast_elements(const Tensor& source, const Shape& to);
std::vector<double> broadcast_doubles(const std::vector<double>& values, const Shape& from, const Shape& to);
/// The list of `shape` of what `f` makes of an element of `a` and one of `b`, both broadcast to it.
template <class Result, class T, class F>
std::vector<Result> broadcast_pairs(const Tensor& a, const Tensor& b, std::vector<T> Tensor::*elements,
                                    const Shape& shape, F f) {
  const BroadcastIndex at_a = broadcast_index(a.shape, shape), at_b = broadcast_index(b.shape, shape);
  std::vector<Result> values(as_size(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = f((a.*elements)[at_a[i]], (b.*elements)[at_b[i]]);
  return values;
}

/// The next index in row-major order, the last axis fastest; false behind the last one, which becomes the first.
bool next_index(std::vector<std::int64_t>& index, const Shape& shape);

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
