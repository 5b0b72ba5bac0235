// Random pairs of a program and a machine, with what the executor counts on them.
#include "tests/mutants/pairs.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/cost/time/timeline.h"
#include "core/program/workload.h"
#include "tests/core/cost/beside.h"
#include "tests/core/cost/counted.h"
#include "tests/core/cost/frame_difference.h"
#include "tests/core/cost/random_application.h"
#include "tests/core/exec/pass_sum.h"

namespace sdip::mutants {
namespace {

constexpr std::int64_t most_passes = 12;

ClassCounts counts_of(const InstructionClass& c, const Machine& machine, Role role) {
  ClassCounts counts;
  for (const exec::Operation& o : exec::expand(c, machine, role)) {
    ++counts.operations;
    counts.needs += o.needs;
    counts.cycles += o.cycles();
    counts.lane_operations += o.lane_operations;
    counts.commands += o.commands;
  }
  counts.counts_cycles = machine.dma_port == DmaPort::own;  // else transfers last within them, as the clock knows
  counts.counts_lanes = c.compound != Compound::attention && c.spread_cores == 1;
  return counts;
}

bool agrees(const ClassCost& cost, const ClassCounts& counts) {
  std::int64_t commands = 0;
  for (const TileCost& tile : cost.shapes) commands += tile.times * tile.micro_operations;
  exec::Needs needs = counts.needs;
  const Busy& busy = cost.busy;
  for (std::size_t pair = 0; pair < pair_families; ++pair)
    if (busy.other_pairs.beats[pair] != needs[exec::other_pair(static_cast<Family>(pair))]) return false;
  const bool lanes = cost.plan.nest && counts.counts_lanes;
  return commands == counts.commands && (!lanes || cost.lane_operations == counts.lane_operations) &&
         busy[Resource::compute] == needs.compute && busy[Resource::dsram_read] == needs[exec::Port::dsram_read] &&
         busy[Resource::dsram_write] == needs[exec::Port::dsram_write] &&
         busy[Resource::stackram_read] == needs[exec::Port::stackram_read] &&
         busy[Resource::stackram_write] == needs[exec::Port::stackram_write] &&
         busy[Resource::psram_read] == needs[exec::Port::psram_read] &&
         (!counts.counts_cycles || cost.cycles == counts.cycles) && cost.operations == counts.operations;
}

bool agrees(const InstructionTime& t, const ClassCost& c, const InstructionCounts& counts) {
  return counted(t, c) == counts;
}

bool agrees(const PassCost& pass, const InstructionCounts& sum) {
  return pass.cycles == sum.end && pass.stall_weights == sum.stall_weights &&
         pass.stall_activations == sum.stall_activations && pass.weight_bytes == sum.weight_bytes &&
         pass.activation_in_bytes == sum.activation_in_bytes &&
         pass.activation_out_bytes == sum.activation_out_bytes && pass.stall_program == sum.stall_program &&
         pass.program_bytes == sum.program_bytes && pass.turns == sum.turns;
}

List<ClassCost> costs_of(const Pair& pair) {
  List<ClassCost> costs;
  const Machine its = machine_of_stage(pair.machine, pair.role, pair.cores);
  for (const InstructionClass& c : pair.program.classes) costs.push_back(class_cost(c, its, pair.role));
  return costs;
}

TimelineResult run(const Pair& pair, const List<ClassCost>& costs, std::vector<InstructionTime>* trace) {
  const TimelineRules rules =
      timeline_rules(pair.machine, pair.share, pair.cores, pair.program.pinned_bytes, pair.role);
  return run_timeline(pair.program, costs, rules, most_passes, trace);
}

void draw(std::uint64_t seed, Pair& pair) {
  constexpr Role roles[] = {Role::text_encoder, Role::encoder, Role::core, Role::decoder, Role::network};
  constexpr HardCodedPart parts[] = {HardCodedPart::all, HardCodedPart::text_encoder, HardCodedPart::vae,
                                     HardCodedPart::core};
  Dice dice(seed);
  Machine& m = pair.machine = random_machine(dice);
  if (seed % 4 == 1) {  // instructions side by side
    m.operator_dsram = OperatorDsram::per_operator;
    m.activation_memory = ActivationMemory::separate;
    m.granularity = Granularity::per_operator;
  }
  if (seed % 4 == 3)
    m.accumulator_format = dice.one_of({NumberFormat::fp16, NumberFormat::int16, NumberFormat::int8});
  if (seed % 16 == 2) m.weight_storage = WeightStorage::hard_coded;
  if (seed % 5 == 0) set_hierarchy(2, m);
  pair.program = seed % 8 == 3 ? random_attentions(dice, m) : random_program(dice, m);
  pair.share = Decimal{dice.between(1, 100)};
  pair.cores = dice.between(1, 5);
  if (seed % 16 == 2) {
    m.hard_coded_part = dice.one_of({parts[0], parts[1], parts[2], parts[3]});
    pair.role = dice.one_of({roles[0], roles[1], roles[2], roles[3], roles[4]});
  }
  m = machine_of_stage(m, pair.role);
}

/// 65 to 200 more instructions, of the classes that have few operations, so that a pass may rejoin the one before.
void lengthen(std::uint64_t seed, Pair& pair) {
  Dice dice(seed);
  List<Instruction> small;
  for (const Instruction& instruction : pair.program.instructions) {
    const auto c = static_cast<std::size_t>(instruction.instruction_class);
    if (exec::expand(pair.program.classes[c], pair.machine, pair.role).size() <= 20) small.push_back(instruction);
  }
  if (small.empty() || pair.machine.operator_dsram == OperatorDsram::per_operator) return;
  for (std::int64_t i = dice.between(65, 200); i > 0; --i)
    pair.program.instructions.push_back(small[static_cast<std::size_t>(dice.between(0, std::ssize(small) - 1))]);
}

}  // namespace

Pair drawn_pair(std::uint64_t seed) {
  Pair pair;
  draw(seed, pair);
  if (seed % 4 == 2) lengthen(seed, pair);
  for (const InstructionClass& c : pair.program.classes)
    pair.classes.push_back(counts_of(c, machine_of_stage(pair.machine, pair.role, pair.cores), pair.role));
  const TimelineResult result = run(pair, costs_of(pair), nullptr);
  pair.counts = step(pair.program, pair.machine, pair.share, pair.cores,
                     result.passes.size() + (result.repeats ? 2 : 0), pair.role);
  return pair;
}

bool agrees(const Pair& pair) {
  const List<ClassCost> costs = costs_of(pair);
  for (std::size_t c = 0; c < costs.size(); ++c)
    if (!agrees(costs[c], pair.classes[c])) return false;
  std::vector<InstructionTime> trace;
  const TimelineResult result = run(pair, costs, &trace), untraced = run(pair, costs, nullptr);
  const std::size_t simulated = result.passes.size(), counted = pair.counts.passes.size();
  for (std::size_t i = 0; i < counted; ++i) {
    const InstructionCounts sum = sum_of(pair.counts.passes[i]);
    if (!agrees(result.passes[std::min(i, simulated - 1)], sum)) return false;
    if (!agrees(untraced.passes[std::min(i, untraced.passes.size() - 1)], sum)) return false;
  }
  const std::vector<InstructionCounts>& pass = pair.counts.passes[std::min(simulated, counted) - 1];
  const InstructionCounts last = sum_of(pass);
  const bool beside = pair.machine.operator_dsram == OperatorDsram::per_operator;
  if (result.running_cycles != last.start + (beside ? last.stall_program : 0) ||
      result.waiting_cycles != last.waiting)
    return false;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const auto number = static_cast<std::size_t>(pair.program.instructions[i].instruction_class);
    if (!agrees(trace[i], costs[number], pass[i])) return false;
  }
  return trace.size() == pass.size() && result.psram_peak_bytes == pair.counts.psram_peak_bytes;
}

