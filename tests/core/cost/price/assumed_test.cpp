// What a report's energy and area lean on: rows of the technology table that are assumptions.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>

#include "core/machine/technology.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// Figures that a chip is given by their values, whatever is asked: its supply, which clocks ask for in steps, and
/// what a die stands.
bool has_one_value(std::string_view row) {
  return row.find(".supply.") != std::string_view::npos || row.starts_with("supply.") ||
         (row.starts_with("clock.") && row != "clock.tree") || row.starts_with("depth.") ||
         row.starts_with("die.") || row.starts_with("leakage.of_");
}

/// The machine with a user's figures for all assumptions, a hundredth more.
Machine with_more(Machine m) {
  for (const TechnologyRow& row : technology_rows()) {
    if (row.confidence != Confidence::assumption || has_one_value(row.name)) continue;
    const ParameterRow* figure = find_setting(std::string(technology_prefix) + std::string(row.name));
    figure->write(m, std::bit_cast<std::int64_t>(row.value * 1.01));
  }
  return m;
}

double leaning(const Breakdown& parts, const Breakdown& grown) {
  double all = 0, leans = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    all += parts[i].second;
    leans += std::clamp((grown[i].second - parts[i].second) * 100, 0.0, parts[i].second);
  }
  return leans / all;
}

TEST(assumed, shares_are_those_that_grow_when_every_assumption_is_a_hundredth_larger) {
  for (const Preset& preset : diffusion_presets()) {
    const Application application = compile(tiny_sd(preset.machine), preset.machine);
    const Report report = estimate(application, preset.machine),
                 grown = estimate(application, with_more(preset.machine));
    EXPECT_NEAR(report.assumed.area, leaning(report.area_mm2, grown.area_mm2), 1e-9) << preset.name;
    EXPECT_NEAR(report.assumed.energy, leaning(report.energy_j, grown.energy_j), 1e-9) << preset.name;
    EXPECT_GT(report.assumed.energy, 0.1);
    EXPECT_LT(report.assumed.area, 0.9);
  }
}

}  // namespace
}  // namespace sdip
