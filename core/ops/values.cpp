// The parts that the arithmetic of operators shares: values of operands, where elements stand, results as types
// hold them, walks over the indices of a shape.
#include "core/ops/values.h"

#include <cmath>

#include "core/base/error.h"
#include "core/ops/fold.h"

namespace sdip {

const Tensor& value_of(const OperatorUse& use, std::size_t i) {
  const Operand& operand = input(use, i);
  check(operand.value.has_value(), "compute: an input without values");
  return *operand.value;
}

const Tensor* optional_value(const OperatorUse& use, std::size_t i) {
  return optional_input(use, i) == nullptr ? nullptr : &value_of(use, i);
}

std::int64_t int_of_input(const OperatorUse& use, std::size_t i, std::int64_t otherwise) {
  const Tensor* value = optional_value(use, i);
  if (value == nullptr) return otherwise;
  if (value->ints.size() != 1) {
    refuse(use, "shape_mismatch",
           fmt::format("input {} must be one integer, but is {}{}", i, element_type_text(value->type),
                       shape_text(value->shape)));
  }
  return value->ints[0];
}

double double_of(ElementType type, std::int64_t x) {
  return type == ElementType::uint64 ? static_cast<double>(static_cast<std::uint64_t>(x)) : static_cast<double>(x);
}

std::vector<double> doubles_of(const Tensor& tensor) {
  if (is_floating(tensor.type)) return tensor.floats;
  std::vector<double> numbers;
  numbers.reserve(tensor.ints.size());
  for (std::int64_t x : tensor.ints) numbers.push_back(double_of(tensor.type, x));
  return numbers;
}

std::vector<double> doubles_of(const OperatorUse& use, std::size_t i) {
  const Tensor* value = optional_value(use, i);
  if (value == nullptr) return {};
  std::vector<double> numbers = doubles_of(*value);
  if (std::ssize(numbers) != element_count(input(use, i).shape)) {
    refuse(use, "not_computable", fmt::format("the values of input {} are no numbers", i));
  }
  return numbers;
}

std::int64_t int_of(ElementType type, double x) {
  constexpr double two_63 = 0x1p63;
  if (type == ElementType::boolean) return x != 0;
  if (std::isnan(x)) return 0;
  if (type == ElementType::uint64 && x >= two_63) {
    return static_cast<std::int64_t>(x < 2 * two_63 ? static_cast<std::uint64_t>(x) : UINT64_MAX);
  }
  if (x >= two_63) return wrapped(type, INT64_MAX);
  if (x < -two_63) return wrapped(type, INT64_MIN);
  return wrapped(type, static_cast<std::int64_t>(x));
}

double held_double(ElementType type, double x) {
  return is_floating(type) ? rounded(type, x) : double_of(type, int_of(type, x));
}

std::int64_t sort_key(ElementType type, std::int64_t x) { return type == ElementType::uint64 ? x ^ INT64_MIN : x; }

bool float_below(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

void set_ints(Operand& out, std::vector<std::int64_t> values) {
  check(std::ssize(values) == element_count(out.shape), "set_ints: another number of elements");
  for (std::int64_t& x : values) x = wrapped(out.type, x);
  out.value = Tensor{out.type, out.shape, std::move(values), {}};
}

void set_doubles(Operand& out, std::vector<double> values) {
  if (!is_floating(out.type)) {
    std::vector<std::int64_t> ints;
    ints.reserve(values.size());
    for (double x : values) ints.push_back(int_of(out.type, x));
    return set_ints(out, std::move(ints));
  }
  check(std::ssize(values) == element_count(out.shape), "set_doubles: another number of elements");
  for (double& x : values) x = rounded(out.type, x);
  out.value = Tensor{out.type, out.shape, {}, std::move(values)};
}

Offsets offsets_of(const Shape& shape) {
  check(element_count(shape) > 0, "offsets_of: no elements");
  const auto strides = strides_of(shape);
  return offsets_over(shape, [&](std::size_t axis, std::int64_t i) { return i * strides[axis]; });
}

std::vector<std::int64_t> positions(const Offsets& offsets) {
  std::vector<std::int64_t> sums{0};
  for (const auto& axis : offsets) {
    std::vector<std::int64_t> next;
    next.reserve(sums.size() * axis.size());
    for (std::int64_t sum : sums) {
      for (std::int64_t offset : axis) next.push_back(sum < 0 || offset < 0 ? -1 : sum + offset);
    }
    sums = std::move(next);
  }
  return sums;
}

Tensor gathered_elements(const Tensor& source, Shape shape, const std::vector<std::int64_t>& positions,
                         const Tensor* filler) {
  Tensor out{source.type, std::move(shape), {}, {}};
  const auto take = [&](auto elements) {
    (out.*elements).reserve(positions.size());
    const auto otherwise = filler == nullptr || (filler->*elements).empty() ? 0 : (filler->*elements).front();
    for (std::int64_t at : positions)
      (out.*elements).push_back(at < 0 ? otherwise : (source.*elements).at(as_size(at)));
  };
  is_floating(source.type) ? take(&Tensor::floats) : take(&Tensor::ints);
  return out;
}

std::vector<std::int64_t> named_elements(const OperatorUse& use, const Shape& data, const Tensor& indices,
                                         std::size_t axis) {
  const auto strides = strides_of(data);
  std::vector<std::int64_t> places = positions(
      offsets_over(indices.shape, [&](std::size_t d, std::int64_t i) { return d == axis ? 0 : i * strides[d]; }));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] += index_within(use, indices.ints[i], data[axis]) * strides[axis];
  return places;
}

std::vector<std::int64_t> named_slices(const OperatorUse& use, const Shape& data, const Tensor& indices,
                                       std::size_t batch) {
  const auto depth = as_size(indices.shape.back());
  const auto strides = strides_of(data);
  const std::int64_t rows = count_between(indices.shape, 0, indices.shape.size() - 1);
  const std::int64_t batches = count_between(data, 0, batch);
  const std::int64_t slice = count_between(data, batch + depth, data.size());
  std::vector<std::int64_t> places;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t start = row / (rows / batches) * count_between(data, batch, data.size());
    for (std::size_t d = 0; d < depth; ++d) {
      const std::int64_t index = indices.ints[as_size(row) * depth + d];
      start += index_within(use, index, data[batch + d]) * strides[batch + d];
    }
    for (std::int64_t i = 0; i < slice; ++i) places.push_back(start + i);
  }
  return places;
}

BroadcastIndex broadcast_index(const Shape& from, const Shape& to) {
  if (from == to) return {};
  const auto strides = strides_of(from);
  const std::size_t skip = to.size() - from.size();
  return {positions(offsets_over(to, [&](std::size_t axis, std::int64_t i) {
    return axis < skip || from[axis - skip] == 1 ? 0 : i * strides[axis - skip];
  }))};
}

Tensor broadcast_elements(const Tensor& source, const Shape& to) {
  const BroadcastIndex from = broadcast_index(source.shape, to);
  return from.at.empty() ? source : gathered_elements(source, to, from.at);
}

std::vector<double> broadcast_doubles(const std::vector<double>& values, const Shape& from, const Shape& to) {
  const BroadcastIndex at = broadcast_index(from, to);
  std::vector<double> all(as_size(element_count(to)));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = values[at[i]];
  return all;
}

bool next_index(std::vector<std::int64_t>& index, const Shape& shape) {
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (++index[axis] < shape[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

Lines lines_along(const Shape& shape, std::size_t axis) {
  return {as_size(count_between(shape, 0, axis)), as_size(shape[axis]),
          as_size(count_between(shape, axis + 1, shape.size()))};
}

}  // namespace sdip
