// Formulas with their numbers filled in.
#include "core/cost/explain/filled.h"

#include <fmt/core.h>
#include <algorithm>

#include "core/base/units.h"

namespace sdip {

Filled operator+(const Filled& a, const Filled& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  return {a.text_ + " + " + b.text_, a.value_ + b.value_, Filled::Form::sum};
}

Filled operator-(const Filled& a, const Filled& b) {
  if (b.is_zero()) return a;
  return {a.text_ + " - " + b.as_factor(), a.value_ - b.value_, Filled::Form::sum};
}

Filled operator*(const Filled& a, const Filled& b) {
  if (a.is_zero() || b.is_zero()) return {};
  if (a.text_ == "1") return b;
  if (b.text_ == "1") return a;
  return {a.as_factor() + " x " + b.as_factor(), a.value_ * b.value_, Filled::Form::product};
}

Filled ceiling(const Filled& a, std::int64_t b) {
  if (b == 1 || a.is_zero()) return a;
  return {fmt::format("ceil({}/{})", a.as_factor(), b), ceil_div(a.value_, b), Filled::Form::atom};
}

Filled ceiling(const Filled& a, std::int64_t q, std::int64_t p) {
  const Int128 scaled = static_cast<Int128>(a.value_) * q;
  const std::string times = q == 1 ? "" : " x " + std::to_string(q);
  return {fmt::format("ceil({}{}/{})", a.as_factor(), times, p), static_cast<std::int64_t>((scaled + p - 1) / p),
          Filled::Form::atom};
}

Filled largest(std::span<const Filled> of) {
  Filled last;
  std::string text;
  std::int64_t most{};
  int kept = 0;
  for (const Filled& one : of) {
    if (one.is_zero()) continue;
    text += (kept == 0 ? "" : ", ") + one.text_;
    most = std::max(most, one.value_);
    last = one;
    ++kept;
  }
  if (kept < 2) return last;
  return {"max(" + text + ")", most, Filled::Form::atom};
}

Filled product_of(std::initializer_list<std::int64_t> factors) {
  Filled product(1);
  for (const std::int64_t factor : factors) product = product * Filled(factor);
  return product;
}

}  // namespace sdip
