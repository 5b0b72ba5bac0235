// The pipeline, period by period.
#include "core/exec/pipeline.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/exec/frame_tensors.h"
#include "core/exec/line.h"

namespace sdip {
namespace {

using namespace exec;
using Count = std::int64_t;

/// A frame in a seat.
struct Frame {
  FrameCounts counts;
  std::unique_ptr<FrameTensors> tensors;
};
using Seat = std::unique_ptr<Frame>;

void add(const PassCounts& pass, PassCounts& sum) {
  sum.cycles += pass.cycles;
  sum.weight_bytes += pass.weight_bytes;
  sum.activation_in_bytes += pass.activation_in_bytes;
  sum.activation_out_bytes += pass.activation_out_bytes;
  sum.program_bytes += pass.program_bytes;
  sum.partial_in_bytes += pass.partial_in_bytes;
  sum.partial_out_bytes += pass.partial_out_bytes;
}

class Pipeline {
 public:
  Pipeline(const Application& application, const Machine& machine, const PipelineOptions& options)
      : application_(application), m_(machine), options_(options), line_(line_of(application, machine)) {
    for (const CompiledStage& stage : application.stages)
      clocks_.push_back(clock_of(stage, machine, options.alone ? 1 : cores_in_lockstep(stage, machine)));
    for (const LineStage& stage : line_.stages) {
      for (Count i = 0; i < stage.seats; ++i) seats_.push_back(nullptr);
      if (application.stages[stage.number].role != Role::core) continue;
      run_.steps_per_core = stage.passes;
      run_.active_cores = stage.seats;
      run_.link_cycles = stage.link_cycles;
    }
    run_.frames_at_once = line_.frames_at_once;
    run_.pass_cycles.resize(application.stages.size());
    of_periods_ = options.alone ? 1 : options.frames + std::ssize(seats_) - 1 + first_period();
  }

  PipelineRun stream() {
    if (first_period() > 0) {
      begin_period();
      end_period(prompt(0));
    }
    for (Count number = 0; std::ssize(run_.periods) < of_periods_ && !run_.cancelled; ++number) {
      if (number < options_.frames) {
        seats_[0] = next_ ? std::move(next_) : fresh(number);
        seats_[0]->counts.entered = now_;
      }
      period(number);
    }
    if (!run_.cancelled) measure();
    return std::move(run_);
  }

