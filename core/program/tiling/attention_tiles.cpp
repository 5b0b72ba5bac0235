// Fused attention's tiles.
//
// Worked example. One head of 300 queries and 300 keys of 64 elements, results of 64, 8 bit, sums in 32 bit, single
// buffers, keys and values in DRAM. With 38,400 B to read (300 keys and values of 64) and 109,200 B to write, all
// keys fit beside 193 rows (300 scores and 66 sums of 4 B each); rows of 100 take as few folds, 3, and are smaller:
// 100 x 300. With one byte less to read the keys come in tiles; they are loaded once only if all rows stay, 300,
// beside which 100 scores a row fit: 300 x 100.
#include "core/program/tiling/attention_tiles.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::int64_t reference_lanes = 128;
constexpr std::int64_t most_tried = 64;  // numbers of tiles beyond the fewest

/// Folds of a dimension cut into tiles: 300 in tiles of 100 are 3.
std::int64_t folds(std::int64_t size, std::int64_t tile) {
  const Cut pieces = cut(size, tile);
  return pieces.full * ceil_div(tile, reference_lanes) + ceil_div(pieces.edge, reference_lanes);
}

/// The smallest tile size that makes exactly `tiles` > 1 tiles of `size` with the fewest folds. 300 in 3 tiles:
/// 100, since larger ones save no fold; in 2 tiles: 172, for 256 and 128 make 3.
std::int64_t even_tile(std::int64_t size, std::int64_t tiles) {
  const std::int64_t least = ceil_div(size, tiles), most = (size - 1) / (tiles - 1);
  const std::int64_t even = std::min(most, ceil_div(least, reference_lanes) * reference_lanes);
  const std::int64_t last_folds = ceil_div(size - (tiles - 1) * even, reference_lanes);
  return std::max(least, ceil_div(size - reference_lanes * last_folds, tiles - 1));
}

/// Calls each(tile) for every number of tiles of `size` from 1 on: the smallest tile that makes so many, and each
/// larger one that saves a fold. The same whatever the room.
template <class Each>
void each_even_tile(std::int64_t size, Each each) {
  for (std::int64_t least = size, tiles = 1; least > 0; tiles = ceil_div(size, least - 1)) {
    least = ceil_div(size, tiles);
    const auto last_folds = [&](std::int64_t tile) { return ceil_div(size - (tiles - 1) * tile, reference_lanes); };
    if (tiles == 1) {
      each(size);
    } else {
      const std::int64_t fewest = last_folds(even_tile(size, tiles));
      const std::int64_t most = std::min(last_folds(least), fewest + most_tried);
      for (std::int64_t last = fewest; last <= most; ++last)
        each(std::max(least, ceil_div(size - reference_lanes * last, tiles - 1)));
    }
    if (least == 1) return;
  }
}

class AttentionChoice {
 public:
  AttentionChoice(const InstructionClass& c, const TileRoom& room, bool by_cycles, std::int64_t most_bytes)
      : c_(c), room_(room), sizes_(attention_sizes(c)), by_cycles_(by_cycles), most_bytes_(most_bytes) {}

  std::optional<Mapping> run() {
    each_even_tile(sizes_.rows, [this](std::int64_t rows) { try_rows(rows); });
    return best_;
  }
  /// Bytes that the mapping found moves.
  std::int64_t bytes() const { return best_rank_.bytes; }

 private:
  struct Rank {
    std::int64_t cycles = 0, bytes = 0, folds = 0, rows = 0, keys = 0;  // cycles: 0 where bytes come first
    auto operator<=>(const Rank&) const = default;
  };

  Mapping mapping(std::int64_t rows, std::int64_t keys) const {
    return {rows, 1, keys, sizes_.depth, rows_outermost};
  }

  bool fits(std::int64_t rows, std::int64_t keys) {
    c_.mapping = mapping(rows, keys);
    const TileBuffers buffers = attention_buffers(c_, room_);
    return buffers.read_bytes <= room_.read_bytes && buffers.write_bytes <= room_.write_bytes;
  }

  /// Bytes of a mapping before transfers are rounded up: no more than dram_bytes.
  std::int64_t least_bytes() const {
    std::int64_t elements = attention_loads(c_);
    if (c_.operand_a == Place::dram) elements += sizes_.heads * sizes_.rows * sizes_.depth;
    if (c_.to_dram) elements += sizes_.heads * sizes_.rows * sizes_.values;
    for (const Fetch& mask : c_.fetches)
      if (mask.place == Place::dram)
        elements += mask.per_fold ? sizes_.heads * sizes_.rows * sizes_.keys : mask.elements;
    return elements * room_.activation_bits / 8;
  }

