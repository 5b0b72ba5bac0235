// Does the example of core/sdip.h compile with that one include, and say what analyze says?
#include "core/sdip.h"

#include <gtest/gtest.h>

#include "core/study/analysis.h"

namespace sdip {
namespace {

TEST(sdip_header, its_example_says_what_an_analysis_of_the_model_says) {
  const std::string model = write_model("resnet50", {});
  const auto bytes = std::as_bytes(std::span(model));

  // The lines of core/sdip.h.
  Graph graph = import_onnx(bytes);
  rewrite(graph);
  const Stage network = {Role::network, "resnet50", std::make_shared<const Graph>(graph), {}};
  const Machine& machine = find_preset("edge")->machine;
  const Report report = estimate(compile({"resnet50", {network}}, machine), machine);
  const double seconds = report.outcome.values[Metric::latency_s];

  EXPECT_EQ(seconds, analyze(built_in_workloads(), "resnet50", machine).report.outcome.values[Metric::latency_s]);
  EXPECT_GT(seconds, 0);
}

}  // namespace
}  // namespace sdip
