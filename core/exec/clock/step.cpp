// So many passes of the clock.
#include "core/exec/clock/step.h"

#include <algorithm>
#include <utility>

#include "core/exec/clock/clock.h"

namespace sdip {
namespace {

StepCounts run(exec::Clock& clock, std::size_t passes) {
  StepCounts counts;
  for (std::size_t i = 0; i < passes; ++i) {
    PassCounts pass = clock.pass();
    counts.passes.push_back(std::move(pass.instructions));
    pass.instructions.clear();
    counts.streams.push_back(std::move(pass));
  }
  counts.peaks.psram_bytes = counts.psram_peak_bytes = clock.psram_peak_bytes();
  counts.peaks.imem_bytes = clock.imem_peak_bytes();
  for (const exec::Occupancy& o : clock.occupancy()) {
    counts.peaks.dsram_read_bytes = std::max(counts.peaks.dsram_read_bytes, o.read_side);
    counts.peaks.dsram_write_bytes = std::max(counts.peaks.dsram_write_bytes, o.write_side);
    counts.peaks.stackram_bytes = std::max(counts.peaks.stackram_bytes, o.stackram);
  }
  return counts;
}

}  // namespace

StepCounts step(const Program& program, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, Role role) {
  exec::Clock clock(program, machine, share, 1000, cores, role);
  return run(clock, passes);
}

StepCounts step(const CompiledStage& stage, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, const StepOptions& options) {
  exec::Clock clock(stage.program, machine, share, stage.dram_thousandths, cores, stage.role, options);
  clock.follow(stage);
  return run(clock, passes);
}

StepCounts step(const CompiledStage& stage, const Machine& machine, Decimal share, std::int64_t cores,
                std::size_t passes, std::span<const InstructionTransfers> moved) {
  exec::Clock clock(stage.program, machine, share, stage.dram_thousandths, cores, stage.role);
  clock.follow(stage);
  clock.charge(moved);
  return run(clock, passes);
}

}  // namespace sdip
