// The rule of time: when each tile operation of a tape starts, for one machine or for several side by side.
// Internal to its room.
//
// Operations wait for what they multiply and for room for what they make; the channel moves one thing at a time, in
// the order of the tape; PSRAM is a queue. Several machines together have a plain tape (Tape::is_plain). Transfers
// are ordered as in docs/model/time.md: weights, A, B, other operands, partial sums, results of the operation
// before; on single buffers partial sums come after those results, since they need their room.
//
// Worked example. One instruction, three weight tiles of 100 bytes, DRAM 10 bytes a cycle, PSRAM 200 bytes, 4
// cycles of work a tile. Tile 0 arrives at 10 and is used 10..14; tile 1 arrives at 20 (space was there),
// used 20..24; tile 2 may start when tile 0 is freed at 14 and the channel is free at 20: arrives at 30,
// used 30..34. Stalls: 10 + 6 + 6. With a latency of 3 each is there 3 later, the channel free as before:
// used 13..17, 23..27, 33..37 (tile 2's transfer may start at 17). Beside it, a machine of 50 bytes a cycle: tiles
// 0 and 1 arrive at 2 and 4, tile 2 starts when tile 0 is freed at 6 and arrives at 8; used 2..6, 6..10, 10..14.
//
// Sources alone include this: see core/base/in_vectors.h.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cost/time/recurrence_state.h"

namespace sdip {

template <std::size_t machines>
class Recurrence {
 public:
  using Count = CountOf<machines>;

  /// The `trace`, where there is one, is of the pass run last.
  Recurrence(const Tape& tape, const Columns<machines>& numbers, RecurrenceMemory<machines>& memory,
             std::vector<InstructionTrace>* trace = nullptr)
      : tape_(tape),
        numbers_(numbers),
        weights_(memory.weights),
        words_(memory.words),
        board_(memory.board),
        checkpoints_(memory.checkpoints),
        trace_(trace) {
    if constexpr (alone) {
      weights_.clear(own().psram_bytes);
      words_.clear(own().imem_bytes);
    } else {
      LaneQueue::EachBytes capacity_bytes;
      for (std::size_t lane = 0; lane < lane_count; ++lane) capacity_bytes[lane] = numbers.of[lane]->psram_bytes;
      weights_.clear(capacity_bytes);
    }
  }

  /// Passes until one leaves the state that it found, or `most`; behind these each lasts as long as the last.
  SDIP_EACH void run(std::int64_t most) {
    latency_ = at(numbers_.latency_cycles, 0);
    turn_ = at(numbers_.turn_cycles, 0);
    Found last_end{};
    for (std::int64_t pass = 0; pass < most; ++pass) {
      const auto oldest = weights_.oldest();  // that the next pass compares with what this one had
      const std::size_t oldest_words = words_.oldest();
      repeats_ = run_pass(pass == 0);
      store(last_pass_.cycles, pass_cycles_.emplace_back().data());
      if constexpr (alone) passes_.push_back(last_pass_);
      if (repeats_) return;
      const Found end = state();
      repeats_ = pass > 0 && same(end, last_end);
      if (repeats_) return;
      last_end = end;
      weights_.forget_before(oldest);
      words_.forget_before(oldest_words);
    }
  }

  /// Cycles of each pass, machine by machine; and what the last one came to.
  const std::vector<std::array<std::int64_t, machines>>& pass_cycles() const { return pass_cycles_; }
  const std::vector<Passed<1>>& passes() const { return passes_; }  // of one machine alone
  SDIP_EACH void note_dispatch(std::int64_t* lanes) const { store(last_pass_.dispatch_cycles, lanes); }
  std::int64_t turns() const { return last_pass_.turns; }
  /// Whether a state came again.
  bool repeats() const { return repeats_; }
  std::int64_t operations_run() const { return operations_run_; }
  std::int64_t psram_peak(std::size_t lane) const {
    return fetched_ ? tape_.pinned_bytes + weights_.peak_bytes(lane) : 0;
  }

 private:
  using Found = FoundState<machines>;
  static constexpr bool alone = machines == 1;
  static constexpr std::int32_t none = Tape::none;
  static constexpr std::size_t checkpoint_distance = 64;
  static constexpr std::int64_t none_compared = 0;
  enum : std::size_t { of_a, of_b, of_split, of_partial, operands };

