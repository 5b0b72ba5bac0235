// Elements of a tensor as ONNX stores them: little-endian, 4-bit ones two in a byte, 2-bit ones four.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/tensor.h"

namespace sdip {

/// Bytes that a tensor takes. 0 for strings.
std::int64_t stored_bytes(ElementType type, const Shape& shape);

/// Elements that a number of a field of varints, or a byte, holds: 2 of 4 bits, 4 of 2 bits, else 1.
std::int64_t codes_in_each(ElementType type);

/// Puts the element that a code stands for behind those that are there.
void add_code(Tensor& tensor, std::int64_t code);

/// The values of raw data. Requires stored_bytes of them, and no strings.
Tensor tensor_of_raw(ElementType type, const Shape& shape, std::string_view raw);

/// The raw data of a tensor: tensor_of_raw of it is the tensor again. Requires no strings.
std::string raw_of_tensor(const Tensor& tensor);

/// The values of a field of varints (int32_data, int64_data, uint64_data): codes of floats and integers, one for
/// each codes_in_each of the type. `tag`: 0 where they are packed, else what stands before each but the first.
/// Nothing when they are not as many as the shape says. Example: 80 3c is one 0x1e00, a float16 of 1.5 x 2^-8.
std::optional<Tensor> tensor_of_varints(ElementType type, const Shape& shape, std::string_view varints,
                                        unsigned char tag = 0);

}  // namespace sdip
