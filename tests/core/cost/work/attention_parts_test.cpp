// Fused attention whose parts overlap: docs/model/fusion.md#attention.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/cost/work/attention.h"
#include "core/exec/clock/operations.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// One head, all keys in a tile; q in DSRAM, k and v in STACKRAM.
InstructionClass attention_class(std::int64_t rows, std::int64_t keys, std::int64_t depth, std::int64_t values) {
  InstructionClass c;
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  c.work.nest = {.groups = 1, .batch = 1, .out_channels = keys, .in_channels = depth, .out_h = rows, .in_h = rows};
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].work.nest.out_channels = values;
  c.parts[2].work.nest.in_channels = keys;
  c.operand_a = Place::dsram;
  c.operand_b = c.parts[2].operand_b = Place::stackram;
  c.mapping = {rows, 1, keys, depth, rows_outermost};
  c.out_elements = rows * values;
  return c;
}

/// The example of the machine's definition, of compute alone: scores and product 4 cycles a part, softmax 6.
TEST(attention_parts, of_three_by_hand) {
  InstructionClass c = attention_class(3, 3, 3, 1);
  c.work.element_cycles = c.parts[2].work.element_cycles = 4;
  Machine m;
  m.matmul_lanes_m = m.softmax_lanes = 1;
  m.matmul_lanes_n = m.matmul_lanes_k = 3;
  const auto compute = [&](std::int64_t parts) {
    m.attention_parts = parts;
    const std::int64_t by_formula = class_cost(c, m).busy[Resource::compute];
    EXPECT_EQ(exec::expand(c, m).at(0).needs.compute, by_formula);
    return by_formula;
  };
  constexpr std::int64_t division = 3;
  EXPECT_EQ(compute(1), 3 * 14 + division);
  EXPECT_EQ(compute(3), 4 + 6 + 8 + 6 + 4 + division);
  EXPECT_EQ(compute(3), 28 + division);
  EXPECT_EQ(compute(2), 8 + std::max(2 * 6, 4) + std::max(6, 8) + 4 + division);  // parts of 2 and 1
  EXPECT_EQ(compute(1000), 28 + division);                                        // of one row each
}

/// Steps of any needs: S and P 4 cycles, X 6, no beats.
TEST(attention_parts, of_compute_alone_last_28_cycles_and_42_in_order) {
  InstructionClass c = attention_class(6, 2, 1, 1);
  Machine m;
  const auto needs_of = [](const InstructionClass& step, const Resolved&) {
    Busy busy;
    busy[Resource::compute] = step.work.family == Family::matmul ? 4 : 6;
    return busy;
  };
  const cost::TilePlan plan;
  const auto cycles = [&](std::int64_t parts) {
    m.attention_parts = parts;
    const Resolved r = resolve(c, m);
    Steps steps;
    for (const auto& step : AttentionSteps<std::int64_t, decltype(needs_of)>(c, r, plan, needs_of).of(6, 2, false))
      steps.add_step(step.busy, step.times);
    return steps.cycles;
  };
  EXPECT_EQ(cycles(3), 28);
  EXPECT_EQ(3 * cycles(1), 42);
  EXPECT_EQ(cycles(4), 28);  // parts of ceil(6 / 4) = 2
  EXPECT_EQ(cycles(6), 4 + 6 + 4 * 8 + 6 + 4);
}

TEST(attention_parts, bring_smaller_operands_once) {
  InstructionClass c = attention_class(4, 4, 2, 2);
  c.fused_operators = c.fused_passes = 1;
  c.fetches = {{.place = Place::psram, .elements = 100}};
  Machine m;
  m.psram_port_bits = 16;  // one element
  for (const std::int64_t parts : {1, 2, 4}) {
    m.attention_parts = parts;
    EXPECT_EQ(class_cost(c, m).busy[Resource::psram_read], 100);
    EXPECT_EQ(exec::expand(c, m).at(0).needs[exec::Port::psram_read], 100);
  }
  c.fetches[0].per_fold = true;  // one element a score
  EXPECT_EQ(class_cost(c, m).busy[Resource::psram_read], 16);
}

/// Sums over an operation's parts, each in order.
struct PartsAlone {
  std::int64_t arrays = 0, softmax = 0, longest = 0, division = 0;
};
PartsAlone parts_alone(const InstructionClass& c, Machine m, const cost::TilePlan& plan, std::int64_t rows,
                       std::int64_t keys, bool last) {
  const std::int64_t part = ceil_div(rows, m.attention_parts);
  m.attention_parts = 1;
  const Resolved its = resolve(c, m);
  const auto needs_of = [](const InstructionClass& step, const Resolved& r) { return step_cost(step, r).busy; };
  const AttentionSteps<std::int64_t, decltype(needs_of)> steps(c, its, plan, needs_of);
  PartsAlone sum;
  for (std::int64_t row = 0; row < rows; row += part) {
    const auto of = steps.of(std::min(part, rows - row), keys, last);
    sum.arrays += of[0].busy[Resource::compute] + of[2].busy[Resource::compute];
    sum.softmax += of[1].busy[Resource::compute];
    for (std::size_t step = 0; step < 3; ++step) sum.longest += of[step].busy.longest();
  }
  if (last) sum.division = steps.of(rows, keys, true).back().busy.longest();
  return sum;
}

TEST(attention_parts, are_never_below_what_a_circuit_computes_nor_above_all_parts_in_order) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    Machine m = random_machine(dice);
    m.granularity = Granularity::per_operator;
    m.operator_dsram = OperatorDsram::common;
    m.composable_macs = ComposableMacs::off;
    m.host_operators = HostOperators::no_operators;
    m.attention_parts = dice.between(1, 9);
    InstructionClass c = random_attentions(dice, m).classes.at(0);
    c.fetches.clear();  // those that are held come once
    c.pair_a = c.pair_b = c.parts[2].pair_b = {};
    const ClassCost cost = class_cost(c, m);
    std::size_t shape = 0;
    const auto each = [&](const cost::Cut& cut, std::int64_t tile, auto&& of) {
      if (cut.full > 0) of(tile, cut.edge == 0);
      if (cut.edge > 0) of(cut.edge, true);
    };
    each(cost.plan.rows, cost.plan.tile_rows, [&](std::int64_t rows, bool) {
      each(cost.plan.channels, cost.plan.tile_channels, [&](std::int64_t keys, bool last) {
        const PartsAlone alone = parts_alone(c, m, cost.plan, rows, keys, last);
        const TileCost& tile = cost.shapes.at(shape++);
        EXPECT_GE(tile.cycles - alone.division, std::max(alone.arrays, alone.softmax));
        EXPECT_LE(tile.cycles, alone.longest + alone.division);
        EXPECT_GE(tile.cycles, tile.busy.longest());
      });
    });
  }
}

}  // namespace
}  // namespace sdip
