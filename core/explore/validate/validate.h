// Validation: what the estimate says of a program beside what stepping it counts, and what the executor computes
// beside what the graph means.
//
// Counters. Each stage is stepped (core/exec/clock/step.h) for as many passes as the estimate simulated until its
// state repeated. In the cold pass and in the last one every counter of every instruction is compared, in those
// between their totals, for the stage the peaks. Tensors: core/explore/validate/validate_tensors.h.
//
// Worked example: a program of two instructions whose second ends at 250 by the estimate and at 251 on the clock
// has two differences: end_cycle of instruction 1 (the first one), and the end_cycle of the pass.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/time/timeline.h"
#include "core/cost/work/circuit.h"
#include "core/exec/clock/step.h"
#include "core/program/program.h"

namespace sdip {

/// One number as both sides say it.
struct Both {
  std::int64_t estimated = 0, executed = 0;
  friend bool operator==(const Both&, const Both&) = default;
};

/// How a counter of instructions becomes one of the pass.
enum class InPass { nothing, sum, last };

/// A counter that both sides have of an instruction. `of_pass`: where the estimate has it of a whole pass, too.
struct CounterRow {
  std::string_view name, unit;
  InPass in_pass = InPass::sum;
  std::int64_t (*estimated)(const InstructionTime&, const ClassCost&) = nullptr;
  std::int64_t InstructionCounts::*executed = nullptr;
  std::int64_t PassCost::*of_pass = nullptr;
};
std::span<const CounterRow> counter_rows();

/// A stage as the cost engine says it.
struct EstimatedStage {
  List<ClassCost> costs;  // by class
  TimelineResult stream;
  std::vector<InstructionTime> cold, last;  // instructions of the first pass simulated, and of the last
  bool unified = false;                     // one activation memory, which has one peak
};

/// The most that one SRAM held. `executed`: nothing where fewer passes were stepped than the estimate simulated.
struct Peak {
  std::string_view name;
  std::int64_t estimated = 0;
  std::optional<std::int64_t> executed{};
};

struct ComparedPass {
  std::int64_t number = 0;                  // 0: the cold pass
  std::vector<std::optional<Both>> totals;  // by counter row; nothing where the estimate has none of this pass
  std::vector<Both> counters;  // of each of StageCounters::compared, all rows; empty: totals alone were compared
};

/// Where the two sides first differ: in the order of passes, instructions, counter rows; then totals, then peaks.
struct CounterDifference {
  std::string stage;
  std::int64_t pass = 0;
  std::int32_t instruction = none;  // none: of the whole pass, or a peak
  std::string layer, counter;
  Both values;
};

struct StageCounters {
  std::string stage;
  Role role = Role::network;
  std::string left_out;  // why it was not stepped; "" when it was
  std::string failure;   // of the stepping, which is a difference: an instruction read what is not there
  std::int64_t instructions = 0, classes = 0, classes_compared = 0;
  std::vector<std::int32_t> compared;          // instructions, ascending
  std::vector<std::string> layers, mnemonics;  // of these
  std::int64_t simulated_passes = 0;           // by the estimate
  bool repeats = false;                        // the last of them left the state that it found
  std::vector<ComparedPass> passes;            // stepped ones, in order
  std::vector<Peak> peaks;
  std::int64_t tile_operations = 0;  // stepped, over all passes
  std::int64_t values = 0, differences = 0;
  std::optional<CounterDifference> first{};
};

/// The verdict of a comparison: a pass needs something that was compared.
enum class Verdict { pass, differs, not_compared };
std::string_view verdict_text(Verdict verdict);  // as the API spells it
Verdict verdict_of(std::int64_t compared, std::int64_t differences);
Verdict verdict_of(const StageCounters& stage);

struct ValidateOptions {
  std::vector<std::string> layers{};  // patterns of layers' names, as mapping rules write them; none: all
  std::int64_t most_passes = 0;       // to step; 0: as many as the estimate simulated
  /// Asked before a stage is stepped, with the tile operations that it will take; false leaves it out. Nothing:
  /// all are.
  std::function<bool(const CompiledStage&, std::int64_t tile_operations)> affordable{};
  /// After each instruction stepped: how many of how many, over all passes of the stage.
  std::function<void(const CompiledStage&, std::int64_t done, std::int64_t all)> progress{};
  /// Asked while a stage is stepped; true leaves it out: its time is over.
  Stop stop{};
};

/// Which instructions of a stage have a layer that a pattern stands for.
std::vector<std::int32_t> chosen_instructions(const CompiledStage& stage, std::span<const std::string> layers);

/// The first of the patterns that no layer of any stage has; nothing when each has one.
std::optional<std::size_t> unmatched_layer(const Application& application, std::span<const std::string> layers);

/// The cost engine's side; nothing when a pass is too long to be counted.
std::optional<EstimatedStage> estimated_stage(const CompiledStage& stage, const Machine& machine);

/// The clock's side: the stage stepped in its share of the channel and on its cores, every address of its
/// activation memories followed. Throws Error("execution_failed", ...) when an instruction reads what is not there.
StepCounts stepped_stage(const CompiledStage& stage, const Machine& machine, std::int64_t passes,
                         const StepOptions& options = {});

/// A stage of which nothing was compared, and why.
StageCounters left_out(const CompiledStage& stage, const std::string& why);

/// The tile operations of `passes` passes, as the estimate has them.
std::int64_t tile_operations(const CompiledStage& stage, const EstimatedStage& estimated, std::int64_t passes);

/// Both sides side by side. Requires that `counted` has at least one pass, of that stage.
StageCounters compare_counters(const CompiledStage& stage, const EstimatedStage& estimated,
                               const StepCounts& counted, std::vector<std::int32_t> instructions);

/// Each stage of a feasible application, estimated and stepped. Throws Error("layer_unmatched", pattern, ...) for a
/// pattern that no layer of any stage has.
std::vector<StageCounters> validate_counters(const Application& application, const Machine& machine,
                                             const ValidateOptions& options = {});

}  // namespace sdip
