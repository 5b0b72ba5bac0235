// Tiles, windows and weights of an instruction, in closed form.
#include "core/cost/work/tile_plan.h"

#include <algorithm>
#include <bit>

#include "core/program/kinds.h"

namespace sdip::cost {
namespace {

/// The sum of the positions begin + k step for k = 0 ... count - 1, each brought into 0 ... end.
Int128 sum_within(std::int64_t begin, std::int64_t step, std::int64_t count, std::int64_t end) {
  const auto below = [&](std::int64_t limit) {  // how many positions are less than that
    return std::clamp<std::int64_t>((limit - begin + step - 1) / step, 0, count);
  };
  const Int128 from = below(0), to = below(end), inside = to - from;
  return inside * begin + step * ((from + to - 1) * inside / 2) + (count - to) * static_cast<Int128>(end);
}

TilePlan rowwise_plan(const InstructionClass& c) {
  TilePlan plan;
  const Work& work = c.work;
  plan.tile_channels = c.mapping.tile_channels;
  plan.tile_rows = std::min(c.mapping.tile_rows, work.rows);
  if (work.row_length <= plan.tile_channels) {
    plan.rows = cut(work.rows, plan.tile_rows);
    return plan;
  }
  plan.passes_apart = work.passes;
  plan.repeats = work.rows;
  plan.rows = cut(work.row_length, plan.tile_channels);
  return plan;
}

}  // namespace

TilePlan tile_plan(const InstructionClass& c) {
  if (!is_nest(c.work.family)) return rowwise_plan(c);
  const LoopNest& n = c.work.nest;
  const bool shares_weights = c.operand_b == Place::psram;
  TilePlan plan;
  plan.nest = true;
  plan.tile_rows = std::min(n.out_h, c.mapping.tile_rows);
  plan.tile_columns = std::min(n.out_w, c.mapping.tile_columns);
  plan.tile_sums = std::min(n.in_channels, c.mapping.tile_sums);
  plan.rows = cut(n.out_h, plan.tile_rows);
  plan.columns = cut(n.out_w, plan.tile_columns);
  plan.sums = cut(n.in_channels, plan.tile_sums);
  const std::int64_t groups = shares_weights ? n.groups : 1, copies = shares_weights ? n.batch : n.batch * n.groups;
  plan.tile_channels = std::min(groups * n.out_channels, c.mapping.tile_channels);
  plan.groups = cut(groups, std::max<std::int64_t>(1, plan.tile_channels / n.out_channels));
  plan.channels = cut(n.out_channels, std::min(n.out_channels, plan.tile_channels));
  const bool covers_copies =
      plan.rows.count() * plan.columns.count() == 1 && (shares_weights || plan.channels.count() == 1);
  (covers_copies ? plan.multiplicity : plan.repeats) = copies;
  return plan;
}

bool partials_leave(const InstructionClass& c, const TilePlan& plan) {
  const auto inside_sums = [&](Loop loop, std::int64_t tiles) {
    return tiles > 1 && c.mapping.outside(Loop::sums, loop);
  };
  return plan.sums.count() > 1 &&
         (inside_sums(Loop::rows, plan.rows.count()) || inside_sums(Loop::columns, plan.columns.count()) ||
          inside_sums(Loop::channels, plan.groups.count() * plan.channels.count()));
}

Axis rows_of(const LoopNest& n) { return {n.out_h, n.in_h, n.kernel_h, n.stride_h, n.dilation_h, n.pad_top}; }
Axis columns_of(const LoopNest& n) { return {n.out_w, n.in_w, n.kernel_w, n.stride_w, n.dilation_w, n.pad_left}; }

std::int64_t window(const Axis& a, std::int64_t first, std::int64_t count) {
  const std::int64_t begin = first * a.stride - a.pad, reach = a.reach();
  const bool gaps = a.stride > reach;  // then one run a result, else one of all
  const std::int64_t runs = gaps ? count : 1, length = gaps ? reach : (count - 1) * a.stride + reach;
  return static_cast<std::int64_t>(sum_within(begin + length, a.stride, runs, a.inputs) -
                                   sum_within(begin, a.stride, runs, a.inputs));
}

std::int64_t held_window(const Axis& a, std::int64_t count) {
  const Int128 inside = static_cast<Int128>(count - 1) * std::min(a.stride, a.reach()) + a.reach();
  return static_cast<std::int64_t>(std::min<Int128>(inside, window(a, 0, a.results)));
}

std::int64_t tile_a_elements(const InstructionClass& c, const TilePlan& plan, std::int64_t channels,
                             std::int64_t sums, std::int64_t positions) {
  const std::int64_t groups = ceil_div(channels, c.work.nest.out_channels);
  return plan.multiplicity * groups * sums * positions;
}

std::int64_t tile_b_elements(const InstructionClass& c, const TilePlan& plan, const TileExtent& tile) {
  return plan.multiplicity * tile.channels * tile.sums * c.work.nest.kernel_h * c.work.nest.kernel_w;
}

std::int64_t tile_out_elements(const TilePlan& plan, const TileExtent& tile) {
  return plan.multiplicity * tile.channels * tile.rows * tile.columns;
}

std::int64_t kept_in_groups(std::int64_t sums, std::int64_t group, std::int64_t density_hundredths) {
  const std::int64_t stay = ceil_div(group * density_hundredths, 100), edge = sums % group;
  return stay * (sums / group) + std::min(stay, edge);
}

std::int64_t weight_bytes(const WeightTile& tile, const WeightForm& form) {
  std::int64_t bits = tile.elements * form.bits;
  if (form.scale_group > 0)
    bits += ceil_div(tile.elements, tile.sums) * ceil_div(tile.sums, form.scale_group) * form.scale_group_bits;
  if (form.skipping && form.group == 0)
    bits = ceil_div(tile.elements * form.density_hundredths, 100) * form.bits + tile.elements;
  if (form.skipping && form.group > 0)
    bits = ceil_div(tile.elements, tile.sums) * kept_in_groups(tile.sums, form.group, form.density_hundredths) *
           (form.bits + static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(form.group) - 1)));
  if (tile.first_sums) bits += tile.channels * (tile.biases * form.vector_bits + form.scale_bits_per_channel);
  return ceil_div(bits, 8);
}

std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, std::int64_t sums, bool first,
                               const WeightForm& form) {
  const std::int64_t all = c.weight_elements_per_channel, all_sums = c.work.nest.in_channels;
  const std::int64_t of_a_channel = sums == all_sums ? all : sums * ceil_div(all, all_sums);
  return weight_bytes({channels * of_a_channel, channels, c.bias_elements_per_channel, first, sums}, form);
}

std::int64_t held_weight_bytes(const InstructionClass& c, const WeightForm& form) {
  return ceil_div(form.vector_bits * c.weight_elements, 8);
}

std::int64_t stored_bytes(std::int64_t psram_bytes, const WeightForm& form) {
  constexpr std::int64_t least_compressed = 1024;
  if (psram_bytes < least_compressed) return psram_bytes;
  return ceil_div(100 * psram_bytes, form.compression_hundredths);
}

}  // namespace sdip::cost
