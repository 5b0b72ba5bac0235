// The formulas of docs/model/work.md, filled in.
#include "core/cost/explain/filled_busy.h"

#include <algorithm>

#include "core/cost/work/formulas.h"
#include "core/cost/work/host.h"

namespace sdip {

using namespace cost;
namespace {

/// Beats where they really go; of weights that each core has its own of, all cores'.
void merge(const InstructionClass& c, const Machine& m, WeightPlace weights, FilledBusy& busy) {
  if (c.operand_b == Place::psram) busy.psram_read = number(c.spread_cores) * busy.psram_read;
  merge_ports(m, weights != WeightPlace::psram, 1, busy);
}

}  // namespace

Filled longest_dsram_read(const FilledBusy& busy) {
  std::array<Filled, pair_families + 1> reads;
  reads[0] = busy.dsram_read;
  std::ranges::copy(busy.other_pairs.beats, reads.begin() + 1);
  return largest(reads);
}

Filled longest_worked_out(const FilledBusy& busy) {
  const auto cycles = [](const Filled& need) { return number(need.value()); };
  return largest(std::initializer_list<Filled>{cycles(busy.compute), cycles(longest_dsram_read(busy)),
                                               cycles(busy.dsram_write), cycles(busy.stackram_read),
                                               cycles(busy.stackram_write), cycles(busy.psram_read)});
}

bool agrees(const FilledBusy& f, const Busy& b) {
  return std::ranges::equal(f.other_pairs.beats, b.other_pairs.beats, {}, &Filled::value) &&
         f.compute.value() == b.compute && f.dsram_read.value() == b.dsram_read &&
         f.dsram_write.value() == b.dsram_write && f.stackram_read.value() == b.stackram_read &&
         f.stackram_write.value() == b.stackram_write && f.psram_read.value() == b.psram_read &&
         f.accumulator_writes.value() == b.accumulator_writes &&
         f.accumulator_reads.value() == b.accumulator_reads && f.register_writes.value() == b.register_writes;
}

FilledBusy filled_busy(const InstructionClass& c, const Machine& m, const TilePlan& plan, const TileShape& tile,
                       WeightPlace weights) {
  FilledBusy busy;
  OperationFormulas<Filled> formulas(c, m, plan, tile, busy);
  if (plan.nest)
    formulas.add_nest(weights);
  else
    formulas.add_rows();
  merge(c, m, weights, busy);
  return busy;
}

std::vector<StepOf<Filled>> filled_host(const InstructionClass& c, const Machine& m, const TilePlan& plan,
                                        const TileShape& tile, WeightPlace weights) {
  const auto steps = host_formulas<Filled>(c, m, plan, tile);
  std::vector<StepOf<Filled>> merged;
  for (const FilledBusy& step : steps) merge(c, m, weights, merged.emplace_back(StepOf<Filled>{step}).busy);
  return merged;
}

}  // namespace sdip
