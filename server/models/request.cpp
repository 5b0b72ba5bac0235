// Reading design points.
#include "server/models/request.h"

#include "core/baseline/device_space.h"
#include "core/machine/technology.h"

namespace sdip {

const Preset& require_preset(const std::string& name, const std::string& where) {
  if (const Preset* preset = find_preset(name)) return *preset;
  std::string names;
  for (const auto& preset : presets()) names += " " + std::string(preset.name);
  throw Error("unknown_preset", where, "no preset " + name.substr(0, 80) + "; expected one of" + names);
}

std::string_view node_text(TechnologyNode node) { return find_parameter("technology_node")->choices[at(node)]; }

TechnologyNode node_named(const std::string& name, const std::string& where) {
  std::string nodes;
  for (std::size_t i = 0; i < find_parameter("technology_node")->choices.size(); ++i) {
    const auto node = static_cast<TechnologyNode>(i);
    if (is_fpga(node)) continue;
    if (node_text(node) == name) return node;
    nodes += " " + std::string(node_text(node));
  }
  throw Error("value_invalid", where, "no process " + name.substr(0, 80) + "; expected one of" + nodes);
}

namespace {

constexpr std::size_t most_batches = 8, most_own_devices = 32, most_own_measured = 16;

void read_batches(const Json& body, std::vector<std::int64_t>& batches) {
  batches = {1, 8};
  if (!body.contains("batches")) return;
  const Json& list = body["batches"];
  if (!list.is_array() || list.empty() || list.size() > most_batches)
    throw Error("value_invalid", "/batches", "expected a list of 1 to 8 whole numbers");
  batches.clear();
  for (const Json& one : list) {
    if (!one.is_number_integer() || one < 1 || one > most_frames_at_once)
      throw Error("value_out_of_range", "/batches/" + std::to_string(batches.size()),
                  "expected a whole number, 1 to " + std::to_string(most_frames_at_once));
    batches.push_back(one);
  }
}

void read_devices(const Json& body, std::vector<Device>& devices_read) {
  if (!body.contains("devices")) return;
  const Json& list = body["devices"];
  if (!list.is_array() || list.size() > most_own_devices)
    throw Error("value_invalid", "/devices", "expected a list of at most 32 devices, as docs/formats.md has them");
  std::size_t measured = 0;
  for (const Json& one : list) {
    const std::string where = "/devices/" + std::to_string(devices_read.size());
    devices_read.push_back(device_from_json(one, where));
    require_own_id(devices_read, where + "/id");
    measured += devices_read.back().measured.size();
    if (measured > most_own_measured)
      throw Error("limit_exceeded", where + "/measured",
                  fmt::format("expected at most {} measured results of all devices together", most_own_measured));
  }
}

}  // namespace

PointRequest point_request(const Json& body, bool with_baselines) {
  if (with_baselines)
    require_keys(
        body,
        {"model", "preset", "machine", "formats", "baselines", "devices", "presets", "batches", "node", "vary"},
        "");
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
                fmt::format("expected at most {} bytes of rules", most_formats_bytes));
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
  if (const auto names = texts_field(body, "presets", ""))
    for (std::size_t i = 0; i < names->size(); ++i)
      request.presets.push_back(&require_preset((*names)[i], "/presets/" + std::to_string(i)));
  const auto place_in = [](const char* list) {
    return [list](std::size_t i) { return fmt::format("/{}/{}", list, i); };
  };
  require_once(request.baselines, place_in("baselines"));
  require_once(request.presets, place_in("presets"));
  read_batches(body, request.batches);
  require_once(request.batches, place_in("batches"));
  if (const auto node = text_field(body, "node", "")) request.node = node_named(*node, "/node");
  read_devices(body, request.devices);
  if (body.contains("vary")) add_device_spaces(body["vary"], request.devices, "/vary");
  return request;
}

}  // namespace sdip
