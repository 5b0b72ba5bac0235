// How many bytes an infeasible machine lacks.
//
// An instruction alone, with all its operands in DRAM, says what it needs at least; the most that any does is
// nearly always what the stage needs. It is placed with that many and with one less to be sure, and searched for
// where that does not hold (a small operand may take less when it is whole than its two tiles would).
//
// Example: an instruction with rows of 200 B, double-buffered, and 399 B of DSRAM. 800 B would do; halving the
// distance between what does and what does not ends at 399 and 400.
#include "core/program/placing/needed.h"

#include <algorithm>

namespace sdip {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 40;  // of any memory (core/machine/parameters.def)

/// The compilation once more, before its places are given.
Compilation afresh(const Compilation& compilation, const Machine& machine) {
  Compilation again = asked_alike(compilation, machine, compilation.graph);
  again.roots = compilation.roots;
  again.drafts = compilation.drafts;
  again.joined = compilation.joined;
  for (Draft& draft : again.drafts) draft.rule = nullptr;  // said anew
  live(again);
  say_mappings(again);
  return again;
}

bool placed(const Compilation& compilation, const Machine& machine) {
  Compilation again = afresh(compilation, machine);
  return !try_place(again);
}

/// The least value above `too_few` that is enough, one less not being so. Requires that `enough` is.
template <class IsEnough>
std::int64_t least_of(std::int64_t too_few, std::int64_t enough, const IsEnough& is_enough) {
  // Needs are a few times what is there: doubling first keeps the tries few.
  for (std::int64_t step = std::max<std::int64_t>(1, too_few); too_few + step < enough; step *= 2) {
    if (is_enough(too_few + step)) {
      enough = too_few + step;
      break;
    }
    too_few += step;
  }
  while (enough - too_few > 1) {
    const std::int64_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

/// The least value of `field`, above `too_few`, with which every instruction alone has a mapping.
std::int64_t least_alone(const Compilation& compilation, Machine machine, std::int64_t Machine::*field,
                         std::int64_t too_few, std::int64_t enough) {
  const Compilation again = afresh(compilation, machine);
  machine.*field = too_few + 1;
  auto misfit = misfit_alone(again, machine, 0, again.drafts.size());
  while (misfit && machine.*field < enough) {
    machine.*field = least_of(machine.*field, enough, [&](std::int64_t bytes) {
      machine.*field = bytes;
      return !misfit_alone(again, machine, *misfit, *misfit + 1);
    });
    misfit = misfit_alone(again, machine, *misfit, again.drafts.size());
  }
  return machine.*field;
}

/// The least value of `field`, above `too_few`, with which the stage is placed, one less not being enough. Requires
/// that it is with `enough`.
std::int64_t least(const Compilation& compilation, Machine machine, std::int64_t Machine::*field,
                   std::int64_t too_few, std::int64_t enough) {
  const auto is_enough = [&](std::int64_t bytes) {
    machine.*field = bytes;
    return placed(compilation, machine);
  };
  const std::int64_t alone = least_alone(compilation, machine, field, too_few, enough);
  if (!is_enough(alone)) return least_of(alone, enough, is_enough);
  if (alone - 1 == too_few || !is_enough(alone - 1)) return alone;
  return least_of(too_few, alone - 1, is_enough);
}

}  // namespace

std::string what_is_needed(const Compilation& compilation, std::size_t failed) {
  const Machine& machine = compilation.machine;
  const std::string has_dsram = fmt::format("DSRAM ({} B)", machine.dsram_bytes);
  const std::string has_psram = fmt::format("PSRAM ({} B)", machine.psram_bytes);
  const std::string what =
      compilation.graph->nodes[compilation.drafts[failed].node].name + ": even the smallest tile does not fit in ";
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
  return fmt::format("{}{} and {}: {} B and {}", what, has_dsram, has_psram, dsram,
                     needs(more_weights.psram_bytes));
}

}  // namespace sdip
