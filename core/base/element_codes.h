// Element types' numbers as bits, and bits as numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/tensor.h"

namespace sdip {

/// The number that the code of a float stands for. 0x3c00 of float16: exponent 15, fraction 0: 1.
double float_of_code(ElementType type, std::int64_t code);

/// The code of a number that the float type holds, its sign at the top; of a NaN a quiet one. 1 of float16 is
/// 0x3c00.
std::int64_t code_of_float(ElementType type, double x);

/// Element i of those of `bits` bits that share a byte, the first in the lowest. Of 0xa5, 4 bits each: 5, 10; 2
/// bits each: 1, 1, 2, 2.
std::int64_t code_in_byte(std::int64_t byte, std::int64_t bits, std::size_t i);

}  // namespace sdip
