// MACs cut in halves until what is left would be narrower than the operands.
#include "core/exec/walk/split_macs.h"

namespace sdip::exec {
namespace {

bool floats(NumberFormat format) { return number_formats[static_cast<std::size_t>(format)].floating; }

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

std::int64_t multipliers_side_by_side(Multiplier wide, Multiplier narrow) {
  const std::int64_t a = bits_of(wide.a), b = bits_of(wide.b), width = a > b ? a : b;
  const std::int64_t first = bits_of(narrow.a), second = bits_of(narrow.b);
  if (first > width || second > width) return 1;
  const bool all = floats(wide.a) && floats(wide.b) && floats(narrow.a) && floats(narrow.b);
  if (all) return pieces_of(width, first > second ? first : second);
  const bool some = floats(wide.a) || floats(wide.b) || floats(narrow.a) || floats(narrow.b);
  return some ? 1 : pieces_of(width, first) * pieces_of(width, second);
}

Machine machine_of(const InstructionClass& c, const Machine& machine) {
  Machine m = machine;
  if (c.formats) {
    m.weight_format = c.formats->weights;
    m.activation_format = c.formats->activations;
    if (c.formats->accumulators) m.accumulator_format = *c.formats->accumulators;
    if (c.formats->density_hundredths) m.weight_density = Decimal{*c.formats->density_hundredths};
    if (c.formats->density_hundredths == 100) m.sparsity = Sparsity::dense;
  }
  if (machine.composable_macs == ComposableMacs::off) return m;
  m.composable_macs = ComposableMacs::off;  // as long as they are found, the arrays split no further
  const bool one_array =
      machine.mac_sharing == MacSharing::shared || machine.granularity == Granularity::micro_operation;
  Multiplier built{machine.activation_format, machine.weight_format}, own{m.activation_format, m.weight_format};
  if (c.work.family == Family::matmul && !one_array) built.b = machine.activation_format;
  if (multiplies_activations(c)) own.b = m.activation_format;
  const std::int64_t beside = multipliers_side_by_side(built, own);
  m.conv_lanes_in *= beside;
  m.linear_lanes_k *= beside;
  m.matmul_lanes_k *= beside;
  return m;
}

}  // namespace sdip::exec
