// The scales of quantised weights: which elements share one, and how large it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/program/program.h"

namespace sdip {

/// Which elements of a weight belong to an output channel: blocks of `block` elements hold `columns` channels, an
/// element's place in a row says which; one column: a block is a channel. `run` elements in a row of a block (rows
/// of the matrix; kernel positions) are of one input channel. `count` 0: no rule says.
struct WeightChannels {
  std::int64_t count = 0, block = 1, columns = 1, run = 1;
  std::size_t of(std::int64_t element) const {
    return static_cast<std::size_t>(element / block * columns + element % columns);
  }
  friend bool operator==(const WeightChannels&, const WeightChannels&) = default;
};

/// The channels of the weight of `shape` of `node`, whose nest is `nest`, over all groups. Convolutions and turned
/// products: the first axis; other products: the last. `count` 0 for other operators.
WeightChannels weight_channels(const Node& node, const LoopNest& nest, const Shape& shape);

/// Smallest scale, an fp32, that keeps `least` to `most` and 0 within the format; 1 when it needs none. Of signed
/// formats symmetric; of unsigned ones with the zero point that has `least`, if it is below 0, at code 0. Example:
/// uint8, -1 to 4: scale 5/255, zero point 51.
WeightScale weight_scale(NumberFormat format, double least, double most);

/// The scale that holds every whole number from `least` to `most` exactly: 1; nothing when the format is too
/// narrow.
std::optional<WeightScale> whole_scale(NumberFormat format, std::int64_t least, std::int64_t most);

}  // namespace sdip
