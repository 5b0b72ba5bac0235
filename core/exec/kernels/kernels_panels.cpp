// Operands laid out for tiles.
#include "core/exec/kernels/kernels_panels.h"

#include <algorithm>
#include <vector>

#include "core/exec/kernels/wide.h"

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
  constexpr std::int64_t together = 16;  // rows of which a column's line of memory has as many
  for (std::int64_t first = 0; first < block.rows; first += together) {
    const std::int64_t end = std::min(first + together, block.rows);
    for (std::int64_t c = 0; c < block.columns; ++c)
      for (std::int64_t r = first; r < end; ++r)
        to[r * stride + c] = from[r * matrix.row_stride + c * matrix.column_stride];
  }
}

template <class T>
void rows_filled(const Matrix<T>& left, const Block& block, T* to, std::int64_t stride) {
  copy_block(left, block, to, stride);
  for (std::int64_t r = 0; r < block.rows; ++r)
    std::fill(to + r * stride + block.columns, to + (r + 1) * stride, T{});
}

constexpr std::int64_t rows_at_once = 16;  // of a block, so that they are still near when they are laid out

/// A line of one panel: `group` rows of codes, the elements of a column side by side.
template <int Group, class T, class P>
void lay_out(const T* from, std::int64_t stride, std::int64_t width, P bias, P* to) {
  for (std::int64_t j = 0; j < width; ++j)
    for (std::int64_t g = 0; g < Group; ++g)
      to[j * Group + g] = static_cast<P>(static_cast<P>(from[g * stride + j]) ^ bias);
}

/// Panels of `Width`; lines of memory a few rows ahead are asked for, since rows may be far apart.
template <std::int64_t Width>
void copy_panels(const Matrix<float>& right, const Block& block, std::int64_t elements, float* panels) {
  constexpr std::int64_t ahead = 6, line = 16;
  const float* first = right.data + block.row * right.row_stride + block.column;
  const std::int64_t stride = right.row_stride, rows = block.rows, columns = block.columns;
  widely([=]() SDIP_WIDE {
    for (std::int64_t k = 0; k < rows; ++k) {
      const float *from = first + k * stride, *later = first + std::min(k + ahead, rows - 1) * stride;
      for (std::int64_t column = 0; column < columns; column += line) __builtin_prefetch(later + column);
      float* to = panels + k * Width;
      for (std::int64_t column = 0; column < columns; column += Width, to += elements)
        __builtin_memcpy(to, from + column, Width * sizeof(float));
    }
  });
}

/// Whole panels of floats straight from where they lie.
bool panels_copied(const Matrix<float>& right, const Block& block, const PanelShape& shape, float* to) {
  if (right.data == nullptr || right.column_stride != 1 || block.columns % shape.width != 0 ||
      (shape.width != 8 && shape.width != 16 && shape.width != 32))
    return false;
  if (shape.width == 32)
    copy_panels<32>(right, block, shape.elements, to);
  else if (shape.width == 16)
    copy_panels<16>(right, block, shape.elements, to);
  else
    copy_panels<8>(right, block, shape.elements, to);
  return true;
}

/// A few rows at a time, over all panels.
template <int Group, class T, class P>
void panels_filled(const Matrix<T>& right, const Block& block, const PanelShape& shape, P bias, P* to) {
  const std::int64_t stride = (block.columns + shape.width - 1) / shape.width * shape.width;
  std::vector<T> raw(as_size(rows_at_once * stride));
  for (std::int64_t k = 0; k < block.rows; k += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, block.rows - k);
    if (rows < rows_at_once) std::ranges::fill(raw, T{});
    copy_block(right, {block.row + k, rows, block.column, block.columns}, raw.data(), stride);
    for (std::int64_t r = 0; r < rows; r += Group)
      for (std::int64_t column = 0; column < stride; column += shape.width)
        lay_out<Group>(raw.data() + r * stride + column, stride, shape.width, bias,
                       to + column / shape.width * shape.elements + (k + r) * shape.width);
  }
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
  std::vector<std::int8_t> narrow(as_size(block.rows * stride));
  rows_filled(left, block, narrow.data(), stride);
  std::ranges::copy(narrow, to);
}

void fill_panels(const Matrix<float>& right, const Block& block, const PanelShape& shape, float* to) {
  if (panels_copied(right, block, shape, to)) return;
  for (std::int64_t column = 0; column < block.columns; column += shape.width, to += shape.elements) {
    const std::int64_t columns = std::min(shape.width, block.columns - column);
    if (columns < shape.width) std::fill_n(to, block.rows * shape.width, 0.0F);
    copy_block(right, {block.row, block.rows, block.column + column, columns}, to, shape.width);
  }
}

void fill_panels(const Matrix<std::int8_t>& right, const Block& block, const PanelShape& shape, std::int8_t* to) {
  panels_filled<4>(right, block, shape, std::int8_t{-128}, to);
}

void fill_panels(const Matrix<std::int16_t>& right, const Block& block, const PanelShape& shape, std::int16_t* to) {
  panels_filled<2>(right, block, shape, std::int16_t{0}, to);
}

void fill_panels(const Matrix<std::int8_t>& right, const Block& block, const PanelShape& shape, std::int16_t* to) {
  panels_filled<2>(right, block, shape, std::int16_t{0}, to);
}

}  // namespace sdip::exec
