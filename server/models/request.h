// A design point as a user asks for it: a model, a preset, and what differs from it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/nearest_names.h"
#include "core/baseline/device.h"
#include "core/machine/former.h"
#include "core/machine/machine.h"
#include "core/study/said_formats.h"
#include "server/io/json_in.h"

namespace sdip {

/// The most frames at once in a comparison.
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
  std::optional<TechnologyNode> node;  // that a comparison draws all in
  SaidFormats formats;                 // of single layers; of analyses alone
};

/// Reads the body of POST /analyses, or with `with_baselines` of POST /comparisons, where no list means all
/// devices. Throws Error unknown_key, unknown_parameter, unknown_preset, unknown_baseline, value_*.
PointRequest point_request(const Json& body, bool with_baselines);

/// A node of the technology table by its name, "n7". Throws Error value_invalid, of FPGA parts too.
TechnologyNode node_named(const std::string& name, const std::string& where);
std::string_view node_text(TechnologyNode node);

/// Throws Error value_invalid where two are equal, at what `where` says of the later one's place.
template <class List>
void require_once(const List& list, const std::function<std::string(std::size_t)>& where) {
  for (std::size_t i = 0; i < list.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (list[i] == list[j]) throw Error("value_invalid", where(i), "this one stands twice");
}

/// The preset of that name. Throws Error unknown_preset with the nearest names.
const Preset& require_preset(const std::string& name, const std::string& where);

}  // namespace sdip
