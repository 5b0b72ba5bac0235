// Computing with constants small enough to hold: the integers of shape chains, and the few floats among them.
#include "core/ops/fold.h"

#include <limits>

namespace sdip {
namespace {

template <class T>
bool fits(std::int64_t value) {
  return value >= static_cast<std::int64_t>(std::numeric_limits<T>::min()) &&
         value <= static_cast<std::int64_t>(std::numeric_limits<T>::max());
}

bool fits_type(ElementType type, std::int64_t value) {
  switch (type) {
    case ElementType::int8:
      return fits<std::int8_t>(value);
    case ElementType::uint8:
      return fits<std::uint8_t>(value);
    case ElementType::int16:
      return fits<std::int16_t>(value);
    case ElementType::uint16:
      return fits<std::uint16_t>(value);
    case ElementType::int32:
      return fits<std::int32_t>(value);
    case ElementType::uint32:
      return fits<std::uint32_t>(value);
    case ElementType::uint64:
      return value >= 0;
    case ElementType::boolean:
      return value == 0 || value == 1;
    default:
      return true;
  }
}

}  // namespace

bool is_foldable(const Shape& shape) { return element_count(shape) <= most_folded_elements; }

std::optional<Tensor> int_constant(ElementType type, Shape shape, std::vector<std::int64_t> values) {
  for (std::int64_t value : values) {
    if (!fits_type(type, value)) return std::nullopt;
  }
  return Tensor{type, std::move(shape), std::move(values), {}};
}

std::optional<Tensor> float_constant(ElementType type, Shape shape, std::vector<double> values) {
  if (type == ElementType::float16 || type == ElementType::bfloat16) return std::nullopt;
  if (type == ElementType::float32) {
    for (double& value : values) value = static_cast<double>(static_cast<float>(value));
  }
  return Tensor{type, std::move(shape), {}, std::move(values)};
}

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  if (element_count(shape) == 0) return strides;  // nothing to step over, and the products need not fit
  for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

Tensor pick(const Tensor& source, const Shape& shape,
            const std::function<std::int64_t(std::span<const std::int64_t>)>& source_element) {
  Tensor out{source.type, shape, {}, {}};
  const std::int64_t count = element_count(shape);
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::size_t>(source_element(index));
    if (source.ints.empty()) {
      out.floats.push_back(source.floats.at(from));
    } else {
      out.ints.push_back(source.ints.at(from));
    }
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return out;
}

Tensor pick_broadcast(const Tensor& source, const Shape& shape) {
  if (source.shape == shape) return source;
  const std::vector<std::int64_t> strides = strides_of(source.shape);
  const std::size_t skip = shape.size() - source.shape.size();
  return pick(source, shape, [&](std::span<const std::int64_t> index) {
    std::int64_t from = 0;
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (source.shape[i] != 1) from += index[skip + i] * strides[i];
    }
    return from;
  });
}

std::optional<double> scalar_of(const Operand& operand) {
  if (operand.fill) return operand.fill;
  if (!operand.value || element_count(operand.shape) != 1) return std::nullopt;
  const Tensor& value = *operand.value;
  return value.ints.empty() ? value.floats.at(0) : static_cast<double>(value.ints.at(0));
}

}  // namespace sdip
