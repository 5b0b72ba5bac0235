// DRAM bytes of an instruction with its mapping, transfer by transfer, each in whole bursts.
#include <algorithm>

#include "core/program/tiling/attention_tiles.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/strips.h"
#include "core/program/tiling/tile_kinds.h"

namespace sdip {
namespace {
constexpr std::int64_t most_clipped_tiles = 256;  // of one axis; more are all taken as inside the input
}  // namespace

Kinds kinds_of(const Cut& cut, std::int64_t tile, std::int64_t unit) {
  Kinds kinds;
  if (cut.full > 0) kinds.push_back({tile, cut.full});
  if (cut.edge > 0) kinds.push_back({cut.edge * unit, 1});
  return kinds;
}

Kinds loads_along(const NestAxis& axis, const Cut& cut, std::int64_t tile, bool slides) {
  Kinds loads;
  const std::int64_t step = tile * axis.stride, span = step - axis.stride + axis.reach();
  const std::int64_t inside = axis.in + axis.pad - span;
  const std::int64_t from =
      std::min(cut.full, std::max<std::int64_t>(1, axis.pad > 0 ? ceil_div(axis.pad, step) : 0));
  const std::int64_t to = std::clamp(inside < 0 ? 0 : inside / step + 1, from, cut.full);
  if (from + cut.full - to > most_clipped_tiles) {
    const auto held = [&](std::int64_t count) { return held_window(axis, count); };
    const auto fresh = [&](std::int64_t count) {
      return slides ? std::min(held(count), count * axis.stride) : held(count);
    };
    loads.push_back({held(tile), 1});
    loads.push_back({fresh(tile), cut.full - 1});
    if (cut.edge > 0) loads.push_back({fresh(cut.edge), 1});
    return loads;
  }
  const auto add = [&](std::int64_t i, std::int64_t count, std::int64_t tiles) {
    const std::int64_t first = i * tile;
    loads.push_back(
        {slides && i > 0 ? window(axis, 0, first + count) - window(axis, 0, first) : window(axis, first, count),
         tiles});
  };
  for (std::int64_t i = 0; i < from; ++i) add(i, tile, 1);
  if (to > from) add(from, tile, to - from);
  for (std::int64_t i = to; i < cut.full; ++i) add(i, tile, 1);
  if (cut.edge > 0) add(cut.full, cut.edge, 1);
  return loads;
}

namespace {

struct Transfers {
  const InstructionClass& c;
  const TileRoom& room;
  const TilePlan plan = tile_plan(c);
  Int128 bytes = 0;

  void move(std::int64_t transfer, Int128 times) {
    bytes += times * ceil_div(transfer, room.burst_bytes) * room.burst_bytes;
  }
  std::int64_t bytes_of(std::int64_t elements) const { return ceil_div(elements * room.activation_bits, 8); }
  std::int64_t all() const { return static_cast<std::int64_t>(std::min<Int128>(bytes, most_words)); }

  /// Moves those operands that `counts` chooses together, in equal parts.
  template <class Counts>
  void split(std::int64_t parts, std::int64_t times, Counts counts) {
    std::int64_t part = 0;
    for (const Fetch& fetch : c.fetches)
      if (fetch.place == Place::dram && counts(fetch)) part += bytes_of(ceil_div(fetch.elements, parts));
    move(part, static_cast<Int128>(parts) * times);
  }

  void rowwise() {
    const std::int64_t parts = plan.writing_operations();
    split(parts, 1, [](const Fetch& fetch) { return fetch.passes > 0; });
    split(parts, plan.passes_apart - 1, [&](const Fetch& fetch) { return fetch.passes >= plan.passes_apart; });
    if (c.to_dram) move(bytes_of(ceil_div(c.out_elements, parts)), parts);
  }

  /// Tiles of the second operand, which comes so often.
  void second_operand(const Kinds& channels, const Kinds& sums, Int128 rounds) {
    const LoopNest& n = c.work.nest;
    if (c.operand_b == Place::dram)
      for (const Kind& k : channels)
        for (const Kind& s : sums)
          move(bytes_of(k.size * s.size * n.kernel_h * n.kernel_w * plan.multiplicity),
               rounds * k.count * s.count * plan.repeats);
    if (c.operand_b == Place::psram && room.weight_bytes > 0 && !room.weights_stay)
      each_weight_tile(plan, n.out_channels, [&](std::int64_t k, std::int64_t s, bool first, std::int64_t times) {
        move(stored_bytes(weight_tile_bytes(c, k, s, first, room.form), room.form), rounds * times);
      });
  }

