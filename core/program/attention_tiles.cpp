// Fused attention's tiles.
//
// Worked example. One head of 300 queries and 300 keys of 64 elements, results of 64, 8 bit, sums in 32 bit, single
// buffers, keys and values in DRAM. With 38,400 B to read (300 keys and values of 64) and 109,200 B to write, all
// keys fit beside 193 rows (300 scores and 66 sums of 4 B each); rows of 100 take as few folds, 3, and are smaller:
// 100 x 300. With one byte less to read the keys come in tiles; they are loaded once only if all rows stay, 300,
// beside which 100 scores a row fit: 300 x 100.
#include "core/program/attention_tiles.h"

#include <algorithm>
#include <tuple>

namespace sdip {
namespace {

constexpr std::int64_t reference_lanes = 128;
constexpr std::int64_t most_tried = 64;  // numbers of tiles beyond the fewest

constexpr std::int64_t bytes_of(std::int64_t elements, std::int64_t bits) { return ceil_div(elements * bits, 8); }

/// Folds of a dimension cut into tiles: 300 in tiles of 100 are 3.
std::int64_t folds(std::int64_t size, std::int64_t tile) {
  const Cut pieces = cut(size, tile);
  return pieces.full * ceil_div(tile, reference_lanes) + ceil_div(pieces.edge, reference_lanes);
}

/// The smallest tile size, at most `most`, that makes exactly `tiles` tiles of `size` with the fewest folds; 0 when
/// there is none. 300 in 3 tiles: 100, since larger ones save no fold; in 2 tiles: 172, for 256 and 128 make 3.
std::int64_t even_tile(std::int64_t size, std::int64_t tiles, std::int64_t most) {
  const std::int64_t least = ceil_div(size, tiles);
  if (tiles == 1) return size <= most ? size : 0;
  most = std::min(most, (size - 1) / (tiles - 1));
  if (least > most) return 0;
  const std::int64_t even = std::min(most, ceil_div(least, reference_lanes) * reference_lanes);
  const std::int64_t last_folds = ceil_div(size - (tiles - 1) * even, reference_lanes);
  return std::max(least, ceil_div(size - reference_lanes * last_folds, tiles - 1));
}

class Choice {
 public:
  Choice(const InstructionClass& c, const TileRoom& room) : c_(c), room_(room), sizes_(attention_sizes(c)) {}

  std::optional<Mapping> run() {
    for (std::int64_t tiles = 1; tiles > 0;) {
      const std::int64_t least = ceil_div(sizes_.rows, tiles);
      try_row_tiles(tiles, least);
      tiles = least == 1 ? 0 : ceil_div(sizes_.rows, least - 1);
    }
    return best_;
  }

 private:
  using Rank = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  Mapping mapping(std::int64_t rows, std::int64_t keys) const {
    return {rows, 1, keys, sizes_.depth, rows_outermost};
  }

  bool fits(std::int64_t rows, std::int64_t keys) {
    c_.mapping = mapping(rows, keys);
    const TileBuffers buffers = attention_buffers(c_, room_);
    return buffers.read_bytes <= room_.read_bytes && buffers.write_bytes <= room_.write_bytes;
  }

  Rank rank(std::int64_t rows, std::int64_t keys) {
    c_.mapping = mapping(rows, keys);
    return {attention_loads(c_), attention_folds(c_), rows, keys};
  }

  void consider(std::int64_t rows, std::int64_t keys) {
    if (keys == 0 || !fits(rows, keys)) return;
    const Rank found = rank(rows, keys);
    if (best_ && best_rank_ <= found) return;
    best_ = c_.mapping;
    best_rank_ = found;
  }

  /// Row tiles of `tiles` from the smallest, `least`, each larger one that saves a fold.
  void try_row_tiles(std::int64_t tiles, std::int64_t least) {
    if (tiles == 1) return try_rows(least);
    const std::int64_t fewest = even_tile(sizes_.rows, tiles, sizes_.rows);
    const auto last_folds = [&](std::int64_t rows) {
      return ceil_div(sizes_.rows - (tiles - 1) * rows, reference_lanes);
    };
    const std::int64_t most = std::min(last_folds(least), last_folds(fewest) + most_tried);
    for (std::int64_t last = last_folds(fewest); last <= most; ++last)
      try_rows(std::max(least, ceil_div(sizes_.rows - reference_lanes * last, tiles - 1)));
  }

