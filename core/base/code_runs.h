// Numbers as codes of a number format, many at a time: what `encoded` and `decoded` say of each, in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/number_format.h"
#include "core/base/vectors.h"

namespace sdip {

/// The value of one step of an integer format's codes, and the code of 0.
struct CodeStep {
  float scale = 1;
  std::int64_t zero = 0;
  CodeStep(float s = 1, std::int64_t z = 0) : scale(s), zero(z) {}  // NOLINT: a scale is one
};

/// Codes of `numbers`, each as encoded(format, x, scale, zero) has it, little-endian; with `infinities` those of
/// floating formats that have them are kept. Requires a format of whole bytes, scale > 0, and room for all.
/// The bits do not depend on `vectors`.
void encode_run(NumberFormat format, const CodeStep& step, bool infinities, std::span<const float> numbers,
                std::byte* codes, Vectors vectors = widest_vectors());

/// Numbers of codes that stand one behind the other, each as decoded(format, code, scale, zero). Requires whole
/// bytes.
void decode_run(NumberFormat format, const CodeStep& step, const std::byte* codes, std::span<float> numbers,
                Vectors vectors = widest_vectors());

/// One code of `encode_run`, of any format.
std::uint32_t encoded_kept(NumberFormat format, float x, const CodeStep& step, bool infinities);

}  // namespace sdip
