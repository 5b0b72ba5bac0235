// The scales of quantised weights: which elements share one, and how large it is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/program/program.h"

namespace sdip {

/// Which elements of a weight belong to an output channel: blocks of `block` elements hold `columns` channels, an
/// element's place in a row says which; one column: a block is a channel. `count` 0: one scale for all.
struct WeightChannels {
  std::int64_t count = 0, block = 1, columns = 1;
  std::size_t of(std::int64_t element) const {
    return static_cast<std::size_t>(element / block * columns + element % columns);
  }
};

/// The channels of a nest's weight of `shape`. Convolutions and turned products: the first axis; other products:
/// the last. Throws Error("not_modelled", node, ...) when no rule says.
WeightChannels weight_channels(const Node& node, const InstructionClass& c, const Shape& shape);

/// Smallest scale, an fp32, that keeps |x| <= largest within the format; 1 when it needs none.
float weight_scale(NumberFormat format, double largest);

}  // namespace sdip
