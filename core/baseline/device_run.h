// A workload on a published machine: predicted by the model of its kind, bounded where there is none, and what was
// measured beside it. docs/model/devices.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/stop.h"
#include "core/baseline/archetypes/layer_time.h"
#include "core/baseline/archetypes/layers.h"
#include "core/baseline/device.h"
#include "core/baseline/roofline.h"

namespace sdip {

/// Sums over the layers of a stage, of one pass.
struct DeviceStage {
  std::string name;
  std::int64_t passes = 1;  // of all frames
  LayerTime pass;
};

/// Frames as one batch, or as so many equal ones one after the other where that takes less; stage after stage.
struct DeviceRun {
  bool modelled = false;  // else a roofline: the least time of any schedule
  std::int64_t batches = 1;
  double latency_s = 0;  // of the batch
  double throughput_fps = 0;
  double utilization = 0;  // operations needed over those of the peak in that time; 0: no peak published
  double dram_bytes_per_frame = 0;
  std::vector<DeviceStage> stages;
  std::vector<std::string> notes;
};

/// The work of a stage as a roofline takes it.
StageWork work_of_stage(const LayeredStage& stage);
/// All passes of a stage of a roofline, as of one pass.
DeviceStage stage_of_roofline(const StageRoofline& stage, std::int64_t passes);

/// The key of the first figure that a device lacks for a model of its kind; "" where it lacks none. A roofline
/// needs peak and bandwidth.
std::string lacking_figure(const Device& device);
/// Whether a workload's time on it can be said at all: peak and bandwidth are published.
bool can_run(const Device& device);

/// Whether it has a model of its kind, and all figures that this reads; else a roofline is all.
bool has_model(const Device& device);

/// `eager`: layer by layer, as a framework without a compiler runs them. `stop` is asked before each way to cut the
/// frames into batches, and ends it with Error cancelled. Requires can_run, a stage and a frame at least.
DeviceRun run_device(const Device& device, std::span<const LayeredStage> stages, std::int64_t frames,
                     bool eager = false, const Stop& stop = {});

/// A measured result beside the prediction. `fitted`: it set the factor of its software, measured over predicted.
struct Compared {
  const Device* device = nullptr;
  const Measurement* measurement = nullptr;
  double measured_s = 0;   // of a batch on one chip: of an image, a step or a stage, as the measurement says
  double predicted_s = 0;  // by the model alone
  double factor = 1;       // of its (device, software)
  bool fitted = false;
  /// Predicted with the factor, over measured, less 1.
  double error() const { return factor * predicted_s / measured_s - 1; }
};
/// The workload of a measurement, as one batch's stages: those that it timed.
using StagesOfMeasurement = std::function<std::vector<LayeredStage>(const Measurement&)>;
/// Why a measurement of a device has no prediction beside it: "": it has one, if its stages are any of the
/// workload's.
std::string not_compared(const Device& device, const Measurement& measurement);
/// Compares all measurements of a device that not_compared() says nothing against. The factor of each software is
/// that of its point of the smallest batch, the first of several; eager runs (software with "eager" in it) are
/// compared and fit nothing for others.
std::vector<Compared> compare_measured(const Device& device, const StagesOfMeasurement& stages,
                                       const Stop& stop = {});

}  // namespace sdip
