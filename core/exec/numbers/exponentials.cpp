// Exponentials of many numbers at a time.
//
// e^x = 2^n e^r, n the whole number nearest to x / ln 2, r = x - n ln 2 within 0.3466, e^r by its Taylor series up
// to r^13 / 13! (what is left out is below 2^-57). Products and sums are rounded one by one in an order that is
// written down, eight numbers side by side, so that processors with wider or narrower vectors give the same bits.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/exec/kernels/kernels.h"
#include "core/exec/kernels/wide.h"
#include "core/exec/numbers/plain_functions.h"

namespace sdip::exec {
namespace {

constexpr std::size_t lanes = 8;
typedef double Eight __attribute__((vector_size(lanes * sizeof(double))));
typedef std::int64_t EightWhole __attribute__((vector_size(lanes * sizeof(double))));

/// 2^n of whole n from -1022 to 1023, given as n + 1.5 x 2^52: times them.
[[gnu::always_inline]] inline void scale(Eight& y, const Eight& shifted) {
  EightWhole bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 1023) << 52;
  Eight power;
  std::memcpy(&power, &bits, sizeof(power));
  y *= power;
}

/// `Near`: each number is one from -708 to 709, whose power is a normal number: one factor gives the same bits as
/// two.
template <bool Near>
[[gnu::always_inline]] inline void exponentiate(Eight& x) {
  constexpr double shift = 6755399441055744.0;  // 1.5 x 2^52: its last place is a whole number
  constexpr double ln2_high = 0x1.62e42fefa0000p-1, ln2_low = 0x1.cf79abc9e3b39p-40;  // n ln2_high is exact
  constexpr Eight zero{};
  const Eight given = x, least = zero - 750.0, most = zero + 710.0;
  if constexpr (!Near) {
    x = x < least ? least : x;
    x = x > most ? most : x;
  }
  const Eight shifted = x * 0x1.71547652b82fep+0 + shift, whole = shifted - shift;
  const Eight r = (x - whole * ln2_high) - whole * ln2_low;
  Eight y = zero + 1.0 / 6227020800.0;
  for (const double factor : {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                              1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
    y = y * r + factor;
  if constexpr (Near) {
    scale(y, shifted);
    x = y;
  } else {
    const Eight half = (whole * 0.5 + shift) - shift;  // 2^n in two factors, each a normal number
    scale(y, half + shift);
    scale(y, (whole - half) + shift);
    x = given == given ? y : given;  // NOLINT(misc-redundant-expression): NaN is not
  }
}

[[gnu::always_inline]] inline void load(const double* from, Eight& x) { std::memcpy(&x, from, sizeof(x)); }

[[gnu::always_inline]] inline void load(const float* from, Eight& x) {
  typedef float EightFloats __attribute__((vector_size(lanes * sizeof(float))));
  EightFloats floats;
  std::memcpy(&floats, from, sizeof(floats));
  x = __builtin_convertvector(floats, Eight);
}

/// e^(x - less), and the sum of them; without `less` the sum is of no use.
template <bool Near, class X>
[[gnu::always_inline]] inline double make_all(double less, const X* x, double* to, std::size_t count) {
  Eight sums{}, y;
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    load(x + i, y);
    y -= less;
    exponentiate<Near>(y);
    std::memcpy(to + i, &y, sizeof(y));
    sums += y;
  }
  if (i < count) {
    X rest[lanes] = {};
    double made[lanes];
    std::copy(x + i, x + count, rest);
    load(rest, y);
    y -= less;
    exponentiate<Near>(y);
    std::memcpy(made, &y, sizeof(y));
    std::copy(made, made + (count - i), to + i);
    std::fill(made + (count - i), made + lanes, 0.0);
    load(made, y);
    sums += y;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

template <bool Near, class X>
double make_widest(double less, const X* x, double* to, std::size_t count) {
  double sum = 0;
  widely([=, &sum]() SDIP_WIDE { sum = make_all<Near>(less, x, to, count); });
  return sum;
}

}  // namespace

void exponentials(std::span<double> numbers) {
  make_widest<false>(0, numbers.data(), numbers.data(), numbers.size());
}

double exponentials_less(double less, std::span<double> numbers) {
  return make_widest<false>(less, numbers.data(), numbers.data(), numbers.size());
}

double exponentials_less(const Range& range, std::span<const float> numbers, double* to) {
  const auto most = static_cast<double>(range.most), least = static_cast<double>(range.least);
  const bool near = range.numbers && least - most >= -700;
  return near ? make_widest<true>(most, numbers.data(), to, numbers.size())
              : make_widest<false>(most, numbers.data(), to, numbers.size());
}

double greatest(std::span<const double> numbers) {
  double most[lanes];
  std::fill_n(most, lanes, -HUGE_VAL);
  std::size_t i = 0;
  for (; i + lanes <= numbers.size(); i += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) most[lane] = std::max(most[lane], numbers[i + lane]);
  double all_of_them = -HUGE_VAL;
  for (; i < numbers.size(); ++i) all_of_them = std::max(all_of_them, numbers[i]);
  return std::max(all_of_them, *std::max_element(most, most + lanes));
}

namespace {

constexpr std::size_t side = 16;
typedef float Sixteen __attribute__((vector_size(side * sizeof(float))));
typedef std::int32_t SixteenWhole __attribute__((vector_size(side * sizeof(float))));

/// Finds the least and the greatest of `count` numbers, a multiple of 16, and whether all are numbers.
[[gnu::always_inline]] inline void find_range(const float* from, std::size_t count, Range& range) {
  constexpr Sixteen zero{};
  Sixteen least = zero + range.least, most = zero + range.most, x;
  SixteenWhole apart{};
  for (std::size_t i = 0; i < count; i += side) {
    std::memcpy(&x, from + i, sizeof(x));
    least = x < least ? x : least;
    most = most < x ? x : most;
    apart |= x != x;  // NOLINT(misc-redundant-expression): NaN is not
  }
  std::int32_t any = 0;
  for (std::size_t lane = 0; lane < side; ++lane) {
    range.least = std::min(range.least, least[lane]);
    range.most = std::max(range.most, most[lane]);
    any |= apart[lane];
  }
  range.numbers = any == 0;
}

}  // namespace

Range range_of(std::span<const float> numbers) {
  Range range{HUGE_VALF, -HUGE_VALF, true};
  const float* from = numbers.data();
  const std::size_t count = numbers.size(), whole = count / side * side;
  widely([=, &range]() SDIP_WIDE { find_range(from, whole, range); });
  for (std::size_t i = whole; i < count; ++i) {
    range.least = std::min(range.least, from[i]);
    range.most = std::max(range.most, from[i]);
    range.numbers &= from[i] == from[i];
  }
  return range;
}

namespace {

/// With the reciprocal r, rounded to nearest, q = x r is within an ulp of x / by; q + r (x - q by), the rest exact,
/// is the quotient rounded to nearest (P. Markstein, IBM J. Res. Dev. 34(1), 1990). A number that underflows on the
/// way is none of single precision.
[[gnu::always_inline]] inline void divide_fused(const double* x, double by, float* to, std::size_t count) {
  const double r = 1.0 / by;
  for (std::size_t i = 0; i < count; ++i) {
    const double q = x[i] * r;
    to[i] = static_cast<float>(__builtin_fma(__builtin_fma(-q, by, x[i]), r, q));
  }
}

}  // namespace

void divided(std::span<const double> numbers, double by, float* to) {
  const bool usual = by >= 1 && by <= 0x1p60;          // neither 1 / by nor what is left of a number underflows
  if (usual && widest_vectors() != Vectors::portable)  // others have no fused sums
    return widely([=]() SDIP_WIDE { divide_fused(numbers.data(), by, to, numbers.size()); });
  for (std::size_t i = 0; i < numbers.size(); ++i) to[i] = static_cast<float>(numbers[i] / by);
}

}  // namespace sdip::exec
