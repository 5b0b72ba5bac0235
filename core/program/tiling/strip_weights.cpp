// Which weights of a chain of strips PSRAM holds, and which come again for each strip.
#include <algorithm>

#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

/// A part's weights that may be streamed: by output channel, of one group.
bool can_stream(const Part& part) {
  return is_nest(part.work.family) && part.operand_b == Place::psram && part.work.nest.groups == 1;
}

std::int64_t held_bytes(const Part& part, const WeightForm& form) {
  const std::int64_t channels = part_channels(part) - part.streamed_channels;
  const bool weights = part.operand_b == Place::psram && channels > 0;
  return ceil_div(part.weight_elements * form.vector_bits, 8) +
         (weights ? strip_tile_bytes(part, channels, form) : 0);
}

std::int64_t whole_tile(const Part& part, std::int64_t granule) { return std::min(granule, part_channels(part)); }

/// How many channels of a part may be streamed in tiles of at most `granule` channels and `tile_bytes`: all, or as
/// many as are one tile.
std::int64_t most_streamed(const Part& part, std::int64_t granule, std::int64_t tile_bytes,
                           const WeightForm& form) {
  std::int64_t fitting = 0, too_many = whole_tile(part, granule) + 1;
  while (too_many - fitting > 1) {
    const std::int64_t middle = (fitting + too_many) / 2;
    (strip_tile_bytes(part, middle, form) <= tile_bytes ? fitting : too_many) = middle;
  }
  return fitting == whole_tile(part, granule) ? part_channels(part) : fitting;
}

void hold_all(std::vector<Part>& parts) {
  for (Part& part : parts) part.streamed_channels = part.tile_channels = 0;
}

void stream(Part& part, std::int64_t channels, std::int64_t granule) {
  part.streamed_channels = channels;
  part.tile_channels = std::min(granule, channels);
}

/// Streams as few channels of the parts as let the others fit beside so many tiles, all being at most `tile_bytes`;
/// false when that cannot be.
bool stream_tiles(std::vector<Part>& parts, std::int64_t granule, std::int64_t tile_bytes, std::int64_t buffers,
                  const AskedCapacity& weights, const WeightForm& form) {
  const auto fits = [&](std::int64_t held) { return weights.holds(held + buffers * tile_bytes); };
  hold_all(parts);
  std::int64_t held = 0;
  for (const Part& part : parts) held += held_bytes(part, form);
  for (Part& part : parts) {
    if (fits(held)) return true;
    if (!can_stream(part)) continue;
    held -= held_bytes(part, form);
    std::int64_t enough = most_streamed(part, granule, tile_bytes, form), too_few = 0;
    stream(part, enough, granule);
    if (fits(held + held_bytes(part, form))) {
      while (enough - too_few > 1) {
        stream(part, (enough + too_few) / 2, granule);
        (fits(held + held_bytes(part, form)) ? enough : too_few) = part.streamed_channels;
      }
      stream(part, enough, granule);
    }
    held += held_bytes(part, form);
  }
  return fits(held);
}

/// The best way with tiles of at most `granule` channels; false when nothing fits. Streaming makes room for what
/// does not fit and for the tiles on their way: the smallest tiles that do are those of fewest bytes.
bool stream_best(InstructionClass& c, const WeightForm& form, const AskedCapacity& weights, std::int64_t granule,
                 std::int64_t buffers) {
  std::vector<std::int64_t> tiles;
  for (const Part& part : c.parts)
    for (std::int64_t channels = can_stream(part) ? whole_tile(part, granule) : 0; channels > 0; --channels)
      tiles.push_back(strip_tile_bytes(part, channels, form));
  std::ranges::sort(tiles);
  tiles.erase(std::unique(tiles.begin(), tiles.end()), tiles.end());
  return std::ranges::any_of(
      tiles, [&](std::int64_t tile) { return stream_tiles(c.parts, granule, tile, buffers, weights, form); });
}

}  // namespace

std::vector<StripOperation> strip_operations(const InstructionClass& c) {
  std::vector<StripOperation> operations;
  if (std::ranges::all_of(c.parts, [](const Part& part) { return part.streamed_channels == 0; })) return operations;
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    const Part& part = c.parts[p];
    const std::int64_t held = part_channels(part) - part.streamed_channels;
    if (held > 0) operations.push_back({p, held, 1, false});
    if (part.streamed_channels == 0) continue;
    const Cut tiles = cut(part.streamed_channels, part.tile_channels);
    if (tiles.full > 0) operations.push_back({p, part.tile_channels, tiles.full, true});
    if (tiles.edge > 0) operations.push_back({p, tiles.edge, 1, true});
  }
  return operations;
}

std::int64_t strip_operation_count(const InstructionClass& c) {
  std::int64_t of_a_strip = 0;
  for (const StripOperation& one : strip_operations(c)) of_a_strip += one.times;
  return strip_plan(c).operations() * std::max<std::int64_t>(1, of_a_strip);
}

std::int64_t strip_tile_bytes(const Part& part, std::int64_t channels, const WeightForm& form) {
  return channel_bytes(part.weight_elements_per_channel, part.bias_elements_per_channel, part.work.nest.in_channels,
                       channels, true, form);
}

std::int64_t strip_held_bytes(const InstructionClass& c, const WeightForm& form) {
  std::int64_t bytes = 0;
  for (const Part& part : c.parts) bytes += held_bytes(part, form);
  return bytes;
}

std::int64_t largest_strip_tile_bytes(const InstructionClass& c, const WeightForm& form) {
  std::int64_t bytes = 0;
  for (const Part& part : c.parts)
    if (part.streamed_channels > 0)
      bytes = std::max(bytes, strip_tile_bytes(part, std::min(part.tile_channels, part.streamed_channels), form));
  return bytes;
}

bool stream_weights(InstructionClass& c, const TileRoom& room, const AskedCapacity& weights) {
  hold_all(c.parts);
  if (room.weight_bytes == 0 || weights.holds(strip_held_bytes(c, room.form))) return true;
  for (std::int64_t buffers = room.weight_buffers; buffers > 0; --buffers)
    for (const std::int64_t granule : {even_channels, std::int64_t{1}})
      if (stream_best(c, room.form, weights, granule, buffers)) return true;
  hold_all(c.parts);
  return false;
}

}  // namespace sdip
