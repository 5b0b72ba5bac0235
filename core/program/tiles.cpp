// The rule by which an instruction expands into tile operations.
#include "core/program/tiles.h"

#include <algorithm>

#include "core/program/strips.h"

namespace sdip {

bool is_nest(Family family) {
  return family == Family::conv2d || family == Family::linear || family == Family::matmul;
}

TilePlan tile_plan(const InstructionClass& c) {
  if (c.compound == Compound::strips) return strip_plan(c);
  const Mapping& m = c.mapping;
  TilePlan plan;
  plan.nest = is_nest(c.work.family);
  plan.tile_rows = m.tile_rows;
  if (!plan.nest) {
    const bool chunked = m.tile_channels < c.work.row_length;
    plan.tile_channels = m.tile_channels;
    plan.passes_apart = chunked ? c.work.passes : 1;
    plan.repeats = chunked ? c.work.passes * c.work.rows : 1;
    plan.rows = chunked ? cut(c.work.row_length, m.tile_channels) : cut(c.work.rows, m.tile_rows);
    return plan;
  }
  const LoopNest& nest = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const std::int64_t all_channels = weighted ? nest.groups * nest.out_channels : nest.out_channels;
  const bool whole_rows = m.tile_rows >= nest.out_h;
  const bool whole = whole_rows && (weighted || m.tile_channels >= all_channels);
  const std::int64_t copies = weighted ? nest.batch : nest.batch * nest.groups;
  plan.tile_channels = m.tile_channels;
  plan.rows = cut(nest.out_h, m.tile_rows);
  plan.channels = cut(all_channels, m.tile_channels);
  (whole ? plan.multiplicity : plan.repeats) = copies;
  return plan;
}

WeightForm weight_form(const Machine& machine) {
  WeightForm form;
  form.bits = bits_of(machine.weight_format);
  const bool quantised = !number_formats[static_cast<std::size_t>(machine.weight_format)].floating;
  if (quantised && machine.scale_granularity == ScaleGranularity::channel) form.scale_bits_per_channel = 32;
  form.skipping = machine.sparsity == Sparsity::skipping;
  if (form.skipping) form.density_hundredths = machine.weight_density.hundredths;
  form.compression_hundredths = machine.weight_compression.hundredths;
  return form;
}

std::int64_t weight_tile_bytes(const InstructionClass& c, std::int64_t channels, const WeightForm& form) {
  if (c.compound == Compound::strips) return 0;  // all of them are held
  const std::int64_t elements = c.weight_elements_per_channel * channels;
  const std::int64_t kept = form.skipping ? ceil_div(elements * form.density_hundredths, 100) : elements;
  const std::int64_t mask_bits = form.skipping ? elements : 0;
  const std::int64_t per_channel = c.bias_elements_per_channel * form.bits + form.scale_bits_per_channel;
  return ceil_div(kept * form.bits + mask_bits + per_channel * channels, 8);
}

std::int64_t held_weight_bytes(const InstructionClass& c, const WeightForm& form) {
  if (c.compound == Compound::strips) return strip_weight_bytes(c, form);
  return ceil_div(c.weight_elements * form.bits, 8);
}

std::int64_t stored_bytes(std::int64_t bytes, const WeightForm& form) {
  return ceil_div(bytes * 100, form.compression_hundredths);
}

std::int64_t tile_a_bytes(const InstructionClass& c, const TilePlan& plan, std::int64_t rows, std::int64_t channels,
                          std::int64_t bits) {
  const LoopNest& nest = c.work.nest;
  const bool weighted = c.operand_b == Place::psram;
  const std::int64_t groups = weighted && nest.groups > 1 ? ceil_div(channels, nest.out_channels) : 1;
  const std::int64_t elements = input_rows(nest, rows) * nest.in_w * nest.in_channels * groups * plan.multiplicity;
  return ceil_div(elements * bits, 8);
}

std::int64_t tile_b_bytes(const InstructionClass& c, const TilePlan& plan, std::int64_t channels,
                          std::int64_t bits) {
  const LoopNest& nest = c.work.nest;
  return ceil_div(nest.in_channels * nest.kernel_h * nest.kernel_w * channels * plan.multiplicity * bits, 8);
}

std::int64_t tile_out_elements(const InstructionClass& c, const TilePlan& plan, std::int64_t rows,
                               std::int64_t channels) {
  return rows * c.work.nest.out_w * channels * plan.multiplicity;
}

std::int64_t input_rows(const LoopNest& nest, std::int64_t rows) {
  return std::min(nest.in_h, (rows - 1) * nest.stride_h + (nest.kernel_h - 1) * nest.dilation_h + 1);
}

}  // namespace sdip
