// How far numbers are from what they should be.
#include "core/exec/run/deviation.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

void add(Deviation& deviation, double q, double x) {
  ++deviation.elements;
  if (!std::isfinite(q) || !std::isfinite(x)) {
    ++deviation.not_finite;
    return;
  }
  deviation.signal += x * x;
  deviation.noise += (q - x) * (q - x);
  deviation.other += q * q;
  deviation.product += x * q;
}

}  // namespace

double Deviation::sqnr_db() const {
  if (elements == 0 || not_finite > 0) return nothing;
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

double Deviation::cosine() const {
  if (elements == 0 || not_finite > 0) return nothing;
  if (signal == 0 && other == 0) return 1;
  if (signal == 0 || other == 0) return 0;
  return product / std::sqrt(signal) / std::sqrt(other);
}

Deviation deviation_of(const Tensor& got, const Tensor& want) {
  check(got.floats.size() == want.floats.size() && got.ints.size() == want.ints.size(), "tensors of one shape");
  Deviation deviation;
  for (std::size_t i = 0; i < want.floats.size(); ++i) add(deviation, got.floats[i], want.floats[i]);
  for (std::size_t i = 0; i < want.ints.size(); ++i)
    add(deviation, static_cast<double>(got.ints[i]), static_cast<double>(want.ints[i]));
  return deviation;
}

}  // namespace sdip
