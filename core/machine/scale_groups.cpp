// Which weights share a scale.
#include "core/machine/scale_groups.h"

#include "core/base/encode.h"

namespace sdip {

std::int64_t scale_group_of(NumberFormat weights, ScaleGranularity granularity) {
  if (is_block_format(weights)) return row_of(weights).block;
  if (!needs_scale(weights) || bits_of(weights) > 8) return 0;  // sums of wider codes would outgrow narrow floats
  switch (granularity) {
    case ScaleGranularity::group_32:
      return 32;
    case ScaleGranularity::group_64:
      return 64;
    case ScaleGranularity::group_128:
      return 128;
    default:
      return 0;
  }
}

std::int64_t scale_group_bits(const Machine& m) {
  if (is_block_format(m.weight_format)) return row_of(m.weight_format).scale_bits;
  if (scale_group_of(m) == 0) return 0;
  return 32 + (needs_zero_point(m.weight_format) ? bits_of(m.weight_format) : 0);
}

bool scales_by_shifts(NumberFormat weights) {
  return is_block_format(weights) && row_of(weights).scale == BlockScale::power_of_two;
}

}  // namespace sdip
