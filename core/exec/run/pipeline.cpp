// The pipeline, period by period.
#include "core/exec/run/pipeline.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/exec/clock/line.h"
#include "core/exec/run/frame_tensors.h"

namespace sdip {
namespace {

using namespace exec;

/// A frame in a seat.
struct Frame {
  FrameCounts counts;
  std::unique_ptr<FrameTensors> tensors;
  Count ready = 0;  // its stage is done with it then, from the period's begin on
};
using Frames = std::vector<std::unique_ptr<Frame>>;
using Seat = Frames;  // those that entered together; none: nobody sits there

void add(const PassCounts& pass, PassCounts& sum) {
  sum.cycles += pass.cycles;
  sum.weight_bytes += pass.weight_bytes;
  sum.activation_in_bytes += pass.activation_in_bytes;
  sum.activation_out_bytes += pass.activation_out_bytes;
  sum.program_bytes += pass.program_bytes;
  sum.partial_in_bytes += pass.partial_in_bytes;
  sum.turns += pass.turns;
  sum.partial_out_bytes += pass.partial_out_bytes;
}

class Pipeline {
 public:
  Pipeline(const Application& application, const Machine& machine, const PipelineOptions& options)
      : application_(application), m_(machine), options_(options), line_(line_of(application, machine)) {
    for (const CompiledStage& stage : application.stages)
      clocks_.push_back(clock_of(stage, machine, options.alone ? 1 : cores_in_lockstep(stage, machine)));
    for (const LineStage& stage : line_.stages) {
      for (Count i = 0; i < stage.seats; ++i) seats_.emplace_back();
      if (application.stages[stage.number].role != Role::core) continue;
      run_.steps_per_core = stage.passes;
      run_.active_cores = stage.seats * line_.together;
      run_.link_cycles = stage.link_cycles;
    }
    run_.frames_at_once = line_.frames_at_once * line_.together;
    run_.pass_cycles.resize(application.stages.size());
    of_periods_ = options.alone ? 1 : groups() + std::ssize(seats_) - 1 + first_period();
  }

  PipelineRun stream() {
    if (first_period() > 0) {
      begin_period();
      end_period(prompt(0));
    }
    for (Count number = 0; std::ssize(run_.periods) < of_periods_ && !run_.cancelled; ++number) {
      if (number < groups()) {
        seats_[0] = next_.empty() ? fresh(number) : std::exchange(next_, {});
        for (auto& frame : seats_[0]) frame->counts.entered = now_;
      }
      period(number);
    }
    if (!run_.cancelled) measure();
    return std::move(run_);
  }

  /// One frame, one stage after the other; the cores' program goes on where the core before left it.
  PipelineRun alone() {
    const auto alone = fresh_frame(0);
    Frame* const frame = alone.get();
    begin_period();
    const auto spend = [&](std::size_t stage, Count cycles) {
      now_ += cycles;
      period_.stage_cycles[stage] += cycles;
    };
    for (const std::size_t text : line_.per_prompt) spend(text, pass(text, {{frame, 0}}));
    for (const LineStage& stage : line_.stages) {
      const bool core = application_.stages[stage.number].role == Role::core;
      for (Count seat = 0, step = 0; seat < stage.seats; ++seat) {
        for (Count i = 0; i < stage.passes && (!core || step < m_.steps) && !run_.cancelled; ++i, ++step) {
          spend(stage.number, pass(stage.number, {{frame, step}}));
          frame->counts.steps += core;
        }
        spend(stage.number, stage.link_cycles);
      }
    }
    end_period(now_);
    leave(*frame, now_);
    return std::move(run_);
  }

 private:
  /// A frame that a pass works on, and which of its steps it is.
  struct Turn {
    Frame* frame = nullptr;
    Count step = 0;
  };

  /// The first prompt is encoded before any frame enters.
  Count first_period() const { return line_.per_prompt.empty() ? 0 : 1; }

  /// How many groups of frames enter, one after the other.
  Count groups() const { return (options_.frames + line_.together - 1) / line_.together; }

  /// Those of group `number`.
  Seat fresh(Count number) const {
    Seat seat;
    const Count first = number * line_.together;
    for (Count frame = first; frame < std::min(options_.frames, first + line_.together); ++frame)
      seat.push_back(fresh_frame(frame));
    return seat;
  }

  std::unique_ptr<Frame> fresh_frame(Count number) const {
    auto frame = std::make_unique<Frame>();
    if (options_.tensors == nullptr) return frame;
    frame->tensors = std::make_unique<FrameTensors>(application_, m_, *options_.tensors, number);
    const bool has_context = number > 0 && !line_.prompts_per_frame;  // made before, once for all
    for (const std::size_t text : line_.per_prompt)
      if (has_context) frame->tensors->compute(text, 0);
    return frame;
  }

  Count pass(std::size_t stage, const std::vector<Turn>& turns) {
    if (run_.cancelled) return 0;
    const PassCounts counts = clocks_[stage]->pass();
    for (const Turn& turn : turns)
      if (turn.frame->tensors) turn.frame->tensors->compute(stage, turn.step);
    add(counts, period_.streams);
    run_.pass_cycles[stage].push_back(counts.cycles);
    ++passes_;
    if (options_.progress) options_.progress({std::ssize(run_.periods), of_periods_, passes_});
    run_.cancelled = options_.cancel != nullptr && *options_.cancel;
    return counts.cycles;
  }

  void begin_period() {
    period_ = {};
    period_.begin = now_;
    period_.stage_cycles.assign(application_.stages.size(), 0);
  }
  void end_period(Count end) {
    period_.cycles = end - period_.begin;
    if (!run_.cancelled) run_.periods.push_back(period_);
    now_ = end;
  }

