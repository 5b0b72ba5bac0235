// Is a machine worth to several workloads what their own figures make of it?
#include "core/explore/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/explore/sweep.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

double value_in(const Outcome& outcome, Metric metric) { return outcome.values[static_cast<std::size_t>(metric)]; }

Outcome outcome_with(std::initializer_list<std::pair<Metric, double>> values) {
  Outcome outcome;
  outcome.feasible = true;
  outcome.values.fill(1);
  for (const auto& [metric, value] : values) outcome.values[static_cast<std::size_t>(metric)] = value;
  return outcome;
}

const Mix three_to_one = {{"quick", 3}, {"slow", 1}};

std::vector<Outcome> quick_and_slow() {
  return {outcome_with({{Metric::throughput_fps, 10},
                        {Metric::latency_s, 0.2},
                        {Metric::energy_j_per_frame, 2},
                        {Metric::power_w, 20},
                        {Metric::area_mm2, 90},
                        {Metric::utilization, 0.5},
                        {Metric::dram_bytes_per_frame, 100},
                        {Metric::dram_bytes_over_bound, 2},
                        {Metric::ops_per_dram_byte, 40},
                        {Metric::dsram_peak_bytes, 7}}),
          outcome_with({{Metric::throughput_fps, 1},
                        {Metric::latency_s, 2},
                        {Metric::energy_j_per_frame, 30},
                        {Metric::power_w, 30},
                        {Metric::area_mm2, 100},
                        {Metric::utilization, 0.8},
                        {Metric::dram_bytes_per_frame, 900},
                        {Metric::dram_bytes_over_bound, 3},
                        {Metric::ops_per_dram_byte, 8},
                        {Metric::dsram_peak_bytes, 5}})};
}

TEST(mix, is_worth_what_the_worked_example_says) {
  const Outcome all = mixed(three_to_one, quick_and_slow());
  EXPECT_TRUE(all.feasible);
  EXPECT_DOUBLE_EQ(value_in(all, Metric::throughput_fps), 1 / (0.75 / 10 + 0.25 / 1));
  EXPECT_NEAR(value_in(all, Metric::throughput_fps), 3.08, 0.005);
  EXPECT_DOUBLE_EQ(value_in(all, Metric::energy_j_per_frame), 9);
  EXPECT_NEAR(value_in(all, Metric::power_w), 9 / 0.325, 1e-9);
  EXPECT_NEAR(value_in(all, Metric::power_w), 27.7, 0.05);
  EXPECT_DOUBLE_EQ(value_in(all, Metric::latency_s), 0.75 * 0.2 + 0.25 * 2);
  EXPECT_DOUBLE_EQ(value_in(all, Metric::area_mm2), 100);
  EXPECT_DOUBLE_EQ(value_in(all, Metric::dsram_peak_bytes), 7);
  EXPECT_NEAR(value_in(all, Metric::utilization), (0.075 * 0.5 + 0.25 * 0.8) / 0.325, 1e-12);
  // 75 and 225 bytes an image, of bounds 37.5 and 75.
  EXPECT_NEAR(value_in(all, Metric::dram_bytes_over_bound), 300 / 112.5, 1e-12);
  // 3,000 and 1,800 operations an image.
  EXPECT_NEAR(value_in(all, Metric::ops_per_dram_byte), 4800 / 300.0, 1e-12);
}

TEST(mix, has_derived_metrics_of_its_own_metrics) {
  const Outcome all = mixed(three_to_one, quick_and_slow());
  EXPECT_DOUBLE_EQ(value_in(all, Metric::edp_js),
                   value_in(all, Metric::energy_j_per_frame) * value_in(all, Metric::latency_s));
  EXPECT_DOUBLE_EQ(value_in(all, Metric::frames_per_j), 1.0 / 9);
  EXPECT_DOUBLE_EQ(value_in(all, Metric::fps_per_mm2), value_in(all, Metric::throughput_fps) / 100);
}

TEST(mix, of_one_workload_or_of_equals_is_that_workload) {
  const std::vector<Outcome> one = {quick_and_slow()[0]};
  EXPECT_EQ(mixed({{"quick", 5}}, one).values, one[0].values);
  const Outcome equals = mixed({{"a", 2}, {"b", 7}}, std::vector<Outcome>{one[0], one[0]});
  for (std::size_t m = 0; m < metric_count; ++m) {
    if (mixed_by(static_cast<Metric>(m)) == MixedBy::derived) continue;
    EXPECT_NEAR(equals.values[m], one[0].values[m], 1e-12) << metrics()[m].name;
  }
}

