// The accumulators of a nest: floats that are rounded, integers that wrap.
//
// Example: an int8 accumulator, products 100 and 100: 200 - 256 = -56. In codes with steps of 0.5 x 0.25 the same
// sums are 25 and, wrapped, -7.
#pragma once

#include <cstdint>
#include <vector>

#include "core/exec/chip/chip.h"
#include "core/exec/walk/nest_map.h"

namespace sdip::exec {

/// The accumulators of a nest's results. Integer formats keep sums of integers modulo 2^bits: of an integer graph's
/// numbers, and of the codes of operands that lie in memory in integer formats with a scale. All other sums they
/// keep exactly.
class Accumulators {
 public:
  Accumulators(Chip& chip, const Node& node, const NestMap& map, bool weighted);
  double kept(double sum, std::int64_t group, std::int64_t channel) const;
  std::uint64_t kept(std::uint64_t sum, std::int64_t group, std::int64_t channel) const;
  /// The value of a 1 in the sums of codes; 0: they are no codes.
  double step(std::int64_t group, std::int64_t channel) const;
  /// Whether that is the same for all.
  bool one_step() const { return channels_.count == 0; }

 private:
  NumberFormat format_;
  const NestMap& map_;
  double step_ = 0;                     // what a 1 stands for, but for the weights' step; 0: not integers
  std::vector<double> weight_steps_{};  // by channel, or one
  WeightChannels channels_{};
};

}  // namespace sdip::exec
