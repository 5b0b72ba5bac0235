// Time of machines side by side.
//
// Worked example. One instruction, three weight tiles of 100 bytes, PSRAM 200 bytes, 4 cycles of work a tile; a
// machine of 10 bytes a cycle beside one of 50. The first is timeline.cpp's: 34 cycles. In the second tiles 0 and 1
// arrive at 2 and 4, tile 2 starts when tile 0 is freed at 6 and arrives at 8; used 2..6, 6..10, 10..14.
#include "core/cost/time/lane_timeline.h"

#include <array>
#include <utility>

#include "core/base/units.h"
#include "core/cost/time/lane_queue.h"

namespace sdip {
namespace {

/// All machines' numbers on the tape, with what each one's channel makes of its transfers.
struct LaneNumbers {
  using Column = std::vector<std::array<std::int64_t, lane_count>>;
  std::array<const TapeNumbers*, lane_count> of{};
  Column bytes, least_cycles, time, cycles, dispatch, delay, link_in, behind;
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
  fill(n.dispatch, &TapeNumbers::dispatch);
  fill(n.delay, &TapeNumbers::delay);
  fill(n.link_in, &TapeNumbers::link_in);
  fill(n.behind, &TapeNumbers::behind);
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
  n.time.resize(tape.moved.size());
  for (std::size_t t = 0; t < tape.moved.size(); ++t) {
    Lanes bytes, least, cycles;
    load(bytes, &n.bytes[t]);
    load(least, &n.least_cycles[t]);
    if (tape.moved[t].copies > 0) bytes *= tape.moved[t].copies * cores;
    if (any(bytes >= std::int64_t{1} << 30) || !divide_up(bytes * q, p, cycles)) {
      std::array<std::int64_t, lane_count> each;
      store(bytes, each.data());
      std::size_t lane = 0;
      for (std::int64_t& x : each) x = machine_of(machines, lane++).rate.time_for(Bytes(x)).value;
      load(cycles, each.data());
    }
    store(later(cycles, least), &n.time[t]);
  }
}

SDIP_EACH Lanes lanes_at(const LaneNumbers::Column& column, std::int32_t number) {
  Lanes lanes;
  load(lanes, &column[static_cast<std::size_t>(number)]);
  return lanes;
}

/// Of a pass, up to now.
struct Passed {
  Lanes cycles{}, dispatch{};
};
/// What the future depends on, relative to now.
struct Found {
  Lanes channel{}, last_duration{};
  LaneQueue::Seen weights;
};
struct Checkpoint {
  Found state;
  Passed pass;
};

class LaneTimeline {
 public:
  /// `weights` and `checkpoints` are empty ones, or used before.
  LaneTimeline(const Tape& tape, const LaneNumbers& numbers, LaneQueue& weights,
               std::vector<Checkpoint>& checkpoints)
      : tape_(tape), numbers_(numbers), weights_(weights), checkpoints_(checkpoints) {
    LaneQueue::EachBytes capacity_bytes;
    for (std::size_t lane = 0; lane < lane_count; ++lane) capacity_bytes[lane] = numbers.of[lane]->psram_bytes;
    weights_.clear(capacity_bytes);
  }

  /// Passes until each leaves the state that it found, or `most`.
  SDIP_EACH void run(std::int64_t most) {
    Found last_end;
    for (std::int64_t pass = 0; pass < most; ++pass) {
      const LaneQueue::Oldest oldest = weights_.oldest();  // that the next pass compares with what this one had
      const bool rejoined = run_pass(pass == 0);
      store(last_pass_.cycles, passes_.emplace_back().data());
      if (rejoined) return;
      const Found end = state();
      if (pass > 0 && same(end, last_end)) return;
      last_end = end;
      weights_.forget_before(oldest);
    }
  }

  const std::vector<std::array<std::int64_t, lane_count>>& passes() const { return passes_; }
  /// Cycles until instructions were dispatched in the last pass.
  SDIP_EACH void note_dispatch(std::int64_t* lanes) const { store(last_pass_.dispatch, lanes); }
  std::int64_t operations_run() const { return operations_run_; }
  std::int64_t psram_peak(std::size_t lane) const {
    return fetched_ ? tape_.pinned_bytes + weights_.peak_bytes(lane) : 0;
  }

