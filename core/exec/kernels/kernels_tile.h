// The innermost part of a product: a few rows and columns of sums in registers, over one block of the depth.
// Internal to its room.
//
// The right operand lies in panels as wide as a tile, groups of elements of a column side by side: floats alone,
// 16-bit codes in twos, 8-bit codes in fours. Example: a panel of 2 columns of 16-bit codes, depth 4:
// r[0][0] r[1][0] r[0][1] r[1][1] r[2][0] r[3][0] r[2][1] r[3][1]. The left one lies by rows. Codes are filled up
// with zeros to a whole group.
#pragma once

#include <cstdint>

#include "core/exec/kernels/kernels.h"
#include "core/exec/kernels/kernels_rounding.h"

namespace sdip::exec {

/// At most the kernel's rows and columns of sums, with all their operands' elements.
struct TileTask {
  const void* left = nullptr;  // row by row
  std::int64_t left_stride = 0;
  const void* right = nullptr;  // a panel
  std::int64_t depth = 0;       // in elements; of codes a multiple of their group
  std::int64_t run = 0, lanes = 1;
  void* sums = nullptr;
  std::int64_t sums_stride = 0;
  std::int64_t rows = 0, columns = 0;
  const std::int32_t* left_sums = nullptr;  // of each row, where the kernel is `biased`
  const Rounding* rounding = nullptr;       // of narrow kinds
  bool begins = false;                      // sums are 0, whatever they hold
};

/// Adds all products of a task to its sums.
struct TileKernel {
  std::int64_t rows = 0, columns = 0, group = 1;
  bool biased = false;  // the right operand's codes stand plus 128, which `left_sums` take out again
  void (*add)(const TileTask& task) = nullptr;
};

/// The kinds of operands and sums that kernels are made for: floats one after the other (`fused`) or by folds
/// (`tree`), summed in fp32 or in a narrow floating or fixed-point format; codes.
enum class TileKind { fused, tree, narrow_fused, narrow_tree, codes16, codes8 };

/// One for each set of instructions; `add` is nullptr where a set has none of its own.
TileKernel portable_kernel(TileKind kind);
TileKernel avx2_kernel(TileKind kind);
TileKernel avx_vnni_kernel();  // of 8-bit codes, in AVX2's registers
TileKernel avx512_kernel(TileKind kind);
TileKernel avx512_narrow_kernel(bool tree);

}  // namespace sdip::exec
