// A stage through its forms and back, for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "core/cost/price/estimate.h"
#include "core/program/form/parse.h"

namespace sdip {

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

/// Every counter of two reports of one stage.
inline void expect_equal_costs(const CompiledStage& a, const CompiledStage& b, const Machine& machine) {
  const auto report = [&](const CompiledStage& stage) {
    Application application;
    application.stages = {stage};
    return estimate(application, machine);
  };
  const Report one = report(a), two = report(b);
  ASSERT_EQ(one.outcome.feasible, two.outcome.feasible);
  ASSERT_EQ(one.outcome.reason, two.outcome.reason);
  if (!one.outcome.feasible) return;
  // Bit by bit: what is undefined is NaN in both.
  EXPECT_EQ(std::memcmp(&one.outcome.values, &two.outcome.values, sizeof one.outcome.values), 0);
  ASSERT_EQ(one.stages.size(), two.stages.size());
  const StageReport &s = one.stages[0], &t = two.stages[0];
  EXPECT_EQ(s.cold_cycles, t.cold_cycles);
  EXPECT_EQ(s.steady_cycles, t.steady_cycles);
  EXPECT_EQ(s.imem_bytes, t.imem_bytes);
  EXPECT_EQ(s.weight_bytes, t.weight_bytes);
  EXPECT_EQ(s.bound_dram_bytes, t.bound_dram_bytes);
  ASSERT_EQ(s.instructions.size(), t.instructions.size());
  for (std::size_t i = 0; i < s.instructions.size(); ++i) {
    const InstructionCost &x = s.instructions[i], &y = t.instructions[i];
    EXPECT_EQ(x.start, y.start);
    EXPECT_EQ(x.end, y.end);
    EXPECT_EQ(x.busy, y.busy);
    EXPECT_EQ(x.dram_weights, y.dram_weights);
    EXPECT_EQ(x.dram_activations_in, y.dram_activations_in);
    EXPECT_EQ(x.dram_activations_out, y.dram_activations_out);
    EXPECT_EQ(x.stackram, y.stackram);
    EXPECT_EQ(x.psram, y.psram);
    EXPECT_EQ(x.macs, y.macs);
  }
}

/// Text to stage to text, to bytes to text, to bytes to bytes: nothing is lost, and the cost is the same.
inline void expect_round_trip(const CompiledStage& stage, const Machine& machine) {
  const std::string text = graph_text(stage), bytes = write_graph_binary(stage);
  const CompiledStage parsed = parse_graph_text(text), read = read_graph_binary(bytes_of(bytes));
  ASSERT_EQ(graph_text(parsed), text);
  ASSERT_EQ(graph_text(read), text);
  ASSERT_TRUE(write_graph_binary(parsed) == bytes);
  ASSERT_TRUE(write_graph_binary(read) == bytes);
  ASSERT_EQ(parsed.program.classes, stage.program.classes);
  ASSERT_EQ(imem_bytes(parsed.program), imem_bytes(stage.program));
  expect_equal_costs(stage, parsed, machine);
  require_like(parsed, machine);
}

}  // namespace sdip
