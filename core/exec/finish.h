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
  /// The results `at`, in double, rounded or wrapped to their type.
  Numbers operator()(const Elements& at, std::span<const float> sums) const { return all(at, sums); }
  Numbers operator()(const Elements& at, std::span<const double> sums) const { return all(at, sums); }
  Numbers operator()(const Elements& at, std::span<const std::uint64_t> sums) const;
  /// Of sums of codes: a 1 of each stands for its step, or all for the one that there is.
  Numbers operator()(const Elements& at, std::span<const std::int32_t> sums, std::span<const double> steps) const;

 private:
  template <class T>
  Numbers all(const Elements& at, std::span<const T> sums) const;

  Operand out_;
  double alpha_ = 1, beta_ = 1;
  Tensor bias_;
  Shape bias_shape_;
  std::optional<Rescale> rescale_;
};

}  // namespace sdip::exec
