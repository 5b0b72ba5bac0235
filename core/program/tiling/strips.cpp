// How a compound instruction carries strips through a chain.
#include "core/program/tiling/strips.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"

namespace sdip {
namespace {

std::int64_t rows_read(const Part& part, std::int64_t made) {
  const LoopNest& nest = part.work.nest;
  if (!is_nest(part.work.family) && nest.out_h > nest.in_h)
    return std::min(nest.in_h, ceil_div(made - 1, nest.out_h / nest.in_h) + 1);
  return std::min(nest.in_h, (made - 1) * nest.stride_h + (nest.kernel_h - 1) * nest.dilation_h + 1);
}

std::int64_t out_row_elements(const Part& part) {
  const LoopNest& nest = part.work.nest;
  return nest.out_w * nest.groups * nest.out_channels;
}

/// The second activations of one frame, which the strips of a product hold where they come from DRAM.
std::int64_t held_b_elements(const Part& part) {
  const LoopNest& nest = part.work.nest;
  const bool comes = is_nest(part.work.family) && part.operand_b == Place::dram;
  return comes ? nest.groups * nest.in_channels * nest.out_channels : 0;
}

/// Rows of operand A that a part reads beside: in the tile that came, or where A lies.
Fetch a_beside(const InstructionClass& c, std::int64_t elements) {
  if (c.operand_a == Place::dram) return {Place::dsram, elements, 1, true};
  return {c.operand_a, elements, 1, true, c.pair_a};
}

/// An equal part of what is held, for each of a part's operations.
std::int64_t held_share(const InstructionClass& c, std::size_t number, std::int64_t elements) {
  std::int64_t operations = 0;
  for (const StripOperation& one : strip_operations(c)) operations += one.part == number ? one.times : 0;
  return ceil_div(elements, strip_plan(c).operations() * std::max<std::int64_t>(1, operations));
}

/// Bytes that a part's operands beside move in one operation.
std::int64_t beside_bytes(const InstructionClass& c, std::size_t number, std::int64_t made, std::int64_t channels,
                          std::int64_t bits) {
  const Part& part = c.parts[number];
  std::int64_t sum = 0;
  for (const Fetch& fetch : part.fetches)
    if (fetch.place == Place::dram)
      sum += element_bytes(strip_fetch_elements(c, number, fetch, made, channels), bits);
  return sum + element_bytes(held_share(c, number, part.work.nest.batch * held_b_elements(part)), bits);
}

/// Calls each(times, rows) for full strips and for the edge.
template <class Each>
void each_strip(const InstructionClass& c, Each each) {
  const TilePlan plan = strip_plan(c);
  if (plan.rows.full > 0) each(plan.repeats * plan.rows.full, plan.tile_rows);
  if (plan.rows.edge > 0) each(plan.repeats, plan.rows.edge);
}

}  // namespace

StripRows strip_rows(const InstructionClass& c, std::int64_t rows) {
  const std::size_t parts = c.parts.size();
  const std::int64_t last_h = c.parts.back().work.nest.out_h;
  StripRows strip{std::vector<std::int64_t>(parts), std::vector<std::int64_t>(parts), 0};
  std::int64_t needed = rows;
  for (std::size_t p = parts; p-- > 0;) {
    strip.made[p] = c.line_buffers ? ceil_div(rows * c.parts[p].work.nest.out_h, last_h) : needed;
    needed = strip.window[p] = rows_read(c.parts[p], strip.made[p]);
  }
  const std::int64_t in_h = c.parts.front().work.nest.in_h;
  strip.loaded = c.line_buffers ? std::min(in_h, ceil_div(rows * in_h, last_h)) : needed;
  return strip;
}

TilePlan strip_plan(const InstructionClass& c) {
  const LoopNest& last = c.parts.back().work.nest;
  TilePlan plan;
  plan.nest = true;
  plan.repeats = last.batch;
  plan.tile_rows = std::min(c.mapping.tile_rows, last.out_h);
  plan.rows = cut(last.out_h, plan.tile_rows);
  return plan;
}

std::int64_t part_channels(const Part& part) { return part.work.nest.groups * part.work.nest.out_channels; }

std::int64_t strip_fetch_elements(const InstructionClass& c, std::size_t number, const Fetch& fetch,
                                  std::int64_t made, std::int64_t channels) {
  const Part& part = c.parts.at(number);
  if (fetch.per_fold) return made * part.work.nest.out_w * channels;
  return held_share(c, number, fetch.elements);
}

InstructionClass part_class(const InstructionClass& c, std::size_t number, const StripRows& rows,
                            std::int64_t channels) {
  const Part& part = c.parts.at(number);
  const bool last = number + 1 == c.parts.size();
  const bool reads_a = works_on_a(c.parts, number);
  const std::int64_t made = rows.made[number];
  InstructionClass one;
  static_cast<FusedOperator&>(one) = static_cast<const FusedOperator&>(part);
  one.operand_a = reads_a ? c.operand_a : Place::dsram;
  if (reads_a) one.pair_a = c.pair_a;
  one.to_dsram = !last || c.to_dsram;
  one.push = last && c.push;
  one.to_dram = last && c.to_dram;
  one.out_elements = made * part.work.nest.out_w * channels;
  one.weight_elements_per_channel = part.weight_elements_per_channel;
  one.bias_elements_per_channel = part.bias_elements_per_channel;
  LoopNest& nest = one.work.nest;
  const std::int64_t frame_rows = nest.batch * nest.out_h;
  const std::int64_t in = reads_a ? rows.loaded : rows.window[number];
  nest.batch = 1;
  nest.out_h = made;
  nest.in_h = in;
  nest.pad_top = nest.pad_bottom = 0;
  if (channels < part_channels(part)) nest.out_channels = channels;  // of a part of one group
  one.mapping = {made, nest.out_w, channels, nest.in_channels, rows_outermost};
  const std::int64_t on_chip = part.rows_beside + (is_branch(part) ? 1 : 0);
  for (std::int64_t i = 0; i < on_chip; ++i) one.fetches.push_back({Place::dsram, one.out_elements, 1, true});
  for (std::int64_t i = 0; i < part.a_beside; ++i) one.fetches.push_back(a_beside(c, one.out_elements));
  if (part.work.family == Family::norm || part.work.family == Family::softmax) {
    one.work.rows = made * nest.groups;
    one.work.write_elements = one.out_elements;
    one.mapping = {one.work.rows, 1, part.work.row_length, 1};
    one.fetches.push_back({one.operand_a, one.out_elements, part.work.passes, true, one.pair_a});
    one.operand_a = Place::nowhere;
    one.work.nest = {};
  } else if (!is_nest(part.work.family)) {
    one.work.row_length = part.work.row_length / frame_rows * made;
    one.work.write_elements = one.out_elements;
    one.mapping = {1, 1, one.work.row_length, 1};
    const bool per_fold = part.read_elements == part.work.row_length;
    const std::int64_t read = in * nest.in_w * nest.groups * nest.in_channels;
    one.fetches.push_back({one.operand_a, per_fold ? one.work.row_length : read, 1, per_fold, one.pair_a});
    one.operand_a = Place::nowhere;
    one.work.nest = {};
  }
  for (Fetch fetch : part.fetches) {
    fetch.elements = strip_fetch_elements(c, number, fetch, made, channels);
    one.fetches.push_back(fetch);
  }
  return one;
}

std::int64_t strip_a_elements(const InstructionClass& c, std::int64_t rows) {
  const LoopNest& nest = c.parts.front().work.nest;
  return rows * nest.in_w * nest.groups * nest.in_channels;
}

std::int64_t strip_out_elements(const InstructionClass& c, std::int64_t rows, std::int64_t channels) {
  return c.out_elements > 0 ? rows * c.parts.back().work.nest.out_w * channels : 0;
}

TileBuffers strip_buffers(const InstructionClass& c, const TileRoom& room) {
  const TilePlan plan = strip_plan(c);
  const StripRows rows = strip_rows(c, std::min(plan.tile_rows, c.parts.back().work.nest.out_h));
  const std::int64_t copies = plan.operations() > 1 ? room.buffers : 1, bits = room.activation_bits;
  TileBuffers buffers;
  if (c.operand_a == Place::dram) {
    const std::int64_t kept = c.line_buffers ? rows.window[0] - rows.loaded : 0;  // beside what comes in
    buffers.read_bytes += copies * element_bytes(strip_a_elements(c, rows.loaded), bits) +
                          element_bytes(strip_a_elements(c, std::max<std::int64_t>(0, kept)), bits);
  }
  std::int64_t between[2] = {0, 0};
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    for (const Fetch& fetch : c.parts[p].fetches)
      if (fetch.place == Place::dram)
        buffers.read_bytes +=
            copies *
            element_bytes(strip_fetch_elements(c, p, fetch, rows.made[p], part_channels(c.parts[p])), bits);
    buffers.read_bytes += element_bytes(held_b_elements(c.parts[p]), bits);
    if (p + 1 == c.parts.size()) continue;
    const std::int64_t held = std::max(rows.made[p], rows.window[p + 1]) * out_row_elements(c.parts[p]);
    std::int64_t& side = between[p % 2];
    side = c.line_buffers ? side + element_bytes(held, bits) : std::max(side, element_bytes(held, bits));
  }
  buffers.write_bytes += between[0];
  buffers.read_bytes += between[1];
  if (c.to_dram && !c.to_dsram)
    buffers.write_bytes +=
        copies * element_bytes(strip_out_elements(c, rows.made.back(), part_channels(c.parts.back())), bits);
  return buffers;
}

