// Does the pipeline, run period by period, take what the estimate predicts?
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "core/cost/price/stage.h"
#include "core/exec/clock/operations.h"
#include "core/exec/run/pipeline.h"
#include "core/machine/stage_rows.h"
#include "tests/core/exec/random_machine.h"
#include "tests/core/exec/run/tiny_sd_line.h"

namespace sdip {
namespace {

/// A stage of one elementwise instruction on `elements` numbers, a cycle each and one to drain.
CompiledStage stage_of_cycles(Role role, std::int64_t elements) {
  CompiledStage stage;
  stage.role = role;
  stage.name = role_text(role);
  InstructionClass& c = stage.program.classes.emplace_back();
  c.work.family = Family::vector;
  c.work.rows = c.work.passes = 1;
  c.work.row_length = c.out_elements = elements;
  c.mapping = {1, 1, elements, 1, rows_outermost};
  stage.program.instructions.emplace_back();
  if (role == Role::core) stage.program.latent_bytes = Bytes(1);
  return stage;
}

Machine plain_machine() {
  Machine machine;
  machine.vector_lanes = 1;
  machine.dispatch_cycles = 0;
  machine.pipeline_stages = 1;
  machine.link_bits = 8;
  machine.mode = Mode::image_to_image;
  return machine;
}

Application line_of_three() {
  Application application;
  application.stages = {stage_of_cycles(Role::encoder, 39), stage_of_cycles(Role::core, 9),
                        stage_of_cycles(Role::decoder, 4)};
  return application;
}

TEST(pipeline, runs_as_in_the_worked_example) {
  Machine machine = plain_machine();
  machine.steps = 5;
  machine.cores = 2;
  const PipelineRun run = run_pipeline(line_of_three(), machine, {.frames = 6});
  EXPECT_EQ(run.steps_per_core, 3);
  EXPECT_EQ(run.active_cores, 2);
  EXPECT_EQ(run.link_cycles, 1);
  ASSERT_EQ(run.frames.size(), 6U);
  EXPECT_EQ(run.periods.size(), 6U + 3U);
  ASSERT_TRUE(run.saturated);
  EXPECT_EQ(run.saturated->period_cycles, 40);
  EXPECT_EQ(run.saturated->latency_cycles, 3 * 40 + 5);
  EXPECT_EQ(run.periods[4].slots, 6);
  EXPECT_EQ(run.periods[4].idle_slots, 1);
  EXPECT_EQ(run.periods[4].waiting, 2);  // both cores' frames; the encoder's goes on at once
  EXPECT_EQ(run.frames[1].steps, 5);
  EXPECT_EQ(run.frames[1].waited, 2 * 9);
  EXPECT_EQ(run.frames[1].left - run.frames[0].left, 40);
  const PipelineRun alone = run_pipeline(line_of_three(), machine, {.alone = true});
  EXPECT_EQ(alone.frames.at(0).left, 40 + 5 * 10 + 2 * 1 + 5);
}

/// Both cores take in a frame each; nobody hands on to another core.
TEST(pipeline, with_a_crossbar_runs_as_in_the_worked_example) {
  Machine machine = plain_machine();
  machine.steps = 5;
  machine.cores = 2;
  machine.memory_hierarchy = MemoryHierarchy::crossbar;
  const PipelineRun run = run_pipeline(line_of_three(), machine, {.frames = 13});
  EXPECT_EQ(run.steps_per_core, 5);
  EXPECT_EQ(run.active_cores, 2);
  EXPECT_EQ(run.frames_at_once, 2);
  ASSERT_EQ(run.frames.size(), 13U);
  EXPECT_EQ(run.periods.size(), 7U + 2U);
  ASSERT_TRUE(run.saturated);
  EXPECT_EQ(run.saturated->period_cycles, 2 * 40);
  EXPECT_EQ(run.saturated->latency_cycles, 2 * 80 + 2 * 5);
  EXPECT_EQ(run.periods[3].slots, 10);
  EXPECT_EQ(run.periods[3].idle_slots, 0);
  EXPECT_EQ(run.periods[3].waiting, 3);  // the first of the encoder's, both cores'
  EXPECT_EQ(run.periods[7].idle_slots, 5) << "the last frame has no other beside it";
  EXPECT_EQ(run.frames[2].left - run.frames[0].left, 80);
  EXPECT_EQ(run.frames[3].left - run.frames[2].left, 5);
  EXPECT_EQ(run.frames[3].entered, run.frames[2].entered);
  EXPECT_EQ(run.frames[2].waited, 40 + 29);
  EXPECT_EQ(run.frames[3].waited, 29);
  EXPECT_EQ(run.frames[3].steps, 5);
  const PipelineRun alone = run_pipeline(line_of_three(), machine, {.alone = true});
  ASSERT_EQ(alone.frames.size(), 1U);
  EXPECT_EQ(alone.frames[0].left, 40 + 5 * 10 + 1 + 5);
}

TEST(pipeline, a_run_that_is_cancelled_ends_with_what_has_left) {
  Machine machine = plain_machine();
  machine.steps = 5;
  machine.cores = 2;
  std::atomic<bool> cancel{false};
  std::int64_t told = 0;
  PipelineOptions options{.frames = 100};
  options.cancel = &cancel;
  options.progress = [&](const PipelineProgress& progress) {
    told = progress.passes;
    cancel = progress.periods == 10;
  };
  const PipelineRun run = run_pipeline(line_of_three(), machine, options);
  EXPECT_TRUE(run.cancelled);
  EXPECT_EQ(run.periods.size(), 10U);
  EXPECT_EQ(run.frames.size(), 7U);
  EXPECT_EQ(told, 10 + 9 * 3 + 7 + 1);
}

double metric_of(const Report& report, Metric metric) {
  return report.outcome.values[static_cast<std::size_t>(metric)];
}

/// Frames until the line is full, every stage has come to repeat its state, and one more went all the way.
std::int64_t frames_to_settle(const Application& application, const Machine& machine) {
  std::int64_t seats = 0, periods = 0;
  for (const CompiledStage& stage : application.stages) {
    const auto run = run_stage(stage, machine, nullptr);
    EXPECT_TRUE(run);
    if (!run || !run->stream.repeats) return 0;
    seats += run->schedule.cores_of_frame;
    periods = std::max(periods, static_cast<std::int64_t>(run->stream.steady) / run->schedule.steps_per_core + 2);
  }
  return 2 * seats + periods + 2;
}

/// Cycles and bytes of the run against the report's. False where no state repeats, so that there is no steady one.
bool expect_predicted(const Application& application, const Machine& machine) {
  const Report report = estimate(application, machine);
  EXPECT_TRUE(report.outcome.counted()) << report.outcome.reason;
  const bool crossed = machine.memory_hierarchy == MemoryHierarchy::crossbar;
  const std::int64_t frames = frames_to_settle(application, machine) * (crossed ? machine.cores : 1);
  if (!report.outcome.counted() || frames == 0) return false;
  const PipelineRun run = run_pipeline(application, machine, {.frames = frames});
  EXPECT_TRUE(run.saturated);
  if (!run.saturated) return false;
  const SaturatedCounts& counts = *run.saturated;
  EXPECT_TRUE(counts.settled);
  const Hertz clock(static_cast<double>(machine.core_clock_mhz) * 1e6);
  const auto seconds = [&](std::int64_t cycles) { return (Cycles(cycles) / clock).value; };
  const auto at_once = static_cast<double>(run.frames_at_once);
  const PassCounts& moved = counts.streams;
  EXPECT_EQ(metric_of(report, Metric::throughput_fps), at_once / seconds(counts.period_cycles));
  EXPECT_EQ(metric_of(report, Metric::stream_latency_s), seconds(counts.latency_cycles));
  EXPECT_EQ(metric_of(report, Metric::weight_bytes_per_frame), static_cast<double>(moved.weight_bytes) / at_once);
  EXPECT_EQ(metric_of(report, Metric::activation_bytes_per_frame),
            static_cast<double>(moved.activation_in_bytes + moved.activation_out_bytes) / at_once);
  EXPECT_EQ(metric_of(report, Metric::program_bytes_per_frame), static_cast<double>(moved.program_bytes) / at_once);
  EXPECT_EQ(metric_of(report, Metric::dram_bytes_per_frame), static_cast<double>(moved.dram_bytes()) / at_once);
  if (application.stages.back().role != Role::network) {
    EXPECT_EQ(metric_of(report, Metric::active_cores), static_cast<double>(run.active_cores));
  }
  const PipelineRun alone = run_pipeline(application, machine, {.alone = true});
  EXPECT_EQ(metric_of(report, Metric::latency_s), seconds(alone.frames.at(0).left));
  for (std::size_t s = 0; s < application.stages.size(); ++s) {
    if (run.pass_cycles[s].empty()) continue;  // off chip
    EXPECT_EQ(report.stages[s].cold_cycles.value, run.pass_cycles[s].front()) << application.stages[s].name;
    if (run.pass_cycles[s].size() == 1) continue;  // one prompt for all frames
    EXPECT_EQ(report.stages[s].steady_cycles.value, run.pass_cycles[s].back()) << application.stages[s].name;
  }
  return true;
}

/// Encoder and decoder as circuits, or stages with rows of their own: each its own or as the cores have it.
void draw_blocks(Draw& draw, Machine& machine) {
  if (draw.one_in(2)) machine.vae_stage = VaeStage::circuit;
  for (const OwnStage stage : own_stages) {
    if (draw.one_in(3)) continue;
    for (const StageRow& row : stage_rows(stage)) {
      const std::int64_t cores = machine.*row.cores;
      const bool bytes = row.cores == &Machine::dsram_bytes || row.cores == &Machine::stackram_bytes ||
                         row.cores == &Machine::psram_bytes;
      const bool bits = row.cores == &Machine::dsram_port_bits || row.cores == &Machine::stackram_port_bits ||
                        row.cores == &Machine::psram_port_bits;
      const std::int64_t drawn = draw.between(0, 6);
      machine.*row.own = bytes ? (drawn < 3 ? 0 : cores * drawn / 3) : bits ? 8 * drawn : drawn;
    }
  }
}

/// A text encoder, encoder, core and decoder of random layers on memories that they overflow; some of it left out.
std::optional<Application> random_line(Draw& draw, Machine& machine) {
  machine = random_machine(draw);
  machine.branches = Branches::serial;
  machine.core_weights = CoreWeights::common;
  machine.mode = draw.one_in(2) ? Mode::image_to_image : Mode::text_to_image;
  machine.vae_stage = draw.one_in(5) ? VaeStage::off_chip : VaeStage::core;
  if (draw.one_in(3)) draw_blocks(draw, machine);
  machine.prompt_per_frame = draw.one_in(3);
  machine.encoder_dram_share = Decimal{draw.between(5, 40)};
  machine.decoder_dram_share = Decimal{draw.between(5, 40)};
  machine.link_bits = draw.between(1, 300);
  machine.imem_bytes = std::int64_t{1} << 24;
  Application line;
  for (const Role role : {Role::text_encoder, Role::encoder, Role::core, Role::decoder}) {
    if (role == Role::encoder && machine.mode == Mode::text_to_image) continue;
    if (role == Role::text_encoder && !machine.prompt_per_frame && draw.one_in(2)) continue;
    const MadeNetwork network = random_network(draw, role == Role::core ? draw.between(6, 14) : draw.between(2, 6));
    const Application application = compiled_on(machine, network, role);
    if (!application.feasible) return std::nullopt;
    line.stages.push_back(application.stages[0]);
    line.stages.back().name = role_text(role);
  }
  return line;
}

/// Each of the three in turn, where it can be.
MemoryHierarchy draw_hierarchy(std::uint64_t seed, Machine& machine) {
  if (seed % 3 != 0) machine.dies = 1;
  if (seed % 3 == 1) machine.memory_hierarchy = MemoryHierarchy::crossbar;
  if (seed % 3 == 2 && machine.activation_memory == ActivationMemory::separate)
    machine.memory_hierarchy = MemoryHierarchy::writable_psram;
  return machine.memory_hierarchy;
}

Application next_line(std::uint64_t& seed, Machine& machine) {
  while (true) {
    Draw draw(++seed);
    if (auto line = random_line(draw, machine)) return *std::move(line);
  }
}

TEST(pipeline, of_any_number_of_cores_and_steps_takes_what_the_estimate_predicts) {
  std::int64_t checked = 0, idle = 0, spilling = 0, crossed = 0, stacks = 0;
  std::uint64_t seed = 0;
  for (std::int64_t cores = 1; cores <= 8; ++cores) {
    for (std::int64_t steps = 1; steps <= 50; ++steps) {
      Machine machine;
      const Application line = next_line(seed, machine);
      machine.cores = cores;
      machine.steps = steps;
      const auto hierarchy = draw_hierarchy(seed, machine);
      crossed += hierarchy == MemoryHierarchy::crossbar;
      stacks += hierarchy == MemoryHierarchy::writable_psram;
      SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(cores) + " cores, " +
                   std::to_string(steps) + " steps");
      const bool settled = expect_predicted(line, machine);
      checked += settled;
      idle += steps % ceil_div(steps, cores) != 0;
      for (const CompiledStage& stage : line.stages)
        if (stage.role == Role::core)
          spilling += std::ranges::any_of(stage.program.classes, [](const auto& c) { return c.to_dram; });
      if (testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(checked, 390);
  EXPECT_GT(idle, 100);
  EXPECT_GT(spilling, 100);
  EXPECT_GT(crossed, 100);
  EXPECT_GT(stacks, 50);
}

TEST(pipeline, of_a_network_runs_its_frames_side_by_side_or_its_parts_in_series) {
  std::int64_t checked = 0, parts = 0, spread = 0;
  for (std::uint64_t seed = 1; seed <= pair_count(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed);
    const MadeNetwork network = random_network(draw, draw.between(4, 20));
    Machine machine = random_machine(draw);
    machine.cores = draw.between(1, 8);
    machine.core_weights = draw.one_in(3) ? CoreWeights::per_core : CoreWeights::common;
    machine.branches = draw.one_in(3) ? Branches::parallel : draw.one_in(3) ? Branches::channels : Branches::serial;
    machine.link_bits = draw.between(1, 300);
    machine.imem_bytes = std::int64_t{1} << 24;
    if (machine.branches != Branches::serial || machine.core_weights == CoreWeights::per_core) machine.dies = 1;
    const Application application = compiled_on(machine, network, Role::network);
    if (!application.feasible) continue;
    draw_hierarchy(seed, machine);
    parts += application.stages.size() > 1;
    for (const InstructionClass& c : application.stages[0].program.classes) spread += c.spread_cores > 1;
    checked += expect_predicted(application, machine);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(checked, 200);
  EXPECT_GT(parts, 40);
  EXPECT_GT(spread, 10);
}

TEST(pipeline, of_tiny_sd_takes_what_the_estimate_predicts_on_every_preset) {
  for (const Preset& preset : diffusion_presets()) {
    for (const std::int64_t cores : {1, 2, 3, 8}) {
      SCOPED_TRACE(std::string(preset.name) + " on " + std::to_string(cores));
      Machine machine = preset.machine;
      machine.cores = cores;
      machine.sram_banks = 256;  // where PSRAM holds stacks, too
      const Application application = tiny_sd_line(machine);
      ASSERT_TRUE(application.feasible) << application.reason;
      for (const auto hierarchy :
           {MemoryHierarchy::private_memories, MemoryHierarchy::crossbar, MemoryHierarchy::writable_psram}) {
        machine.memory_hierarchy = hierarchy;
        machine.dies = hierarchy == MemoryHierarchy::private_memories ? preset.machine.dies : 1;
        EXPECT_TRUE(expect_predicted(application, machine));
      }
    }
  }
}

TEST(pipeline, memory_is_told_beforehand) {
  const Application line = line_of_three();
  const Machine machine = plain_machine();
  const double some = pipeline_bytes(line, machine, {.frames = 4});
  EXPECT_GT(some, static_cast<double>(3 * sizeof(exec::Operation)));
  EXPECT_GT(pipeline_bytes(line, machine, {.frames = 8}), some);
  EXPECT_LT(pipeline_bytes(line, machine, {.frames = 8}), 2 * some);
}

}  // namespace
}  // namespace sdip
