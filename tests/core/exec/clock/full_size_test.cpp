// Every built-in model at full size on presets: does the estimate count what the clock counts?
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <iostream>

#include "core/cost/price/stage.h"
#include "core/exec/clock/operations.h"
#include "core/exec/clock/step.h"
#include "tests/core/cost/counted.h"
#include "tests/core/program/built_in.h"

namespace sdip {
namespace {

std::string told(const InstructionCounts& c) {
  std::string text;
  for (const std::int64_t n : {c.start,
                               c.end,
                               c.stall_weights,
                               c.stall_activations,
                               c.weight_bytes,
                               c.activation_in_bytes,
                               c.activation_out_bytes,
                               c.stall_program,
                               c.program_bytes,
                               c.waiting,
                               c.tile_operations,
                               c.compute_cycles,
                               c.dsram_read_beats,
                               c.dsram_write_beats,
                               c.stackram_read_beats,
                               c.stackram_write_beats,
                               c.psram_read_beats,
                               c.accumulator_writes,
                               c.accumulator_reads,
                               c.register_writes})
    text += std::to_string(n) + " ";
  return text;
}

Decimal channel_of(Role role, const Machine& m) {
  if (role == Role::encoder) return m.encoder_dram_share;
  if (role == Role::decoder) return m.decoder_dram_share;
  return role == Role::core ? core_dram_share(m) : Decimal{100};
}

/// Passes, instructions of the last one, streams and peaks. Returns tile operations of a pass.
std::int64_t expect_equal_stage(const CompiledStage& stage, const Machine& machine) {
  std::vector<InstructionTime> trace;
  const auto cost = run_stage(stage, machine, &trace);
  EXPECT_TRUE(cost);
  if (!cost) return 0;
  const auto& passes = cost->stream.passes;
  const StepCounts run =
      step(stage, machine, channel_of(stage.role, machine), cost->schedule.active_cores, passes.size());
  for (std::size_t i = 0; i < passes.size(); ++i) {
    EXPECT_EQ(passes[i].cycles, run.streams[i].cycles) << "pass " << i;
    EXPECT_EQ(passes[i].weight_bytes, run.streams[i].weight_bytes) << "pass " << i;
    EXPECT_EQ(passes[i].activation_in_bytes, run.streams[i].activation_in_bytes) << "pass " << i;
    EXPECT_EQ(passes[i].activation_out_bytes, run.streams[i].activation_out_bytes) << "pass " << i;
    EXPECT_EQ(passes[i].program_bytes, run.streams[i].program_bytes) << "pass " << i;
    EXPECT_EQ(passes[i].turns, run.streams[i].turns) << "pass " << i;
  }
  std::int64_t dsram_read = 0, dsram_write = 0, stackram = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Instruction& instruction = stage.program.instructions[i];
    const InstructionCounts want =
        counted(trace[i], cost->costs[static_cast<std::size_t>(instruction.instruction_class)]);
    EXPECT_TRUE(want == run.passes.back()[i]) << "instruction " << i << " " << instruction.mnemonic << "\n"
                                              << told(want) << "\n"
                                              << told(run.passes.back()[i]);
    EXPECT_EQ(exec::operation_count(stage.program.classes[static_cast<std::size_t>(instruction.instruction_class)]),
              want.tile_operations);
    dsram_read = std::max(dsram_read, instruction.dsram_read_side.value);
    dsram_write = std::max(dsram_write, instruction.dsram_write_side.value);
    stackram = std::max(stackram, instruction.stackram.value);
  }
  EXPECT_EQ(cost->stream.psram_peak_bytes, run.peaks.psram_bytes);
  EXPECT_EQ(dsram_read, run.peaks.dsram_read_bytes);
  EXPECT_EQ(dsram_write, run.peaks.dsram_write_bytes);
  EXPECT_EQ(stackram, run.peaks.stackram_bytes);
  EXPECT_EQ(program_size(stage, machine).bytes, run.peaks.imem_bytes);
  std::int64_t operations = 0;
  for (const InstructionCounts& i : run.passes.back()) operations += i.tile_operations;
  return operations;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(full_size, every_built_in_model_counts_the_same) {
  double compiling = 0, counting = 0, longest = 0;
  std::string longest_name;
  std::int64_t stages = 0, operations = 0;
  std::size_t model = 0;
  for (const Workload& workload : built_in_workloads()) {
    for (const Preset& preset : presets_of_turn(model++)) {
      SCOPED_TRACE(std::string(preset.name) + " " + workload.name);
      const auto start = std::chrono::steady_clock::now();
      const Application application = compile(workload, preset.machine);
      ASSERT_TRUE(application.feasible) << application.reason;
      const double compiled = seconds_since(start);
      for (const CompiledStage& stage : application.stages) operations += expect_equal_stage(stage, preset.machine);
      const double counted = seconds_since(start) - compiled;
      stages += std::ssize(application.stages);
      compiling += compiled;
      counting += counted;
      if (counted > longest) longest_name = std::string(preset.name) + " " + workload.name;
      longest = std::max(longest, counted);
    }
  }
  std::cout << stages << " stages, " << operations << " tile operations a pass: compiled in " << compiling
            << " s, estimated and stepped in " << counting << " s; longest " << longest_name << ", " << longest
            << " s\n";
}

}  // namespace
}  // namespace sdip
