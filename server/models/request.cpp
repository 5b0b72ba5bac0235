// Reading design points.
#include "server/models/request.h"

#include "core/base/error.h"
#include "core/baseline/roofline.h"

namespace sdip {

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
  request.machine =
      require_preset(text_field(body, "preset", "").value_or(std::string(default_preset)), "/preset").machine;
  if (body.contains("machine")) request.warnings = assign_json(request.machine, body["machine"], "/machine");
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
