// Do instructions run side by side as docs/model/time.md says, with a DSRAM pair for each operator?
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "core/cost/price/estimate.h"
#include "core/cost/time/timeline.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

using testing::ElementsAre;

/// One lane of everything, ports as wide as any fold, dispatch 2, a pipeline of one stage.
Machine one_lane() {
  Machine m;
  m.operator_dsram = OperatorDsram::per_operator;
  for (std::int64_t* lanes : {&m.conv_lanes_in, &m.conv_lanes_out, &m.conv_lanes_pixel, &m.linear_lanes_m,
                              &m.linear_lanes_n, &m.linear_lanes_k, &m.vector_lanes})
    *lanes = 1;
  m.dispatch_cycles = 2;
  m.pipeline_stages = 1;
  return m;
}

/// A product of `cycles` rows, one channel and one sum: that many cycles.
InstructionClass product_of(Family family, std::int64_t cycles, Family pair_a, Place b) {
  InstructionClass c;
  c.work.family = family;
  c.work.nest.out_h = c.work.nest.in_h = cycles;
  c.mapping = {cycles, 1, 1, 1};
  c.operand_a = Place::dsram;
  c.pair_a = pair_a;
  c.operand_b = b;
  c.out_elements = cycles;
  return c;
}

InstructionClass vector_of(std::int64_t cycles, Family pair) {
  InstructionClass c;
  c.work.row_length = cycles;
  c.mapping = {1, 1, cycles, 1};
  c.out_elements = cycles;
  c.fetches = {{Place::dsram, cycles, 1, true, pair}};
  return c;
}

Program chain_of(List<InstructionClass> classes) {
  Program program;
  program.classes = std::move(classes);
  program.instructions.resize(program.classes.size());
  std::int32_t number = 0;
  for (Instruction& instruction : program.instructions) instruction.instruction_class = number++;
  return program;
}

/// A convolution; a vector operator that shares nothing with it; a linear that reads the convolution's result.
Program three() {
  Program program =
      chain_of({product_of(Family::conv2d, 10, Family::softmax, Place::stackram), vector_of(4, Family::norm),
                product_of(Family::linear, 6, Family::conv2d, Place::stackram)});
  program.instructions[2].after = {0};
  return program;
}

struct Traced {
  TimelineResult result;
  std::vector<InstructionTime> trace;
  List<ClassCost> costs;
};
Traced trace_of(const Program& program, const Machine& m, std::int64_t passes = 4) {
  Traced traced;
  for (const InstructionClass& c : program.classes) traced.costs.push_back(class_cost(c, m));
  traced.result = run_timeline(program, traced.costs, timeline_rules(m, Decimal{50}, 1, program.pinned_bytes),
                               passes, &traced.trace);
  return traced;
}

std::vector<std::int64_t> starts_of(const Traced& traced) {
  std::vector<std::int64_t> starts;
  for (const InstructionTime& t : traced.trace) starts.push_back(t.start);
  return starts;
}

TEST(overlap, of_a_convolution_a_vector_operator_and_a_linear_takes_20_cycles_for_29_one_after_the_other) {
  Machine m = one_lane();
  const Traced traced = trace_of(three(), m);
  EXPECT_THAT(starts_of(traced), ElementsAre(0, 2, 13));
  EXPECT_EQ(traced.trace[0].end, 13);
  EXPECT_EQ(traced.trace[1].end, 9);
  EXPECT_EQ(traced.trace[2].end, 20);
  EXPECT_EQ(traced.trace[2].waiting, 9);
  EXPECT_EQ(traced.trace[2].overhead, 1);
  EXPECT_EQ(traced.result.passes[0].cycles, 20);
  EXPECT_EQ(traced.result.running_cycles, 13 + 7 + 7);
  EXPECT_EQ(traced.result.waiting_cycles, 9);
  EXPECT_TRUE(traced.result.repeats);
  m.operator_dsram = OperatorDsram::common;
  EXPECT_EQ(trace_of(three(), m).result.passes[0].cycles, 29);
}

TEST(overlap, waits_for_a_port_that_another_owns_though_it_needs_no_result_of_it) {
  const Machine m = one_lane();
  Program program = three();
  program.instructions[2].after.clear();
  EXPECT_THAT(starts_of(trace_of(program, m)), ElementsAre(0, 2, 13)) << "STACKRAM's port";
  program.classes[2].operand_b = Place::dsram;
  program.classes[2].pair_b = Family::transpose;
  EXPECT_THAT(starts_of(trace_of(program, m)), ElementsAre(0, 2, 4));
  program.classes[1].fetches[0].pair = Family::softmax;  // whose port the convolution reads through
  EXPECT_THAT(starts_of(trace_of(program, m)), ElementsAre(0, 13, 4)) << "the third need not wait for the second";
}

