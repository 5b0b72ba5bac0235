// Estimate and clock, counter by counter.
#include "core/explore/validate/validate.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/cost/price/stage.h"
#include "core/exec/clock/line.h"
#include "core/program/tiling/mapping_text.h"

namespace sdip {
namespace {

using Time = const InstructionTime&;
using Cost = const ClassCost&;
using Counts = InstructionCounts;

constexpr CounterRow rows[] = {
    {"start_cycle", "cycles", InPass::nothing, [](Time t, Cost) { return t.start; }, &Counts::start},
    {"end_cycle", "cycles", InPass::last, [](Time t, Cost) { return t.end; }, &Counts::end, &PassCost::cycles},
    {"waiting_cycles", "cycles", InPass::sum, [](Time t, Cost) { return t.waiting; }, &Counts::waiting},
    {"stall_weights_cycles", "cycles", InPass::sum, [](Time t, Cost) { return t.stall_weights; },
     &Counts::stall_weights, &PassCost::stall_weights},
    {"stall_activations_cycles", "cycles", InPass::sum, [](Time t, Cost) { return t.stall_activations; },
     &Counts::stall_activations, &PassCost::stall_activations},
    {"stall_program_cycles", "cycles", InPass::sum, [](Time t, Cost) { return t.stall_program; },
     &Counts::stall_program, &PassCost::stall_program},
    {"compute_cycles", "cycles", InPass::sum, [](Time, Cost c) { return c.busy[Resource::compute]; },
     &Counts::compute_cycles},
    {"tile_operations", "", InPass::sum, [](Time, Cost c) { return c.operations; }, &Counts::tile_operations},
    {"dsram_read_beats", "beats", InPass::sum, [](Time, Cost c) { return c.busy.all_dsram_reads(); },
     &Counts::dsram_read_beats},
    {"dsram_write_beats", "beats", InPass::sum, [](Time, Cost c) { return c.busy[Resource::dsram_write]; },
     &Counts::dsram_write_beats},
    {"stackram_read_beats", "beats", InPass::sum, [](Time, Cost c) { return c.busy[Resource::stackram_read]; },
     &Counts::stackram_read_beats},
    {"stackram_write_beats", "beats", InPass::sum, [](Time, Cost c) { return c.busy[Resource::stackram_write]; },
     &Counts::stackram_write_beats},
    {"psram_read_beats", "beats", InPass::sum, [](Time, Cost c) { return c.busy[Resource::psram_read]; },
     &Counts::psram_read_beats},
    {"dma_read_beats", "beats", InPass::sum, [](Time, Cost c) { return c.dma[Resource::dsram_read]; },
     &Counts::dma_read_beats},
    {"dma_write_beats", "beats", InPass::sum, [](Time, Cost c) { return c.dma[Resource::dsram_write]; },
     &Counts::dma_write_beats},
    {"dma_psram_beats", "beats", InPass::sum, [](Time, Cost c) { return c.dma[Resource::psram_read]; },
     &Counts::dma_psram_beats},
    {"psram_stack_beats", "beats", InPass::sum, [](Time, Cost c) { return c.busy.psram_stack; },
     &Counts::psram_stack_beats},
    {"accumulator_writes", "", InPass::sum, [](Time, Cost c) { return c.busy.accumulator_writes; },
     &Counts::accumulator_writes},
    {"accumulator_reads", "", InPass::sum, [](Time, Cost c) { return c.busy.accumulator_reads; },
     &Counts::accumulator_reads},
    {"register_writes", "", InPass::sum, [](Time, Cost c) { return c.busy.register_writes; },
     &Counts::register_writes},
    {"dram_weights_bytes", "B", InPass::sum, [](Time t, Cost) { return t.weight_bytes; }, &Counts::weight_bytes,
     &PassCost::weight_bytes},
    {"dram_activations_in_bytes", "B", InPass::sum, [](Time t, Cost) { return t.activation_in_bytes; },
     &Counts::activation_in_bytes, &PassCost::activation_in_bytes},
    {"dram_activations_out_bytes", "B", InPass::sum, [](Time t, Cost) { return t.activation_out_bytes; },
     &Counts::activation_out_bytes, &PassCost::activation_out_bytes},
    {"dram_program_bytes", "B", InPass::sum, [](Time t, Cost) { return t.program_bytes; }, &Counts::program_bytes,
     &PassCost::program_bytes},
};

/// Which machines have an SRAM.
enum class Memories { any, separate, unified };

/// An SRAM's peak on both sides.
struct PeakRow {
  std::string_view name;
  std::int64_t (*estimated)(const CompiledStage&, const EstimatedStage&);
  std::int64_t (*executed)(const StepCounts&);
  Memories memories;
};

std::int64_t most(const CompiledStage& stage, std::int64_t (*bytes)(const Instruction&)) {
  std::int64_t peak = 0;
  for (const Instruction& instruction : stage.program.instructions) peak = std::max(peak, bytes(instruction));
  return peak;
}

constexpr PeakRow peak_rows[] = {
    {"psram_peak_bytes", [](const CompiledStage&, const EstimatedStage& e) { return e.stream.psram_peak_bytes; },
     [](const StepCounts& s) { return s.peaks.psram_bytes; }, Memories::any},
    {"dsram_read_peak_bytes",
     [](const CompiledStage& stage, const EstimatedStage&) {
       return most(stage, [](const Instruction& i) { return i.dsram_read_side.value; });
     },
     [](const StepCounts& s) { return s.peaks.dsram_read_bytes; }, Memories::separate},
    {"dsram_write_peak_bytes",
     [](const CompiledStage& stage, const EstimatedStage&) {
       return most(stage, [](const Instruction& i) { return i.dsram_write_side.value; });
     },
     [](const StepCounts& s) { return s.peaks.dsram_write_bytes; }, Memories::separate},
    {"stackram_peak_bytes",
     [](const CompiledStage& stage, const EstimatedStage&) {
       return most(stage, [](const Instruction& i) { return i.stackram.value; });
     },
     [](const StepCounts& s) { return s.peaks.stackram_bytes; }, Memories::separate},
    {"activation_memory_peak_bytes",
     [](const CompiledStage& stage, const EstimatedStage&) {
       return most(
           stage, [](const Instruction& i) { return (i.dsram_read_side + i.dsram_write_side + i.stackram).value; });
     },
     [](const StepCounts& s) { return s.peaks.stackram_bytes; }, Memories::unified},
};

/// Counts a comparison, and keeps the first difference.
void note(StageCounters& stage, const Both& values, const CounterDifference& place) {
  ++stage.values;
  if (values.estimated == values.executed) return;
  ++stage.differences;
  if (stage.first) return;
  stage.first = place;
  stage.first->values = values;
}

/// A pass of which both sides have each instruction's own counters.
void compare_instructions(StageCounters& result, ComparedPass& pass, const CompiledStage& stage,
                          const EstimatedStage& estimated, const std::vector<InstructionTime>& times,
                          const std::vector<InstructionCounts>& counts) {
  for (const std::int32_t number : result.compared) {
    const auto i = at(number);
    const Instruction& instruction = stage.program.instructions[i];
    const ClassCost& cost = estimated.costs[instruction.instruction_class];
    for (const CounterRow& row : rows) {
      const Both values{row.estimated(times[i], cost), counts[i].*row.executed};
      pass.counters.push_back(values);
      note(result, values, {result.stage, pass.number, number, instruction.name, std::string(row.name), {}});
    }
  }
}

Both total_of(const CounterRow& row, std::size_t at, const std::vector<Both>& counters) {
  Both total;
  for (std::size_t i = at; i < counters.size(); i += std::size(rows)) {
    const auto add = [&](std::int64_t& sum, std::int64_t x) {
      sum = row.in_pass == InPass::sum ? sum + x : std::max(sum, x);
    };
    add(total.estimated, counters[i].estimated);
    add(total.executed, counters[i].executed);
  }
  return total;
}

/// Totals: of the instructions compared; where these are all, what the estimate says of the pass itself.
void compare_totals(StageCounters& result, ComparedPass& pass, const PassCost& cost,
                    const std::vector<InstructionCounts>& counts) {
  const bool all = std::ssize(result.compared) == result.instructions;
  for (std::size_t r = 0; r < std::size(rows); ++r) {
    const CounterRow& row = rows[r];
    pass.totals.emplace_back();
    if (row.in_pass == InPass::nothing) continue;
    const bool of_pass = all && row.of_pass != nullptr;
    if (!of_pass && pass.counters.empty()) continue;
    Both total = total_of(row, r, pass.counters);
    if (of_pass) {
      total = {cost.*row.of_pass, 0};
      for (const InstructionCounts& i : counts)
        total.executed = row.in_pass == InPass::sum ? total.executed + i.*row.executed
                                                    : std::max(total.executed, i.*row.executed);
    }
    pass.totals.back() = total;
    note(result, total, {result.stage, pass.number, none, "", std::string(row.name), {}});
  }
}

StageCounters empty_comparison(const CompiledStage& stage, std::vector<std::int32_t> instructions) {
  StageCounters result;
  result.stage = stage.name;
  result.role = stage.role;
  result.instructions = std::ssize(stage.program.instructions);
  result.classes = std::ssize(stage.program.classes);
  result.compared = std::move(instructions);
  std::set<std::int32_t> classes;
  for (const std::int32_t i : result.compared) {
    const Instruction& instruction = stage.program.instructions[i];
    classes.insert(instruction.instruction_class);
    result.layers.push_back(instruction.name);
    result.mnemonics.push_back(instruction.mnemonic);
  }
  result.classes_compared = std::ssize(classes);
  return result;
}

StageCounters validate_stage(const CompiledStage& stage, const Machine& machine, const ValidateOptions& options,
                             std::vector<std::int32_t> instructions) {
  const auto estimated = estimated_stage(stage, machine);
  if (!estimated) return left_out(stage, "takes more cycles than 64 bits count");
  const std::int64_t simulated = std::ssize(estimated->stream.passes);
  const std::int64_t stepped = options.most_passes > 0 ? options.most_passes : simulated;
  const std::int64_t operations = tile_operations(stage, *estimated, stepped);
  if (options.affordable && !options.affordable(stage, operations))
    return left_out(stage, fmt::format("its {} tile operations are beyond the time allowed", operations));
  StepCounts counted;
  std::int64_t done = 0;
  const std::int64_t all = stepped * std::ssize(stage.program.instructions);
  const StepOptions watch{[&](std::int64_t now) {
                            done = now;
                            if (options.progress) options.progress(stage, done, all);
                          },
                          options.stop};
  try {
    counted = stepped_stage(stage, machine, stepped, watch);
  } catch (const Error& error) {
    if (is_cancelled(error))
      return left_out(stage, fmt::format("out of time after {} of the {} instructions of its passes", done, all));
    if (error.code != "execution_failed") throw;
    StageCounters failed = empty_comparison(stage, {});
    failed.failure = error.what();
    failed.differences = 1;
    return failed;
  }
  return compare_counters(stage, *estimated, counted, std::move(instructions));
}

}  // namespace

StageCounters left_out(const CompiledStage& stage, const std::string& why) {
  StageCounters result = empty_comparison(stage, {});
  result.left_out = why;
  return result;
}

std::span<const CounterRow> counter_rows() { return rows; }

std::string_view verdict_text(Verdict verdict) {
  constexpr std::string_view texts[] = {"pass", "differs", "not_compared"};
  return texts[at(verdict)];
}

Verdict verdict_of(std::int64_t compared, std::int64_t differences) {
  if (differences > 0) return Verdict::differs;
  return compared > 0 ? Verdict::pass : Verdict::not_compared;
}

Verdict verdict_of(const StageCounters& stage) { return verdict_of(stage.values, stage.differences); }

std::vector<std::int32_t> chosen_instructions(const CompiledStage& stage, std::span<const std::string> layers) {
  std::vector<std::int32_t> chosen;
  for (std::size_t i = 0; i < stage.program.instructions.size(); ++i) {
    const auto stands_for = [&](const std::string& pattern) {
      MappingRule rule;
      rule.pattern = pattern;
      return matches(rule, stage.name, stage.program.instructions[i].name);
    };
    if (layers.empty() || std::ranges::any_of(layers, stands_for)) chosen.push_back(static_cast<std::int32_t>(i));
  }
  return chosen;
}

std::optional<std::size_t> unmatched_layer(const Application& application, std::span<const std::string> layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto has = [&](const CompiledStage& stage) {
      return !chosen_instructions(stage, layers.subspan(i, 1)).empty();
    };
    if (std::ranges::none_of(application.stages, has)) return i;
  }
  return std::nullopt;
}

