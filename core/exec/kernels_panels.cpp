// Operands laid out for tiles.
#include "core/exec/kernels_panels.h"

#include <algorithm>
#include <vector>

namespace sdip::exec {
namespace {

/// A block of a matrix as it is, to rows of `stride`.
template <class T>
void copy_block(const Matrix<T>& matrix, const Block& block, T* to, std::int64_t stride) {
  if (matrix.data == nullptr) return matrix.fill(block, to, stride);
  const T* from = matrix.data + block.row * matrix.row_stride + block.column * matrix.column_stride;
  if (matrix.column_stride == 1) {
    for (std::int64_t r = 0; r < block.rows; ++r)
      std::copy_n(from + r * matrix.row_stride, block.columns, to + r * stride);
    return;
  }
  for (std::int64_t c = 0; c < block.columns; ++c)
    for (std::int64_t r = 0; r < block.rows; ++r)
      to[r * stride + c] = from[r * matrix.row_stride + c * matrix.column_stride];
}

template <class T>
void rows_filled(const Matrix<T>& left, const Block& block, T* to, std::int64_t stride) {
  copy_block(left, block, to, stride);
  for (std::int64_t r = 0; r < block.rows; ++r)
    std::fill(to + r * stride + block.columns, to + (r + 1) * stride, T{});
}

/// Codes of a block in rows of a panel's width, with zeros beside and up to a whole group below.
template <class T>
std::vector<T> raw_panel(const Matrix<T>& right, const Block& block, std::int64_t width, std::int64_t group) {
  const std::int64_t depth = (block.rows + group - 1) / group * group;
  std::vector<T> raw(static_cast<std::size_t>(depth * width));
  copy_block(right, block, raw.data(), width);
  return raw;
}

/// Rows of codes, of each `group` the elements of a column side by side.
template <class T, class P>
void interleave(const std::vector<T>& raw, std::int64_t width, std::int64_t group, P bias, P* to) {
  const auto row = static_cast<std::size_t>(width), groups = static_cast<std::size_t>(group);
  for (std::size_t k = 0; k < raw.size(); k += row * groups)
    for (std::size_t j = 0; j < row; ++j)
      for (std::size_t g = 0; g < groups; ++g)
        to[k + j * groups + g] = static_cast<P>(static_cast<P>(raw[k + g * row + j]) ^ bias);
}

}  // namespace

void fill_rows(const Matrix<float>& left, const Block& block, float* to, std::int64_t stride) {
  rows_filled(left, block, to, stride);
}

void fill_rows(const Matrix<std::int8_t>& left, const Block& block, std::int8_t* to, std::int64_t stride) {
  rows_filled(left, block, to, stride);
}

void fill_rows(const Matrix<std::int16_t>& left, const Block& block, std::int16_t* to, std::int64_t stride) {
  rows_filled(left, block, to, stride);
}

void fill_rows(const Matrix<std::int8_t>& left, const Block& block, std::int16_t* to, std::int64_t stride) {
  std::vector<std::int8_t> narrow(static_cast<std::size_t>(block.rows * stride));
  rows_filled(left, block, narrow.data(), stride);
  std::ranges::copy(narrow, to);
}

void fill_panel(const Matrix<float>& right, const Block& block, std::int64_t width, float* to) {
  copy_block(right, block, to, width);
  if (block.columns == width) return;
  for (std::int64_t k = 0; k < block.rows; ++k)
    std::fill(to + k * width + block.columns, to + (k + 1) * width, 0.0F);
}

void fill_panel(const Matrix<std::int8_t>& right, const Block& block, std::int64_t width, std::int8_t* to) {
  interleave<std::int8_t, std::int8_t>(raw_panel(right, block, width, 4), width, 4, -128, to);
}

void fill_panel(const Matrix<std::int16_t>& right, const Block& block, std::int64_t width, std::int16_t* to) {
  interleave<std::int16_t, std::int16_t>(raw_panel(right, block, width, 2), width, 2, 0, to);
}

void fill_panel(const Matrix<std::int8_t>& right, const Block& block, std::int64_t width, std::int16_t* to) {
  interleave<std::int8_t, std::int16_t>(raw_panel(right, block, width, 2), width, 2, 0, to);
}

}  // namespace sdip::exec
