// Time of machines side by side.
//
// Worked example. It is that of the recurrence, with a machine of 50 bytes a cycle beside it: tiles 0 and 1 arrive
// at 2 and 4, tile 2 starts when tile 0 is freed at 6 and arrives at 8; used 2..6, 6..10, 10..14.
#include "core/cost/time/lane_timeline.h"

#include <array>
#include <memory>
#include <utility>

#include "core/base/units.h"
#include "core/cost/time/recurrence.h"

namespace sdip {
namespace {

/// All machines' numbers on the tape, with what each one's channel makes of its transfers.
struct LaneNumbers {
  using Column = std::vector<std::array<std::int64_t, lane_count>>;
  std::array<const TapeNumbers*, lane_count> of{};
  Column bytes, least_cycles, transfer_cycles, cycles;
  Column class_dispatch_cycles, delay_cycles, link_in_cycles, behind_cycles;
};

/// Lanes beyond the last machine are that one again.
const LaneMachine& machine_of(std::span<const LaneMachine> machines, std::size_t lane) {
  return machines[std::min(lane, machines.size() - 1)];
}

void find_numbers(std::span<const LaneMachine> machines, LaneNumbers& n) {
  std::array<const TapeNumbers*, lane_count> of;
  std::size_t lane_of = 0;
  for (const TapeNumbers*& numbers : of) numbers = machine_of(machines, lane_of++).numbers;
  if (of == n.of) return;
  n.of = of;
  const auto fill = [&](LaneNumbers::Column& column, const std::vector<std::int64_t> TapeNumbers::*from) {
    column.resize((of[0]->*from).size());
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      const std::vector<std::int64_t>& values = of[lane]->*from;
      for (std::size_t i = 0; i < values.size(); ++i) column[i][lane] = values[i];
    }
  };
  fill(n.bytes, &TapeNumbers::bytes);
  fill(n.least_cycles, &TapeNumbers::least_cycles);
  fill(n.cycles, &TapeNumbers::cycles);
  fill(n.class_dispatch_cycles, &TapeNumbers::class_dispatch_cycles);
  fill(n.delay_cycles, &TapeNumbers::delay_cycles);
  fill(n.link_in_cycles, &TapeNumbers::link_in_cycles);
  fill(n.behind_cycles, &TapeNumbers::behind_cycles);
}

/// One number of each lane's machine.
template <class Number>
SDIP_EACH Lanes of_machines(std::span<const LaneMachine> machines, const Number& number) {
  std::array<std::int64_t, lane_count> each;
  std::size_t lane = 0;
  for (std::int64_t& x : each) x = number(machine_of(machines, lane++));
  Lanes lanes;
  load(lanes, each.data());
  return lanes;
}

SDIP_EACH void find_times(const Tape& tape, std::span<const LaneMachine> machines, LaneNumbers& n) {
  const Lanes p = of_machines(machines, [](const LaneMachine& machine) { return machine.rate.p; });
  const Lanes q = of_machines(machines, [](const LaneMachine& machine) { return machine.rate.q; });
  const Lanes cores = of_machines(machines, [](const LaneMachine& machine) { return machine.cores; });
  for (std::size_t t = 0; t < tape.moved.size(); ++t) {
    Lanes bytes, least, cycles;
    load(bytes, &n.bytes[t]);
    load(least, &n.least_cycles[t]);
    if (tape.moved[t].by_cores()) bytes *= tape.moved[t].copies * cores;
    if (any(bytes >= std::int64_t{1} << 30) || !divide_up(bytes * q, p, cycles)) {
      std::array<std::int64_t, lane_count> each;
      store(bytes, each.data());
      std::size_t lane = 0;
      for (std::int64_t& x : each) x = machine_of(machines, lane++).rate.time_for(Bytes(x)).value;
      load(cycles, each.data());
    }
    store(later(cycles, least), &n.transfer_cycles[t]);
  }
}

}  // namespace

std::int64_t LaneTimes::total(std::int64_t count) const {
  return cycles_of_passes(pass_cycles, count, [](std::int64_t cycles) { return cycles; });
}

struct LaneRunner::Memory {
  Vectors vectors;
  LaneNumbers numbers;
  RecurrenceMemory<lane_count> recurrence;
  std::int64_t operations_run{};
};

