// Quantities that carry their unit in the type: adding cycles to bytes does not compile.
#pragma once

#include <compare>
#include <cstdint>

namespace sdip {

/// A number of `Unit`s. Same units add and compare; a plain number scales; a ratio of equal units is a plain
/// number.
template <class Unit, class Rep>
struct Quantity {
  Rep value{};

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}

  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  constexpr Quantity& operator*=(Rep factor) { return value *= factor, *this; }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator*(Quantity a, Rep factor) { return Quantity(a.value * factor); }
  friend constexpr Quantity operator*(Rep factor, Quantity a) { return Quantity(a.value * factor); }
  friend constexpr Quantity operator/(Quantity a, Rep divisor) { return Quantity(a.value / divisor); }
  friend constexpr Rep operator/(Quantity a, Quantity b) { return a.value / b.value; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;
};

/// For products of two 64-bit counts.
__extension__ typedef __int128 Int128;

using Cycles = Quantity<struct CycleUnit, std::int64_t>;
using Bytes = Quantity<struct ByteUnit, std::int64_t>;
using Bits = Quantity<struct BitUnit, std::int64_t>;
using Beats = Quantity<struct BeatUnit, std::int64_t>;
using Macs = Quantity<struct MacUnit, std::int64_t>;
using Joules = Quantity<struct JouleUnit, double>;
using Seconds = Quantity<struct SecondUnit, double>;
using SquareMm = Quantity<struct SquareMmUnit, double>;
using Hertz = Quantity<struct HertzUnit, double>;

/// Smallest integer not below a / b. Requires a >= 0, b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

/// Bytes that hold `bits`, whole bytes.
constexpr Bytes bytes_holding(Bits bits) { return Bytes(ceil_div(bits.value, 8)); }

/// Time that `cycles` take at `clock`.
constexpr Seconds operator/(Cycles cycles, Hertz clock) {
  return Seconds(static_cast<double>(cycles.value) / clock.value);
}

}  // namespace sdip