std::function<bool()> drawn_sample(std::uint64_t number) {
  const std::uint64_t n = number - number / 3;
  if (number % 9 == 6) {
    return [batch = drawn_batch(number / 9), number] {
      return difference(batch, Vectors::portable, 1 + number / 9 % 12).empty();
    };
  }
  if (number % 3 == 0) {  // a shortcut not taken shows in what was run
    const Beside drawn = drawn_beside(number / 3);
    return [beside = drawn, run = operations_run(drawn)] {
      return difference(beside, Vectors::portable).empty() && operations_run(beside) == run;
    };
  }
  if (n % 4 != 0) {
    return [pair = drawn_pair(n)] { return agrees(pair); };
  }
  Dice dice(n);
  Machine machine = random_frame_machine(dice);
  const auto application =
      std::make_shared<const Application>(random_application(dice, application_roles(n / 4), machine));
  set_hierarchy(n / 4 / application_kinds, machine);
  const CountedFrame frame = counted_frame(*application, machine);  // points into it
  if (!frame.settled) return [] { return true; };
  return [=] {
    const Report report = estimate(*application, machine);
    const MetricValues quick = evaluate(*application, machine).values;
    for (std::size_t m = 0; m < metric_count; ++m)
      if (quick[m] != report.outcome.values[m] && !std::isnan(quick[m])) return false;
    return frame_difference(report, frame, machine).empty();
  };
}

}  // namespace sdip::mutants
