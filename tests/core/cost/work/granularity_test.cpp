// What finer instructions, streamed programs and operators on the host cost SD 1.5: the table of
// docs/model/work.md.
#include <gtest/gtest.h>

#include "core/cost/price/stage.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

CompiledStage step_of(const Machine& m) {
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::core, "sd15-unet", m));
  const Application application = compile(workload, m);
  EXPECT_TRUE(application.feasible) << application.reason;
  return application.stages.at(0);
}

StageRun run_of(const CompiledStage& stage, const Machine& m) { return run_stage(stage, m, nullptr).value(); }

std::string row_of(const Preset& preset, const CompiledStage& stage, Granularity granularity, const char* name) {
  Machine m = preset.machine;
  m.granularity = granularity;
  const ProgramSize size = program_size(stage, m);
  const StageRun held = run_of(stage, m);
  m.program_storage = ProgramStorage::streamed;
  m.imem_bytes = std::max(m.imem_bytes, size.longest_bytes);
  const StageRun streamed = run_of(stage, m);
  EXPECT_EQ(held.steady().program_bytes, 0);
  EXPECT_EQ(streamed.steady().program_bytes > 0, size.bytes > m.imem_bytes);
  EXPECT_GE(streamed.steady().cycles, held.steady().cycles);
  std::string row = "| " + std::string(preset.name) + " | " + name;
  for (const std::int64_t cell : {size.bytes, size.longest_bytes, held.steady().cycles, m.imem_bytes,
                                  streamed.steady().program_bytes, streamed.steady().cycles})
    row += " | " + std::to_string(cell);
  return row + " |\n";
}

std::int64_t cycles_on_host(const CompiledStage& stage, Machine m, HostOperators operators) {
  m.host_operators = operators;
  return run_of(stage, m).steady().cycles;
}

TEST(granularity, the_table_of_sd15_is_what_the_engine_counts) {
  std::string finer =
      "| preset | granularity | program, B | longest instruction, B | steady pass, cycles | IMEM, B | program from "
      "DRAM, B | steady pass, cycles |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::string host =
      "\n| preset | steady pass, cycles | host_operators=softmax | host_operators=softmax_and_norm |\n| --- | --- "
      "| "
      "--- | --- |\n";
  for (const Preset& preset : diffusion_presets()) {
    SCOPED_TRACE(std::string(preset.name));
    const CompiledStage stage = step_of(preset.machine);  // no pass of the compiler looks at these options
    finer += row_of(preset, stage, Granularity::per_operator, "operator");
    finer += row_of(preset, stage, Granularity::per_tile, "tile");
    finer += row_of(preset, stage, Granularity::micro_operation, "micro");
    host += "| " + std::string(preset.name);
    for (const HostOperators operators :
         {HostOperators::no_operators, HostOperators::softmax, HostOperators::softmax_and_norm})
      host += " | " + std::to_string(cycles_on_host(stage, preset.machine, operators));
    host += " |\n";
  }
  expect_made_section("model/work.md", "granularity", "tests/core/cost/work/granularity_test.cpp", finer + host);
}

}  // namespace
}  // namespace sdip
