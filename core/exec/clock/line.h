// The line of seats through which frames move, and the clocks that its stages run on.
#pragma once

#include <memory>
#include <vector>

#include "core/exec/clock/clock.h"
#include "core/program/program.h"

namespace sdip::exec {

/// A stage in the line: its seats stand one behind the other, one for each core that works on frames of their own;
/// with a crossbar the cores are one seat, in which as many frames sit as enter together.
struct LineStage {
  std::size_t number = 0;        // of the application
  std::int64_t seats = 1;        // frames in it at once, or groups of them
  std::int64_t passes = 1;       // of its program in a period, of each frame where they go one after the other
  std::int64_t link_cycles = 0;  // to hand its frames on
  bool ends_line = false;        // what it makes leaves at once
};

/// Which stages a frame passes, in order; which run once a prompt.
struct FrameLine {
  std::vector<LineStage> stages;
  std::vector<std::size_t> per_prompt;  // numbers of the text encoders
  bool prompts_per_frame = false;
  std::int64_t frames_at_once = 1;  // images that are one frame here
  std::int64_t together = 1;        // frames that enter in a period
  std::int64_t seats() const;
};
FrameLine line_of(const Application& application, const Machine& machine);

/// Hundredths of the channel: what neither encoder nor decoder has is the cores'.
Decimal share_of(Role role, const Machine& machine);

/// A stage's clock, with `cores` in lockstep and its share of the channel.
std::unique_ptr<Clock> clock_of(const CompiledStage& stage, const Machine& machine, std::int64_t cores);

/// How many cores move their bytes in a pass of a stage.
std::int64_t cores_in_lockstep(const CompiledStage& stage, const Machine& machine);

}  // namespace sdip::exec
