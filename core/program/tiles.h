// The rule by which an instruction expands into tile operations, of at most two shapes a dimension: full and edge.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/program/program.h"

namespace sdip {

/// A dimension of `size` cut into tiles of `tile`: `full` whole ones and, if `edge` is not 0, a last one of that
/// size. Worked example: 10 by 4 is 2 full and an edge of 2.
struct Cut {
  std::int64_t full = 0, edge = 0;
  constexpr std::int64_t count() const { return full + (edge != 0); }
};
constexpr Cut cut(std::int64_t size, std::int64_t tile) { return {size / tile, size % tile}; }

/// How a class expands. A nest runs `repeats` x (row tiles x channel tiles); row-wise work `repeats` x row tiles.
/// Each tile operation covers `multiplicity` independent copies of its rows (frames of a batch, attention heads).
/// Row-wise work whose rows are chunked goes through a row's chunks once for each of `passes_apart` passes, and
/// writes in the last; otherwise all passes of a tile run while it is on chip.
struct TilePlan {
  bool nest = false;
  std::int64_t repeats = 1, multiplicity = 1, passes_apart = 1;
  Cut rows, channels{1, 0};
  std::int64_t tile_rows = 1, tile_channels = 1;
  std::int64_t operations() const { return repeats * rows.count() * channels.count(); }
  std::int64_t writing_operations() const { return operations() / passes_apart; }
};
TilePlan tile_plan(const InstructionClass& c);

/// Input rows that `rows` output rows of a nest read, halo included; the window is moved inside the input.
std::int64_t input_rows(const LoopNest& nest, std::int64_t rows);

/// True for families whose work is a nest.
bool is_nest(Family family);

/// How weights are stored, by what the machine says.
struct WeightForm {
  std::int64_t bits = 16, scale_bits_per_channel = 0, density_hundredths = 100, compression_hundredths = 100;
  bool skipping = false;
};
WeightForm weight_form(const Machine& machine);

/// Bytes of `channels` output channels' weights in PSRAM: dense, or with sparsity skipping ceil(density x elements)
/// values and a bit mask of all elements; plus bias and per-channel scales.
std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, const WeightForm& form);

/// The same for weights of row-wise work and fused operators, which have no channels and are never sparse.
std::int64_t held_weight_bytes(const InstructionClass& c, const WeightForm& form);

/// Bytes in DRAM of what PSRAM holds as `bytes`.
std::int64_t stored_bytes(std::int64_t bytes, const WeightForm& form);

/// Bytes that one tile operation of `rows` x `channels` reads or writes when its operand lies in DRAM.
std::int64_t tile_a_bytes(const InstructionClass& c, const TilePlan& plan, std::int64_t rows, std::int64_t channels,
                          std::int64_t bits);
std::int64_t tile_b_bytes(const InstructionClass& c, const TilePlan& plan, std::int64_t channels,
                          std::int64_t bits);
std::int64_t tile_out_elements(const InstructionClass& c, const TilePlan& plan, std::int64_t rows,
                               std::int64_t channels);

}  // namespace sdip
