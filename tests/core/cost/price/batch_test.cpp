// Is a machine worth the same alone, beside others, after others and on any processor's instructions?
#include "core/cost/price/batch.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/error.h"
#include "core/cost/price/frame.h"
#include "core/cost/price/stage.h"
#include "core/cost/time/lanes.h"
#include "core/cost/time/tape.h"
#include "core/machine/dram.h"
#include "tests/core/cost/beside.h"
#include "tests/core/cost/random_application.h"
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
  ASSERT_EQ(last.stall_weights + last.stall_activations + last.stall_program, beside.stall_cycles) << what;
  ASSERT_EQ(alone.running_cycles, beside.running_cycles) << what;
  ASSERT_EQ(alone.psram_peak_bytes, beside.psram_peak_bytes) << what;
}

TEST(lanes, have_the_timeline_of_each_machine_of_random_programs) {
  std::int64_t compared = 0, stalled = 0, unlike = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Dice dice(seed);
    Machine first = random_machine(dice);
    make_plain(dice, first);
    const Program program = random_program(dice, first);
    std::vector<TapeNumbers> numbers;
    std::vector<LaneMachine> machines;
    std::vector<TimelineResult> alone;
    numbers.reserve(lane_count);
    std::optional<Tape> tape;
    for (std::size_t lane = 0; lane < 1 + seed % lane_count; ++lane) {
      const Machine m = another(dice, first);
      List<ClassCost> costs;
      for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
      const TimelineRules rules = timeline_rules(m, Decimal{100}, m.cores, program.pinned_bytes);
      if (!countable(program, costs, rules, most_simulated_passes)) continue;
      if (!tape) tape = make_tape(program, costs, rules);
      if (make_tape(program, costs, rules) != *tape) {
        ++unlike;
        continue;
      }
      numbers.push_back(tape_numbers(*tape, program, costs, rules));
      machines.push_back({&numbers.back(), rules.rate, rules.on_channel()});
      alone.push_back(run_timeline(program, costs, rules, most_simulated_passes));
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
  const TapeNumbers numbers = tape_numbers(tape, program, {cost}, rules);
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
        possible = divide_up(all_lanes<lane_count>(a), all_lanes<lane_count>(b), quotient);
        found = quotient[3];
        if (possible) alike &= everywhere(quotient == all_lanes<lane_count>(found));
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
  for (int i = 0; i < 4'000; ++i) {
    const std::int64_t b = dice.between(1, std::int64_t{1} << dice.between(0, 52));
    const std::int64_t most = std::min<std::int64_t>((std::int64_t{1} << 50) - 2, INT64_MAX / b - 2);
    const std::int64_t whole = dice.between(0, std::max<std::int64_t>(1, most >> dice.between(0, 40)));
    for (const std::int64_t near : {-1, 0, 1})
      if (whole * b + near >= 0) expect(whole * b + near, b);
  }
  EXPECT_GE(compared, 10'000);
  for (const Vectors vectors : vectors_here())
    in_vectors(vectors, [&](auto) SDIP_LOOP {
      Lanes quotient{}, a = all_lanes<lane_count>(7);
      a[6] = std::int64_t{1} << 52;
      EXPECT_FALSE(divide_up(a, all_lanes<lane_count>(4), quotient));
    });
}

std::vector<std::uint64_t> bits(const Outcome& outcome) {
  std::vector<std::uint64_t> all(metric_count);
  std::memcpy(all.data(), outcome.values.data(), sizeof(outcome.values));
  all.push_back(outcome.feasible);
  return all;
}

void expect_same(const Outcome& alone, const Outcome& beside, const std::string& what) {
  ASSERT_EQ(alone.reason, beside.reason) << what;
  if (alone.counted()) {
    ASSERT_EQ(bits(alone), bits(beside)) << what;
  }
}

TEST(lanes, have_the_timeline_of_each_machine_of_random_costs_and_run_no_more_of_it) {
  std::int64_t run = 0, run_alone = 0;
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
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

/// Two stages of a product each, one of so many rows.
Application long_application(std::int64_t rows, Place operand_a, std::size_t longest) {
  Application application;
  for (std::size_t s = 0; s < 2; ++s) {
    CompiledStage& stage = application.stages.emplace_back();
    stage.role = s == 0 ? Role::core : Role::decoder;
    InstructionClass& c = stage.program.classes.emplace_back();
    c.work.family = Family::linear;
    c.work.nest.out_h = c.work.nest.in_h = s == longest ? rows : 1;
    c.operand_a = operand_a;
    c.operand_b = Place::stackram;
    c.mapping = {c.work.nest.out_h, 1, 1, 1};
    c.out_elements = c.work.nest.out_h;
    stage.program.instructions.emplace_back();
  }
  return application;
}

/// One byte over one channel of one core, and its cycle; all of this by cores, passes and a byte's cycles.
bool is_short(const Application& application, const Machine& m) {
  bool all = true;
  for (const CompiledStage& stage : application.stages) {
    const std::int64_t cores = frame_schedule(stage.role, stage.part, m).active_cores;
    TimelineRules rules = stage_rules(stage, m, 1);
    const double cycles_a_byte = static_cast<double>(rules.rate.q) / static_cast<double>(rules.rate.p) +
                                 static_cast<double>(rules.rate.latency_cycles + rules.rate.turn_cycles);
    rules.rate = {1, 1};
    const double longest = longest_pass(stage.program, class_uses(stage.program), class_costs(stage, m), rules);
    all &= longest < 0x1p50;
    all &= longest * static_cast<double>(cores * counted_passes(m)) * (cycles_a_byte + 1) < 0x1p57;
  }
  return all;
}

TEST(batch, leaves_what_may_be_too_long_to_count_alone) {
  Dice dice(3);
  std::int64_t alone = 0, infeasible = 0;
  for (int i = 0; i < 500; ++i) {
    const std::int64_t rows = (std::int64_t{1} << dice.between(10, 52)) / 16 * dice.between(16, 31);
    const Application application =
        long_application(rows, dice.one_of({Place::dram, Place::dsram}), static_cast<std::size_t>(i % 2));
    Machine m;
    m.core_clock_mhz = dice.between(1, 4000);
    m.dram_rate_mtps = dice.between(1, 4000);
    m.cores = dice.between(1, 300);
    m.steps = dice.between(1, 300);
    m.linear_lanes_m = 1;
    BatchEvaluator batch(application);
    Outcome outcome;
    batch.evaluate(std::span(&m, 1), std::span(&outcome, 1));
    ASSERT_EQ(batch.counts().alone == 0, is_short(application, m)) << i << ", " << rows << " rows";
    expect_same(evaluate(application, m), outcome, std::to_string(rows) + " rows");
    alone += batch.counts().alone;
    infeasible += !outcome.counted();
    // What was too long once is so again.
    batch.evaluate(std::span(&m, 1), std::span(&outcome, 1));
    ASSERT_EQ(batch.counts().alone, is_short(application, m) ? 0 : 2);
    expect_same(evaluate(application, m), outcome, "again");
  }
  EXPECT_GT(alone, infeasible);
  EXPECT_LT(alone, 430);
  EXPECT_GT(infeasible, 15);
}

TEST(batch, leaves_what_was_not_compiled_alone) {
  Application application = long_application(3, Place::dram, 0);
  application.feasible = false;
  application.reason = "too large";
  Application empty;
  for (const Application* a : {&application, &empty}) {
    BatchEvaluator batch(*a);
    const Machine m;
    Outcome outcome;
    batch.evaluate(std::span(&m, 1), std::span(&outcome, 1));
    EXPECT_EQ(outcome.reason, a == &empty ? "no stage to run" : "too large");
    EXPECT_EQ(batch.counts().alone, 1);
    EXPECT_EQ(batch.counts().timelines, 0);
  }
}

TEST(batch, runs_eight_of_one_tape_side_by_side) {
  const Application application = long_application(3, Place::dram, 0);
  std::vector<Machine> machines(66);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    machines[i].cores = 1;
    machines[i].dram_rate_mtps = static_cast<std::int64_t>(20 + i);
    if (i % 2 == 1) machines[i].sequencer = Sequencer::distributed;  // another tape
  }
  std::vector<Outcome> outcomes(machines.size());
  BatchEvaluator batch(application);
  batch.evaluate(std::span(machines).first(32), std::span(outcomes).first(32));
  EXPECT_EQ(batch.counts().timelines, 2 * 32);
  EXPECT_EQ(batch.counts().runs, 2 * 2 * 2);  // of two stages, 16 of each tape
  batch.evaluate(machines, outcomes);
  EXPECT_EQ(batch.counts().timelines, 2 * 66);
  EXPECT_EQ(batch.counts().runs, 2 * 2 * (2 + 3));  // and 17
  EXPECT_EQ(batch.counts().costs, 2);
  for (std::size_t i = 0; i < machines.size(); ++i)
    expect_same(evaluate(application, machines[i]), outcomes[i], std::to_string(i));
}

TEST(batch, fills_dram_to_the_last_byte_as_alone) {
  const Machine m;
  const DramChannels dram = dram_channels(m);
  for (const std::int64_t more : {0, 1}) {
    Application application = long_application(4, Place::dsram, 0);
    application.stages[0].program.stored_weight_bytes = Bytes(dram.channels * dram.channel_mib * (1 << 20) + more);
    BatchEvaluator evaluator(application);
    std::vector<Outcome> outcomes(1);
    evaluator.evaluate({&m, 1}, outcomes);
    EXPECT_EQ(outcomes[0].feasible, more == 0) << outcomes[0].reason;
    EXPECT_EQ(outcomes[0].reason, evaluate(application, m).reason);
  }
}

TEST(batch, goes_on_after_a_machine_that_it_refuses) {
  Application application = long_application(3, Place::dram, 0);
  for (CompiledStage& stage : application.stages) {
    InstructionClass& c = stage.program.classes[0];
    c.operand_b = Place::psram;
    c.weight_elements_per_channel = 40;
  }
  std::vector<Machine> machines(3);
  for (Machine& m : machines) m.psram_bytes = 640, m.psram_pinned_bytes = 0, m.cores = 1;
  std::vector<Outcome> outcomes(3);
  for (std::size_t refused = 0; refused < 3; ++refused) {
    BatchEvaluator batch(application);
    std::vector<Machine> all = machines;
    all[refused].psram_bytes = 1;  // less than a tile
    EXPECT_THROW(batch.evaluate(all, outcomes), Bug);
    const std::int64_t timelines = batch.counts().timelines;
    batch.evaluate(machines, outcomes);
    EXPECT_EQ(batch.counts().timelines, timelines + 2);
    for (const Outcome& outcome : outcomes) expect_same(evaluate(application, machines[0]), outcome, "after");
  }
}

TEST(batch, forgets_costs_beyond_512) {
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
  for (Machine& other : machines) other.dispatch_cycles += 1000;  // where others stood
  for (std::size_t i = 0; i < machines.size(); i += 8) {
    batch.evaluate(std::span(machines).subspan(i, 1), std::span(outcomes).subspan(i, 1));
    expect_same(evaluate(beside.application, machines[i]), outcomes[i], "where others stood");
  }
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
    for (const std::size_t circuits : {15U, 17U}) {
      machines[circuits].vae_stage = VaeStage::circuit;
      machines[circuits].vae_decoder_conv_lanes_in = static_cast<std::int64_t>(circuits);
      machines[circuits].vae_decoder_vector_lanes = 40;
    }
    machines[19].vae_decoder_conv_lanes_in = 24;
    machines[19].text_encoder_dsram_port_bits = 512;
    machines[21].text_encoder_psram_port_bits = 1024;
    machines[17].sequencer = Sequencer::distributed;
    machines[17].host_operators = HostOperators::softmax_and_norm;
    std::vector<Outcome> beside(machines.size());
    BatchEvaluator batch(application);
    batch.evaluate(machines, beside);
    for (std::size_t i = 0; i < machines.size(); ++i)
      expect_same(evaluate(application, machines[i]), beside[i],
                  std::string(preset.name) + ", machine " + std::to_string(i));
    EXPECT_EQ(batch.counts().alone, 1);  // of programmable logic
  }
}

/// What a batch keeps of a stage for all machines of one cost key.
struct Kept {
  Tape tape;
  TapeNumbers numbers;
  std::vector<std::int64_t> costs;
  friend bool operator==(const Kept&, const Kept&) = default;
};
Kept kept(const Program& program, const Machine& m) {
  CompiledStage stage;
  stage.program = program;
  const List<ClassCost> costs = class_costs(stage, m);
  const TimelineRules rules = stage_rules(stage, m, 1);
  Kept its{make_tape(program, costs, rules), {}, {}};
  its.numbers = tape_numbers(its.tape, program, costs, rules);
  if (!countable(program, costs, rules, 1)) return its;
  const StageCost cost = stage_cost(stage, m, class_uses(program), costs);
  its.costs = {cost.events.weighted_macs,
               cost.events.other_macs,
               cost.events.lane_operations,
               cost.events.dsram_beats,
               cost.events.stackram_beats,
               cost.weight_beats,
               cost.macs,
               cost.mac_cycles,
               cost.bound_cycles,
               cost.spread_cores,
               std::int64_t{cost.streams_activations}};
  return its;
}

TEST(batch, shares_what_parameters_outside_the_cost_key_do_not_touch) {
  std::size_t outside = 0;
  for (const ParameterRow& row : parameters()) {
    Machine changed;
    row.write(changed, row.standard == row.least ? row.most : row.least);
    if (cost_key(changed) != cost_key(Machine{})) continue;
    ++outside;
    if (row.name != "dram_kind") {  // whose accesses may be as long
      EXPECT_FALSE(changes_program(row)) << row.name;
    }
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Dice dice(seed);
      Machine m = random_machine(dice);
      const Program program = random_program(dice, m);
      const Kept before = kept(program, m);
      for (int i = 0; i < 3; ++i) {
        const std::int64_t most = std::min(row.most, row.least + 100'000);
        const Machine key = cost_key(m);
        row.write(m, dice.between(row.least, most));
        if (cost_key(m) != key) continue;  // as room for words where these are streamed
        ASSERT_TRUE(kept(program, m) == before) << row.name << ", seed " << seed;
      }
    }
  }
  EXPECT_EQ(outside, 24u);  // two of links, where there is one die
}

/// What a batch keeps of a chip for all machines of one chip key.
std::vector<double> kept_of_chip(const Application& application, const Machine& m) {
  const ChipTotals chip = chip_totals(application, application_totals(application), m, Bound::value);
  std::vector<double> all = {chip.area_mm2, static_cast<double>(chip.sram_bytes), chip.standing.logic_mm2,
                             chip.standing.sram_mib, chip.slowest.mhz};
  for (const CompiledStage& stage : application.stages) {
    const EnergyPrices p = stage_prices(stage, m, Bound::value).usual;
    all.insert(all.end(),
               {p.mac,          p.lane_operation,  p.dsram_beat,      p.stackram_beat,  p.psram_beat,
                p.dsram_byte,   p.psram_byte,      p.dram_byte,       p.dsram_wire,     p.stackram_wire,
                p.psram_wire,   p.dsram_wire_byte, p.psram_wire_byte, p.broadcast_beat, p.imem_byte,
                p.array_stages, p.row_stages,      p.other_mac,       p.mac_share,      p.other_mac_share});
  }
  return all;
}

TEST(batch, shares_a_chip_among_what_parameters_outside_the_chip_key_do_not_touch) {
  std::size_t outside = 0;
  for (const ParameterRow& row : parameters()) {
    Machine changed;
    row.write(changed, row.standard == row.least ? row.most : row.least);
    if (chip_key(changed) != chip_key(Machine{})) continue;
    ++outside;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Dice dice(seed);
      Machine m = random_frame_machine(dice);
      const Application application = random_application(dice, application_roles(seed), m);
      const std::vector<double> before = kept_of_chip(application, m);
      for (int i = 0; i < 3; ++i) {
        row.write(m, dice.between(row.least, std::min(row.most, row.least + 100'000)));
        ASSERT_EQ(kept_of_chip(application, m), before) << row.name << ", seed " << seed;
      }
    }
  }
  EXPECT_EQ(outside, 14u);
}

}  // namespace
}  // namespace sdip
