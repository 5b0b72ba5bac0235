// Time: the exact recurrence of tile operations and DRAM transfers.
//
// Worked example. One instruction, three weight tiles of 100 bytes, DRAM 10 bytes a cycle, PSRAM 200 bytes, 4
// cycles of work a tile. Tile 0 arrives at 10 and is used 10..14; tile 1 arrives at 20 (space was there),
// used 20..24; tile 2 may start when tile 0 is freed at 14 and the channel is free at 20: arrives at 30,
// used 30..34. Stalls: 10 + 6 + 6.
#include "core/cost/time/timeline.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/cost/time/transfer.h"
#include "core/cost/time/weight_queue.h"
#include "core/cost/work/scoreboard.h"

namespace sdip {
namespace {

class Timeline {
 public:
  /// With `trace`, it is of the pass run last.
  Timeline(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules,
           std::vector<InstructionTime>* trace)
      : program_(program),
        costs_(costs),
        rules_(rules),
        times_(transfer_times(program, costs, rules)),
        trace_(trace),
        rejoins_(!trace && !rules.overlaps),
        runs_ahead_(!times_.words.empty()),
        weights_(rules.psram_bytes),
        words_(rules.imem_bytes) {
    for (std::size_t c = 0; c < costs.size(); ++c) {
      const bool pinned = program.classes[c].pinned;
      fetches_once_ |= pinned;
      runs_ahead_ |= rules.psram_bytes > 0 && !pinned && (costs[c].weighted || costs[c].held_weight_bytes > 0);
    }
  }

  /// One pass. Without a trace it ends where it rejoins the pass before: the same instruction found in the same
  /// state lasts the same from there on. What it leaves is then what that pass left.
  PassCost run_pass(bool cold) {
    pass_ = {};
    const std::int64_t begin = now_;
    std::vector<Checkpoint> checkpoints;
    // A cold pass goes on otherwise than the next one does from the same state.
    const bool comparable = rejoins_ && !(cold && fetches_once_);
    if (trace_) trace_->clear();
    if (rules_.overlaps) board_.begin_pass(now_, rules_.dispatch_overlaps);
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      if (comparable && (i + 1) % checkpoint_distance == 0) {
        pass_.cycles = now_ - begin;
        const std::size_t number = checkpoints.size();
        checkpoints.push_back({state(), pass_});
        rejoined_ = !checkpoints_.empty() && checkpoints.back().state == checkpoints_[number].state;
        if (rejoined_) return pass_ += last_pass_ - checkpoints_[number].pass;
      }
      run(i, cold, begin);
    }
    if (rules_.overlaps) now_ = board_.latest_end();
    pass_.cycles = now_ - begin;
    checkpoints_ = std::move(checkpoints);
    return last_pass_ = pass_;
  }
  bool rejoined() const { return rejoined_; }

  /// Everything the future depends on, relative to now. Requires that all before now has retired.
  struct State {
    std::int64_t channel_free, last_duration;
    std::vector<std::int64_t> weights, words;
    friend bool operator==(const State&, const State&) = default;
  };
  State state() {
    // Loads and stores have ended, and never start before now; only weights and words use what the channel had
    // free.
    if (!runs_ahead_) channel_free_ = now_;
    return {channel_free_ - now_, last_duration_, weights_.state(now_), words_.state(now_)};
  }

  void forget_freed() {
    weights_.forget_freed();
    words_.forget_freed();
  }

  std::int64_t operations_run() const { return operations_run_; }
  std::int64_t psram_peak() const { return psram_peak_; }
  /// Of the pass run last, where instructions overlap.
  const Scoreboard& board() const { return board_; }

 private:
  static constexpr std::size_t checkpoint_distance = 64;

  struct Checkpoint {
    State state;
    PassCost pass;  // so far
  };
  enum : std::size_t { of_a, of_b, of_split, of_partial, operands };
  /// Two tile buffers, or one: when the next tile may be loaded.
  struct Slots {
    std::int64_t begin, before;
    bool empty;
    std::int64_t free_at(bool doubled, std::int64_t last_end) {
      const std::int64_t freed = empty ? begin : last_end;  // nothing is in the buffers when the instruction begins
      const std::int64_t at = doubled ? before : freed;
      before = freed;
      empty = false;
      return at;
    }
  };

