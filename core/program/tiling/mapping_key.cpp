// The key of all that a mapping depends on.
#include "core/program/tiling/mapping_key.h"

#include <algorithm>

namespace sdip {
namespace {

/// The conditions that decide which parts of a class and its room matter.
struct Asks {
  bool single, nest, weighted, reads, writes, held;
  explicit Asks(const InstructionClass& c)
      : single(c.compound == Compound::single),
        nest(is_nest(c.work.family)),
        weighted(single && nest && c.operand_b == Place::psram),
        reads(c.operand_a == Place::dram || c.operand_b == Place::dram ||
              std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; })),
        writes(c.to_dram && !c.to_dsram),
        held(c.weight_elements > 0) {}
};

/// On chip one place is as good as another.
Place place_asked(Place place) { return place == Place::dram || place == Place::psram ? place : Place::dsram; }

/// The most bytes that tiles of everything take which passes a side of DSRAM, each rounded up.
std::int64_t most_bytes(std::int64_t elements, std::int64_t bits, std::int64_t tiles) {
  constexpr std::int64_t rounding = 64, countless = std::int64_t{1} << 50;
  return elements > countless ? elements : tiles * (ceil_div(elements * bits, 8) + rounding);
}

/// Bounds each side's room by the most that a single operator can use, so that larger rooms have the same key.
void bound_sides(const InstructionClass& c, const Asks& asks, TileRoom& room) {
  std::int64_t read = 0, written = c.out_elements, operands = 2;
  for (const Fetch& fetch : c.fetches)
    if (fetch.place == Place::dram) read += std::max(fetch.elements, c.out_elements), ++operands;
  if (asks.nest) {
    const Compulsory once = compulsory({c.work.nest, asks.weighted});
    written = std::max(written, once.out);
    if (c.operand_a == Place::dram) read += once.a;
    if (c.operand_b == Place::dram) read += once.b;
  }
  const std::int64_t bits = std::max(room.activation_bits, room.accumulator_bits);
  room.read_bytes =
      asks.reads ? std::min(room.read_bytes, operands * most_bytes(read, room.activation_bits, room.buffers)) : 0;
  room.write_bytes = std::min(room.write_bytes, most_bytes(written, bits, room.buffers));
}

TileRoom room_asked(const InstructionClass& c, TileRoom room, const Asks& asks) {
  if (!asks.single) return room;
  if (!asks.weighted) {
    const WeightForm form = room.form;
    room.form = {};
    if (asks.held)
      room.form.vector_bits = form.vector_bits;
    else
      room.weight_bytes = 0;
    room.weight_buffers = 1;
    room.weights_stay = room.weights_multiply = false;
  }
  if (!asks.nest) room.accumulator_bits = 0, room.search = {}, room.goal = {};
  if (!asks.reads && !asks.writes) room.buffers = 1;
  bound_sides(c, asks, room);
  return room;
}

void add(MappingKey& key, const LoopNest& n) {
  key.insert(key.end(), {n.groups, n.batch, n.out_channels, n.in_channels, n.out_h, n.out_w, n.in_h, n.in_w,
                         n.kernel_h, n.kernel_w, n.stride_h, n.stride_w, n.dilation_h, n.dilation_w, n.pad_top,
                         n.pad_left, n.pad_bottom, n.pad_right});
}

void add(MappingKey& key, const TileRoom& room) {
  const WeightForm& f = room.form;
  key.insert(key.end(),
             {room.weight_bytes > 0 ? 1 : 0, room.buffers * 4 + room.weight_buffers, room.activation_bits,
              room.accumulator_bits,
              static_cast<std::int64_t>(room.search) * 16 + static_cast<std::int64_t>(room.goal) * 4 +
                  (room.weights_stay ? 2 : 0) + (room.weights_multiply ? 1 : 0),
              room.burst_bytes, f.bits, f.scale_bits_per_channel, f.density_hundredths, f.compression_hundredths,
              f.skipping ? 1 : 0, f.group, f.vector_bits, f.scale_group, f.scale_group_bits});
}

/// Its fetches from DRAM, or of a compound all; of a nest, which reads each once, without passes.
void add(MappingKey& key, const std::vector<Fetch>& fetches, bool single, bool nest) {
  for (const Fetch& f : fetches) {
    if (single && f.place != Place::dram) continue;
    key.push_back(f.elements);
    if (!single || !nest) key.push_back(f.passes);
    if (!single) key.push_back(static_cast<std::int64_t>(f.place) * 2 + (f.per_fold ? 1 : 0));
  }
  key.push_back(-1);
}

