// The rule by which an instruction expands into tile operations, of at most two shapes a dimension: full and edge.
#pragma once

#include <array>
#include <cstdint>

#include "core/base/units.h"
#include "core/program/kinds.h"
#include "core/program/program.h"
#include "core/program/weight_form.h"

namespace sdip {

/// A dimension of `size` cut into tiles of `tile`: `full` whole ones and, if `edge` is not 0, a last one of that
/// size. Worked example: 10 by 4 is 2 full and an edge of 2.
struct Cut {
  std::int64_t full = 0, edge = 0;
  constexpr std::int64_t count() const { return full + (edge != 0); }
  friend auto operator<=>(const Cut&, const Cut&) = default;
};
constexpr Cut cut(std::int64_t size, std::int64_t tile) { return {size / tile, size % tile}; }

/// How a class expands. A nest runs its tile loops in the mapping's order; one over `repeats` independent copies of
/// its rows and columns (frames of a batch, attention heads) runs outermost, or, when the copies share weights,
/// just outside the outer one of rows and columns. Where no loop cuts what belongs to one copy there is none of
/// them, and a tile covers `multiplicity` copies. The loop over the groups of a weighted nest runs just outside its
/// channels. Row-wise work runs `repeats` x row tiles; work whose rows are chunked goes through a row's chunks once
/// for each of `passes_apart` passes, and writes in the last; otherwise all passes of a tile run while it is on
/// chip. Worked example: 2 frames of 5 rows and 6 channels, 3 groups of them; tiles of 2 rows and 4 channels. Rows
/// are 2 full and 1 of 1; runs of 2 groups and of 1; frames are taken one at a time: 2 x 3 x 2 = 12 operations.
struct TilePlan {
  bool nest = false;
  std::int64_t repeats = 1, multiplicity = 1, passes_apart = 1;
  Cut rows, columns{1, 0}, groups{1, 0}, channels{1, 0}, sums{1, 0};
  std::int64_t tile_rows = 1, tile_columns = 1, tile_channels = 1, tile_sums = 1;  // of a full tile
  std::int64_t operations() const {
    return repeats * rows.count() * columns.count() * groups.count() * channels.count() * sums.count();
  }
  std::int64_t writing_operations() const { return operations() / passes_apart / sums.count(); }
};
TilePlan tile_plan(const InstructionClass& c);

/// The part of a nest that one tile operation covers.
struct TileExtent {
  std::int64_t rows = 1, columns = 1, channels = 1, sums = 1;
};

/// True when another loop of more than one tile runs inside the one over sums: a result's partial sums then leave
/// between its sums tiles. Else they stay on chip until the last.
bool partials_leave(const InstructionClass& c, const TilePlan& plan);

/// The form of the weights of an instruction, which may have formats of its own.
WeightForm weight_form(const InstructionClass& c, const Machine& machine);

/// Bytes of `channels` output channels' weights in PSRAM: dense, or with sparsity skipping ceil(density x elements)
/// values and a bit mask of all elements, or by groups those that stay of each, with their places; plus bias and
/// per-channel scales. A tile of `sums` input channels has its part of the elements; bias and scales come with the
/// first.
std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, const WeightForm& form);
/// The same of channels with so many weights and biases each, of so many sums.
std::int64_t channel_bytes(std::int64_t weights, std::int64_t biases, std::int64_t sums, std::int64_t channels,
                           bool first, const WeightForm& form);
std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, std::int64_t sums, bool first,
                               const WeightForm& form);

/// The same for weights of row-wise work and fused operators, which have no channels and are never sparse.
std::int64_t held_weight_bytes(const InstructionClass& c, const WeightForm& form);

/// The largest tile of weights that an instruction has in PSRAM beside what is held; of all cores that share it.
std::int64_t largest_weight_tile_bytes(const InstructionClass& c, const WeightForm& form);

/// Smaller pieces are not compressed: a stream's own tables, about 100 bytes, would eat what it saves.
inline constexpr std::int64_t least_compressed_bytes = 1024;

/// Bytes in DRAM of what PSRAM holds as `bytes` and is compressed when it is large enough: tiles of nests, the
/// weights of strips.
std::int64_t stored_bytes(std::int64_t bytes, const WeightForm& form);

/// The same of held weights: vectors stand as they are.
std::int64_t held_stored_bytes(const InstructionClass& c, const WeightForm& form);

/// Calls each(channels, sums, first, times) for the weight tiles of a nest, alike ones together.
template <class Each>
void each_weight_tile(const TilePlan& plan, std::int64_t out_channels, Each each) {
  const auto of_sums = [&](std::int64_t channels, std::int64_t times) {
    if (channels == 0 || times == 0) return;
    const Cut& sums = plan.sums;
    each(channels, sums.full > 0 ? plan.tile_sums : sums.edge, true, times);
    if (sums.full > 1) each(channels, plan.tile_sums, false, times * (sums.full - 1));
    if (sums.full > 0 && sums.edge > 0) each(channels, sums.edge, false, times);
  };
  if (plan.tile_channels > out_channels) {  // runs of whole groups
    of_sums(plan.tile_channels / out_channels * out_channels, plan.groups.full);
    of_sums(plan.groups.edge * out_channels, 1);
  } else {
    of_sums(plan.tile_channels, plan.channels.full * plan.groups.full);
    of_sums(plan.channels.edge, plan.groups.full);
  }
}

/// All weights of an instruction as PSRAM and as DRAM hold them: where tiles stand on their own the sum of them.
/// Worked example: 3 channels of 10 elements, int8, skipping at 50, tiles of 2 channels: 10 + 20 / 8 and
/// 5 + 10 / 8 rounded up, 13 + 7 = 20 bytes.
struct RegionBytes {
  std::int64_t psram = 0, dram = 0;
};
RegionBytes region_bytes(const InstructionClass& c, const WeightForm& form);

/// Instructions that read the same weights share their bytes where this is equal: the tiles in which they stand,
/// and for how many cores.
std::array<std::int64_t, 3> region_tiles(const InstructionClass& c, const WeightForm& form);

/// Activation elements that a tile reads, of `positions` rows x columns of the input; elements of its tile of the
/// second activations; results.
std::int64_t tile_a_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile,
                             std::int64_t positions);
std::int64_t tile_b_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile);
std::int64_t tile_out_elements(const TilePlan& plan, const TileExtent& tile);

/// A measure of how long work takes that no lane or clock changes, so that sweeps over them share a program: at
/// 128 x 128 MACs or 256 elements a cycle.
std::int64_t reference_cycles(const Work& work);

}  // namespace sdip
