// Cores on several dies: where they stand, what links take, and what a machine costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "core/cost/price/dies_price.h"
#include "core/machine/dies.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/price/counted_dies.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Machine on_dies(std::int64_t cores, std::int64_t dies) {
  Machine m = find_preset("edge")->machine;
  m.cores = cores;
  m.dies = dies;
  return m;
}

Report report_on_dies(const Machine& m) { return estimate(compile(tiny_sd(m), m), m); }

double of_part(const Breakdown& parts, std::string_view name) {
  const auto found = std::ranges::find(parts, name, &std::pair<std::string, double>::first);
  return found == parts.end() ? 0 : found->second;
}

TEST(dies, have_cores_in_order_and_none_has_none) {
  const auto line = [](std::int64_t cores, std::int64_t dies) {
    const DieLine its = die_line(on_dies(cores, dies));
    return std::pair(its.dies, its.cores);
  };
  EXPECT_EQ(line(10, 1), std::pair(std::int64_t{1}, std::int64_t{10}));
  EXPECT_EQ(line(10, 6), std::pair(std::int64_t{5}, std::int64_t{2}));
  EXPECT_EQ(line(10, 4), std::pair(std::int64_t{4}, std::int64_t{3}));
  EXPECT_EQ(line(1, 64), std::pair(std::int64_t{1}, std::int64_t{1}));
  for (std::int64_t cores = 1; cores <= 70; ++cores)
    for (std::int64_t dies = 1; dies <= 64; ++dies) {
      EXPECT_EQ(die_line(on_dies(cores, dies)).dies, counted_dies(on_dies(cores, dies)));
      Machine again = on_dies(cores, dies);
      again.dies = die_line(again).dies;
      EXPECT_EQ(die_line(again).cores, die_line(on_dies(cores, dies)).cores) << cores << " on " << dies;
    }
}

TEST(dies, share_channels_as_the_fullest_does) {
  EXPECT_EQ(cores_on_channels({1, 10}, 10), 10);
  EXPECT_EQ(cores_on_channels({5, 2}, 10), 10);
  EXPECT_EQ(cores_on_channels({4, 3}, 10), 12);
  EXPECT_EQ(cores_on_channels({4, 3}, 1), 4);
}

TEST(dies, of_one_core_each_are_what_the_area_is) {
  for (const std::int64_t dies : {1, 2, 3, 8}) {
    const Machine m = on_dies(8, dies);
    const Application application = compile(tiny_sd(m), m);
    const Report report = estimate(application, m);
    double sum = 0, counted = 0;
    for (const DieReport& die : report.dies) sum += static_cast<double>(die.count) * die.area_mm2.value;
    const std::vector<double> each = counted_die_mm2(application, m);
    EXPECT_EQ(std::ssize(each), die_line(m).dies);
    for (const double mm2 : each) counted += mm2;
    EXPECT_NEAR(sum, value(report, Metric::area_mm2), 1e-9 * sum);
    EXPECT_NEAR(sum, counted, 1e-9 * sum) << dies;
    EXPECT_NEAR(report.dies.front().area_mm2.value, each.front(), 1e-9 * sum) << dies;
    EXPECT_NEAR(report.dies.back().area_mm2.value, each.back(), 1e-9 * sum) << dies;
    EXPECT_NEAR(value(report, Metric::price_usd), counted_price_usd(each, m), 1e-6);
    EXPECT_EQ(of_part(report.area_mm2, "die_links") > 0, dies > 1);
    EXPECT_EQ(of_part(report.energy_j, "die_links") > 0, dies > 1);
  }
}

TEST(dies, that_no_scanner_exposes_are_infeasible_and_counted) {
  Machine m = find_preset("essay")->machine;
  m.dies = 1;
  const Report one = report_on_dies(m);
  EXPECT_THAT(one.outcome.reason, StartsWith("the die is "));
  EXPECT_THAT(one.outcome.reason, HasSubstr("a scanner exposes 858.0 at most"));
  EXPECT_TRUE(one.outcome.counted());
  EXPECT_GT(value(one, Metric::throughput_fps), 0);
  EXPECT_TRUE(std::isnan(value(one, Metric::price_usd)));
  EXPECT_TRUE(one.price_usd.empty());
  m.dies = 2;
  EXPECT_THAT(report_on_dies(m).outcome.reason, StartsWith("the first die is "));
  m.dies = find_preset("essay")->machine.dies;
  EXPECT_TRUE(report_on_dies(m).outcome.feasible) << report_on_dies(m).outcome.reason;
}

