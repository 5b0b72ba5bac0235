// A weight as codes of weight_format: pruned, scaled, rounded; and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/tensor.h"
#include "core/program/weights/weight_region.h"

namespace sdip {

struct CodedWeight {
  List<std::uint32_t> codes;
  List<char> kept;                    // which elements of a pruned weight are left; empty: all
  std::vector<WeightScale> scales;    // one, or one a channel
  WeightChannels channels;            // of the scales; count 0: one for all
  std::vector<std::uint32_t> groups;  // by element the number of its scale; empty: not by groups
  NumberFormat format = NumberFormat::fp32;
  float tensor = 1;  // what the scales of nvfp4's blocks are in units of

  const WeightScale& scale_of(std::size_t i) const {
    if (!groups.empty()) return scales[groups[i]];
    return channels.count > 0 ? scales[channels.of(static_cast<std::int64_t>(i))] : scales[0];
  }
};

/// A weight's elements that the machine's sparsity prunes away set to 0. `nest`: whose second operand it is, or
/// nullptr: then nothing is.
Tensor pruned_weight(Tensor weight, const NestWeights* nest, const Machine& machine);

/// Floats in the smallest scales that hold them, of block formats in those of block_scale; integers exactly. A
/// weight that no product multiplies by stands in vector_format. Throws Error("value_invalid", name, ...) for
/// infinities and NaN in a format without them, and "not_modelled" for integers that the format does not hold.
CodedWeight coded_weight(const std::string& name, const Tensor& weight, const NestWeights* nest,
                         const Machine& machine);

/// A weight as circuits get it: numbers of the type of the graph's weight, and what one step of the codes stands
/// for, one or one a channel (none where a code is its number).
struct CircuitWeight {
  Tensor numbers;
  std::vector<WeightScale> scales;
  WeightChannels channels;
  NumberFormat format = NumberFormat::fp32;
  // Where scales are of groups: by element its number, less its zero point and before its scale; and whose scale.
  std::vector<float> unscaled{};
  std::vector<std::uint32_t> groups{};
};
CircuitWeight circuit_weight_of(const CodedWeight& coded, ElementType type, const Shape& shape);

/// The numbers that the codes stand for, of the type of the graph's weight.
Tensor decoded_weight(const CodedWeight& coded, ElementType type, const Shape& shape);

}  // namespace sdip
