// How the weights of one instruction stand in `.weight`: which tiles, in which order, and which of them are kept.
//
// A region is what is fetched of a nest, tile by tile, then what is held. Where tiles do not stand on their own
// (WeightForm::by_tile) the nest's weights are one tile. A tile of output channels by input channels holds
//   the weight's elements in the graph's order, or with sparsity=skipping as many slots as the tile is charged for,
//   with the tile of the first input channels the biases' elements of its channels, then the channels' scales,
//   where weights share scales by groups those of its groups: channel by channel, kernel position by kernel
//   position, with sparsity=skipping a bit an element: whether a slot has it; by groups the place of each slot's
//   element in its group.
//
// Pruning. In a tile of E elements whose channels have S elements each, the ceil(density E) largest stay, of each
// channel at most ceil(density S): the slots that the memory has, and the products that the array does. Worked
// example: two channels of 3 elements, 9 8 7 and 1 2 0, at 50: of 6 elements 3 stay, of each channel at most 2: 9 8
// and 2.
//
// By groups (sparsity_group = m): of each m consecutive elements along the sums of a channel (input channels at one
// kernel position), counted from the tile's first, the n = ceil(density m) largest stay, of a last group of fewer
// at most n. Slots stand channel by channel, kernel position by kernel position, group by group. Worked example: a
// channel of 5, 9 8 7 1 2, 2 of 4: 9 8 and 2, at places 0 1 and 0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/base/tensor.h"
#include "core/program/program.h"
#include "core/program/weight_form.h"
#include "core/program/weights/weight_scales.h"

namespace sdip {

/// A run of output channels, over all groups, by a run of input channels.
struct WeightTile {
  std::int64_t channel = 0, channels = 0, sum = 0, sums = 0;
  friend bool operator==(const WeightTile&, const WeightTile&) = default;
};

/// The weights of one nest: the `first` of the instruction's is its second operand, `biases` more follow.
struct NestWeights {
  std::size_t first = 0, biases = 0;
  InstructionClass counts;  // as weight_tile_bytes takes it
  WeightChannels channels;  // count 0: no rule, and one tile
  std::vector<WeightTile> tiles;
  bool channel_scales = false;
  std::int64_t scale_group = 0;  // weights along the sums of a tile that share a scale
  friend bool operator==(const NestWeights&, const NestWeights&) = default;
};

/// Weights that are held: elements of each that stand in the region (of a lookup table the beginning).
struct HeldWeights {
  std::size_t first = 0;
  std::vector<std::int64_t> elements;
  std::int64_t bytes = 0;
  friend bool operator==(const HeldWeights&, const HeldWeights&) = default;
};

struct RegionPart {
  bool nest = false;
  NestWeights weights;
  HeldWeights held;
  friend bool operator==(const RegionPart&, const RegionPart&) = default;
};

/// Parts in their order. Where strips hold all weights, everything is one unit of the compressor; else each tile is
/// one and what is held is none.
struct WeightRegion {
  std::vector<RegionPart> parts;
  bool one_unit = false;
  std::int64_t bytes = 0;  // of strips, uncompressed
  friend bool operator==(const WeightRegion&, const WeightRegion&) = default;
};

/// Throws Error("not_modelled", node, ...) when tiles or channels must be told apart and no rule tells them, and
/// "graph_inconsistent" when the instruction's weights are not those that its class counts.
WeightRegion weight_region(const CompiledStage& stage, const WeightForm& form, const Instruction& instruction);

/// The nest whose second operand the instruction's weight `index` is; nullptr when it is none's.
const NestWeights* nest_of_weight(const WeightRegion& region, std::size_t index);

/// For each element of a nest's weight the number of its group, in the order of tiles. Requires a rule that tells
/// channels, and scale_group > 0. Worked example: a channel of 5, tiles of 3 sums, groups of 2: 0 0 1 2 2.
std::vector<std::uint32_t> groups_of_elements(const NestWeights& nest, std::int64_t elements);
std::int64_t group_count(const NestWeights& nest);

/// The elements of a tile in the graph's order. `elements`: of the weight.
std::vector<std::int64_t> tile_elements(const NestWeights& nest, const WeightTile& tile, std::int64_t elements);

/// The slots of a tile with sparsity=skipping, and how many of them one channel may take.
struct Slots {
  std::int64_t all = 0, a_channel = 0;
};
Slots slots_of(const NestWeights& nest, const WeightTile& tile, const WeightForm& form);
/// Elements of a tile, as its class counts them.
std::int64_t counted_elements(const NestWeights& nest, const WeightTile& tile);

/// The pattern of the groups that the slots of a region are counted by; nothing: of any elements.
std::optional<GroupPattern> pattern_of(const WeightForm& form);

/// Calls `visit` with the elements of each group of a tile, in order. Requires a rule that tells channels.
void for_each_group(const NestWeights& nest, const WeightTile& tile, std::int64_t group,
                    const std::function<void(std::span<const std::int64_t>)>& visit);

/// Which elements of a nest's weight stay: with sparsity=skipping by tile, as above; with gating, where no slots
/// are counted, the ceil(density x elements) largest of all, or those of all groups. Among equals the earlier stay.
/// Throws Error("not_modelled", ...) for groups of a weight of which no rule tells channels.
std::vector<char> kept_elements(const NestWeights& nest, const Tensor& weight, const Machine& machine);

}  // namespace sdip
