// Strips, part by part.
#include "core/cost/work/strip_plan.h"

#include <algorithm>

#include "core/program/kinds.h"

namespace sdip::cost {
namespace {

bool enlarges(const Part& part) { return !is_nest(part.work.family) && part.work.nest.out_h > part.work.nest.in_h; }

/// Rows under `made` results next to each other, wherever they are.
std::int64_t rows_under(const Part& part, std::int64_t made) {
  const LoopNest& n = part.work.nest;
  if (enlarges(part)) return std::min(n.in_h, 1 + ceil_div(made - 1, n.out_h / n.in_h));
  return std::min(n.in_h, rows_of(n).reach() + (made - 1) * n.stride_h);
}

/// Describes a part that is no nest as row-wise work: of one row, but for norms.
void as_rows(const Part& part, std::int64_t made, std::int64_t read, InstructionClass& one) {
  const LoopNest& n = part.work.nest;
  if (part.work.family == Family::norm || part.work.family == Family::softmax) {  // of each row, of each group
    one.work.rows = n.groups * made;
    one.fetches.push_back({one.operand_a, one.out_elements, part.work.passes, true, one.pair_a});
    return;
  }
  const bool each_once = part.read_elements == part.work.row_length;
  one.work.row_length = part.work.row_length / (n.batch * n.out_h) * made;
  const std::int64_t elements = each_once ? one.work.row_length : read * n.in_w * n.in_channels * n.groups;
  one.fetches.push_back({one.operand_a, elements, 1, each_once, one.pair_a});
}

/// The part of an operand beside that one operation takes, which is read once and held: an equal part.
std::int64_t held_part(const InstructionClass& c, std::size_t number, std::int64_t elements) {
  std::int64_t of_a_strip = 0;
  for (const StripOperation& o : strip_operations(c))
    if (o.part == number) of_a_strip += o.times;
  return ceil_div(elements, std::max<std::int64_t>(of_a_strip, 1) * strip_plan(c).result_tiles());
}

}  // namespace

TilePlan strip_plan(const InstructionClass& c) {
  const LoopNest& last = c.parts.back().work.nest;
  TilePlan plan;
  plan.nest = true;
  plan.repeats = last.batch;
  plan.tile_rows = std::min(last.out_h, c.mapping.tile_rows);
  plan.rows = cut(last.out_h, plan.tile_rows);
  return plan;
}

StripRows strip_rows(const InstructionClass& c, std::int64_t rows) {
  const std::int64_t height = c.parts.back().work.nest.out_h, in_h = c.parts.front().work.nest.in_h;
  StripRows strip{std::vector<std::int64_t>(c.parts.size()), std::vector<std::int64_t>(c.parts.size()), {}};
  for (std::size_t p = c.parts.size(); p-- > 0;) {
    const bool last = p + 1 == c.parts.size();
    strip.made[p] = c.line_buffers ? ceil_div(c.parts[p].work.nest.out_h * rows, height)
                    : last         ? rows
                                   : strip.read[p + 1];
    strip.read[p] = rows_under(c.parts[p], strip.made[p]);
  }
  strip.loaded = c.line_buffers ? ceil_div(in_h * rows, height) : strip.read[0];
  return strip;
}

std::int64_t part_channels(const Part& part) { return part.work.nest.out_channels * part.work.nest.groups; }

std::vector<StripOperation> strip_operations(const InstructionClass& c) {
  std::vector<StripOperation> operations;
  bool streams = false;
  for (std::size_t p = 0; p < c.parts.size(); ++p) {
    const std::int64_t streamed = c.parts[p].streamed_channels, held = part_channels(c.parts[p]) - streamed;
    if (held > 0) operations.push_back({p, held, 1, false});
    if (streamed == 0) continue;
    streams = true;
    const Cut tiles = cut(streamed, c.parts[p].tile_channels);
    if (tiles.full > 0) operations.push_back({p, c.parts[p].tile_channels, tiles.full, true});
    if (tiles.edge > 0) operations.push_back({p, tiles.edge, 1, true});
  }
  return streams ? operations : std::vector<StripOperation>{};
}

std::int64_t part_fetch_elements(const InstructionClass& c, std::size_t number, const Fetch& fetch,
                                 std::int64_t made, std::int64_t channels) {
  return fetch.per_fold ? c.parts[number].work.nest.out_w * made * channels : held_part(c, number, fetch.elements);
}

std::int64_t second_operand_elements(const InstructionClass& c, std::size_t number) {
  const Part& part = c.parts[number];
  const LoopNest& n = part.work.nest;
  if (!is_nest(part.work.family) || part.operand_b != Place::dram) return 0;
  return held_part(c, number, n.batch * n.groups * n.in_channels * n.out_channels);
}

InstructionClass part_class(const InstructionClass& c, std::size_t number, const StripRows& rows,
                            std::int64_t channels) {
  const Part& part = c.parts[number];
  const bool first = works_on_a(c.parts, number), last = number + 1 == c.parts.size();
  const std::int64_t made = rows.made[number], read = first ? rows.loaded : rows.read[number];
  InstructionClass one;
  static_cast<FusedOperator&>(one) = static_cast<const FusedOperator&>(part);
  LoopNest& n = one.work.nest;
  n.batch = 1;
  n.pad_top = n.pad_bottom = 0;
  n.in_h = read;
  n.out_h = made;
  if (channels != part_channels(part)) n.out_channels = channels;  // of a part of one group
  one.mapping = one_tile;
  one.operand_a = first ? c.operand_a : Place::dsram;
  if (first) one.pair_a = c.pair_a;
  one.to_dsram = last ? c.to_dsram : true;
  one.push = last && c.push;
  one.to_dram = last && c.to_dram;
  one.out_elements = n.out_w * made * channels;
  const Fetch beside{Place::dsram, one.out_elements, 1, true};
  for (std::int64_t i = is_branch(part) ? -1 : 0; i < part.rows_beside; ++i) one.fetches.push_back(beside);
  for (std::int64_t i = 0; i < part.a_beside; ++i) {
    one.fetches.push_back(beside);
    if (c.operand_a == Place::dram) continue;
    one.fetches.back().place = c.operand_a;
    one.fetches.back().pair = c.pair_a;
  }
  if (!is_nest(part.work.family)) as_rows(part, made, read, one);
  for (Fetch fetch : part.fetches) {
    fetch.elements = held_part(c, number, fetch.elements);
    one.fetches.push_back(fetch);
  }
  return one;
}

std::int64_t part_weight_bytes(const Part& part, std::int64_t channels, const WeightForm& form) {
  return weight_bytes({part.weight_elements_per_channel * channels, channels, part.bias_elements_per_channel, true,
                       part.work.nest.in_channels},
                      form);
}

std::int64_t strip_held_bytes(const InstructionClass& c, const WeightForm& form) {
  std::int64_t bytes = 0;
  for (const Part& part : c.parts) {
    const std::int64_t channels = part_channels(part) - part.streamed_channels;
    bytes += ceil_div(form.vector_bits * part.weight_elements, 8);
    if (part.operand_b == Place::psram) bytes += part_weight_bytes(part, channels, form);
  }
  return bytes;
}

}  // namespace sdip::cost
