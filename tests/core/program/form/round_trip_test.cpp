// The text and the binary form of a program hold all of it: every built-in model, and random programs.
#include "tests/core/program/form/round_trip.h"

#include <algorithm>

#include "core/onnx/import.h"
#include "core/workload/workload.h"
#include "tests/core/base/full_run.h"
#include "tests/core/program/built_in.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

Graph built_in(const ModelRow& row, const Machine& machine) {
  ModelOptions options;
  options.batch = row.kind == ModelKind::unet ? 2 : 1;
  const std::string bytes = write_model(row.name, options);
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  rewrite(graph);
  if (row.kind == ModelKind::unet) append_step(graph, machine);
  return graph;
}

TEST(program_forms, every_built_in_model_comes_back_from_text_and_bytes) {
  std::size_t model = 0;
  for (const ModelRow& row : built_in_models())
    for (const Preset& preset : presets_of_turn(model++)) {
      SCOPED_TRACE(std::string(row.name) + " on " + std::string(preset.name));
      const Application application = compiled(built_in(row, preset.machine), preset.machine, role_of(row.kind));
      if (!application.feasible) continue;
      expect_round_trip(application.stages.at(0), preset.machine);
      if (testing::Test::HasFatalFailure()) return;
    }
}

TEST(program_forms, strips_without_weights_come_back) {
  GraphDice dice(14117);  // a multiplication by an activation behind a relu
  Machine machine;
  machine.strips = Strips::line_buffers;
  machine.fusion = Fusion::no_fusion;
  machine.fused_chains = FusedChains::off;
  machine.dsram_bytes = 4096;
  const Application application = compiled(random_graph(dice), machine, Role::decoder);
  ASSERT_TRUE(application.feasible) << application.reason;
  const Program& program = application.stages.at(0).program;
  const auto& instructions = program.instructions;
  EXPECT_TRUE(std::any_of(instructions.begin(), instructions.end(), [&](const Instruction& i) {
    return i.weights.empty() && program.classes[i.instruction_class].compound == Compound::strips;
  }));
  expect_round_trip(application.stages.at(0), machine);
}

TEST(program_forms, random_programs_of_random_graphs_and_machines_come_back) {
  int feasible = 0;
  const std::uint64_t seeds = full_run() ? 20'000 : 400;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphDice dice(seed);
    const Graph graph = random_graph(dice);
    const Machine machine = random_compile_machine(dice);
    const Role role = dice.one_in(2) ? Role::network : dice.one_in(2) ? Role::decoder : Role::core;
    const Application application = compiled(graph, machine, role);
    if (!application.feasible) continue;
    ++feasible;
    expect_round_trip(application.stages.at(0), machine);
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(feasible, 200);
}

}  // namespace
}  // namespace sdip
