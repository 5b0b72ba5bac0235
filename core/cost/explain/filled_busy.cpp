// The formulas of docs/model/work.md, filled in.
#include "core/cost/explain/filled_busy.h"

#include <algorithm>

#include "core/cost/work/formulas.h"
#include "core/cost/work/host.h"

namespace sdip {

using namespace cost;
namespace {

/// Beats where they really go; of weights that each core has its own of, all cores'.
void merge(const InstructionClass& c, const Resolved& r, FilledBusy& busy) {
  if (c.operand_b == Place::psram) busy[Resource::psram_read] = number(c.spread_cores) * busy[Resource::psram_read];
  merge_ports(r, 1, busy);
}

}  // namespace

Filled longest_dsram_read(const FilledBusy& busy) {
  std::array<Filled, pair_families + 1> reads;
  reads[0] = busy[Resource::dsram_read];
  std::ranges::copy(busy.other_pairs.beats, reads.begin() + 1);
  return largest(reads);
}

Filled longest_worked_out(const FilledBusy& busy) {
  const auto cycles = [](const Filled& need) { return number(need.value()); };
  ByCoreResource<Filled> needs = busy.needs;
  needs[Resource::dsram_read] = longest_dsram_read(busy);
  std::ranges::transform(needs, needs.begin(), cycles);
  return largest(needs);
}

bool agrees(const FilledBusy& f, const Busy& b) {
  return std::ranges::equal(f.other_pairs.beats, b.other_pairs.beats, {}, &Filled::value) &&
         std::ranges::equal(f.needs, b.needs, {}, &Filled::value) &&
         f.accumulator_writes.value() == b.accumulator_writes &&
         f.accumulator_reads.value() == b.accumulator_reads && f.register_writes.value() == b.register_writes;
}

FilledBusy filled_busy(const InstructionClass& c, const Resolved& r, const TilePlan& plan, const TileShape& tile) {
  FilledBusy busy;
  OperationFormulas<Filled>(c, r, plan, tile, busy).add();
  merge(c, r, busy);
  return busy;
}

std::vector<StepOf<Filled>> filled_host(const InstructionClass& c, const Resolved& r, const TilePlan& plan,
                                        const TileShape& tile) {
  const auto steps = host_formulas<Filled>(c, r, plan, tile);
  std::vector<StepOf<Filled>> merged;
  for (const FilledBusy& step : steps) merge(c, r, merged.emplace_back(StepOf<Filled>{step}).busy);
  return merged;
}

}  // namespace sdip
