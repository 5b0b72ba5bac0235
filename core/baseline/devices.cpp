// Devices from their JSON files.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/index.h"
#include "core/baseline/device.h"
#include "core/baseline/device_files.h"

namespace sdip {
namespace {

using nlohmann::json;

constexpr std::string_view confidences[] = {"primary", "secondary", "derived", "unverified", "seed", "assumption"};
constexpr double least_number = 1e-9, most_number = 1e9, most_count = 1e5;
constexpr std::size_t most_measured = 64, most_listed = 256;
/// Figures that count things.
constexpr std::string_view counted_keys[] = {"arrays",
                                             "array_rows",
                                             "array_columns",
                                             "cube_depth",
                                             "processors",
                                             "cluster",
                                             "tiles",
                                             "l2_blocks",
                                             "l1_blocks_per_l2",
                                             "mabs_per_l1",
                                             "pes_per_mab",
                                             "input_words_per_pe",
                                             "weight_words_per_pe",
                                             "sum_words_per_pe",
                                             "weight_bus_words",
                                             "input_bus_words",
                                             "sum_bus_words",
                                             "cores",
                                             "cube_rows",
                                             "cube_columns",
                                             "vector_lanes",
                                             "sync_cycles",
                                             "dies",
                                             "simd_bits",
                                             "fma_per_cycle",
                                             "l3_groups",
                                             "amx_cycles"};
/// Formats of 1, 2 and 4 bytes an element.
constexpr std::string_view formats_of_bytes[][6] = {{"int8", "fp8", "uint8", "mxfp8", "", ""},
                                                    {"fp16", "bf16", "TF16", "tf16", "int16", ""},
                                                    {"fp32", "tf32", "int32", "", "", ""}};

constexpr std::string_view no_citation = "unverified, commonly quoted";
constexpr std::string_view archetypes[] = {"systolic", "simd_tree",      "simt", "tiles",
                                           "cube",     "row_stationary", "cpu",  "roofline"};
constexpr std::string_view metrics_measured[] = {"images_per_s", "batch_latency_s", "step_s"};
constexpr std::string_view stages_measured[] = {"all", "text_encoder", "core", "decoder"};

/// A JSON object of a device file, and where it stands: what is wrong is told with its member.
class Member {
 public:
  Member(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) refuse("", "expected an object");
  }

