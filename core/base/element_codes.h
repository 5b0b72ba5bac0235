// Element types' numbers as bits, and bits as numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/tensor.h"

namespace sdip {

/// How a float of at most 32 bits is stored. `ieee`: the highest exponent is infinity and NaN; of the others a
/// single code is NaN, or with `no_nan` none.
struct StoredFloat {
  int exponent_bits, fraction_bits, bias;
  bool ieee;
  std::int64_t nan;  // the code without its sign, or the whole code of the types that have no -0
  double largest;
  int least_exponent() const { return 1 - bias; }  // of the normal numbers
  bool negative_zero() const { return nan != 0x80; }
  int sign_at() const { return exponent_bits + fraction_bits; }
  std::int64_t sign() const { return std::int64_t{1} << sign_at(); }
  std::int64_t infinity() const { return ((std::int64_t{1} << exponent_bits) - 1) << fraction_bits; }
};
const StoredFloat& stored_float(ElementType type);

/// Whether it is an integer that may be below 0.
bool is_signed(ElementType type);

/// The number that the code of a float stands for. 0x3c00 of float16: exponent 15, fraction 0: 1.
double float_of_code(ElementType type, std::int64_t code);

/// The code of a number that the float type holds, its sign at the top; of a NaN a quiet one. 1 of float16 is
/// 0x3c00.
std::int64_t code_of_float(ElementType type, double x);

/// Element i of those of `bits` bits that share a byte, the first in the lowest. Example: 0xa5 holds, 4 bits each,
/// 5, 10; 2 bits each, 1, 1, 2, 2.
std::int64_t code_in_byte(std::int64_t byte, std::int64_t bits, std::size_t i);

}  // namespace sdip
