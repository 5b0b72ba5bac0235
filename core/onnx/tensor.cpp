// One tensor of a model: its type and shape, where its bytes lie, and its values when it is small.
#include "core/onnx/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

#include "core/base/error.h"
#include "core/onnx/external.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

[[noreturn]] void fail(const char* code, const std::string& what) { throw Error(code, "", what); }

template <class T>
T raw_element(std::string_view raw, std::size_t i) {
  T value;  // ONNX's raw data are little-endian, as this machine is
  std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// How a float narrower than 32 bits is stored. `ieee`: the highest exponent is infinity and NaN; of the others a
/// single code is NaN, or with `no_nan` none.
struct FloatCode {
  int exponent_bits, fraction_bits, bias;
  bool ieee;
  std::int64_t nan;  // the code without its sign, or the whole code of the types that have no -0
};
constexpr std::int64_t no_nan = -1;

/// Sources: IEEE 754 binary16; bfloat16 is the upper half of binary32; float8 as ONNX's page on it has them
/// (https://onnx.ai/onnx/technical/float8.html), float4 as its page on that.
FloatCode float_code(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return {5, 10, 15, true, 0};
    case ElementType::bfloat16:
      return {8, 7, 127, true, 0};
    case ElementType::float8e4m3fn:
      return {4, 3, 7, false, 0x7f};
    case ElementType::float8e4m3fnuz:
      return {4, 3, 8, false, 0x80};
    case ElementType::float8e5m2:
      return {5, 2, 15, true, 0};
    case ElementType::float8e5m2fnuz:
      return {5, 2, 16, false, 0x80};
    default:
      return {2, 1, 1, false, no_nan};  // float4e2m1
  }
}

/// 0x3c00 of float16: exponent 15, fraction 0: 1.
double float_of_code(ElementType type, std::int64_t code) {
  const FloatCode form = float_code(type);
  const int highest = (1 << form.exponent_bits) - 1;
  const auto exponent = static_cast<int>(code >> form.fraction_bits & highest);
  const std::int64_t fraction = code & ((std::int64_t{1} << form.fraction_bits) - 1);
  const int sign_at = form.exponent_bits + form.fraction_bits;
  const std::int64_t without_sign = code & ((std::int64_t{1} << sign_at) - 1);
  const double sign = (code >> sign_at & 1) != 0 ? -1.0 : 1.0;
  if (form.nan == 0x80 ? code == form.nan : form.nan > 0 && without_sign == form.nan) return std::nan("");
  if (form.ieee && exponent == highest) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  const std::int64_t whole = exponent == 0 ? fraction : fraction + (std::int64_t{1} << form.fraction_bits);
  return sign * std::ldexp(static_cast<double>(whole), std::max(exponent, 1) - form.bias - form.fraction_bits);
}

/// Element i of two in a byte, the first in the low half.
std::int64_t nibble(std::int64_t byte, std::size_t i) { return byte >> (i % 2 * 4) & 15; }

double float_of_raw(ElementType type, std::string_view raw, std::size_t i) {
  switch (bits_of(type)) {
    case 64:
      return raw_element<double>(raw, i);
    case 32:
      return static_cast<double>(raw_element<float>(raw, i));
    case 16:
      return float_of_code(type, raw_element<std::uint16_t>(raw, i));
    case 8:
      return float_of_code(type, raw_element<std::uint8_t>(raw, i));
    default:
      return float_of_code(type, nibble(raw_element<std::uint8_t>(raw, i / 2), i));
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
    case ElementType::int4:
    case ElementType::uint4:
      return wrapped(type, nibble(raw_element<std::uint8_t>(raw, i / 2), i));
    default:
      return raw_element<std::int64_t>(raw, i);
  }
}

/// Codes in int32_data, one for each element; of 4-bit types one for each two.
void read_codes(Tensor& value, const google::protobuf::RepeatedField<std::int32_t>& codes, std::int64_t count) {
  const std::size_t in_each = bits_of(value.type) < 8 ? 2 : 1;
  for (int code : codes) {
    for (std::size_t i = 0; i < in_each; ++i) {
      const std::int64_t bits = in_each == 2 ? nibble(code, i) : code;
      if (is_floating(value.type)) {
        value.floats.push_back(float_of_code(value.type, bits));
      } else {
        value.ints.push_back(wrapped(value.type, bits));
      }
    }
  }
  // The last half of an odd number of 4-bit elements is padding.
  const auto padded = static_cast<std::size_t>(count + count % 2);
  if (in_each == 2 && value.floats.size() == padded) value.floats.resize(static_cast<std::size_t>(count));
  if (in_each == 2 && value.ints.size() == padded) value.ints.resize(static_cast<std::size_t>(count));
}