  [[noreturn]] void refuse(const std::string& key, const std::string& what) const {
    throw Error("device_invalid", key.empty() ? where_ : where_ + "/" + key, what);
  }
  /// All of these and no others.
  void require_keys(std::initializer_list<const char*> keys) const {
    for (const char* key : keys)
      if (!object_.contains(key)) refuse(key, "this member is missing");
    for (const auto& [key, value] : object_.items())
      if (std::ranges::find(keys, key) == keys.end()) refuse(key.substr(0, 80), "no such member");
  }
  bool has(const char* key) const { return object_.contains(key) && !object_.at(key).is_null(); }
  std::string text(const char* key) const {
    if (!object_.contains(key) || !object_.at(key).is_string()) refuse(key, "expected a text");
    return object_.at(key);
  }
  std::string text_or_number(const char* key) const {
    const json& value = object_.contains(key) ? object_.at(key) : json();
    if (!value.is_string() && !value.is_number()) refuse(key, "expected a text or a number");
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  double number(const char* key) const {
    if (!object_.contains(key) || !object_.at(key).is_number()) refuse(key, "expected a number");
    const double value = object_.at(key).get<double>();
    if (!(value >= least_number && value <= most_number)) refuse(key, "expected a number, 1e-9 to 1e9");
    return value;
  }
  std::int64_t count(const char* key) const {
    const double value = number(key);
    if (value != std::floor(value) || value > most_count) refuse(key, "expected a whole number, 1 to 100,000");
    return static_cast<std::int64_t>(value);
  }
  bool flag(const char* key) const {
    if (!object_.contains(key) || !object_.at(key).is_boolean()) refuse(key, "expected true or false");
    return object_.at(key);
  }
  template <std::size_t size>
  std::size_t one_of(const char* key, const std::string_view (&names)[size]) const {
    const std::string value = text(key);
    const auto found = std::ranges::find(names, value);
    if (found == std::end(names)) {
      std::string expected = "expected one of";
      for (const std::string_view name : names) expected += " " + std::string(name);
      refuse(key, expected);
    }
    return as_size(found - std::begin(names));
  }
  Member at(const char* key) const { return {object_.at(key), where_ + "/" + key}; }
  /// Reads each element of a list with `read`.
  template <class Read>
  auto list(const char* key, const Read& read) const {
    std::vector<decltype(read(*this))> all;
    for (const json& one : listed(key))
      all.push_back(read(Member(one, fmt::format("{}/{}/{}", where_, key, all.size()))));
    return all;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    for (const json& one : listed(key)) {
      if (!one.is_string()) refuse(key, "expected a list of texts");
      all.push_back(one);
    }
    return all;
  }
  /// How well a figure is known. An unverified one cites no source, any other one does.
  std::string confidence() const {
    std::string found(confidences[one_of("confidence", confidences)]);
    const std::string source = text("source");
    if (source.empty()) refuse("source", "expected a source");
    if ((found == "unverified") != (source == no_citation))
      refuse("source", fmt::format("an unverified figure cites nothing: '{}'", no_citation));
    return found;
  }

 private:
  const json& listed(const char* key) const {
    if (!object_.contains(key) || !object_.at(key).is_array()) refuse(key, "expected a list");
    if (object_.at(key).size() > most_listed) refuse(key, "expected at most 256");
    return object_.at(key);
  }

  const json& object_;
  std::string where_;
};

DeviceField field_of(const Member& m) {
  m.require_keys({"name", "value", "unit", "source", "confidence"});
  return {m.text("name"), m.text_or_number("value"), m.text("unit"), m.text("source"), m.confidence()};
}

/// Why the figure of that key cannot have a value; "" where it can.
std::string_view figure_refusal(std::string_view key, double value) {
  const bool counted = std::ranges::find(counted_keys, key) != std::end(counted_keys);
  if (counted && (!(value >= 1 && value <= most_count) || value != std::floor(value)))
    return "expected a whole number, 1 to 100,000";
  if (!(value >= least_number && value <= most_number)) return "expected a number, 1e-9 to 1e9";
  return key == "tensor_share" && value > 1 ? "expected a share, at most 1" : "";
}

DeviceFigure figure_of_member(const Member& m) {
  m.require_keys({"key", "value", "unit", "source", "confidence"});
  const std::string key = m.text("key");
  const double value = m.number("value");
  if (const std::string_view refusal = figure_refusal(key, value); !refusal.empty())
    m.refuse("value", std::string(refusal));
  return {key, value, m.text("unit"), m.text("source"), m.confidence()};
}

Measurement measurement_of(const Member& m) {
  m.require_keys({"id", "software", "model", "stage", "resolution", "steps", "guidance", "batch", "chips", "format",
                  "metric", "value", "unit", "source", "confidence", "note"});
  return {.id = m.text("id"),
          .software = m.text("software"),
          .model = m.text("model"),
          .stage = std::string(stages_measured[m.one_of("stage", stages_measured)]),
          .resolution = m.count("resolution"),
          .steps = m.count("steps"),
          .guidance = m.flag("guidance"),
          .batch = m.has("batch") ? std::optional(m.count("batch")) : std::nullopt,
          .chips = m.count("chips"),
          .format = m.text("format"),
          .metric = std::string(metrics_measured[m.one_of("metric", metrics_measured)]),
          .value = m.number("value"),
          .unit = m.text("unit"),
          .source = m.text("source"),
          .confidence = m.confidence(),
          .note = m.text("note")};
}

/// A figure in base units, shown first among the fields; 0 where it is not published.
double base_figure(const Member& m, const char* key,
                   std::initializer_list<std::pair<std::string_view, double>> units,
                   std::vector<DeviceField>& fields) {
  if (!m.has(key)) return 0;
  const Member figure = m.at(key);
  fields.push_back(field_of(figure));
  const std::string unit = figure.text("unit");
  for (const auto& [name, scale] : units)
    if (unit == name) return figure.number("value") * scale;
  figure.refuse("unit", "expected " + std::string(units.begin()->first));
}

}  // namespace

std::string_view archetype_text(Archetype archetype) { return archetypes[at(archetype)]; }

bool is_eager(const Measurement& measurement) { return measurement.software.find("eager") != std::string::npos; }

std::optional<double> figure_of(const Device& device, std::string_view key) {
  const auto found = std::ranges::find(device.figures, key, &DeviceFigure::key);
  return found == device.figures.end() ? std::nullopt : std::optional(found->value);
}

double bytes_of_format(std::string_view format) {
  for (std::size_t i = 0; i < std::size(formats_of_bytes); ++i)
    for (const std::string_view known : formats_of_bytes[i])
      if (!known.empty() && format.starts_with(known)) return static_cast<double>(1 << i);
  return 0;
}

double bytes_per_element(const Device& device) { return bytes_of_format(device.native_format); }

Device read_device(std::string_view text, const std::string& where) {
  const json object = json::parse(text, nullptr, false);
  if (object.is_discarded()) throw Error("device_invalid", where, "this is no JSON");
  return device_from_json(object, where);
}

Device device_from_json(const json& object, const std::string& where) {
  const Member m(object, where);
  m.require_keys({"id", "name", "archetype", "native_format", "peak", "dram_bandwidth", "figures", "fields",
                  "measured", "notes"});
  Device device{.id = m.text("id"),
                .name = m.text("name"),
                .archetype = static_cast<Archetype>(m.one_of("archetype", archetypes)),
                .native_format = m.text("native_format")};
  if (device.id.empty() || device.id.size() > 64 || device.id == "sdip" ||
      device.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos)
    m.refuse("id", "expected small letters, digits and _, at most 64, and not sdip");
  if (bytes_of_format(device.native_format) == 0)
    m.refuse("native_format", "expected a format of 8, 16 or 32 bits, as fp16 or int8");
  device.peak_flops = base_figure(m, "peak", {{"TFLOP/s", 1e12}, {"TOP/s", 1e12}}, device.fields);
  device.dram_bytes_per_s = base_figure(m, "dram_bandwidth", {{"GB/s", 1e9}}, device.fields);
  device.figures = m.list("figures", figure_of_member);
  for (DeviceField& field : m.list("fields", field_of)) device.fields.push_back(std::move(field));
  for (std::size_t i = 0; i < device.figures.size(); ++i)
    if (std::ranges::find(device.figures, device.figures[i].key, &DeviceFigure::key) !=
        device.figures.begin() + static_cast<std::ptrdiff_t>(i))
      m.refuse("figures/" + std::to_string(i), "this key stands twice");
  device.measured = m.list("measured", measurement_of);
  if (device.measured.size() > most_measured) m.refuse("measured", "expected at most 64");
  device.notes = m.texts("notes");
  return device;
}

void require_figure_value(std::string_view key, double value, const std::string& where) {
  if (const std::string_view refusal = figure_refusal(key, value); !refusal.empty())
    throw Error("value_out_of_range", where, std::string(refusal));
}

void require_own_id(std::span<const Device> own, const std::string& where) {
  const std::string& id = own.back().id;
  if (find_device(id) || std::ranges::count(own, id, &Device::id) > 1)
    throw Error("device_invalid", where, "another device has the id " + id);
}

std::span<const Device> devices() {
  static const std::vector<Device> all = [] {
    std::vector<Device> list;
    for (const std::string_view text : device_files())
      list.push_back(read_device(text, "a device of this program"));
    std::ranges::sort(list, {}, &Device::id);
    return list;
  }();
  return all;
}

const Device* find_device(std::string_view id) {
  const auto all = devices();
  const auto device = std::ranges::find(all, id, &Device::id);
  return device == all.end() ? nullptr : &*device;
}

}  // namespace sdip
