// Time: the exact recurrence of tile operations and DRAM transfers.
//
// Worked example. One instruction, three weight tiles of 100 bytes, DRAM 10 bytes a cycle, PSRAM 200 bytes, 4
// cycles of work a tile. Tile 0 arrives at 10 and is used 10..14; tile 1 arrives at 20 (space was there),
// used 20..24; tile 2 may start when tile 0 is freed at 14 and the channel is free at 20: arrives at 30,
// used 30..34. Stalls: 10 + 6 + 6.
#include "core/cost/timeline.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace sdip {
namespace {

struct Transfer {
  std::int64_t bytes = 0, time = 0;
};

/// A tile shape with its transfers as times.
struct ShapeTimes {
  std::int64_t cycles = 0, psram_bytes = 0;
  Transfer a, b, split, weights, out;
};

struct ClassTimes {
  std::array<std::array<ShapeTimes, 2>, 2> shapes;
  Transfer held;
  std::int64_t held_psram_bytes = 0;
};

class Timeline {
 public:
  Timeline(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules)
      : program_(program), costs_(costs), rules_(rules) {
    times_.reserve(costs.size());
    for (const ClassCost& cost : costs) times_.push_back(times_of(cost));
    for (const InstructionClass& c : program.classes) fetches_once_ |= c.pinned;
    for (std::size_t c = 0; c < costs.size(); ++c)
      streams_weights_ |= rules.psram_bytes > 0 && !program.classes[c].pinned &&
                          (costs[c].weighted || costs[c].held_weight_bytes > 0);
  }

  /// One pass. Without a trace it ends where it rejoins the pass before: the same instruction found in the same
  /// state lasts the same from there on. `rejoined` says so; the state is then the one that pass left.
  PassCost run_pass(bool cold, std::vector<InstructionTime>* trace, bool& rejoined) {
    pass_ = {};
    const std::int64_t begin = now_;
    std::vector<Checkpoint> checkpoints;
    for (std::size_t i = 0; i < program_.instructions.size(); ++i) {
      if (!trace && i % checkpoint_distance == checkpoint_distance - 1) {
        const std::size_t number = checkpoints.size();
        pass_.cycles = now_ - begin;
        checkpoints.push_back({state(), pass_});
        rejoined = comparable_ && checkpoints.back().state == checkpoints_[number].state;
        if (rejoined) return pass_ += last_pass_ - checkpoints_[number].pass;
      }
      run(program_.instructions[i], cold, begin, trace);
    }
    pass_.cycles = now_ - begin;
    checkpoints_ = std::move(checkpoints);
    comparable_ = !trace && !(cold && fetches_once_);
    return last_pass_ = pass_;
  }

  /// Everything the future depends on, relative to now.
  std::vector<std::int64_t> state() const {
    // Loads and stores never start before now; only a weight prefetch uses what the channel had free before.
    const std::int64_t channel =
        streams_weights_ ? channel_free_ - now_ : std::max<std::int64_t>(0, channel_free_ - now_);
    std::vector<std::int64_t> s{channel, last_duration_};
    for (std::size_t j = first_held_; j < tiles_.size(); ++j) {
      s.push_back(tiles_[j].bytes);
      s.push_back(tiles_[j].used_until - now_);
    }
    return s;
  }

  void forget_freed() {
    tiles_.erase(tiles_.begin(), tiles_.begin() + static_cast<std::ptrdiff_t>(first_held_));
    first_held_ = 0;
    held_tile_ = current_tile_ = no_tile;
  }

  std::int64_t psram_peak() const { return psram_peak_; }

 private:
  static constexpr std::size_t no_tile = ~std::size_t{0};
  static constexpr std::int64_t in_use = std::int64_t{1} << 62;

  static constexpr std::size_t checkpoint_distance = 64;

  struct WeightTile {
    std::int64_t bytes = 0, used_until = 0;
  };
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

  Transfer transfer(std::int64_t bytes, std::int64_t copies) const {
    const std::int64_t whole = ceil_div(bytes, rules_.burst_bytes) * rules_.burst_bytes * copies;
    return {whole, whole == 0 ? 0 : rules_.rate.time_for(Bytes(whole)).value};
  }

