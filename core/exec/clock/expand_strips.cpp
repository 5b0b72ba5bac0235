// Strips: each part of each strip, or so many of its channels, expanded as an instruction of its own
// that is all on chip at once.
#include <map>

#include "core/exec/clock/operations.h"
#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/strip_walk.h"
#include "core/program/kinds.h"

namespace sdip::exec {
namespace {

Count channels_of(const Part& part) { return part.work.nest.out_channels * part.work.nest.groups; }

/// Weights of so many channels of a part, as PSRAM holds them.
Count weights_of(const Part& part, Count channels, const Machine& m) {
  if (part.operand_b != Place::psram || channels == 0) return 0;
  const LoopNest& n = part.work.nest;
  const Count elements = channels * part.weight_elements_per_channel;
  return psram_bytes_of(
      {channels, elements, n.kernel_h * n.kernel_w, n.in_channels, part.bias_elements_per_channel}, m);
}

/// One piece of a strip. `in` rows of its operand are there.
InstructionClass alone(const InstructionClass& c, const StripPiece& piece, Count made, Count in, Count strips) {
  const std::size_t i = piece.part;
  const Count channels = piece.channels.size();
  const Part& part = c.parts[i];
  const bool last = i + 1 == c.parts.size();
  const bool of_a = works_on_a(c.parts, i);
  InstructionClass one;
  static_cast<FusedOperator&>(one) = static_cast<const FusedOperator&>(part);
  one.work.nest.batch = 1;
  one.work.nest.out_h = made;
  one.work.nest.in_h = in;
  one.work.nest.pad_top = 0;
  one.operand_a = of_a ? c.operand_a : Place::dsram;
  const DsramPair before = of_a ? c.pair_a : DsramPair();
  one.pair_a = before;
  one.to_dsram = last ? c.to_dsram : true;
  one.push = last && c.push;
  one.to_dram = last && c.to_dram;
  one.out_elements = made * part.work.nest.out_w * channels;
  if (channels != channels_of(part)) one.work.nest.out_channels = channels;
  const LoopNest& n = one.work.nest;
  one.mapping = {made, n.out_w, channels, n.in_channels, rows_outermost};
  Count beside = part.rows_beside;
  if (is_branch(part)) ++beside;
  while (beside-- > 0) one.fetches.push_back({Place::dsram, one.out_elements, 1, true});
  const bool a_came = c.operand_a == Place::dram;  // into its tile
  for (Count again = part.a_beside; again > 0; --again)
    one.fetches.push_back(
        {a_came ? Place::dsram : c.operand_a, one.out_elements, 1, true, a_came ? DsramPair() : c.pair_a});
  if (part.work.family == Family::norm || part.work.family == Family::softmax) {
    one.work.rows = made * part.work.nest.groups;
    one.mapping = {one.work.rows, 1, part.work.row_length, 1, rows_outermost};
    one.fetches.push_back({one.operand_a, one.out_elements, part.work.passes, true, before});
    one.operand_a = Place::nowhere;
  }
  if (part.work.family == Family::vector) {
    const Count whole = part.work.row_length;
    one.mapping = {1, 1, whole, 1, rows_outermost};
    one.work.row_length = whole * made / (part.work.nest.batch * part.work.nest.out_h);
    const bool touched = part.read_elements == whole;
    one.fetches.push_back(
        {one.operand_a, touched ? one.work.row_length : in * elements_of_row(part), 1, touched, before});
    one.operand_a = Place::nowhere;
  }
  for (Fetch f : part.fetches) {
    f.elements = f.per_fold ? one.out_elements : ceil_div(f.elements, strips * piece.of_part);
    one.fetches.push_back(f);
  }
  return one;
}

/// One operation of a strip.
Operation operation_of(const InstructionClass& c, const Machine& m, Role role, const StripStep& step,
                       Count strips) {
  const Count bits = bits_of(m.activation_format);
  const StripRows rows = strip_rows(c, step.rows.size());
  Operation o;
  if (m.granularity == Granularity::micro_operation) o.commands = 0;
  if (c.operand_a == Place::dram && step.number == 0)
    o.a_bytes = ceil_div(rows.loaded * elements_of_row(c.parts[0]) * bits, 8);
  for (const StripPiece& piece : step.pieces) {
    const std::size_t i = piece.part;
    const Part& part = c.parts[i];
    const Count channels = piece.channels.size();
    const InstructionClass one =
        alone(c, piece, rows.parts[i].made, i == 0 ? rows.loaded : rows.parts[i].under, strips);
    const Operation alone_it = expand(one, m, role, c.work.family).at(0);
    o.needs += alone_it.needs;
    if (m.granularity == Granularity::micro_operation) o.commands += alone_it.commands;
    o.steps_cycles += alone_it.needs.longest();
    o.scalings += alone_it.scalings;
    o.lane_operations += alone_it.lane_operations;
    if (one.work.family == Family::norm || one.work.family == Family::softmax)
      o.lane_operations += one.out_elements * (one.work.passes + one.fused_operators + one.statistics_passes);
    if (one.work.family == Family::vector)
      o.lane_operations += one.work.row_length + (one.fused_operators + one.statistics_passes) * one.out_elements;
    for (std::size_t f = one.fetches.size() - part.fetches.size(); f < one.fetches.size(); ++f)
      if (one.fetches[f].place == Place::dram) o.other_bytes += ceil_div(one.fetches[f].elements * bits, 8);
    o.other_bytes += ceil_div(ceil_div(second_elements(part), strips * piece.of_part) * bits, 8);
    o.weight_tile = piece.weight_tile;
    if (piece.weight_tile != no_tile) o.weight_psram_bytes = weights_of(part, channels, m);
    o.weight_dram_bytes = packed_bytes(o.weight_psram_bytes, m);
    if (part.operand_b == Place::psram) o.weight_elements += channels * part.weight_elements_per_channel;
    if (c.to_dram && i + 1 == c.parts.size())
      o.out_bytes = ceil_div(step.rows.size() * part.work.nest.out_w * channels * bits, 8);
  }
  return o;
}

}  // namespace

std::vector<Operation> expand_strips(const InstructionClass& c, const Machine& m, Role role) {
  const Count height = c.parts.back().work.nest.out_h;
  const Count strips = c.parts[0].work.nest.batch * ceil_div(height, c.mapping.tile_rows);
  std::map<std::pair<Count, std::size_t>, Operation> folded;  // equal strips have equal folds, gone through once
  std::vector<Operation> operations;
  for_each_strip_step(c, [&](const StripStep& step) {
    const auto [entry, fresh] = folded.try_emplace({step.rows.size(), step.number});
    if (fresh) entry->second = operation_of(c, m, role, step, strips);
    operations.push_back(entry->second);
    if (c.operand_a == Place::dram) operations.back().a_tile = step.frame * height + step.rows.begin;
  });
  return operations;
}

std::int64_t strips_psram_bytes(const InstructionClass& c, const Machine& m) {
  Count bytes = 0;
  for (const Part& part : c.parts)
    bytes += ceil_div(part.weight_elements * bits_beside_products(m), 8) +
             weights_of(part, channels_of(part) - part.streamed_channels, m);
  return bytes;
}

}  // namespace sdip::exec
