// A design point as a user asks for it: a model, a preset, and what differs from it.
#pragma once

#include "core/base/nearest_names.h"
#include "core/baseline/device.h"
#include "core/machine/machine.h"
#include "server/io/json_in.h"
#include "server/io/said_formats.h"

namespace sdip {

/// Of a comparison.
inline constexpr std::int64_t most_frames_at_once = 4096;

struct PointRequest {
  std::string model;
  Machine machine;                    // checked
  std::vector<std::string> warnings;  // of parameters under the names of the version before
  bool instructions = false;
  std::vector<std::string> baselines;
  std::vector<Device> devices;         // of the request's own
  std::vector<const Preset*> presets;  // ours that stand beside the machine
  std::vector<std::int64_t> batches;   // of a comparison
  SaidFormats formats;                 // of single layers; of analyses alone
};

/// Reads the body of POST /analyses, or with `with_baselines` of POST /comparisons, where no list means all
/// devices. Throws Error unknown_key, unknown_parameter, unknown_preset, unknown_baseline, value_*.
PointRequest point_request(const Json& body, bool with_baselines);

/// The preset of that name. Throws Error unknown_preset with the nearest names.
const Preset& require_preset(const std::string& name, const std::string& where);

}  // namespace sdip
