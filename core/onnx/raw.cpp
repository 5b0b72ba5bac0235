// Elements of a tensor as ONNX stores them.
#include "core/onnx/raw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "core/base/element_codes.h"
#include "core/base/error.h"

namespace sdip {
namespace {

template <class T>
T raw_element(std::string_view raw, std::size_t i) {
  T value;  // ONNX's raw data are little-endian, as this machine is
  std::memcpy(&value, raw.data() + i * sizeof(T), sizeof(T));
  return value;
}

std::int64_t code_of_raw(ElementType type, std::string_view raw, std::size_t i) {
  switch (bits_of(type)) {
    case 64:
      return raw_element<std::int64_t>(raw, i);
    case 32:
      return raw_element<std::uint32_t>(raw, i);
    case 16:
      return raw_element<std::uint16_t>(raw, i);
    case 8:
      return raw_element<std::uint8_t>(raw, i);
    default:
      return code_in_byte(raw_element<std::uint8_t>(raw, i / as_size(codes_in_each(type))), bits_of(type), i);
  }
}

}  // namespace

std::int64_t stored_bytes(ElementType type, const Shape& shape) {
  const std::int64_t count = element_count(shape), bits = bits_of(type);
  return bits >= 8 ? count * (bits / 8) : (count * bits + 7) / 8;  // below 2^56: no overflow
}

std::int64_t codes_in_each(ElementType type) { return bits_of(type) < 8 ? 8 / bits_of(type) : 1; }

void add_code(Tensor& tensor, std::int64_t code) {
  if (is_floating(tensor.type))
    tensor.floats.push_back(float_of_code(tensor.type, code));
  else
    tensor.ints.push_back(wrapped(tensor.type, code));
}

Tensor tensor_of_raw(ElementType type, const Shape& shape, std::string_view raw) {
  check(std::ssize(raw) == stored_bytes(type, shape), "tensor_of_raw: not as many bytes");
  Tensor value{type, shape, {}, {}};
  const auto count = as_size(element_count(shape));
  is_floating(type) ? value.floats.reserve(count) : value.ints.reserve(count);
  for (std::size_t i = 0; i < count; ++i) add_code(value, code_of_raw(type, raw, i));
  return value;
}

namespace {

/// The codes of a float type of at most 16 bits, by the bits of the doubles that they stand for.
std::unordered_map<std::uint64_t, std::uint64_t> codes_by_number(ElementType type) {
  std::unordered_map<std::uint64_t, std::uint64_t> codes;
  for (std::int64_t code = 0; code < std::int64_t{1} << bits_of(type); ++code) {
    const double number = float_of_code(type, code);
    codes.emplace(std::bit_cast<std::uint64_t>(std::isnan(number) ? std::nan("") : number),
                  static_cast<std::uint64_t>(code));
  }
  return codes;
}

/// The bits of each element, in the lowest of 64.
std::vector<std::uint64_t> codes_of(const Tensor& tensor) {
  const std::int64_t bits = bits_of(tensor.type);
  const bool wide = bits > 16;
  const auto known = is_floating(tensor.type) && !wide ? codes_by_number(tensor.type)
                                                       : std::unordered_map<std::uint64_t, std::uint64_t>();
  std::vector<std::uint64_t> codes;
  for (const std::int64_t x : tensor.ints) codes.push_back(static_cast<std::uint64_t>(x));
  for (const double x : tensor.floats) {
    if (bits == 64) {
      codes.push_back(std::bit_cast<std::uint64_t>(x));
    } else if (wide) {
      codes.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(x)));
    } else {
      const auto code = known.find(std::bit_cast<std::uint64_t>(std::isnan(x) ? std::nan("") : x));
      check(code != known.end(), "raw_of_tensor: a number that the type does not hold");
      codes.push_back(code->second);
    }
  }
  return codes;
}

}  // namespace

std::string raw_of_tensor(const Tensor& tensor) {
  check(tensor.type != ElementType::string, "raw_of_tensor: strings");
  const auto bits = as_size(bits_of(tensor.type));
  std::string raw(as_size(stored_bytes(tensor.type, tensor.shape)), '\0');
  std::size_t at = 0;  // in bits
  for (const std::uint64_t code : codes_of(tensor)) {
    for (std::size_t done = 0; done < bits; done += 8) {
      const std::uint64_t part = bits < 8 ? code & ((1U << bits) - 1) : code >> done & 255;
      const auto byte = static_cast<unsigned char>(raw[(at + done) / 8]);
      raw[(at + done) / 8] = static_cast<char>(byte | part << at % 8);
    }
    at += bits;
  }
  return raw;
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

}  // namespace

std::optional<Tensor> tensor_of_varints(ElementType type, const Shape& shape, std::string_view varints,
                                        unsigned char tag) {
  if (is_floating(type) && bits_of(type) > 16) return std::nullopt;
  Tensor tensor{type, shape, {}, {}};
  const std::int64_t count = element_count(shape);
  const std::int64_t bits = bits_of(type), in_each = codes_in_each(type);
  for (std::int64_t at = 0; at < count; at += in_each) {
    if (tag != 0 && at > 0) {
      if (varints.empty() || static_cast<unsigned char>(varints[0]) != tag) return std::nullopt;
      varints.remove_prefix(1);
    }
    const std::optional<std::int64_t> code = take_varint(varints);
    if (!code) return std::nullopt;
    for (std::int64_t i = 0; i < std::min(in_each, count - at); ++i)
      add_code(tensor, in_each == 1 ? *code : code_in_byte(*code, bits, as_size(i)));
  }
  return varints.empty() ? std::optional(std::move(tensor)) : std::nullopt;
}

}  // namespace sdip
