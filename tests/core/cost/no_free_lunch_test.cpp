// Nothing may be had for nothing: more rate or room costs area, energy or money, and no machine is beyond what was
// built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "core/cost/price/batch.h"
#include "core/machine/dram.h"
#include "core/machine/gives.h"
#include "tests/core/base/full_run.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

using testing::HasSubstr;

double metric_of(const Outcome& outcome, Metric metric) { return outcome.values[static_cast<std::size_t>(metric)]; }
Outcome on(const Machine& m) { return evaluate(compile(tiny_sd(m), m), m); }

/// A machine that could be built, mostly.
Machine drawn(Dice& dice) {
  Machine m = find_preset("balanced")->machine;
  m.technology_node = dice.one_of({TechnologyNode::n5, TechnologyNode::n7, TechnologyNode::n16, TechnologyNode::n28,
                                   TechnologyNode::n45, TechnologyNode::n65});
  m.cores = dice.between(1, 10);
  m.dies = dice.between(1, 3);
  m.core_clock_mhz = 100 * dice.between(1, 12);
  m.pipeline_stages = dice.between(1, 4);
  m.conv_lanes_in = 4 << dice.between(0, 3);
  m.conv_lanes_out = 4 << dice.between(0, 3);
  m.conv_lanes_pixel = 1 << dice.between(0, 4);
  m.vector_lanes = 16 << dice.between(0, 4);
  m.softmax_lanes = 16 << dice.between(0, 4);
  m.norm_lanes = 16 << dice.between(0, 4);
  m.transpose_lanes = 16 << dice.between(0, 4);
  m.psram_bytes = 65536 << dice.between(0, 6);
  m.dsram_bytes = 16384 << dice.between(0, 6);
  m.stackram_bytes = 16384 << dice.between(0, 6);
  m.psram_port_bits = 256 << dice.between(0, 5);
  m.dsram_port_bits = 256 << dice.between(0, 4);
  m.stackram_port_bits = 256 << dice.between(0, 4);
  m.sram_banks = 4 << dice.between(0, 3);
  m.dram_kind = dram_kinds()[static_cast<std::size_t>(dice.between(0, std::ssize(dram_kinds()) - 1))].kind;
  m.dram_channels = 1 << dice.between(0, 4);
  m.accumulator_folds = m.weight_registers = 0;
  if (dice.one_in(2)) m.accumulator_folds = 1 << dice.between(0, 4), m.weight_registers = dice.between(1, 2);
  m.activation_memory = dice.one_of({ActivationMemory::separate, ActivationMemory::unified});
  m.dma_port = dice.one_of({DmaPort::shared, DmaPort::own});
  return m;
}

/// One step to more, as a sensitivity takes it.
std::int64_t more_of(const ParameterRow& row, std::int64_t value) {
  if (row.unit == "MHz" || row.unit == "MT/s") return value + std::max<std::int64_t>(1, value / 10);
  return 2 * value;
}

bool is_free(const ParameterRow& row) {
  return std::ranges::find(free_rows(), row.name, &FreeRow::name) != free_rows().end();
}

/// Better in time while nothing that it costs is more.
bool had_for_nothing(const Outcome& before, const Outcome& after) {
  const auto no_more = [&](Metric metric) {
    return metric_of(after, metric) <= metric_of(before, metric) * (1 + 1e-12);
  };
  const bool faster =
      metric_of(after, Metric::throughput_fps) > metric_of(before, Metric::throughput_fps) * (1 + 1e-12) ||
      metric_of(after, Metric::latency_s) < metric_of(before, Metric::latency_s) * (1 - 1e-12);
  return faster && no_more(Metric::area_mm2) && no_more(Metric::energy_j_per_frame) && no_more(Metric::price_usd);
}

