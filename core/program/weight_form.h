// How weights are stored, by what the machine says: what whoever writes or reads `.weight` must know.
#pragma once

#include <compare>
#include <cstdint>

#include "core/machine/machine.h"

namespace sdip {

/// The scale of a channel is an fp32, and of an unsigned format a zero point, a code.
struct WeightForm {
  std::int64_t bits = 16, scale_bits_per_channel = 0, density_hundredths = 100, compression_hundredths = 100;
  bool skipping = false;
  /// Whether each tile stands on its own in `.weight`: else a nest's weights stand there in one piece.
  bool by_tile() const { return skipping || compression_hundredths > 100; }
  friend auto operator<=>(const WeightForm&, const WeightForm&) = default;
};
WeightForm weight_form(const Machine& machine);

}  // namespace sdip
