// The rule by which an instruction expands into tile operations.
#include "core/program/tiling/tiles.h"

#include <algorithm>

#include "core/base/encode.h"
#include "core/program/tiling/attention_tiles.h"
#include "core/program/tiling/strips.h"

namespace sdip {

bool is_nest(Family family) {
  return family == Family::conv2d || family == Family::linear || family == Family::matmul;
}

bool is_branch(const Part& part) { return is_nest(part.work.family) && part.read_elements > 0; }

bool works_on_a(const std::vector<Part>& parts, std::size_t number) {
  while (number > 0 && is_branch(parts[number])) --number;
  return number == 0;
}

TilePlan tile_plan(const InstructionClass& c) {
  if (c.compound == Compound::strips) return strip_plan(c);
  if (c.compound == Compound::attention) return attention_plan(c);
  const Mapping& m = c.mapping;
  TilePlan plan;
  plan.nest = is_nest(c.work.family);
  if (!plan.nest) {
    const bool chunked = m.tile_channels < c.work.row_length;
    plan.tile_rows = std::min(m.tile_rows, c.work.rows);
    plan.tile_channels = m.tile_channels;
    plan.passes_apart = chunked ? c.work.passes : 1;
    plan.repeats = chunked ? c.work.passes * c.work.rows : 1;
    plan.rows = chunked ? cut(c.work.row_length, m.tile_channels) : cut(c.work.rows, plan.tile_rows);
    return plan;
  }
  const LoopNest& nest = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const std::int64_t groups = weighted ? nest.groups : 1;
  plan.tile_rows = std::min(m.tile_rows, nest.out_h);
  plan.tile_columns = std::min(m.tile_columns, nest.out_w);
  plan.tile_channels = std::min(m.tile_channels, groups * nest.out_channels);
  plan.tile_sums = std::min(m.tile_sums, nest.in_channels);
  plan.rows = cut(nest.out_h, plan.tile_rows);
  plan.columns = cut(nest.out_w, plan.tile_columns);
  plan.sums = cut(nest.in_channels, plan.tile_sums);
  if (plan.tile_channels > nest.out_channels)
    plan.groups = cut(groups, plan.tile_channels / nest.out_channels);
  else
    plan.groups = {groups, 0}, plan.channels = cut(nest.out_channels, plan.tile_channels);
  const bool whole =
      plan.rows.count() == 1 && plan.columns.count() == 1 && (weighted || plan.channels.count() == 1);
  (whole ? plan.multiplicity : plan.repeats) = weighted ? nest.batch : nest.batch * nest.groups;
  return plan;
}

bool partials_leave(const InstructionClass& c, const TilePlan& plan) {
  if (plan.sums.count() == 1) return false;
  const auto inside = [&](Loop loop) { return c.mapping.outside(Loop::sums, loop); };
  const bool rows = plan.rows.count() > 1, columns = plan.columns.count() > 1;
  if ((rows && inside(Loop::rows)) || (columns && inside(Loop::columns))) return true;
  return plan.groups.count() * plan.channels.count() > 1 && inside(Loop::channels);
}

WeightForm weight_form(const Machine& machine) {
  WeightForm form;
  form.vector_bits = bits_of(vector_format(machine.weight_format));
  form.bits = bits_of(machine.weight_format);
  const bool quantised = !is_floating(machine.weight_format);
  if (quantised && machine.scale_granularity == ScaleGranularity::channel)
    form.scale_bits_per_channel = 32 + (needs_zero_point(machine.weight_format) ? form.bits : 0);
  form.skipping = machine.sparsity == Sparsity::skipping;
  form.scale_group = form.skipping ? 0 : scale_group_of(machine);
  form.scale_group_bits = form.skipping ? 0 : scale_group_bits(machine);
  if (form.skipping) {
    form.density_hundredths = machine.weight_density.hundredths;
    form.group = machine.sparsity_group;
  }
  form.compression_hundredths = machine.weight_compression.hundredths;
  return form;
}

WeightForm weight_form(const InstructionClass& c, const Machine& machine) {
  return c.formats ? weight_form(machine_for(c, machine)) : weight_form(machine);
}

namespace {

/// Bits of a tile's second operand: the values that stay, and which they are.
std::int64_t product_bits(std::int64_t elements, std::int64_t sums, const WeightForm& form) {
  if (!form.skipping) return elements * form.bits + form.group_scale_bits(ceil_div(elements, sums), sums);
  if (form.group == 0) return ceil_div(elements * form.density_hundredths, 100) * form.bits + elements;
  const GroupPattern pattern = group_pattern(form.group, form.density_hundredths);
  return ceil_div(elements, sums) * pattern.kept_of(sums) * (form.bits + pattern.index_bits());
}

}  // namespace

std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, const WeightForm& form) {
  return weight_tile_bytes(c, channels, c.work.nest.in_channels, true, form);
}

