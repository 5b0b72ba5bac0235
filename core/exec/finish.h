// What becomes of a nest's sums when they are done: bias, scale, rounding to the result's type.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/exec/quantised.h"

namespace sdip::exec {

/// Ends the sums of one node. Convolutions add the channel's bias, products alpha x sum + beta x bias, scores take
/// their scale, quantised nests their bias and scales.
class Finish {
 public:
  Finish(Chip& chip, const Node& node);
  /// The results `at`, rounded or wrapped to their type.
  Tensor operator()(std::span<const std::int64_t> at, const std::vector<double>& sums) const;
  Tensor operator()(std::span<const std::int64_t> at, const std::vector<std::uint64_t>& sums) const;

 private:
  Operand out_;
  double alpha_ = 1, beta_ = 1;
  std::vector<double> bias_;
  std::vector<std::int64_t> integer_bias_;
  std::vector<std::size_t> bias_at_;
  std::optional<Rescale> rescale_;
};

}  // namespace sdip::exec
