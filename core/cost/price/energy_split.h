// A frame's energy by instruction, and what of it no instruction has. Internal to its room.
#pragma once

#include <span>
#include <vector>

#include "core/cost/price/frame.h"

namespace sdip {

/// Energy in J of one frame, by what spends it. All parts sum to frame_energy().
struct EnergySplit {
  std::vector<std::vector<Energy>> instructions;  // by stage
  std::vector<std::vector<Energy>> passes;        // of one core, shared events whole, leakage apart: not of a frame
  Breakdown waiting;                              // what leaks while no instruction runs, by what waits
};

/// `traces` by stage, as run_stage left them; `frame` is of the same runs, priced at `bound`.
///
/// Worked example. Two cores, of a step of 90 cycles in two instructions of 30 and 60, a link of 10; the decoder's
/// pass takes 50. The period is 100 cycles, in which three cores leak 300 core cycles: the step's instructions on
/// both cores 60 and 120, links 20, the decoder's 50, and 50 while it waits.
EnergySplit split_energy(const Application& application, std::span<const StageRun> runs,
                         std::span<const std::vector<InstructionTime>> traces, const Frame& frame,
                         const StandingPower& standing, const Supply& supply, const Machine& m, Bound bound);

}  // namespace sdip
