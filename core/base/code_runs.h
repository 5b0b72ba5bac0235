// Numbers as codes of a number format, many at a time: what `encoded` and `decoded` say of each, in bytes.
#pragma once

#include <cstddef>
#include <span>

#include "core/base/number_format.h"

namespace sdip {

/// Codes of `numbers`, each as encoded(format, x, scale) has it, little-endian; with `infinities` those of floating
/// formats that have them are kept. Requires a format of whole bytes, scale > 0, and room for all.
void encode_run(NumberFormat format, float scale, bool infinities, std::span<const float> numbers,
                std::byte* codes);

/// Numbers of codes that stand one behind the other, each as decoded(format, code, scale). Requires whole bytes.
void decode_run(NumberFormat format, float scale, const std::byte* codes, std::span<float> numbers);

/// One code of `encode_run`, of any format.
std::uint32_t encoded_kept(NumberFormat format, float x, float scale, bool infinities);

}  // namespace sdip
