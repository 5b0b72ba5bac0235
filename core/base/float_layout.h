// How a narrow floating format's bits are laid out. Internal to its room.
#pragma once

#include <cstdint>

#include "core/base/number_format.h"

namespace sdip {

/// fp16 and bf16: IEEE 754 and its upper half. fp8: OCP 8-bit Floating Point Specification, revision 1.0, table 1.
/// fp16_e6m9: as IEEE 754 would (MN-Core 2 Developer Manual: 1.0 is 0x3e00). fp6, fp4: OCP MX 1.0, tables 3 and 4,
/// without infinities and NaN, whose code is that of 0.
struct FloatLayout {
  int exponent_bits, fraction_bits;
  std::uint32_t largest, nan;  // codes without sign
  bool infinities;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

/// Requires a floating format but fp32; of a block format one whose elements are floats, and it is theirs.
FloatLayout float_layout(NumberFormat format);

}  // namespace sdip