TEST(overlap, is_none_on_one_array_for_all_products_and_none_with_a_norm_fused_before) {
  Machine m = one_lane();
  Program program = chain_of({product_of(Family::conv2d, 10, Family::softmax, Place::stackram),
                              product_of(Family::linear, 6, Family::norm, Place::dsram)});
  program.classes[1].pair_b = Family::transpose;
  EXPECT_THAT(starts_of(trace_of(program, m)), ElementsAre(0, 2));
  Machine shared = m;
  shared.mac_sharing = MacSharing::shared;
  EXPECT_THAT(starts_of(trace_of(program, shared)), ElementsAre(0, 13));
  program.classes[0].statistics_passes = program.classes[1].prologue_passes = 1;  // both on the norm's lanes
  EXPECT_THAT(starts_of(trace_of(program, m)), ElementsAre(0, 13));
}

TEST(overlap, is_none_of_two_that_send_parts_to_other_cores_over_one_link) {
  const Machine m = one_lane();
  Program program =
      chain_of({product_of(Family::matmul, 10, Family::softmax, Place::stackram), vector_of(4, Family::norm)});
  program.classes[0].spread_cores = 2;
  EXPECT_EQ(trace_of(program, m).trace[1].start, 2);
  program.classes[1].spread_cores = 2;
  EXPECT_EQ(trace_of(program, m).trace[1].start, trace_of(program, m).trace[0].end);
}

TEST(overlap, reads_two_pairs_at_once_and_one_pair_twice_as_long) {
  const Machine m = one_lane();
  InstructionClass c = product_of(Family::conv2d, 10, Family::softmax, Place::dsram);
  c.pair_b = Family::norm;
  EXPECT_EQ(class_cost(c, m).cycles, 10);
  EXPECT_EQ(class_cost(c, m).busy.all_dsram_reads(), 20);
  c.pair_b = Family::softmax;
  EXPECT_EQ(class_cost(c, m).cycles, 20);
  c.pair_a = Family::conv2d;  // its own, said or unsaid
  c.pair_b = {};
  EXPECT_EQ(class_cost(c, m).cycles, 20);
}

TEST(overlap, a_circuit_with_its_own_sequencer_waits_only_for_its_own_dispatch) {
  Machine m = one_lane();
  m.dispatch_cycles = 8;
  const Traced central = trace_of(three(), m);
  EXPECT_THAT(starts_of(central), ElementsAre(0, 8, 19));
  EXPECT_EQ(central.trace[2].end, 19 + 5 + 6 + 1) << "issued at 16, dispatched at 24";
  m.sequencer = Sequencer::distributed;
  const Traced distributed = trace_of(three(), m);
  EXPECT_THAT(starts_of(distributed), ElementsAre(0, 0, 19));
  EXPECT_EQ(distributed.trace[2].end, 19 + 6 + 1);
  m.sequencer = Sequencer::host;
  m.host_command_cycles = 100;
  EXPECT_THAT(starts_of(trace_of(three(), m)), ElementsAre(0, 108, 216));
}

Machine overlapping(Dice& dice) {
  Machine m = random_machine(dice);
  m.operator_dsram = OperatorDsram::per_operator;
  m.activation_memory = ActivationMemory::separate;
  m.granularity = Granularity::per_operator;
  return m;
}

/// Each instruction after the one before it alone.
Program chained(Program program) {
  for (std::size_t i = 0; i < program.instructions.size(); ++i) {
    program.instructions[i].after.clear();
    if (i > 0) program.instructions[i].after = {static_cast<std::int32_t>(i - 1)};
  }
  return program;
}

Program without_pairs(Program program) {
  for (InstructionClass& c : program.classes) {
    c.pair_a.reset();
    c.pair_b.reset();
    for (Fetch& fetch : c.fetches) fetch.pair.reset();
    for (Part& part : c.parts) {
      part.pair_b.reset();
      for (Fetch& fetch : part.fetches) fetch.pair.reset();
    }
  }
  return program;
}

