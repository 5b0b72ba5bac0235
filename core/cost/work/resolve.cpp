// Lanes, widths and places of an instruction, as the machine's options make them.
#include "core/cost/work/resolve.h"

#include <algorithm>

#include "core/cost/work/split_macs.h"

namespace sdip {
namespace {

/// Widths of operands, in the formats of a machine.
void take_formats(const Machine& m, Resolved& r) {
  r.form = weight_form(m);
  r.activation_bits = bits_of(m.activation_format);
  r.accumulator_bits = bits_of(m.accumulator_format);
}

/// The machine's choices that depend on the stage.
Resolved resolved(const Machine& m, Role role) {
  Resolved r{.machine = m, .weights = weight_place(m, role)};
  r.unified = is_unified(m);
  r.stack_in_psram = stack_in_psram(m);
  const std::int64_t stack = r.unified          ? m.dsram_port_bits
                             : r.stack_in_psram ? m.psram_port_bits
                                                : m.stackram_port_bits;
  r.port_bits = {{0, m.dsram_port_bits, m.dsram_port_bits, stack, stack, m.psram_port_bits}};
  r.psram_pace = psram_pace(m);
  r.shares_units = shares_units(m);
  for (std::size_t family = 0; family < r.arrays.size(); ++family)
    r.arrays[family] = array_lanes(static_cast<Family>(family), m);
  for (std::size_t family = 0; family < r.row_lanes.size(); ++family)
    r.row_lanes[family] = row_lanes(static_cast<Family>(family), m);
  take_formats(m, r);
  r.cores = m.cores;
  r.host_operators = m.host_operators;
  return r;
}

/// The stage's choices, with those that depend on the class.
Resolved resolved(const InstructionClass& c, const Resolved& stage) {
  const Machine& m = stage.machine;
  Resolved r = stage;
  if (c.formats) take_formats(machine_for(c, m), r);
  r.products_in_mac = products_in_mac(c, m);
  const NumberFormat weights = c.formats ? c.formats->weights : m.weight_format;
  r.scale_group = multiplies_weights(c) ? scale_group_of(weights, m.scale_granularity) : 0;
  for (ArrayLanes& lanes : r.arrays) {
    lanes.sum *= r.products_in_mac;
    if (r.scale_group > 0) lanes.sum = lanes_of_groups(lanes.sum, r.scale_group);
  }
  r.cores *= c.spread_cores;
  if (c.compound != Compound::single) r.host_operators = HostOperators::no_operators;
  r.own_pair = c.work.family;
  return r;
}

}  // namespace

ArrayLanes array_lanes(Family family, const Machine& m) {
  if (family == Family::conv2d || shares_macs(m)) return {m.conv_lanes_pixel, m.conv_lanes_out, m.conv_lanes_in};
  if (family == Family::linear) return {m.linear_lanes_m, m.linear_lanes_n, m.linear_lanes_k};
  return {m.matmul_lanes_m, m.matmul_lanes_n, m.matmul_lanes_k};
}

std::int64_t mac_lanes(const Machine& m) {
  std::int64_t lanes = 0;
  for (const Family family : {Family::conv2d, Family::linear, Family::matmul}) {
    if (family != Family::conv2d && shares_macs(m)) continue;
    const ArrayLanes array = array_lanes(family, m);
    lanes += array.rows * array.channels * array.sum;
  }
  return lanes;
}

std::int64_t row_lanes(Family family, const Machine& m) {
  if (shares_units(m)) return m.vector_lanes;
  return family == Family::softmax     ? m.softmax_lanes
         : family == Family::norm      ? m.norm_lanes
         : family == Family::transpose ? m.transpose_lanes
                                       : m.vector_lanes;
}

bool shares_units(const Machine& m) { return m.granularity == Granularity::micro_operation; }

bool shares_macs(const Machine& m) { return m.mac_sharing == MacSharing::shared || shares_units(m); }

bool stack_in_psram(const Machine& m) { return m.memory_hierarchy == MemoryHierarchy::writable_psram; }

std::int64_t psram_pace(const Machine& m) {
  return m.dies == 1 ? 1 : ceil_div(m.psram_port_bits, std::min(m.psram_port_bits, m.die_link_bits));
}

Resolver::Resolver(const Machine& its, Role role)
    : stage_(resolved(its, role)),
      alike_(its.composable_macs == ComposableMacs::off && scale_group_of(its) == 0 && !has_pairs(its)) {}

const Resolved& Resolver::of(const InstructionClass& c) {
  const bool plain = alike_ && !c.formats && c.spread_cores == 1 && c.compound == Compound::single;
  return plain ? stage_ : own_.emplace(resolved(c, stage_));
}

}  // namespace sdip
