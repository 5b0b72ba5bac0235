// Which weights share a scale.
#include "core/machine/scale_groups.h"

#include "core/base/encode.h"

namespace sdip {

std::int64_t scale_group_of(NumberFormat weights, ScaleGranularity granularity) {
  if (is_block_format(weights)) return row_of(weights).block;
  if (!needs_scale(weights) || bits_of(weights) > 8) return 0;  // sums of wider codes would outgrow narrow floats
  constexpr std::int64_t groups[] = {0, 0, 32, 64, 128};        // tensor, channel, group_32, ...
  static_assert(std::size(groups) == at(ScaleGranularity::group_128) + 1);
  return groups[at(granularity)];
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
