// Folds and beats: how often lanes and ports are used to get through data.
#pragma once

#include <cstdint>

#include "core/base/units.h"

namespace sdip {

/// A dimension folded onto lanes: `full` folds of `lanes`, and one of `edge` when that is not 0.
struct Folds {
  std::int64_t lanes, full, edge;
  constexpr std::int64_t count() const { return full + (edge != 0); }
};
constexpr Folds fold(std::int64_t size, std::int64_t lanes) { return {lanes, size / lanes, size % lanes}; }

/// Beats to move `elements` of `bits` through a port: ceil(elements bits / port).
constexpr std::int64_t beats(std::int64_t elements, std::int64_t bits, std::int64_t port_bits) {
  return ceil_div(elements * bits, port_bits);
}

/// Sum over all folds of the beats that each fold's elements take.
/// Worked example: 10 elements of 16 bit on 4 lanes through a 32-bit port: folds of 4, 4, 2 take 2 + 2 + 1 = 5
/// beats.
constexpr std::int64_t folded_beats(const Folds& f, std::int64_t bits, std::int64_t port_bits) {
  return f.full * beats(f.lanes, bits, port_bits) + (f.edge != 0 ? beats(f.edge, bits, port_bits) : 0);
}

/// The same over two dimensions folded together: each pair of folds moves the product of their elements.
constexpr std::int64_t folded_beats(const Folds& x, const Folds& y, std::int64_t bits, std::int64_t port_bits) {
  std::int64_t sum = 0;
  if (x.full > 0) sum += x.full * folded_beats({y.lanes * x.lanes, y.full, y.edge * x.lanes}, bits, port_bits);
  if (x.edge > 0) sum += folded_beats({y.lanes * x.edge, y.full, y.edge * x.edge}, bits, port_bits);
  return sum;
}

}  // namespace sdip
