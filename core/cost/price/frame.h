// Stages to frames, frames to metrics. Internal to its library.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/cost/price/clock.h"
#include "core/cost/price/dies_price.h"
#include "core/cost/price/frame_formulas.h"

namespace sdip {

/// Figures of a stage that its frame is made of. Passes are steady ones.
struct StageTotals {
  const CompiledStage* stage = nullptr;
  FrameSchedule schedule;
  std::int64_t alone_cycles{};  // of all passes of a frame alone
  std::int64_t cycles{}, stall_cycles{}, running_cycles{};
  std::int64_t weight_bytes{}, activation_bytes{}, program_bytes{};
  std::int64_t psram_peak_bytes{}, link_cycles{};
  std::int64_t mac_cycles{}, bound_cycles{}, spread_cores{}, made_macs{}, products_in_mac{};
  PassEnergy energy;
};
StageTotals stage_totals(const StageRun& run, const Machine& m);
/// The totals that depend on no time: passes, links, MACs and bounds.
StageTotals untimed_totals(const CompiledStage& stage, const FrameSchedule& schedule, const StageCost& cost,
                           const Machine& m);

/// Figures of an application that metrics read, whatever the machine.
struct ApplicationTotals {
  Bytes dsram_peak, stackram_peak;
  std::vector<Formats> formats;  // of classes that have their own
};
ApplicationTotals application_totals(const Application& application);

/// The chip on which it runs, its DRAM's PHYs and controllers and the links between its dies apart.
struct ChipTotals {
  std::array<double, area_blocks.size()> block_mm2{};
  double area_mm2 = 0;  // of all blocks
  StandingArea standing;
  SlowestCircuit slowest;
  std::int64_t sram_bytes{};
  double mac_lanes{};
  DieAreas dies;
};
ChipTotals chip_totals(const Application& application, const ApplicationTotals& totals, const Machine& m,
                       Bound bound);
/// As area_of() in area.h.
Breakdown area_of(const ChipTotals& chip, const BuiltDram& dram, const BuiltLinks& links, const Machine& m);

/// Passes of a stage in a period of a saturated stream: those that its cores share, and those of one core's own.
struct PeriodPasses {
  std::int64_t shared = 0, own = 0;
};
/// `together`: frames that the cores take in at once, one after the other in all other stages. No passes for a
/// stage that no frame goes through.
PeriodPasses period_passes(const CompiledStage& stage, const FrameSchedule& schedule, std::int64_t together,
                           const Machine& m);

/// Sums over the stages that a frame passes through.
struct Frame {
  FrameCycles<std::int64_t> cycles;
  // Sums of as many frames as a period brings.
  std::int64_t weight_bytes = 0, activation_bytes = 0, program_bytes = 0;
  double made_macs = 0;
  Energy energy;
};
Frame frame_of(std::span<const StageTotals> stages, const Machine& m);

/// Power that a chip draws whether it works or not: its leakage, and a cycle of its clock tree.
struct StandingPower {
  double leakage_w = 0, clock_j_per_cycle = 0;
  double phy_w = 0, background_w = 0;  // of DRAM: on the die, and in its devices
  double links_w = 0;                  // between dies
  /// Energy of so many cycles.
  Energy over(double cycles, const Machine& m) const;
};
/// `dram`, `links`: what is built at `bound`.
StandingPower standing_power(const StandingArea& standing, const BuiltDram& dram, const BuiltLinks& links,
                             const Supply& supply, const Machine& m, Bound bound);

/// Energy of a frame: its own, and leakage and clock tree while it is in the seats of a saturated stream.
Energy frame_energy(const Frame& frame, const StandingPower& standing, const Machine& m);

/// Stages on a chip, at an end of the constants' ranges or between.
struct PricedFrame {
  std::vector<StageTotals> stages;
  Frame frame;
  BuiltDram dram;
  BuiltLinks links;
  StandingPower standing;
  Energy energy;  // of one frame
};
PricedFrame price_frame(std::vector<StageTotals> stages, const ChipTotals& chip, const Supply& supply,
                        const Machine& m, Bound bound);

/// Watts that go off on the die, DRAM's apart, of frames of that energy so many a second.
double die_watts(const Energy& frame, double frames_per_s);

/// Fills a report beyond its outcome, but for notes and what fill_bound of estimate.cpp says at each bound.
/// `traces` by stage, as run_stage left them.
void fill_report(const Application& application, const Machine& machine, const std::vector<StageRun>& runs,
                 const std::vector<std::vector<InstructionTime>>& traces, const ApplicationTotals& totals,
                 const ChipTotals& chip, const PricedFrame& priced, const Supply& supply, Report& report);

/// Metrics of the chip at `supply`, and which limit it breaks, if it is not `broken` before.
Outcome outcome_of(const PricedFrame& priced, const ApplicationTotals& totals, const ChipTotals& chip,
                   const Supply& supply, std::string broken, const Machine& m);

}  // namespace sdip