TEST(overlap, of_a_chain_is_the_common_machine_s_time_to_the_cycle_when_dispatch_takes_none) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine m = overlapping(dice);
    m.dispatch_cycles = m.host_command_cycles = 0;
    m.dram_latency_ns =
        0;  // where instructions overlap, one begins when its words are there, and loads from then on
    const Program program = chained(without_pairs(random_program(dice, m)));
    const Traced chain = trace_of(program, m);
    m.operator_dsram = OperatorDsram::common;
    const Traced serial = trace_of(program, m);
    for (std::int64_t passes = 1; passes <= 4; ++passes)
      EXPECT_EQ(chain.result.total(passes), serial.result.total(passes));
    for (std::size_t i = 0; i < chain.trace.size(); ++i) {
      EXPECT_EQ(chain.trace[i].start, serial.trace[i].start + serial.trace[i].stall_program);
      EXPECT_EQ(chain.trace[i].end, serial.trace[i].end);
      EXPECT_EQ(chain.trace[i].stall_weights, serial.trace[i].stall_weights);
      EXPECT_EQ(chain.trace[i].stall_activations, serial.trace[i].stall_activations);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(overlap, of_a_program_never_ends_it_later_than_its_chain_nor_that_than_the_common_machine) {
  std::int64_t sooner = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine m = overlapping(dice);
    if (m.sequencer == Sequencer::distributed) m.sequencer = Sequencer::central;
    m.dram_latency_ns = 0;  // as above
    const Program program = random_program(dice, m), chain = chained(program);
    const std::int64_t beside = trace_of(program, m).result.total(4), in_turn = trace_of(chain, m).result.total(4);
    EXPECT_LE(beside, in_turn);
    sooner += beside < in_turn;
    Machine common = m;
    common.operator_dsram = OperatorDsram::common;
    EXPECT_LE(trace_of(without_pairs(chain), m).result.total(4),
              trace_of(without_pairs(chain), common).result.total(4));
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(sooner, 30);
}

TEST(overlap, is_never_of_two_that_own_one_thing_nor_of_one_and_what_it_comes_after) {
  std::int64_t overlaps = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    Machine m = overlapping(dice);
    const Program program = random_program(dice, m);
    const Traced traced = trace_of(program, m, 2);
    std::int64_t last = 0, running = 0, waiting = 0;
    for (std::size_t i = 0; i < traced.trace.size(); ++i) {
      const auto owned = [&](std::size_t j) {
        return traced.costs[static_cast<std::size_t>(program.instructions[j].instruction_class)].owned;
      };
      const InstructionTime& t = traced.trace[i];
      last = std::max(last, t.end), running += t.end - t.start + t.stall_program, waiting += t.waiting;
      for (const std::int32_t j : program.instructions[i].after)
        EXPECT_GE(t.start, traced.trace[static_cast<std::size_t>(j)].end);
      for (std::size_t j = 0; j < i; ++j) {
        const bool apart = t.start >= traced.trace[j].end || t.end <= traced.trace[j].start;
        overlaps += !apart;
        if ((owned(i) & owned(j)).any()) {
          EXPECT_GE(t.start, traced.trace[j].end) << i << " and " << j;
        }
      }
    }
    EXPECT_EQ(traced.result.passes.back().cycles, last);
    EXPECT_EQ(traced.result.running_cycles, running);
    EXPECT_EQ(traced.result.waiting_cycles, waiting);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(overlaps, 100);
}

TEST(overlap, seven_pairs_are_on_the_chip_and_a_report_s_instructions_sum_to_its_stage) {
  Machine m = find_preset("essay")->machine;
  m.dies = 10;
  m.vae_decoder_dsram_bytes = 4 << 20;
  const Report one = estimate(compile(tiny_sd(m), m), m);
  m.operator_dsram = OperatorDsram::per_operator;
  const Report seven = estimate(compile(tiny_sd(m), m), m);
  ASSERT_TRUE(seven.outcome.feasible) << seven.outcome.reason;
  const auto dsram = [](const Report& report) {
    return std::ranges::find(report.area_mm2, "dsram", &std::pair<std::string, double>::first)->second;
  };
  EXPECT_NEAR(dsram(seven), 7 * dsram(one), 1e-9 * dsram(seven));
  for (const StageReport& stage : seven.stages) {
    Cycles last(0), running(0), waiting(0), stalls(0);
    for (const InstructionCost& i : stage.instructions) {
      last = std::max(last, i.end), running += i.end - i.start, waiting += i.waiting;
      stalls += i.stall_weights + i.stall_activations;
    }
    EXPECT_EQ(last, stage.steady_cycles) << stage.name;
    EXPECT_EQ(running, stage.running);
    EXPECT_EQ(waiting, stage.waiting);
    EXPECT_EQ(stalls, stage.stall_weights + stage.stall_activations);
    EXPECT_GE(stage.steady_cycles, stage.bound_cycles);
  }
  EXPECT_LE(seven.outcome.values[static_cast<std::size_t>(Metric::stall_share)], 1);
}

}  // namespace
}  // namespace sdip
