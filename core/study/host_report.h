// Where the time of a machine with a host goes, and what would save most of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/study/analysis.h"

namespace sdip {

/// A part of a frame's time: what is saved when it costs nothing, the parts before it being gone already. The parts
/// sum to the frame's.
struct HostPart {
  std::string what;
  double cycles = 0;
};

/// The machine with other parameters. `software_s` is the time a multiply-accumulate of a frame, softmax and all
/// the rest included, that software may take and be no slower.
struct HostChange {
  std::string changes;
  double cycles = 0, frame_s = 0, software_s = 0;
  std::string infeasible;  // empty, or why
};

struct HostReport {
  std::string model;
  std::string infeasible;  // empty, or why; then nothing else is known
  double cycles = 0;       // of a frame, saturated
  std::int64_t macs = 0;
  std::vector<HostPart> parts;
  std::vector<HostChange> changes;  // the machine as it is first
};

/// Requires a checked machine. Throws Error("value_conflict", "--preset", ...) for one that has no host.
HostReport host_report(const Workloads& workloads, const std::string& model, const Machine& machine);

/// The cycles of its bus that the authors of the PYNQ-Z2 accelerator measured beyond those that they computed;
/// nothing for other models. Shown beside the model's own figures; nothing is fitted to it.
std::optional<double> unexplained_cycles(const std::string& model);

}  // namespace sdip