  void nest() {
    const Nest nest = nest_of(c);
    const LoopNest& n = nest.loops;
    const TileRounds rounds = tile_rounds(nest, c.mapping, tile_counts(nest, c.mapping));
    const bool runs = plan.tile_channels > n.out_channels;
    const Kinds groups =
        runs ? kinds_of(plan.groups, plan.tile_channels / n.out_channels) : Kinds{{1, plan.groups.count()}};
    const Kinds channels = runs ? kinds_of(plan.groups, plan.tile_channels, n.out_channels)
                                : kinds_of(plan.channels, plan.tile_channels);
    const Kinds sums = kinds_of(plan.sums, plan.tile_sums);
    if (c.operand_a == Place::dram) {
      const Kinds rows = loads_along(row_axis(n), plan.rows, plan.tile_rows, rounds.rows_slide);
      const Kinds columns = loads_along(column_axis(n), plan.columns, plan.tile_columns, rounds.columns_slide);
      for (const Kind& r : rows)
        for (const Kind& k : columns)
          for (const Kind& g : groups)
            for (const Kind& s : sums)
              move(bytes_of(r.size * k.size * g.size * s.size * plan.multiplicity),
                   static_cast<Int128>(r.count * k.count) * g.count * s.count * plan.repeats * rounds.a);
    }
    second_operand(channels, sums, rounds.b);
    const auto result_tiles = [&](std::int64_t bits, std::int64_t times) {
      for (const Kind& r : kinds_of(plan.rows, plan.tile_rows))
        for (const Kind& k : kinds_of(plan.columns, plan.tile_columns))
          for (const Kind& o : channels)
            move(ceil_div(r.size * k.size * o.size * plan.multiplicity * bits, 8),
                 static_cast<Int128>(r.count * k.count) * o.count * (runs ? 1 : plan.groups.count()) *
                     plan.repeats * times);
    };
    if (c.to_dram) result_tiles(room.activation_bits, 1);
    if (rounds.out > 1) result_tiles(room.accumulator_bits, 2 * (rounds.out - 1));
    split(plan.writing_operations(), 1, [](const Fetch&) { return true; });
  }

  void attention() {
    const AttentionSizes sizes = attention_sizes(c);
    const Kinds rows = kinds_of(plan.rows, plan.tile_rows), keys = kinds_of(plan.channels, plan.tile_channels);
    const auto of = [&](Place place, std::int64_t elements) {
      return place == Place::dram ? bytes_of(elements) : 0;
    };
    const std::int64_t loads = plan.channels.count() > 1 ? plan.rows.count() : 1;
    for (const Kind& k : keys)
      move(of(c.operand_b, k.size * sizes.depth) + of(c.parts[2].operand_b, k.size * sizes.values),
           static_cast<Int128>(plan.repeats) * loads * k.count);
    for (const Kind& r : rows) {
      move(of(c.operand_a, r.size * sizes.depth), static_cast<Int128>(plan.repeats) * r.count);
      if (c.to_dram) move(bytes_of(r.size * sizes.values), static_cast<Int128>(plan.repeats) * r.count);
      for (const Kind& k : keys) {
        std::int64_t masks = 0;
        for (const Fetch& mask : c.fetches) masks += of(mask.place, mask_elements(mask, plan, r.size, k.size));
        move(masks, static_cast<Int128>(plan.repeats) * r.count * k.count);
      }
    }
  }
};

}  // namespace

std::int64_t dram_bytes(const InstructionClass& c, const TileRoom& room) {
  if (c.compound == Compound::strips) return strip_dram_bytes(c, room);
  Transfers transfers{c, room};
  if (room.weight_bytes > 0) transfers.move(held_stored_bytes(c, room.form), 1);
  if (c.compound == Compound::attention)
    transfers.attention();
  else if (transfers.plan.nest)
    transfers.nest();
  else
    transfers.rowwise();
  return transfers.all();
}

std::int64_t second_operand_bytes(const InstructionClass& c, const TileRoom& room, std::int64_t channels,
                                  std::int64_t sums) {
  const LoopNest& n = c.work.nest;
  TilePlan plan;
  plan.repeats = n.batch * n.groups;
  plan.tile_channels = channels, plan.tile_sums = sums;
  plan.channels = cut(n.out_channels, channels), plan.sums = cut(n.in_channels, sums);
  Transfers transfers{c, room, plan};
  transfers.second_operand(kinds_of(plan.channels, channels), kinds_of(plan.sums, sums), 1);
  return transfers.all();
}

InstructionClass least_moving(InstructionClass c) {
  const Nest nest = nest_of(c);
  c.mapping = whole_mapping(nest);
  const auto skips = [](const NestAxis& axis) { return axis.stride > axis.reach(); };
  if (skips(row_axis(nest.loops)) || skips(column_axis(nest.loops))) c.operand_a = Place::dsram;
  return c;
}

}  // namespace sdip
