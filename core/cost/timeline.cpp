// Time: the exact recurrence of tile operations and DRAM transfers.
//
// Worked example. One instruction, three weight tiles of 100 bytes, DRAM 10 bytes a cycle, PSRAM 200 bytes, 4
// cycles of work a tile. Tile 0 arrives at 10 and is used 10..14; tile 1 arrives at 20 (space was there),
// used 20..24; tile 2 may start when tile 0 is freed at 14 and the channel is free at 20: arrives at 30,
// used 30..34. Stalls: 10 + 6 + 6.
#include "core/cost/timeline.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"
#include "core/cost/scoreboard.h"
#include "core/cost/transfer.h"
#include "core/cost/weight_queue.h"

namespace sdip {
namespace {

constexpr std::size_t most_loops = 8;
constexpr std::int64_t least_compared_fetches = 32;  // a shorter loop is run through
constexpr std::size_t most_compared_tiles = 32;      // in PSRAM

class Timeline {
 public:
  Timeline(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules)
      : program_(program),
        costs_(costs),
        rules_(rules),
        times_(transfer_times(program, costs, rules)),
        weights_(rules.psram_bytes),
        words_(rules.imem_bytes) {
    for (const InstructionClass& c : program.classes) fetches_once_ |= c.pinned;
    runs_ahead_ = !times_.words.empty();
    for (std::size_t c = 0; c < costs.size(); ++c)
      runs_ahead_ |= rules.psram_bytes > 0 && !program.classes[c].pinned &&
                     (costs[c].weighted || costs[c].held_weight_bytes > 0);
  }

  /// One pass. Without a trace it ends where it rejoins the pass before: the same instruction found in the same
  /// state lasts the same from there on. `rejoined` says so; the state is then the one that pass left.
  PassCost run_pass(bool cold, std::vector<InstructionTime>* trace, bool& rejoined) {
    pass_ = {};
    const std::int64_t begin = now_;
    std::vector<Checkpoint> checkpoints;
    if (rules_.overlaps) board_.begin_pass(now_, rules_.dispatch_overlaps);
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      if (!trace && !rules_.overlaps && i % checkpoint_distance == checkpoint_distance - 1) {
        const std::size_t number = checkpoints.size();
        pass_.cycles = now_ - begin;
        checkpoints.push_back({state(), pass_});
        rejoined = comparable_ && checkpoints.back().state == checkpoints_[number].state;
        if (rejoined) return pass_ += last_pass_ - checkpoints_[number].pass;
      }
      run(i, cold, begin, trace);
    }
    if (rules_.overlaps) now_ = board_.latest_end();
    pass_.cycles = now_ - begin;
    checkpoints_ = std::move(checkpoints);
    comparable_ = !trace && !rules_.overlaps && !(cold && fetches_once_);
    return last_pass_ = pass_;
  }

  /// Everything the future depends on, relative to now. Requires that all before now has retired.
  std::vector<std::int64_t> state() const {
    // Loads and stores never start before now; only weights and words use what the channel had free before.
    const std::int64_t channel =
        runs_ahead_ ? channel_free_ - now_ : std::max<std::int64_t>(0, channel_free_ - now_);
    std::vector<std::int64_t> s{channel, rules_.overlaps ? 0 : last_duration_,
                                static_cast<std::int64_t>(weights_.size())};
    weights_.append_state(now_, s);
    words_.append_state(now_, s);
    return s;
  }

  void forget_freed() {
    weights_.forget_freed();
    words_.forget_freed();
  }

  std::int64_t psram_peak() const { return psram_peak_; }
  /// Of the pass run last, where instructions overlap.
  const Scoreboard& board() const { return board_; }

 private:
  static constexpr std::size_t checkpoint_distance = 64;

  struct Checkpoint {
    std::vector<std::int64_t> state;
    PassCost pass;  // so far
  };
  /// Two tile buffers, or one: when the next tile may be loaded.
  struct Slots {
    std::int64_t begin = 0, before = 0;
    bool empty = true;
    std::int64_t free_at(bool doubled, std::int64_t last_end) {
      const std::int64_t freed = empty ? begin : last_end;  // nothing is in the buffers when the instruction begins
      const std::int64_t at = doubled ? before : freed;
      before = freed;
      empty = false;
      return at;
    }
  };