  void run(std::size_t index, bool cold, std::int64_t pass_begin) {
    const auto number = static_cast<std::size_t>(program_.instructions[index].instruction_class);
    const PassCost before = pass_;
    const auto [issued, begin, dispatched] = issue_of(index);
    fetches_weights_ = rules_.psram_bytes > 0 && (cold || !program_.classes[number].pinned);
    pinned_ = program_.classes[number].pinned;
    const ClassCost& cost = costs_[number];
    const ClassTimes& times = times_.classes[number];
    now_ = dispatched + cost.link_in_cycles;
    operation_begin_ = begin;
    first_operation_ = true;
    slots_.fill({begin, begin, true});
    store_before_ = store_last_ = weights_ready_ = 0;
    pending_out_ = {};
    tile_before_until_ = begin;
    weights_.begin_instruction();
    if (times.held.bytes > 0) {
      fetch_weights(times.held, times.held_psram_bytes);
      weights_.hold_current();
    }
    expand(cost, times);
    if (pending_out_.bytes > 0) store();
    weights_.release_held(now_);
    const std::int64_t leaving = std::max<std::int64_t>(0, store_last_ - now_);  // it retires when all is done
    pass_.stall_activations += leaving;
    now_ += leaving + cost.link_out_cycles + rules_.pipeline_stages;
    words_.use_current(now_);
    last_duration_ = now_ - (rules_.dispatches_tiles ? operation_begin_ : begin);
    if (rules_.overlaps) board_.retire(cost.owned, begin, now_);
    if (!trace_) return;
    const PassCost own = pass_ - before;
    // Words are waited for before it begins where instructions overlap.
    const std::int64_t stalls =
        own.stall_weights + own.stall_activations + (rules_.overlaps ? 0 : own.stall_program);
    trace_->push_back({begin - pass_begin, now_ - pass_begin, now_ - begin - cost.cycles - stalls,
                       own.stall_weights, own.stall_activations, own.weight_bytes, own.weight_psram_bytes,
                       own.activation_in_bytes, own.activation_out_bytes, occupancy_, own.stall_program,
                       own.program_bytes, begin - issued});
  }

  /// When an instruction is issued, when it begins, and when it is dispatched, so that its first operation may
  /// start.
  struct Issue {
    std::int64_t issued, begin, dispatched;
  };
  Issue issue_of(std::size_t index) {
    const Instruction& instruction = program_.instructions[index];
    const auto number = static_cast<std::size_t>(instruction.instruction_class);
    const std::int64_t dispatch = times_.shapes[times_.classes[number].first_shape].dispatch_cycles;
    if (!rules_.overlaps) {
      const std::int64_t there = words_there(index);
      const std::int64_t usual = now_ + dispatch_after(last_duration_, dispatch);
      const std::int64_t dispatched = std::max(usual, there + dispatch);
      pass_.stall_program += dispatched - usual;
      return {now_, now_, dispatched};
    }
    const ClassCost& cost = costs_[number];
    const std::int64_t turn = board_.turn(cost.circuit);
    const std::int64_t issued = std::max(turn, words_there(index));
    pass_.stall_program += issued - turn;
    board_.issue(cost.circuit, issued, dispatch);
    const std::int64_t begin = board_.begin(cost.owned, instruction.after);
    return {issued, begin, std::max(begin, issued + dispatch)};
  }

  /// Cycles until the next instruction may start, after one that took `duration`.
  std::int64_t dispatch_after(std::int64_t duration, std::int64_t dispatch_cycles) const {
    return rules_.dispatch_overlaps ? std::max<std::int64_t>(0, dispatch_cycles - duration) : dispatch_cycles;
  }

  /// When an instruction's words are in IMEM, which those of older ones leave when these have retired; 0 where all
  /// are held.
  std::int64_t words_there(std::size_t index) {
    if (times_.words.empty()) return 0;
    const WordsTimes& words = times_.words[index];
    const std::int64_t start = std::max(channel_free_, words_.make_room(words.bytes));
    channel_free_ = start + words.transfer.time;
    words_.add(words.bytes, start);
    pass_.program_bytes += words.transfer.bytes;
    return channel_free_;
  }

  /// When the next tile operation may start. One that is an instruction of its own begins when the one before has
  /// retired.
  std::int64_t issue(std::int64_t dispatch_cycles) {
    if (!rules_.dispatches_tiles || std::exchange(first_operation_, false)) return now_;
    const std::int64_t retired = now_ + rules_.pipeline_stages;
    const std::int64_t duration = retired - std::exchange(operation_begin_, retired);
    return retired + dispatch_after(duration, dispatch_cycles);
  }

  /// The loops now expanded.
  struct Walk {
    const ShapeTimes* shapes;
    const WindowTimes* windows;
    const TileLoop* loops;
    std::size_t depth;
    std::array<TileStep, most_tile_loops> steps;
  };

  void expand(const ClassCost& cost, const ClassTimes& times) {
    const auto& loops = cost.order.loops;
    const Walk walk{&times_.shapes[times.first_shape], &times_.windows[times.first_window], loops.data(),
                    loops.size(), tile_steps(cost.order)};
    go(walk, 0, cost.order.runs.data(), 0, 0, TileStep{}, true);
  }

