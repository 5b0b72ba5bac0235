// Machines beside each other, and what each is worth alone.
#include "tests/core/cost/beside.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "core/cost/price/stage.h"
#include "core/cost/time/lane_timeline.h"
#include "core/machine/dram.h"
#include "core/machine/technology.h"
#include "tests/core/cost/random_application.h"

namespace sdip {

void make_plain(Dice& dice, Machine& m) {
  if (dice.one_in(4)) return;
  m.operator_dsram = OperatorDsram::common;
  m.granularity = Granularity::per_operator;
  m.program_storage = ProgramStorage::held;
}

Machine another(Dice& dice, Machine m) {
  m.dram_rate_mtps =
      std::min(20 * dice.between(1, 800), dram_kinds()[static_cast<std::size_t>(m.dram_kind)].greatest_mtps);
  m.dram_efficiency = Decimal{dice.between(1, 100)};
  m.pipeline_stages = dice.between(1, 20);
  m.dispatch_cycles = dice.between(0, 300);
  m.conv_lanes_in = dice.between(1, 16);
  m.linear_lanes_n = dice.between(1, 16);
  m.vector_lanes = dice.between(1, 64);
  m.dsram_port_bits = 8 * dice.between(1, 64);
  m.cores = dice.between(1, 9);
  m.steps = dice.between(1, 30);
  return m;
}

namespace {

/// Operations of each shape inside loop `level`, `times` over; returns their cycles.
std::int64_t count_tiles(ClassCost& c, std::size_t level, const TileRun* run, std::int32_t shape,
                         std::int64_t times) {
  if (level == c.order.loops.size()) {
    TileCost& tile = c.shapes[static_cast<std::size_t>(shape)];
    tile.times += times;
    return times * tile.cycles;
  }
  std::int64_t cycles = 0;
  const TileRun* const inner = run + c.order.loops[level].runs;
  for (; run != inner; ++run) cycles += count_tiles(c, level + 1, inner, shape + run->shape, times * run->tiles);
  return cycles;
}

void count_cycles(ClassCost& c) {
  for (TileCost& tile : c.shapes) tile.times = 0;
  c.cycles = count_tiles(c, 0, c.order.runs.data(), 0, 1);
}

/// All that two machines on one tape may differ in.
void vary(Dice& dice, timing::Timed& t, std::int64_t most_bytes) {
  const auto again = [&](std::int64_t& bytes) {
    if (bytes > 0) bytes = dice.between(1, most_bytes);
  };
  for (ClassCost& c : t.costs) {
    for (TileCost& tile : c.shapes) {
      tile.cycles = dice.between(1, 30);
      for (std::int64_t* bytes : {&tile.weight_stored_bytes, &tile.b_bytes, &tile.split_in_bytes,
                                  &tile.partial_in_bytes, &tile.out_bytes})
        again(*bytes);
    }
    for (WindowBytes& window : c.windows) {
      again(window.all);
      again(window.fresh);
    }
    again(c.held_weight_stored_bytes);
    c.shapes[0].micro_operations = dice.between(1, 4);
    c.link_in_cycles = dice.between(0, 9);
    c.link_out_cycles = dice.between(0, 9);
    count_cycles(c);
  }
  TimelineRules& r = t.rules;
  r.rate = {dice.between(1, 60), dice.between(1, 9)};
  r.burst_bytes = dice.between(1, 40);
  r.decompressor_bytes = dice.one_in(2) ? dice.between(1, 9) : 0;
  r.dispatch_cycles = dice.between(0, dice.one_in(2) ? 9 : 200);
  r.pipeline_stages = dice.between(0, 9);
  r.host_command_cycles = dice.between(0, 50);
  r.cores = dice.between(1, 5);
}

/// All weights pinned, nothing else moved: in warm passes the channel rests.
void keep_weights(timing::Timed& t) {
  t.rules.psram_bytes = 1000;
  for (InstructionClass& c : t.program.classes) c.pinned = true;
  for (ClassCost& c : t.costs) {
    c.weighted = true;
    for (TileCost& tile : c.shapes) {
      tile.weight_bytes = tile.weight_stored_bytes = 1;
      tile.b_bytes = tile.split_in_bytes = tile.partial_in_bytes = tile.out_bytes = 0;
    }
    c.windows.assign(c.windows.size(), {});
  }
}

}  // namespace

Beside drawn_beside(std::uint64_t seed) {
  Dice dice(seed);
  const bool is_long = seed % 4 == 0;
  timing::Timed t = is_long ? timing::random_timed(seed, 2, 5, static_cast<std::size_t>(dice.between(64, 200)))
                            : timing::random_timed(seed, dice.one_in(2) ? 4 : 25, 3, 1 + seed % 6);
  t.rules.dispatches_tiles = false;
  t.rules.imem_bytes = 0;
  if (dice.one_in(3)) t.rules.psram_bytes *= dice.between(2, 30);
  const bool pins = dice.one_in(3);
  for (InstructionClass& c : t.program.classes) c.pinned &= pins;
  t.rules.pinned_bytes = pins ? dice.between(0, 99) : 0;
  if (seed % 8 == 5) keep_weights(t);
  Beside beside;
  if (!is_long && dice.one_in(3)) beside.passes = dice.between(1, 4);
  const std::int64_t most_bytes = dice.one_in(20) ? std::int64_t{1} << 32 : dice.one_in(3) ? 4000 : 60;
  const std::int64_t psram_bytes = t.rules.psram_bytes;
  const bool apart = seed % 3 == 0;
  for (std::uint64_t lane = 0; lane < 1 + seed % 8; ++lane) {
    vary(dice, t, most_bytes);
    if (apart && psram_bytes > 0)
      t.rules.psram_bytes = psram_bytes + dice.between(0, dice.one_in(2) ? 20 : 2 * psram_bytes);
    beside.machines.push_back(t);
    beside.alone.push_back(t.run(beside.passes));
  }
  return beside;
}

namespace {

/// What a machine's lane says otherwise than its timeline: the peak, each pass, and the stalls of the last.
std::string lane_difference(const TimelineResult& alone, const LaneTimes& lane) {
  for (std::size_t pass = 0; pass < 70; ++pass) {
    const std::int64_t cycles = alone.passes[std::min(pass, alone.passes.size() - 1)].cycles,
                       beside = lane.pass_cycles[std::min(pass, lane.pass_cycles.size() - 1)];
    if (cycles != beside)
      return "pass " + std::to_string(pass) + " " + std::to_string(beside) + " for " + std::to_string(cycles);
  }
  for (const std::int64_t count : {0, 1, 2, 3, 7, 64, 65, 100})
    if (alone.total(count) != lane.total(count)) return "total of " + std::to_string(count);
  const PassCost& last = alone.passes.back();
  if (last.stall_weights + last.stall_activations + last.stall_program != lane.stall_cycles) return "stalls";
  if (alone.running_cycles != lane.running_cycles) return "running";
  if (alone.psram_peak_bytes != lane.psram_peak_bytes) return "peak";
  return "";
}

}  // namespace

std::string difference(const Beside& beside, Vectors vectors) {
  const std::size_t count = beside.machines.size();
  const timing::Timed& first = beside.machines[0];
  const Tape tape = make_tape(first.program, first.costs, first.rules);
  std::vector<TapeNumbers> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const timing::Timed& t = beside.machines[i];
    if (make_tape(t.program, t.costs, t.rules) != tape) return "machines are unlike";
    numbers.push_back(tape_numbers(tape, t.program, t.costs, t.rules));
  }
  LaneRunner runner(vectors);
  std::vector<LaneTimes> times(count);
  for (const bool turned : {false, true}) {
    std::vector<LaneMachine> machines;
    const auto place = [&](std::size_t i) { return turned ? count - 1 - i : i; };
    for (std::size_t i = 0; i < count; ++i) {
      const TimelineRules& rules = beside.machines[place(i)].rules;
      machines.push_back({&numbers[place(i)], rules.rate, rules.on_channel()});
    }
    runner.run(tape, machines, beside.passes, times);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string what = lane_difference(beside.alone[place(i)], times[i]);
      if (!what.empty()) return "machine " + std::to_string(place(i)) + ": " + what;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const TimelineRules& rules = beside.machines[i].rules;
    const LaneMachine machine{&numbers[i], rules.rate, rules.on_channel()};
    runner.run(tape, std::span(&machine, 1), beside.passes, times);
    const std::string what = lane_difference(beside.alone[i], times[0]);
    if (!what.empty()) return "machine " + std::to_string(i) + " alone: " + what;
  }
  return "";
}

