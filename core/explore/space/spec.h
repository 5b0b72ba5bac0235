// A sweep as a user asks for it: a model, a space of machines, and what counts as better.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/space/measure.h"

namespace sdip {

struct SweepSpec {
  std::string name;                    // for people; the model's name when not given
  std::string model;                   // a built-in or uploaded model; whether it exists is the caller's to check
  std::string preset;                  // default_preset when not given
  Space space;                         // base: the preset with `machine` on top
  std::vector<Objective> objectives;   // throughput_fps and area_mm2 when not given
  std::vector<Formula> formulas{};     // metrics of the user's
  std::vector<Formula> constraints{};  // what a point of the front must keep
  std::string formats{};  // of layers: rules of core/program/form/format_text.h; empty: the machines' alone
  std::optional<std::int64_t> validate_seconds{};  // for its front, 0: not at all; nothing: as the server says
};

/// Reads the body of POST /sweeps (docs/api.md). Throws Error(code, JSON pointer, ...) on an unknown key, preset,
/// metric or parameter, an objective without a direction, formulas and formats that say nothing, and whatever
/// space_from_json refuses.
SweepSpec spec_from_json(const nlohmann::json& body);

/// A name for people, as that body and others have it. Throws Error("value_invalid", "/name", ...).
std::string sweep_name_from_json(const nlohmann::json& name);

/// The same sweep with everything spelled out; reading it back gives an equal spec even after a default has
/// changed.
nlohmann::ordered_json spec_json(const SweepSpec& spec);

}  // namespace sdip
