// A graph compiled for many machines: estimated, executed, validated and written out and read again.
#include "tests/core/explore/everywhere.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/explore/validate/validate.h"
#include "core/explore/validate/validate_tensors.h"
#include "tests/core/graph/text_model.h"
#include "tests/core/program/form/round_trip.h"

namespace sdip {

bool same_numbers(const Tensor& found, const Tensor& wanted) {
  const auto near = [](double x, double y) {
    return x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= 1e-4 * std::max(1.0, std::fabs(y));
  };
  return found.type == wanted.type && found.shape == wanted.shape && found.ints == wanted.ints &&
         std::ranges::equal(found.floats, wanted.floats, near);
}

namespace {

StoredTensors nothing_stored() {
  return [](const Value&) { return std::nullopt; };
}

std::vector<std::pair<std::string, Machine>> machines() {
  std::vector<std::pair<std::string, Machine>> all;
  for (const Preset& preset : presets()) {
    Machine m = preset.machine;
    m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
    all.emplace_back(preset.name, m);
  }
  Machine cramped = all.front().second;
  cramped.dsram_bytes = cramped.psram_bytes = 512;
  cramped.stackram_bytes = 64;
  cramped.fusion = Fusion::norm;
  all.emplace_back("cramped", cramped);
  cramped.operator_dsram = OperatorDsram::per_operator;
  cramped.transposition = Transposition::static_transposition;
  all.emplace_back("pairs", cramped);
  return all;
}

/// On memories twice as large until the program can be placed.
Application compiled_on(Machine& machine, const std::shared_ptr<const Graph>& graph) {
  Workload workload;
  workload.stages.push_back({Role::network, "test", graph, {}});
  for (int doublings = 0;; ++doublings) {
    Application application = compile(workload, machine);
    if (application.feasible || doublings == 12) return application;
    machine.psram_bytes *= 2;
    machine.dsram_bytes *= 2;
  }
}

void expect_same_on(Machine machine, const std::shared_ptr<const Graph>& graph) {
  const Application application = compiled_on(machine, graph);
  ASSERT_TRUE(application.feasible) << application.reason;
  const Report report = estimate(application, machine);
  if (report.outcome.feasible) {  // an FPGA may be too small for fp32
    EXPECT_GT(report.stages.at(0).steady_cycles.value, 0);
  }
  const CompiledStage& stage = application.stages.at(0);
  const std::vector<Tensor> inputs = random_inputs(*graph), want = values_of(*graph, inputs);
  const Run run = execute(stage, machine, inputs, nothing_stored());
  ASSERT_EQ(run.outputs.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(same_numbers(run.outputs[i], want[i])) << i;
  for (const StageCounters& counters : validate_counters(application, machine))
    EXPECT_EQ(verdict_of(counters), Verdict::pass)
        << counters.failure << (counters.first ? counters.first->counter : "");
  const StageTensors tensors = validate_tensors(stage, machine, nothing_stored());
  EXPECT_EQ(tensors.differences, 0);
  expect_round_trip(stage, machine);
}

}  // namespace

void expect_same_everywhere(const Graph& graph) {
  const auto shared = std::make_shared<const Graph>(graph);
  for (const auto& [name, machine] : machines()) {
    SCOPED_TRACE(name);
    expect_same_on(machine, shared);
  }
}

}  // namespace sdip
