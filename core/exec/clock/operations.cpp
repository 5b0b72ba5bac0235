// The parts that tile operations have in common: sums of needs, bytes of weights, and the choice of a class's
// expansion.
#include "core/exec/clock/operations.h"

#include <algorithm>

#include "core/exec/clock/port_beats.h"
#include "core/exec/walk/resolve.h"
#include "core/program/kinds.h"

namespace sdip::exec {

Needs& Needs::operator+=(const Needs& o) {
  compute += o.compute;
  for (std::size_t port = 0; port < port_count; ++port) beats[port] += o.beats[port];
  psram_stack += o.psram_stack;
  accumulator_writes += o.accumulator_writes;
  accumulator_reads += o.accumulator_reads;
  register_writes += o.register_writes;
  return *this;
}

std::int64_t Needs::longest() const { return std::max(compute, *std::ranges::max_element(beats)); }

std::int64_t kept_weights(std::int64_t elements, std::int64_t sums, const Machine& m) {
  if (m.sparsity_group == 0) return ceil_div(elements * m.weight_density.hundredths, 100);
  const Count stay = ceil_div(m.sparsity_group * m.weight_density.hundredths, 100);
  Count kept = 0;
  for (Count left = sums; left > 0; left -= m.sparsity_group)
    kept += std::min(stay, std::min(left, m.sparsity_group));
  return ceil_div(elements, sums) * kept;
}

std::int64_t bits_of_scale(const Machine& m) {
  const NumberFormatRow& format = row_of(m.weight_format);
  if (format.block > 0) return format.scale_bits;
  const bool zero_point = format_text(m.weight_format).starts_with("uint");
  return 32 + (zero_point ? format.bits : 0);
}

namespace {

/// Bits that say which weights stay.
Count place_bits(Count elements, Count kept, const Machine& m) {
  if (m.sparsity_group == 0) return elements;
  Count bits = 0;
  while (Count{1} << bits < m.sparsity_group) ++bits;
  return kept * bits;
}

/// Bits of the scales of a tile's groups of weights, which begin anew with each tile, and end with it.
Count group_scale_bits(const WeightTile& t, const Machine& m) {
  const Count group = m.sparsity == Sparsity::skipping ? 0 : group_length(m);
  Count groups = 0;
  if (group > 0)
    for (Count left = t.sums; left > 0; left -= group) ++groups;
  return t.channels * t.kernels * groups * bits_of_scale(m);
}

}  // namespace

std::int64_t psram_bytes_of(const WeightTile& t, const Machine& m) {
  const bool skipping = m.sparsity == Sparsity::skipping;
  const Count kept = skipping ? kept_weights(t.elements, t.sums, m) : t.elements;
  Count bits = kept * bits_of(m.weight_format) + group_scale_bits(t, m);
  if (skipping) bits += place_bits(t.elements, kept, m);
  if (!t.with_bias_and_scale) return ceil_div(bits, 8);
  const bool scaled = !is_floating(m.weight_format) && m.scale_granularity == ScaleGranularity::channel;
  const Count beside = t.bias_elements * bits_beside_products(m) + (scaled ? bits_of_scale(m) : 0);
  return ceil_div(bits + t.channels * beside, 8);
}

std::int64_t packed_bytes(std::int64_t bytes, const Machine& m) {
  return bytes < 1024 ? bytes : ceil_div(bytes * 100, m.weight_compression.hundredths);
}

std::int64_t held_psram_bytes(const InstructionClass& c, const Machine& machine) {
  const Machine m = resolve(c, machine);
  if (c.compound == Compound::strips) return strips_psram_bytes(c, m);
  return ceil_div(c.weight_elements * bits_beside_products(m), 8);
}

bool weights_in_rom(const Machine& m, Role role) {
  if (m.weight_storage != WeightStorage::hard_coded) return false;
  const bool vae = role == Role::encoder || role == Role::decoder;
  return m.hard_coded_part == HardCodedPart::all || (m.hard_coded_part == HardCodedPart::vae && vae) ||
         (m.hard_coded_part == HardCodedPart::core && role == Role::core) ||
         (m.hard_coded_part == HardCodedPart::text_encoder && role == Role::text_encoder);
}

bool weights_multiply(const Machine& m, Role role) {
  return m.in_memory_weights == InMemoryWeights::fefet && !weights_in_rom(m, role);
}

bool weights_wired(const Machine& m, Role role) { return weights_in_rom(m, role) || weights_multiply(m, role); }

namespace {

/// Products of weights whose groups several cores share: what one core reads of PSRAM beside stacks, weights and
/// constants of its own, the others read after it through the same port.
void read_for_other_cores(const InstructionClass& c, const Machine& m, std::vector<Operation>& operations) {
  for (Operation& o : operations) {
    const Count stacks = o.needs.psram_stack * m.cores, own = o.needs[Port::psram_read] - stacks;
    for (Count core = 1; core < c.spread_cores; ++core) o.needs[Port::psram_read] += own;
  }
}

}  // namespace

std::vector<Operation> expand(const InstructionClass& c, const Machine& machine, Role role,
                              std::optional<Family> owner) {
  const Machine m = resolve(c, machine);
  if (c.compound == Compound::strips) return expand_strips(c, m, role);
  if (c.compound == Compound::attention) return expand_attention(c, m, role);
  const Family own = owner.value_or(c.work.family);
  if (!is_nest(c.work.family)) return expand_rows(c, m, role, own);
  std::vector<Operation> operations = expand_nest(c, m, role, own);
  if (c.operand_b == Place::psram) read_for_other_cores(c, m, operations);
  return operations;
}

}  // namespace sdip::exec
