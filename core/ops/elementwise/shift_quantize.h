// A float as eight bits by one shift of its mantissa: the quantiser of an attention accelerator on a PYNQ-Z2.
// Internal to its room.
//
// The circuit multiplies by 256 by adding 8 to the exponent, and shifts the mantissa, its hidden one in front, by
// what is then left of the exponent. It looks at no sign, cuts what does not fit, and knows 255 for exponents of 1
// alone. Source: "Single head attention" on PYNQ-Z2, course report on HackMD, section "Simple quantize hardware".
//
// Worked example. 0.7109375 = 1.421875 x 2^-1: exponent field 126, shift 7, 1.0110110 -> 10110110 = 182 = 256 x
// 0.7109375. 0.003 = 1.536 x 2^-9: shift -1, 0. 1.5: 255. 2: 0. -0.5: 128.
#pragma once

#include <cstdint>

namespace sdip {

/// The code that the circuit makes of the float with these 32 bits.
constexpr std::uint8_t shift_quantised(std::uint32_t float_bits) {
  constexpr std::uint32_t hidden = 1U << 23;
  const auto shift = static_cast<std::int32_t>(float_bits >> 23 & 255) + 8 - 127;
  if (shift == 8) return 255;
  if (shift < 0 || shift > 8) return 0;
  return static_cast<std::uint8_t>((hidden | (float_bits & (hidden - 1))) >> (23 - shift));
}

}  // namespace sdip