  void run(std::size_t index, bool cold, std::int64_t pass_begin, std::vector<InstructionTime>* trace) {
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
    store_before_ = store_last_ = 0;
    pending_out_ = {};
    weights_ready_ = 0;
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
    if (!trace) return;
    const PassCost own = pass_ - before;
    // Words are waited for before it begins where instructions overlap.
    const std::int64_t stalls =
        own.stall_weights + own.stall_activations + (rules_.overlaps ? 0 : own.stall_program);
    trace->push_back({begin - pass_begin, now_ - pass_begin, now_ - begin - cost.cycles - stalls, own.stall_weights,
                      own.stall_activations, own.weight_bytes, own.weight_psram_bytes, own.activation_in_bytes,
                      own.activation_out_bytes, occupancy_, own.stall_program, own.program_bytes, begin - issued});
  }

  /// When an instruction is issued, when it begins, and when it is dispatched, so that its first operation may
  /// start.
  struct Issue {
    std::int64_t issued = 0, begin = 0, dispatched = 0;
  };
  Issue issue_of(std::size_t index) {
    const Instruction& instruction = program_.instructions[index];
    const auto number = static_cast<std::size_t>(instruction.instruction_class);
    const std::int64_t dispatch = times_.shapes[times_.classes[number].first_shape].dispatch_cycles;
    if (!rules_.overlaps) {
      const std::int64_t ready = now_ + words_stall(index, now_);
      return {now_, now_, ready + dispatch_after(last_duration_, dispatch)};
    }
    const ClassCost& cost = costs_[number];
    const std::int64_t turn = board_.turn(cost.circuit), stall = words_stall(index, turn);
    board_.issue(cost.circuit, turn + stall, dispatch);
    const std::int64_t begin = board_.begin(cost.owned, instruction.after);
    return {turn + stall, begin, std::max(begin, turn + stall + dispatch)};
  }

  /// Cycles until the next instruction may start, after one that took `duration`.
  std::int64_t dispatch_after(std::int64_t duration, std::int64_t dispatch_cycles) const {
    return rules_.dispatch_overlaps ? std::max<std::int64_t>(0, dispatch_cycles - duration) : dispatch_cycles;
  }

  /// Cycles that an instruction which may be issued at `time` waits for its words: they come to IMEM, which those
  /// of older ones leave when these have retired.
  std::int64_t words_stall(std::size_t index, std::int64_t time) {
    if (times_.words.empty()) return 0;
    const WordsTimes& words = times_.words[index];
    const std::int64_t start = std::max(channel_free_, words_.make_room(words.bytes));
    channel_free_ = start + words.transfer.time;
    words_.add(words.bytes, start, channel_free_);
    pass_.program_bytes += words.transfer.bytes;
    const std::int64_t stall = std::max<std::int64_t>(0, channel_free_ - time);
    pass_.stall_program += stall;
    return stall;
  }

  /// When the next tile operation may start. One that is an instruction of its own begins when the one before has
  /// retired.
  std::int64_t issue(std::int64_t dispatch_cycles) {
    if (!rules_.dispatches_tiles) return now_;
    if (std::exchange(first_operation_, false)) return now_;
    const std::int64_t retired = now_ + rules_.pipeline_stages;
    const std::int64_t duration = retired - std::exchange(operation_begin_, retired);
    return retired + dispatch_after(duration, dispatch_cycles);
  }

  /// What an operation loads because of the loops that stepped or began again before it.
  struct Step {
    bool a = true, b = true, fresh = false;
  };
  /// The loops now expanded.
  struct Walk {
    const ShapeTimes* shapes;
    const WindowTimes* windows;
    const TileLoop* loops;
    std::size_t depth;
    bool fetches;                        // weights, wherever B changes
    std::array<Step, most_loops> steps;  // what a step of each loop makes the next operation load
  };

