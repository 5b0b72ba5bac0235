// Folds and beats: how often lanes and ports are used to get through data.
//
// Formulas are said once. Their `Number` is std::int64_t, which counts, or Filled (core/cost/explain/filled.h),
// which writes down how the same number is made.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "core/base/units.h"

namespace sdip {

// Functions of whole numbers that formulas use besides + and *.
constexpr std::int64_t ceiling(std::int64_t a, std::int64_t b) { return ceil_div(a, b); }
constexpr std::int64_t ceiling(std::int64_t a, std::int64_t q, std::int64_t p) {
  const Int128 all = static_cast<Int128>(a) * q;
  return static_cast<std::int64_t>(all / p + (all % p != 0));
}
constexpr std::int64_t largest(std::initializer_list<std::int64_t> of) { return std::max(of); }
/// The largest of numbers of which none is below 0.
constexpr std::int64_t largest(std::span<const std::int64_t> of) {
  std::int64_t most = 0;
  for (const std::int64_t one : of) most = std::max(most, one);
  return most;
}

template <class Number>
constexpr Number product_of(std::initializer_list<std::int64_t> factors) {
  Number product(1);
  for (const std::int64_t factor : factors) product = product * Number(factor);
  return product;
}

/// A dimension folded onto lanes: `full` folds of `lanes`, and one of `edge` when that is not 0.
struct Folds {
  std::int64_t lanes, full, edge;
  constexpr std::int64_t count() const { return full + (edge != 0); }
};
constexpr Folds fold(std::int64_t size, std::int64_t lanes) { return {lanes, size / lanes, size % lanes}; }

/// The dimension again.
constexpr std::int64_t size_of(const Folds& f) { return f.full * f.lanes + f.edge; }

/// How many folds there are: ceil(size / lanes).
template <class Number>
constexpr Number count_of(const Folds& f) {
  if constexpr (std::integral<Number>)
    return f.count();
  else
    return ceiling(Number(size_of(f)), f.lanes);
}

/// Beats to move so many elements of so many bits, all of them `factors`, through a port: ceil(elements bits /
/// port).
template <class Number = std::int64_t>
constexpr Number beats(std::initializer_list<std::int64_t> factors, std::int64_t port_bits) {
  return ceiling(product_of<Number>(factors), port_bits);
}

/// Sum over all folds of the beats that each fold's elements take.
/// Worked example: 10 elements of 16 bit on 4 lanes through a 32-bit port: folds of 4, 4, 2 take 2 + 2 + 1 = 5
/// beats.
template <class Number = std::int64_t>
constexpr Number folded_beats(const Folds& f, std::int64_t bits, std::int64_t port_bits) {
  const Number full = Number(f.full) * beats<Number>({f.lanes, bits}, port_bits);
  return f.edge == 0 ? full : full + beats<Number>({f.edge, bits}, port_bits);
}

/// The same over two dimensions folded together: each pair of folds moves the product of their elements.
template <class Number = std::int64_t>
constexpr Number folded_beats(const Folds& x, const Folds& y, std::int64_t bits, std::int64_t port_bits) {
  Number sum(0);
  const auto add = [&](std::int64_t times, std::int64_t a, std::int64_t b) {
    if (times > 0 && a > 0 && b > 0) sum += Number(times) * beats<Number>({a, b, bits}, port_bits);
  };
  add(x.full * y.full, x.lanes, y.lanes);
  add(x.full, x.lanes, y.edge);
  add(y.full, x.edge, y.lanes);
  add(1, x.edge, y.edge);
  return sum;
}

}  // namespace sdip
