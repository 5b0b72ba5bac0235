// Workloads on published machines.
#include "core/baseline/device_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/baseline/device_machines.h"

namespace sdip {
namespace {

constexpr double operations_of_one_mac = 2;

DeviceRun bounded(const Device& device, std::span<const LayeredStage> stages, std::int64_t frames) {
  std::vector<StageWork> work;
  for (const LayeredStage& stage : stages) work.push_back(work_of_stage(stage));
  const Roofline bound = roofline(device, work, frames);
  DeviceRun run;
  run.latency_s = bound.latency_s;
  run.dram_bytes_per_frame = bound.dram_bytes_per_frame;
  for (std::size_t s = 0; s < stages.size(); ++s)
    run.stages.push_back(stage_of_roofline(bound.stages[s], stages[s].passes_per_frame));
  run.notes = bound.notes;
  return run;
}

DeviceRun modelled_at_once(const Device& device, std::span<const LayeredStage> stages, std::int64_t frames,
                           bool eager) {
  DeviceRun run;
  run.modelled = true;
  for (const LayeredStage& stage : stages) {
    std::vector<Layer> layers;
    layers.reserve(stage.layers.size());
    for (const Layer& layer : stage.layers) layers.push_back(with_frames(layer, frames));
    const std::vector<LayerTime> times = times_on(device, layers, eager);
    DeviceStage sum{stage.name, stage.passes_per_frame, {}};
    for (std::size_t i = 0; i < layers.size(); ++i)
      add_time(sum.pass, times[i], static_cast<double>(stage.layers[i].times));
    const auto passes = static_cast<double>(stage.passes_per_frame);
    run.latency_s += passes * sum.pass.seconds;
    run.dram_bytes_per_frame += passes * sum.pass.dram_bytes / static_cast<double>(frames);
    run.stages.push_back(std::move(sum));
  }
  run.notes = assumptions_of(device);
  run.notes.insert(run.notes.end(), device.notes.begin(), device.notes.end());
  return run;
}

/// Which may be less than all at once: what stays on the chip for few frames does not for many.
DeviceRun modelled(const Device& device, std::span<const LayeredStage> stages, std::int64_t frames, bool eager,
                   const Stop& stop) {
  end_if(stop, device.id);
  DeviceRun best = modelled_at_once(device, stages, frames, eager);
  for (std::int64_t batches = 2; batches <= frames; batches *= 2) {
    if (frames % batches != 0) break;
    end_if(stop, device.id);
    DeviceRun run = modelled_at_once(device, stages, frames / batches, eager);
    run.latency_s *= static_cast<double>(batches);
    if (run.latency_s >= best.latency_s) continue;
    best = std::move(run);
    best.batches = batches;
  }
  for (DeviceStage& stage : best.stages) stage.passes *= best.batches;
  if (best.batches > 1)
    best.notes.push_back(fmt::format(
        "{} frames as {} batches one after the other, which takes less than all at once.", frames, best.batches));
  return best;
}

}  // namespace

StageWork work_of_stage(const LayeredStage& stage) {
  StageWork work;
  work.name = stage.name;
  for (const Layer& layer : stage.layers) work.macs += Macs(macs_of(layer) * layer.times);
  work.weight_elements = stage.weight_elements;
  work.input_elements = stage.input_elements;
  work.output_elements = stage.output_elements;
  work.passes_per_frame = stage.passes_per_frame;
  return work;
}

DeviceStage stage_of_roofline(const StageRoofline& stage, std::int64_t passes) {
  const double of_a_pass = 1 / static_cast<double>(passes);
  LayerTime pass;
  pass.seconds = stage.time_s * of_a_pass;
  pass.compute_s = stage.compute_s * of_a_pass;
  pass.memory_s = stage.memory_s * of_a_pass;
  return {stage.name, passes, pass};
}

bool can_run(const Device& device) { return device.peak_flops > 0 && device.dram_bytes_per_s > 0; }

bool has_model(const Device& device) {
  return device.archetype != Archetype::roofline && can_run(device) && lacking_figure(device).empty();
}

DeviceRun run_device(const Device& device, std::span<const LayeredStage> stages, std::int64_t frames, bool eager,
                     const Stop& stop) {
  check(can_run(device) && !stages.empty() && frames >= 1, "run_device: peak, bandwidth, a stage and a frame");
  DeviceRun run =
      has_model(device) ? modelled(device, stages, frames, eager, stop) : bounded(device, stages, frames);
  double macs = 0;
  for (const LayeredStage& stage : stages)
    macs += static_cast<double>(work_of_stage(stage).macs.value) * static_cast<double>(stage.passes_per_frame);
  if (!(run.latency_s > 0))
    throw Error("value_invalid", "/model", "it has no layer that takes a device any time: nothing to compare");
  if (!run.modelled && device.archetype != Archetype::roofline)
    run.notes.push_back("No model of its kind: it lacks " + lacking_figure(device) + ".");
  run.throughput_fps = static_cast<double>(frames) / run.latency_s;
  run.utilization = operations_of_one_mac * macs * run.throughput_fps / device.peak_flops;
  return run;
}

namespace {

/// Seconds of a batch on one chip, which takes its share of the batch.
double measured_seconds(const Measurement& m) {
  if (m.metric == "images_per_s") return static_cast<double>(*m.batch) / m.value;
  return m.value;
}

}  // namespace

std::string not_compared(const Device& device, const Measurement& m) {
  if (!can_run(device)) return "peak or memory rate of the device are not published";
  if (!m.batch) return "its batch is not published";
  if (bytes_of_format(m.format) != bytes_per_element(device))
    return "elements of another size than " + device.native_format + ", which the peak is of";
  return {};
}

std::vector<Compared> compare_measured(const Device& device, const StagesOfMeasurement& stages, const Stop& stop) {
  std::vector<Compared> all;
  for (const Measurement& m : device.measured) {
    if (!not_compared(device, m).empty()) continue;
    const std::vector<LayeredStage> timed = stages(m);
    if (timed.empty()) continue;
    const std::int64_t frames = std::max<std::int64_t>(1, *m.batch / m.chips);
    all.push_back({.device = &device,
                   .measurement = &m,
                   .measured_s = measured_seconds(m),
                   .predicted_s = run_device(device, timed, frames, is_eager(m), stop).latency_s});
  }
  std::map<std::string, std::size_t> fitted;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_eager(*all[i].measurement)) continue;
    const auto [entry, fresh] = fitted.try_emplace(all[i].measurement->software, i);
    if (!fresh && *all[i].measurement->batch < *all[entry->second].measurement->batch) entry->second = i;
  }
  for (const auto& [software, point] : fitted) {
    all[point].fitted = true;
    const double factor = all[point].measured_s / all[point].predicted_s;
    for (Compared& one : all)
      if (one.measurement->software == software) one.factor = factor;
  }
  return all;
}

}  // namespace sdip
