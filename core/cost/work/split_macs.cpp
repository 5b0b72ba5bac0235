// How many products a MAC makes.
#include "core/cost/work/split_macs.h"

#include <algorithm>
#include <bit>

#include "core/program/kinds.h"

namespace sdip {
namespace {

int is_float(NumberFormat format) { return is_floating(format) ? 1 : 0; }

std::int64_t wider_bits(OperandFormats f) { return std::max(bits_of(f.a), bits_of(f.b)); }

/// The power of two at or below wide / narrow.
std::int64_t parts(std::int64_t wide, std::int64_t narrow) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(wide / narrow)));
}

/// The formats that the MACs of a class's products are built for: an array for products of activations alone is as
/// wide as these.
OperandFormats built_for(const InstructionClass& c, const Machine& m) {
  const bool activations_alone = c.work.family == Family::matmul && !shares_macs(m);
  return {m.activation_format, activations_alone ? m.activation_format : m.weight_format};
}

bool makes_products(const InstructionClass& c) { return c.compound != Compound::single || is_nest(c.work.family); }

}  // namespace

std::int64_t products_in_mac(OperandFormats mac, OperandFormats operands) {
  const std::int64_t wide = wider_bits(mac);
  if (wider_bits(operands) > wide) return 1;
  const int floats = is_float(mac.a) + is_float(mac.b) + is_float(operands.a) + is_float(operands.b);
  if (floats == 4) return parts(wide, wider_bits(operands));
  if (floats > 0) return 1;
  return parts(wide, bits_of(operands.a)) * parts(wide, bits_of(operands.b));
}

std::int64_t products_in_mac(const InstructionClass& c, const Machine& m) {
  if (m.composable_macs == ComposableMacs::off || !makes_products(c)) return 1;
  const NumberFormat activations = c.formats ? c.formats->activations : m.activation_format;
  const NumberFormat weights = c.formats ? c.formats->weights : m.weight_format;
  return products_in_mac(built_for(c, m), {activations, multiplies_weights(c) ? weights : activations});
}

std::int64_t lanes_of_groups(std::int64_t lanes, std::int64_t group) {
  if (lanes >= group) return lanes / group * group;
  while (group % lanes != 0) --lanes;
  return lanes;
}

std::int64_t scalings_of(const InstructionClass& c, const Resolved& r, std::int64_t results, std::int64_t sums) {
  const std::int64_t group = multiplies_weights(c) ? r.form.scale_group : 0;
  return group == 0 ? 0 : results * c.work.nest.kernel_h * c.work.nest.kernel_w * ceil_div(sums, group);
}

}  // namespace sdip