/// Elements in the field that ONNX keeps the type in when they are not raw.
Tensor typed_elements(const onnx::TensorProto& tensor, ElementType type, std::int64_t count) {
  Tensor value{type, {}, {}, {}};
  switch (type) {
    case ElementType::float32:
      value.floats.assign(tensor.float_data().begin(), tensor.float_data().end());
      break;
    case ElementType::float64:
      value.floats.assign(tensor.double_data().begin(), tensor.double_data().end());
      break;
    case ElementType::int64:
      value.ints.assign(tensor.int64_data().begin(), tensor.int64_data().end());
      break;
    case ElementType::uint32:
    case ElementType::uint64:
      for (std::uint64_t x : tensor.uint64_data()) value.ints.push_back(static_cast<std::int64_t>(x));
      break;
    default:
      read_codes(value, tensor.int32_data(), count);
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

/// Whether so many bytes of the file can hold the elements of a tensor whose data were not kept.
bool can_hold(const onnx::TensorProto& tensor, ElementType type, std::int64_t count, std::int64_t bytes) {
  if (tensor.has_raw_data()) return bytes == stored_bytes(type, {count});
  if (type == ElementType::float32) return bytes == 4 * count || bytes == 5 * count - 1;  // a tag before each
  if (type == ElementType::float64) return bytes == 8 * count || bytes == 9 * count - 1;
  const std::int64_t numbers = bits_of(type) < 8 ? (count + 1) / 2 : count;
  return bytes >= numbers && bytes / 11 <= numbers;  // varints of 1 to 10 bytes, a tag before each
}

}  // namespace

void check_shape(const Shape& shape, const std::string& what, const ImportOptions& options) {
  if (std::ssize(shape) > options.most_rank) {
    fail("limit_exceeded", what + " has rank " + std::to_string(shape.size()) + ", at most " +
                               std::to_string(options.most_rank) + " is accepted");
  }
  for (std::int64_t size : shape) {
    if (size < 0 || size > (std::int64_t{1} << 40)) {
      fail(size < 0 ? "invalid_graph" : "limit_exceeded",
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
    fail("invalid_graph",
         what + " has element type " + std::to_string(tensor.data_type()) + ", which is not known here");
  }
  read.operand.type = *type;
  read.operand.shape.assign(tensor.dims().begin(), tensor.dims().end());
  check_shape(read.operand.shape, what, options);
  const std::int64_t count = element_count(read.operand.shape);
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    if (tensor.has_segment()) fail("invalid_graph", what + " has external data, and data in the model, too");
    read.bytes = external_bytes(tensor, what, stored_bytes(*type, read.operand.shape));
    return read;
  }
  if (count == 0) read.operand.value = Tensor{*type, read.operand.shape, {}, {}};
  if (count == 0 || !tensor.has_segment() || *type == ElementType::string) return read;
  read.bytes = {"", tensor.segment().begin(), tensor.segment().end() - tensor.segment().begin()};
  const auto refuse_size = [&] {
    fail("invalid_graph", what + " of shape " + shape_text(read.operand.shape) + " has data of another size");
  };
  if (count > most_elements) {
    if (read.bytes.length > 0 && !can_hold(tensor, *type, count, read.bytes.length)) refuse_size();
    return read;
  }
  Tensor value;
  if (tensor.has_raw_data()) {
    if (std::ssize(tensor.raw_data()) != stored_bytes(*type, read.operand.shape)) refuse_size();
    value = raw_elements(tensor.raw_data(), *type, static_cast<std::size_t>(count));
  } else {
    value = typed_elements(tensor, *type, count);
    if (std::ssize(value.ints) + std::ssize(value.floats) != count) refuse_size();
  }
  value.shape = read.operand.shape;
  read.operand.value = std::move(value);
  return read;
}

}  // namespace sdip
