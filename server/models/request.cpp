// Reading design points, and suggestions for names that do not exist.
#include "server/models/request.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/baseline/roofline.h"

namespace sdip {
namespace {

/// Insertions, deletions and replacements between two names.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_names(std::string_view name, const std::vector<std::string_view>& names) {
  if (name.empty() || name.size() > 100) return "";
  std::vector<std::pair<std::size_t, std::string_view>> near;
  for (const auto candidate : names) {
    const auto distance = edit_distance(name, candidate);
    const bool part = name.size() >= 3 && candidate.find(name) != std::string_view::npos;
    if (part || distance <= 1 + std::max(name.size(), candidate.size()) / 4) near.emplace_back(distance, candidate);
  }
  std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(near.size(), 3); ++i)
    text += (i == 0 ? "did you mean " : ", ") + std::string(near[i].second);
  return text.empty() ? text : text + "?";
}

const Preset& require_preset(const std::string& name, const std::string& where) {
  if (const Preset* preset = find_preset(name)) return *preset;
  std::string names;
  for (const auto& preset : presets()) names += " " + std::string(preset.name);
  throw Error("unknown_preset", where, "no preset " + name.substr(0, 80) + "; expected one of" + names);
}

PointRequest point_request(const Json& body, bool with_baselines) {
  if (with_baselines)
    require_keys(body, {"model", "preset", "machine", "formats", "baselines"}, "");
  else
    require_keys(body, {"model", "preset", "machine", "instructions", "formats"}, "");
  PointRequest request;
  const auto model = text_field(body, "model", "");
  if (!model) throw Error("value_invalid", "/model", "required: the name of a model");
  request.model = *model;
  request.machine = require_preset(text_field(body, "preset", "").value_or("essay"), "/preset").machine;
  if (body.contains("machine")) assign_json(request.machine, body["machine"], "/machine");
  check_machine(request.machine);
  request.instructions = flag_field(body, "instructions", "").value_or(false);
  request.formats.text = text_field(body, "formats", "").value_or("");
  if (request.formats.text.size() > most_formats_bytes)
    throw Error("limit_exceeded", "/formats",
                "expected at most " + std::to_string(most_formats_bytes) + " bytes of rules");
  parse_formats(request.formats.text, request.formats.from);  // before a job is made of them
  if (!with_baselines) return request;
  if (const auto names = texts_field(body, "baselines", "")) {
    request.baselines = *names;
  } else {
    for (const auto& device : devices()) request.baselines.push_back(device.id);
  }
  for (std::size_t i = 0; i < request.baselines.size(); ++i)
    if (!find_device(request.baselines[i]))
      throw Error("unknown_baseline", "/baselines/" + std::to_string(i),
                  "no such device; `GET /baselines` lists them");
  return request;
}

}  // namespace sdip
