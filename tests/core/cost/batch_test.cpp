// Is a machine worth the same alone, beside others, after others and on any processor's instructions?
#include "core/cost/batch.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/cost/lanes.h"
#include "core/cost/stage.h"
#include "core/cost/tape.h"
#include "tests/core/cost/beside.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr std::uint64_t seeds = 200;

std::vector<Vectors> vectors_here() {
  std::vector<Vectors> all;
  for (const Vectors vectors : {Vectors::portable, Vectors::avx2, Vectors::avx512})
    if (vectors <= widest_vectors()) all.push_back(vectors);
  return all;
}

/// What the metrics ask of a timeline: each pass, and of the last its stalls and bytes; the peak.
void compare(const TimelineResult& alone, const LaneTimes& beside, const std::string& what) {
  for (std::size_t pass = 0; pass < 70; ++pass)
    ASSERT_EQ(alone.passes[std::min(pass, alone.passes.size() - 1)].cycles,
              beside.pass_cycles[std::min(pass, beside.pass_cycles.size() - 1)])
        << what << ", pass " << pass;
  ASSERT_EQ(alone.total(7), beside.total(7)) << what;
  const PassCost& last = alone.passes.back();
  ASSERT_EQ(last.stall_weights + last.stall_activations, beside.stall_cycles) << what;
  ASSERT_EQ(alone.psram_peak_bytes, beside.psram_peak_bytes) << what;
}

void compare_bytes(const Tape& tape, const TapeNumbers& numbers, std::int64_t cores, const PassCost& last) {
  std::int64_t weights = 0, in = 0, out = 0;
  for (std::size_t t = 0; t < tape.moved.size(); ++t) {
    const Tape::Moved& moved = tape.moved[t];
    const std::int64_t bytes = numbers.bytes[t] * moved.uses;
    (moved.copies == 0 ? weights : moved.in ? in : out) += moved.copies == 0 ? bytes : bytes * moved.copies * cores;
  }
  ASSERT_EQ(weights, last.weight_bytes);
  ASSERT_EQ(in, last.activation_in_bytes);
  ASSERT_EQ(out, last.activation_out_bytes);
  ASSERT_EQ(tape.warm_tile_bytes, last.weight_psram_bytes);
}

TEST(lanes, have_the_timeline_of_each_machine_of_random_programs) {
  std::int64_t compared = 0, stalled = 0, unlike = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Dice dice(seed);
    Machine first = random_machine(dice);
    lay_on_tape(dice, first);
    const Program program = random_program(dice, first);
    if (!on_tape(first)) continue;
    std::vector<TapeNumbers> numbers;
    std::vector<LaneMachine> machines;
    std::vector<TimelineResult> alone;
    numbers.reserve(lane_count);
    std::optional<Tape> tape;
    for (std::size_t lane = 0; lane < 1 + seed % lane_count; ++lane) {
      const Machine m = another(dice, first);
      std::vector<ClassCost> costs;
      for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
      const TimelineRules rules = timeline_rules(m, Decimal{100}, m.cores, program.pinned_bytes);
      if (!countable(program, costs, rules, most_simulated_passes)) continue;
      if (!tape) tape = make_tape(program, costs, rules);
      if (tape_likeness(costs, rules) != tape->likeness) {
        ++unlike;
        continue;
      }
      numbers.push_back(tape_numbers(*tape, costs, rules));
      machines.push_back({&numbers.back(), rules.rate, rules.cores});
      alone.push_back(run_timeline(program, costs, rules, most_simulated_passes));
      compare_bytes(*tape, numbers.back(), rules.cores, alone.back().passes.back());
    }
    if (machines.empty()) continue;
    std::vector<LaneTimes> beside(machines.size());
    for (const Vectors vectors : vectors_here()) {
      LaneRunner(vectors).run(*tape, machines, most_simulated_passes, beside);
      for (std::size_t i = 0; i < machines.size(); ++i) {
        compare(alone[i], beside[i], "seed " + std::to_string(seed) + ", machine " + std::to_string(i));
        ++compared;
        stalled += beside[i].stall_cycles > 0;
      }
    }
  }
  EXPECT_GE(compared, 1000);
  EXPECT_GE(stalled, 500);
  EXPECT_LE(unlike, 20);
}

