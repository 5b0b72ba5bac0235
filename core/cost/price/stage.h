// A stage run on a machine: what estimate.cpp makes metrics of and report.cpp tells.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/cost/price/energy.h"
#include "core/cost/price/estimate.h"
#include "core/cost/time/timeline.h"

namespace sdip {

inline constexpr std::int64_t most_simulated_passes = 64;

/// How the stream of frames meets the cores.
struct FrameSchedule {
  std::int64_t steps_per_core = 1, active_cores = 1;
  std::int64_t cores_of_frame = 1;  // that a frame goes through, one after the other
  /// Frames that enter and leave together.
  std::int64_t frames() const { return active_cores / cores_of_frame; }
};

/// Work of a family's products: cycles of a MAC of its array, and of those that a memory makes.
struct FamilyWork {
  std::int64_t mac_cycles = 0, memory_cycles = 0;
  friend bool operator==(const FamilyWork&, const FamilyWork&) = default;
};
using WorkByFamily = Array<FamilyWork, 3>;

/// Sums of a stage's classes in a pass, whatever the channel does.
struct StageCost {
  CoreEvents events;                          // of classes in the machine's formats, on all cores that share one
  std::map<std::int32_t, CoreEvents> of_own;  // of each class in formats of its own
  WorkByFamily of_family;
  std::int64_t macs = 0, bound_cycles = 0;
  std::int64_t mac_cycles = 0;       // of single MACs, at the least
  std::int64_t made_macs = 0;        // of macs, on lanes or in a memory: no zeros skipped
  std::int64_t products_in_mac = 1;  // the most of any class that works on lanes
  std::int64_t spread_cores = 1;     // the most that share one instruction of a frame
  std::int64_t weight_beats = 0;     // of PSRAM's port
  double words_bytes{};              // of instructions, read from IMEM in a pass
  bool streams_activations = false;  // some pass through DRAM
};
/// Costs by class, with as many cores in lockstep as the stage's schedule has; or with so many.
List<ClassCost> class_costs(const CompiledStage& stage, const Machine& m);
List<ClassCost> class_costs(const CompiledStage& stage, const Machine& m, std::int64_t cores);
/// Makes of the `costs` of one machine those of another of the same compile_key.
void cost_anew(const CompiledStage& stage, const Machine& m, List<ClassCost>& costs);
/// `costs` are those of class_costs. Requires countable(...).
StageCost stage_cost(const CompiledStage& stage, const Machine& m, const ClassUses& uses,
                     const List<ClassCost>& costs);

/// Energy of a pass, leakage apart: one core, its activations through DRAM too, and what all cores share.
struct PassEnergy {
  Energy core, shared;
  double hand_over_j = 0;  // of a period: what goes from die to die with the frames
};

/// One stage, costed: its work and its times alone and in a saturated stream.
struct StageRun {
  const CompiledStage* stage = nullptr;
  Machine machine;  // that it runs on (machine_of_stage), its cores those in lockstep
  FrameSchedule schedule;
  ClassUses uses;
  List<ClassCost> costs;
  StageCost work;
  TimelineResult stream, alone;
  std::int64_t link_cycles = 0;
  PassEnergy energy;

  const PassCost& steady() const { return stream.passes[stream.steady]; }
};

/// How often a frame runs a stage of that role.
inline std::int64_t passes_per_frame(Role role, const Machine& m) { return role == Role::core ? m.steps : 1; }

/// Any core hands data to any other.
bool has_crossbar(const Machine& m);

/// How many cores a stage has, and how many passes a frame takes on one.
FrameSchedule frame_schedule(Role role, SeriesPart part, const Machine& m);
/// Cycles of what a frame takes with it from core to core.
std::int64_t link_cycles(const CompiledStage& stage, const Machine& m);

/// The channel that a stage meets.
DramRate stage_rate(const CompiledStage& stage, const Machine& m);
/// The channel and memories that a stage meets, `cores` of it in lockstep.
TimelineRules stage_rules(const CompiledStage& stage, const Machine& m, std::int64_t cores);

/// As many of its cores' activations as take the channel as long as those of `cores` of it do.
std::int64_t channel_cores(const CompiledStage& stage, const Machine& m, std::int64_t cores);

/// Passes whose sum 64 bits must hold.
std::int64_t counted_passes(const Machine& m);

/// Runs a stage, not priced yet; with `trace`, also the times of its instructions in the last pass. Nothing when a
/// pass is too long to be counted.
std::optional<StageRun> run_stage(const CompiledStage& stage, const Machine& m,
                                  std::vector<InstructionTime>* trace);

/// Prices of a stage's events: those of the machine's formats, and of classes in formats of their own.
struct StagePrices {
  EnergyPrices usual;
  std::map<std::int32_t, EnergyPrices> own;
  double hand_over_j = 0;  // of a period: latents and contexts over the links between dies
  const EnergyPrices& of(std::int32_t instruction_class) const {
    const auto found = own.find(instruction_class);
    return found == own.end() ? usual : found->second;
  }
};
StagePrices stage_prices(const CompiledStage& stage, const Machine& m, Bound bound);

PassEnergy pass_energy(const StageCost& work, const PassCost& pass, std::int64_t active_cores,
                       const StagePrices& prices, const Supply& supply, double turn_j);
/// Prices the events of a pass, at an end of the constants' ranges or between.
void price_pass(StageRun& run, const Machine& m, Bound bound, const Supply& supply);

/// Bytes of IMEM that a stage's program takes, and its longest instruction. At most 2^56.
struct ProgramSize {
  std::int64_t bytes = 0, longest_bytes = 0;
  std::size_t longest = 0;  // the first instruction of that size
};
ProgramSize program_size(const CompiledStage& stage, const Machine& m);
/// Bytes of one instruction's words. A circuit has none.
std::int64_t words_bytes(const CompiledStage& stage, const Instruction& instruction, const ClassCost& cost,
                         const Machine& m);

/// False for an encoder or decoder off chip.
bool on_chip(Role role, const Machine& m);

/// The roofs of products that lanes make: each family's by its class that reaches highest, equal ones as one.
std::vector<MacRoof> mac_roofs(const StageRun& run);

/// The notes of a report: what is outside the model's validity, or assumed, and options that do nothing here. Reads
/// the report's dies and clock limit.
std::vector<std::string> notes_of(const std::vector<StageRun>& runs, const Report& report, const Machine& m);

}  // namespace sdip