TEST(no_free_lunch, one_step_to_more_rate_or_room_costs_area_energy_or_money) {
  const std::int64_t machines = full_run() ? 1000 : 100;
  std::int64_t feasible = 0, faster = 0;
  for (std::uint64_t seed = 1; feasible < machines; ++seed) {
    Dice dice(seed);
    const Machine m = drawn(dice);
    const Application application = compile(tiny_sd(m), m);
    const Outcome before = evaluate(application, m);
    if (!before.feasible) continue;
    ++feasible;
    for (const ParameterRow& row : parameters()) {
      const std::int64_t value = row.read(m);
      if (row.gives == Gives::nothing || is_free(row) || value == 0) continue;
      const bool compiled = changes_program(row);
      if (compiled && !dice.one_in(3)) continue;
      Machine more = m;
      row.write(more, std::min(row.most, more_of(row, value)));
      const Outcome after = compiled ? on(more) : evaluate(application, more);
      if (!after.feasible) continue;
      faster += metric_of(after, Metric::throughput_fps) > metric_of(before, Metric::throughput_fps);
      EXPECT_FALSE(had_for_nothing(before, after))
          << "seed " << seed << ", " << row.name << " " << value << " to " << row.read(more) << ": fps "
          << metric_of(before, Metric::throughput_fps) << " to " << metric_of(after, Metric::throughput_fps)
          << ", latency " << metric_of(before, Metric::latency_s) << " to " << metric_of(after, Metric::latency_s)
          << ", mm2 " << metric_of(before, Metric::area_mm2) << " to " << metric_of(after, Metric::area_mm2)
          << ", J " << metric_of(before, Metric::energy_j_per_frame) << " to "
          << metric_of(after, Metric::energy_j_per_frame);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(faster, 3 * machines);
}

TEST(no_free_lunch, exempt_rows_are_few_and_give_something) {
  EXPECT_LE(free_rows().size(), 10U);
  for (const FreeRow& row : free_rows()) {
    ASSERT_NE(find_parameter(row.name), nullptr) << row.name;
    EXPECT_EQ(find_parameter(row.name)->gives, Gives::rate) << row.name;
  }
}

TEST(docs, the_table_of_free_rows_is_that_of_the_rows) {
  std::string text = "| row | why | what ends it |\n| --- | --- | --- |\n";
  for (const FreeRow& row : free_rows())
    text += "| `" + std::string(row.name) + "` | " + std::string(row.why) + " | " + std::string(row.bound) + " |\n";
  expect_made_section("model/limits.md", "free rows", "core/machine/gives.cpp", text);
}

TEST(no_free_lunch, a_clock_of_four_times_is_beyond_every_preset_s_circuits) {
  for (const Preset& preset : diffusion_presets()) {
    Machine m = preset.machine;
    m.core_clock_mhz *= 4;
    const Outcome outcome = on(m);
    EXPECT_FALSE(outcome.feasible) << preset.name;
    EXPECT_THAT(outcome.reason, HasSubstr("core_clock_mhz")) << preset.name;
  }
}

TEST(no_free_lunch, a_bus_of_64_times_is_beyond_a_die_s_edge_or_takes_hundreds_of_mm2) {
  for (const Preset& preset : diffusion_presets()) {
    Machine m = preset.machine;
    const double before = metric_of(on(m), Metric::area_mm2);
    m.dram_channels *= 64;
    const Outcome outcome = on(m);
    EXPECT_GT(metric_of(outcome, Metric::area_mm2), before + 200) << preset.name;
    const bool on_few_dies = m.dies < 3;
    if (on_few_dies) {
      EXPECT_THAT(outcome.reason, testing::AnyOf(HasSubstr("edge"), HasSubstr("a scanner exposes"))) << preset.name;
    }
  }
}

TEST(no_free_lunch, an_older_node_costs_more_area_and_energy_at_an_equal_clock) {
  for (const Preset& preset : diffusion_presets()) {
    Machine m = preset.machine;
    m.core_clock_mhz = 100;
    double area = 0;
    for (const TechnologyNode node : {TechnologyNode::n5, TechnologyNode::n7, TechnologyNode::n16,
                                      TechnologyNode::n28, TechnologyNode::n45, TechnologyNode::n65}) {
      m.technology_node = node;
      const Outcome outcome = on(m);
      EXPECT_GT(metric_of(outcome, Metric::area_mm2), area) << preset.name;
      area = metric_of(outcome, Metric::area_mm2);
    }
  }
}

TEST(no_free_lunch, a_die_of_2862_mm2_is_not_exposed) {
  Machine m = find_preset("essay")->machine;
  m.dies = 1;
  while (metric_of(on(m), Metric::area_mm2) < 2862) ++m.cores;
  EXPECT_THAT(on(m).reason, HasSubstr("a scanner exposes 858.0 at most"));
}

/// The best that is published as such of a chip of that node, of 8 bit or fewer (../shared/reference/chips.json): a
/// tensor core of NVIDIA at its lowest supply (Keller et al., VLSI 2022), Simba's chip (Zimmer et al., JSSC 2020),
/// and EdgeDiff (ISSCC 2025).
struct Best {
  double per_w = 0, per_mm2 = 0;  // 0: not given
};
const std::map<double, Best> best_published = {{5, {39.1, 0}}, {16, {0, 1.29}}, {28, {34.4, 0}}};

TEST(no_free_lunch, no_random_machine_is_twice_as_good_as_the_best_chip_of_its_node) {
  Machine base = find_preset("balanced")->machine;
  base.psram_bytes = base.dsram_bytes = base.stackram_bytes = 512 << 10;
  const Application application = compile(tiny_sd(base), base);
  const std::map<TechnologyNode, double> nodes = {{TechnologyNode::n5, 5},   {TechnologyNode::n7, 7},
                                                  {TechnologyNode::n16, 16}, {TechnologyNode::n28, 28},
                                                  {TechnologyNode::n45, 45}, {TechnologyNode::n65, 65}};
  std::map<double, std::int64_t> feasible;
  BatchEvaluator evaluator(application);
  constexpr std::uint64_t at_once = 10'000;
  const std::uint64_t draws = full_run() ? 600'000 : 60'000;  // 100,000 or 10,000 a node
  for (std::uint64_t first = 1; first <= draws; first += at_once) {
    std::vector<Machine> machines;
    for (std::uint64_t seed = first; seed < first + at_once; ++seed) {
      Dice dice(seed);
      const Machine m = drawn(dice);
      machines.push_back(base);
      for (const ParameterRow& row : parameters())
        if (!changes_program(row)) row.write(machines.back(), row.read(m));
    }
    std::vector<Outcome> outcomes(machines.size());
    evaluator.evaluate(machines, outcomes);
    for (std::size_t i = 0; i < machines.size(); ++i) {
      if (!outcomes[i].feasible) continue;
      const double nm = nodes.at(machines[i].technology_node);
      ++feasible[nm];
      const Best best = best_published.contains(nm) ? best_published.at(nm) : Best{};
      const auto expect_at_most_twice = [&](Metric metric, double published) {
        if (published > 0) {
          EXPECT_LE(metric_of(outcomes[i], metric), 2 * published) << nm << " nm, seed " << first + i;
        }
      };
      expect_at_most_twice(Metric::tops_per_w, best.per_w);
      expect_at_most_twice(Metric::tops_peak_per_mm2, best.per_mm2);
    }
  }
  for (const auto& [node, nm] : nodes) EXPECT_GT(feasible[nm], 500) << nm << " nm";
}

}  // namespace
}  // namespace sdip