  Transfer weight_transfer(std::int64_t stored, std::int64_t unpacked) const {
    Transfer t = transfer(stored, 1);
    if (rules_.decompressor_bytes > 0) t.time = std::max(t.time, ceil_div(unpacked, rules_.decompressor_bytes));
    return t;
  }

  ClassTimes times_of(const ClassCost& cost) const {
    ClassTimes times;
    for (std::size_t r = 0; r < 2; ++r)
      for (std::size_t k = 0; k < 2; ++k) {
        const TileCost& tile = cost.shapes[r][k];
        ShapeTimes& shape = times.shapes[r][k];
        shape.cycles = tile.cycles;
        shape.psram_bytes = tile.weight_bytes;
        if (cost.weighted) shape.weights = weight_transfer(tile.weight_stored_bytes, tile.weight_bytes);
        if (!cost.streams_activations) continue;
        shape.a = transfer(tile.a_bytes, rules_.cores);
        shape.b = transfer(tile.b_bytes, rules_.cores);
        shape.split = transfer(tile.split_in_bytes, rules_.cores);
        shape.out = transfer(tile.out_bytes, rules_.cores);
      }
    times.held = weight_transfer(cost.held_weight_stored_bytes, cost.held_weight_bytes);
    times.held_psram_bytes = cost.held_weight_bytes;
    return times;
  }

  void run(const Instruction& instruction, bool cold, std::int64_t pass_begin,
           std::vector<InstructionTime>* trace) {
    const auto number = static_cast<std::size_t>(instruction.instruction_class);
    const std::int64_t begin = begin_ = now_;
    const PassCost before = pass_;
    const std::int64_t overhead = rules_.dispatch_overlaps
                                      ? std::max<std::int64_t>(0, rules_.dispatch_cycles - last_duration_)
                                      : rules_.dispatch_cycles;
    fetches_weights_ = rules_.psram_bytes > 0 && (cold || !program_.classes[number].pinned);
    pinned_ = program_.classes[number].pinned;
    now_ += overhead;
    slots_.fill({begin, begin, true});
    store_before_ = store_last_ = 0;
    pending_out_ = {};
    weights_ready_ = 0;
    held_tile_ = current_tile_ = no_tile;
    if (times_[number].held.bytes > 0) {
      fetch_weights(times_[number].held, times_[number].held_psram_bytes);
      held_tile_ = current_tile_;
      current_tile_ = no_tile;
      if (held_tile_ != no_tile) tiles_[held_tile_].used_until = in_use;
    }
    expand(costs_[number], times_[number]);
    if (pending_out_.bytes > 0) store();
    if (held_tile_ != no_tile) tiles_[held_tile_].used_until = now_;
    const std::int64_t leaving = std::max<std::int64_t>(0, store_last_ - now_);  // it retires when all is done
    pass_.stall_activations += leaving;
    now_ += leaving + rules_.pipeline_stages;
    last_duration_ = now_ - begin;
    if (!trace) return;
    trace->push_back({begin - pass_begin, now_ - pass_begin, overhead + rules_.pipeline_stages,
                      pass_.stall_weights - before.stall_weights,
                      pass_.stall_activations - before.stall_activations, pass_.weight_bytes - before.weight_bytes,
                      pass_.weight_psram_bytes - before.weight_psram_bytes,
                      pass_.activation_in_bytes - before.activation_in_bytes,
                      pass_.activation_out_bytes - before.activation_out_bytes, occupancy_});
  }

