// Elements of a tensor as ONNX stores them.
#include "core/onnx/raw.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/base/error.h"

namespace sdip {
namespace {

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
      return float_of_code(type, nibble_of(raw_element<std::uint8_t>(raw, i / 2), i));
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
      return wrapped(type, nibble_of(raw_element<std::uint8_t>(raw, i / 2), i));
    default:
      return raw_element<std::int64_t>(raw, i);
  }
}

}  // namespace

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

std::int64_t nibble_of(std::int64_t byte, std::size_t i) { return byte >> (i % 2 * 4) & 15; }

std::int64_t stored_bytes(ElementType type, const Shape& shape) {
  const std::int64_t count = element_count(shape), bits = bits_of(type);
  return bits >= 8 ? count * (bits / 8) : (count * bits + 7) / 8;  // below 2^56: no overflow
}

Tensor tensor_of_raw(ElementType type, const Shape& shape, std::string_view raw) {
  check(std::ssize(raw) == stored_bytes(type, shape), "tensor_of_raw: not as many bytes");
  Tensor value{type, shape, {}, {}};
  const auto count = static_cast<std::size_t>(element_count(shape));
  for (std::size_t i = 0; i < count; ++i) {
    if (is_floating(type)) {
      value.floats.push_back(float_of_raw(type, raw, i));
    } else {
      value.ints.push_back(int_of_raw(type, raw, i));
    }
  }
  return value;
}

namespace {

/// Takes a varint of at most 10 bytes; nothing when it does not end.
std::optional<std::int64_t> take_varint(std::string_view& in) {
  std::uint64_t x = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(in.size(), 10); ++i) {
    const auto byte = static_cast<unsigned char>(in[i]);
    x |= static_cast<std::uint64_t>(byte & 127) << 7 * i;
    if (byte >= 128) continue;
    in.remove_prefix(i + 1);
    return static_cast<std::int64_t>(x);
  }
  return std::nullopt;
}

void add_code(Tensor& tensor, std::int64_t code) {
  if (is_floating(tensor.type))
    tensor.floats.push_back(float_of_code(tensor.type, code));
  else
    tensor.ints.push_back(wrapped(tensor.type, code));
}

}  // namespace

std::optional<Tensor> tensor_of_varints(ElementType type, const Shape& shape, std::string_view varints,
                                        unsigned char tag) {
  if (is_floating(type) && bits_of(type) > 16) return std::nullopt;
  Tensor tensor{type, shape, {}, {}};
  const std::int64_t count = element_count(shape);
  const std::int64_t in_each = bits_of(type) < 8 ? 2 : 1;
  for (std::int64_t at = 0; at < count; at += in_each) {
    if (tag != 0 && at > 0) {
      if (varints.empty() || static_cast<unsigned char>(varints[0]) != tag) return std::nullopt;
      varints.remove_prefix(1);
    }
    const std::optional<std::int64_t> code = take_varint(varints);
    if (!code) return std::nullopt;
    for (std::int64_t i = 0; i < std::min(in_each, count - at); ++i)
      add_code(tensor, in_each == 2 ? nibble_of(*code, static_cast<std::size_t>(i)) : *code);
  }
  return varints.empty() ? std::optional(std::move(tensor)) : std::nullopt;
}

}  // namespace sdip