 private:
  static constexpr std::int32_t none = Tape::none;
  enum : std::size_t { of_a, of_b, of_split, of_partial, operands };

  /// When each operand's buffers are free.
  struct Slots {
    Lanes of[operands];
  };
  /// After a repetition. Weights that its last operation waited for are there.
  struct Moment {
    Lanes now{}, channel{};
    Slots slots;
    LaneQueue::Seen weights;
  };
  struct Repeated {
    std::int64_t left{};
    bool compared{};
    Moment before;
  };

  SDIP_EACH bool same(const Found& a, const Found& b) const {
    return !any((a.channel ^ b.channel) | (a.last_duration ^ b.last_duration)) &&
           weights_.same(a.weights, b.weights);
  }

  SDIP_EACH Found state() {
    // Loads and stores have ended, and never start before now; only weights use what the channel had free.
    if (!tape_.runs_ahead) channel_ = now_;
    return {channel_ - now_, tape_.dispatch_overlaps ? last_duration_ : Lanes{}, weights_.see(now_, channel_)};
  }

  /// True when it rejoined the pass before: from there on it lasts the same.
  SDIP_EACH bool run_pass(bool cold) {
    cold_ = cold;
    pass_ = {};
    begin_ = now_;
    const bool comparable = !(cold && tape_.fetches_once);
    std::size_t number = 0;
    const Tape::Step* const steps = tape_.steps.data();
    for (std::size_t at = 0; at < tape_.steps.size(); ++at) {
      const Tape::Step& step = steps[at];
      switch (step.kind) {
        case Tape::Kind::delay:
          delay(step.what);
          break;
        case Tape::Kind::begin:
          begin(step.what);
          break;
        case Tape::Kind::operate:
          operate(tape_.operations[static_cast<std::size_t>(step.what)]);
          break;
        case Tape::Kind::loop:
          loops_[depth_].left = step.count;
          loops_[depth_++].compared = false;
          break;
        case Tape::Kind::next:
          if (again(steps[step.what])) at = static_cast<std::size_t>(step.what);
          break;
        case Tape::Kind::end:
          end(step.what);
          break;
        case Tape::Kind::checkpoint:
          if (comparable && rejoins(number++)) return true;
          break;
      }
    }
    pass_.cycles = now_ - begin_;
    comparable_ = comparable;
    last_pass_ = pass_;
    return false;
  }

  SDIP_EACH bool rejoins(std::size_t number) {
    pass_.cycles = now_ - begin_;
    if (number == checkpoints_.size()) checkpoints_.emplace_back();
    Checkpoint& before = checkpoints_[number];
    const Found found = state();
    if (comparable_ && same(found, before.state)) {
      last_pass_.cycles += pass_.cycles - before.pass.cycles;
      last_pass_.dispatch += pass_.dispatch - before.pass.dispatch;
      return true;
    }
    before.state = found;
    before.pass = pass_;
    return false;
  }

  SDIP_EACH void dispatch(std::int32_t number) {
    Lanes cycles = lanes_at(numbers_.dispatch, number);
    if (tape_.dispatch_overlaps) {
      cycles = later(cycles - last_duration_, Lanes{});
      pass_.dispatch += cycles;
    }
    now_ += cycles;
  }

  SDIP_EACH void delay(std::int32_t number) {
    const Lanes before = now_;
    dispatch(number);
    now_ += lanes_at(numbers_.delay, number);
    last_duration_ = now_ - before;
  }

  SDIP_EACH void begin(std::int32_t number) {
    const Tape::Class& c = tape_.classes[static_cast<std::size_t>(number)];
    instruction_begin_ = tile_before_ = now_;
    dispatch(number);
    now_ += lanes_at(numbers_.link_in, number);
    for (Lanes& slot : slots_.of) slot = instruction_begin_;
    for (bool& empty : empty_) empty = true;
    leaving_ = none;
    pinned_ = c.pinned;
    weights_.begin_instruction();
    if (c.held == none || (pinned_ && !cold_)) return;
    fetch(c.held, c.held_tile_bytes);
    weights_.hold_current();
  }

  SDIP_EACH void end(std::int32_t number) {
    if (leaving_ != none) store_results();
    weights_.release_held(now_);
    now_ = later(now_, store_last_) + lanes_at(numbers_.behind, number);  // it retires when all is done
    last_duration_ = now_ - instruction_begin_;
  }

