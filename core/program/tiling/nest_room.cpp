// The room that mappings of a nest take, and what a search for one learns of it.
#include "core/program/tiling/nest_room.h"

#include "core/program/tiling/row_tiles.h"

namespace sdip {
namespace {

/// Full-size operands of fused operators that lie in DRAM: each has a tile as large as the results'.
std::int64_t full_size_fetches(const InstructionClass& c) {
  return std::ranges::count_if(
      c.fetches, [&](const Fetch& f) { return f.place == Place::dram && f.elements == c.out_elements; });
}

/// Room of one weight in a tile of many, in parts of a bit; with groups it is a share of a whole group's.
std::int64_t element_room(const WeightForm& form) {
  if (form.scale_group > 0) return form.bits * bit_parts + form.scale_group_bits * bit_parts / form.scale_group;
  if (!form.skipping || form.group == 0)
    return form.bits * form.density_hundredths * (bit_parts / 100) + (form.skipping ? bit_parts : 0);
  const GroupPattern pattern = group_pattern(form.group, form.density_hundredths);
  return pattern.stay * (form.bits + pattern.index_bits()) * bit_parts / pattern.group;
}

std::int64_t weight_bytes_on_chip(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers) {
  std::int64_t bytes = held_weight_bytes(c, room.form);
  if (c.operand_b == Place::psram) {
    InstructionClass tile = c;
    const std::int64_t sums = std::min(c.mapping.tile_sums, c.work.nest.in_channels);
    tile.weight_elements_per_channel = ceil_div(c.weight_elements_per_channel * sums, c.work.nest.in_channels);
    tile.work.nest.in_channels = sums;
    bytes += weight_buffers * weight_parts(c) * weight_tile_bytes(tile, c.mapping.tile_channels, room.form);
  }
  return bytes;
}

/// The room in bytes that a capacity in hundredths of a bit stands for, `tiles` of which lie behind `held` bytes.
CapacityRange room_of(const CapacityRange& same, std::int64_t held, std::int64_t tiles) {
  constexpr std::int64_t a_byte = 8 * bit_parts;
  CapacityRange room;
  if (same.least > 0) room.least = held + tiles * ceil_div(same.least, a_byte);
  if (same.most != room.most) room.most = held + tiles * (same.most / a_byte + 1) - 1;
  return room;
}

bool streams_weights(const InstructionClass& c, const TileRoom& room) {
  return c.operand_b == Place::psram && room.weight_bytes > 0;
}

}  // namespace

TileTerms terms_of(const InstructionClass& c, const Nest& nest, const TileRoom& room, std::int64_t weight_buffers) {
  const LoopNest& n = nest.loops;
  const Compulsory once = compulsory(nest);
  const std::int64_t bits = room.activation_bits * bit_parts, sums_bits = room.accumulator_bits * bit_parts;
  TileTerms terms;
  terms.capacity = {room.read_bytes * 8 * bit_parts, most_words, room.write_bytes * 8 * bit_parts};
  terms.b_memory = nest.weighted ? 1 : 0, terms.out_memory = 2;
  if (c.operand_a == Place::dram) terms.a_price = bits, terms.a_room = bits * room.buffers;
  if (c.operand_b == Place::dram) terms.b_price = once.b * bits, terms.b_room = bits * room.buffers;
  if (nest.weighted && room.weight_bytes > 0) {
    const std::int64_t held = held_weight_bytes(c, room.form);
    const std::int64_t an_element = element_room(room.form);
    terms.capacity[1] = (room.weight_bytes - held) / (weight_buffers * weight_parts(c)) * 8 * bit_parts;
    terms.b_price = stored_bytes(weight_tile_bytes(c, nest.channels(), room.form), room.form) * 8 * bit_parts;
    if (room.weights_stay) terms.b_price = 1;  // of equal bytes the fewest loads
    terms.b_room = ceil_div(c.weight_elements_per_channel * an_element, n.in_channels * n.kernel_h * n.kernel_w);
    terms.b_channel_room =
        (c.bias_elements_per_channel * room.form.vector_bits + room.form.scale_bits_per_channel) * bit_parts;
  }
  terms.beside_memory = 0;
  terms.beside_room = full_size_fetches(c) * bits * room.buffers;
  terms.partials_leave = writes_tiles(c);
  terms.price_a_cycle = reference_dram_bytes * 8 * bit_parts;
  terms.sums_room = sums_bits;
  if (!writes_tiles(c)) return terms;
  terms.out_price = once.out * bits, terms.partials_price = once.out * sums_bits;
  terms.out_room = bits * room.buffers, terms.sums_room = sums_bits * room.buffers;
  return terms;
}

RoomTaken taken_by(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers) {
  const TileBuffers buffers = tile_buffers(c, room);
  const bool streams_weights = c.operand_b == Place::psram && room.weight_bytes > 0;
  return {buffers.read_bytes, buffers.write_bytes,
          room.weight_bytes > 0 ? weight_bytes_on_chip(c, room, streams_weights ? weight_buffers : 1) : 0};
}

bool fits_in(const InstructionClass& c, const TileRoom& room, const AskedRoom& asked, std::int64_t weight_buffers) {
  if (!asked.holds(tile_buffers(c, room))) return false;
  return room.weight_bytes == 0 || asked.weights.holds(weight_bytes_on_chip(c, room, weight_buffers));
}

std::optional<RoomTaken> needed_by(const InstructionClass& c, const TileRoom& room, std::int64_t weight_buffers) {
  const Nest nest = nest_of(c);
  RoomTaken needed = taken_by(c, room, weight_buffers);
  if (tile_counts(nest, c.mapping).operations() == 1) return needed;
  const auto rooms = rounded_rooms(nest, terms_of(c, nest, room, weight_buffers), c.mapping);
  if (!rooms) return std::nullopt;
  const auto least = [&](std::size_t memory, std::int64_t held, std::int64_t tiles) {
    return room_of({rooms->at(memory), CapacityRange().most}, held, tiles).least;
  };
  needed.include(
      {least(0, 0, 1), least(2, 0, 1),
       streams_weights(c, room) ? least(1, held_weight_bytes(c, room.form), weight_buffers * weight_parts(c)) : 0});
  return needed;
}

void narrow_rooms(MappingStep& step, const InstructionClass& c, const TileRoom& room, const TileRoom& within,
                  const AskedRoom& asked, const TileTerms& terms, std::int64_t weight_buffers) {
  if (within.read_bytes == room.read_bytes) {
    step.read_room.narrow(asked.read.same());
    step.read_room.narrow(room_of(terms.capacity[0].same(), 0, 1));
  }
  if (within.write_bytes == room.write_bytes) {
    step.write_room.narrow(asked.write.same());
    step.write_room.narrow(room_of(terms.capacity[2].same(), 0, 1));
  }
  if (within.weight_bytes < room.weight_bytes) return;
  step.weight_room.narrow(asked.weights.same());
  if (streams_weights(c, room))
    step.weight_room.narrow(
        room_of(terms.capacity[1].same(), held_weight_bytes(c, room.form), weight_buffers * weight_parts(c)));
}

}  // namespace sdip
