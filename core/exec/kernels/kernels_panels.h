// Operands laid out for tiles: the left one by rows, the right one in panels.
#pragma once

#include "core/exec/kernels/kernels_tile.h"

namespace sdip::exec {

/// The most of a sum that lies on the way at once, unless a fold is longer.
inline constexpr std::int64_t block_depth = 256;

/// Rows of the left operand, `stride` apart, with zeros after the last column.
void fill_rows(const Matrix<float>& left, const Block& block, float* to, std::int64_t stride);
void fill_rows(const Matrix<std::int8_t>& left, const Block& block, std::int8_t* to, std::int64_t stride);
void fill_rows(const Matrix<std::int16_t>& left, const Block& block, std::int16_t* to, std::int64_t stride);
/// 8-bit codes as 16-bit ones.
void fill_rows(const Matrix<std::int8_t>& left, const Block& block, std::int16_t* to, std::int64_t stride);

/// Panels of the right operand, as wide as tiles and `elements` apart, for as many columns as `block` has, with
/// zeros after the last; groups as kernels_tile.h has them. 8-bit codes stand plus 128.
struct PanelShape {
  std::int64_t width = 0, elements = 0;
};
void fill_panels(const Matrix<float>& right, const Block& block, const PanelShape& shape, float* to);
void fill_panels(const Matrix<std::int8_t>& right, const Block& block, const PanelShape& shape, std::int8_t* to);
void fill_panels(const Matrix<std::int16_t>& right, const Block& block, const PanelShape& shape, std::int16_t* to);
/// 8-bit codes as 16-bit ones.
void fill_panels(const Matrix<std::int8_t>& right, const Block& block, const PanelShape& shape, std::int16_t* to);

}  // namespace sdip::exec
