// Devices from their JSON files.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/baseline/device_files.h"
#include "core/baseline/roofline.h"

namespace sdip {
namespace {

using nlohmann::json;

constexpr std::string_view confidences[] = {"primary", "secondary", "derived", "unverified", "seed"};
constexpr std::string_view no_citation = "unverified, commonly quoted";

DeviceField field_of(const json& object) {
  check(object.size() == 5, "device field: name, value, unit, source and confidence");
  const json& value = object.at("value");
  DeviceField field{.name = object.at("name"),
                    .value = value.is_string() ? value.get<std::string>() : value.dump(),
                    .unit = object.at("unit"),
                    .source = object.at("source"),
                    .confidence = object.at("confidence")};
  check(std::ranges::find(confidences, field.confidence) != std::end(confidences),
        "device field: a known confidence");
  check(!field.source.empty() && (field.confidence == "unverified") == (field.source == no_citation),
        "device field: a source, cited only if it was read");
  return field;
}

/// The number of a figure in base units. Requires one of the units listed.
double number_of(const json& object) {
  const std::string unit = object.at("unit");
  const double scale = unit == "TFLOP/s" ? 1e12 : unit == "GB/s" ? 1e9 : 0;
  check(scale > 0, "device: a peak in TFLOP/s, a bandwidth in GB/s");
  const double number = object.at("value").get<double>() * scale;
  check(number > 0, "device: figures above 0");
  return number;
}

Device device_of(std::string_view text) {
  const json object = json::parse(text);
  check(object.size() == 7, "device: id, name, native_format, peak, dram_bandwidth, fields and notes");
  Device device{.id = object.at("id"),
                .name = object.at("name"),
                .peak_flops = number_of(object.at("peak")),
                .dram_bytes_per_s = number_of(object.at("dram_bandwidth")),
                .native_format = object.at("native_format"),
                .fields = {field_of(object.at("peak")), field_of(object.at("dram_bandwidth"))},
                .notes = object.at("notes")};
  for (const json& field : object.at("fields")) device.fields.push_back(field_of(field));
  return device;
}

}  // namespace

std::span<const Device> devices() {
  static const std::vector<Device> all = [] {
    std::vector<Device> list;
    for (const std::string_view text : device_files()) list.push_back(device_of(text));
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