std::optional<EstimatedStage> estimated_stage(const CompiledStage& stage, const Machine& machine) {
  EstimatedStage estimated;
  estimated.unified = is_unified(machine);
  auto run = run_stage(stage, machine, &estimated.last);
  if (!run) return std::nullopt;
  run_timeline(stage.program, run->costs, stage_rules(stage, machine, run->schedule.active_cores), 1,
               &estimated.cold);
  estimated.costs = std::move(run->costs);
  estimated.stream = std::move(run->stream);
  return estimated;
}

StepCounts stepped_stage(const CompiledStage& stage, const Machine& machine, std::int64_t passes,
                         const StepOptions& options) {
  return step(stage, machine, exec::share_of(stage.role, machine), exec::cores_in_lockstep(stage, machine),
              as_size(passes), options);
}

std::int64_t tile_operations(const CompiledStage& stage, const EstimatedStage& estimated, std::int64_t passes) {
  std::int64_t sum = 0;
  for (const Instruction& instruction : stage.program.instructions)
    sum += estimated.costs[instruction.instruction_class].operations;
  return sum * passes;
}

StageCounters compare_counters(const CompiledStage& stage, const EstimatedStage& estimated,
                               const StepCounts& counted, std::vector<std::int32_t> instructions) {
  check(!counted.passes.empty(), "compare_counters: a pass was stepped");
  StageCounters result = empty_comparison(stage, std::move(instructions));
  result.simulated_passes = std::ssize(estimated.stream.passes);
  result.repeats = estimated.stream.repeats;
  for (std::size_t p = 0; p < counted.passes.size(); ++p) {
    const std::size_t last = estimated.stream.passes.size() - 1;
    if (p > last && !estimated.stream.repeats) break;  // the estimate says nothing of later passes
    ComparedPass& pass = result.passes.emplace_back();
    pass.number = static_cast<std::int64_t>(p);
    const std::vector<InstructionCounts>& counts = counted.passes[p];
    // A pass behind the one that repeats is that one again.
    if (p == 0 || p >= last)
      compare_instructions(result, pass, stage, estimated, p >= last ? estimated.last : estimated.cold, counts);
    compare_totals(result, pass, estimated.stream.passes[std::min(p, last)], counts);
    for (const InstructionCounts& i : counts) result.tile_operations += i.tile_operations;
  }
  const bool all_passes =
      counted.passes.size() >= estimated.stream.passes.size();  // fewer: less may have been held
  for (const PeakRow& row : peak_rows) {
    if (row.memories == (estimated.unified ? Memories::separate : Memories::unified)) continue;
    const Peak& peak =
        result.peaks.emplace_back(Peak{row.name, row.estimated(stage, estimated),
                                       all_passes ? std::optional(row.executed(counted)) : std::nullopt});
    if (peak.executed)
      note(result, {peak.estimated, *peak.executed},
           {result.stage, std::ssize(result.passes) - 1, none, "", std::string(row.name), {}});
  }
  return result;
}

std::vector<StageCounters> validate_counters(const Application& application, const Machine& machine,
                                             const ValidateOptions& options) {
  check(application.feasible, "validate_counters: a feasible application");
  if (const auto unmatched = unmatched_layer(application, options.layers)) {
    const std::string& pattern = options.layers[*unmatched];
    throw Error("layer_unmatched", pattern, "no layer has a name that '" + pattern + "' stands for");
  }
  std::vector<StageCounters> stages;
  for (const CompiledStage& stage : application.stages) {
    auto chosen = chosen_instructions(stage, options.layers);
    if (chosen.empty()) continue;
    stages.push_back(validate_stage(stage, machine, options, std::move(chosen)));
  }
  return stages;
}

}  // namespace sdip