TEST(lanes, run_the_worked_example) {
  ClassCost cost;
  cost.order.loops.push_back({1, false, true, false});
  cost.order.runs.push_back({3, 0, 0});
  TileCost tile;
  tile.cycles = 4;
  tile.times = 3;
  tile.weight_bytes = tile.weight_stored_bytes = 100;
  cost.shapes.push_back(tile);
  cost.windows.push_back({});
  cost.weighted = true;
  cost.cycles = 12;
  Program program;
  program.classes.resize(1);
  program.instructions.resize(1);
  TimelineRules rules;
  rules.burst_bytes = 1;
  rules.psram_bytes = 200;
  const Tape tape = make_tape(program, {cost}, rules);
  const TapeNumbers numbers = tape_numbers(tape, {cost}, rules);
  const std::vector<LaneMachine> machines = {{&numbers, {10, 1}, 1}, {&numbers, {50, 1}, 1}};
  std::vector<LaneTimes> times(2);
  LaneRunner runner;
  runner.run(tape, machines, 1, times);
  EXPECT_EQ(times[0].pass_cycles, std::vector<std::int64_t>{34});
  EXPECT_EQ(times[1].pass_cycles, std::vector<std::int64_t>{14});
  EXPECT_EQ(times[0].stall_cycles, 22);
  EXPECT_EQ(times[1].stall_cycles, 2);
  EXPECT_EQ(times[0].psram_peak_bytes, 200);
  EXPECT_EQ(runner.operations_run(), 3);
}

TEST(lanes, divide_up_as_integers_do_up_to_2_to_the_50) {
  std::int64_t compared = 0;
  const auto expect = [&](std::int64_t a, std::int64_t b) {
    std::int64_t found = 0;
    bool possible = true, alike = true;
    for (const Vectors vectors : vectors_here()) {
      in_vectors(vectors, [&](auto) SDIP_LOOP {
        Lanes quotient{};
        possible = divide_up(all_lanes(a), all_lanes(b), quotient);
        found = quotient[3];
        if (possible) alike &= everywhere(quotient == all_lanes(found));
      });
      if (a / b < (std::int64_t{1} << 50) - 1) {
        ASSERT_TRUE(possible) << a << " / " << b;
      }
      if (possible) {
        ASSERT_EQ(found, ceil_div(a, b)) << a << " / " << b;
        ASSERT_TRUE(alike) << a << " / " << b;
      }
      compared += possible;
    }
  };
  Dice dice(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t b = dice.between(1, std::int64_t{1} << dice.between(0, 52));
    const std::int64_t most = std::min<std::int64_t>((std::int64_t{1} << 50) - 2, INT64_MAX / b - 2);
    const std::int64_t whole = dice.between(0, std::max<std::int64_t>(1, most >> dice.between(0, 40)));
    for (const std::int64_t near : {-1, 0, 1})
      if (whole * b + near >= 0) expect(whole * b + near, b);
  }
  EXPECT_GE(compared, 50'000);
}

std::vector<std::uint64_t> bits(const Outcome& outcome) {
  std::vector<std::uint64_t> all(metric_count);
  std::memcpy(all.data(), outcome.values.data(), sizeof(outcome.values));
  all.push_back(outcome.feasible);
  return all;
}

void expect_same(const Outcome& alone, const Outcome& beside, const std::string& what) {
  ASSERT_EQ(alone.reason, beside.reason) << what;
  if (alone.feasible) {
    ASSERT_EQ(bits(alone), bits(beside)) << what;
  }
}

TEST(lanes, have_the_timeline_of_each_machine_of_random_costs_and_run_no_more_of_it) {
  std::int64_t run = 0, run_alone = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Beside beside = drawn_beside(seed);
    for (const Vectors vectors : vectors_here()) ASSERT_EQ(difference(beside, vectors), "") << seed;
    const std::vector<std::int64_t> operations = operations_run(beside);
    for (std::size_t i = 0; i < beside.alone.size(); ++i) {
      EXPECT_LE(operations[i + 1], operations[0]) << seed;
      run += operations[i + 1];
      run_alone += beside.alone[i].operations_run;
    }
  }
  EXPECT_LE(run, run_alone);
}

TEST(batch, evaluates_machines_of_random_applications_as_alone) {
  BatchEvaluator::Counts counts;
  for (std::uint64_t seed = 1; seed <= 90; ++seed) {
    const BesideBatch beside = drawn_batch(seed);
    for (const Vectors vectors : vectors_here())
      for (const std::size_t together : {std::size_t{1}, std::size_t{3}, beside.machines.size()})
        ASSERT_EQ(difference(beside, vectors, together), "") << seed << ", together " << together;
    counts.machines += beside.counts.machines;
    counts.alone += beside.counts.alone;
  }
  EXPECT_LE(counts.alone, counts.machines / 2);
}