  /// When each operand's buffers are free.
  struct Slots {
    Count of[operands];
  };
  /// After a repetition. Weights that its last operation waited for are there.
  struct Moment {
    Count now{}, channel{};
    Way way{};
    Slots slots;
    typename WeightMemory<machines>::Seen weights;
    std::int64_t operation_begin{}, store_before{}, store_last{}, tile_before{};  // of one machine alone
    Passed<machines> pass;
  };
  /// The state of a loop: the repetitions that are left, those since the moment that they are compared with, and
  /// after how many that is noted anew; none_compared when it is not noted again.
  struct Repeated {
    std::int64_t left{}, since{}, distance{};
    Moment before;
  };

  SDIP_EACH Count at(const std::int64_t* column, std::int32_t number) const {
    return loaded<machines>(column + as_size(number) * machines);
  }
  const TapeNumbers& own() const { return *numbers_.of[0]; }

  SDIP_EACH bool same(const Found& a, const Found& b) const {
    if (a.way != b.way || any((a.channel_cycles ^ b.channel_cycles) | (a.last_cycles ^ b.last_cycles)))
      return false;
    if (alone && !words_.same(a.words, b.words)) return false;
    return weights_.same(a.weights, b.weights);
  }

  SDIP_EACH Found state() {
    // Loads and stores have ended, and never start before now; only weights and words use what was free before.
    if (!tape_.runs_ahead) channel_ = now_;
    Found found;
    found.channel_cycles = channel_ - now_;
    found.way = way_;
    found.last_cycles = tape_.dispatch_overlaps ? last_duration_ : Count{};
    weights_.see(now_, channel_, found.weights);
    if constexpr (alone) words_.see(now_, channel_, found.words);
    return found;
  }

  /// True when it rejoined the pass before: the same instruction found in the same state lasts the same from there
  /// on. What it leaves is then what that pass left.
  SDIP_EACH bool run_pass(bool cold) {
    cold_ = cold;
    pass_ = {};
    begin_ = now_;
    // A cold pass goes on otherwise than the next one does from the same state.
    const bool comparable = !trace_ && !tape_.overlaps && !(cold && tape_.fetches_once);
    if constexpr (alone) {
      if (tape_.overlaps) board_.begin_pass(now_, tape_.dispatch_overlaps);
      if (trace_) trace_->clear();
    }
    const std::size_t count = tape_.instructions.size();
    for (std::size_t i = 0; i < count; ++i) {
      if ((i + 1) % checkpoint_distance == 0 && comparable && rejoins(i / checkpoint_distance)) return true;
      instruction(i);
    }
    if constexpr (alone)
      if (tape_.overlaps) now_ = board_.latest_end();
    pass_.cycles = now_ - begin_;
    comparable_ = comparable;
    last_pass_ = pass_;
    return false;
  }

  SDIP_EACH bool rejoins(std::size_t number) {
    pass_.cycles = now_ - begin_;
    if (number == checkpoints_.size()) checkpoints_.emplace_back();
    auto& before = checkpoints_[number];
    const Found found = state();
    if (comparable_ && same(found, before.state)) {
      last_pass_.cycles += pass_.cycles - before.pass.cycles;
      last_pass_.dispatch_cycles += pass_.dispatch_cycles - before.pass.dispatch_cycles;
      last_pass_.turns += pass_.turns - before.pass.turns;
      add_stalls(last_pass_, before.pass, 1);
      return true;
    }
    before.state = found;
    before.pass = pass_;
    return false;
  }

  /// Those of the pass since `before`, `times` over, to a sum.
  SDIP_EACH void add_stalls(Passed<machines>& sum, const Passed<machines>& before, std::int64_t times) const {
    if constexpr (alone) {
      const Passed<machines> now = pass_;
      sum.stall_weights += (now.stall_weights - before.stall_weights) * times;
      sum.stall_activations += (now.stall_activations - before.stall_activations) * times;
      sum.stall_program += (now.stall_program - before.stall_program) * times;
    }
  }

  SDIP_EACH void instruction(std::size_t place) {
    const std::int32_t number = tape_.instructions[place];
    const Tape::Class& c = tape_.classes[number];
    Passed<machines> before;
    if constexpr (alone) before = pass_;
    const Count issued = issue(place, number);
    if constexpr (alone) operation_begin_ = instruction_begin_;
    if (c.first_step == c.end_step)
      now_ += at(numbers_.delay_cycles, number);
    else
      run_operations(c, number);
    last_duration_ = now_ - (alone ? operation_begin_ : instruction_begin_);
    if constexpr (alone) retire(number, issued, before);
  }