  SDIP_EACH void operate(const Tape::Operation& o) {
    ++operations_run_;
    if (o.weights != none && (cold_ || !pinned_)) fetch(o.weights, o.tile_bytes);
    if (o.leaves_tile) weights_.leave_current();
    Lanes ready = weights_ready_;
    if (o.a != none) bring(o.a, of_a, ready);
    if (o.b != none) bring(o.b, of_b, ready);
    if (o.split != none) bring(o.split, of_split, ready);
    if (o.partial != none && tape_.tiles_double_buffered) bring(o.partial, of_partial, ready);
    if (leaving_ != none) store_results();
    if (o.partial != none && !tape_.tiles_double_buffered) bring(o.partial, of_partial, ready);
    if (o.out != none) ready = later(ready, tape_.tiles_double_buffered ? store_before_ : store_last_);
    now_ = later(now_, ready) + lanes_at(numbers_.cycles, o.shape);
    use_current();
    leaving_ = o.out;
  }

  SDIP_EACH void use_current() {
    weights_.use_current(now_);
    if (weights_.has_current()) tile_before_ = now_;
  }

  SDIP_EACH void fetch(std::int32_t transfer, std::int64_t tile_bytes) {
    fetched_ = true;
    Lanes start = channel_;
    if (!pinned_) {
      weights_.make_room(tile_bytes, start);
      if (!tape_.weights_double_buffered) start = later(start, tile_before_);
      weights_.add(tile_bytes, start);
    }
    channel_ = weights_ready_ = start + lanes_at(numbers_.time, transfer);
  }

  /// A tile of an operand, once its buffer is free.
  SDIP_EACH void bring(std::int32_t transfer, std::size_t operand, Lanes& ready) {
    const Lanes freed = empty_[operand] ? instruction_begin_ : now_;
    const Lanes free_at = tape_.tiles_double_buffered ? slots_.of[operand] : freed;
    slots_.of[operand] = freed;
    empty_[operand] = false;
    channel_ = later(channel_, free_at) + lanes_at(numbers_.time, transfer);
    ready = later(ready, channel_);
  }

  SDIP_EACH void store_results() {
    channel_ = later(channel_, now_) + lanes_at(numbers_.time, leaving_);
    store_before_ = store_last_;
    store_last_ = channel_;
  }

  /// At the end of a repetition: whether the loop's body is to be run again.
  SDIP_EACH bool again(const Tape::Step& loop) {
    Repeated& repeated = loops_[depth_ - 1];
    if (--repeated.left == 0) {
      --depth_;
      return false;
    }
    settle();
    if (repeated.compared && moved_alike(repeated.before, loop)) {
      skip(repeated.left, repeated.before, loop);
      --depth_;
      return false;
    }
    note_moment(repeated.before, loop);
    repeated.compared = true;
    return true;
  }

  /// What is past for all that waits for it is as good as the time from which that waits: nothing is changed, but
  /// what is not used in a loop moves on with it.
  SDIP_EACH void settle() {
    for (Lanes& slot : slots_.of) slot = later(slot, channel_);
  }

  SDIP_EACH bool fetches(const Tape::Step& loop) const { return loop.fetches && (cold_ || !pinned_); }
  SDIP_EACH bool transfers(const Tape::Step& loop) const { return loop.loads || fetches(loop); }

  SDIP_EACH void note_moment(Moment& m, const Tape::Step& loop) {
    m.now = now_;
    if (!transfers(loop)) return;
    m.channel = channel_;
    m.slots = slots_;
    if (fetches(loop)) m.weights = weights_.see(now_, channel_);
  }

  /// Whether all that later repetitions depend on has moved by what the last one lasted: in one that transfers
  /// nothing the channel and what waits for it stand still, and matter to nothing. What is fetched and loaded is
  /// waited for by its operation, so that the channel is ahead of now by stores alone: with that the last one's end
  /// has moved, and the end of that before it, one transfer earlier. A streamed tile is in use until now.
  SDIP_EACH bool moved_alike(const Moment& m, const Tape::Step& loop) {
    if (!transfers(loop)) return true;
    const Lanes lasted = now_ - m.now;
    Lanes unlike = (channel_ - m.channel) ^ lasted;
    for (std::size_t i = 0; i < operands; ++i) unlike |= (slots_.of[i] - m.slots.of[i]) ^ lasted;
    if (any(unlike)) return false;
    if (!fetches(loop)) return true;
    return weights_.same(weights_.see(now_, channel_), m.weights);
  }