  void leave(Frame& frame, Count time) {
    if (run_.cancelled) return;
    frame.counts.left = time;
    if (frame.tensors) frame.counts.outputs = frame.tensors->outputs();
    run_.frames.push_back(std::move(frame.counts));
  }

  /// The text encoders for the frames that are about to enter, or once for all frames.
  Count prompt(Count number) {
    next_ = fresh(number);
    Count all = 0;
    for (const auto& frame : next_) {
      for (const std::size_t text : line_.per_prompt) {
        const Count cycles = pass(text, {{frame.get(), 0}});
        period_.stage_cycles[text] += cycles;
        all += cycles;
      }
      if (!line_.prompts_per_frame) break;
    }
    return all;
  }

  /// All passes of a stage in a period, on the frames in its seats from `first` on; says when it is done with each.
  Count run_stage(const LineStage& stage, std::size_t first) {
    const std::span<Seat> seats(&seats_[first], as_size(stage.seats));
    if (std::ranges::all_of(seats, &Seat::empty)) return 0;
    if (application_.stages[stage.number].role == Role::core) return run_cores(stage, seats);
    Count cycles = stage.link_cycles;
    for (const auto& frame : seats.front()) {
      for (Count i = 0; i < stage.passes; ++i) cycles += pass(stage.number, {{frame.get(), i}});
      frame->ready = cycles;
    }
    return cycles;
  }

  /// The steps of all frames in the cores, in lockstep.
  Count run_cores(const LineStage& stage, std::span<Seat> seats) {
    Count cycles = stage.link_cycles;
    for (Count i = 0; i < stage.passes; ++i) {
      std::vector<Turn> turns;
      for (std::size_t s = 0; s < seats.size(); ++s) {
        const Count step = static_cast<Count>(s) * stage.passes + i;
        if (step >= m_.steps) continue;
        for (const auto& frame : seats[s]) {
          turns.push_back({frame.get(), step});
          ++frame->counts.steps;
        }
      }
      period_.slots += run_.active_cores;
      period_.idle_slots += run_.active_cores - std::ssize(turns);
      cycles += pass(stage.number, turns);
    }
    for (Seat& seat : seats)
      for (const auto& frame : seat) frame->ready = cycles;
    return cycles;
  }

  /// The period in which group `number` enters, if it comes.
  void period(Count number) {
    begin_period();
    Count longest = 0, cores = 0, text = 0;
    std::size_t first = 0;
    for (const LineStage& stage : line_.stages) {
      const Count cycles = run_stage(stage, first);
      const Role role = application_.stages[stage.number].role;
      period_.stage_cycles[stage.number] = cycles;
      longest = std::max(longest, cycles);
      if (role == Role::core || role == Role::network) cores = std::max(cores, cycles);
      first += as_size(stage.seats);
    }
    if (line_.prompts_per_frame && number + 1 < groups()) text = prompt(number + 1);
    move_on(std::max(longest, cores + text));
  }

  void move_on(Count cycles) {
    const Count begin = period_.begin, end = begin + cycles;
    const bool leave_at_once = line_.stages.back().ends_line;
    for (std::size_t s = 0; s + leave_at_once < seats_.size(); ++s)
      for (const auto& frame : seats_[s]) {
        frame->counts.waited += cycles - frame->ready;
        period_.waiting += frame->ready < cycles;
      }
    end_period(end);
    if (run_.cancelled) return;
    for (const auto& frame : seats_.back()) leave(*frame, leave_at_once ? begin + frame->ready : end);
    for (std::size_t s = seats_.size(); s-- > 1;) seats_[s] = std::move(seats_[s - 1]);
    seats_[0].clear();
  }

  /// Group number `g` enters in period `g` behind the first prompt's, and takes a period a seat. With a prompt a
  /// frame the last period in which one enters has none to encode. A group that is not full is not looked at.
  void measure() {
    const Count full = options_.frames / line_.together;
    const Count last = full - 1 - line_.prompts_per_frame, measured = last + first_period();
    const Count group = last + 1 - std::ssize(seats_);
    if (group < 1) return;
    const Count frame = (group + 1) * line_.together - 1;
    const PeriodCounts& period = run_.periods[measured];
    const PeriodCounts& before = run_.periods[measured - 1];
    const FrameCounts& through = run_.frames[frame];
    SaturatedCounts counts{period.cycles, through.left - through.entered, period.streams, false};
    counts.settled = period.cycles == before.cycles && period.stage_cycles == before.stage_cycles &&
                     period.streams.dram_bytes() == before.streams.dram_bytes();
    run_.saturated = counts;
  }

  const Application& application_;
  const Machine& m_;
  const PipelineOptions& options_;
  FrameLine line_;
  std::vector<std::unique_ptr<Clock>> clocks_;  // by stage
  std::vector<Seat> seats_;                     // from the line's begin
  Seat next_;                                   // have their prompts encoded, and enter next
  Count now_ = 0, of_periods_ = 0, passes_ = 0;
  PeriodCounts period_;
  PipelineRun run_;
};

}  // namespace

PipelineRun run_pipeline(const Application& application, const Machine& machine, const PipelineOptions& options) {
  check(application.feasible && !application.stages.empty(), "a pipeline has stages that fit");
  check(options.frames >= 1, "a pipeline has frames");
  Pipeline pipeline(application, machine, options);
  return options.alone ? pipeline.alone() : pipeline.stream();
}

}  // namespace sdip
