// Is nothing had for nothing: neither an older node, nor a faster clock, nor a deeper pipeline, nor a higher
// supply?
#include <gmock/gmock.h>

#include <cmath>

#include "core/cost/price/batch.h"
#include "core/machine/technology.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/reports.h"

namespace sdip {
namespace {

constexpr TechnologyNode old_to_new[] = {TechnologyNode::n65, TechnologyNode::n45, TechnologyNode::n28,
                                         TechnologyNode::n16, TechnologyNode::n7,  TechnologyNode::n5};

struct Known {
  const Preset* preset;
  Application application;
};

/// SD 1.5 on the presets for diffusion. A node changes no program.
const std::vector<Known>& known() {
  static const std::vector<Known> all = [] {
    std::vector<Known> made;
    for (const Preset& preset : diffusion_presets())
      made.push_back({&preset, compile(built_in_pipeline("sd15", preset.machine), preset.machine)});
    return made;
  }();
  return all;
}

bool of_dram(std::string_view part) { return part.starts_with("dram_"); }

TEST(nodes, an_older_node_takes_no_less_dynamic_energy_or_area_block_by_block) {
  for (const Known& one : known()) {
    Report newer;
    for (std::size_t i = std::size(old_to_new); i-- > 0;) {
      SCOPED_TRACE(std::string(one.preset->name) + " " + std::to_string(i));
      Machine m = one.preset->machine;
      m.technology_node = old_to_new[i];
      Report report = estimate(one.application, m);
      ASSERT_TRUE(report.outcome.counted());
      for (std::size_t part = 0; part < report.energy_j.size() && !newer.energy_j.empty(); ++part) {
        const auto& [name, joules] = report.energy_j[part];
        if (name == "leakage") continue;
        EXPECT_GE(joules, newer.energy_j[part].second) << name;
        if (of_dram(name)) {
          EXPECT_EQ(joules, newer.energy_j[part].second) << name;
        }
      }
      for (std::size_t block = 0; block < report.area_mm2.size() && !newer.area_mm2.empty(); ++block)
        EXPECT_GE(report.area_mm2[block].second, newer.area_mm2[block].second) << report.area_mm2[block].first;
      newer = std::move(report);
    }
  }
}

TEST(nodes, sixty_five_nm_is_worse_than_forty_five_and_the_oldest_beats_no_other) {
  for (const Known& one : known()) {
    double oldest = 0;
    for (const TechnologyNode node : old_to_new) {
      Machine m = one.preset->machine;
      m.technology_node = node;
      const Report report = estimate(one.application, m);
      const double joules = value(report, Metric::energy_j_per_frame);
      if (node == TechnologyNode::n65)
        oldest = joules;
      else
        EXPECT_GT(oldest, joules) << one.preset->name << " " << static_cast<int>(node);
    }
  }
}

TEST(presets, run_within_their_limits) {
  for (const Known& one : known()) {
    const Report report = estimate(one.application, one.preset->machine);
    EXPECT_EQ(report.outcome.reason, "") << one.preset->name;
    EXPECT_GE(report.clock_limit.mhz, static_cast<double>(one.preset->machine.core_clock_mhz));
    ASSERT_TRUE(report.heat);
    EXPECT_LT(report.heat->watts_per_mm2, report.heat->most_watts_per_mm2);
  }
}

/// Four times as fast: beyond what is built, or dearer.
TEST(limits, a_faster_clock_is_not_free) {
  for (const Known& one : known()) {
    const Report before = estimate(one.application, one.preset->machine);
    Machine m = one.preset->machine;
    m.core_clock_mhz *= 4;
    const Report faster = estimate(one.application, m);
    EXPECT_FALSE(faster.outcome.feasible) << one.preset->name;
    EXPECT_THAT(faster.outcome.reason, testing::HasSubstr("core_clock_mhz = " + std::to_string(m.core_clock_mhz) +
                                                          " is beyond the fastest clock of "));
    EXPECT_TRUE(faster.outcome.counted());
    m.core_clock_mhz = one.preset->machine.core_clock_mhz;
    double joules = 0;
    for (const std::int64_t mhz : {500, 1000, 1500, 2000, 2500}) {
      m.core_clock_mhz = mhz;
      const Report at = estimate(one.application, m);
      if (!at.outcome.feasible) continue;
      double dynamic = 0;
      for (const auto& [part, j] : at.energy_j)
        if (part == "mac" || part == "vector" || part == "ports" || part == "broadcast") dynamic += j;
      EXPECT_GE(dynamic, joules) << one.preset->name << " at " << mhz;
      joules = dynamic;
    }
    EXPECT_GT(joules, 0);
    EXPECT_LE(before.outcome.values[static_cast<std::size_t>(Metric::area_mm2)], value(faster, Metric::area_mm2));
  }
}

TEST(limits, the_supply_follows_the_clock) {
  const Known& edge = known()[1];
  std::int64_t mv = 0, moved = 0;
  for (std::int64_t mhz = 100; mhz <= 3400; mhz += 100) {
    Machine m = edge.preset->machine;
    m.core_clock_mhz = mhz;
    const Report report = estimate(edge.application, m);
    EXPECT_GE(report.clock_limit.supply_mv, mv);
    moved += report.clock_limit.supply_mv > mv;
    mv = report.clock_limit.supply_mv;
    EXPECT_EQ(mv % 10, 0);
    if (!report.outcome.feasible) continue;
    // The lowest that allows it: ten millivolts less do not.
    if (mv > supplies(m.technology_node).front().mv) {
      m.supply_mv = mv - 10;
      EXPECT_FALSE(evaluate(edge.application, m).feasible) << mhz;
      m.supply_mv = mv;
      EXPECT_EQ(evaluate(edge.application, m).values, report.outcome.values) << mhz;
    }
  }
  EXPECT_GT(moved, 8);
  EXPECT_GE(mv, supplies(edge.preset->machine.technology_node).back().mv - 10);
}

TEST(limits, a_deeper_pipeline_costs_area_and_energy_and_a_higher_supply_energy) {
  const Machine standard = find_preset("edge")->machine;
  const Application application = compile(tiny_sd(standard), standard);
  const auto of = [&](auto change) {
    Machine m = standard;
    m.supply_mv = 700;
    change(m);
    return estimate(application, m);
  };
  const Report before = of([](Machine&) {});
  for (const std::int64_t stages : {9, 16, 64}) {
    const Report deeper = of([&](Machine& m) { m.pipeline_stages = stages; });
    EXPECT_GT(value(deeper, Metric::area_mm2), value(before, Metric::area_mm2)) << stages;
    EXPECT_GT(value(deeper, Metric::energy_j_per_frame), value(before, Metric::energy_j_per_frame)) << stages;
  }
  for (const std::int64_t mv : {710, 800, 950}) {
    const Report higher = of([&](Machine& m) { m.supply_mv = mv; });
    EXPECT_GE(higher.clock_limit.mhz, before.clock_limit.mhz);
    EXPECT_GT(value(higher, Metric::energy_j_per_frame), value(before, Metric::energy_j_per_frame)) << mv;
    EXPECT_EQ(value(higher, Metric::area_mm2), value(before, Metric::area_mm2));
  }
}

TEST(limits, of_heat_are_told_with_limit_and_value) {
  Machine m = find_preset("edge")->machine;
  const Application application = compile(tiny_sd(m), m);
  const Report cool = estimate(application, m);
  ASSERT_TRUE(cool.outcome.feasible) << cool.outcome.reason;
  const auto with = [&](const char* row, double figure) {
    Machine own = m;
    const ParameterRow& parameter = *find_setting(std::string("technology.") + row);
    parameter.write(own, parse_value(parameter, std::to_string(figure), row));
    return estimate(application, own);
  };
  const Report hot = with("die.power_density", cool.heat->watts_per_mm2 / 2);
  EXPECT_FALSE(hot.outcome.feasible);
  EXPECT_THAT(hot.outcome.reason,
              testing::MatchesRegex("the die gives off .* W/mm2, more than die.power_density, .*"));
  EXPECT_TRUE(hot.outcome.counted());
  const Report warm = with("die.thermal_resistance", 1.1 * 60 / cool.heat->watts_per_mm2);
  EXPECT_FALSE(warm.outcome.feasible);
  EXPECT_THAT(warm.outcome.reason,
              testing::MatchesRegex("the die reaches .* C, more than die.temperature.most, 105"));
}

TEST(limits, what_breaks_one_has_no_price) {
  Machine m = find_preset("edge")->machine;
  const Application application = compile(tiny_sd(m), m);
  EXPECT_EQ(estimate(application, m).price_usd.size(), 3u);
  m.core_clock_mhz = 100'000;
  const Report report = estimate(application, m);
  ASSERT_FALSE(report.outcome.feasible);
  for (const auto& [part, usd] : report.price_usd) EXPECT_TRUE(std::isnan(usd)) << part;
}

/// A machine drawn about `edge`, of which one step more of a row never gives rate, latency or both at no price.
TEST(no_free_lunch, of_clock_stages_and_supply) {
  const Machine standard = find_preset("edge")->machine;
  const Application application = compile(tiny_sd(standard), standard);
  BatchEvaluator batch(application);
  Dice dice(23);
  std::int64_t steps = 0, faster = 0;
  for (int i = 0; i < 1000; ++i) {
    Machine m = standard;
    m.core_clock_mhz = dice.between(50, 3000);
    m.pipeline_stages = dice.between(1, 12);
    m.sram_banks = dice.between(1, 64);
    m.supply_mv = dice.one_in(2) ? 0 : 10 * dice.between(60, 95);
    m.cores = dice.between(1, 4);
    m.technology_node = dice.one_of({TechnologyNode::n65, TechnologyNode::n45, TechnologyNode::n28,
                                     TechnologyNode::n16, TechnologyNode::n7, TechnologyNode::n5});
    if (m.supply_mv > 0) {
      const auto all = supplies(process_of(m));
      m.supply_mv = std::clamp(m.supply_mv, all.front().mv, all.back().mv);
    }
    const Outcome before = evaluate(application, m);
    if (!before.feasible) continue;
    std::vector<Machine> changed(3, m);
    changed[0].core_clock_mhz += std::max<std::int64_t>(1, m.core_clock_mhz / 10);
    // The channel's rate goes with the clock until DRAM has a rate of its own.
    changed[1].pipeline_stages += 1;
    changed[2].supply_mv += m.supply_mv > 0 ? 10 : 0;
    std::vector<Outcome> after(changed.size());
    batch.evaluate(changed, after);
    for (std::size_t c = 0; c < changed.size(); ++c) {
      if (!after[c].feasible) continue;
      ++steps;
      const auto of = [](const Outcome& o, Metric metric) { return o.values[static_cast<std::size_t>(metric)]; };
      const bool better = of(after[c], Metric::throughput_fps) > of(before, Metric::throughput_fps) ||
                          of(after[c], Metric::latency_s) < of(before, Metric::latency_s);
      faster += better;
      // Watts, not joules: below the clock that the least supply allows a slower clock only leaks for longer.
      const bool dearer = of(after[c], Metric::area_mm2) > of(before, Metric::area_mm2) ||
                          of(after[c], Metric::power_w) > of(before, Metric::power_w);
      EXPECT_TRUE(!better || dearer) << "machine " << i << ", change " << c;
      EXPECT_EQ(evaluate(application, changed[c]).values, after[c].values);
    }
  }
  EXPECT_GT(steps, 500);
  EXPECT_GT(faster, 150);
}

}  // namespace
}  // namespace sdip
