// Which tiles compute a product.
#include "core/exec/kernels/kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/exec/kernels/kernels_blocks.h"
#include "core/exec/kernels/kernels_simple.h"

namespace sdip::exec {
namespace {

/// The widest up to `vectors`; `add` is nullptr where there is none.
TileKernel kernel_of(TileKind kind, Vectors vectors) {
  TileKernel kernel;
  if (vectors == Vectors::avx512) kernel = avx512_kernel(kind);
  if (kernel.add == nullptr && vectors != Vectors::portable) kernel = avx2_kernel(kind);
  return kernel.add == nullptr ? portable_kernel(kind) : kernel;
}

/// The kernel that multiplies 8-bit codes as they are, if there is one.
TileKernel codes8_kernel(Vectors vectors) {
  if (vectors == Vectors::avx512) return avx512_kernel(TileKind::codes8);
  return vectors == Vectors::avx2 ? avx_vnni_kernel() : TileKernel{};
}

void require_whole(const ProductShape& shape) {
  check(shape.lanes >= 1 && (shape.depth == 0 || (shape.run > 0 && shape.depth % shape.run == 0)),
        "a product of whole runs");
}

bool is_empty(const ProductShape& shape) { return shape.rows == 0 || shape.columns == 0 || shape.depth == 0; }

TileKind kind_of(const ProductShape& shape, NumberFormat accumulator) {
  if (accumulator == NumberFormat::fp32) return shape.lanes == 1 ? TileKind::fused : TileKind::tree;
  return shape.lanes == 1 ? TileKind::narrow_fused : TileKind::narrow_tree;
}

template <class S>
void multiply_floats(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
                     const Matrix<float>& right, const Sums<S>& sums, const KernelOptions& options) {
  require_whole(shape);
  if (options.begins && shape.depth == 0)
    for (std::int64_t i = 0; i < shape.rows; ++i) std::fill_n(sums.data + i * sums.stride, shape.columns, S{});
  if (is_empty(shape)) return;
  const bool narrow = accumulator != NumberFormat::fp32;
  const Rounding rounding = narrow ? rounding_of(accumulator) : Rounding{};
  const TileKernel kernel = kernel_of(kind_of(shape, accumulator), options.vectors);
  multiply_by_tiles<float>(shape, kernel, narrow ? &rounding : nullptr, left, right, sums, options);
}

/// Integers have the same sum in any order, so they are added as they come.
ProductShape in_any_order(ProductShape shape) {
  shape.lanes = 1;
  shape.run = shape.depth;
  return shape;
}

void wrap(const ProductShape& shape, NumberFormat accumulator, const Sums<std::int32_t>& sums) {
  if (bits_of(accumulator) == 32) return;
  for (std::int64_t i = 0; i < shape.rows; ++i)
    for (std::int64_t j = 0; j < shape.columns; ++j) {
      std::int32_t& sum = sums.data[i * sums.stride + j];
      sum = wrapped_to(accumulator, static_cast<std::uint32_t>(sum));
    }
}

/// Any NaN becomes the one quiet NaN.
template <class T>
void one_nan(T* sums, std::int64_t count) {
  for (std::int64_t j = 0; j < count; ++j)
    if (std::isnan(sums[j])) sums[j] = std::numeric_limits<T>::quiet_NaN();
}

/// Multiplies without tiles. With one lane a row's sums go side by side, each still in its order.
template <class T>
void multiply_plainly(const ProductShape& shape, const Matrix<T>& left, const Matrix<T>& right, const Sums<T>& sums,
                      const Stop* stop) {
  require_whole(shape);
  if (is_empty(shape)) return;
  if (shape.lanes > 1 || left.data == nullptr || right.data == nullptr || right.column_stride != 1)
    return multiply_simply(shape, left, right, sums, stop);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    end_if(stop, "");
    for (std::int64_t k = 0; k < shape.depth; ++k) {
      const T l = left.data[i * left.row_stride + k * left.column_stride];
      const T* r = right.data + k * right.row_stride;
      T* sum = sums.data + i * sums.stride;
      for (std::int64_t j = 0; j < shape.columns; ++j) sum[j] += l * r[j];
      if (k + 1 == shape.depth) one_nan(sum, shape.columns);
    }
  }
}

}  // namespace

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
              const Matrix<float>& right, const Sums<float>& sums, const KernelOptions& options) {
  multiply_floats(shape, accumulator, left, right, sums, options);
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
              const Matrix<float>& right, const Sums<std::int32_t>& sums, const KernelOptions& options) {
  multiply_floats(shape, accumulator, left, right, sums, options);
}

void multiply(const ProductShape& shape, const Matrix<double>& left, const Matrix<double>& right,
              const Sums<double>& sums, const KernelOptions& options) {
  multiply_plainly(shape, left, right, sums, options.stop);
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int8_t>& left,
              const Matrix<std::int8_t>& right, const Sums<std::int32_t>& sums, const KernelOptions& options) {
  const ProductShape any = in_any_order(shape);
  if (is_empty(any)) return;
  if (const TileKernel kernel = codes8_kernel(options.vectors); kernel.add != nullptr)
    multiply_by_tiles<std::int8_t>(any, kernel, nullptr, left, right, sums, options);
  else
    multiply_by_tiles<std::int16_t>(any, kernel_of(TileKind::codes16, options.vectors), nullptr, left, right, sums,
                                    options);
  wrap(shape, accumulator, sums);
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int16_t>& left,
              const Matrix<std::int16_t>& right, const Sums<std::int32_t>& sums, const KernelOptions& options) {
  const ProductShape any = in_any_order(shape);
  if (is_empty(any)) return;
  multiply_by_tiles<std::int16_t>(any, kernel_of(TileKind::codes16, options.vectors), nullptr, left, right, sums,
                                  options);
  wrap(shape, accumulator, sums);
}

void multiply(const ProductShape& shape, const Matrix<std::uint64_t>& left, const Matrix<std::uint64_t>& right,
              const Sums<std::uint64_t>& sums, const KernelOptions& options) {
  multiply_plainly(shape, left, right, sums, options.stop);
}

}  // namespace sdip::exec
