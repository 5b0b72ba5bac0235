// In which dimensions do the cycles of the essay's eighteen operators grow? The table of docs/model/limits.md.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/cost/price/estimate.h"
#include "core/exec/clock/step.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/price/essay_operators.h"

namespace sdip {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Cycles of the operator's instruction, the program's last, without dispatch, fill and drain; operands on chip.
/// Estimate and clock agree.
std::int64_t cycles_of(const EssayOperator& op, const Sizes& sizes, const Machine& m) {
  Workload workload;
  workload.stages.push_back({Role::core, "net", std::make_shared<const Graph>(op.graph(sizes)), {}});
  const Application application = compile(workload, m);
  const Report report = estimate(application, m);
  EXPECT_TRUE(report.outcome.counted()) << op.name << ": " << report.outcome.reason;
  if (!report.outcome.counted()) return -1;
  const InstructionCost& cost = report.stages.at(0).instructions.back();
  EXPECT_EQ(cost.dram_activations_in + cost.dram_activations_out + cost.dram_weights, Bytes(0)) << op.name;
  const StepCounts run = step(application.stages.at(0), m, Decimal{100}, 1, 2);
  const InstructionCounts& counted = run.passes.at(1).back();
  EXPECT_EQ(counted.end - counted.start, (cost.end - cost.start).value) << op.name;
  return (cost.end - cost.start).value - m.dispatch_cycles - m.pipeline_stages;
}

Machine essay_machine() {
  Machine m = find_preset("essay")->machine;
  m.weight_storage = WeightStorage::resident;
  m.dies = 1;  // whatever its size, so that nothing is on its way from die to die
  return m;
}

/// Lanes and ports as wide as anything measured here.
Machine wide_machine() {
  Machine m = essay_machine();
  for (const ParameterRow& row : parameters())
    if (row.group == "arithmetic" && row.unit == "lanes") row.write(m, row.most);
  m.psram_port_bits = m.dsram_port_bits = m.stackram_port_bits = 1048576;
  return m;
}

Sizes own_sizes(const EssayOperator& op) {
  Sizes sizes;
  for (const OperatorDimension& d : op.dimensions) sizes.push_back(d.size);
  return sizes;
}

/// The dimensions that, twice as large, take exactly twice the cycles; all others must take the same.
std::vector<std::string> growing(const EssayOperator& op, const Machine& m) {
  const std::int64_t before = cycles_of(op, own_sizes(op), m);
  std::vector<std::string> names;
  for (std::size_t d = 0; d < op.dimensions.size(); ++d) {
    Sizes sizes = own_sizes(op);
    sizes[d] *= 2;
    const std::int64_t after = cycles_of(op, sizes, m);
    if (after != before) names.emplace_back(op.dimensions[d].name);
    EXPECT_TRUE(after == before || after == 2 * before) << op.name << " " << op.dimensions[d].name << " " << after;
  }
  return names;
}

/// Up to which size of a dimension, the others at their least, the cycles stay those of the least; powers of two.
std::int64_t constant_up_to(const EssayOperator& op, std::size_t dimension, const Machine& m) {
  Sizes sizes;
  for (const OperatorDimension& d : op.dimensions) sizes.push_back(d.least);
  const std::int64_t one = cycles_of(op, sizes, m);
  for (;; sizes[dimension] *= 2) {
    Sizes twice = sizes;
    twice[dimension] *= 2;
    if (cycles_of(op, twice, m) != one) return sizes[dimension];
  }
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

TEST(growth, of_the_essay_s_eighteen_operators_is_in_every_dimension_and_of_few_where_the_circuit_is_as_wide) {
  std::string text =
      "| operator | the essay's dimension | constant up to, the others 1 (of transpose 2) | at | cycles | twice "
      "with twice the | as "
      "wide as the data | twice with twice the |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  const Machine essay = essay_machine(), wide = wide_machine();
  for (const EssayOperator& op : essay_operators()) {
    std::string up_to, at;
    std::vector<std::string> all;
    for (std::size_t d = 0; d < op.dimensions.size(); ++d) {
      const std::string name(op.dimensions[d].name);
      up_to += (d > 0 ? ", " : "") + name + " " + std::to_string(constant_up_to(op, d, essay));
      at += (d > 0 ? " x " : "") + std::to_string(op.dimensions[d].size);
      all.push_back(name);
    }
    const std::vector<std::string> folded = growing(op, essay), whole = growing(op, wide);
    EXPECT_EQ(folded, all) << op.name;
    const std::string left = op.name == "conv2d"         ? "kernel height, kernel width"
                             : op.name == "linear_batch" ? "batch"
                                                         : "none";
    EXPECT_EQ(joined(whole), left) << op.name;
    text += "| " + std::string(op.name) + " | " + std::string(op.essay) + " | " + up_to + " | " + at + " | " +
            std::to_string(cycles_of(op, own_sizes(op), essay)) + " | " + joined(folded) + " | " +
            std::to_string(cycles_of(op, own_sizes(op), wide)) + " | " + joined(whole) + " |\n";
  }
  EXPECT_EQ(essay_operators().size(), 18U);
  expect_made_section("model/limits.md", "growth", "tests/core/cost/growth_test.cpp", text);
}

}  // namespace
}  // namespace sdip
