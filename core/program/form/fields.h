// The fields of an instruction, listed once: the text form and the binary word both walk this list, and so does the
// table in docs/formats.md.
//
// A visitor has: number(name, bits, x, standard, plain), numbers(name, bits, x..., standard..., plain, separator),
// choice(name, bits, x, standard, count, text), formats(...), fetches(...), parts(...). `bits` is the field's width
// in the head of the binary word; 0: one bit that says whether it is other than standard, then it stands behind the
// head. has(name, differs): whether what follows stands there. `standard` is what a field is that is left out. A
// text leaves a field out that is both standard and plain.
#pragma once

#include <array>

#include "core/program/program.h"
#include "core/program/tiling/tiles.h"

namespace sdip {

inline constexpr int only_tail = -1;                              // bits of a field that stands behind the head
inline constexpr std::int64_t most_size = std::int64_t{1} << 50;  // of anything that a program counts

/// a * b * ..., at most most_size. Requires no negative ones.
template <class... Numbers>
std::int64_t bounded_product(Numbers... numbers) {
  double product = 1;
  std::int64_t exact = 1;
  for (const std::int64_t n : {static_cast<std::int64_t>(numbers)...}) {
    product *= static_cast<double>(n);
    if (product > static_cast<double>(most_size)) return most_size;
    exact *= n;
  }
  return exact;
}

template <class Visitor>
void nest_fields(Visitor& v, LoopNest& n, const LoopNest& d, bool in_head) {
  const auto bits = [&](int width) { return in_head ? width : only_tail; };
  v.number("groups", bits(12), n.groups, d.groups, 1);
  v.number("batch", bits(8), n.batch, d.batch, 1);
  v.number("in_channels", bits(14), n.in_channels, d.in_channels, 1);
  v.number("out_channels", bits(14), n.out_channels, d.out_channels, 1);
  v.template numbers<2>("in", bits(14), {&n.in_h, &n.in_w}, {d.in_h, d.in_w}, 1, 'x');
  v.template numbers<2>("out", bits(14), {&n.out_h, &n.out_w}, {d.out_h, d.out_w}, 1, 'x');
  v.template numbers<2>("kernel", bits(5), {&n.kernel_h, &n.kernel_w}, {d.kernel_h, d.kernel_w}, 1, 'x');
  v.template numbers<2>("stride", bits(4), {&n.stride_h, &n.stride_w}, {d.stride_h, d.stride_w}, 1, 'x');
  v.template numbers<2>("dilation", bits(4), {&n.dilation_h, &n.dilation_w}, {d.dilation_h, d.dilation_w}, 1, 'x');
  v.template numbers<4>("padding", bits(4), {&n.pad_top, &n.pad_left, &n.pad_bottom, &n.pad_right},
                        {d.pad_top, d.pad_left, d.pad_bottom, d.pad_right}, 0, ',');
}

template <class Visitor>
void work_fields(Visitor& v, Work& w, const Work& d) {
  v.choice("family", 4, w.family, d.family, 9, family_text);
  const bool nest = is_nest(w.family);
  if (nest || v.has("nest", w.nest != d.nest))
    nest_fields(v, w.nest, d.nest, nest);
  else
    w.nest = d.nest;
  const auto bits = [&](int width) { return nest ? 0 : width; };
  v.number("rows", bits(28), w.rows, d.rows, 1);
  v.number("length", bits(28), w.row_length, d.row_length, 1);
  v.number("passes", bits(4), w.passes, d.passes, 1);
  v.number("cycles", bits(4), w.element_cycles, d.element_cycles, 1);
  const std::int64_t written =
      Visitor::is_text ? d.write_elements : (nest ? 0 : bounded_product(w.rows, w.row_length));
  v.number("writes", 0, w.write_elements, written, written);
}

/// How many weights a channel has when it has no more than the nest needs; 0 of a nest without weights.
inline std::int64_t standard_channel_weights(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  const bool weighted = is_nest(c.work.family) && c.operand_b == Place::psram;
  return weighted ? bounded_product(n.in_channels, n.kernel_h, n.kernel_w) : 0;
}

inline std::int64_t standard_out_elements(const Work& w) {
  const LoopNest& n = w.nest;
  return is_nest(w.family) ? bounded_product(n.groups, n.batch, n.out_channels, n.out_h, n.out_w)
                           : bounded_product(w.rows, w.row_length);
}

inline constexpr std::array<LoopOrder, 24> loop_orders = [] {
  std::array<LoopOrder, 24> all{};
  int count = 0;
  for (int code = 0; code < 256; ++code) {
    const int a = code >> 6, b = code >> 4 & 3, c = code >> 2 & 3, d = code & 3;
    if (a == b || a == c || a == d || b == c || b == d || c == d) continue;
    all[at(count++)] = {static_cast<Loop>(a), static_cast<Loop>(b), static_cast<Loop>(c), static_cast<Loop>(d)};
  }
  return all;
}();

/// "channels,rows,columns,sums"
std::string order_text(const LoopOrder& order);

template <class Visitor>
void mapping_fields(Visitor& v, Mapping& m, const Mapping& d, bool nest) {
  v.number("tile_rows", nest ? 14 : 28, m.tile_rows, d.tile_rows, 0);
  v.number("tile_columns", nest ? 14 : 0, m.tile_columns, d.tile_columns, nest ? 0 : d.tile_columns);
  v.number("tile_channels", nest ? 16 : 28, m.tile_channels, d.tile_channels, 0);
  v.number("tile_sums", nest ? 14 : 0, m.tile_sums, d.tile_sums, nest ? 0 : d.tile_sums);
  v.order(nest ? 5 : 0, m.order, d.order);
}

template <class Visitor>
void part_fields(Visitor& v, Part& p) {
  const Part d;
  work_fields(v, p.work, d.work);
  v.choice("operand_b", 3, p.operand_b, d.operand_b, 6, place_text);
  v.fetches("fetch", 0, p.fetches, d.fetches);
  v.number("elements", 0, p.out_elements, d.out_elements, 0);
  v.number("fused_operators", 0, p.fused_operators, 0, 0);
  v.number("fused_passes", 0, p.fused_passes, 0, 0);
  v.number("prologue_passes", 0, p.prologue_passes, 0, 0);
  v.number("statistics_passes", 0, p.statistics_passes, 0, 0);
  v.number("weights_per_channel", 0, p.weight_elements_per_channel, 0, 0);
  v.number("bias_per_channel", 0, p.bias_elements_per_channel, 0, 0);
  v.number("weight_elements", 0, p.weight_elements, 0, 0);
  v.number("reads", 0, p.read_elements, 0, 0);
  v.number("rows_beside", 0, p.rows_beside, 0, 0);
  v.number("a_beside", 0, p.a_beside, 0, 0);
  v.number("streamed_channels", 0, p.streamed_channels, 0, 0);
  v.number("tile_channels", 0, p.tile_channels, 0, 0);
}

std::string_view compound_text(Compound compound);

/// All of a class but its destinations, which stand in the essay's six fields.
template <class Visitor>
void class_fields(Visitor& v, InstructionClass& c, const InstructionClass& d) {
  work_fields(v, c.work, d.work);
  const bool nest = is_nest(c.work.family);
  v.choice("operand_a", nest ? 3 : 0, c.operand_a, d.operand_a, 6, place_text);
  v.choice("operand_b", nest ? 3 : 0, c.operand_b, d.operand_b, 6, place_text);
  mapping_fields(v, c.mapping, d.mapping, nest);
  v.fetches("fetch", nest ? 0 : 2, c.fetches, d.fetches);
  v.number("fused_operators", 3, c.fused_operators, d.fused_operators, d.fused_operators);
  v.number("fused_passes", 3, c.fused_passes, d.fused_passes, d.fused_passes);
  v.number("prologue_passes", 3, c.prologue_passes, d.prologue_passes, 0);
  v.number("statistics_passes", 2, c.statistics_passes, d.statistics_passes, 0);
  const std::int64_t weights = Visitor::is_text ? d.weight_elements_per_channel : standard_channel_weights(c);
  v.number("weights_per_channel", 0, c.weight_elements_per_channel, weights, weights);
  v.number("bias_per_channel", nest ? 2 : 0, c.bias_elements_per_channel, d.bias_elements_per_channel,
           d.bias_elements_per_channel);
  v.number("held_weights", nest ? 0 : 24, c.weight_elements, d.weight_elements, d.weight_elements);
  const std::int64_t elements = Visitor::is_text ? d.out_elements : standard_out_elements(c.work);
  v.number("elements", 0, c.out_elements, elements, elements);
  v.choice("compound", 2, c.compound, d.compound, 3, compound_text);
  v.flag("line_buffers", c.line_buffers);
  v.flag("prologue_sums", c.prologue_sums);
  v.number("spread_cores", 0, c.spread_cores, 1, 1);
  v.flag("shares_channels", c.shares_channels);
  v.number("turned_run", 0, c.turned_run, Visitor::is_text ? d.turned_run : 0, Visitor::is_text ? d.turned_run : 0);
  v.formats("formats", c.formats, d.formats);
  v.flag("pinned", c.pinned);
  v.parts("part", c.parts);
}

/// The fields of a stage, beside its name and role.
template <class Visitor>
void stage_fields(Visitor& v, CompiledStage& stage) {
  std::int64_t index = stage.part.index, count = stage.part.count;
  v.number("passes_per_step", 0, stage.passes_per_step, 1, 1);
  v.number("part", 0, index, 0, 0);
  v.number("parts", 0, count, 1, 1);
  v.number("dram_thousandths", 0, stage.dram_thousandths, 1000, 1000);
  stage.part.index = static_cast<std::int32_t>(index);
  stage.part.count = static_cast<std::int32_t>(count);
}

/// The fields of a whole program.
template <class Visitor>
void totals_fields(Visitor& v, Program& p, const Program& d) {
  v.number("weight_bytes", 0, p.weight_bytes.value, d.weight_bytes.value, 0);
  v.number("distinct_weight_bytes", 0, p.distinct_weight_bytes.value, d.distinct_weight_bytes.value, 0);
  v.number("stored_weight_bytes", 0, p.stored_weight_bytes.value, d.stored_weight_bytes.value, 0);
  v.number("pinned_bytes", 0, p.pinned_bytes.value, d.pinned_bytes.value, 0);
  v.number("input_bytes", 0, p.input_bytes.value, d.input_bytes.value, 0);
  v.number("output_bytes", 0, p.output_bytes.value, d.output_bytes.value, 0);
  v.number("latent_bytes", 0, p.latent_bytes.value, d.latent_bytes.value, 0);
  v.number("context_bytes", 0, p.context_bytes.value, d.context_bytes.value, 0);
}

}  // namespace sdip
