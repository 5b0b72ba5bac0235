// What a report must say of an application, from what the executor counted and docs/model/:
// written apart from core/cost, as the executor is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/cost/price/estimate.h"
#include "core/exec/clock/step.h"

namespace sdip {

/// Joules of the events of a pass, by part of a report's breakdown.
using Joules8 = std::map<std::string, double>;

/// One stage, stepped until its passes settle.
struct CountedStage {
  const CompiledStage* stage = nullptr;
  std::int64_t steps_per_core = 1, active_cores = 1, spread_cores = 1;
  std::int64_t cores_of_frame = 0;        // cores that hand a frame on
  std::vector<InstructionCounts> steady;  // by instruction
  InstructionCounts pass;                 // their sums; `end`: of the pass, `start`: the instructions' own times
  std::int64_t cold_cycles = 0, alone_cycles = 0, link_cycles = 0, bound_cycles = 0, psram_peak_bytes = 0;
  std::int64_t macs = 0, made_macs = 0, mac_cycles = 0, bound_dram_bytes = 0;
  std::int64_t products_in_mac = 1;
  Joules8 own, shared;  // of one core; of all cores together
  std::vector<double> instruction_joules;
  bool settled = false;
};

struct CountedFrame {
  std::vector<CountedStage> stages;
  std::map<Metric, double> metrics;
  Joules8 joules;  // of one frame
  std::map<std::string, double> area_mm2;
  bool settled = true;
};

/// Requires bursts of one byte, weights that are neither compressed nor pinned, no strips, and `stages` that the
/// machine can run.
CountedFrame counted_frame(const Application& application, const Machine& machine);

}  // namespace sdip