  /// `times` more repetitions of what happened since `m`.
  SDIP_EACH void skip(std::int64_t times, const Moment& m, const Tape::Step& loop) {
    const Lanes by = (now_ - m.now) * times;
    now_ += by;
    if (transfers(loop)) {
      for (Lanes* time : {&channel_, &store_before_, &store_last_, &tile_before_}) *time += by;
      for (Lanes& slot : slots_.of) slot += by;
    }
    if (fetches(loop)) weights_.shift(by);
    use_current();
  }

  const Tape& tape_;
  const LaneNumbers& numbers_;
  LaneQueue& weights_;
  Lanes now_{}, channel_{}, last_duration_{}, begin_{};
  Passed pass_, last_pass_;
  std::vector<Checkpoint>& checkpoints_;  // of the pass before
  std::int64_t operations_run_ = 0;
  bool comparable_ = false;  // they are there, and that pass went on as this one will
  std::vector<std::array<std::int64_t, lane_count>> passes_;
  bool cold_{}, fetched_ = false;

  // Of the instruction.
  Lanes instruction_begin_{}, weights_ready_{}, store_before_{}, store_last_{}, tile_before_{};
  Slots slots_{};
  std::array<bool, operands> empty_{};
  std::int32_t leaving_{};  // results of the operation before
  bool pinned_{};
  std::array<Repeated, most_tile_loops> loops_;
  std::size_t depth_{};
};

}  // namespace

std::int64_t LaneTimes::total(std::int64_t count) const {
  return cycles_of_passes(pass_cycles, count, [](std::int64_t cycles) { return cycles; });
}

struct LaneRunner::Memory {
  Vectors vectors;
  LaneNumbers numbers;
  LaneQueue weights;
  std::vector<Checkpoint> checkpoints;
  std::int64_t operations_run{};
};

LaneRunner::LaneRunner(Vectors vectors) : memory_(std::make_unique<Memory>()) { memory_->vectors = vectors; }
LaneRunner::~LaneRunner() = default;

std::int64_t LaneRunner::operations_run() const { return memory_->operations_run; }

void LaneRunner::run(const Tape& tape, std::span<const LaneMachine> machines, std::int64_t most_passes,
                     std::span<LaneTimes> times) {
  check(times.size() >= machines.size(), "times of each machine");
  memory_->numbers.of = {};  // others may stand where those of the last run were
  memory_->operations_run = 0;
  for (std::size_t first = 0; first < machines.size(); first += lane_count) {
    const std::size_t count = std::min(lane_count, machines.size() - first);
    run_lanes(tape, machines.subspan(first, count), most_passes, times.subspan(first, count));
  }
}

void LaneRunner::run_lanes(const Tape& tape, std::span<const LaneMachine> machines, std::int64_t most_passes,
                           std::span<LaneTimes> times) {
  check(machines.size() <= lane_count, "as many machines as lanes, or fewer");
  LaneNumbers& numbers = memory_->numbers;
  find_numbers(machines, numbers);
  LaneTimeline timeline(tape, numbers, memory_->weights, memory_->checkpoints);
  std::array<std::int64_t, lane_count> dispatch{};
  in_vectors(memory_->vectors, [&](auto) SDIP_LOOP {
    find_times(tape, machines, numbers);
    timeline.run(most_passes);
    timeline.note_dispatch(dispatch.data());
  });
  memory_->operations_run += timeline.operations_run();
  for (std::size_t lane = 0; lane < machines.size(); ++lane) {
    LaneTimes& t = times[lane];
    t.pass_cycles.clear();
    for (const auto& pass : timeline.passes()) t.pass_cycles.push_back(pass[lane]);
    const TapeNumbers& own = *machines[lane].numbers;
    t.stall_cycles =
        t.pass_cycles.back() - own.fixed_cycles - (tape.dispatch_overlaps ? dispatch[lane] : own.dispatch_cycles);
    t.psram_peak_bytes = timeline.psram_peak(lane);
  }
}

}  // namespace sdip