  /// It is dispatched now. Returns when it was issued.
  SDIP_EACH Count issue(std::size_t place, std::int32_t number) {
    if constexpr (alone)
      if (tape_.overlaps) return issue_beside(place, number);
    instruction_begin_ = now_;
    const Count dispatch = at(numbers_.dispatch_cycles, number);
    now_ += dispatch_after(last_duration_, dispatch);
    if (tape_.dispatch_overlaps) pass_.dispatch_cycles += now_ - instruction_begin_;
    if constexpr (alone) {
      if (tape_.words != none) {
        const std::int64_t usual = now_;
        now_ = later(now_, fetch_words(place) + dispatch);
        pass_.stall_program += now_ - usual;
      }
    }
    return instruction_begin_;
  }
  /// Begins as soon as what it owns is free.
  std::int64_t issue_beside(std::size_t place, std::int32_t number) {
    const auto c = as_size(number);
    const std::int64_t dispatch = at(numbers_.dispatch_cycles, number), turn = board_.turn(own().circuits[c]);
    const std::int64_t issued = tape_.words == none ? turn : later(turn, fetch_words(place));
    pass_.stall_program += issued - turn;
    board_.issue(own().circuits[c], issued, dispatch);
    instruction_begin_ = board_.begin(own().owned[c], tape_.after[place]);
    now_ = later(instruction_begin_, issued + dispatch);
    return issued;
  }

  /// Cycles until the next instruction may start, after one that took `duration`.
  SDIP_EACH Count dispatch_after(const Count& duration, const Count& dispatch) const {
    return tape_.dispatch_overlaps ? later(dispatch - duration, Count{}) : dispatch;
  }

  /// When an instruction's words are in IMEM, which those of older ones leave when these have retired.
  std::int64_t fetch_words(std::size_t place) {
    const std::int64_t bytes = own().words_bytes[place];
    channel_ = words_.make_room(bytes, channel_);
    words_.add(bytes, channel_);
    move(tape_.words + static_cast<std::int32_t>(place), channel_, Way::in);
    return channel_ + latency_;
  }

  void retire(std::int32_t number, std::int64_t issued, const Passed<machines>& before) {
    words_.use_current(now_);
    if (tape_.overlaps) board_.retire(own().owned[number], instruction_begin_, now_);
    if (!trace_) return;
    trace_->push_back(
        {issued - begin_, instruction_begin_ - begin_, now_ - begin_, pass_.stall_weights - before.stall_weights,
         pass_.stall_activations - before.stall_activations, pass_.stall_program - before.stall_program,
         fetched_ ? tape_.pinned_bytes + weights_.held_bytes() : 0, pass_.turns - before.turns});
  }

  SDIP_EACH void run_operations(const Tape::Class& c, std::int32_t number) {
    now_ += at(numbers_.link_in_cycles, number);
    tile_before_ = instruction_begin_;
    if constexpr (alone)  // of the instruction before; where these overlap that may be later than what this one has
      weights_ready_ = store_before_ = store_last_ = instruction_begin_;
    for (Count& slot : slots_.of) slot = instruction_begin_;
    for (bool& empty : empty_) empty = true;
    leaving_ = none;
    pinned_ = c.pinned;
    first_operation_ = true;
    weights_.begin_instruction();
    if (c.held != none && (cold_ || !pinned_)) {
      fetch(c.held, c.held_tile_bytes);
      weights_.hold_current();
    }
    const Tape::Step* const steps = tape_.steps.data();
    for (std::size_t at = c.first_step; at < c.end_step; ++at) {
      const Tape::Step& step = steps[at];
      if (step.kind == Tape::Kind::operate) {
        operate(tape_.operations[step.what]);
      } else if (step.kind == Tape::Kind::loop) {
        loops_[depth_].left = step.count;
        loops_[depth_].since = 0;
        loops_[depth_++].distance = 1;
      } else if (again(steps[step.what])) {
        at = as_size(step.what);
      }
    }
    if (leaving_ != none) store_results();
    weights_.release_held(now_);
    const Count worked = now_;
    now_ = later(now_, store_last_);  // it retires when all is done
    if constexpr (alone) pass_.stall_activations += now_ - worked;
    now_ += at(numbers_.behind_cycles, number);
  }