  /// The operations inside loop `level`. `first_use`: of their weights, in this instruction.
  void go(const Walk& walk, std::size_t level, const TileRun* run, std::int32_t shape, std::int32_t window,
          TileStep step, bool first_use) {
    if (level == walk.depth) {
      operate(walk.shapes[shape], walk.windows[window], step, first_use);
      return;
    }
    const TileLoop& loop = walk.loops[level];
    const TileRun* const inner = run + loop.runs;
    const TileStep stepped = walk.steps[level];
    const bool used_first = first_use && loop.b;
    for (bool begins = true; run != inner; ++run, begins = false) {
      const std::int32_t s = shape + run->shape, w = window + run->window;
      if (begins) go(walk, level + 1, inner, s, w, step, first_use);
      each(run->tiles - begins, [&] { go(walk, level + 1, inner, s, w, stepped, used_first); });
    }
  }

  /// After a repetition: its times, the pass so far, and, where these were compared, the weights in PSRAM.
  struct Moment {
    std::array<std::int64_t, 11> times;
    PassCost pass;
    std::vector<std::int64_t> weights;
  };
  Moment moment() {
    settle();
    Moment m;
    for (std::size_t i = 0; i < moving_.size(); ++i) m.times[i] = *moving_[i];
    m.pass = pass_;
    return m;
  }

  /// What is past for all that waits for it is as good as the time from which that waits: nothing is changed, but
  /// what is not used in a loop moves on with it.
  void settle() {
    for (std::int64_t* time : {&weights_ready_, &store_before_, &store_last_}) *time = std::max(*time, now_);
    tile_before_until_ = std::max(tile_before_until_, channel_free_);
    for (Slots& slots : slots_) slots.before = std::max(slots.before, channel_free_);
    if (!rules_.dispatches_tiles) operation_begin_ = now_;
  }

  /// Runs body `count` times; it does the same work each time. Once all that later repetitions depend on has moved
  /// by what one lasted, the others last as long: they are counted, not run. In one that transfers nothing the
  /// channel and what waits for it stand still, and matter to nothing.
  template <class Body>
  void each(std::int64_t count, Body&& body) {
    if (count == 0) return;
    body();
    if (count == 1) return;
    Moment before = moment();
    while (--count > 0) {
      body();
      Moment after = moment();
      if (moved_alike(before, after)) {
        skip(count - 1, before, after);
        return;
      }
      before = std::move(after);
    }
  }

  static std::int64_t lasted(const Moment& before, const Moment& after) {
    return after.times[the_present] - before.times[the_present];
  }
  /// The times that went on.
  std::span<std::int64_t* const> moving(const Moment& before, const Moment& after) const {
    const bool transfers = after.times[the_channel] != before.times[the_channel];
    return std::span(moving_).first(transfers ? moving_.size() : the_channel);
  }
  bool moved_alike(const Moment& before, Moment& after) const {
    for (std::size_t i = 0; i < moving(before, after).size(); ++i)
      if (after.times[i] - before.times[i] != lasted(before, after)) return false;
    if (after.pass.weight_bytes != before.pass.weight_bytes) after.weights = weights_.state(now_);
    return after.weights == before.weights;
  }

  /// `times` more repetitions of what happened between `before` and `after`, which is now.
  void skip(std::int64_t times, const Moment& before, const Moment& after) {
    const std::int64_t shift = times * lasted(before, after);
    for (std::int64_t* time : moving(before, after)) *time += shift;
    if (after.pass.weight_bytes != before.pass.weight_bytes) weights_.shift(shift);
    use_current();
    pass_ += (after.pass - before.pass) * times;
  }

  /// Transfers, ordered as in docs/model/time.md: weights, A, B, other operands, partial sums, results of the
  /// operation before; on single buffers partial sums come after those results, since they need their room.
  void operate(const ShapeTimes& shape, const WindowTimes& window, TileStep step, bool first_use) {
    ++operations_run_;
    if (step.b && shape.weights.bytes > 0 && (first_use || !pinned_))
      fetch_weights(shape.weights, shape.psram_bytes);
    else if (step.b)
      weights_.leave_current();  // what it multiplies by is held
    std::int64_t activations_ready = 0;
    const Transfer& a = step.fresh ? window.fresh : window.all;
    if (step.a && a.bytes > 0) activations_ready = load(a, slots_[of_a]);
    if (step.b && shape.b.bytes > 0) activations_ready = load(shape.b, slots_[of_b]);
    if (shape.split.bytes > 0) activations_ready = load(shape.split, slots_[of_split]);
    const bool partials = shape.partial.bytes > 0;
    if (partials && rules_.tiles_double_buffered) activations_ready = load(shape.partial, slots_[of_partial]);
    if (pending_out_.bytes > 0) store();
    if (partials && !rules_.tiles_double_buffered) activations_ready = load(shape.partial, slots_[of_partial]);
    if (shape.out.bytes > 0)
      activations_ready = std::max(activations_ready, rules_.tiles_double_buffered ? store_before_ : store_last_);
    const std::int64_t earliest = issue(shape.dispatch_cycles);
    const std::int64_t start = std::max({earliest, weights_ready_, activations_ready});
    (weights_ready_ >= activations_ready ? pass_.stall_weights : pass_.stall_activations) += start - earliest;
    now_ = start + shape.cycles;
    use_current();
    pending_out_ = shape.out;
  }