  /// One frame, one stage after the other; the cores' program goes on where the core before left it.
  PipelineRun alone() {
    Seat frame = fresh(0);
    begin_period();
    const auto spend = [&](std::size_t stage, Count cycles) {
      now_ += cycles;
      period_.stage_cycles[stage] += cycles;
    };
    for (const std::size_t text : line_.per_prompt) spend(text, pass(text, {{frame.get(), 0}}));
    for (const LineStage& stage : line_.stages) {
      const bool core = application_.stages[stage.number].role == Role::core;
      for (Count seat = 0, step = 0; seat < stage.seats; ++seat) {
        for (Count i = 0; i < stage.passes && (!core || step < m_.steps) && !run_.cancelled; ++i, ++step) {
          spend(stage.number, pass(stage.number, {{frame.get(), step}}));
          frame->counts.steps += core;
        }
        spend(stage.number, stage.link_cycles);
      }
    }
    end_period(now_);
    leave(std::move(frame), now_);
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

  Seat fresh(Count number) const {
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

  void leave(Seat frame, Count time) {
    if (run_.cancelled) return;
    frame->counts.left = time;
    if (frame->tensors) frame->counts.outputs = frame->tensors->outputs();
    run_.frames.push_back(std::move(frame->counts));
  }

  /// The text encoders for the frame that is about to enter.
  Count prompt(Count number) {
    next_ = fresh(number);
    Count all = 0;
    for (const std::size_t text : line_.per_prompt) {
      const Count cycles = pass(text, {{next_.get(), 0}});
      period_.stage_cycles[text] = cycles;
      all += cycles;
    }
    return all;
  }

  /// All passes of a stage in a period, on the frames in its seats from `first` on.
  Count run_stage(const LineStage& stage, std::size_t first) {
    const bool core = application_.stages[stage.number].role == Role::core;
    const auto seats = static_cast<std::size_t>(stage.seats);
    if (std::all_of(seats_.begin() + static_cast<std::ptrdiff_t>(first),
                    seats_.begin() + static_cast<std::ptrdiff_t>(first + seats),
                    [](const Seat& seat) { return seat == nullptr; }))
      return 0;
    Count cycles = stage.link_cycles;
    for (Count i = 0; i < stage.passes; ++i) {
      std::vector<Turn> turns;
      for (std::size_t s = 0; s < seats; ++s) {
        const Count step = static_cast<Count>(s) * stage.passes + i;
        const bool works = seats_[first + s] != nullptr && (!core || step < m_.steps);
        if (works) turns.push_back({seats_[first + s].get(), step});
        if (works && core) ++seats_[first + s]->counts.steps;
        period_.slots += core;
        period_.idle_slots += core && !works;
      }
      cycles += pass(stage.number, turns);
    }
    return cycles;
  }

  /// The period in which frame `number` enters, if it comes.
  void period(Count number) {
    begin_period();
    std::vector<Count> ready(seats_.size(), 0);  // when each seat's frame is done, from the begin on
    Count longest = 0, cores = 0, text = 0;
    std::size_t first = 0;
    for (const LineStage& stage : line_.stages) {
      const Count cycles = run_stage(stage, first);
      const Role role = application_.stages[stage.number].role;
      period_.stage_cycles[stage.number] = cycles;
      longest = std::max(longest, cycles);
      if (role == Role::core || role == Role::network) cores = std::max(cores, cycles);
      for (Count s = 0; s < stage.seats; ++s, ++first) ready[first] = cycles;
    }
    if (line_.prompts_per_frame && number + 1 < options_.frames) text = prompt(number + 1);
    move_on(ready, std::max(longest, cores + text));
  }

  void move_on(const std::vector<Count>& ready, Count cycles) {
    const Count begin = period_.begin, end = begin + cycles;
    for (std::size_t s = 0; s < seats_.size(); ++s) {
      if (!seats_[s]) continue;
      const bool leaves_at_once = s + 1 == seats_.size() && line_.stages.back().ends_line;
      if (leaves_at_once) continue;
      seats_[s]->counts.waited += cycles - ready[s];
      period_.waiting += ready[s] < cycles;
    }
    end_period(end);
    if (run_.cancelled) return;
    if (seats_.back()) leave(std::move(seats_.back()), line_.stages.back().ends_line ? begin + ready.back() : end);
    for (std::size_t s = seats_.size(); s-- > 1;) seats_[s] = std::move(seats_[s - 1]);
    seats_[0] = nullptr;
  }

  /// Frame number `f` enters in period `f` behind the first prompt's, and takes a period a seat. With a prompt a
  /// frame the last period in which one enters has none to encode.
  void measure() {
    const Count last = options_.frames - 1 - line_.prompts_per_frame, measured = last + first_period();
    const Count frame = last + 1 - std::ssize(seats_);
    if (frame < 1) return;
    const PeriodCounts& period = run_.periods[static_cast<std::size_t>(measured)];
    const PeriodCounts& before = run_.periods[static_cast<std::size_t>(measured - 1)];
    const FrameCounts& through = run_.frames[static_cast<std::size_t>(frame)];
    SaturatedCounts counts{period.cycles, through.left - through.entered, period.streams, false};
    counts.settled = period.cycles == before.cycles && period.stage_cycles == before.stage_cycles &&
                     period.streams.dram_bytes() == before.streams.dram_bytes();
    run_.saturated = counts;
  }

  const Application& application_;
  const Machine& m_;
  const PipelineOptions& options_;
  Line line_;
  std::vector<std::unique_ptr<Clock>> clocks_;  // by stage
  std::vector<Seat> seats_;                     // from the line's begin
  Seat next_;                                   // has its prompt encoded, and enters next
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
