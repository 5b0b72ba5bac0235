// One tensor of a model: its type and shape, where its bytes lie, and its values when it is small.
#include "core/onnx/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/base/error.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

[[noreturn]] void fail(const ImportOptions& options, const char* code, const std::string& what) {
  throw Error(code, options.label, options.label + ": " + what);
}

std::int64_t bytes_of(ElementType type) {
  switch (type) {
    case ElementType::int8:
    case ElementType::uint8:
    case ElementType::boolean:
      return 1;
    case ElementType::float16:
    case ElementType::bfloat16:
    case ElementType::int16:
    case ElementType::uint16:
      return 2;
    case ElementType::float32:
    case ElementType::int32:
    case ElementType::uint32:
      return 4;
    default:
      return 8;
  }
}

template <class T>
T raw_element(std::string_view raw, std::size_t i) {
  T value;  // ONNX's raw data are little-endian, as this machine is
  std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
  return value;
}

double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double sign = bits >> 15 != 0 ? -1.0 : 1.0;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

double bfloat_value(std::uint16_t bits) {
  const std::uint32_t wide = std::uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof(value));
  return static_cast<double>(value);
}

double float_of_raw(ElementType type, std::string_view raw, std::size_t i) {
  switch (type) {
    case ElementType::float64:
      return raw_element<double>(raw, i);
    case ElementType::float16:
      return half_value(raw_element<std::uint16_t>(raw, i));
    case ElementType::bfloat16:
      return bfloat_value(raw_element<std::uint16_t>(raw, i));
    default:
      return static_cast<double>(raw_element<float>(raw, i));
  }
}

std::int64_t int_of_raw(ElementType type, std::string_view raw, std::size_t i) {
  switch (type) {
    case ElementType::int8:
      return raw_element<std::int8_t>(raw, i);
    case ElementType::uint8:
      return raw_element<std::uint8_t>(raw, i);
    case ElementType::boolean:
      return raw_element<std::uint8_t>(raw, i) != 0;
    case ElementType::int16:
      return raw_element<std::int16_t>(raw, i);
    case ElementType::uint16:
      return raw_element<std::uint16_t>(raw, i);
    case ElementType::int32:
      return raw_element<std::int32_t>(raw, i);
    case ElementType::uint32:
      return raw_element<std::uint32_t>(raw, i);
    default:
      return raw_element<std::int64_t>(raw, i);
  }
}

/// Elements in the field that ONNX keeps the type in when they are not raw.
Tensor typed_elements(const onnx::TensorProto& tensor, ElementType type) {
  Tensor value{type, {}, {}, {}};
  switch (type) {
    case ElementType::float32:
      value.floats.assign(tensor.float_data().begin(), tensor.float_data().end());
      break;
    case ElementType::float64:
      value.floats.assign(tensor.double_data().begin(), tensor.double_data().end());
      break;
    case ElementType::float16:
      for (std::int32_t bits : tensor.int32_data())
        value.floats.push_back(half_value(static_cast<std::uint16_t>(bits)));
      break;
    case ElementType::bfloat16:
      for (std::int32_t bits : tensor.int32_data()) {
        value.floats.push_back(bfloat_value(static_cast<std::uint16_t>(bits)));
      }
      break;
    case ElementType::int64:
      value.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
      break;
    case ElementType::uint32:
    case ElementType::uint64:
      for (std::uint64_t x : tensor.uint64_data()) value.ints.push_back(static_cast<std::int64_t>(x));
      break;
    default:
      value.ints.assign(tensor.int32_data().begin(), tensor.int32_data().end());
  }
  return value;
}

Tensor raw_elements(std::string_view raw, ElementType type, std::size_t count) {
  Tensor value{type, {}, {}, {}};
  for (std::size_t i = 0; i < count; ++i) {
    if (is_floating(type)) {
      value.floats.push_back(float_of_raw(type, raw, i));
    } else {
      value.ints.push_back(int_of_raw(type, raw, i));
    }
  }
  return value;
}

/// Text of external data: noted, never opened.
WeightBytes external_bytes(const onnx::TensorProto& tensor, const std::string& what, const ImportOptions& options) {
  WeightBytes bytes;
  const auto number = [&](const std::string& text) {
    std::int64_t value = 0;
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) {
      fail(options, "invalid_graph", what + ": external data at '" + text + "', expected a number");
    }
    for (char digit : text) value = value * 10 + (digit - '0');
    return value;
  };
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") bytes.file = entry.value();
    if (entry.key() == "offset") bytes.offset = number(entry.value());
    if (entry.key() == "length") bytes.length = number(entry.value());
  }
  return bytes;
}

}  // namespace

void check_shape(const Shape& shape, const std::string& what, const ImportOptions& options) {
  if (std::ssize(shape) > options.most_rank) {
    fail(options, "limit_exceeded",
         what + " has rank " + std::to_string(shape.size()) + ", at most " + std::to_string(options.most_rank) +
             " is accepted");
  }
  for (std::int64_t size : shape) {
    if (size < 0 || size > (std::int64_t{1} << 40)) {
      fail(options, size < 0 ? "invalid_graph" : "limit_exceeded",
           what + " has a size of " + std::to_string(size) + ", expected 0 to 2^40");
    }
  }
  element_count(shape);
}

ReadTensor read_tensor(const onnx::TensorProto& tensor, const std::string& what, const ImportOptions& options,
                       std::int64_t most_elements) {
  ReadTensor read;
  const auto type = element_type_of_onnx(tensor.data_type());
  if (!type) {
    fail(options, "invalid_graph",
         what + " has element type " + std::to_string(tensor.data_type()) + ", which is not known here");
  }
  read.operand.type = *type;
  read.operand.shape.assign(tensor.dims().begin(), tensor.dims().end());
  check_shape(read.operand.shape, what, options);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    read.bytes = external_bytes(tensor, what, options);
    return read;
  }
  const std::int64_t count = element_count(read.operand.shape);
  if (count == 0) read.operand.value = Tensor{*type, read.operand.shape, {}, {}};
  if (count == 0 || !tensor.has_segment() || *type >= ElementType::string) return read;
  read.bytes = {"", tensor.segment().begin(), tensor.segment().end() - tensor.segment().begin()};
  if (count > most_elements) return read;
  Tensor value = tensor.has_raw_data() ? Tensor{} : typed_elements(tensor, *type);
  std::int64_t held = std::ssize(value.ints) + std::ssize(value.floats);
  if (tensor.has_raw_data()) {
    const std::int64_t bytes = std::ssize(tensor.raw_data());
    held = bytes % bytes_of(*type) == 0 ? bytes / bytes_of(*type) : -1;
    if (held == count) value = raw_elements(tensor.raw_data(), *type, static_cast<std::size_t>(count));
  }
  if (held != count) {
    fail(options, "invalid_graph",
         what + " of shape " + shape_text(read.operand.shape) + " has data of another size");
  }
  value.shape = read.operand.shape;
  read.operand.value = std::move(value);
  return read;
}

}  // namespace sdip
