// Programs of costs made by hand, run by the timeline. For tests.
#pragma once

#include <gtest/gtest.h>

#include "core/cost/time/timeline.h"

namespace sdip::timing {

using Numbers = std::vector<std::int64_t>;

inline Numbers numbers_of(const PassCost& p) {
  return {p.cycles,
          p.stall_weights,
          p.stall_activations,
          p.weight_bytes,
          p.activation_in_bytes,
          p.activation_out_bytes,
          p.weight_psram_bytes,
          p.stall_program,
          p.program_bytes};
}

inline Numbers numbers_of(const InstructionTime& t) {
  return {t.start,         t.end,
          t.overhead,      t.stall_weights,
          t.waiting,       t.stall_activations,
          t.weight_bytes,  t.weight_psram_bytes,
          t.psram_bytes,   t.activation_in_bytes,
          t.stall_program, t.activation_out_bytes,
          t.program_bytes};
}

/// A program of these costs, instruction by instruction of class 0, 1, ..., 0, 1, ...
struct Timed {
  Program program;
  List<ClassCost> costs;
  TimelineRules rules;

  TimelineResult run(std::int64_t passes, std::vector<InstructionTime>* trace = nullptr) const {
    return run_timeline(program, costs, rules, passes, trace);
  }
};

/// The cycles of the operations inside loop `level`.
inline std::int64_t cycles_of(const ClassCost& c, std::size_t level, const TileRun* run, std::int32_t shape) {
  if (level == c.order.loops.size()) return c.shapes[static_cast<std::size_t>(shape)].cycles;
  const TileRun* const inner = run + c.order.loops[level].runs;
  std::int64_t cycles = 0;
  for (; run != inner; ++run) cycles += run->tiles * cycles_of(c, level + 1, inner, shape + run->shape);
  return cycles;
}

inline Timed timed(List<ClassCost> costs, std::size_t instructions, const TimelineRules& rules = {}) {
  Timed t;
  t.costs = std::move(costs);
  for (ClassCost& c : t.costs) c.cycles = cycles_of(c, 0, c.order.runs.data(), 0);
  t.rules = rules;
  t.program.classes.resize(t.costs.size());
  t.program.instructions.resize(instructions);
  for (std::size_t i = 0; i < instructions; ++i)
    t.program.instructions[i].instruction_class = static_cast<std::int32_t>(i % t.costs.size());
  return t;
}

/// The same operations, each in a run of its own: nothing is repeated that could be counted.
inline Timed unrolled(const Timed& t) {
  Timed all = t;
  for (ClassCost& c : all.costs) {
    TileLoops order;
    const TileRun* run = c.order.runs.data();
    for (TileLoop loop : c.order.loops) {
      std::int64_t tiles = 0;
      for (std::int32_t r = 0; r < loop.runs; ++r, ++run)
        for (std::int64_t i = 0; i < run->tiles; ++i, ++tiles) order.runs.push_back({1, run->shape, run->window});
      loop.runs = static_cast<std::int32_t>(tiles);
      order.loops.push_back(loop);
    }
    c.order = order;
  }
  return all;
}

inline void expect_same_passes(const TimelineResult& a, const TimelineResult& b) {
  ASSERT_EQ(a.passes.size(), b.passes.size());
  for (std::size_t p = 0; p < a.passes.size(); ++p) EXPECT_EQ(numbers_of(a.passes[p]), numbers_of(b.passes[p]));
  EXPECT_EQ(a.psram_peak_bytes, b.psram_peak_bytes);
  EXPECT_EQ(a.repeats, b.repeats);
}

inline void expect_as_unrolled(const Timed& t) {
  std::vector<InstructionTime> trace, each;
  const TimelineResult counted = t.run(3, &trace), run = unrolled(t).run(3, &each);
  expect_same_passes(counted, run);
  EXPECT_LE(counted.operations_run, run.operations_run);
  ASSERT_EQ(trace.size(), each.size());
  for (std::size_t i = 0; i < trace.size(); ++i) EXPECT_EQ(numbers_of(trace[i]), numbers_of(each[i]));
}

}  // namespace sdip::timing
