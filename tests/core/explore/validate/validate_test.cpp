// Does a validation compare every counter, and does it see a counter that is wrong?
#include "core/explore/validate/validate.h"

#include <gmock/gmock.h>

#include "tests/core/cost/tiny_sd.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

Application tiny_sd_on(const Machine& machine) { return compile(tiny_sd(machine), machine); }

std::size_t row_named(std::string_view name) {
  for (std::size_t r = 0; r < counter_rows().size(); ++r)
    if (counter_rows()[r].name == name) return r;
  ADD_FAILURE() << "no counter row " << name;
  return 0;
}

TEST(validate, tiny_sd_has_no_difference_on_any_preset) {
  std::int64_t feasible = 0;
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(std::string(preset.name));
    const Application application = tiny_sd_on(preset.machine);
    if (!application.feasible) continue;  // a machine for attention alone
    ++feasible;
    const auto stages = validate_counters(application, preset.machine);
    ASSERT_EQ(stages.size(), application.stages.size());
    for (const StageCounters& stage : stages) {
      SCOPED_TRACE(stage.stage);
      EXPECT_EQ(stage.left_out, "");
      EXPECT_EQ(stage.differences, 0) << stage.first->layer << " " << stage.first->counter;
      EXPECT_EQ(std::ssize(stage.compared), stage.instructions);
      EXPECT_EQ(stage.classes_compared, stage.classes);
      EXPECT_EQ(std::ssize(stage.passes), stage.simulated_passes);
      // Each counter of each instruction of the cold and of the last pass, totals and a peak at least.
      const std::int64_t passes_traced = stage.simulated_passes > 1 ? 2 : 1;
      EXPECT_GT(stage.values, passes_traced * stage.instructions * std::ssize(counter_rows()));
      EXPECT_GT(stage.tile_operations, 0);
    }
  }
  EXPECT_GE(feasible, 3);
}

TEST(validate, tiny_sd_has_no_difference_where_each_stage_has_memories_of_its_own) {
  Machine m = find_preset("edge")->machine;
  m.mode = Mode::image_to_image;
  m.vae_encoder_dsram_bytes = 96 << 10, m.vae_encoder_stackram_bytes = 40 << 10,
  m.vae_encoder_psram_bytes = 70 << 10;
  m.vae_decoder_dsram_bytes = 50 << 10, m.vae_decoder_psram_bytes = 48 << 10, m.vae_decoder_dsram_port_bits = 520;
  m.text_encoder_dsram_bytes = 24 << 10, m.text_encoder_psram_bytes = 33 << 10, m.text_encoder_linear_lanes_n = 3;
  m.vae_decoder_conv_lanes_pixel = 5, m.vae_encoder_norm_lanes = 7;
  for (const OperatorDsram pairs : {OperatorDsram::common, OperatorDsram::per_operator}) {
    m.operator_dsram = pairs;
    m.conv2d_dsram_bytes = 80 << 10, m.softmax_dsram_bytes = 30 << 10, m.transpose_dsram_bytes = 20 << 10;
    const Application application = tiny_sd_on(m);
    ASSERT_TRUE(application.feasible) << application.reason;
    EXPECT_EQ(application.stages.size(), 4U);
    for (const StageCounters& stage : validate_counters(application, m))
      EXPECT_EQ(stage.differences, 0) << stage.stage << " " << stage.first->layer << " " << stage.first->counter;
  }
}

/// The noise predictor of tiny-sd, estimated and stepped.
struct BothSides {
  explicit BothSides(const Machine& m = {}) : machine(m), application(tiny_sd_on(m)) {
    for (const CompiledStage& one : application.stages)
      if (one.role == Role::core) stage = &one;
    estimated = *estimated_stage(*stage, machine);
    counted = stepped_stage(*stage, machine, std::ssize(estimated.stream.passes));
  }
  StageCounters compared() const {
    return compare_counters(*stage, estimated, counted, chosen_instructions(*stage, {}));
  }
  Machine machine;
  Application application;
  const CompiledStage* stage = nullptr;
  EstimatedStage estimated;
  StepCounts counted;
};

