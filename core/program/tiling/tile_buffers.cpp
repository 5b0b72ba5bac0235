// The tile buffers of an instruction with its mapping.
#include "core/program/tiling/attention_tiles.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/row_tiles.h"
#include "core/program/tiling/strips.h"

namespace sdip {
namespace {

/// Bytes of the largest of `parts` equal parts of an operand.
std::int64_t split_bytes(std::int64_t elements, std::int64_t parts, std::int64_t bits) {
  return ceil_div(ceil_div(elements, parts) * bits, 8);
}

}  // namespace

TileBuffers tile_buffers(const InstructionClass& c, const TileRoom& room) {
  if (c.compound == Compound::strips) return strip_buffers(c, room);
  if (c.compound == Compound::attention) return attention_buffers(c, room);
  TileBuffers buffers;
  if (!is_nest(c.work.family)) {
    const TilePlan plan = tile_plan(c);
    const std::int64_t copies = plan.operations() > 1 ? room.buffers : 1;
    for (const Fetch& fetch : c.fetches)
      if (fetch.place == Place::dram)
        buffers.read_bytes += copies * split_bytes(fetch.elements, plan.writing_operations(), room.activation_bits);
    if (writes_tiles(c))
      buffers.write_bytes = copies * split_bytes(c.out_elements, plan.writing_operations(), room.activation_bits);
    return buffers;
  }
  const Nest nest = nest_of(c);
  const TileCounts counts = tile_counts(nest, c.mapping);
  const TileWords tile = tile_words(nest, c.mapping);
  const std::int64_t copies = counts.operations() > 1 ? room.buffers : 1;
  const std::int64_t results = counts.operations() / counts.sums;
  const auto bytes = [](std::int64_t words, std::int64_t bits) { return ceil_div(words * bits, 8); };
  for (const Fetch& fetch : c.fetches)
    if (fetch.place == Place::dram)
      buffers.read_bytes +=
          copies * (fetch.elements == c.out_elements ? bytes(tile.out, room.activation_bits)
                                                     : split_bytes(fetch.elements, results, room.activation_bits));
  if (c.operand_a == Place::dram) buffers.read_bytes += copies * bytes(tile.a, room.activation_bits);
  if (c.operand_b == Place::dram) buffers.read_bytes += copies * bytes(tile.b, room.activation_bits);
  const std::int64_t out_bits = counts.sums > 1 ? room.accumulator_bits : room.activation_bits;
  if (writes_tiles(c) || counts.sums > 1)
    buffers.write_bytes += (writes_tiles(c) ? copies : 1) * bytes(tile.out, out_bits);
  return buffers;
}

}  // namespace sdip
