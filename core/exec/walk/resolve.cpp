// The machine as an instruction finds it: its formats, and MACs cut in halves while these are as wide as operands.
#include "core/exec/walk/resolve.h"

namespace sdip::exec {
namespace {

/// Halvings of a width that leave it wide enough; as many multipliers as pieces.
std::int64_t pieces_of(std::int64_t width, std::int64_t bits) {
  std::int64_t count = 1;
  for (width /= 2; width >= bits; width /= 2) count *= 2;
  return count;
}

/// Whether an operand B that is on chip as an activation is multiplied.
bool multiplies_activations(const InstructionClass& c) {
  return c.compound == Compound::attention || (c.compound == Compound::single && c.operand_b != Place::psram);
}

}  // namespace

std::int64_t group_length(const Machine& m) {
  const NumberFormatRow& format = row_of(m.weight_format);
  if (format.block > 0 || format.floating || format.name.starts_with('q')) return format.block;
  if (format.bits > 8) return 0;
  if (m.scale_granularity == ScaleGranularity::group_32) return 32;
  if (m.scale_granularity == ScaleGranularity::group_64) return 64;
  return m.scale_granularity == ScaleGranularity::group_128 ? 128 : 0;
}

std::int64_t multipliers_side_by_side(Multiplier wide, Multiplier narrow) {
  const std::int64_t a = bits_of(wide.a), b = bits_of(wide.b), width = a > b ? a : b;
  const std::int64_t first = bits_of(narrow.a), second = bits_of(narrow.b);
  if (first > width || second > width) return 1;
  const bool all = is_floating(wide.a) && is_floating(wide.b) && is_floating(narrow.a) && is_floating(narrow.b);
  if (all) return pieces_of(width, first > second ? first : second);
  const bool some = is_floating(wide.a) || is_floating(wide.b) || is_floating(narrow.a) || is_floating(narrow.b);
  return some ? 1 : pieces_of(width, first) * pieces_of(width, second);
}

namespace {

bool weights_are_multiplied(const InstructionClass& c) {
  const bool nest =
      c.work.family == Family::conv2d || c.work.family == Family::linear || c.work.family == Family::matmul;
  return c.compound == Compound::strips || (nest && c.operand_b == Place::psram);
}

/// How many lanes, of those side by side, a fold of groups uses.
std::int64_t used(std::int64_t lanes, std::int64_t group) {
  std::int64_t most = 0;
  for (std::int64_t some = 1; some <= lanes; ++some)
    if (some % group == 0 || group % some == 0) most = some;
  return most;
}

}  // namespace

std::int64_t multipliers_found(const InstructionClass& c, const Machine& machine) {
  if (machine.composable_macs == ComposableMacs::off) return 1;
  const Machine m = machine_for(c, machine);
  const bool one_array =
      machine.mac_sharing == MacSharing::shared || machine.granularity == Granularity::micro_operation;
  Multiplier built{machine.activation_format, machine.weight_format}, own{m.activation_format, m.weight_format};
  if (c.work.family == Family::matmul && !one_array) built.b = machine.activation_format;
  if (multiplies_activations(c)) own.b = m.activation_format;
  return multipliers_side_by_side(built, own);
}

Machine resolve(const InstructionClass& c, const Machine& machine) {
  Machine m = machine_for(c, machine);
  if (m.granularity == Granularity::micro_operation) {  // one array of MACs, one vector unit
    m.mac_sharing = MacSharing::shared;
    m.softmax_lanes = m.norm_lanes = m.transpose_lanes = m.vector_lanes;
  }
  const std::int64_t beside = multipliers_found(c, machine);
  m.composable_macs = ComposableMacs::off;  // as long as they are found, the arrays split no further
  const std::int64_t group = weights_are_multiplied(c) ? group_length(m) : 0;
  for (std::int64_t* lanes : {&m.conv_lanes_in, &m.linear_lanes_k, &m.matmul_lanes_k}) {
    *lanes *= beside;
    if (group > 0) *lanes = used(*lanes, group);
  }
  m.cores *= c.spread_cores;
  if (c.compound != Compound::single) m.host_operators = HostOperators::no_operators;
  return m;
}

}  // namespace sdip::exec