  /// The tile operations of a class, in order; a tile is loaded when the one needed differs from the one before.
  void expand(const ClassCost& cost, const ClassTimes& times) {
    const TilePlan& plan = cost.plan;
    const std::int64_t rows = plan.rows.count(), channels = plan.channels.count(), repeats = plan.repeats;
    const auto shape = [&](std::int64_t r, std::int64_t k) -> const ShapeTimes& {
      return times.shapes[r >= plan.rows.full][k >= plan.channels.full];
    };
    const auto each_row = [&](auto&& body) { each(rows, plan.rows.full, body); };
    const auto each_channel = [&](auto&& body) { each(channels, plan.channels.full, body); };
    const auto each_repeat = [&](auto&& body) { each(repeats, repeats, body); };
    if (plan.operations() == 1) {
      operate(plan.nest ? shape(0, 0) : times.shapes[plan.rows.full == 0][1], true, true, true);
    } else if (!plan.nest) {
      each(repeats / plan.passes_apart, repeats / plan.passes_apart, [&](std::int64_t) {
        for (std::int64_t pass = 1; pass <= plan.passes_apart; ++pass)
          each_row([&](std::int64_t r) {
            operate(times.shapes[r >= plan.rows.full][pass == plan.passes_apart], false, false, false);
          });
      });
    } else if (cost.weighted && cost.channels_outer) {
      const bool many = repeats * rows > 1;
      for (std::int64_t k = 0; k < channels; ++k)  // each fetches weights: nothing to skip
        each_repeat([&](std::int64_t n) {
          each_row([&](std::int64_t r) {
            operate(shape(r, k), many || k == 0 || cost.grouped, false, n == 0 && r == 0);
          });
        });
    } else if (cost.weighted) {
      each_repeat([&](std::int64_t n) {
        each_row([&](std::int64_t r) {
          each_channel([&](std::int64_t k) {
            const bool first = n == 0 && r == 0;  // pinned tiles stay once they are there
            operate(shape(r, k), k == 0 || cost.grouped, false, first || (channels > 1 && !pinned_));
          });
        });
      });
    } else if (cost.channels_outer) {
      each_repeat([&](std::int64_t) {
        each_channel([&](std::int64_t k) {
          each_row([&](std::int64_t r) { operate(shape(r, k), rows > 1 || k == 0, r == 0, false); });
        });
      });
    } else {
      each_repeat([&](std::int64_t) {
        each_row([&](std::int64_t r) {
          each_channel([&](std::int64_t k) { operate(shape(r, k), k == 0, channels > 1 || r == 0, false); });
        });
      });
    }
  }

  /// What later tile operations of this instruction depend on, relative to now, when no weights are fetched.
  using Pace = std::array<std::int64_t, 8>;
  Pace pace() const {
    const auto beyond = [](std::int64_t time, std::int64_t limit) {
      return std::max<std::int64_t>(0, time - limit);
    };
    return {channel_free_ - now_,
            beyond(weights_ready_, now_),
            beyond(slots_[0].before, channel_free_),
            beyond(slots_[1].before, channel_free_),
            beyond(slots_[2].before, channel_free_),
            beyond(store_before_, now_),
            beyond(store_last_, now_),
            pending_out_.bytes};
  }

  /// Runs body(0) .. body(count - 1), of which those from 1 to same - 1 do the same work. Once two of them in a row
  /// leave the same pace, and fetched no weights, the others last as long as the second: they are counted, not run.
  template <class Body>
  void each(std::int64_t count, std::int64_t same, Body&& body) {
    std::int64_t i = 0;
    if (same >= 4) {
      Pace before{};
      for (bool steady = false; i < same && !steady; ++i) {
        const PassCost pass_before = pass_;
        const std::int64_t now_before = now_;
        body(i);
        if (pass_.weight_bytes != pass_before.weight_bytes) continue;
        const Pace after = pace();
        steady = i >= 2 && after == before;
        if (steady) {
          skip(same - 1 - i, pass_before, now_before);
          i = same - 1;
        }
        before = after;
      }
    }
    for (; i < count; ++i) body(i);
  }

  /// `times` more repetitions of what happened since `pass_before` and `now_before`.
  void skip(std::int64_t times, const PassCost& pass_before, std::int64_t now_before) {
    const std::int64_t shift = times * (now_ - now_before);
    now_ += shift;
    channel_free_ += shift;
    weights_ready_ += shift;
    store_before_ += shift;
    store_last_ += shift;
    for (Slots& slots : slots_) slots.before += shift;
    if (current_tile_ != no_tile) tiles_[current_tile_].used_until = now_;
    pass_.stall_weights += times * (pass_.stall_weights - pass_before.stall_weights);
    pass_.stall_activations += times * (pass_.stall_activations - pass_before.stall_activations);
    pass_.activation_in_bytes += times * (pass_.activation_in_bytes - pass_before.activation_in_bytes);
    pass_.activation_out_bytes += times * (pass_.activation_out_bytes - pass_before.activation_out_bytes);
  }

