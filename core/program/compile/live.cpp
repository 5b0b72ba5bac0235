// pass `live`: who uses what until when, and what can never be whole on chip.
//
// Example: conv2d 0, softmax 1, conv2d 2, conv2d 3. With one DSRAM pair for all, the result of 0 can be read by 1;
// 2 writes to its side again. With a pair for each family conv2d's side is written again by 3: 1 and 2 can read it.
#include <algorithm>
#include <array>
#include <utility>

#include "core/program/compile/part_views.h"
#include "core/program/compile/passes.h"
#include "core/program/form/form.h"

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

/// Whether a value is too large to be whole in one memory for all, where its reader's result has to be, too. Pass
/// `place` sees what may be in a DSRAM of its own.
bool is_too_large(std::int64_t bytes, const Machine& machine) {
  return is_unified(machine) && exceeds_dsram(bytes, machine);
}

/// For each draft, the next one that writes to the same DSRAM pair, of all drafts or, with a pair for each family,
/// of its family. Behind the last one it is the end of the pass, where sides swap as well.
std::vector<std::int32_t> next_writers(const List<Draft>& drafts, bool pairs) {
  const auto end = static_cast<std::int32_t>(drafts.size());
  List<std::int32_t> next(drafts.size());
  std::array<std::int32_t, pair_families> writer;
  writer.fill(end);
  for (std::int32_t i = end; i-- > 0;) {
    auto& of_pair = writer.at(pairs ? at(drafts[i].work.family) : 0);
    next[i] = std::exchange(of_pair, i);
  }
  return next;
}

/// Which DSRAM pair a value is written to and how long it stays there. Inputs are as if an instruction of the first
/// draft's family had made them before it; in a part of no drafts nothing is overwritten.
void give_pair(const List<Draft>& drafts, const List<std::int32_t>& next, bool pairs, Life& life) {
  const auto end = static_cast<std::int32_t>(drafts.size());
  if (drafts.empty()) return;
  const Draft& maker = drafts[std::max(0, life.made)];
  life.next_writer = life.made < 0 ? 0 : next[life.made];
  life.overwriter = life.next_writer < end ? next[life.next_writer] : end + 1;
  if (pairs) life.pair = maker.work.family;
}

/// Whether a value would wait in STACKRAM for the end of the pass alone: its readers then find it there, too.
bool waits_unread(const Life& life, std::size_t end) {
  return life.needs_stack() && life.in_dsram() && life.last_in_dsram() == life.uses.end()[-2] &&
         life.uses.back() == static_cast<std::int32_t>(end);
}

/// Whether a value goes from link to link: no instruction of this part reads it.
bool passes_by(const Graph& graph, ValueId v, const Life& life) {
  return graph.values[v].kind == ValueKind::input && life.uses.empty();
}

}  // namespace

bool has_pairs(const Machine& machine) {
  return machine.operator_dsram == OperatorDsram::per_operator && !is_unified(machine);
}

void live(Compilation& c) {
  const Graph& graph = *c.graph;
  const Machine& machine = c.machine;
  const Role role = c.role;
  const List<Draft>& drafts = c.drafts;
  Lives& lives = c.lives;
  lives.assign(graph.values.size(), {});
  const ValueId latent = latent_input(graph);
  const auto use = [&](ValueId v, std::size_t draft) {
    const Value& value = graph.values[v];
    if (value.kind == ValueKind::input && is_scalar(value)) return;  // in a register
    auto& uses = lives[v].uses;
    if (uses.empty() || uses.back() != static_cast<std::int32_t>(draft))
      uses.push_back(static_cast<std::int32_t>(draft));
  };
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    for (const DraftOperand& operand : drafts[i].operands) use(operand.value, i);
    lives[drafts[i].destination].made = static_cast<std::int32_t>(i);
  }
  for (const ValueId out : graph.outputs) {
    const ValueId root = c.roots[out];
    Life& life = lives[root];
    life.leaves_by_dram = output_in_dram(role, c.part);
    if (!output_in_dram(role, c.part) && !passes_by(graph, root, life)) use(root, drafts.size());
  }
  for (const auto& [whole, parts] : c.joined) {
    Life& life = lives[whole];
    life.joined = life.in_dram = true;
    for (const ValueId part : parts) {
      lives[part].spilled = true;
      lives[part].last_joined = life.uses.empty() ? -1 : life.uses.back();
    }
  }
  const bool pairs = has_pairs(machine);
  const List<std::int32_t> next = next_writers(drafts, pairs);
  for (ValueId v = 0; v < std::ssize(lives); ++v) {
    Life& life = lives[v];
    give_pair(drafts, next, pairs, life);
    const Value& value = graph.values[v];
    life.bytes = value_bytes(graph, v, machine).value;
    life.is_input = value.kind == ValueKind::input;
    const bool needed_again = role == Role::core && v != latent;  // by the next step
    if (life.is_input && needed_again && !life.uses.empty()) use(v, drafts.size());
    if (life.is_input) life.in_dram = input_in_dram(role, c.part);
    if (life.is_input && waits_unread(life, drafts.size())) life.skips_dsram = true;
    if (life.in_dsram() && is_too_large(life.bytes, machine)) life.in_dram = true;
    if (machine.skip_handling == SkipHandling::spill && life.needs_stack() && !life.is_input) life.spilled = true;
  }
}

}  // namespace sdip
