// Ways to take points from a space: each is a row, and a file of its own.
#pragma once

#include <span>
#include <string_view>

#include "core/explore/space/space.h"

namespace sdip {

/// Some of a space's axes: first, first + 1, ..., end - 1.
struct AxisRange {
  std::size_t first = 0, end = 0;
};

/// digits[a] becomes the place, in its axis, of the value of axis a at point i, for each axis of `which` at least.
/// A pure function of (space, i); as many digits as axes.
using DigitsOf = void (*)(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits);

void grid_digits(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits);
void random_digits(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits);
void latin_hypercube_digits(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits);
void sobol_digits(const Space& space, std::int64_t i, AxisRange which, std::span<std::size_t> digits);

struct SamplingRow {
  Sampling sampling{};
  std::string_view name;
  bool draws = false;            // `count` points by `seed`; else as many as the axes say
  bool bounds_programs = false;  // combinations of compile axes may be at most most_points
  DigitsOf digits = nullptr;
};
const SamplingRow& row_of(Sampling sampling);

/// The draw that a point is of: its first point, how many it has, and which it is.
struct SampleDraw {
  std::int64_t first = 0, count = 0;
  std::uint64_t number = 0;
};
SampleDraw draw_of(const Space& space, std::int64_t i);

bool changes_program(const Axis& axis);

/// Product of the sizes of the axes that (do not) change the program; above most_points it stops growing.
std::int64_t combinations(const Space& space, bool compile_axes);

/// Takes the digits of a number in mixed radix off, fastest first, for the axes that (do not) change the program
/// of the first `end`; returns what is left.
std::int64_t peel_digits(const Space& space, bool compile_axes, std::size_t end, std::int64_t number,
                         std::span<std::size_t> digits);

/// Finaliser of SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A number that depends on all three and on nothing else. A modulus taken of it is at most most_points, so that
/// the values' odds differ by less than 2^-40.
constexpr std::uint64_t drawn(std::uint64_t seed, std::int64_t i, std::uint64_t stream) {
  return mixed(mixed(mixed(seed) ^ static_cast<std::uint64_t>(i)) ^ stream);
}

/// Where i comes to lie when 0, ..., count - 1 are shuffled by `key`, without a table: rounds of a Feistel network
/// over the next power of two, walked along its cycle until it falls below count (Black and Rogaway, "Ciphers with
/// arbitrary finite domains", CT-RSA 2002). Requires 0 <= i < count.
std::int64_t shuffled(std::int64_t i, std::int64_t count, std::uint64_t key);

}  // namespace sdip