std::optional<Mapping> choose_strip_rows(const InstructionClass& c, const TileRoom& room,
                                         const AskedCapacity& weights) {
  const LoopNest& last = c.parts.back().work.nest;
  InstructionClass tried = c;
  if (!stream_weights(tried, room, weights)) return std::nullopt;
  const auto fits = [&](std::int64_t rows) {
    tried.mapping = {rows, last.out_w, last.groups * last.out_channels, last.in_channels, rows_outermost};
    const TileBuffers buffers = strip_buffers(tried, room);
    return buffers.read_bytes <= room.read_bytes && buffers.write_bytes <= room.write_bytes;
  };
  if (fits(last.out_h)) return tried.mapping;
  std::int64_t fitting = 0, too_many = last.out_h;
  while (too_many - fitting > 1) {
    const std::int64_t middle = (fitting + too_many) / 2;
    (fits(middle) ? fitting : too_many) = middle;
  }
  if (fitting == 0) return std::nullopt;
  fits(ceil_div(last.out_h, ceil_div(last.out_h, fitting)));  // as many strips, equally tall
  return tried.mapping;
}

std::int64_t strip_dram_bytes(const InstructionClass& c, const TileRoom& room) {
  const std::int64_t bits = room.activation_bits;
  const auto transfer = [&](std::int64_t bytes) { return ceil_div(bytes, room.burst_bytes) * room.burst_bytes; };
  const std::vector<StripOperation> operations = strip_operations(c);
  const bool weights_move = room.weight_bytes > 0;
  const bool one_tile = operations.size() == 1 && operations[0].times == 1;  // which each strip finds there
  std::int64_t bytes = weights_move ? transfer(held_stored_bytes(c, room.form)) : 0;
  const auto streamed = [&](const StripOperation& o) {
    if (!o.streamed || !weights_move) return std::int64_t{0};
    return transfer(stored_bytes(strip_tile_bytes(c.parts[o.part], o.channels, room.form), room.form));
  };
  each_strip(c, [&](std::int64_t times, std::int64_t rows) {
    const StripRows strip = strip_rows(c, rows);
    const auto fetched = [&](std::size_t part, std::int64_t channels) {
      return beside_bytes(c, part, strip.made[part], channels, bits);
    };
    const auto results = [&](std::int64_t channels) {
      return c.to_dram ? transfer(element_bytes(strip_out_elements(c, rows, channels), bits)) : 0;
    };
    std::int64_t once =
        c.operand_a == Place::dram ? transfer(element_bytes(strip_a_elements(c, strip.loaded), bits)) : 0;
    if (operations.empty()) {
      std::int64_t together = 0;
      for (std::size_t p = 0; p < c.parts.size(); ++p) together += fetched(p, part_channels(c.parts[p]));
      once += transfer(together) + results(part_channels(c.parts.back()));
    }
    for (const StripOperation& o : operations) {
      std::int64_t moved = transfer(fetched(o.part, o.channels));
      if (!one_tile) moved += streamed(o);
      if (o.part + 1 == c.parts.size()) moved += results(o.channels);
      once += o.times * moved;
    }
    bytes += times * once;
  });
  return one_tile ? bytes + streamed(operations[0]) : bytes;
}

std::int64_t strip_macs(const InstructionClass& c) {
  Int128 macs = 0;
  each_strip(c, [&](std::int64_t times, std::int64_t rows) {
    const StripRows strip = strip_rows(c, rows);
    for (std::size_t p = 0; p < c.parts.size(); ++p)
      if (is_nest(c.parts[p].work.family))
        macs +=
            static_cast<Int128>(times) * mac_count(part_class(c, p, strip, part_channels(c.parts[p])).work.nest);
  });
  return static_cast<std::int64_t>(std::min<Int128>(macs, std::numeric_limits<std::int64_t>::max() / 4));
}

}  // namespace sdip
