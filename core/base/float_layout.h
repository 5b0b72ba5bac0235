// How a narrow floating format's bits are laid out.
#pragma once

#include <cstdint>

#include "core/base/number_format.h"

namespace sdip {

/// fp16 and bf16: IEEE 754 and its upper half. fp8: OCP 8-bit Floating Point Specification, revision 1.0, table 1.
struct FloatLayout {
  int exponent_bits, fraction_bits;
  std::uint32_t largest, nan;  // codes without sign
  bool infinities;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

/// Requires a floating format but fp32.
FloatLayout float_layout(NumberFormat format);

}  // namespace sdip