  void operate(const ShapeTimes& shape, bool load_a, bool load_b, bool load_weights) {
    if (load_weights && shape.weights.bytes > 0) fetch_weights(shape.weights, shape.psram_bytes);
    std::int64_t activations_ready = 0;
    if (load_a && shape.a.bytes > 0) activations_ready = load(shape.a, slots_[0]);
    if (load_b && shape.b.bytes > 0) activations_ready = load(shape.b, slots_[1]);
    if (shape.split.bytes > 0) activations_ready = load(shape.split, slots_[2]);
    if (pending_out_.bytes > 0) store();
    if (shape.out.bytes > 0)
      activations_ready = std::max(activations_ready, rules_.tiles_double_buffered ? store_before_ : store_last_);
    const std::int64_t start = std::max({now_, weights_ready_, activations_ready});
    (weights_ready_ >= activations_ready ? pass_.stall_weights : pass_.stall_activations) += start - now_;
    now_ = start + shape.cycles;
    if (current_tile_ != no_tile) tiles_[current_tile_].used_until = now_;
    pending_out_ = shape.out;
  }

  void fetch_weights(const Transfer& t, std::int64_t psram_bytes) {
    const std::size_t before = current_tile_;
    current_tile_ = no_tile;
    if (!fetches_weights_) return;
    pass_.weight_bytes += t.bytes;
    pass_.weight_psram_bytes += psram_bytes;
    std::int64_t start = channel_free_;
    if (!pinned_) {
      const std::int64_t over = held_bytes_ + psram_bytes - rules_.psram_bytes;
      for (std::int64_t freed = 0; freed < over;) {
        check(held_bytes_ > 0, "a weight tile larger than PSRAM reached the timeline");
        freed += free_first();
      }
      start = std::max(start, space_time_);
      if (!rules_.weights_double_buffered)
        start = std::max(start, before == no_tile ? begin_ : tiles_[before].used_until);
      while (first_held_ < tiles_.size() && tiles_[first_held_].used_until <= start) free_first();
      held_bytes_ += psram_bytes;
      tiles_.push_back({psram_bytes, start + t.time});
      current_tile_ = tiles_.size() - 1;
    }
    occupancy_ = held_bytes_ + rules_.pinned_bytes;
    psram_peak_ = std::max(psram_peak_, occupancy_);
    channel_free_ = start + t.time;
    weights_ready_ = channel_free_;
  }

