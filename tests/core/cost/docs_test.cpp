// Does docs/model/frames.md list the metrics that the engine has, and say what traffic is compared with?
#include <gtest/gtest.h>

#include <cstdio>

#include "core/cost/price/estimate.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

TEST(docs, the_metric_table_is_that_of_the_rows) {
  std::string text = "| metric | unit | better | | |\n| --- | --- | --- | --- | --- |\n";
  for (const MetricRow& row : metrics()) {
    const char* better = row.better == Better::higher ? "higher" : row.better == Better::lower ? "lower" : "";
    text += "| `" + std::string(row.name) + "` | " + std::string(row.unit) + " | " + better + " | " +
            std::string(row.en) + " | " + std::string(row.ja) + " |\n";
  }
  expect_made_section("model/frames.md", "metrics", "core/cost/price/metrics.def", text);
}

/// SD 1.5 on the essay's machine: of the step, and of all passes of a frame.
TEST(docs, the_traffic_of_a_frame_over_its_bounds) {
  const Machine m = find_preset("essay")->machine;
  const Report report = estimate(compile(built_in_pipeline("sd15", m), m), m);
  const auto metric = [&](Metric which) { return report.outcome.values[static_cast<std::size_t>(which)]; };
  const auto cores = metric(Metric::active_cores);
  double bounds = 0;
  for (const StageReport& stage : report.stages) {
    if (stage.role == Role::core)
      bounds += static_cast<double>(m.steps) / cores * static_cast<double>(stage.bound_dram_bytes.value);
    if (stage.role == Role::decoder) bounds += static_cast<double>(stage.bound_dram_bytes.value);
  }
  const double moved = metric(Metric::dram_bytes_per_frame);
  char text[200];
  std::snprintf(text, sizeof text,
                "\n    the step   %.1f\n    a frame    %.0f B / %.0f B of all its passes = %.1f\n\n",
                metric(Metric::dram_bytes_over_bound), moved, bounds, moved / bounds);
  expect_made_section("model/frames.md", "traffic over bounds", "tests/core/cost/docs_test.cpp", text);
}

}  // namespace
}  // namespace sdip
