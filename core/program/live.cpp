// pass `live`: who uses what until when, and what can never be whole on chip.
#include <algorithm>

#include "core/program/passes.h"

namespace sdip {
namespace {

/// Inputs that wait in DRAM: all of a network's (of its first part) and a text or image encoder's. A core gets its
/// latent over the link and its context on STACKRAM; a decoder gets its latent over the link.
bool input_in_dram(Role role, SeriesPart part) {
  return role != Role::core && role != Role::decoder && part.first();
}

/// Results that leave through DRAM: a core hands its latent on, an encoder likewise.
bool output_in_dram(Role role, SeriesPart part) {
  return role != Role::core && role != Role::encoder && part.last();
}

std::int64_t largest_on_chip(const Machine& machine) {
  if (machine.activation_memory == ActivationMemory::separate) return machine.dsram_bytes;
  return (2 * machine.dsram_bytes + machine.stackram_bytes) / 2;
}

}  // namespace

void live(Compilation& c) {
  const Graph& graph = *c.graph;
  const Machine& machine = c.machine;
  const Role role = c.role;
  const std::vector<Draft>& drafts = c.drafts;
  Lives& lives = c.lives;
  lives.assign(graph.values.size(), {});
  const std::int64_t bits = bits_of(machine.activation_format);
  const ValueId latent = latent_input(graph);
  const auto use = [&](ValueId v, std::size_t draft) {
    auto& uses = lives[static_cast<std::size_t>(v)].uses;
    if (uses.empty() || uses.back() != static_cast<std::int32_t>(draft))
      uses.push_back(static_cast<std::int32_t>(draft));
  };
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    for (const DraftOperand& operand : drafts[i].operands) use(operand.value, i);
    lives[static_cast<std::size_t>(drafts[i].destination)].made = static_cast<std::int32_t>(i);
  }
  for (const ValueId out : graph.outputs) {
    const ValueId root = c.roots[static_cast<std::size_t>(out)];
    Life& life = lives[static_cast<std::size_t>(root)];
    life.leaves_by_dram = output_in_dram(role, c.part);
    if (!output_in_dram(role, c.part)) use(root, drafts.size());
  }
  for (std::size_t v = 0; v < lives.size(); ++v) {
    Life& life = lives[v];
    const Value& value = graph.values[v];
    life.bytes = ceil_div(element_count(value.operand.shape) * bits, 8);
    life.is_input = value.kind == ValueKind::input;
    const bool needed_again = role == Role::core && static_cast<ValueId>(v) != latent;  // by the next step
    if (life.is_input && needed_again && !life.uses.empty()) use(static_cast<ValueId>(v), drafts.size());
    if (life.is_input) life.in_dram = input_in_dram(role, c.part);
    if (life.next_in_dsram() && life.bytes > largest_on_chip(machine)) life.in_dram = true;
    if (machine.skip_handling == SkipHandling::spill && life.needs_stack() && !life.is_input) life.spilled = true;
  }
}

}  // namespace sdip
