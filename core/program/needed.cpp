// How many bytes an infeasible machine lacks: the stage is placed again with more.
//
// Example: an instruction with rows of 200 B, double-buffered, and 399 B of DSRAM. 2^40 B would do; halving the
// distance between what does and what does not ends at 399 and 400.
#include "core/program/needed.h"

namespace sdip {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 40;  // of any memory (core/machine/parameters.def)

bool placed(const Compilation& compilation, const Machine& machine) {
  Compilation again{machine,
                    compilation.role,
                    compilation.part,
                    compilation.graph,
                    compilation.roots,
                    compilation.drafts,
                    {},
                    {},
                    {},
                    {}};
  again.stage = compilation.stage;
  again.mapping_rules = compilation.mapping_rules;
  again.rules_met = compilation.rules_met;
  for (Draft& draft : again.drafts) draft.rule = nullptr;  // said anew
  live(again);
  say_mappings(again);
  return !try_place(again);
}

/// The least value of `field`, above `too_few`, with which the stage is placed, one less not being enough. Requires
/// that it is with `enough`.
std::int64_t least(const Compilation& compilation, Machine machine, std::int64_t Machine::*field,
                   std::int64_t too_few, std::int64_t enough) {
  // Needs are a few times what is there: doubling first keeps the tries few.
  for (std::int64_t step = std::max<std::int64_t>(1, too_few); too_few + step < enough; step *= 2) {
    machine.*field = too_few + step;
    if (placed(compilation, machine)) {
      enough = machine.*field;
      break;
    }
    too_few = machine.*field;
  }
  while (enough - too_few > 1) {
    machine.*field = too_few + (enough - too_few) / 2;
    (placed(compilation, machine) ? enough : too_few) = machine.*field;
  }
  return enough;
}

}  // namespace

std::string what_is_needed(const Compilation& compilation, std::size_t failed) {
  const Machine& machine = compilation.machine;
  const std::string has_dsram = "DSRAM (" + std::to_string(machine.dsram_bytes) + " B)";
  const std::string has_psram = "PSRAM (" + std::to_string(machine.psram_bytes) + " B)";
  const std::string what =
      compilation.graph->nodes[static_cast<std::size_t>(compilation.drafts[failed].node)].name +
      ": even the smallest tile does not fit in ";
  const auto needs = [](std::int64_t bytes) { return std::to_string(bytes) + " B are needed"; };
  Machine larger = machine;
  larger.dsram_bytes = most_bytes;
  if (placed(compilation, larger))
    return what + has_dsram + ": " +
           needs(least(compilation, machine, &Machine::dsram_bytes, machine.dsram_bytes, most_bytes));
  larger.psram_bytes = most_bytes;
  if (!placed(compilation, larger)) return what + has_dsram + " and " + has_psram;
  Machine more_weights = machine;
  more_weights.psram_bytes = most_bytes;
  const bool weights_only = placed(compilation, more_weights);
  if (weights_only)
    return what + has_psram + ": " +
           needs(least(compilation, machine, &Machine::psram_bytes, machine.psram_bytes, most_bytes));
  // Both: PSRAM as if DSRAM had no end, then DSRAM beside that PSRAM.
  more_weights.psram_bytes = least(compilation, larger, &Machine::psram_bytes, machine.psram_bytes, most_bytes);
  const std::int64_t dsram =
      least(compilation, more_weights, &Machine::dsram_bytes, machine.dsram_bytes, most_bytes);
  return what + has_dsram + " and " + has_psram + ": " + std::to_string(dsram) + " B and " +
         needs(more_weights.psram_bytes);
}

}  // namespace sdip