TEST(dies, have_links_that_are_as_fast_as_links_are_and_fit_their_edge) {
  Machine m = on_dies(2, 2);
  m.die_link_cycles = 1;
  EXPECT_EQ(report_on_dies(m).outcome.reason,
            "die_link_cycles are 1.0 ns, a link between dies takes 2.0: more die_link_cycles");
  m.die_link_cycles = 2;
  EXPECT_EQ(report_on_dies(m).outcome.reason, "");
  m.die_link_bits = 262144;  // 147 mm of edge
  EXPECT_THAT(report_on_dies(m).outcome.reason, StartsWith("PHYs of DRAM and links between dies need 148.2 mm"));
}

TEST(dies, are_refused_where_cores_share_more_than_weights) {
  const auto conflict = [](auto change) {
    Machine m = on_dies(4, 2);
    change(m);
    EXPECT_THROW(check_machine(m), Error);
    m.dies = 1;
    EXPECT_NO_THROW(check_machine(m));
  };
  conflict([](Machine& m) { m.memory_hierarchy = MemoryHierarchy::crossbar; });
  conflict([](Machine& m) { m.memory_hierarchy = MemoryHierarchy::writable_psram; });
  conflict([](Machine& m) { m.core_weights = CoreWeights::per_core; });
  conflict([](Machine& m) { m.branches = Branches::parallel; });
  conflict([](Machine& m) { m.host_memory = true; });
  conflict([](Machine& m) { m.technology_node = TechnologyNode::fpga_vc1902; });
}

/// docs/model/dies.md.
TEST(dies, of_400_mm2_at_7_nm_cost_what_the_example_says) {
  const PriceFigures figures = price_figures(TechnologyNode::n7);
  EXPECT_NEAR(die_yield(400, figures), 0.712, 0.0005);
  Machine m = find_preset("edge")->machine;
  m.host_memory = true;
  const Price price = price_of({BuiltDie{1, 400, 0}}, m);
  EXPECT_NEAR(price.silicon, 91.6, 0.1);
  EXPECT_EQ(price.dram, 0);
  EXPECT_NEAR(price.total(), (price.silicon * 1.335 + 400 * 0.02) / 0.99, 1e-9);
  EXPECT_NEAR(million_images_usd(price, 2, 3.6, m), price.total() / (3 * 31.5576 * 2) + 0.1, 1e-9);
  m.hours_a_day = 8;
  EXPECT_NEAR(million_images_usd(price, 2, 3.6, m), price.total() / (31.5576 * 2) + 0.1, 1e-9);
}

std::string in_three(double value) {
  std::ostringstream text;
  if (value >= 100)
    text << std::llround(value);
  else
    text << std::setprecision(3) << value;
  return text.str();
}

TEST(docs, the_table_of_presets_dies_and_prices_is_what_sd15_costs) {
  std::string text =
      "| preset | dies, mm2 | yield | silicon, USD | package | DRAM | in all | a million images, USD |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Preset& preset : diffusion_presets()) {
    const Machine& m = preset.machine;
    const Report report = estimate(compile(built_in_pipeline("sd15", m), m), m);
    ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
    std::string dies, yields;
    for (const DieReport& die : report.dies) {
      dies += (dies.empty() ? "" : ", ") + std::to_string(die.count) + " x " +
              std::to_string(std::llround(die.area_mm2.value));
      yields += (yields.empty() ? "" : ", ") + in_three(die.yield);
    }
    text += "| " + std::string(preset.name) + " | " + dies + " | " + yields;
    for (const char* name : {"silicon", "package", "dram"})
      text += " | " + in_three(of_part(report.price_usd, name));
    text += " | " + in_three(value(report, Metric::price_usd)) + " | " +
            in_three(value(report, Metric::million_images_usd)) + " |\n";
  }
  expect_made_section("model/dies.md", "dies", "tests/core/cost/price/dies_test.cpp", text);
}

}  // namespace
}  // namespace sdip
