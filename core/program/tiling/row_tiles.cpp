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

std::optional<Mapping> choose_rowwise(InstructionClass c, const TileRoom& room, const AskedCapacity& all_weights) {
  const Work& work = c.work;
  const auto try_mapping = [&](std::int64_t rows, std::int64_t length) {
    c.mapping = {rows, 1, length, 1};
    const TileBuffers buffers = tile_buffers(c, room);
    return buffers.read_bytes <= room.read_bytes && buffers.write_bytes <= room.write_bytes;
  };
  const bool streams = writes_tiles(c) || fetches_from_dram(c);
  const std::int64_t weights = held_weight_bytes(c, room.form);
  if (room.weight_bytes > 0 && !all_weights.holds(weights)) return std::nullopt;
  if (!streams) return Mapping{work.rows, 1, work.row_length, 1};
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
  return best;
}

}  // namespace sdip
