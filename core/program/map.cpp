// pass `map`: tile sizes and loop order of one instruction.
#include <algorithm>
#include <tuple>

#include "core/program/draft.h"
#include "core/program/strips.h"

namespace sdip {
namespace {

constexpr std::int64_t reference_lanes = 128;              // rows x channels of the array that folds are counted on
constexpr std::int64_t reference_tile_elements = 1 << 18;  // of a result: smaller tiles only pay more starts
constexpr std::int64_t even_channels = 32;
constexpr std::int64_t reference_chunk_elements = 1 << 16;  // of row-wise work streamed through DSRAM

/// Sizes worth trying: the whole, equal parts (rounded up to `even`, so that folds of most machines come out even),
/// powers of two, and multiples of the reference lanes; all multiples of `multiple_of`. Largest first.
std::vector<std::int64_t> candidates(std::int64_t size, std::int64_t multiple_of, std::int64_t even) {
  std::vector<std::int64_t> sizes;
  const auto add = [&](std::int64_t s) {
    s = ceil_div(s, multiple_of) * multiple_of;
    if (s >= 1 && s <= size) sizes.push_back(s);
  };
  add(size);
  for (std::int64_t parts = 2; parts <= 16; ++parts) {
    const std::int64_t part = ceil_div(size, parts);
    add(part > even ? ceil_div(part, even) * even : part);
  }
  for (std::int64_t s = 1; s < size; s *= 2) add(s);
  for (std::int64_t s = reference_lanes; s < size && s <= 8 * reference_lanes; s += reference_lanes) add(s);
  std::ranges::sort(sizes, std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

/// How often each operand of a nest is loaded over the instruction, in tiles, following the rule: a tile is loaded
/// when the one needed differs from the one before.
struct Loads {
  std::int64_t a = 0, b = 0;
};
Loads loads_of(const InstructionClass& c, const TilePlan& plan, bool channels_outer) {
  const bool weighted = c.operand_b == Place::psram;
  const std::int64_t rows = plan.rows.count(), channels = plan.channels.count(), repeats = plan.repeats;
  Loads loads;
  if (weighted) {
    const std::int64_t a_tiles = repeats * rows;
    const bool grouped = c.work.nest.groups > 1;  // each channel tile reads its own groups' part of A
    loads.a = grouped || (channels_outer && a_tiles > 1) ? a_tiles * channels : a_tiles;
    loads.b = !channels_outer && channels > 1 ? a_tiles * channels : channels;
  } else {
    loads.a = repeats * (channels_outer && rows > 1 ? rows * channels : rows);
    loads.b = repeats * (!channels_outer && channels > 1 ? rows * channels : channels);
  }
  return loads;
}

std::int64_t reference_folds(const InstructionClass& c, const TilePlan& plan, bool weighted) {
  const LoopNest& nest = c.work.nest;
  const std::int64_t copies = weighted ? plan.multiplicity : 1;  // a batch lengthens the rows; heads fold apart
  const auto row_folds = [&](std::int64_t rows) { return ceil_div(rows * nest.out_w * copies, reference_lanes); };
  const auto channel_folds = [&](std::int64_t channels) {
    const std::int64_t in_group = std::min(channels, nest.out_channels);
    return ceil_div(channels, in_group) * ceil_div(in_group, reference_lanes);
  };
  const auto sum = [](const Cut& cut_of, std::int64_t tile, const auto& folds) {
    return cut_of.full * (cut_of.full > 0 ? folds(tile) : 0) + (cut_of.edge > 0 ? folds(cut_of.edge) : 0);
  };
  return plan.repeats * (weighted ? 1 : plan.multiplicity) * sum(plan.rows, plan.tile_rows, row_folds) *
         sum(plan.channels, plan.tile_channels, channel_folds);
}

/// DRAM bytes that depend on the mapping, one core.
std::int64_t mapped_dram_bytes(const InstructionClass& c, const TilePlan& plan, bool channels_outer,
                               const TileRoom& room) {
  const bool weighted = c.operand_b == Place::psram;
  const Loads loads = loads_of(c, plan, channels_outer);
  const std::int64_t rows = std::min(plan.tile_rows, c.work.nest.out_h), channels = plan.tile_channels;
  std::int64_t bytes = 0;
  if (c.operand_a == Place::dram) bytes += loads.a * tile_a_bytes(c, plan, rows, channels, room.activation_bits);
  if (c.operand_b == Place::dram) bytes += loads.b * tile_b_bytes(c, plan, channels, room.activation_bits);
  if (weighted && room.weight_bytes > 0) {
    const std::int64_t copies_read = loads.b / plan.channels.count();
    bytes += copies_read * weight_tile_bytes(c, c.work.nest.groups * c.work.nest.out_channels, room.form);
  }
  return bytes;
}

bool fits(const InstructionClass& c, const TilePlan& plan, const TileRoom& room, std::int64_t weight_buffers) {
  const TileBuffers buffers = tile_buffers(c, room);
  if (buffers.read_bytes > room.read_bytes || buffers.write_bytes > room.write_bytes) return false;
  if (room.weight_bytes == 0) return true;
  if (c.operand_b != Place::psram) return held_weight_bytes(c, room.form) <= room.weight_bytes;
  return weight_buffers * weight_tile_bytes(c, plan.tile_channels, room.form) + held_weight_bytes(c, room.form) <=
         room.weight_bytes;
}

std::optional<Mapping> choose_nest(InstructionClass c, const TileRoom& room, std::int64_t weight_buffers) {
  const LoopNest& nest = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const bool streams = c.operand_a == Place::dram || c.operand_b == Place::dram || (c.to_dram && !c.to_dsram) ||
                       std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
  const std::int64_t channels_total = weighted ? nest.groups * nest.out_channels : nest.out_channels;
  const std::int64_t group = weighted && nest.groups > 1 ? nest.out_channels : 1;
  const std::vector<std::int64_t> row_sizes = streams ? candidates(nest.out_h, 1, 1) : std::vector{nest.out_h};
  const std::vector<std::int64_t> channel_sizes =
      streams || weighted ? candidates(channels_total, group, even_channels) : std::vector{channels_total};
  std::optional<Mapping> best;
  std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool> best_cost;
  for (const std::int64_t rows : row_sizes) {
    for (const std::int64_t channels : channel_sizes) {
      for (const bool channels_outer : {true, false}) {
        c.mapping = {rows, nest.out_w, channels, nest.in_channels,
                     channels_outer ? channels_outermost : rows_outermost};
        const TilePlan plan = tile_plan(c);
        if (!fits(c, plan, room, weight_buffers)) continue;
        const std::int64_t tile = tile_out_elements(c, plan, rows, channels);
        const std::tuple cost{mapped_dram_bytes(c, plan, channels_outer, room),
                              reference_folds(c, plan, weighted),
                              streams ? std::max<std::int64_t>(0, reference_tile_elements - tile) : 0,
                              rows,
                              channels,
                              !channels_outer};
        if (best && !(cost < best_cost)) continue;
        best = c.mapping;
        best_cost = cost;
      }
    }
  }
  return best;
}

std::optional<Mapping> choose_rowwise(InstructionClass c, const TileRoom& room) {
  const Work& work = c.work;
  const auto try_mapping = [&](std::int64_t rows, std::int64_t length) {
    c.mapping = {rows, 1, length, 1};
    const TileBuffers buffers = tile_buffers(c, room);
    return buffers.read_bytes <= room.read_bytes && buffers.write_bytes <= room.write_bytes;
  };
  const bool streams = (c.to_dram && !c.to_dsram) ||
                       std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
  const std::int64_t weights = held_weight_bytes(c, room.form);
  if (room.weight_bytes > 0 && weights > room.weight_bytes) return std::nullopt;
  if (!streams) return Mapping{work.rows, 1, work.row_length, 1};
  for (std::int64_t rows = work.rows; rows > 0; rows = rows == 1 ? 0 : ceil_div(rows, 2)) {
    if (rows > 1 && rows * work.row_length > reference_chunk_elements) continue;
    if (rows == 1 && work.rows == 1 && work.row_length > reference_chunk_elements) break;
    if (try_mapping(rows, work.row_length)) return c.mapping;
  }
  for (std::int64_t chunk = reference_chunk_elements; chunk >= 64; chunk /= 2) {
    if (chunk >= work.row_length) continue;
    if (try_mapping(1, chunk)) return c.mapping;
  }
  return std::nullopt;
}

/// Bytes of the largest of `parts` equal parts of an operand.
std::int64_t split_bytes(std::int64_t elements, std::int64_t parts, std::int64_t bits) {
  return ceil_div(ceil_div(elements, parts) * bits, 8);
}

}  // namespace

TileBuffers tile_buffers(const InstructionClass& c, const TileRoom& room) {
  if (c.compound == Compound::strips) return strip_buffers(c, room);
  const TilePlan plan = tile_plan(c);
  const std::int64_t operations = plan.operations();
  const std::int64_t copies = operations > 1 ? room.buffers : 1;
  TileBuffers buffers;
  for (const Fetch& fetch : c.fetches)
    if (fetch.place == Place::dram)
      buffers.read_bytes += copies * split_bytes(fetch.elements, plan.writing_operations(), room.activation_bits);
  const bool writes_tiles = c.to_dram && !c.to_dsram;
  if (!plan.nest) {
    if (writes_tiles)
      buffers.write_bytes = copies * split_bytes(c.out_elements, plan.writing_operations(), room.activation_bits);
    return buffers;
  }
  const std::int64_t rows = std::min(plan.tile_rows, c.work.nest.out_h);
  if (c.operand_a == Place::dram)
    buffers.read_bytes += copies * tile_a_bytes(c, plan, rows, plan.tile_channels, room.activation_bits);
  if (c.operand_b == Place::dram)
    buffers.read_bytes += copies * tile_b_bytes(c, plan, plan.tile_channels, room.activation_bits);
  if (writes_tiles)
    buffers.write_bytes +=
        copies * ceil_div(tile_out_elements(c, plan, rows, plan.tile_channels) * room.activation_bits, 8);
  return buffers;
}

std::int64_t dram_bytes(const InstructionClass& c, const TileRoom& room) {
  const TilePlan plan = tile_plan(c);
  const std::int64_t bits = room.activation_bits;
  std::int64_t bytes = room.weight_bytes > 0 ? held_weight_bytes(c, room.form) : 0;
  if (plan.nest) bytes += mapped_dram_bytes(c, plan, c.mapping.outside(Loop::channels, Loop::rows), room);
  for (const Fetch& fetch : c.fetches) {
    const std::int64_t times = fetch.passes >= plan.passes_apart ? plan.passes_apart : 1;
    if (fetch.place == Place::dram) bytes += times * ceil_div(fetch.elements * bits, 8);
  }
  return bytes + (c.to_dram ? ceil_div(c.out_elements * bits, 8) : 0);
}

std::optional<Mapping> choose_mapping(const InstructionClass& c, const TileRoom& room) {
  if (c.compound == Compound::strips) return choose_strip_rows(c, room);
  if (!is_nest(c.work.family)) return choose_rowwise(c, room);
  if (const auto mapping = choose_nest(c, room, room.weight_buffers)) return mapping;
  return room.weight_buffers > 1 ? choose_nest(c, room, 1) : std::nullopt;
}

}  // namespace sdip
