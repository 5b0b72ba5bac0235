// Elements as a machine's number format holds them.
#include "core/exec/numbers/formats.h"

#include "core/base/encode.h"
#include "core/base/units.h"

namespace sdip::exec {

bool holds(NumberFormat format, ElementType type) {
  if (!is_floating(type)) return true;
  using enum ElementType;
  switch (format) {
    case NumberFormat::fp32:
      return type != float64;
    case NumberFormat::fp16:
      return type == float16 || type == float8e4m3fn || type == float8e5m2 || type == float4e2m1;
    case NumberFormat::bf16:
      return type == bfloat16 || type == float8e8m0;
    case NumberFormat::fp8_e4m3:
      return type == float8e4m3fn;
    case NumberFormat::fp8_e5m2:
      return type == float8e5m2;
    default:
      return false;
  }
}

double rounded_to_format(NumberFormat format, double x, const WeightScale& scale) {
  const std::int64_t zero = scale.zero.value_or(0);
  return static_cast<double>(
      decoded(format, encoded(format, static_cast<float>(x), scale.scale, zero), scale.scale, zero));
}

void round_to_format(Tensor& tensor, NumberFormat format, const WeightScale& scale) {
  if (holds(format, tensor.type)) return;
  for (double& x : tensor.floats) x = rounded_to_format(format, x, scale);
}

double accumulated(NumberFormat format, double sum) {
  const bool floating = is_floating(format);
  return floating ? rounded_to_format(format, sum, 1.0F) : sum;
}

}  // namespace sdip::exec