std::vector<std::int64_t> operations_run(const Beside& beside) {
  const timing::Timed& first = beside.machines[0];
  const Tape tape = make_tape(first.program, first.costs, first.rules);
  std::vector<TapeNumbers> numbers;
  std::vector<LaneMachine> machines;
  numbers.reserve(beside.machines.size());
  for (const timing::Timed& t : beside.machines) {
    numbers.push_back(tape_numbers(tape, t.program, t.costs, t.rules));
    machines.push_back({&numbers.back(), t.rules.rate, t.rules.on_channel()});
  }
  LaneRunner runner(Vectors::portable);
  std::vector<LaneTimes> times(machines.size());
  runner.run(tape, machines, beside.passes, times);
  std::vector<std::int64_t> run = {runner.operations_run()};
  for (const LaneMachine& machine : machines) {
    runner.run(tape, std::span(&machine, 1), beside.passes, times);
    run.push_back(runner.operations_run());
  }
  return run;
}

namespace {

bool holds_programs(const Application& application, const Machine& m) {
  bool fits = true;
  for (const CompiledStage& stage : application.stages) {
    const ProgramSize size = program_size(stage, m);
    fits &= (m.program_storage == ProgramStorage::streamed ? size.longest_bytes : size.bytes) <= m.imem_bytes;
  }
  return fits;
}

/// Tapes, and numbers on them.
struct TimedStages {
  std::vector<Tape> tapes;
  std::vector<std::pair<std::ptrdiff_t, TapeNumbers>> numbers;

