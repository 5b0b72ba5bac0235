// Measures what a machine's number formats do to a workload's results: the program is executed beside its graph
// computed in full, and compared layer by layer, step by step and at the end.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/exec/run/calibration.h"
#include "core/exec/run/deviation.h"
#include "core/exec/run/diffusion.h"

namespace sdip {

struct AccuracyOptions {
  std::uint64_t seed = 0;  // of what is measured; calibration has seeds of its own, from the next one on
  CalibrationRule rule;
  std::int64_t samples = 4;  // ways through the stages to calibrate from; of a core as many steps of the first
  /// Called behind each part of the work, with the share that is done; false ends the measurement.
  std::function<bool(double)> go_on = {};
};

/// A result that lies in memory, after one run of its stage (of a core the first step).
struct LayerAccuracy {
  std::string value, instruction, op;
  Deviation deviation;
};

struct StepAccuracy {
  double t = 0;
  Deviation latent;  // of the way so far: errors of earlier steps are in it
};

struct StageAccuracy {
  std::string name;
  Role role = Role::network;
  std::vector<LayerAccuracy> layers;  // in the order of the program
  std::vector<StepAccuracy> steps;    // of a core
  Deviation output;                   // of the stage's first output, of a core behind the last step
};

struct AccuracyReport {
  bool complete = false;  // false: ended by go_on
  std::vector<StageAccuracy> stages;
  /// The deviation of the frame: of the last stage's output.
  const Deviation& output() const { return stages.back().output; }
};

/// Goes through the stages of an application three times: computing with other seeds to calibrate the scales of
/// integer formats (not at all where there are none), computing to have what should be, and executing each stage in
/// the machine's formats on what the executed stages before it made. `stored`: of each stage, its weights. Requires
/// a feasible application of the machine, of graphs that draw no random numbers (with_given_noise). Throws what
/// `compute` and `execute` throw.
AccuracyReport measured_accuracy(const Application& application, const Machine& machine,
                                 const std::vector<StoredTensors>& stored, const AccuracyOptions& options);

/// Multiply-accumulates and elements that this computes, the largest memory that a stage takes, in bytes.
ExecutionWork accuracy_work(const Application& application, const Machine& machine, const AccuracyOptions& options);

}  // namespace sdip
