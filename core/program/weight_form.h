// How weights are stored, by what the machine says: what whoever writes or reads `.weight` must know.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>

#include "core/machine/machine.h"

namespace sdip {

/// The scale of a channel is an fp32, and of an unsigned format a zero point, a code.
/// `group`: with skipping, m of an n:m pattern; 0: any elements of a tile may stay.
struct WeightForm {
  std::int64_t bits = 16, scale_bits_per_channel = 0, density_hundredths = 100, compression_hundredths = 100;
  bool skipping = false;
  std::int64_t group = 0;
  /// Whether each tile stands on its own in `.weight`: else a nest's weights stand there in one piece.
  bool by_tile() const { return skipping || compression_hundredths > 100; }
  friend auto operator<=>(const WeightForm&, const WeightForm&) = default;
};
WeightForm weight_form(const Machine& machine);

/// Of `group` consecutive weights along the sums the largest ceil(density group) stay, of fewer at most as many.
/// Worked example: 2 of 4 of 10: 2 + 2 + 2; of 9: 2 + 2 + 1.
struct GroupPattern {
  std::int64_t group = 0, stay = 0;
  std::int64_t kept_of(std::int64_t sums) const { return sums / group * stay + std::min(stay, sums % group); }
  /// Of the place of a weight that stays in its group.
  std::int64_t index_bits() const {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(group - 1)));
  }
};
constexpr GroupPattern group_pattern(std::int64_t group, std::int64_t density_hundredths) {
  return {group, (group * density_hundredths + 99) / 100};
}

}  // namespace sdip