  /// The place of all that a stage's time depends on beside its channel.
  std::ptrdiff_t place(const CompiledStage& stage, const Machine& m, const List<ClassCost>& costs) {
    const TimelineRules rules = stage_rules(stage, m, 1);
    Tape tape = make_tape(stage.program, costs, rules);
    const std::ptrdiff_t of_tape = std::ranges::find(tapes, tape) - tapes.begin();
    const std::pair its(of_tape, tape_numbers(tape, stage.program, costs, rules));
    if (of_tape == std::ssize(tapes)) tapes.push_back(std::move(tape));
    const std::ptrdiff_t found = std::ranges::find(numbers, its) - numbers.begin();
    if (found == std::ssize(numbers)) numbers.push_back(its);
    return found;
  }
};

/// How many are of different keys.
std::int64_t count_unlike(const std::vector<Machine>& machines, Machine (*key)(const Machine&)) {
  std::vector<Machine> keys;
  for (const Machine& m : machines)
    if (std::ranges::find(keys, key(m)) == keys.end()) keys.push_back(key(m));
  return std::ssize(keys);
}

/// What was made, timelines run and machines gone alone, of machines evaluated twice.
BatchEvaluator::Counts counts_of(const Application& application, const std::vector<Machine>& machines) {
  BatchEvaluator::Counts counts;
  std::vector<Machine> beside, placed;
  TimedStages timed;
  std::set<std::array<std::int64_t, 7>> timelines;
  for (const Machine& m : machines) {
    counts.machines += 2;
    const bool costed = !is_fpga(m.technology_node), holds = holds_programs(application, m);
    // Micro-operations are counted from costs; else it is known before these that words do not fit.
    if (costed && (holds || m.granularity == Granularity::micro_operation)) beside.push_back(m);
    if (!costed || !holds) {
      counts.alone += 2;
      continue;
    }
    placed.push_back(m);
    for (std::size_t s = 0; s < application.stages.size(); ++s) {
      const CompiledStage& stage = application.stages[s];
      const std::int64_t cores = frame_schedule(stage.role, stage.part, m).active_cores;
      const DramRate rate = stage_rate(stage, m);
      const List<ClassCost> costs = class_costs(stage, m);
      const bool streams = stage_cost(stage, m, class_uses(stage.program), costs).streams_activations;
      const auto run = [&](const List<ClassCost>& its, std::int64_t on) {
        timelines.insert({static_cast<std::int64_t>(s), timed.place(stage, m, its), rate.p, rate.q,
                          rate.latency_cycles, rate.turn_cycles, on});
      };
      run(costs, streams ? channel_cores(stage, m, cores) : 1);
      run(class_costs(stage, m, 1), streams ? channel_cores(stage, m, 1) : 1);
    }
  }
  counts.costs = count_unlike(beside, cost_key);
  counts.chips = count_unlike(placed, chip_key);
  counts.timelines = std::ssize(timelines);
  return counts;
}

bool same(const Outcome& a, const Outcome& b) {
  if (a.reason != b.reason || a.feasible != b.feasible) return false;
  return !a.counted() || std::memcmp(a.values.data(), b.values.data(), sizeof(a.values)) == 0;
}

}  // namespace

