// The resources that an instruction owns while it runs.
#include "core/cost/work/scoreboard.h"

#include "core/base/error.h"
#include "core/cost/work/circuit.h"
#include "core/cost/work/host.h"

namespace sdip {
namespace {

// Places in Owned, behind the circuits.
constexpr std::size_t pair_reads = circuit_count, pair_writes = pair_reads + pair_families,
                      stackram_read = pair_writes + pair_families, stackram_write = stackram_read + 1,
                      psram_read = stackram_write + 1, core_link = psram_read + 1;
static_assert(core_link + 1 == ownable_count);

}  // namespace

std::bitset<circuit_count> circuits_of(const InstructionClass& c, const Machine& m) {
  std::bitset<circuit_count> owned;
  const auto works = [&](Family family) { owned.set(at(circuit_of(family, m))); };
  const auto own_fused = [&](const auto& one) {
    if (one.fused_passes > 0) works(Family::vector);
    if (one.prologue_passes + one.statistics_passes > 0) works(Family::norm);
  };
  owned.set(at(circuit_of(c, m)));
  if (on_host(c, m.host_operators)) return owned;  // what is fused with it, too
  own_fused(c);
  if (c.compound == Compound::attention) {
    works(Family::softmax);
    works(c.parts.at(2).work.family);
  }
  if (c.compound != Compound::strips) return owned;
  for (const Part& part : c.parts) {
    works(part.work.family);
    own_fused(part);
  }
  return owned;
}

Circuit circuit_of(Family family, const Machine& m) {
  using enum Circuit;
  static constexpr Circuit own[] = {conv2d, linear, matmul, vector, softmax, norm, transpose, vector, vector};
  const bool shares = family == Family::linear || family == Family::matmul;
  return shares && m.mac_sharing == MacSharing::shared ? conv2d : own[at(family)];
}

Circuit circuit_of(const InstructionClass& c, const Machine& m) {
  return on_host(c, m.host_operators) ? Circuit::host : circuit_of(c.work.family, m);
}

std::size_t pair_index(Family family) {
  const auto index = at(family);
  check(index < pair_families, "a family that makes no result has no DSRAM pair");
  return index;
}

std::int64_t dsram_pairs(const Machine& m) { return has_pairs(m) ? static_cast<std::int64_t>(pair_families) : 1; }

Owned owned_by(const InstructionClass& c, const Busy& busy, const Machine& m) {
  Owned owned(circuits_of(c, m).to_ulong());
  const std::size_t own = pair_index(c.work.family);
  for (std::size_t pair = 0; pair < pair_families; ++pair)
    owned[pair_reads + pair] = (pair == own ? busy[Resource::dsram_read] : busy.other_pairs.beats[pair]) > 0;
  owned[pair_writes + own] = busy[Resource::dsram_write] > 0;
  owned[stackram_read] = busy[Resource::stackram_read] > 0;
  owned[stackram_write] = busy[Resource::stackram_write] > 0;
  owned[psram_read] = busy[Resource::psram_read] > 0;
  owned[core_link] = c.spread_cores > 1;
  return owned;
}

}  // namespace sdip
