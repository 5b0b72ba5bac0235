// Tiles of 4 rows and 8 columns on any processor.
#include <cmath>
#include <limits>

#define SDIP_TARGET
#include "core/exec/kernels/kernels_tiles.h"

namespace sdip::exec {
namespace {

constexpr std::int64_t most_rows = 4, most_columns = 8;

/// Eight numbers, with `act` done to each.
template <class T>
struct Eight {
  T at[most_columns];
  template <class Act>
  static Eight of(const Act& act) {
    Eight eight;
    for (std::size_t i = 0; i < most_columns; ++i) eight.at[i] = act(i);
    return eight;
  }
};

/// Up to eight of memory's numbers, zeros for the others, and back.
template <class T>
Eight<T> loaded(const char* from, std::int64_t columns) {
  Eight<T> eight{};
  __builtin_memcpy(eight.at, from, as_size(columns < most_columns ? columns : most_columns) * 4);
  return eight;
}

template <class T>
void stored(char* to, std::int64_t columns, const Eight<T>& eight) {
  __builtin_memcpy(to, eight.at, as_size(columns < most_columns ? columns : most_columns) * 4);
}

template <class T>
T one_nan(T x) {
  return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}

struct Vector {
  static constexpr int width = most_columns, panel_vectors = 1, strip_rows = 1;
};

struct Floats : Vector {
  static constexpr int group = 1;
  using Sum = Eight<float>;
  using Operand = Eight<float>;
  explicit Floats(const TileTask&) {}
  Sum load(const char* from, std::int64_t columns) const { return loaded<float>(from, columns); }
  void store(char* to, std::int64_t columns, const Sum& sum, std::int32_t) const {
    stored(to, columns, Sum::of([&](std::size_t i) { return one_nan(sum.at[i]); }));
  }
  Operand all(const char* from) const {
    const float one = loaded<float>(from, 1).at[0];
    return Operand::of([&](std::size_t) { return one; });
  }
  Operand each(const char* from) const { return loaded<float>(from, width); }
  Sum fused(const Operand& l, const Operand& r, const Sum& c) const {
    return Sum::of([&](std::size_t i) { return std::fma(l.at[i], r.at[i], c.at[i]); });
  }
  Sum product(const Operand& l, const Operand& r) const {
    return Sum::of([&](std::size_t i) { return l.at[i] * r.at[i]; });
  }
  Sum sum(const Sum& a, const Sum& b) const {
    return Sum::of([&](std::size_t i) { return a.at[i] + b.at[i]; });
  }
};

/// Products of floats are exact in double; sums are made odd and then rounded.
struct Narrow : Vector {
  static constexpr int group = 1;
  using Sum = Eight<double>;
  using Operand = Eight<double>;
  Rounding rounding;
  explicit Narrow(const TileTask& task) : rounding(*task.rounding) {}
  Sum load(const char* from, std::int64_t columns) const {
    if (rounding.fixed) {
      const auto codes = loaded<std::int32_t>(from, columns);
      return Sum::of([&](std::size_t i) { return static_cast<double>(codes.at[i]) * rounding.unit; });
    }
    return widened(loaded<float>(from, columns));
  }
  void store(char* to, std::int64_t columns, const Sum& sum, std::int32_t) const {
    if (rounding.fixed) {
      const auto code = [&](std::size_t i) { return static_cast<std::int32_t>(sum.at[i] / rounding.unit); };
      return stored(to, columns, Eight<std::int32_t>::of(code));
    }
    stored(to, columns, Eight<float>::of([&](std::size_t i) { return one_nan(static_cast<float>(sum.at[i])); }));
  }
  Operand all(const char* from) const {
    const auto one = static_cast<double>(loaded<float>(from, 1).at[0]);
    return Operand::of([&](std::size_t) { return one; });
  }
  Operand each(const char* from) const { return widened(loaded<float>(from, width)); }
  Sum fused(const Operand& l, const Operand& r, const Sum& c) const {
    return Sum::of([&](std::size_t i) { return rounded_to(rounding, odd_sum(l.at[i] * r.at[i], c.at[i])); });
  }
  Sum product(const Operand& l, const Operand& r) const {
    return Sum::of([&](std::size_t i) { return rounded_to(rounding, l.at[i] * r.at[i]); });
  }
  Sum sum(const Sum& a, const Sum& b) const {
    return Sum::of([&](std::size_t i) { return rounded_to(rounding, odd_sum(a.at[i], b.at[i])); });
  }
  static Sum widened(const Eight<float>& x) {
    return Sum::of([&](std::size_t i) { return static_cast<double>(x.at[i]); });
  }
};

/// Two 16-bit codes of each column, the first in the low half.
struct Codes16 : Vector {
  static constexpr int group = 2;
  using Sum = Eight<std::uint32_t>;
  using Operand = Eight<std::uint32_t>;
  explicit Codes16(const TileTask&) {}
  Sum load(const char* from, std::int64_t columns) const { return loaded<std::uint32_t>(from, columns); }
  void store(char* to, std::int64_t columns, const Sum& sum, std::int32_t) const { stored(to, columns, sum); }
  Operand all(const char* from) const {
    const std::uint32_t one = loaded<std::uint32_t>(from, 1).at[0];
    return Operand::of([&](std::size_t) { return one; });
  }
  Operand each(const char* from) const { return loaded<std::uint32_t>(from, width); }
  Sum fused(const Operand& l, const Operand& r, const Sum& c) const {
    return Sum::of(
        [&](std::size_t i) { return c.at[i] + product(l.at[i], r.at[i], 0) + product(l.at[i], r.at[i], 1); });
  }
  static std::uint32_t product(std::uint32_t l, std::uint32_t r, int which) {
    const auto code = [&](std::uint32_t x) { return static_cast<std::int16_t>(x >> (16 * which) & 0xffff); };
    return static_cast<std::uint32_t>(code(l) * code(r));
  }
};

}  // namespace

TileKernel portable_kernel(TileKind kind) {
  switch (kind) {
    case TileKind::fused:
      return {most_rows, most_columns, 1, false, add_sequentially<Floats, most_rows, 1>};
    case TileKind::tree:
      return {most_rows, most_columns, 1, false, add_trees<Floats>};
    case TileKind::narrow_fused:
      return {most_rows, most_columns, 1, false, add_sequentially<Narrow, most_rows, 1>};
    case TileKind::narrow_tree:
      return {most_rows, most_columns, 1, false, add_trees<Narrow>};
    case TileKind::codes16:
      return {most_rows, most_columns, Codes16::group, false, add_sequentially<Codes16, most_rows, 1>};
    default:
      return {};
  }
}

#if !defined(__x86_64__)
TileKernel avx2_kernel(TileKind) { return {}; }
TileKernel avx_vnni_kernel() { return {}; }
TileKernel avx512_kernel(TileKind) { return {}; }
#endif

}  // namespace sdip::exec
