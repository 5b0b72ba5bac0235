// The body of POST /sweeps.
#include "core/explore/space/spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.h"
#include "core/program/form/format_text.h"

namespace sdip {
namespace {

using nlohmann::json;

constexpr std::size_t longest_name = 200;  // bytes

constexpr std::string_view spec_keys[] = {"name",    "model",      "preset",      "machine", "sampling",
                                          "seed",    "count",      "draws",       "axes",    "links",
                                          "metrics", "objectives", "constraints", "formats", "validate_seconds"};
constexpr std::int64_t most_validate_seconds = 3600;

std::string text_from_json(const json& value, const std::string& where) {
  if (!value.is_string()) throw Error("value_invalid", where, "expected a text");
  auto text = value.get<std::string>();
  if (text.empty() || text.size() > longest_name)
    throw Error("value_invalid", where, fmt::format("expected 1 to {} bytes of text", longest_name));
  return text;
}

/// The text at `key`, or `standard` when the key is absent.
std::string text_or(const json& body, const char* key, const std::string& standard) {
  return body.contains(key) ? text_from_json(body[key], std::string("/") + key) : standard;
}

std::string formats_from_json(const json& text) {
  if (!text.is_string()) throw Error("value_invalid", "/formats", "expected a text of rules");
  auto formats = text.get<std::string>();
  if (formats.size() > most_formats_bytes)
    throw Error("limit_exceeded", "/formats",
                fmt::format("expected at most {} bytes of rules", most_formats_bytes));
  parse_formats(formats, "/formats");
  return formats;
}

}  // namespace

std::string sweep_name_from_json(const json& name) { return text_from_json(name, "/name"); }

SweepSpec spec_from_json(const json& body) {
  if (!body.is_object()) throw Error("value_invalid", "", "a sweep: expected a JSON object");
  for (const auto& item : body.items())
    if (std::ranges::find(spec_keys, item.key()) == std::end(spec_keys))
      throw Error("unknown_key", "/" + item.key().substr(0, 80), "no such key in a sweep; docs/api.md lists them");
  if (!body.contains("model")) throw Error("value_invalid", "/model", "expected the name of a model");

  SweepSpec spec;
  spec.model = text_or(body, "model", "");
  spec.name = text_or(body, "name", spec.model);
  spec.preset = text_or(body, "preset", std::string(default_preset));
  const Preset* preset = find_preset(spec.preset);
  if (preset == nullptr) throw Error("value_invalid", "/preset", spec.preset.substr(0, 80) + ": no such preset");
  Machine base = preset->machine;
  if (body.contains("machine")) assign_json(base, body["machine"], "/machine");
  spec.space = space_from_json(body, base);
  if (body.contains("metrics")) spec.formulas = formulas_from_json(body["metrics"], "/metrics");
  spec.objectives = body.contains("objectives") ? objectives_from_json(body["objectives"], spec.formulas)
                                                : std::vector<Objective>{{Metric::throughput_fps, Better::higher},
                                                                         {Metric::area_mm2, Better::lower}};
  if (body.contains("constraints")) spec.constraints = constraints_from_json(body["constraints"], "/constraints");
  if (body.contains("formats")) spec.formats = formats_from_json(body["formats"]);
  if (body.contains("validate_seconds")) {
    if (!body["validate_seconds"].is_number_integer())
      throw Error("value_invalid", "/validate_seconds", "expected a whole number of seconds");
    spec.validate_seconds = body["validate_seconds"].get<std::int64_t>();
    if (*spec.validate_seconds < 0 || *spec.validate_seconds > most_validate_seconds)
      throw Error("value_out_of_range", "/validate_seconds",
                  "expected 0 to " + std::to_string(most_validate_seconds));
  }
  return spec;
}

nlohmann::ordered_json spec_json(const SweepSpec& spec) {
  nlohmann::ordered_json body;
  body["name"] = spec.name;
  body["model"] = spec.model;
  body["preset"] = spec.preset;
  body["machine"] = machine_json(spec.space.base);
  body.update(space_json(spec.space));
  if (!spec.formulas.empty()) body["metrics"] = formulas_json(spec.formulas);
  body["objectives"] = nlohmann::ordered_json::array();
  for (const Objective& objective : spec.objectives) body["objectives"].push_back(objective_text(objective));
  for (const Formula& constraint : spec.constraints) body["constraints"].push_back(constraint.text);
  if (!spec.formats.empty()) body["formats"] = spec.formats;
  if (spec.validate_seconds) body["validate_seconds"] = *spec.validate_seconds;
  return body;
}

}  // namespace sdip
