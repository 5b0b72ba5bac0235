// Tiles of row-wise work.
#include "core/program/tiling/row_tiles.h"

#include <limits>

namespace sdip {
namespace {

constexpr std::int64_t reference_chunk_elements = 1 << 16;  // of row-wise work streamed through DSRAM
constexpr std::int64_t most_more_parts = 64;

/// DRAM bytes of row-wise work with its mapping if no transfer were rounded up.
std::int64_t unrounded_bytes(const InstructionClass& c, const TileRoom& room) {
  const std::int64_t passes = tile_plan(c).passes_apart;
  std::int64_t elements = c.to_dram ? c.out_elements : 0;
  for (const Fetch& fetch : c.fetches)
    if (fetch.place == Place::dram) elements += fetch.elements * (fetch.passes >= passes ? passes : 1);
  return elements * room.activation_bits / 8;
}

}  // namespace

MappingStep choose_rowwise(InstructionClass c, const TileRoom& room) {
  const Work& work = c.work;
  const AskedRoom asked(room);
  const auto try_mapping = [&](std::int64_t rows, std::int64_t length) {
    c.mapping = {rows, 1, length, 1};
    return asked.holds(tile_buffers(c, room));
  };
  const bool streams = writes_tiles(c) || fetches_from_dram(c);
  const std::int64_t weights = held_weight_bytes(c, room.form);
  const bool held = room.weight_bytes == 0 || asked.weights.holds(weights);
  if (!held || !streams)
    return {held ? std::optional(Mapping{work.rows, 1, work.row_length, 1}) : std::nullopt, asked.weights.same(),
            CapacityRange(), CapacityRange()};
  std::optional<Mapping> best;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  const auto consider = [&](std::int64_t rows, std::int64_t length) {
    const bool fits = try_mapping(rows, length);
    const std::int64_t bytes = dram_bytes(c, room);
    if (fits && bytes < fewest) best = c.mapping, fewest = bytes;
    return bytes;
  };
  // Tiles of this size, or, where their parts are rounded up, somewhat more of them that may be rounded less.
  const auto consider_near = [&](std::int64_t size, std::int64_t tile, const auto& take) {
    const std::int64_t parts = ceil_div(size, tile);
    if (take(tile) <= unrounded_bytes(c, room)) return;
    for (std::int64_t more = parts + 1; more < std::min(2 * parts, parts + most_more_parts); ++more)
      take(ceil_div(size, more));
  };
  const auto all_of_rows = [&](std::int64_t rows) { return consider(rows, work.row_length); };
  const auto chunks = [&](std::int64_t length) { return consider(1, length); };
  for (std::int64_t rows = work.rows; rows > 0; rows = rows == 1 ? 0 : ceil_div(rows, 2)) {
    if (rows > 1 && rows * work.row_length > reference_chunk_elements) continue;
    if (rows == 1 && work.rows == 1 && work.row_length > reference_chunk_elements) break;
    consider_near(work.rows, rows, all_of_rows);
  }
  for (std::int64_t chunk = reference_chunk_elements; chunk >= 64; chunk /= 2)
    if (chunk < work.row_length) consider_near(work.row_length, chunk, chunks);
  // The same tiles are tried in every room, so the first of fewest bytes is also that of any smaller room that
  // holds it.
  if (best) c.mapping = *best;
  const TileBuffers needed = best ? tile_buffers(c, room) : TileBuffers();
  return {best,
          asked.weights.same(),
          {needed.read_bytes, asked.read.same().most},
          {needed.write_bytes, asked.write.same().most}};
}

}  // namespace sdip
