// Products made inside the weight memory (in_memory_weights=fefet): one row of operand A at a time, with all of its
// sums and all channels of the tile at once.
//
// Worked example. A linear of 3 rows by 200 sums by 40 channels, int8 x int4, in one tile; fefet_input_bits 2,
// fefet_columns_per_converter 8: a row takes ceil(8/2) x 8 = 32 cycles, the operation 96. 200 sums lie in 2 arrays
// of 128 rows: 3 x 40 x 4 x 2 x ceil(8/2) = 3840 conversions.
#pragma once

#include "core/cost/work/fold.h"
#include "core/cost/work/ports.h"
#include "core/program/kinds.h"
#include "core/program/workload.h"

namespace sdip {

/// Rows, and columns, of one array of cells: `fefet.array` of the technology table.
inline constexpr std::int64_t fefet_array_cells = 128;

/// Whether the class's products are made in the weight memory of a stage whose weights lie there.
inline bool multiplies_in_memory(const InstructionClass& c, WeightPlace weights) {
  return weights == WeightPlace::fefet && is_nest(c.work.family) && c.operand_b == Place::psram;
}

/// Bits of an activation that the rows take at once: at most as many as it has.
inline std::int64_t fefet_input_bits(const Machine& m, std::int64_t activation_bits) {
  return std::min(m.fefet_input_bits, activation_bits);
}

/// Cycles of one row of operand A: its bits go in one part after the other, and for each part the columns of a
/// converter are converted one after the other.
template <class Number = std::int64_t>
Number memory_row_cycles(const InstructionClass& c, const Resolved& r) {
  return Number(c.work.element_cycles) * ceiling(Number(r.activation_bits), r.machine.fefet_input_bits) *
         Number(r.machine.fefet_columns_per_converter);
}

/// The least that all of a class's rows take, whatever its tiles: each row once.
inline std::int64_t memory_cycles(const InstructionClass& c, const Resolved& r) {
  const LoopNest& n = c.work.nest;
  return at_most(static_cast<Int128>(n.groups * n.batch * n.out_h * n.out_w) * memory_row_cycles(c, r),
                 most_cycles);
}

/// Conversions of one tile operation: every column of bits of every array that the sums fill, for each part of the
/// inputs. `rows`: those of A, of all products of the tile together.
inline double memory_conversions(const InstructionClass& c, const Resolved& r, std::int64_t rows,
                                 std::int64_t channels, std::int64_t sums) {
  const LoopNest& n = c.work.nest;
  const std::int64_t arrays = ceil_div(sums * n.kernel_h * n.kernel_w, fefet_array_cells);
  const std::int64_t parts = ceil_div(r.activation_bits, r.machine.fefet_input_bits);
  return static_cast<double>(rows) * static_cast<double>(channels) *
         static_cast<double>(arrays * parts * r.form.bits);
}

}  // namespace sdip