  void try_rows(std::int64_t rows) {
    if (best_ && best_rank_ <= rank(rows, sizes_.keys)) return;  // no smaller key tile makes these rows better
    if (fits(rows, sizes_.keys)) return consider(rows, sizes_.keys);
    const std::int64_t most = largest_keys(rows);
    if (most == 0) return;
    const std::int64_t even = most < reference_lanes ? most : most / reference_lanes * reference_lanes;
    const std::int64_t fewest = ceil_div(sizes_.keys, most), enough = ceil_div(sizes_.keys, even);
    for (std::int64_t tiles = fewest; tiles <= std::min(enough, fewest + most_tried); ++tiles)
      consider(rows, even_tile(sizes_.keys, tiles, most));
  }

  /// Of fewer than all keys, as many as fit beside `rows`.
  std::int64_t largest_keys(std::int64_t rows) {
    std::int64_t fitting = 0, over = sizes_.keys;
    while (over - fitting > 1) {
      const std::int64_t middle = fitting + (over - fitting) / 2;
      (fits(rows, middle) ? fitting : over) = middle;
    }
    return fitting;
  }

  InstructionClass c_;
  const TileRoom& room_;
  const AttentionSizes sizes_;
  std::optional<Mapping> best_;
  Rank best_rank_;
};

}  // namespace

AttentionSizes attention_sizes(const InstructionClass& c) {
  const LoopNest& scores = c.work.nest;
  return {scores.groups * scores.batch, scores.out_h, scores.out_channels, scores.in_channels,
          c.parts.at(2).work.nest.out_channels};
}

TilePlan attention_plan(const InstructionClass& c) {
  const AttentionSizes sizes = attention_sizes(c);
  TilePlan plan;
  plan.nest = true;
  plan.repeats = sizes.heads;
  plan.tile_rows = c.mapping.tile_rows;
  plan.tile_channels = c.mapping.tile_channels;
  plan.rows = cut(sizes.rows, plan.tile_rows);
  const std::int64_t before_last = ceil_div(sizes.keys, plan.tile_channels) - 1;
  plan.channels = {before_last, sizes.keys - before_last * plan.tile_channels};
  return plan;
}

std::int64_t mask_elements(const Fetch& mask, const TilePlan& plan, std::int64_t rows, std::int64_t keys) {
  return mask.per_fold ? rows * keys : ceil_div(mask.elements, plan.operations());
}

TileBuffers attention_buffers(const InstructionClass& c, const TileRoom& room) {
  const AttentionSizes sizes = attention_sizes(c);
  const TilePlan plan = attention_plan(c);
  const std::int64_t rows = std::min(plan.tile_rows, sizes.rows), keys = std::min(plan.tile_channels, sizes.keys);
  const std::int64_t copies = plan.operations() > 1 ? room.buffers : 1;
  const auto tile = [&](std::int64_t elements) { return copies * bytes_of(elements, room.activation_bits); };
  TileBuffers buffers;
  if (c.operand_a == Place::dram) buffers.read_bytes += tile(rows * sizes.depth);
  if (c.operand_b == Place::dram) buffers.read_bytes += tile(keys * sizes.depth);
  if (c.parts[2].operand_b == Place::dram) buffers.read_bytes += tile(keys * sizes.values);
  for (const Fetch& mask : c.fetches)
    if (mask.place == Place::dram) buffers.read_bytes += tile(mask_elements(mask, plan, rows, keys));
  buffers.write_bytes =
      bytes_of(rows * keys, room.activation_bits) + bytes_of(rows * (sizes.values + 2), room.accumulator_bits);
  if (c.to_dram && !c.to_dsram) buffers.write_bytes += tile(rows * sizes.values);
  return buffers;
}

std::int64_t attention_loads(const InstructionClass& c) {
  const AttentionSizes sizes = attention_sizes(c);
  const TilePlan plan = attention_plan(c);
  const std::int64_t elements =
      (c.operand_b == Place::dram ? sizes.depth : 0) + (c.parts[2].operand_b == Place::dram ? sizes.values : 0);
  return sizes.heads * sizes.keys * elements * (plan.channels.count() > 1 ? plan.rows.count() : 1);
}

std::int64_t attention_folds(const InstructionClass& c) {
  const AttentionSizes sizes = attention_sizes(c);
  const std::int64_t tiles = ceil_div(sizes.keys, c.mapping.tile_channels);
  const std::int64_t scores = folds(sizes.keys, c.mapping.tile_channels) * sizes.depth;
  const std::int64_t products = ceil_div(sizes.values, reference_lanes) * sizes.keys;
  const std::int64_t rescaling = tiles > 1 ? tiles * sizes.values : 0;
  return folds(sizes.rows, c.mapping.tile_rows) * (scores + products + rescaling);
}

std::optional<Mapping> choose_attention(const InstructionClass& c, const TileRoom& room,
                                        const AskedCapacity& weights) {
  if (room.weight_bytes > 0 && !weights.holds(held_weight_bytes(c, room.form))) return std::nullopt;
  return Choice(c, room).run();
}

}  // namespace sdip