void add(MappingKey& key, const Part& part) {
  const Work& w = part.work;
  add(key, w.nest);
  key.insert(key.end(), {static_cast<std::int64_t>(w.family),
                         w.rows,
                         w.row_length,
                         w.passes,
                         w.write_elements,
                         w.element_cycles,
                         static_cast<std::int64_t>(part.operand_b),
                         part.out_elements,
                         part.fused_operators,
                         part.fused_passes,
                         part.prologue_passes,
                         part.statistics_passes,
                         part.weight_elements_per_channel,
                         part.bias_elements_per_channel,
                         part.weight_elements,
                         part.read_elements,
                         part.rows_beside,
                         part.a_beside,
                         part.streamed_channels,
                         part.tile_channels});
  key.insert(key.end(), w.read_elements.begin(), w.read_elements.end());
  key.push_back(-1);
  add(key, part.fetches, false, false);
}

void add_compound(MappingKey& key, const InstructionClass& c) {
  const Work& w = c.work;
  add(key, w.nest);
  key.insert(key.end(), {static_cast<std::int64_t>(w.family), w.rows, w.row_length, w.passes,
                         c.weight_elements_per_channel, c.bias_elements_per_channel, c.spread_cores,
                         (c.prologue_sums ? 4 : 0) + (c.line_buffers ? 2 : 0) + (c.shares_channels ? 1 : 0)});
  for (const Part& part : c.parts) add(key, part);
}

}  // namespace

TileRoom room_asked(const InstructionClass& c, const TileRoom& room) { return room_asked(c, room, Asks(c)); }

MappingKey mapping_key(const InstructionClass& c, const TileRoom& room) {
  const Asks asks(c);
  MappingKey key;
  add(key, room);
  key.insert(key.end(), {static_cast<std::int64_t>(c.compound) * 2 + (asks.nest ? 1 : 0),
                         static_cast<std::int64_t>(place_asked(c.operand_a)) * 8 +
                             static_cast<std::int64_t>(place_asked(c.operand_b)),
                         (c.to_dram ? 2 : 0) + (asks.writes ? 1 : 0), c.out_elements, c.weight_elements});
  add(key, c.fetches, asks.single, asks.nest);
  if (!asks.single) {
    add_compound(key, c);
  } else if (asks.nest) {
    add(key, c.work.nest);
    key.push_back(c.prologue_sums ? 1 : 0);
    if (asks.weighted)
      key.insert(key.end(), {c.weight_elements_per_channel, c.bias_elements_per_channel, c.spread_cores});
  } else {
    key.insert(key.end(), {c.work.rows, c.work.row_length, c.work.passes});
  }
  return key;
}

MappingQuestion mapping_question(const InstructionClass& c, const TileRoom& room) {
  const Asks asks(c);
  MappingQuestion asked{{}, room};
  InstructionClass& q = asked.c;
  q.compound = c.compound;
  q.operand_a = place_asked(c.operand_a), q.operand_b = place_asked(c.operand_b);
  q.to_dram = c.to_dram, q.to_dsram = !asks.writes;
  q.out_elements = c.out_elements, q.weight_elements = c.weight_elements;
  q.fetches = c.fetches;
  for (Fetch& fetch : q.fetches) fetch.pair = {};
  if (asks.nest || !asks.single) q.prologue_sums = c.prologue_sums;
  if (asks.weighted || !asks.single) {
    q.weight_elements_per_channel = c.weight_elements_per_channel;
    q.bias_elements_per_channel = c.bias_elements_per_channel;
    q.spread_cores = c.spread_cores;
  }
  if (!asks.single) {
    q.work = c.work, q.parts = c.parts, q.line_buffers = c.line_buffers, q.shares_channels = c.shares_channels;
    return asked;
  }
  std::erase_if(q.fetches, [](const Fetch& f) { return f.place != Place::dram; });
  for (Fetch& fetch : q.fetches) {
    fetch.per_fold = false;
    if (asks.nest) fetch.passes = 1;
  }
  if (!asks.nest) {
    q.work.rows = c.work.rows, q.work.row_length = c.work.row_length, q.work.passes = c.work.passes;
    return asked;
  }
  q.work.family = Family::linear;
  q.work.nest = c.work.nest;
  return asked;
}

}  // namespace sdip