std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, std::int64_t sums, bool first,
                               const WeightForm& form) {
  if (c.compound == Compound::strips) return 0;  // core/program/tiling/strips.h
  const std::int64_t all_sums = c.work.nest.in_channels, per_channel = c.weight_elements_per_channel;
  const std::int64_t of_channel = sums == all_sums ? per_channel : ceil_div(per_channel, all_sums) * sums;
  return channel_bytes(of_channel, c.bias_elements_per_channel, sums, channels, first, form);
}

std::int64_t channel_bytes(std::int64_t weights, std::int64_t biases, std::int64_t sums, std::int64_t channels,
                           bool first, const WeightForm& form) {
  const std::int64_t once = first ? biases * form.vector_bits + form.scale_bits_per_channel : 0;
  return ceil_div(product_bits(channels * weights, sums, form) + once * channels, 8);
}

std::int64_t held_weight_bytes(const InstructionClass& c, const WeightForm& form) {
  if (c.compound == Compound::strips) return strip_held_bytes(c, form);
  return ceil_div(c.weight_elements * form.vector_bits, 8);
}

std::int64_t stored_bytes(std::int64_t bytes, const WeightForm& form) {
  return bytes < least_compressed_bytes ? bytes : ceil_div(bytes * 100, form.compression_hundredths);
}

std::int64_t held_stored_bytes(const InstructionClass& c, const WeightForm& form) {
  const std::int64_t bytes = held_weight_bytes(c, form);
  return c.compound == Compound::strips ? stored_bytes(bytes, form) : bytes;
}

namespace {

bool has_weight_tiles(const InstructionClass& c) {
  return c.compound == Compound::single && is_nest(c.work.family) && c.operand_b == Place::psram;
}

}  // namespace

std::int64_t weight_parts(const InstructionClass& c) { return has_weight_tiles(c) ? c.spread_cores : 1; }

std::int64_t largest_weight_tile_bytes(const InstructionClass& c, const WeightForm& form) {
  if (c.compound == Compound::strips) return largest_strip_tile_bytes(c, form);
  if (!is_nest(c.work.family) || c.operand_b != Place::psram) return 0;
  const LoopNest& nest = c.work.nest;
  return weight_parts(c) * weight_tile_bytes(c, std::min(nest.groups * nest.out_channels, c.mapping.tile_channels),
                                             std::min(nest.in_channels, c.mapping.tile_sums), true, form);
}

RegionBytes region_bytes(const InstructionClass& c, const WeightForm& form) {
  RegionBytes bytes{held_weight_bytes(c, form), held_stored_bytes(c, form)};
  for (const StripOperation& o : strip_operations(c)) {
    if (!o.streamed) continue;
    const std::int64_t tile = strip_tile_bytes(c.parts[o.part], o.channels, form);
    bytes.psram += tile * o.times;
    bytes.dram += stored_bytes(tile, form) * o.times;
  }
  if (!has_weight_tiles(c)) return bytes;
  const LoopNest& nest = c.work.nest;
  const std::int64_t parts = weight_parts(c);
  const std::int64_t whole =
      weight_tile_bytes(c, parts * nest.groups * nest.out_channels, nest.in_channels, true, form);
  if (!form.by_tile()) bytes.dram += stored_bytes(whole, form);
  if (!form.by_tile() && form.bits % 8 == 0) {  // tiles end with whole bytes
    bytes.psram += whole;
    return bytes;
  }
  each_weight_tile(tile_plan(c), nest.out_channels,
                   [&](std::int64_t channels, std::int64_t sums, bool first, std::int64_t times) {
                     const std::int64_t tile = weight_tile_bytes(c, channels, sums, first, form);
                     bytes.psram += tile * times * parts;
                     if (form.by_tile()) bytes.dram += stored_bytes(tile, form) * times * parts;
                   });
  return bytes;
}

std::array<std::int64_t, 3> region_tiles(const InstructionClass& c, const WeightForm& form) {
  if (!form.by_tile() || !has_weight_tiles(c)) return {0, 0, 0};
  const TilePlan plan = tile_plan(c);
  return {plan.tile_channels, plan.tile_sums, weight_parts(c)};
}

std::int64_t tile_a_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile,
                             std::int64_t positions) {
  const LoopNest& nest = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const std::int64_t groups = weighted && nest.groups > 1 ? ceil_div(tile.channels, nest.out_channels) : 1;
  return positions * tile.sums * groups * plan.multiplicity;
}

std::int64_t tile_b_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile) {
  const LoopNest& nest = c.work.nest;
  return tile.sums * nest.kernel_h * nest.kernel_w * tile.channels * plan.multiplicity;
}

std::int64_t tile_out_elements(const TilePlan& plan, const TileExtent& tile) {
  return tile.rows * tile.columns * tile.channels * plan.multiplicity;
}

std::int64_t reference_cycles(const Work& work) {
  constexpr std::int64_t macs_a_cycle = std::int64_t{128} * 128, elements_a_cycle = 256;
  if (work.family == Family::constant || work.family == Family::view) return 0;
  if (is_nest(work.family)) return ceil_div(mac_count(work.nest), macs_a_cycle);
  return ceil_div(work.rows * work.row_length * work.passes * work.element_cycles, elements_a_cycle);
}

}  // namespace sdip
