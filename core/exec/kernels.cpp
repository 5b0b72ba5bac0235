// Which loops compute a product.
#include "core/exec/kernels.h"

#include "core/exec/kernels_simple.h"

namespace sdip::exec {

Vectors widest_vectors() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vnni"))
    return Vectors::avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Vectors::avx2;
  return Vectors::portable;
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
              const Matrix<float>& right, const Sums<float>& sums, const KernelOptions&) {
  multiply_simply(shape, accumulator, left, right, sums);
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
              const Matrix<float>& right, const Sums<std::int32_t>& sums, const KernelOptions&) {
  multiply_simply(shape, accumulator, left, right, sums);
}

void multiply(const ProductShape& shape, const Matrix<double>& left, const Matrix<double>& right,
              const Sums<double>& sums, const KernelOptions&) {
  multiply_simply(shape, left, right, sums);
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int8_t>& left,
              const Matrix<std::int8_t>& right, const Sums<std::int32_t>& sums, const KernelOptions&) {
  multiply_simply(shape, accumulator, left, right, sums);
}

void multiply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int16_t>& left,
              const Matrix<std::int16_t>& right, const Sums<std::int32_t>& sums, const KernelOptions&) {
  multiply_simply(shape, accumulator, left, right, sums);
}

void multiply(const ProductShape& shape, const Matrix<std::uint64_t>& left, const Matrix<std::uint64_t>& right,
              const Sums<std::uint64_t>& sums, const KernelOptions&) {
  multiply_simply(shape, left, right, sums);
}

}  // namespace sdip::exec