namespace {

/// The memory of a runner that is gone, kept for the thread's next one: else whoever evaluates one machine at a
/// time would allocate all of it each time.
template <class Memory>
std::unique_ptr<Memory>& spare_memory() {
  static thread_local std::unique_ptr<Memory> spare;
  return spare;
}

}  // namespace

LaneRunner::LaneRunner(Vectors vectors) : memory_(std::move(spare_memory<Memory>())) {
  if (!memory_) memory_ = std::make_unique<Memory>();
  memory_->vectors = vectors;
  memory_->operations_run = 0;
}
LaneRunner::~LaneRunner() { spare_memory<Memory>() = std::move(memory_); }

std::int64_t LaneRunner::operations_run() const { return memory_->operations_run; }

void LaneRunner::run(const Tape& tape, std::span<const LaneMachine> machines, std::int64_t most_passes,
                     std::span<LaneTimes> times) {
  check(times.size() >= machines.size(), "times of each machine");
  memory_->numbers.of = {};  // others may stand where those of the last run were
  memory_->operations_run = 0;
  if (tape.is_plain())
    for (std::size_t first = 0; first < machines.size(); first += lane_count) {
      const std::size_t count = std::min(lane_count, machines.size() - first);
      run_lanes(tape, machines.subspan(first, count), most_passes, times.subspan(first, count));
    }
  else
    for (std::size_t i = 0; i < machines.size(); ++i) run_alone(tape, machines[i], most_passes, times[i]);
}

void LaneRunner::run_alone(const Tape& tape, const LaneMachine& machine, std::int64_t most_passes,
                           LaneTimes& times) {
  const TimelineResult result =
      run_tape(tape, *machine.numbers, machine.rate, machine.cores, machine.cores, most_passes);
  times.pass_cycles.clear();
  for (const PassCost& pass : result.passes) times.pass_cycles.push_back(pass.cycles);
  const PassCost& last = result.passes.back();
  times.stall_cycles = last.stall_weights + last.stall_activations + last.stall_program;
  times.running_cycles = result.running_cycles;
  times.psram_peak_bytes = result.psram_peak_bytes;
  times.turns = last.turns;
  memory_->operations_run += result.operations_run;
}

void LaneRunner::run_lanes(const Tape& tape, std::span<const LaneMachine> machines, std::int64_t most_passes,
                           std::span<LaneTimes> times) {
  check(machines.size() <= lane_count, "as many machines as lanes, or fewer");
  LaneNumbers& numbers = memory_->numbers;
  find_numbers(machines, numbers);
  numbers.transfer_cycles.resize(tape.moved.size());
  const auto column = [](const LaneNumbers::Column& numbers_of) {
    return numbers_of.empty() ? nullptr : numbers_of.front().data();
  };
  std::array<std::int64_t, lane_count> latency, turn;
  for (std::size_t lane = 0; lane < lane_count; ++lane) {
    const DramRate& rate = machine_of(machines, lane).rate;
    latency[lane] = rate.latency_cycles;
    turn[lane] = rate.turn_cycles;
  }
  const Columns<lane_count> columns{numbers.of,
                                    column(numbers.transfer_cycles),
                                    column(numbers.cycles),
                                    column(numbers.class_dispatch_cycles),
                                    column(numbers.delay_cycles),
                                    column(numbers.link_in_cycles),
                                    column(numbers.behind_cycles),
                                    latency.data(),
                                    turn.data()};
  Recurrence<lane_count> recurrence(tape, columns, memory_->recurrence);
  std::array<std::int64_t, lane_count> dispatch{};
  in_vectors(memory_->vectors, [&](auto) SDIP_LOOP {
    find_times(tape, machines, numbers);
    recurrence.run(most_passes);
    recurrence.note_dispatch(dispatch.data());
  });
  memory_->operations_run += recurrence.operations_run();
  for (std::size_t lane = 0; lane < machines.size(); ++lane) {
    LaneTimes& t = times[lane];
    t.pass_cycles.clear();
    for (const auto& pass : recurrence.pass_cycles()) t.pass_cycles.push_back(pass[lane]);
    t.running_cycles = t.pass_cycles.back();
    const TapeNumbers& own = *machines[lane].numbers;
    t.stall_cycles =
        t.running_cycles - own.fixed_cycles - (tape.dispatch_overlaps ? dispatch[lane] : own.dispatch_cycles);
    t.psram_peak_bytes = recurrence.psram_peak(lane);
    t.turns = recurrence.turns();
  }
}

}  // namespace sdip
