// Are area and power of published chips near what was published of them?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

#include "core/cost/price/estimate.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/price/chips.h"

namespace sdip {
namespace {

/// One product, resident, that keeps the array busy: four folds of it each way.
Report report_of_chip(const Machine& machine) {
  Machine m = machine;
  m.weight_storage = WeightStorage::resident;
  Application application;
  CompiledStage& stage = application.stages.emplace_back();
  stage.name = "product";
  InstructionClass& c = stage.program.classes.emplace_back();
  c.work.family = Family::linear;
  LoopNest& nest = c.work.nest;
  nest.out_h = nest.in_h = 1024;
  nest.in_channels = 4 * m.conv_lanes_in;
  nest.out_channels = 4 * m.conv_lanes_out;
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.mapping = {1024, 1, nest.out_channels, nest.in_channels};
  c.out_elements = 1024 * nest.out_channels;
  stage.program.instructions.emplace_back().name = "product";
  return estimate(application, m);
}

struct Predicted {
  double least = 0, value = 0, most = 0;
};

Predicted sum_of_area(const Report& report) {
  Predicted sum;
  for (std::size_t i = 0; i < report.area_mm2.size(); ++i) {
    sum.least += report.area_ranges_mm2.least[i].second;
    sum.value += report.area_mm2[i].second;
    sum.most += report.area_ranges_mm2.most[i].second;
  }
  return sum;
}

/// Watts on the chip: all parts of a frame's energy but DRAM's, over the time of a frame.
Predicted chip_watts(const Report& report) {
  const double fps = report.outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
  Predicted sum;
  for (std::size_t i = 0; i < report.energy_j.size(); ++i) {
    if (report.energy_j[i].first.starts_with("dram_")) continue;
    sum.least += fps * report.energy_ranges_j.least[i].second;
    sum.value += fps * report.energy_j[i].second;
    sum.most += fps * report.energy_ranges_j.most[i].second;
  }
  return sum;
}

std::string chip_digits(double value) {
  std::ostringstream text;
  text << std::setprecision(3) << value;
  return text.str();
}

std::string cells(const Predicted& told, double published, std::string_view source) {
  const long error = std::lround(100 * (told.value / published - 1));
  return chip_digits(told.value) + " | " + chip_digits(told.least) + " to " + chip_digits(told.most) + " | " +
         chip_digits(published) + ", " + std::string(source) + " | " + (error > 0 ? "+" : "") +
         std::to_string(error) + " % |";
}

TEST(chips, of_published_accelerators_have_areas_within_two_times_and_come_in_the_published_order) {
  std::string text =
      "| chip | mm2 | range | published | error | W | range | published | error | fastest clock, MHz | published "
      "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::vector<std::pair<double, double>> areas, powers;  // published, predicted
  for (const Chip& chip : chips()) {
    const Report report = report_of_chip(chip.machine);
    ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
    EXPECT_GT(report.outcome.values[static_cast<std::size_t>(Metric::utilization)], 0.5) << chip.name;
    const Predicted area = sum_of_area(report), watts = chip_watts(report);
    EXPECT_LT(area.value, 2 * chip.area_mm2) << chip.name;
    EXPECT_GT(2 * area.value, chip.area_mm2) << chip.name;
    EXPECT_LT(watts.value, 2 * chip.power_w) << chip.name;
    EXPECT_GT(5 * watts.value, chip.power_w) << chip.name;
    EXPECT_LE(area.least, area.value);
    EXPECT_LE(area.value, area.most);
    EXPECT_LE(watts.least, watts.value);
    EXPECT_LE(watts.value, watts.most);
    EXPECT_GT(report.clock_limit.mhz, chip.clock_mhz) << chip.name;
    areas.emplace_back(chip.area_mm2, area.value);
    powers.emplace_back(chip.power_w, watts.value);
    text += "| " + std::string(chip.name) + " | " + cells(area, chip.area_mm2, chip.area_source) + " " +
            cells(watts, chip.power_w, chip.power_source) + " " +
            std::to_string(std::lround(report.clock_limit.mhz)) + " | " +
            std::to_string(std::lround(chip.clock_mhz)) + " |\n";
  }
  for (auto* order : {&areas, &powers}) {
    std::ranges::sort(*order);
    EXPECT_TRUE(std::ranges::is_sorted(*order, {}, &std::pair<double, double>::second));
  }
  expect_made_section("model/area.md", "chips", "tests/core/cost/price/chips_test.cpp", text);
}

}  // namespace
}  // namespace sdip
