// The parts of an explanation. Internal to its room.
#pragma once

#include "core/cost/explain/channel_moves.h"
#include "core/cost/explain/explain.h"
#include "core/cost/price/stage.h"

namespace sdip {

/// A stage run once, with what each of its classes moves.
struct ExplainedStage {
  StageRun run;
  std::vector<InstructionTime> trace;
  TimelineRules rules;
  std::vector<ChannelMoves> moves;           // by class
  std::vector<std::int64_t> channel_cycles;  // by class
};

LayerNeeds layer_needs(const ExplainedStage& stage, std::size_t number, std::size_t index);

/// Fills in everything but `layer` and `alike`.
void explain_layer(const ExplainedStage& stage, LayerExplanation& explanation);

/// Bounds (docs/model/frames.md#bounds) with their numbers.
std::vector<FilledTerm> bound_terms(const StageRun& run);

/// Period and latency of a frame, docs/model/frames.md; `pace` is the stage that sets the period.
struct FrameTerms {
  std::vector<FilledTerm> terms;
  std::size_t pace;
};
FrameTerms frame_terms(const std::vector<ExplainedStage>& stages, const Machine& machine);

/// The fastest clock of what is built, and the supply that the chip runs at: docs/model/limits.md.
std::vector<FilledTerm> clock_terms(const Application& application, const Machine& machine);

/// The resource that a layer of so many cycles waits for: of the channel its stalls count, else the largest need.
Needed limiter_of(const Needs& needs, std::int64_t stalls);

}  // namespace sdip