  SDIP_EACH void operate(const Tape::Operation& o) {
    ++operations_run_;
    if (o.weights != none && (cold_ || !pinned_)) fetch(o.weights, o.tile_bytes);
    if (o.leaves_tile) weights_.leave_current();
    Count ready =
        alone ? instruction_begin_ : weights_ready_;  // of one alone it is told what an operation waits for
    if (o.a != none) ready = load_tile(o.a, of_a, ready);
    if (o.b != none) ready = load_tile(o.b, of_b, ready);
    if (o.split != none) ready = load_tile(o.split, of_split, ready);
    if (o.partial != none && tape_.tiles_double_buffered) ready = load_tile(o.partial, of_partial, ready);
    if (leaving_ != none) store_results();
    if (o.partial != none && !tape_.tiles_double_buffered) ready = load_tile(o.partial, of_partial, ready);
    if (o.out != none) ready = later(ready, tape_.tiles_double_buffered ? store_before_ : store_last_);
    if constexpr (alone) dispatch_tile(o.shape);
    Count start = later(now_, ready);
    if constexpr (alone) {
      start = later(start, weights_ready_);
      (weights_ready_ >= ready ? pass_.stall_weights : pass_.stall_activations) += start - now_;
    }
    now_ = start + at(numbers_.cycles, o.shape);
    use_current();
    leaving_ = o.out;
  }

  /// One that is an instruction of its own begins when the one before has retired.
  void dispatch_tile(std::int32_t shape) {
    if (!tape_.dispatches_tiles || std::exchange(first_operation_, false)) return;
    now_ += own().pipeline_stages;
    const std::int64_t duration = now_ - std::exchange(operation_begin_, now_);
    now_ += dispatch_after(duration, own().tile_dispatch_cycles[as_size(shape)]);
  }

  SDIP_EACH void use_current() {
    weights_.use_current(now_);
    if (weights_.has_current()) tile_before_ = now_;
  }

  /// The channel moves it from `start` on, and turns first if that before it went the other way.
  SDIP_EACH void move(std::int32_t transfer, const Count& start, Way way) {
    channel_ = start + at(numbers_.transfer_cycles, transfer);
    if (way_ != way && way_ != Way::untold) {
      channel_ += turn_;
      ++pass_.turns;
    }
    way_ = way;
  }

  SDIP_EACH void fetch(std::int32_t transfer, std::int64_t tile_bytes) {
    fetched_ = true;
    Count start = channel_;
    if (!pinned_) {
      start = weights_.make_room(tile_bytes, start);
      if (!tape_.weights_double_buffered) start = later(start, tile_before_);
      weights_.add(tile_bytes, start);
    }
    move(transfer, start, Way::in);
    weights_ready_ = channel_ + latency_;
  }

  /// A tile of an operand, once its buffer is free. Returns when it is there, or `ready` if that is later.
  SDIP_EACH Count load_tile(std::int32_t transfer, std::size_t operand, const Count& ready) {
    const Count freed = empty_[operand] ? instruction_begin_ : now_;
    const Count free_at = tape_.tiles_double_buffered ? slots_.of[operand] : freed;
    slots_.of[operand] = freed;
    empty_[operand] = false;
    move(transfer, later(channel_, free_at), Way::in);
    return later(ready, channel_ + latency_);
  }

  SDIP_EACH void store_results() {
    move(leaving_, later(channel_, now_), Way::out);
    store_before_ = store_last_;
    store_last_ = channel_;
  }

  /// At the end of a repetition: whether the loop's body is to be run again. What several repetitions move alike
  /// moves so in the next as many: where tiles are awaited longer than they are worked on, two buffers make two
  /// kinds of repetitions, which take turns. A moment is noted at distances that double, so that any period is
  /// found.
  SDIP_EACH bool again(const Tape::Step& loop) {
    Repeated& repeated = loops_[depth_ - 1];
    if (--repeated.left == 0) {
      --depth_;
      return false;
    }
    if (repeated.distance == none_compared) return true;
    settle();
    if (repeated.since > 0 && moved_alike(repeated.before, loop)) {
      skip(repeated.left / repeated.since, repeated.before, loop);
      repeated.left %= repeated.since;
      repeated.distance = none_compared;
      if (repeated.left > 0) return true;
      --depth_;
      return false;
    }
    if (repeated.since == 0 || repeated.since == repeated.distance) {
      if (repeated.since > 0) repeated.distance *= 2;
      repeated.since = 0;
      note_moment(repeated.before, loop);
    }
    ++repeated.since;
    return true;
  }

  /// Moves times up to now that no longer matter: a time that is past for all that waits for it is as good as the
  /// one from which that waits. Nothing else is changed, but what is not used in a loop moves on with it.
  SDIP_EACH void settle() {
    for (Count& slot : slots_.of) slot = later(slot, channel_);
    if constexpr (alone) {
      if (!tape_.overlaps) return;
      for (std::int64_t* stored : {&store_before_, &store_last_}) *stored = later(*stored, now_);
      tile_before_ = later(tile_before_, channel_);
    }
  }

