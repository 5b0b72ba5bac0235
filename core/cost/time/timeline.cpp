// Time of one machine: the recurrence along its own tape.
#include "core/cost/time/timeline.h"

#include <algorithm>
#include <span>

#include "core/cost/time/recurrence.h"

namespace sdip {
namespace {

/// The time that each transfer takes on the channel.
std::vector<std::int64_t> transfer_times(const Tape& tape, const TapeNumbers& numbers, const DramRate& rate,
                                         std::int64_t cores) {
  std::vector<std::int64_t> times(tape.moved.size());
  for (std::size_t t = 0; t < times.size(); ++t)
    times[t] = std::max(rate.time_for(Bytes(moved_bytes(tape, numbers, t, cores))).value, numbers.least_cycles[t]);
  return times;
}

/// The last pass simulated, instruction by instruction.
std::vector<InstructionTime> instruction_times(const Tape& tape, const TapeNumbers& numbers, std::int64_t cores,
                                               bool cold, std::span<const InstructionTrace> trace,
                                               const List<ClassCost>& costs) {
  const std::vector<PassCost> bytes = class_bytes(tape, numbers, cores, cold);
  std::vector<InstructionTime> times;
  times.reserve(trace.size());
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const InstructionTrace& from = trace[i];
    const auto number = at(tape.instructions[i]);
    InstructionTime& time = times.emplace_back();
    time.start = from.begin;
    time.end = from.end;
    time.stall_weights = from.stall_weights;
    time.stall_activations = from.stall_activations;
    time.stall_program = from.stall_program;
    time.waiting = from.begin - from.issued;
    // Words are waited for before it begins where instructions overlap.
    time.overhead = from.end - from.begin - costs[number].cycles - from.stall_weights - from.stall_activations -
                    (tape.overlaps ? 0 : from.stall_program);
    time.psram_bytes = from.psram_bytes;
    time.turns = from.turns;
    time.weight_bytes = bytes[number].weight_bytes;
    time.weight_psram_bytes = bytes[number].weight_psram_bytes;
    time.activation_in_bytes = bytes[number].activation_in_bytes;
    time.activation_out_bytes = bytes[number].activation_out_bytes;
    if (tape.words != Tape::none) time.program_bytes = numbers.bytes[as_size(tape.words) + i];
  }
  return times;
}

}  // namespace

TimelineResult run_tape(const Tape& tape, const TapeNumbers& numbers, const DramRate& rate, std::int64_t cores,
                        std::int64_t channel_cores, std::int64_t most_passes,
                        std::vector<InstructionTrace>* trace) {
  const std::vector<std::int64_t> times = transfer_times(tape, numbers, rate, channel_cores);
  const Columns<1> columns{{&numbers},
                           times.data(),
                           numbers.cycles.data(),
                           numbers.class_dispatch_cycles.data(),
                           numbers.delay_cycles.data(),
                           numbers.link_in_cycles.data(),
                           numbers.behind_cycles.data(),
                           &rate.latency_cycles,
                           &rate.turn_cycles};
  RecurrenceMemory<1> memory;
  Recurrence<1> recurrence(tape, columns, memory, trace);
  recurrence.run(most_passes);
  TimelineResult result;
  result.passes.assign(recurrence.passes().size(), pass_bytes(tape, numbers, cores));
  if (tape.fetches_once) result.passes.front() += pinned_bytes(tape, numbers);
  std::size_t place = 0;
  for (const Passed<1>& passed : recurrence.passes()) {
    PassCost& pass = result.passes[place++];
    pass.cycles = passed.cycles;
    pass.stall_weights = passed.stall_weights;
    pass.stall_activations = passed.stall_activations;
    pass.stall_program = passed.stall_program;
    pass.turns = passed.turns;
  }
  result.repeats = recurrence.repeats();
  result.operations_run = recurrence.operations_run();
  result.steady = result.passes.size() - 1;
  result.psram_peak_bytes = recurrence.psram_peak(0);
  const PassCost& last = result.passes.back();
  result.running_cycles = tape.overlaps ? memory.board.running() + last.stall_program : last.cycles;
  result.waiting_cycles = tape.overlaps ? memory.board.waiting() : 0;
  return result;
}

TimelineResult run_timeline(const Program& program, const List<ClassCost>& costs, const TimelineRules& rules,
                            std::int64_t most_passes, std::vector<InstructionTime>* trace) {
  const Tape tape = make_tape(program, costs, rules);
  const TapeNumbers numbers = tape_numbers(tape, program, costs, rules);
  std::vector<InstructionTrace> of_instructions;
  TimelineResult result = run_tape(tape, numbers, rules.rate, rules.cores, rules.on_channel(), most_passes,
                                   trace ? &of_instructions : nullptr);
  if (trace)
    *trace = instruction_times(tape, numbers, rules.cores, result.passes.size() == 1, of_instructions, costs);
  return result;
}

}  // namespace sdip
