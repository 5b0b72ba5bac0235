// The roofline of a device, stage by stage.
#include "core/baseline/roofline.h"

#include <algorithm>

#include "core/base/error.h"

namespace sdip {
namespace {

constexpr double flops_per_mac = 2, bytes_of_mib = 1024 * 1024;

/// Whether the arrays that multiply hold all weights of all stages, so that none come from DRAM.
bool weights_stay(const Device& device, std::span<const StageWork> stages) {
  const auto held_mib = figure_of(device, "resident_weight_mib");
  double bytes = 0;
  for (const StageWork& stage : stages)
    bytes += bytes_per_element(device) * static_cast<double>(stage.weight_elements);
  return held_mib && bytes <= *held_mib * bytes_of_mib;
}

}  // namespace

Roofline roofline(std::span<const StageWork> stages, std::span<const RooflineRates> rates,
                  std::int64_t frames_at_once) {
  check(!stages.empty() && frames_at_once >= 1, "roofline: at least one stage and one frame");
  check(stages.size() == rates.size(), "roofline: rates of each stage");
  const auto frames = static_cast<double>(frames_at_once);
  Roofline result;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    const StageWork& stage = stages[i];
    const RooflineRates& rate = rates[i];
    const auto passes = static_cast<double>(stage.passes_per_frame);
    const auto activations = static_cast<double>(stage.input_elements + stage.output_elements);
    const double bytes = passes * (rate.weight_bytes * static_cast<double>(stage.weight_elements) +
                                   frames * rate.activation_bytes * activations);
    const double flops = passes * frames * flops_per_mac * static_cast<double>(stage.macs.value);
    StageRoofline part{
        .name = stage.name, .compute_s = flops / rate.flops, .memory_s = bytes / rate.dram_bytes_per_s};
    part.time_s = std::max(part.compute_s, part.memory_s);
    result.compute_s += part.compute_s;
    result.memory_s += part.memory_s;
    result.latency_s += part.time_s;
    result.dram_bytes_per_frame += bytes / frames;
    result.stages.push_back(std::move(part));
  }
  check(result.latency_s > 0, "roofline: a frame that needs work");
  result.throughput_fps = frames / result.latency_s;
  return result;
}

Roofline roofline(const Device& device, std::span<const StageWork> stages, std::int64_t frames_at_once) {
  const bool stay = weights_stay(device, stages);
  const double bytes = bytes_per_element(device);
  const std::vector<RooflineRates> rates(stages.size(),
                                         {device.peak_flops, device.dram_bytes_per_s, stay ? 0 : bytes, bytes});
  Roofline result = roofline(stages, rates, frames_at_once);
  result.notes = {
      "Roofline only: a bound that no schedule can beat, not a prediction; every MAC busy, activations between "
      "layers on chip, " +
      device.native_format + " throughout."};
  if (stay) result.notes.push_back("Weights stay in the arrays that multiply by them: none come from DRAM.");
  result.notes.insert(result.notes.end(), device.notes.begin(), device.notes.end());
  return result;
}

}  // namespace sdip