  SDIP_EACH bool fetches(const Tape::Step& loop) const { return loop.fetches && (cold_ || !pinned_); }
  SDIP_EACH bool transfers(const Tape::Step& loop) const { return loop.loads || fetches(loop); }

  SDIP_EACH void note_moment(Moment& m, const Tape::Step& loop) {
    m.now = now_;
    if constexpr (alone) {
      m.operation_begin = operation_begin_;
      m.store_before = store_before_;
      m.store_last = store_last_;
      m.tile_before = tile_before_;
      m.pass = pass_;
    }
    m.pass.turns = pass_.turns;
    if (!transfers(loop)) return;
    m.channel = channel_;
    m.way = way_;
    m.slots = slots_;
    if (fetches(loop)) weights_.see(now_, channel_, m.weights);
  }

  /// Whether all that later repetitions depend on has moved by what the last one lasted: in one that transfers
  /// nothing the channel and what waits for it stand still, and matter to nothing. What is fetched and loaded is
  /// waited for by its operation, so that the channel is ahead of now by stores alone: with that the last one's end
  /// has moved, and the end of that before it, one transfer earlier. A streamed tile is in use until now. Where
  /// instructions overlap the channel may be ahead by what another one moves.
  SDIP_EACH bool moved_alike(const Moment& m, const Tape::Step& loop) {
    const Count lasted = now_ - m.now;
    if constexpr (alone)
      if (tape_.dispatches_tiles && operation_begin_ - m.operation_begin != lasted) return false;
    if (!transfers(loop)) return true;
    if (way_ != m.way) return false;
    Count unlike = (channel_ - m.channel) ^ lasted;
    for (std::size_t i = 0; i < operands; ++i) unlike |= (slots_.of[i] - m.slots.of[i]) ^ lasted;
    if constexpr (alone)
      if (tape_.overlaps)
        unlike |= ((store_before_ - m.store_before) ^ lasted) | ((store_last_ - m.store_last) ^ lasted) |
                  ((tile_before_ - m.tile_before) ^ lasted);
    if (any(unlike)) return false;
    if (!fetches(loop)) return true;
    typename WeightMemory<machines>::Seen seen;
    weights_.see(now_, channel_, seen);
    return weights_.same(seen, m.weights);
  }

  /// `times` more repetitions of what happened since `m`.
  SDIP_EACH void skip(std::int64_t times, const Moment& m, const Tape::Step& loop) {
    const Count by = (now_ - m.now) * times;
    now_ += by;
    if constexpr (alone) {
      if (tape_.dispatches_tiles) operation_begin_ += by;
      add_stalls(pass_, m.pass, times);
    }
    pass_.turns += (pass_.turns - m.pass.turns) * times;
    if (transfers(loop)) {
      for (Count* time : {&channel_, &store_before_, &store_last_, &tile_before_}) *time += by;
      for (Count& slot : slots_.of) slot += by;
    }
    if (fetches(loop)) weights_.shift(by);
    use_current();
  }

  const Tape& tape_;
  const Columns<machines>& numbers_;
  WeightMemory<machines>& weights_;
  Queue<1>& words_;
  Scoreboard& board_;
  std::vector<typename RecurrenceMemory<machines>::Checkpoint>& checkpoints_;
  std::vector<InstructionTrace>* const trace_;

  Count now_{}, channel_{}, last_duration_{}, begin_{}, latency_{}, turn_{};
  Way way_ = Way::untold;
  Passed<machines> pass_, last_pass_;
  std::int64_t operations_run_ = 0;
  bool comparable_ = false;  // checkpoints are there, and that pass went on as this one will
  bool repeats_ = false, cold_ = false, fetched_ = false;
  std::vector<std::array<std::int64_t, machines>> pass_cycles_;
  std::vector<Passed<1>> passes_;

  // Times of the instruction, or of its last operation where each operation is an instruction.
  Count instruction_begin_{}, weights_ready_{}, store_before_{}, store_last_{}, tile_before_{}, operation_begin_{};
  Slots slots_{};
  std::array<bool, operands> empty_{};
  std::int32_t leaving_{};  // results of the operation before
  bool pinned_{}, first_operation_{};
  std::array<Repeated, most_tile_loops> loops_;
  std::size_t depth_{};
};

}  // namespace sdip
