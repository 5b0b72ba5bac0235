// What other devices could do at best: compute peak against memory bandwidth, from published figures.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/baseline/device.h"

namespace sdip {

/// One stage of a frame, one pass of it for one frame.
struct StageWork {
  std::string name;
  Macs macs;
  std::int64_t weight_elements = 0, input_elements = 0, output_elements = 0;
  std::int64_t passes_per_frame = 1;
};

/// The peak rate of a stage, and the bytes of an element that DRAM moves.
struct RooflineRates {
  double flops = 0, dram_bytes_per_s = 0;  // of all that can work on the frames held at once
  double weight_bytes = 0;                 // 0 where weights stay on the chip
  double activation_bytes = 0;
};

struct StageRoofline {
  std::string name;
  double compute_s = 0, memory_s = 0, time_s = 0;  // all passes
};

struct Roofline {
  double compute_s = 0, memory_s = 0;  // sums over stages of each term
  double latency_s = 0;                // of the frames held at once
  double throughput_fps = 0;
  double dram_bytes_per_frame = 0;
  std::vector<StageRoofline> stages;
  std::vector<std::string> notes;
};

/// The least time in which a machine of such rates, one of each stage, can run the stages one after the other with
/// `frames_at_once` frames as a batch:
///   pass  = max(2 * MACs * frames / peak FLOP/s, compulsory bytes / DRAM bytes/s)
///   compulsory bytes = bytes an element * (weights + frames * (inputs + outputs)), each touched once a pass
///   latency = sum of passes * pass; throughput = frames / latency
/// A bound, not a prediction: activations between layers are taken to stay on chip, every MAC to be busy.
/// Requires frames_at_once >= 1, at least one stage, and work. Has no notes.
Roofline roofline(std::span<const StageWork> stages, std::span<const RooflineRates> rates,
                  std::int64_t frames_at_once);
/// The roofline of a device: its peak and its DRAM for all stages, elements in its native format. Where memories
/// multiply what they store (resident_weight_mib) and hold the weights of all stages, weights are 0 bytes; writing
/// them before is not counted.
Roofline roofline(const Device& device, std::span<const StageWork> stages, std::int64_t frames_at_once);

}  // namespace sdip