TEST(validate, a_unified_memory_has_one_peak_which_is_compared) {
  Machine machine;
  machine.activation_memory = ActivationMemory::unified;
  const auto of = [](const StageCounters& stage, std::string_view name) {
    return std::ranges::find(stage.peaks, name, &Peak::name);
  };
  const Application application = tiny_sd_on(machine);
  ASSERT_TRUE(application.feasible);
  const auto stages = validate_counters(application, machine);
  ASSERT_EQ(stages.size(), application.stages.size());
  for (const StageCounters& stage : stages) {
    EXPECT_EQ(stage.differences, 0);
    const auto peak = of(stage, "activation_memory_peak_bytes");
    ASSERT_NE(peak, stage.peaks.end());
    EXPECT_GT(peak->estimated, 0);
    EXPECT_EQ(peak->executed, peak->estimated);
    EXPECT_EQ(of(stage, "stackram_peak_bytes"), stage.peaks.end());
  }
  CompiledStage altered = application.stages[0];
  const EstimatedStage estimated = *estimated_stage(altered, machine);
  const StepCounts counted = stepped_stage(altered, machine, std::ssize(estimated.stream.passes));
  for (Instruction& instruction : altered.program.instructions) instruction.stackram += Bytes(1);
  const StageCounters found = compare_counters(altered, estimated, counted, {0});
  EXPECT_EQ(found.differences, 1);
  EXPECT_EQ(found.first->counter, "activation_memory_peak_bytes");
}

TEST(validate, a_beat_too_many_is_a_difference_of_its_instruction_and_of_the_pass) {
  BothSides sides;
  ASSERT_EQ(sides.compared().differences, 0);
  const std::size_t last = sides.counted.passes.size() - 1;
  sides.counted.passes[last][3].psram_read_beats += 1;
  const StageCounters found = sides.compared();
  EXPECT_EQ(verdict_of(found), Verdict::differs);
  EXPECT_EQ(found.differences, 2);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->stage, sides.stage->name);
  EXPECT_EQ(found.first->pass, static_cast<std::int64_t>(last));
  EXPECT_EQ(found.first->instruction, 3);
  EXPECT_EQ(found.first->layer, sides.stage->program.instructions[3].name);
  EXPECT_EQ(found.first->counter, "psram_read_beats");
  EXPECT_EQ(found.first->values.executed, found.first->values.estimated + 1);
}

TEST(validate, every_counter_is_looked_at_in_the_cold_pass_and_in_the_last) {
  const BothSides sides;
  for (const std::size_t pass : {std::size_t{0}, sides.counted.passes.size() - 1})
    for (const CounterRow& row : counter_rows()) {
      SCOPED_TRACE(std::string(row.name) + " of pass " + std::to_string(pass));
      BothSides altered = sides;
      altered.stage = sides.stage;
      altered.counted.passes[pass][1].*row.executed += 7;
      const StageCounters found = altered.compared();
      ASSERT_TRUE(found.first);
      EXPECT_EQ(found.first->counter, row.name);
      EXPECT_EQ(found.first->instruction, 1);
    }
}

TEST(validate, a_pass_that_ends_later_and_a_higher_peak_are_differences_of_no_instruction) {
  BothSides sides;
  sides.estimated.stream.passes[0].cycles -= 1;
  const StageCounters pass = sides.compared();
  EXPECT_EQ(pass.differences, 1);
  ASSERT_TRUE(pass.first);
  EXPECT_EQ(pass.first->instruction, none);
  EXPECT_EQ(pass.first->counter, "end_cycle");
  EXPECT_EQ(pass.first->values.executed, pass.first->values.estimated + 1);
  sides.estimated.stream.passes[0].cycles += 1;
  sides.counted.peaks.psram_bytes += 5;
  const StageCounters peak = sides.compared();
  EXPECT_EQ(peak.differences, 1);
  EXPECT_EQ(peak.first->counter, "psram_peak_bytes");
}

