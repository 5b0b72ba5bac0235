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
  std::size_t of(std::int64_t element) const { return as_size(element / block * columns + element % columns); }
  friend bool operator==(const WeightChannels&, const WeightChannels&) = default;
};

/// The channels of the weight of `shape` of `node`, whose nest is `nest`, over all groups. Convolutions and turned
/// products: the first axis; other products: the last. `count` 0 for other operators.
WeightChannels weight_channels(const Node& node, const LoopNest& nest, const Shape& shape);

/// Smallest scale, an fp32, that keeps `least` to `most` and 0 within the format; 1 when it needs none. It is
/// symmetric in signed formats; in unsigned ones the zero point has `least`, if it is below 0, at code 0. Example:
/// uint8, -1 to 4: scale 5/255, zero point 51.
WeightScale weight_scale(NumberFormat format, double least, double most);

/// The scale of a block of which `reach` is the largest magnitude, in a block format. Powers of two:
/// floor(log2(reach)) less the exponent of the format's largest element (OCP MX 1.0, 6.3; msfp: of 1), from 2^-127
/// to 2^127. nvfp4: the fp8_e4m3 nearest to reach / 6 / `tensor`, at least the smallest, times `tensor`. nf4:
/// reach. Examples: mxfp4, 5: 2^(2 - 2) = 1; nvfp4, 3 in a tensor of scale 0.25: 2 x 0.25.
WeightScale block_scale(NumberFormat format, double reach, float tensor);

/// The common scale of all blocks of an nvfp4 tensor: reach / (6 x 448), so that the largest block has the largest
/// scale; else 1.
float tensor_scale(NumberFormat format, double reach);

/// A group's scale as a code of bits_of_group_scale(format) bits, and back; of nvfp4 in units of `tensor`.
std::int64_t bits_of_group_scale(NumberFormat format);
std::uint32_t code_of_scale(NumberFormat format, float scale, float tensor);
float scale_of_code(NumberFormat format, std::uint32_t code, float tensor);

/// The scale that holds every whole number from `least` to `most` exactly: 1; nothing when the format is too
/// narrow.
std::optional<WeightScale> whole_scale(NumberFormat format, std::int64_t least, std::int64_t most);

}  // namespace sdip
