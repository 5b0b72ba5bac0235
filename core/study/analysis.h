// One design point from its workload to its report.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/baseline/device_run.h"
#include "core/explore/sensitivity.h"
#include "core/study/said_formats.h"
#include "core/study/workloads.h"

namespace sdip {

struct Analysis {
  std::string model;
  Machine machine;
  std::shared_ptr<const Workload> workload;
  Application application;
  Report report;
};

/// Requires a checked machine. `formats`: of single layers. `stop` ends compiling, with Error cancelled.
Analysis analyze(const Workloads& workloads, const std::string& model, const Machine& machine,
                 const SaidFormats& formats = {}, const Stop& stop = {});

/// A function that compiles a model, or each of a mix, for many machines: it does not say what those lack that do
/// not fit, and uses what earlier ones made.
CompileFunction compile_quickly(const Workloads& workloads, const Mix& mix, const SaidFormats& formats = {},
                                const Stop& stop = {});

/// The frame's stages as any device has to run them: guidance as a batch of two.
std::vector<LayeredStage> layered_work(const Workloads& workloads, const std::string& model, Machine machine);

}  // namespace sdip
