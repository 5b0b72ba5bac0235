// The stream of frames through SDIP, run: encoder, N cores in lockstep, each on another frame, decoder, and what
// waits between them.
//
// Time goes in periods. In one, each stage that has frames runs its program on the clock: encoder and decoder once,
// the cores once for each of the s = ceil(T / N) steps that a core does; then the latent and context of each frame
// go over the link to the next core. The next period begins when all are done; a frame that is done earlier waits
// in the buffer behind its stage. What ends the line leaves at once. One sequencer serves all active cores: they
// move their bytes whether or not a frame, or a step of it, is left for them. A stage that waits stands still, its
// prefetcher too.
//
// With a crossbar between cores as many frames as there are cores enter together, each goes to a core of its own
// and does all its steps there, so that no core hands over to another and no slot idles; encoder, decoder and, with
// a prompt a frame, the text encoder take the frames of a period one after the other.
//
// Worked example (a test repeats it): T = 5 on N = 2 cores: s = 3 and both are active; a frame does steps 0 to 2 on
// the first and 3 and 4 on the second, which idles one slot a period. With passes of 10 cycles and 1 of link, an
// encoder of 40 and a decoder of 5, periods take 40, a frame's way 3 x 40 + 5. With a crossbar two frames leave in
// max(5 x 10 + 1, 2 x 40, 2 x 5) = 80 cycles, and the second is on its way for 2 x 80 + 2 x 5.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "core/exec/chip/execute.h"
#include "core/exec/clock/step.h"

namespace sdip {

/// Sources of tensors, with which the frames' tensors are computed, too, pass by pass. An input of a stage is what
/// an earlier stage made for the frame under its name, else what one made last of its type and shape; a step's
/// latent is the step before's. An input that none made is asked for.
struct PipelineTensors {
  std::function<Tensor(std::size_t stage, std::int64_t frame, std::int64_t step, const Value& input)> input;
  std::vector<StoredTensors> stored;     // weights by stage
  std::vector<ActivationScales> scales;  // by stage, or none at all
};

/// After each pass of a stage: how many of how many periods are behind, and passes in all.
struct PipelineProgress {
  std::int64_t periods = 0, of_periods = 0, passes = 0;
};

struct PipelineOptions {
  std::int64_t frames = 1;  // that enter, one a period or, with a crossbar, one a core; at least 1
  bool alone = false;       // one frame, every stage from cold, one core's transfers
  const PipelineTensors* tensors = nullptr;
  std::function<void(const PipelineProgress&)> progress{};
  const std::atomic<bool>* cancel = nullptr;  // looked at between passes
};

/// A frame's way. A network's frames go `frames_at_once` together and count as one.
struct FrameCounts {
  std::int64_t entered = 0, left = 0;  // cycles; its prompt is encoded before it enters, alone after
  std::int64_t waited = 0;             // of them, in buffers between stages
  std::int64_t steps = 0;              // of the core's program
  std::vector<Tensor> outputs;         // of the last stage, with tensors
};

/// One period (the first prompt, which serves all frames or the first, is one of its own), or the whole way of a
/// frame alone: cycles by stage, link and a text encoder per frame included, and bytes.
struct PeriodCounts {
  std::int64_t begin = 0, cycles = 0;
  std::vector<std::int64_t> stage_cycles;  // 0 of stages that had nothing to do
  std::int64_t slots = 0, idle_slots = 0;  // of the active cores: steps, and those that no frame took
  std::int64_t waiting = 0;                // frames in buffers at its end
  PassCounts streams;                      // of all passes, without instructions
};

/// A period in which a frame enters and every seat is taken, and a frame that went through such periods alone (of
/// those that entered together the last to leave).
struct SaturatedCounts {
  std::int64_t period_cycles = 0, latency_cycles = 0;
  PassCounts streams;    // bytes of `frames_at_once` frames
  bool settled = false;  // the period before took and moved as much
};

struct PipelineRun {
  // Images that enter in a period, and cores that run them.
  std::int64_t frames_at_once = 1, steps_per_core = 1, active_cores = 1;
  std::int64_t link_cycles = 0;
  List<FrameCounts> frames;  // those that left
  List<PeriodCounts> periods;
  std::vector<std::vector<std::int64_t>> pass_cycles;  // by stage, from its first, cold pass on
  bool cancelled = false;
  std::optional<SaturatedCounts> saturated;  // the last such; nothing when too few frames came for one
};

/// Runs it. Requires a feasible application, compiled for the machine. Throws what `step` and, with tensors,
/// `execute` throw.
PipelineRun run_pipeline(const Application& application, const Machine& machine, const PipelineOptions& options);

/// Bytes that run_pipeline will take at most, tensors of `execute` as execution_work has them.
double pipeline_bytes(const Application& application, const Machine& machine, const PipelineOptions& options);

}  // namespace sdip
