// How weights are stored, by what the machine says: what whoever writes or reads `.weight` must know.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>
#include <cstdint>

#include "core/machine/machine.h"
#include "core/machine/scale_groups.h"

namespace sdip {

/// The scale of a channel or of a group is an fp32, and of an unsigned format a zero point, a code; of a block that
/// of its format. Scales of groups stand with the tile that the groups are of.
/// `group`: with skipping, m of an n:m pattern; 0: any elements of a tile may stay.
struct WeightForm {
  std::int64_t bits = 16, scale_bits_per_channel = 0, density_hundredths = 100, compression_hundredths = 100;
  bool skipping = false;
  std::int64_t group = 0;
  std::int64_t vector_bits = 16;                       // of biases and of held weights
  std::int64_t scale_group = 0, scale_group_bits = 0;  // weights along the sums that share a scale; its bits
  /// Whether each tile stands on its own in `.weight`: else a nest's weights stand there in one piece.
  bool by_tile() const { return skipping || compression_hundredths > 100 || scale_group > 0; }
  /// Bits of the scales of so many rows of weights, each of so many sums. Worked example: groups of 32, scales of 8
  /// bits, 3 rows of 40: 3 x 2 x 8.
  std::int64_t group_scale_bits(std::int64_t rows, std::int64_t sums) const {
    return scale_group == 0 ? 0 : rows * ((sums + scale_group - 1) / scale_group) * scale_group_bits;
  }
  friend auto operator<=>(const WeightForm&, const WeightForm&) = default;
};
WeightForm weight_form(const Machine& machine);

/// Pattern in which the largest ceil(density group) of each `group` consecutive weights along the sums stay; of a
/// last, shorter group at most as many. Worked example: 2 of 4 of 10: 2 + 2 + 2; of 9: 2 + 2 + 1.
struct GroupPattern {
  std::int64_t group = 0, stay = 0;
  std::int64_t kept_of(std::int64_t sums) const { return sums / group * stay + std::min(stay, sums % group); }
  /// Bits that say where in its group a weight stands that stays.
  std::int64_t index_bits() const {
    return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(group - 1)));
  }
};
constexpr GroupPattern group_pattern(std::int64_t group, std::int64_t density_hundredths) {
  return {group, (group * density_hundredths + 99) / 100};
}

}  // namespace sdip
