// The residual structure of a network: what is added to what was there before, and what waits long to be joined.
// Internal to its room.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace sdip {

/// An operand of an Add or Concat that was made more than so many operators earlier is a skip. A residual add spans
/// 6 to 11 operators in the blocks of Stable Diffusion, a branch of Inception 7; a U-Net's skips span at least 30.
inline constexpr std::int64_t skip_operators = 16;

/// `adds`: Adds of two activations of one shape. `skips`: operands that waited, by what joins them. Crossings:
/// pairs of skips of which one is made while the other waits and is joined after it; none means that a stack holds
/// them. `concat_held_elements`: the most that skips to Concats hold at once, a U-Net's at its bottleneck.
/// Operators are nodes that are neither views nor constants.
struct ResidualFigures {
  std::int64_t adds = 0, add_skips = 0, concat_skips = 0;
  std::int64_t longest_operators = 0;
  std::int64_t crossings = 0;
  std::int64_t concat_held_elements = 0;
};

/// Requires a linked graph. Example: a U-Net of one level, conv -> c; c -> 20 operators -> u; Concat(u, c): one
/// concat skip that spans 20 operators, no crossing, as many elements held as c has.
ResidualFigures residual_figures(const Graph& graph);

}  // namespace sdip