TEST(validate, two_instructions_whose_second_ends_a_cycle_late_have_two_differences) {
  CompiledStage stage;
  stage.name = "net";
  stage.program.instructions.resize(2);
  stage.program.instructions[1].name = "/last";
  stage.program.classes.resize(1);
  EstimatedStage estimated;
  estimated.costs.resize(1);
  estimated.cold.resize(2);
  estimated.cold[0].end = estimated.cold[1].start = 100;
  estimated.cold[1].end = 250;
  estimated.last = estimated.cold;
  estimated.stream.passes.resize(1);
  estimated.stream.passes[0].cycles = 250;
  StepCounts counted;
  counted.passes.resize(1, std::vector<InstructionCounts>(2));
  counted.passes[0][0].end = counted.passes[0][1].start = 100;
  counted.passes[0][0].tile_operations = counted.passes[0][1].tile_operations = estimated.costs[0].operations;
  counted.passes[0][1].end = 251;
  const StageCounters found = compare_counters(stage, estimated, counted, {0, 1});
  EXPECT_EQ(found.differences, 2);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->instruction, 1);
  EXPECT_EQ(found.first->layer, "/last");
  EXPECT_EQ(found.first->counter, "end_cycle");
  EXPECT_EQ(found.first->values, (Both{250, 251}));
  const auto total = found.passes[0].totals[row_named("end_cycle")];
  ASSERT_TRUE(total);
  EXPECT_EQ(*total, (Both{250, 251}));
}

TEST(validate, layers_are_chosen_by_patterns_and_their_totals_are_their_own) {
  const Machine machine;
  const Application application = tiny_sd_on(machine);
  const std::string first = application.stages.back().program.instructions[0].name;
  const auto stages = validate_counters(application, machine, {.layers = {first}});
  ASSERT_EQ(stages.size(), 1U);
  ASSERT_GE(stages[0].compared.size(), 1U);
  EXPECT_LT(std::ssize(stages[0].compared), stages[0].instructions);
  const std::size_t beats = row_named("dsram_read_beats");
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < stages[0].compared.size(); ++i)
    sum += stages[0].passes[0].counters[i * counter_rows().size() + beats].executed;
  EXPECT_EQ(stages[0].passes[0].totals[beats]->executed, sum);
  const auto refused = refusal([&] { validate_counters(application, machine, {.layers = {"/no/such/*"}}); });
  EXPECT_EQ(refused, "layer_unmatched at /no/such/*");
}

TEST(validate, a_stage_that_cannot_be_afforded_is_left_out_and_says_so) {
  const Machine machine;
  const Application application = tiny_sd_on(machine);
  ValidateOptions options;
  options.affordable = [](const CompiledStage& stage, std::int64_t operations) {
    EXPECT_GT(operations, 0);
    return stage.role != Role::core;
  };
  for (const StageCounters& stage : validate_counters(application, machine, options)) {
    EXPECT_EQ(stage.left_out.empty(), stage.role != Role::core);
    EXPECT_EQ(stage.compared.empty(), stage.role == Role::core);
    EXPECT_EQ(verdict_of(stage), stage.role == Role::core ? Verdict::not_compared : Verdict::pass);
  }
}

TEST(validate, a_stage_whose_time_ends_while_it_is_stepped_is_left_out_with_those_behind_it) {
  const Machine machine;
  const Application application = tiny_sd_on(machine);
  ASSERT_GE(application.stages.size(), 3U);
  std::int64_t of_second = 0, last = 0;
  ValidateOptions options;
  options.progress = [&](const CompiledStage& stage, std::int64_t done, std::int64_t all) {
    EXPECT_EQ(done, &stage == &application.stages[0] ? last + 1 : of_second + 1);
    EXPECT_LE(done, all);
    (&stage == &application.stages[0] ? last : of_second) = done;
  };
  options.stop = [&] { return of_second == 3; };
  const auto stages = validate_counters(application, machine, options);
  ASSERT_EQ(stages.size(), application.stages.size());
  EXPECT_EQ(verdict_of(stages[0]), Verdict::pass);
  EXPECT_EQ(of_second, 3);
  EXPECT_THAT(stages[1].left_out, testing::StartsWith("out of time after 3 of the "));
  EXPECT_THAT(stages[2].left_out, testing::StartsWith("out of time after 0 of the "));
  for (const std::size_t s : {1U, 2U}) {
    EXPECT_EQ(verdict_of(stages[s]), Verdict::not_compared);
    EXPECT_EQ(stages[s].instructions, std::ssize(application.stages[s].program.instructions));
    EXPECT_TRUE(stages[s].compared.empty());
  }
}

TEST(validate, more_passes_than_the_estimate_simulated_repeat_the_last) {
  const Machine machine;
  const Application application = tiny_sd_on(machine);
  for (const StageCounters& stage : validate_counters(application, machine, {.most_passes = 9})) {
    EXPECT_TRUE(stage.repeats);
    EXPECT_EQ(stage.passes.size(), 9U);
    EXPECT_EQ(stage.differences, 0);
  }
}

}  // namespace
}  // namespace sdip