BesideBatch drawn_batch(std::uint64_t seed) {
  Dice dice(seed);
  BesideBatch beside;
  Machine first = random_frame_machine(dice);
  make_plain(dice, first);
  beside.application = random_application(dice, application_roles(seed), first);
  std::vector<Machine>& machines = beside.machines;
  for (int i = 0; i < 12; ++i) {
    machines.push_back(dice.one_in(3) && i > 0 ? machines.back() : another(dice, first));
    Machine& m = machines.back();
    if (dice.one_in(6)) m.psram_bytes = first.psram_bytes * dice.between(1, 4);
    if (dice.one_in(6)) m.sequencer = dice.one_of({Sequencer::central, Sequencer::distributed, Sequencer::host});
    if (dice.one_in(6)) m.program_storage = dice.one_of({ProgramStorage::held, ProgramStorage::streamed});
    if (dice.one_in(6)) m.dram_burst_bytes = dice.between(1, 64);
    if (dice.one_in(9)) m.technology_node = dice.one_of({TechnologyNode::fpga_vc1902, TechnologyNode::n28});
    if (dice.one_in(9)) m.encoder_dram_share = m.decoder_dram_share = Decimal{dice.between(1, 40)};
  }
  std::int64_t longest = 0;
  for (const CompiledStage& stage : beside.application.stages)
    longest = std::max(longest, program_size(stage, Machine{}).bytes);
  for (std::size_t i = 0; i < machines.size(); i += 2) set_hierarchy(seed + i / 2, machines[i]);
  for (std::size_t i = 1; i < machines.size(); i += 2) set_circuits(seed + i / 2, machines[i]);
  for (std::size_t i = 0; i < machines.size(); i += 3)
    machines[i].imem_bytes = dice.one_of<std::int64_t>({1, longest - 1, longest});
  for (std::size_t i = 1; i < machines.size(); i += 4) {  // figures of their own: the same, and another
    const ParameterRow& row = technology_parameters()[(13 * seed + i / 8) % technology_parameters().size()];
    row.write(machines[i], row.least);
  }
  for (const Machine& m : machines) beside.alone.push_back(evaluate(beside.application, m));
  beside.counts = counts_of(beside.application, machines);
  return beside;
}

std::string difference(const BesideBatch& beside, Vectors vectors, std::size_t together) {
  BatchEvaluator batch(beside.application, vectors);
  const std::size_t all = beside.machines.size();
  std::vector<Outcome> outcomes(all);
  for (int again = 0; again < 2; ++again) {  // the second time all is known
    for (std::size_t i = 0; i < all; i += together) {
      const std::size_t count = std::min(together, all - i);
      batch.evaluate(std::span(beside.machines).subspan(i, count), std::span(outcomes).subspan(i, count));
    }
    for (std::size_t i = 0; i < all; ++i)
      if (!same(outcomes[i], beside.alone[i])) return "machine " + std::to_string(i);
  }
  const BatchEvaluator::Counts &found = batch.counts(), &counts = beside.counts;
  if (found.machines != counts.machines || found.alone != counts.alone) return "machines gone alone";
  if (found.costs != counts.costs) return "costs made: " + std::to_string(found.costs);
  if (found.chips != counts.chips) return "chips made: " + std::to_string(found.chips);
  if (found.timelines != counts.timelines)
    return "timelines run: " + std::to_string(found.timelines) + " for " + std::to_string(counts.timelines);
  return "";
}

}  // namespace sdip