  void use_current() {
    weights_.use_current(now_);
    if (weights_.current() != WeightQueue::no_tile) tile_before_until_ = now_;
  }

  void fetch_weights(const Transfer& t, std::int64_t psram_bytes) {
    if (!fetches_weights_) return;
    pass_.weight_bytes += t.bytes;
    pass_.weight_psram_bytes += psram_bytes;
    std::int64_t start = channel_free_;
    if (!pinned_) {
      start = std::max(start, weights_.make_room(psram_bytes));
      if (!rules_.weights_double_buffered) start = std::max(start, tile_before_until_);
      weights_.add(psram_bytes, start);
    }
    occupancy_ = weights_.held_bytes() + rules_.pinned_bytes;
    psram_peak_ = std::max(psram_peak_, occupancy_);
    channel_free_ = start + t.time;
    weights_ready_ = channel_free_;
  }

  std::int64_t load(const Transfer& t, Slots& slots) {
    const std::int64_t start = std::max(channel_free_, slots.free_at(rules_.tiles_double_buffered, now_));
    channel_free_ = start + t.time;
    pass_.activation_in_bytes += t.bytes;
    return channel_free_;
  }

  void store() {
    channel_free_ = std::max(channel_free_, now_) + pending_out_.time;
    pass_.activation_out_bytes += pending_out_.bytes;
    store_before_ = store_last_;
    store_last_ = channel_free_;
  }

  const Program& program_;
  const std::vector<ClassCost>& costs_;
  const TimelineRules rules_;
  const TransferTimes times_;

  std::vector<InstructionTime>* const trace_;
  const bool rejoins_;
  bool runs_ahead_;
  bool fetches_once_ = false, rejoined_ = false;

  std::int64_t now_ = 0, channel_free_ = 0, last_duration_ = 0, operations_run_ = 0;
  std::vector<Checkpoint> checkpoints_;  // of the pass before; none where this one may go on otherwise
  PassCost last_pass_;
  WeightQueue weights_;
  WeightQueue words_;  // of the instructions in IMEM
  Scoreboard board_;
  std::int64_t occupancy_ = 0, psram_peak_ = 0, weights_ready_ = 0, tile_before_until_ = 0;  // of weights now used
  bool fetches_weights_ = false, pinned_ = false, first_operation_ = true;
  std::int64_t operation_begin_ = 0;  // of the last, where each is an instruction
  std::array<Slots, operands> slots_{};
  std::int64_t store_before_ = 0, store_last_ = 0;
  Transfer pending_out_;
  PassCost pass_;

  /// What goes on with time inside an instruction; from `the_channel` on only where something is transferred.
  enum : std::size_t { the_present, the_channel = 3 };
  const std::array<std::int64_t*, 11> moving_ = {&now_,
                                                 &weights_ready_,
                                                 &operation_begin_,
                                                 &channel_free_,
                                                 &store_before_,
                                                 &store_last_,
                                                 &tile_before_until_,
                                                 &slots_[of_a].before,
                                                 &slots_[of_b].before,
                                                 &slots_[of_split].before,
                                                 &slots_[of_partial].before};
};

}  // namespace

TimelineResult run_timeline(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules,
                            std::int64_t most_passes, std::vector<InstructionTime>* trace) {
  Timeline timeline(program, costs, rules, trace);
  TimelineResult result;
  std::optional<Timeline::State> state;
  for (std::int64_t i = 0; i < most_passes && !result.repeats; ++i) {
    result.passes.push_back(timeline.run_pass(i == 0));
    timeline.forget_freed();
    std::optional<Timeline::State> next = timeline.state();
    result.repeats = timeline.rejoined() || next == state;
    state = std::move(next);
  }
  result.operations_run = timeline.operations_run();
  result.steady = result.passes.size() - 1;
  result.psram_peak_bytes = timeline.psram_peak();
  result.running = rules.overlaps ? timeline.board().running() + result.passes.back().stall_program
                                  : result.passes.back().cycles;
  result.waiting = rules.overlaps ? timeline.board().waiting() : 0;
  return result;
}

}  // namespace sdip
