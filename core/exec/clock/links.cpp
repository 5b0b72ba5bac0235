// Links between cores that share the groups, or the output channels, of one instruction.
#include "core/exec/clock/operations.h"

namespace sdip::exec {
namespace {

Count whole_bytes(Count elements, const InstructionClass& c, const Machine& m) {
  return (elements * bits_of(c.formats ? c.formats->activations : m.activation_format) + 7) / 8;
}

/// Elements of a part of the first operand: of a convolution picture by picture, else row by row.
Count of_a(const InstructionClass& c) {
  const LoopNest& n = c.work.nest;
  const Count rows = c.operand_b == Place::psram ? n.in_h * n.in_w : n.out_h;
  return n.batch * n.groups * rows * n.in_channels;
}

/// Cycles until `bytes` have passed one link, bit by bit.
Count over_link(Count bytes, const Machine& m) {
  const Count bits = bytes * 8;
  Count cycles = bits / m.link_bits;
  if (cycles * m.link_bits < bits) ++cycles;
  return cycles;
}

}  // namespace

Count sent_cycles(const InstructionClass& c, const Machine& m) {
  if (c.spread_cores == 1) return 0;
  Count bytes = 0, same = 0;
  const auto on_chip = [](Place place) { return place == Place::dsram || place == Place::stackram; };
  const LoopNest& n = c.work.nest;
  if (on_chip(c.operand_a))
    (c.shares_channels ? same : bytes) += whole_bytes(of_a(c), c, m);  // passed on from core to core
  if (on_chip(c.operand_b)) bytes += whole_bytes(n.batch * n.groups * n.out_channels * n.in_channels, c, m);
  if (c.compound == Compound::attention && on_chip(c.parts[2].operand_b))
    bytes += whole_bytes(n.groups * n.out_channels * c.parts[2].work.nest.out_channels, c, m);
  for (const Fetch& f : c.fetches)
    if (on_chip(f.place)) bytes += whole_bytes(f.elements, c, m);
  return over_link(bytes * (c.spread_cores - 1) + same, m);
}

Count returned_cycles(const InstructionClass& c, const Machine& m) {
  if (c.spread_cores == 1 || (!c.to_dsram && !c.push)) return 0;
  return over_link(whole_bytes(c.out_elements, c, m) * (c.spread_cores - 1), m);
}

}  // namespace sdip::exec
