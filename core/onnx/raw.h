// Elements of a tensor as ONNX stores them: little-endian, 4-bit ones two in a byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/base/tensor.h"

namespace sdip {

/// Bytes that a tensor takes. 0 for strings.
std::int64_t stored_bytes(ElementType type, const Shape& shape);

/// The number that the code of a float of at most 16 bits stands for. 0x3c00 of float16: exponent 15, fraction
/// 0: 1.
double float_of_code(ElementType type, std::int64_t code);

/// Element i of two in a byte, the first in the low half. Of 0xa5: 5, 10.
std::int64_t nibble_of(std::int64_t byte, std::size_t i);

/// The values of raw data. Requires stored_bytes of them, and no strings.
Tensor tensor_of_raw(ElementType type, const Shape& shape, std::string_view raw);

/// The values of a field of varints (int32_data, int64_data, uint64_data): codes of floats and integers, of 4-bit
/// types one for each two. `tag`: 0 where they are packed, else what stands before each but the first. Nothing when
/// they are not as many as the shape says. Example: 80 3c is one 0x1e00, a float16 of 1.5 x 2^-8.
std::optional<Tensor> tensor_of_varints(ElementType type, const Shape& shape, std::string_view varints,
                                        unsigned char tag = 0);

}  // namespace sdip
