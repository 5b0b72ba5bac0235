// The machine that a stage runs on: the cores', one with rows of its own, or a circuit.
#include <algorithm>

#include "core/base/error.h"
#include "core/machine/dies.h"
#include "core/machine/stage_rows.h"
#include "core/program/program.h"

namespace sdip {
namespace {

std::optional<OwnStage> own_stage(Role role) {
  switch (role) {
    case Role::text_encoder:
      return OwnStage::text_encoder;
    case Role::encoder:
      return OwnStage::vae_encoder;
    case Role::decoder:
      return OwnStage::vae_decoder;
    default:
      return std::nullopt;
  }
}

bool is_vae(Role role) { return role == Role::encoder || role == Role::decoder; }

/// The row of each family's pair; its value 0 means that dsram_bytes holds.
constexpr std::array<std::int64_t Machine::*, pair_families> rows_of_pairs = {
    &Machine::conv2d_dsram_bytes,   &Machine::linear_dsram_bytes,  &Machine::matmul_dsram_bytes,
    &Machine::vector_dsram_bytes,   &Machine::softmax_dsram_bytes, &Machine::norm_dsram_bytes,
    &Machine::transpose_dsram_bytes};

}  // namespace

bool is_circuit(const Machine& machine, Role role) {
  return machine.vae_stage == VaeStage::circuit && is_vae(role);
}

bool has_own_rows(const Machine& machine, Role role) {
  const auto stage = own_stage(role);
  if (!stage || (is_vae(role) && machine.vae_stage == VaeStage::off_chip)) return false;
  return says_rows(machine, *stage);
}

bool has_own_psram(const Machine& machine, Role role) {
  if (role != Role::text_encoder) return is_vae(role);
  const bool stack = machine.memory_hierarchy == MemoryHierarchy::writable_psram;
  return says_row(machine, OwnStage::text_encoder, &Machine::psram_bytes) ||
         says_row(machine, OwnStage::text_encoder, &Machine::psram_port_bits) ||
         (stack && has_own_rows(machine, role));
}

bool follows_psram_bytes(const Machine& machine, Role role) {
  return !has_own_rows(machine, role) || !says_row(machine, *own_stage(role), &Machine::psram_bytes);
}

Machine machine_of_stage(Machine m, Role role, std::optional<std::int64_t> cores) {
  m.dies = role == Role::core || role == Role::network ? die_line(m).dies : 1;
  if (has_own_rows(m, role)) {
    m = with_rows_of(m, *own_stage(role));
    if (role == Role::text_encoder) m.cores = 1;
  }
  m = without_stage_rows(m);
  m.cores = cores.value_or(m.cores);
  if (!is_circuit(m, role)) return m;
  m.sequencer = Sequencer::central;
  m.dispatch_cycles = 0;
  m.program_storage = ProgramStorage::held;
  m.host_operators = HostOperators::no_operators;
  return m;
}

bool has_own_pairs(const Machine& machine) {
  return has_pairs(machine) && std::ranges::any_of(rows_of_pairs, [&](auto row) { return machine.*row != 0; });
}

std::int64_t dsram_bytes_of(const Machine& machine, Family family) {
  const auto number = at(family);
  const std::int64_t own = has_pairs(machine) && number < pair_families ? machine.*rows_of_pairs[number] : 0;
  return own != 0 ? own : machine.dsram_bytes;
}

Machine without_own_pairs(Machine machine) {
  for (const auto row : rows_of_pairs) machine.*row = 0;
  return machine;
}

std::int64_t largest_dsram_bytes(const Machine& machine) {
  std::int64_t largest = 0;
  for (std::size_t family = 0; family < pair_families; ++family)
    largest = std::max(largest, dsram_bytes_of(machine, static_cast<Family>(family)));
  return largest;
}

}  // namespace sdip
