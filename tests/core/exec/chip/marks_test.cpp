// With a DSRAM pair for each family: whatever order the marks allow, the results are the graph's.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "tests/core/exec/random_machine.h"

namespace sdip {
namespace {

struct Drawn {
  MadeNetwork network;
  Machine machine;
  Application application;
};

/// A feasible program with pairs, sums exact; its fused attentions are apart so that bits are the graph's.
std::optional<Drawn> drawn(Draw& draw) {
  Drawn d{random_network(draw, draw.between(6, 40)), random_machine(draw), {}};
  d.machine.accumulator_format = NumberFormat::int32;
  d.machine.activation_memory = ActivationMemory::separate;
  d.machine.operator_dsram = OperatorDsram::per_operator;
  d.machine.fused_attention = FusedAttention::off;
  d.application = compiled_on(d.machine, d.network, draw.one_in(4) ? Role::core : Role::network);
  if (!d.application.feasible) return std::nullopt;
  return d;
}

std::int64_t moved_places(const std::vector<std::int32_t>& order) {
  std::int64_t moved = 0;
  for (std::size_t i = 0; i < order.size(); ++i) moved += order[i] != static_cast<std::int32_t>(i);
  return moved;
}

TEST(marks, every_order_that_they_allow_computes_the_graph_bit_for_bit) {
  std::int64_t ran = 0, moved = 0, older = 0, instructions = 0;
  const std::uint64_t pairs = pair_count(600);
  for (std::uint64_t seed = 0; seed < pairs; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draw draw(seed + 31'000);
    const auto one = drawn(draw);
    if (!one) continue;
    const CompiledStage& stage = one->application.stages[0];
    const auto stored = [&](const Value& v) { return one->network.stored(v); };
    const std::vector<Tensor> want = compute(one->network.graph, one->network.inputs, stored);
    for (int again = 0; again < 3; ++again) {
      const std::vector<std::int32_t> order = random_order(draw, stage.program);
      sdip::Run got;
      try {
        got = execute(stage, one->machine, one->network.inputs, stored, {}, order);
      } catch (const Error& error) {
        FAIL() << error.what() << "\n" << graph_text(stage);
      }
      for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_EQ(got.outputs[i].floats, want[i].floats) << graph_text(stage);
      moved += moved_places(order);
      instructions += std::ssize(order);
    }
    for (const Instruction& i : stage.program.instructions)
      older += std::ranges::count(i.sources, true, &PlacedOperand::older);
    ++ran;
  }
  EXPECT_GT(ran, static_cast<std::int64_t>(pairs) * 3 / 4);
  EXPECT_GT(moved, instructions / 10);
  EXPECT_GT(older, ran / 4);
  std::printf("%ld programs, %ld instructions run, %ld of them in another place, %ld operands of the older side\n",
              static_cast<long>(ran), static_cast<long>(instructions), static_cast<long>(moved),
              static_cast<long>(older));
}

/// Whether an instruction fails or a result differs in one of some orders.
bool is_found(Draw& draw, const Drawn& one, const CompiledStage& stage, const std::vector<Tensor>& want) {
  const auto stored = [&](const Value& v) { return one.network.stored(v); };
  for (int again = 0; again < 12; ++again) try {
      const Run got =
          execute(stage, one.machine, one.network.inputs, stored, {}, random_order(draw, stage.program));
      for (std::size_t i = 0; i < want.size(); ++i)
        if (got.outputs[i].floats != want[i].floats) return true;
    } catch (const Error&) {
      return true;
    }
  return false;
}

TEST(marks, one_that_is_left_out_is_found) {
  std::int64_t left_out = 0, found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Draw draw(seed + 32'000);
    const auto one = drawn(draw);
    if (!one) continue;
    const auto stored = [&](const Value& v) { return one->network.stored(v); };
    const std::vector<Tensor> want = compute(one->network.graph, one->network.inputs, stored);
    const Program& program = one->application.stages[0].program;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
      const std::vector<std::int32_t>& after = program.instructions[i].after;
      for (std::size_t m = 0; m < after.size(); ++m) {
        // For its own family the circuit would wait anyway; others come from what it reads or overwrites.
        const auto family = [&](std::size_t n) {
          return program.classes[static_cast<std::size_t>(program.instructions[n].instruction_class)].work.family;
        };
        if (family(i) == family(static_cast<std::size_t>(after[m]))) continue;
        CompiledStage less = one->application.stages[0];
        auto& marks = less.program.instructions[i].after;
        marks.erase(marks.begin() + static_cast<std::ptrdiff_t>(m));
        ++left_out;
        found += is_found(draw, *one, less, want);
      }
    }
  }
  std::printf("%ld of %ld marks left out were found\n", static_cast<long>(found), static_cast<long>(left_out));
  EXPECT_GT(left_out, 300);
  EXPECT_GT(found, left_out * 9 / 10);
}

}  // namespace
}  // namespace sdip
