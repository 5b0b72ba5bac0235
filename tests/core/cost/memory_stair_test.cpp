// memory_stair: are programs for less memory candidates, so that more of it never hurts?
#include <gtest/gtest.h>

#include <map>

#include "core/cost/price/estimate.h"
#include "core/machine/machine.h"
#include "core/program/compile/stage_cache.h"
#include "core/program/form/parse.h"
#include "core/program/tiling/draft.h"
#include "core/workload/workload.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr std::int64_t kib = 1 << 10;

/// Capacities of PSRAM, DSRAM and STACKRAM.
using Memories = std::array<std::int64_t, 3>;

/// A machine of one memory, where values that fit stay whole, whatever tiles beside them then lack.
Machine one_memory(const Memories& bytes, bool stair) {
  Machine m = find_preset("edge")->machine;
  m.activation_memory = ActivationMemory::unified;
  m.fused_attention = FusedAttention::on;
  m.cores = 1;  // for which bytes are weighed
  m.psram_bytes = bytes[0], m.dsram_bytes = bytes[1], m.stackram_bytes = bytes[2];
  m.memory_stair = stair;
  return m;
}

Workload unet(const Machine& m) {
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::core, "sd15-unet", m));
  return workload;
}

/// The capacities that hold no more than `most`, each as it is or halved or quartered.
std::vector<Memories> below(const Memories& most) {
  std::vector<Memories> all;
  for (const std::int64_t a : {4, 2, 1})
    for (const std::int64_t b : {4, 2, 1})
      for (const std::int64_t c : {4, 2, 1}) all.push_back({most[0] / a, most[1] / b, most[2] / c});
  return all;
}

bool no_more(const Memories& a, const Memories& b) { return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2]; }

/// How many pairs of capacities, of which one is nowhere less, have the greater `value` with more.
std::int64_t worse(const std::map<Memories, double>& values) {
  std::int64_t count = 0;
  for (const auto& [less, before] : values)
    for (const auto& [more, after] : values) count += no_more(less, more) && after > before;
  return count;
}

constexpr Memories most_memories{2048 * kib, 256 * kib, 256 * kib};

/// The cycles of a pass on the reference machine.
double cycles_of(const CompiledStage& stage, const Machine& m) {
  Int128 cycles = 0;
  for (const Instruction& instruction : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[instruction.instruction_class];
    TileRoom room = room_for(c, m, WeightPlace::psram);
    room.weights_stay = c.pinned;
    cycles += reference_cycles(c, room);
  }
  return static_cast<double>(cycles);
}

/// How many of these pairs there are without a stair and with one, of what a program takes.
template <class Measure>
std::array<std::int64_t, 2> worse_by(TileGoal goal, const Measure& measure) {
  const Workload workload = unet(one_memory(most_memories, false));
  std::array<std::int64_t, 2> found{};
  for (const bool stair : {false, true}) {
    CompileOptions options;
    options.stages = std::make_shared<StageCache>();
    std::map<Memories, double> values;
    for (const Memories& memories : below(most_memories)) {
      Machine m = one_memory(memories, stair);
      m.tile_goal = goal;
      const Application application = compile(workload, m, options);
      if (application.feasible) values[memories] = measure(application, m);
    }
    EXPECT_GE(values.size(), 18U);
    found[stair ? 1 : 0] = worse(values);
  }
  return found;
}

TEST(memory_stair, more_memory_never_moves_more_bytes) {
  const auto found = worse_by(TileGoal::bytes, [](const Application& application, const Machine& m) {
    return evaluate(application, m).values[Metric::dram_bytes_per_frame];
  });
  EXPECT_GT(found[0], 0);
  EXPECT_EQ(found[1], 0);
}

TEST(memory_stair, more_memory_never_takes_more_cycles_of_the_reference_machine_where_these_are_the_goal) {
  const auto found = worse_by(TileGoal::cycles, [](const Application& application, const Machine& m) {
    return cycles_of(application.stages[0], m);
  });
  EXPECT_GT(found[0], 0);
  EXPECT_EQ(found[1], 0);
}

TEST(memory_stair, programs_are_the_same_with_what_is_kept_and_run_on_their_machine) {
  const Machine m = one_memory(most_memories, true);
  const Workload workload = unet(m);
  CompileOptions keeping;
  keeping.stages = std::make_shared<StageCache>();
  const Application first = compile(workload, m, keeping), again = compile(workload, m, keeping),
                    scratch = compile(workload, m), own = compile(workload, one_memory(most_memories, false));
  ASSERT_TRUE(scratch.feasible);
  const auto text = [](const Application& one) { return graph_text(one.stages[0]); };
  EXPECT_EQ(text(first), text(scratch));
  EXPECT_EQ(text(again), text(scratch));
  EXPECT_NE(text(own), text(scratch));
  EXPECT_NO_THROW(require_like(scratch.stages[0], machine_of_stage(m, Role::core)));
  EXPECT_EQ(scratch.psram_bytes.least, m.psram_bytes);
  EXPECT_EQ(scratch.psram_bytes.most, m.psram_bytes);
}

}  // namespace
}  // namespace sdip