  /// The rank of the class as it is mapped, if it moves so many bytes.
  Rank rank(std::int64_t bytes) const {
    const std::int64_t cycles =
        by_cycles_ ? std::max(attention_cycles(c_), ceil_div(bytes, reference_dram_bytes)) : 0;
    return {cycles, bytes, attention_folds(c_), c_.mapping.tile_rows, c_.mapping.tile_channels};
  }

  void consider(std::int64_t rows, std::int64_t keys) {
    if (!fits(rows, keys)) return;
    const Rank found = rank(dram_bytes(c_, room_));
    if (found.bytes > most_bytes_ || (best_ && best_rank_ <= found)) return;
    best_ = c_.mapping;
    best_rank_ = found;
  }

  void try_rows(std::int64_t rows) {
    c_.mapping = mapping(rows, sizes_.keys);
    const Rank whole = rank(least_bytes());  // no tiles of keys are better, of so many rows
    if (best_ && best_rank_ <= whole) return;
    c_.mapping = mapping(rows, std::max<std::int64_t>(1, sizes_.keys - 1));
    const std::int64_t in_tiles = least_bytes();
    if (!fits(rows, 1)) return;
    each_even_tile(sizes_.keys, [&](std::int64_t keys) {
      if (keys == sizes_.keys || !best_ || (by_cycles_ ? in_tiles <= most_bytes_ : best_rank_.bytes >= in_tiles))
        consider(rows, keys);
    });
  }

  InstructionClass c_;
  const TileRoom& room_;
  const AttentionSizes sizes_;
  const bool by_cycles_;
  const std::int64_t most_bytes_;
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
  const auto tile = [&](std::int64_t elements) { return copies * element_bytes(elements, room.activation_bits); };
  TileBuffers buffers;
  if (c.operand_a == Place::dram) buffers.read_bytes += tile(rows * sizes.depth);
  if (c.operand_b == Place::dram) buffers.read_bytes += tile(keys * sizes.depth);
  if (c.parts[2].operand_b == Place::dram) buffers.read_bytes += tile(keys * sizes.values);
  for (const Fetch& mask : c.fetches)
    if (mask.place == Place::dram) buffers.read_bytes += tile(mask_elements(mask, plan, rows, keys));
  buffers.write_bytes = element_bytes(rows * keys, room.activation_bits) +
                        element_bytes(rows * (sizes.values + 2), room.accumulator_bits);
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

std::int64_t attention_cycles(const InstructionClass& c) {
  const AttentionSizes sizes = attention_sizes(c);
  const std::int64_t row_folds = folds(sizes.rows, c.mapping.tile_rows);
  const std::int64_t tiles = ceil_div(sizes.keys, c.mapping.tile_channels);
  const auto beats = [](std::int64_t words) { return ceil_div(words, reference_lanes); };
  const std::int64_t scores = sizes.rows * sizes.keys, results = sizes.rows * sizes.values;
  const std::int64_t of_scores = row_folds * folds(sizes.keys, c.mapping.tile_channels) * sizes.depth;
  const std::int64_t of_softmax = beats(2 * scores) + (tiles > 1 ? beats(tiles * results) : 0);
  const std::int64_t of_products = std::max(row_folds * ceil_div(sizes.values, reference_lanes) * sizes.keys,
                                            beats(scores) + beats(tiles * results));
  return sizes.heads * (of_scores + of_softmax + of_products + beats(results));
}

std::optional<Mapping> choose_attention(const InstructionClass& c, const TileRoom& room,
                                        const AskedCapacity& weights) {
  if (room.weight_bytes > 0 && !weights.holds(held_weight_bytes(c, room.form))) return std::nullopt;
  if (room.goal == TileGoal::cycles) return AttentionChoice(c, room, true, most_words).run();
  AttentionChoice of_bytes(c, room, false, most_words);
  const auto found = of_bytes.run();
  if (!found || room.goal == TileGoal::bytes) return found;
  return AttentionChoice(c, room, true, most_balanced(of_bytes.bytes())).run();
}

}  // namespace sdip
