// The same products by plain loops, one sum after the other: what the order of sums means. Internal to its room.
#pragma once

#include "core/exec/kernels/kernels.h"

namespace sdip::exec {

/// As the functions `multiply` of the same arguments, which give the same bits.
void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
                     const Matrix<float>& right, const Sums<float>& sums);
void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<float>& left,
                     const Matrix<float>& right, const Sums<std::int32_t>& sums);
void multiply_simply(const ProductShape& shape, const Matrix<double>& left, const Matrix<double>& right,
                     const Sums<double>& sums, const Stop* stop = nullptr);
void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int8_t>& left,
                     const Matrix<std::int8_t>& right, const Sums<std::int32_t>& sums);
void multiply_simply(const ProductShape& shape, NumberFormat accumulator, const Matrix<std::int16_t>& left,
                     const Matrix<std::int16_t>& right, const Sums<std::int32_t>& sums);
void multiply_simply(const ProductShape& shape, const Matrix<std::uint64_t>& left,
                     const Matrix<std::uint64_t>& right, const Sums<std::uint64_t>& sums,
                     const Stop* stop = nullptr);

/// A sum modulo 2^32 as an integer accumulator of fewer bits keeps it.
std::int32_t wrapped_to(NumberFormat accumulator, std::uint32_t sum);

}  // namespace sdip::exec