  void expand(const ClassCost& cost, const ClassTimes& times) {
    const auto& loops = cost.order.loops;
    check(loops.size() <= most_loops, "more tile loops than the timeline walks");
    Walk walk{&times_.shapes[times.first_shape],
              &times_.windows[times.first_window],
              loops.data(),
              loops.size(),
              cost.weighted && fetches_weights_,
              {}};
    Step inner{false, false, false};
    for (std::size_t l = loops.size(); l-- > 0;) {
      inner = {inner.a || loops[l].a, inner.b || loops[l].b, false};
      walk.steps[l] = {inner.a, inner.b, loops[l].slides};
    }
    go(walk, 0, cost.order.runs.data(), 0, 0, Step{}, true);
  }

  /// The operations inside loop `level`. `first_use`: of their weights, in this instruction.
  void go(const Walk& walk, std::size_t level, const TileRun* run, std::int32_t shape, std::int32_t window,
          Step step, bool first_use) {
    if (level == walk.depth) {
      operate(walk.shapes[shape], walk.windows[window], step, first_use);
      return;
    }
    const TileLoop& loop = walk.loops[level];
    const TileRun* const inner = run + loop.runs;
    const Step stepped = walk.steps[level];
    const bool fetches = walk.fetches && stepped.b, used_first = first_use && loop.b;
    for (bool begins = true; run != inner; ++run, begins = false) {
      const std::int32_t s = shape + run->shape, w = window + run->window;
      if (level + 1 == walk.depth) {
        const ShapeTimes& tile = walk.shapes[s];
        const WindowTimes& a = walk.windows[w];
        if (begins) operate(tile, a, step, first_use);
        each(run->tiles - begins, fetches, [&] { operate(tile, a, stepped, used_first); });
      } else {
        if (begins) go(walk, level + 1, inner, s, w, step, first_use);
        each(run->tiles - begins, fetches, [&] { go(walk, level + 1, inner, s, w, stepped, used_first); });
      }
    }
  }

  /// What later tile operations of this instruction depend on, relative to now, but for the weights in PSRAM.
  using Pace = std::array<std::int64_t, 10>;
  Pace pace() const {
    const auto beyond = [](std::int64_t time, std::int64_t limit) {
      return std::max<std::int64_t>(0, time - limit);
    };
    return {channel_free_ - now_,
            beyond(weights_ready_, now_),
            beyond(slots_[0].before, channel_free_),
            beyond(slots_[1].before, channel_free_),
            beyond(slots_[2].before, channel_free_),
            beyond(slots_[3].before, channel_free_),
            beyond(store_before_, now_),
            beyond(store_last_, now_),
            pending_out_.bytes,
            rules_.dispatches_tiles ? now_ - operation_begin_ : 0};
  }
  std::vector<std::int64_t> weights_pace() const {
    std::vector<std::int64_t> weights;
    if (weights_.size() > most_compared_tiles) return weights;
    weights.push_back(std::max<std::int64_t>(0, tile_before_until_ - channel_free_));
    weights_.append_use(channel_free_, weights);
    weights_.append_state(now_, weights);
    return weights;
  }

  /// Runs body `count` times; it does the same work each time. Once two of them in a row leave the same pace, the
  /// others last as long as the second: they are counted, not run. Of those that fetch weights the pace includes
  /// all of PSRAM: only long loops, and few tiles there, are compared.
  template <class Body>
  void each(std::int64_t count, bool fetches, Body&& body) {
    if (count < (fetches ? least_compared_fetches : 3)) {
      for (std::int64_t i = 0; i < count; ++i) body();
      return;
    }
    Pace before{};
    std::vector<std::int64_t> weights_before;
    bool comparable = false;  // with the repetition before
    for (std::int64_t i = 1; i <= count; ++i) {
      const PassCost pass_before = pass_;
      const std::int64_t now_before = now_;
      body();
      const Pace after = pace();
      if (!comparable || after != before) {
        before = after;
        comparable = true;
        weights_before.clear();
        continue;
      }
      if (fetches) {
        std::vector<std::int64_t> weights = weights_pace();
        const bool same = !weights.empty() && weights == weights_before;
        weights_before = std::move(weights);
        if (!same) continue;
      }
      skip(count - i, pass_before, now_before);
      return;
    }
  }