TEST(batch, forgets_costs_beyond_512) {
  Dice dice(5);
  const BesideBatch beside = drawn_batch(4);
  Machine m = beside.machines[4];
  BatchEvaluator batch(beside.application);
  std::vector<Machine> machines(513, m);
  for (std::size_t i = 0; i < machines.size(); ++i) machines[i].dispatch_cycles = static_cast<std::int64_t>(i);
  std::vector<Outcome> outcomes(513);
  batch.evaluate(std::span(machines).first(512), std::span(outcomes).first(512));
  ASSERT_EQ(batch.counts().alone, 0);
  batch.evaluate(machines, outcomes);  // 512 are kept
  EXPECT_EQ(batch.counts().costs, 513);
  const std::int64_t timelines = batch.counts().timelines;
  batch.evaluate(machines, outcomes);  // 513 are not
  EXPECT_EQ(batch.counts().costs, 2 * 513);
  EXPECT_EQ(batch.counts().timelines, 2 * timelines);
  expect_same(evaluate(beside.application, machines[512]), outcomes[512], "made again");
}

TEST(batch, evaluates_tiny_sd_on_every_preset_as_alone) {
  for (const Preset& preset : diffusion_presets()) {
    const Application application = compile(tiny_sd(preset.machine), preset.machine);
    Dice dice(7);
    std::vector<Machine> machines;
    for (int i = 0; i < 40; ++i) machines.push_back(another(dice, preset.machine));
    machines[3].technology_node = TechnologyNode::fpga_vc1902;
    machines[5].sequencer = Sequencer::distributed;
    machines[8].granularity = Granularity::per_tile;
    machines[9].prompt_per_frame = true;
    machines[11].vae_stage = VaeStage::off_chip;
    machines[13].host_operators = HostOperators::softmax;
    std::vector<Outcome> beside(machines.size());
    BatchEvaluator batch(application);
    batch.evaluate(machines, beside);
    for (std::size_t i = 0; i < machines.size(); ++i)
      expect_same(evaluate(application, machines[i]), beside[i],
                  std::string(preset.name) + ", machine " + std::to_string(i));
    EXPECT_EQ(batch.counts().alone, 2);  // of a part, and of tiles as instructions
  }
}

/// What a batch keeps of a stage for all machines of one cost key.
std::vector<std::int64_t> kept(const Program& program, const Machine& m) {
  CompiledStage stage;
  stage.program = program;
  std::vector<ClassCost> costs = class_costs(stage, m);
  TimelineRules rules = stage_rules(stage, m, 1);
  std::vector<std::int64_t> all = tape_likeness(costs, rules);
  const TapeNumbers n = tape_numbers(make_tape(program, costs, rules), costs, rules);
  for (const auto* values : {&n.bytes, &n.least_cycles, &n.cycles, &n.dispatch, &n.delay, &n.link_in, &n.behind})
    all.insert(all.end(), values->begin(), values->end());
  if (!countable(program, costs, rules, 1)) return all;
  const StageCost cost = stage_cost(stage, m, std::move(costs));
  for (const std::int64_t value :
       {cost.events.weighted_macs, cost.events.other_macs, cost.events.lane_operations, cost.events.dsram_beats,
        cost.events.stackram_beats, cost.busy.psram_read, cost.macs, cost.spent_macs, cost.bound_cycles,
        cost.spread_cores, std::int64_t{cost.streams_activations}})
    all.push_back(value);
  return all;
}

TEST(batch, shares_what_parameters_outside_the_cost_key_do_not_touch) {
  std::size_t outside = 0;
  for (const ParameterRow& row : parameters()) {
    Machine changed;
    row.write(changed, row.standard == row.least ? row.most : row.least);
    if (cost_key(changed) != cost_key(Machine{})) continue;
    ++outside;
    EXPECT_EQ(row.effect, ParameterEffect::cost) << row.name;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Dice dice(seed);
      Machine m = random_machine(dice);
      const Program program = random_program(dice, m);
      if (!on_tape(m)) continue;
      const std::vector<std::int64_t> before = kept(program, m);
      for (int i = 0; i < 3; ++i) {
        const std::int64_t most = std::min(row.most, row.least + 100'000);
        row.write(m, dice.between(row.least, most));
        ASSERT_EQ(kept(program, m), before) << row.name << ", seed " << seed;
      }
    }
  }
  EXPECT_EQ(outside, 15u);
}

}  // namespace
}  // namespace sdip
