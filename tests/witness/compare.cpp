// The estimate beside the executor.
#include "tests/witness/compare.h"

#include <algorithm>
#include <bit>
#include <sstream>

#include "core/cost/price/estimate.h"
#include "core/cost/price/stage.h"
#include "tests/core/cost/counted.h"
#include "tests/core/exec/pass_sum.h"
#include "tests/witness/programs.h"

namespace sdip::witness {
namespace {

struct ReportedInstruction {
  std::size_t number;
};
std::ostream& operator<<(std::ostream& out, ReportedInstruction at) {
  return out << "report: instruction " << at.number << ": ";
}

/// Gathers the first difference.
struct Findings {
  const CompiledStage& stage;
  std::optional<Difference> first;
  void equal(std::string_view what, std::int64_t estimated, std::int64_t executed) {
    equal("", what, estimated, executed);
  }
  /// The text is made of what differs alone: a hundred million comparisons find nothing.
  void equal(const auto& place, std::string_view what, std::int64_t estimated, std::int64_t executed) {
    if (first || estimated == executed) return;
    std::ostringstream text;
    text << stage.name << ": " << place << what;
    first = Difference{text.str(), estimated, executed};
  }
};

void compare_sums(Findings& c, const std::string& pass, const PassCost& cost, const InstructionCounts& sum,
                  const PassCounts& streams) {
  c.equal(pass, ": cycles", cost.cycles, sum.end);
  c.equal(pass, ": stall_weights", cost.stall_weights, sum.stall_weights);
  c.equal(pass, ": stall_activations", cost.stall_activations, sum.stall_activations);
  c.equal(pass, ": weight_bytes", cost.weight_bytes, sum.weight_bytes);
  c.equal(pass, ": activation_in_bytes", cost.activation_in_bytes, sum.activation_in_bytes);
  c.equal(pass, ": activation_out_bytes", cost.activation_out_bytes, sum.activation_out_bytes);
  c.equal(pass, ": stall_program", cost.stall_program, sum.stall_program);
  c.equal(pass, ": program_bytes", cost.program_bytes, sum.program_bytes);
  c.equal(pass, ": cycles of the pass", cost.cycles, streams.cycles);
  c.equal(pass, ": bytes of the weight stream", cost.weight_bytes, streams.weight_bytes);
  c.equal(pass, ": bytes of activations in", cost.activation_in_bytes, streams.activation_in_bytes);
  c.equal(pass, ": bytes of activations out", cost.activation_out_bytes, streams.activation_out_bytes);
  c.equal(pass, ": bytes of the program", cost.program_bytes, streams.program_bytes);
  c.equal(pass, ": turns", cost.turns, streams.turns);
}

/// An instruction's times say what its pass was; so each pass but the last is run to its end alone.
void compare_instructions(Findings& c, std::size_t pass, const std::vector<InstructionTime>& trace,
                          const List<ClassCost>& costs, const std::vector<InstructionCounts>& executed) {
  const Program& program = c.stage.program;
  c.equal("instructions", std::ssize(trace), std::ssize(executed));
  for (std::size_t i = 0; i < trace.size() && !c.first; ++i) {
    const InstructionCounts one =
        counted(trace[i], costs[static_cast<std::size_t>(program.instructions[i].instruction_class)]);
    if (one == executed[i]) continue;
    for (const CounterRow& row : counters)
      c.equal("pass " + std::to_string(pass) + ", instruction " + std::to_string(i) + ": " + std::string(row.name),
              one.*row.field, executed[i].*row.field);
  }
}

/// A compiled stage with every address of its activation memories followed.
StepCounts executed_passes(const CompiledStage& stage, const Machine& machine, const Lockstep& l,
                           std::size_t passes) {
  if (stage.graph != nullptr) return step(stage, machine, l.share, l.cores, passes);
  return step(stage.program, machine, l.share, l.cores, passes, stage.role);
}

/// Words are waited for before an instruction begins where others run beside it.
std::int64_t running_of(const InstructionCounts& sum, const Machine& machine) {
  return sum.start + (machine.operator_dsram == OperatorDsram::per_operator ? sum.stall_program : 0);
}

/// Whether an input may lie in STACKRAM that no instruction reads there: it travels on with its frame. The program
/// does not say where, so that the executor, which sees what instructions name, does not hold it.
bool holds_unread_input(const CompiledStage& stage) {
  return std::ranges::any_of(stage.graph->inputs, [&](ValueId input) {
    if (element_count(stage.graph->values[static_cast<std::size_t>(input)].operand.shape) <= 1) return false;
    return std::ranges::none_of(stage.program.instructions, [&](const Instruction& i) {
      return std::ranges::any_of(i.sources, [&](const PlacedOperand& s) {
        return s.value == input && (s.place == Place::stackram || s.place == Place::dram);
      });
    });
  });
}

/// The report of the stage alone against pass `last`, the first whose state repeats or one like it. False where the
/// machine cannot hold the program.
bool compare_report(Findings& f, const Machine& machine, std::int64_t cores, const StepCounts& executed,
                    std::size_t last) {
  Application application;
  application.name = "witness";
  application.stages = {f.stage};
  const Report report = estimate(application, machine);
  const Outcome outcome = evaluate(application, machine);
  f.equal("evaluate: feasible", outcome.feasible, report.outcome.feasible);
  if (!report.outcome.counted()) return false;
  for (std::size_t i = 0; i < metric_count; ++i)
    f.equal("evaluate: ", metrics()[i].name, std::bit_cast<std::int64_t>(outcome.values[i]),
            std::bit_cast<std::int64_t>(report.outcome.values[i]));
  const StageReport& r = report.stages.at(0);
  const InstructionCounts sum = sum_of(executed.passes[last]);
  f.equal("report: cold_cycles", r.cold_cycles.value, sum_of(executed.passes[0]).end);
  f.equal("report: steady_cycles", r.steady_cycles.value, sum.end);
  f.equal("report: stall_weights", r.stall_weights.value, sum.stall_weights);
  f.equal("report: stall_activations", r.stall_activations.value, sum.stall_activations);
  f.equal("report: stall_program", r.stall_program.value, sum.stall_program);
  f.equal("report: running", r.running.value, running_of(sum, machine));
  f.equal("report: waiting", r.waiting.value, sum.waiting);
  f.equal("report: dram_weights", r.dram_weights.value, sum.weight_bytes);
  f.equal("report: dram_activations", r.dram_activations.value, sum.activation_in_bytes + sum.activation_out_bytes);
  f.equal("report: dram_program", r.dram_program.value, sum.program_bytes);
  if (f.stage.graph != nullptr) {
    const PeakCounts& peaks = executed.peaks;
    const bool unified = machine.activation_memory == ActivationMemory::unified;
    const std::int64_t sides = std::max(peaks.dsram_read_bytes, peaks.dsram_write_bytes);
    std::int64_t stated = 0;  // of a memory that is one, in parts that are no memories' own
    for (const Instruction& i : f.stage.program.instructions)
      stated = std::max(stated, (i.dsram_read_side + i.dsram_write_side + i.stackram).value);
    if (!unified) f.equal("report: dsram_peak", r.dsram_peak.value, sides);
    if (!holds_unread_input(f.stage))
      f.equal(unified ? "unified peak" : "report: stackram_peak", unified ? stated : r.stackram_peak.value,
              peaks.stackram_bytes);
  }
  f.equal("report: psram_peak", r.psram_peak.value, executed.psram_peak_bytes);
  f.equal("report: imem_bytes", r.imem_bytes.value, words_of(f.stage.program, machine, f.stage.role).all);
  f.equal("report: instructions", std::ssize(r.instructions), std::ssize(executed.passes[last]));
  for (std::size_t i = 0; i < r.instructions.size() && !f.first; ++i) {
    const InstructionCost& one = r.instructions[i];
    const InstructionCounts& counts = executed.passes[last][i];
    const ReportedInstruction at{i};
    f.equal(at, "start", one.start.value, counts.start);
    f.equal(at, "end", one.end.value, counts.end);
    f.equal(at, "stall_weights", one.stall_weights.value, counts.stall_weights);
    f.equal(at, "stall_activations", one.stall_activations.value, counts.stall_activations);
    f.equal(at, "stall_program", one.stall_program.value, counts.stall_program);
    f.equal(at, "waiting", one.waiting.value, counts.waiting);
    f.equal(at, "dram_weights", one.dram_weights.value, counts.weight_bytes);
    f.equal(at, "dram_program", one.dram_program.value, counts.program_bytes);
    f.equal(at, "all_activations_in", one.all_activations_in.value, counts.activation_in_bytes);
    f.equal(at, "all_activations_out", one.all_activations_out.value, counts.activation_out_bytes);
    f.equal(at, "dram_activations_in", one.dram_activations_in.value * cores, counts.activation_in_bytes);
    f.equal(at, "dram_activations_out", one.dram_activations_out.value * cores, counts.activation_out_bytes);
  }
  return true;
}

}  // namespace

Lockstep lockstep_of(const CompiledStage& stage, const Machine& m) {
  Lockstep l;
  if (stage.part.count > 1) return l;
  const std::int64_t encoder = m.mode == Mode::image_to_image ? m.encoder_dram_share.hundredths : 0;
  switch (stage.role) {
    case Role::network:
      if (m.branches == Branches::serial) l.cores = m.cores;
      break;
    case Role::core: {
      const std::int64_t steps = (m.steps + m.cores - 1) / m.cores;  // of a core
      l.cores = m.memory_hierarchy == MemoryHierarchy::crossbar ? m.cores : (m.steps + steps - 1) / steps;
      if (m.vae_stage != VaeStage::off_chip) l.share.hundredths = 100 - encoder - m.decoder_dram_share.hundredths;
      break;
    }
    case Role::encoder:
      l.share = m.encoder_dram_share;
      break;
    case Role::decoder:
      l.share = m.decoder_dram_share;
      break;
    case Role::text_encoder:
      break;
  }
  return l;
}

Comparison compare(const CompiledStage& stage, const Machine& machine, std::int64_t most_passes, bool with_report,
                   const Machine* stepped_on) {
  const Program& program = stage.program;
  const Lockstep lockstep = lockstep_of(stage, machine);
  Findings f{stage, {}};
  List<ClassCost> costs;
  const Machine own = machine_of_stage(machine, stage.role),
                its = machine_of_stage(machine, stage.role, lockstep.cores);
  for (const InstructionClass& one : program.classes) costs.push_back(class_cost(one, its, stage.role));
  const TimelineRules rules =
      timeline_rules(own, lockstep.share, lockstep.cores, program.pinned_bytes, stage.role, stage.dram_thousandths);
  std::vector<InstructionTime> trace;
  const TimelineResult result = run_timeline(program, costs, rules, most_passes, &trace);
  const std::size_t simulated = result.passes.size();
  Comparison c;
  c.repeats = result.repeats;
  const std::size_t stepped = simulated + (result.repeats ? 2 : 0);
  c.executed = executed_passes(stage, stepped_on != nullptr ? *stepped_on : machine, lockstep, stepped);
  const auto& passes = c.executed.passes;
  for (std::size_t i = 0; i < passes.size(); ++i)
    compare_sums(f, "pass " + std::to_string(i), result.passes[std::min(i, simulated - 1)], sum_of(passes[i]),
                 c.executed.streams[i]);
  compare_instructions(f, simulated - 1, trace, costs, passes[simulated - 1]);
  for (std::size_t pass = 0; pass + 1 < simulated && pass < 2; ++pass) {
    std::vector<InstructionTime> times;
    run_timeline(program, costs, rules, static_cast<std::int64_t>(pass) + 1, &times);
    compare_instructions(f, pass, times, costs, passes[pass]);
  }
  const InstructionCounts last = sum_of(passes[simulated - 1]);
  f.equal("running", result.running_cycles, running_of(last, machine));
  f.equal("waiting", result.waiting_cycles, last.waiting);
  f.equal("psram_peak_bytes", result.psram_peak_bytes, c.executed.psram_peak_bytes);
  if (with_report && result.repeats)
    c.reported = compare_report(f, machine, lockstep.cores, c.executed, simulated - 1);
  c.difference = f.first;
  return c;
}

}  // namespace sdip::witness