  /// Frees the oldest tile. One that its instruction still holds goes to the back of the queue, freeing nothing.
  std::int64_t free_first() {
    const WeightTile tile = tiles_[first_held_];
    if (first_held_++ == held_tile_) {
      tiles_.push_back(tile);
      held_tile_ = tiles_.size() - 1;
      return 0;
    }
    held_bytes_ -= tile.bytes;
    space_time_ = std::max(space_time_, tile.used_until);
    return tile.bytes;
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
  std::vector<ClassTimes> times_;

  std::int64_t now_ = 0, begin_ = 0, channel_free_ = 0, last_duration_ = 0;
  bool streams_weights_ = false, fetches_once_ = false, comparable_ = false;
  std::vector<Checkpoint> checkpoints_;  // of the pass before
  PassCost last_pass_;
  std::vector<WeightTile> tiles_;  // fetched, oldest first; before first_held_ they are freed
  std::size_t first_held_ = 0;
  std::int64_t held_bytes_ = 0, space_time_ = 0, occupancy_ = 0, psram_peak_ = 0, weights_ready_ = 0;
  bool fetches_weights_ = false, pinned_ = false;
  std::size_t current_tile_ = no_tile, held_tile_ = no_tile;  // in use now, of streamed and of held weights
  std::array<Slots, 3> slots_;
  std::int64_t store_before_ = 0, store_last_ = 0;
  Transfer pending_out_;
  PassCost pass_;
};

}  // namespace

PassCost& PassCost::operator+=(const PassCost& other) {
  cycles += other.cycles;
  stall_weights += other.stall_weights;
  stall_activations += other.stall_activations;
  weight_bytes += other.weight_bytes;
  activation_in_bytes += other.activation_in_bytes;
  activation_out_bytes += other.activation_out_bytes;
  weight_psram_bytes += other.weight_psram_bytes;
  return *this;
}

PassCost operator-(const PassCost& a, const PassCost& b) {
  return {a.cycles - b.cycles,
          a.stall_weights - b.stall_weights,
          a.stall_activations - b.stall_activations,
          a.weight_bytes - b.weight_bytes,
          a.activation_in_bytes - b.activation_in_bytes,
          a.activation_out_bytes - b.activation_out_bytes,
          a.weight_psram_bytes - b.weight_psram_bytes};
}

std::int64_t TimelineResult::total(std::int64_t count) const {
  std::int64_t cycles = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i >= static_cast<std::int64_t>(passes.size())) return cycles + (count - i) * passes.back().cycles;
    cycles += passes[static_cast<std::size_t>(i)].cycles;
  }
  return cycles;
}

TimelineRules timeline_rules(const Machine& m, Decimal share, std::int64_t active_cores, Bytes pinned, Role role,
                             std::int64_t thousandths) {
  TimelineRules rules;
  rules.rate = dram_rate(m, share, thousandths);
  rules.burst_bytes = m.dram_burst_bytes;
  rules.decompressor_bytes = m.weight_compression.hundredths > 100 ? m.decompressor_bytes_per_cycle : 0;
  if (!hard_coded(m, role)) rules.psram_bytes = m.psram_bytes - m.psram_pinned_bytes;
  rules.pinned_bytes = pinned.value;
  rules.weights_double_buffered = m.weight_buffering == Buffering::double_buffer;
  rules.tiles_double_buffered = m.tile_buffering == Buffering::double_buffer;
  rules.dispatch_cycles = m.dispatch_cycles + (m.sequencer == Sequencer::host ? m.host_command_cycles : 0);
  rules.dispatch_overlaps = m.sequencer == Sequencer::distributed;
  rules.pipeline_stages = m.pipeline_stages;
  rules.cores = active_cores;
  return rules;
}

bool countable(const Program& program, const std::vector<ClassCost>& costs, const TimelineRules& rules,
               std::int64_t passes) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double cycles_a_byte = real(rules.rate.q) / real(rules.rate.p);
  const auto moved = [&](std::int64_t bytes, double copies) {
    return bytes == 0 ? 0.0 : (real(bytes) + real(rules.burst_bytes)) * copies * (cycles_a_byte + 1);
  };
  std::vector<double> most;  // cycles and bytes of each class
  most.reserve(costs.size());
  for (const ClassCost& cost : costs) {
    double operation = 0;
    for (const auto& row : cost.shapes)
      for (const TileCost& tile : row)
        operation = std::max(operation, moved(tile.weight_bytes, 1) + moved(tile.a_bytes, real(rules.cores)) +
                                            moved(tile.b_bytes, real(rules.cores)) +
                                            moved(tile.split_in_bytes, real(rules.cores)) +
                                            moved(tile.out_bytes, real(rules.cores)));
    most.push_back(operation * real(cost.plan.operations()) + moved(cost.held_weight_bytes, 1) + real(cost.cycles) +
                   real(rules.dispatch_cycles + rules.pipeline_stages));
  }
  double sum = 0;
  for (const Instruction& instruction : program.instructions)
    sum += most[static_cast<std::size_t>(instruction.instruction_class)];
  sum += 8 * real((program.latent_bytes + program.context_bytes).value);  // over a link of a bit a cycle at least
  return sum * real(passes) < 0x1p58;
}

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
  return result;
}

}  // namespace sdip
