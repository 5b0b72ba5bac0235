// Does docs/model.md list the metrics that the engine has?
#include <gtest/gtest.h>

#include "core/cost/estimate.h"
#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

TEST(docs, the_metric_table_is_that_of_the_rows) {
  std::string text = "| metric | unit | better | | |\n| --- | --- | --- | --- | --- |\n";
  for (const MetricRow& row : metrics()) {
    const char* better = row.better == Better::higher ? "higher" : row.better == Better::lower ? "lower" : "";
    text += "| `" + std::string(row.name) + "` | " + std::string(row.unit) + " | " + better + " | " +
            std::string(row.en) + " | " + std::string(row.ja) + " |\n";
  }
  expect_made_section("model.md", "metrics", "core/cost/metrics.def", text);
}

}  // namespace
}  // namespace sdip
