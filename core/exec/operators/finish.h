// Finishes a nest's sums when they are done: bias, scale, rounding to the result's type. Internal to its room.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/exec/operators/quantised.h"

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
  /// Finishes sums of codes. `steps` says what a 1 of each sum stands for, or has one entry for all.
  Numbers operator()(const Elements& at, std::span<const std::int32_t> sums, std::span<const double> steps) const;

  /// Whether results are sums in single precision with their bias.
  bool is_plain() const;
  /// The results `at`, each to where it stands in a tensor whose element 0 is `first`. Requires is_plain(), and
  /// lines of step 1.
  void into(const Elements& at, std::span<const float> sums, float* first) const;

 private:
  using Placing = std::function<float*(std::int64_t element, std::int64_t number)>;
  bool biased() const;
  template <class T>
  void end_line(const T* sums, std::int64_t count, const double* bias, std::int64_t step, float* to) const;
  template <class T>
  void end_floats(const Elements& at, std::span<const T> sums, const Placing& place) const;
  template <class T>
  Numbers all(const Elements& at, std::span<const T> sums) const;

  Operand out_;
  double alpha_ = 1, beta_ = 1;
  Tensor bias_;
  Shape bias_shape_;
  std::optional<Rescale> rescale_;
};

}  // namespace sdip::exec