TEST(mix, says_of_every_metric_how_it_follows_and_derives_what_the_store_derives) {
  for (const DerivedMetric& row : derived_metrics()) EXPECT_EQ(mixed_by(row.metric), MixedBy::derived);
  EXPECT_EQ(std::ranges::count_if(metrics(),
                                  [](const MetricRow& row) {
                                    return mixed_by(static_cast<Metric>(&row - metrics().data())) ==
                                           MixedBy::derived;
                                  }),
            std::ssize(derived_metrics()));
}

TEST(mix, does_not_fit_where_one_does_not_and_says_which) {
  std::vector<Outcome> outcomes = quick_and_slow();
  outcomes[1].feasible = false;
  outcomes[1].reason = "clock: too fast";
  const Outcome broken = mixed(three_to_one, outcomes);
  EXPECT_FALSE(broken.feasible);
  EXPECT_EQ(broken.reason, "slow: clock: too fast");
  EXPECT_DOUBLE_EQ(value_in(broken, Metric::energy_j_per_frame), 9) << "what it would do if it could";
  outcomes[1].values.fill(std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(mixed(three_to_one, outcomes).counted());
}

TEST(mix, is_read_from_a_text_and_written_again) {
  EXPECT_EQ(mix_of_text("sd15", ""), (Mix{{"sd15", 1}}));
  EXPECT_EQ(mix_of_text("sd15:3+sdxl", ""), (Mix{{"sd15", 3}, {"sdxl", 1}}));
  EXPECT_EQ(mix_of_text("a:0.25+b:0.5+c", ""), (Mix{{"a", 0.25}, {"b", 0.5}, {"c", 1}}));
  for (const char* text : {"sd15", "sd15:3+sdxl", "a:0.25+b:0.5+c"})
    EXPECT_EQ(mix_text(mix_of_text(text, "")), text);
}

TEST(mix, refuses_what_is_none) {
  for (const char* text : {"", "+", "a+", "+a", "a++b", ":3", "a:+b", "a:0", "a:-1", "a:x", "a:1e7", "a:nan",
                           "a:inf", "a+a", "a:1+a:2"})
    EXPECT_EQ(refusal([&] { mix_of_text(text, "/model"); }).substr(0, 24), "value_invalid at /model") << text;
  EXPECT_THAT(refusal([] { mix_of_text("a+b+c+d+e+f+g+h+i", "/model"); }), testing::StartsWith("limit_exceeded"));
}

std::shared_ptr<const Application> named(const std::string& name, CapacityRange psram_bytes = no_capacity) {
  Application application;
  application.name = name;
  application.psram_bytes = psram_bytes;
  return std::make_shared<const Application>(application);
}

TEST(mix, has_the_capacities_for_which_all_programs_are_the_same) {
  Programs programs;
  programs.mix = {{"a", 1}, {"b", 1}};
  programs.of = {named("a", {10, 50}), named("b", {40, 90})};
  EXPECT_EQ(programs.psram_bytes(), (CapacityRange{40, 50}));
  programs.of[1] = named("b");
  EXPECT_FALSE(programs.psram_bytes().holds(1));
  EXPECT_FALSE(Programs().psram_bytes().holds(1));
}

TEST(mix, compiles_up_to_what_does_not_fit_and_refuses_weights_that_are_wired_in) {
  std::vector<std::string> asked;
  const auto compile_one = [&](const std::string& model) {
    asked.push_back(model);
    Application application;
    application.feasible = model != "large";
    application.reason = "core: too large";
    return std::make_shared<const Application>(application);
  };
  const Programs programs = compile_mix({{"small", 1}, {"large", 1}, {"third", 1}}, Machine{}, compile_one);
  EXPECT_THAT(asked, testing::ElementsAre("small", "large"));
  ASSERT_EQ(programs.of.size(), 1u);
  EXPECT_FALSE(programs.of[0]->feasible);
  EXPECT_EQ(programs.of[0]->reason, "large: core: too large");
  EXPECT_EQ(compile_mix({{"large", 1}}, Machine{}, compile_one).of[0]->reason, "core: too large");
  Machine wired;
  wired.weight_storage = WeightStorage::hard_coded;
  EXPECT_THAT(refusal([&] {
                compile_mix({{"a", 1}, {"b", 1}}, wired, compile_one);
              }),
              testing::StartsWith("value_conflict at weight_storage"));
  EXPECT_EQ(compile_mix({{"a", 1}}, wired, compile_one).of.size(), 1u);
}

/// One stage of the small pipeline.
std::shared_ptr<const Application> stage_alone(Role role, const std::string& name, const Machine& machine) {
  Workload workload;
  workload.name = name;
  workload.stages.push_back(built_in_stage(role, name, machine));
  return std::make_shared<const Application>(compile(workload, machine));
}

TEST(mix, is_of_the_chip_that_serves_all_where_each_workload_needs_another_block) {
  Machine machine = find_preset("edge")->machine;
  machine.vae_stage = VaeStage::circuit;
  machine.text_encoder_dsram_bytes = 4 * machine.dsram_bytes;
  const Mix mix = {{"tiny-sd-text", 3}, {"tiny-sd-vae-decoder", 1}};
  const auto text = stage_alone(Role::text_encoder, mix[0].model, machine),
             decoder = stage_alone(Role::decoder, mix[1].model, machine);
  Workload line;
  line.stages = {built_in_stage(Role::text_encoder, mix[0].model, machine),
                 built_in_stage(Role::decoder, mix[1].model, machine)};
  const Outcome both = evaluate(compile(line, machine), machine);
  const Programs programs =
      compile_mix(mix, machine, [&](const std::string& model) { return model == mix[0].model ? text : decoder; });
  Outcome mixed_outcome;
  evaluator_of(programs, side_by_side)({&machine, 1}, {&mixed_outcome, 1});
  ASSERT_TRUE(mixed_outcome.counted()) << mixed_outcome.reason;
  const Outcome alone[] = {evaluate(*text, machine), evaluate(*decoder, machine)};
  for (const Metric metric : {Metric::area_mm2, Metric::sram_bytes, Metric::price_usd}) {
    EXPECT_DOUBLE_EQ(value_in(mixed_outcome, metric), value_in(both, metric));
    for (const Outcome& one : alone) EXPECT_GT(value_in(mixed_outcome, metric), value_in(one, metric));
  }
  EXPECT_GT(value_in(mixed_outcome, Metric::energy_j_per_frame),
            value_in(mixed(mix, alone), Metric::energy_j_per_frame))
      << "what stands idle leaks";
  EXPECT_DOUBLE_EQ(value_in(mixed_outcome, Metric::throughput_fps),
                   value_in(mixed(mix, alone), Metric::throughput_fps));
  for (const auto& application : programs.of)
    EXPECT_EQ(evaluate(*application, machine).values[static_cast<std::size_t>(Metric::area_mm2)],
              value_in(mixed_outcome, Metric::area_mm2))
        << "of one machine alone as of many";
}

TEST(mix, of_a_sweep_gives_each_point_the_mixed_outcome_of_its_workloads) {
  Space space;
  space.axes = {{find_parameter("batch"), {1, 2}}, {find_parameter("cores"), {1, 2, 3, 4, 5}}};
  const auto compile_both = [&](const Machine& machine) {
    return compile_mix(three_to_one, machine,
                       [&](const std::string& model) { return named(model + std::to_string(machine.batch)); });
  };
  const auto evaluate_one = [](const Application& application, const Machine& machine) {
    Outcome outcome = application.name.starts_with("quick") ? quick_and_slow()[0] : quick_and_slow()[1];
    outcome.values[0] *= static_cast<double>(machine.cores * machine.batch);
    if (machine.cores == 4 && application.name == "slow2") outcome = {.reason = "four are too many"};
    return outcome;
  };
  int points = 0;
  sweep(space, std::vector<IndexRange>{{0, 10}}, compile_both, one_by_one(evaluate_one), {},
        [&](PointBatch&& batch) {
          for (std::size_t i = 0; i < batch.feasible.size(); ++i, ++points) {
            const Machine machine = point(space, batch.first + static_cast<std::int64_t>(i));
            const auto times = static_cast<double>(machine.cores * machine.batch);
            const bool refused = machine.cores == 4 && machine.batch == 2;
            EXPECT_EQ(batch.feasible[i], refused ? 0 : 1);
            EXPECT_EQ(batch.reasons[batch.reason[i]], refused ? "slow: four are too many" : "");
            if (!refused) {
              EXPECT_DOUBLE_EQ(batch.values[0][i], times / (0.75 / 10 + 0.25 / 1));
            }
          }
        });
  EXPECT_EQ(points, 10);
}

}  // namespace
}  // namespace sdip
