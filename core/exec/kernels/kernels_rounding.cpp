// The numbers that rounding to each accumulator format needs.
#include "core/exec/kernels/kernels_rounding.h"

#include "core/base/encode.h"
#include "core/base/error.h"

namespace sdip::exec {
namespace {

/// IEEE 754 binary16, its 8-bit relatives (OCP 8-bit Floating Point Specification, revision 1.0, table 1),
/// bfloat16.
Rounding floating(int precision, int least_exponent, double largest) {
  return {false, precision, std::ldexp(1.0, least_exponent - precision + 1), -largest, largest};
}

Rounding fixed_point(NumberFormat format, int fraction_bits) {
  const double unit = std::ldexp(1.0, -fraction_bits), largest = static_cast<double>(largest_code(format)) * unit;
  return {true, 0, unit, -largest - unit, largest};
}

}  // namespace

Rounding rounding_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp16:
      return floating(11, -14, 65504);
    case NumberFormat::bf16:
      return floating(8, -126, std::ldexp(255.0, 120));
    case NumberFormat::fp8_e4m3:
      return floating(4, -6, 448);
    case NumberFormat::fp8_e5m2:
      return floating(3, -14, 57344);
    case NumberFormat::fp16_e6m9:
      return floating(10, -30, std::ldexp(1023.0, 22));
    case NumberFormat::q3_4:
      return fixed_point(format, 4);
    case NumberFormat::q7_8:
      return fixed_point(format, 8);
    default:
      check(format == NumberFormat::q15_16, "a narrow floating or a fixed-point accumulator");
      return fixed_point(format, 16);
  }
}

}  // namespace sdip::exec
