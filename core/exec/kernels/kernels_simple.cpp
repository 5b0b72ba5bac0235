// Products by plain loops.
#include "core/exec/kernels/kernels_simple.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/encode.h"
#include "core/exec/kernels/kernels_rounding.h"

namespace sdip::exec {
namespace {

/// All elements of an operand, row by row.
template <class T>
std::vector<T> dense(const Matrix<T>& matrix, std::int64_t rows, std::int64_t columns) {
  List<T> to(as_size(rows * columns));
  if (matrix.data == nullptr) {
    if (!to.empty()) matrix.fill({0, rows, 0, columns}, to.data(), columns);
    return to;
  }
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c)
      to[r * columns + c] = matrix.data[r * matrix.row_stride + c * matrix.column_stride];
  return to;
}

/// How one accumulator computes: `fused` for one lane, `product` and `sum` for a tree.
struct InFp32 {
  float fused(float l, float r, float c) const { return std::fma(l, r, c); }
  float product(float l, float r) const { return l * r; }
  float sum(float a, float b) const { return a + b; }
};

struct InDouble {
  double fused(double l, double r, double c) const { return c + l * r; }
  double product(double l, double r) const { return l * r; }
  double sum(double a, double b) const { return a + b; }
};

/// A product of two floats is exact in double, a sum is not.
struct InNarrow {
  Rounding rounding;
  double fused(double l, double r, double c) const { return rounded_to(rounding, odd_sum(l * r, c)); }
  double product(double l, double r) const { return rounded_to(rounding, l * r); }
  double sum(double a, double b) const { return rounded_to(rounding, odd_sum(a, b)); }
};

/// Without rounding, modulo 2^bits of T: in any order.
template <class T>
struct InIntegers {
  T fused(T l, T r, T c) const { return c + l * r; }
  T product(T l, T r) const { return l * r; }
  T sum(T a, T b) const { return a + b; }
};

/// The tree's result of products [0, count): neighbours first, one without neighbour goes up.
template <class C, class Arithmetic>
C tree(const Arithmetic& arithmetic, std::vector<C>& products) {
  for (std::size_t count = products.size(); count > 1; count = (count + 1) / 2)
    for (std::size_t i = 0; i < count; i += 2)
      products[i / 2] = i + 1 < count ? arithmetic.sum(products[i], products[i + 1]) : products[i];
  return products[0];
}

/// One sum, from `c` on.
template <class C, class T, class Arithmetic>
C continued(const ProductShape& shape, const Arithmetic& arithmetic, const T* left, const T* right, C c) {
  std::vector<C> products;
  for (std::int64_t begin = 0; begin < shape.depth; begin += shape.run)
    for (std::int64_t k = begin; k < begin + shape.run; k += shape.lanes) {
      const std::int64_t end = std::min(k + shape.lanes, begin + shape.run);
      const auto l = [&](std::int64_t at) { return static_cast<C>(left[at]); };
      const auto r = [&](std::int64_t at) { return static_cast<C>(right[at * shape.columns]); };
      if (shape.lanes == 1) {
        c = arithmetic.fused(l(k), r(k), c);
        continue;
      }
      products.clear();
      for (std::int64_t lane = k; lane < end; ++lane) products.push_back(arithmetic.product(l(lane), r(lane)));
      c = arithmetic.sum(c, tree(arithmetic, products));
    }
  return c;
}

/// Every sum; `from` and `to` turn what the memory has into what the arithmetic has and back.
template <class C, class T, class S, class Arithmetic, class From, class To>
void all_sums(const ProductShape& shape, const Arithmetic& arithmetic, const Matrix<T>& left,
              const Matrix<T>& right, const Sums<S>& sums, const From& from, const To& to,
              const Stop* stop = nullptr) {
  if (shape.rows == 0 || shape.columns == 0) return;
  const std::vector<T> l = dense(left, shape.rows, shape.depth), r = dense(right, shape.depth, shape.columns);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    end_if(stop, "");
    for (std::int64_t j = 0; j < shape.columns; ++j) {
      S& sum = sums.data[i * sums.stride + j];
      sum = to(continued<C>(shape, arithmetic, l.data() + i * shape.depth, r.data() + j, from(sum)));
    }
  }
}

template <class T>
T one_nan(T x) {
  return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
}

template <class T>
void codes_summed(const ProductShape& shape, NumberFormat accumulator, const Matrix<T>& left,
                  const Matrix<T>& right, const Sums<std::int32_t>& sums) {
  all_sums<std::uint32_t>(
      shape, InIntegers<std::uint32_t>{}, left, right, sums,
      [](std::int32_t c) { return static_cast<std::uint32_t>(c); },
      [&](std::uint32_t c) { return wrapped_to(accumulator, c); });
}

}  // namespace

std::int32_t wrapped_to(NumberFormat accumulator, std::uint32_t sum) {
  const auto spare = static_cast<int>(32 - bits_of(accumulator));
  const std::uint32_t high = sum << spare;
  return needs_zero_point(accumulator) ? static_cast<std::int32_t>(high >> spare)
                                       : static_cast<std::int32_t>(high) >> spare;
}

void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
                     const Matrix<float>& right, const Sums<float>& sums) {
  if (accumulator == NumberFormat::fp32) {
    const auto same = [](float c) { return c; };
    all_sums<float>(shape, InFp32{}, left, right, sums, same, one_nan<float>);
    return;
  }
  all_sums<double>(
      shape, InNarrow{rounding_of(accumulator)}, left, right, sums, [](float c) { return static_cast<double>(c); },
      [](double c) { return one_nan(static_cast<float>(c)); });
}

void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
                     const Matrix<float>& right, const Sums<std::int32_t>& sums) {
  const Rounding rounding = rounding_of(accumulator);
  all_sums<double>(
      shape, InNarrow{rounding}, left, right, sums,
      [&](std::int32_t c) { return static_cast<double>(c) * rounding.unit; },
      [&](double c) { return static_cast<std::int32_t>(c / rounding.unit); });
}

void multiply_simply(const ProductShape& shape, const Matrix<double>& left, const Matrix<double>& right,
                     const Sums<double>& sums, const Stop* stop) {
  const auto same = [](double c) { return c; };
  all_sums<double>(shape, InDouble{}, left, right, sums, same, one_nan<double>, stop);
}

void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int8_t>& left,
                     const Matrix<std::int8_t>& right, const Sums<std::int32_t>& sums) {
  codes_summed(shape, accumulator, left, right, sums);
}

void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int16_t>& left,
                     const Matrix<std::int16_t>& right, const Sums<std::int32_t>& sums) {
  codes_summed(shape, accumulator, left, right, sums);
}

void multiply_simply(const ProductShape& shape, const Matrix<std::uint64_t>& left,
                     const Matrix<std::uint64_t>& right, const Sums<std::uint64_t>& sums, const Stop* stop) {
  const auto same = [](std::uint64_t c) { return c; };
  all_sums<std::uint64_t>(shape, InIntegers<std::uint64_t>{}, left, right, sums, same, same, stop);
}

}  // namespace sdip::exec