  /// `times` more repetitions of what happened since `pass_before` and `now_before`.
  void skip(std::int64_t times, const PassCost& pass_before, std::int64_t now_before) {
    const std::int64_t shift = times * (now_ - now_before);
    now_ += shift;
    channel_free_ += shift;
    operation_begin_ += shift;
    weights_ready_ += shift;
    store_before_ += shift;
    store_last_ += shift;
    for (Slots& slots : slots_) slots.before += shift;
    if (pass_.weight_bytes != pass_before.weight_bytes) {
      weights_.shift(shift);
      tile_before_until_ += shift;
    } else {
      use_current();
    }
    pass_ += (pass_ - pass_before) * times;
  }

  /// Transfers in the order of docs/model.md: weights, A, B, other operands, partial sums, results of the operation
  /// before; on single buffers partial sums come after those results, since they need their room.
  void operate(const ShapeTimes& shape, const WindowTimes& window, Step step, bool first_use) {
    if (step.b && shape.weights.bytes > 0 && (first_use || !pinned_))
      fetch_weights(shape.weights, shape.psram_bytes);
    else if (step.b)
      weights_.leave_current();  // what it multiplies by is held
    std::int64_t activations_ready = 0;
    const Transfer& a = step.fresh ? window.fresh : window.all;
    if (step.a && a.bytes > 0) activations_ready = load(a, slots_[0]);
    if (step.b && shape.b.bytes > 0) activations_ready = load(shape.b, slots_[1]);
    if (shape.split.bytes > 0) activations_ready = load(shape.split, slots_[2]);
    const bool partials = shape.partial.bytes > 0;
    if (partials && rules_.tiles_double_buffered) activations_ready = load(shape.partial, slots_[3]);
    if (pending_out_.bytes > 0) store();
    if (partials && !rules_.tiles_double_buffered) activations_ready = load(shape.partial, slots_[3]);
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
    weights_.leave_current();
    if (!fetches_weights_) return;
    pass_.weight_bytes += t.bytes;
    pass_.weight_psram_bytes += psram_bytes;
    std::int64_t start = channel_free_;
    if (!pinned_) {
      start = std::max(start, weights_.make_room(psram_bytes));
      if (!rules_.weights_double_buffered) start = std::max(start, tile_before_until_);
      weights_.add(psram_bytes, start, start + t.time);
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
    pending_out_ = {};
  }

  const Program& program_;
  const std::vector<ClassCost>& costs_;
  const TimelineRules rules_;
  const TransferTimes times_;

  std::int64_t now_ = 0, channel_free_ = 0, last_duration_ = 0;
  bool runs_ahead_ = false, fetches_once_ = false, comparable_ = false;
  std::vector<Checkpoint> checkpoints_;  // of the pass before
  PassCost last_pass_;
  WeightQueue weights_;
  WeightQueue words_;  // of the instructions in IMEM
  Scoreboard board_;
  std::int64_t occupancy_ = 0, psram_peak_ = 0, weights_ready_ = 0, tile_before_until_ = 0;  // of weights now used
  bool fetches_weights_ = false, pinned_ = false, first_operation_ = true;
  std::int64_t operation_begin_ = 0;  // of the last, where each is an instruction
  std::array<Slots, 4> slots_;        // of A, B, other operands, partial sums
  std::int64_t store_before_ = 0, store_last_ = 0;
  Transfer pending_out_;
  PassCost pass_;
};

}  // namespace

TimelineResult run_timeline(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules,
                            std::int64_t most_passes, std::vector<InstructionTime>* trace) {
  Timeline timeline(program, costs, rules);
  TimelineResult result;
  std::vector<std::int64_t> state;
  for (std::int64_t i = 0; i < most_passes && !result.repeats; ++i) {
    if (trace) trace->clear();
    bool rejoined = false;
    result.passes.push_back(timeline.run_pass(i == 0, trace, rejoined));
    if (rejoined) {  // it leaves what the pass before left
      result.repeats = true;
      break;
    }
    timeline.forget_freed();
    std::vector<std::int64_t> next = timeline.state();
    result.repeats = i > 0 && next == state;
    state = std::move(next);
  }
  result.steady = result.passes.size() - 1;
  result.psram_peak_bytes = timeline.psram_peak();
  result.running = rules.overlaps ? timeline.board().running() + result.passes.back().stall_program
                                  : result.passes.back().cycles;
  result.waiting = rules.overlaps ? timeline.board().waiting() : 0;
  return result;
}

}  // namespace sdip
