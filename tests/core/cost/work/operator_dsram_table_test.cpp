// What a DSRAM for each operator brings SD 1.5, and what it takes: a table of docs/model/time.md.
#include <gtest/gtest.h>

#include <iomanip>
#include <sstream>

#include "core/cost/price/estimate.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

Report report_of(Machine m, OperatorDsram option) {
  m.operator_dsram = option;
  CompileOptions options;
  options.say_needed_bytes = false;
  return estimate(compile(built_in_pipeline("sd15", m), m, options), m);
}

const StageReport& step_of(const Report& report) {
  return *std::ranges::find(report.stages, Role::core, &StageReport::role);
}

std::string cells_of(const Report& report) {
  const StageReport& step = step_of(report);
  const auto value = [&](Metric metric) { return report.outcome.values[static_cast<std::size_t>(metric)]; };
  const Cycles stalls = step.stall_weights + step.stall_activations + step.stall_program;
  std::ostringstream text;
  text << std::setprecision(4) << value(Metric::throughput_fps) << " | " << step.steady_cycles.value << " | "
       << step.running.value << " | " << stalls.value << " | " << std::fixed << std::setprecision(1)
       << value(Metric::area_mm2);
  return text.str();
}

TEST(docs, the_table_of_a_dsram_for_each_operator_is_what_sd15_costs) {
  std::string text =
      "| preset | operator_dsram | frame/s | step, cycles | running, cycles | stalls, cycles | area, mm2 |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Preset& preset : diffusion_presets()) {
    const Report common = report_of(preset.machine, OperatorDsram::common),
                 apart = report_of(preset.machine, OperatorDsram::per_operator);
    // Those at once wait for one list of transfers, in program order: a loss where that was hidden before.
    EXPECT_LE(step_of(apart).steady_cycles.value * 100, step_of(common).steady_cycles.value * 102);
    text += "| " + std::string(preset.name) + " | common | " + cells_of(common) + " |\n";
    text += "| " + std::string(preset.name) + " | per_operator | " + cells_of(apart) + " |\n";
  }
  expect_made_section("model/time.md", "operator dsram", "tests/core/cost/work/operator_dsram_table_test.cpp",
                      text);
}

}  // namespace
}  // namespace sdip
