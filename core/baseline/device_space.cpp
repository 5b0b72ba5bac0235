// Devices whose figures vary.
#include "core/baseline/device_space.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/number_text.h"
#include "core/baseline/device_machines.h"
#include "core/baseline/device_run.h"

namespace sdip {
namespace {

constexpr std::string_view dram_key = "dram_gb_per_s";

/// Figures and fields that are of a kind of machine, and so of its variants, too.
constexpr std::string_view of_the_whole[] = {"die_mm2", "tdp_w", "dies", "sram_mib", "list_price_usd"};
constexpr std::string_view kept_fields[] = {"control", "cache", "interconnect", "communication", "DRAM"};

void check_axes(const Device& base, std::span<const DeviceAxis> axes, const std::string& where) {
  if (axes.empty()) throw Error("value_invalid", where, "expected figures to vary");
  std::size_t combinations = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::string place = where + "/" + axes[a].key.substr(0, 80);
    if (axes[a].key != dram_key && !figure_of(base, axes[a].key))
      throw Error("value_invalid", place, base.id + " has no such figure that a variant can have");
    for (std::size_t b = 0; b < a; ++b)
      if (axes[b].key == axes[a].key) throw Error("value_invalid", place, "varied twice");
    if (axes[a].values.empty()) throw Error("value_invalid", place, "expected at least one value");
    for (const double value : axes[a].values) require_figure_value(axes[a].key, value, place);
    combinations *= std::min(axes[a].values.size(), most_device_variants + 1);
    if (combinations > most_device_variants)
      throw Error("limit_exceeded", where, fmt::format("more than {} variants", most_device_variants));
  }
}

/// The base without what is published of it as a whole.
Device kind_of(const Device& base) {
  Device kind = base;
  kind.measured.clear();
  std::erase_if(kind.figures, [](const DeviceFigure& figure) {
    return std::ranges::find(of_the_whole, figure.key) != std::end(of_the_whole);
  });
  std::erase_if(kind.fields, [](const DeviceField& field) {
    return std::ranges::find(kept_fields, field.name) == std::end(kept_fields);
  });
  return kind;
}

void set_figure(Device& device, const DeviceAxis& axis, double value) {
  if (axis.key == dram_key) {
    device.dram_bytes_per_s = value * 1e9;
    return;
  }
  const auto figure = std::ranges::find(device.figures, axis.key, &DeviceFigure::key);
  figure->value = value;
  figure->confidence = "assumption";
  figure->source = "varied by the user";
}

}  // namespace

std::vector<Device> device_space(const Device& base, std::span<const DeviceAxis> axes, const std::string& where) {
  if (!has_model(base))
    throw Error("value_invalid", where, base.id + " has no model of its kind: there is nothing to vary");
  const Device kind = kind_of(base);
  check_axes(kind, axes, where);
  std::vector<Device> all = {kind};
  for (const DeviceAxis& axis : axes) {
    std::vector<Device> next;
    for (const Device& one : all)
      for (const double value : axis.values) {
        Device& variant = next.emplace_back(one);
        set_figure(variant, axis, value);
        variant.name += (&axis == axes.data() ? ", " : " ") + axis.key + "=" + shortest_text(value);
      }
    all = std::move(next);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].id = fmt::format("{}_{}", base.id, i + 1);
    all[i].peak_flops = base.peak_flops * structural_flops(all[i]) / structural_flops(base);
    // The base's first fields are its peak and its bandwidth, whose name says the kind of its DRAM.
    DeviceField peak = base.fields.at(0), bandwidth = base.fields.at(1);
    peak.value = shortest_text(all[i].peak_flops / 1e12);
    peak.source = "the peak of " + base.name + " times the variant's units over its own";
    peak.confidence = "derived";
    if (all[i].dram_bytes_per_s != base.dram_bytes_per_s) {
      bandwidth.value = shortest_text(all[i].dram_bytes_per_s / 1e9);
      bandwidth.source = "varied by the user";
      bandwidth.confidence = "assumption";
    }
    all[i].fields.insert(all[i].fields.begin(), {std::move(peak), std::move(bandwidth)});
    all[i].notes.push_back("A variant of " + base.name +
                           ": its die, power and price are not known, and nothing was measured on it.");
  }
  return all;
}

namespace {

/// Reads axes such as {"array_rows": [64, 128]}.
std::vector<DeviceAxis> device_axes(const nlohmann::json& figures, const std::string& where) {
  if (!figures.is_object()) throw Error("value_invalid", where, "expected lists of values by figure");
  std::vector<DeviceAxis> axes;
  for (const auto& [key, values] : figures.items()) {
    const bool numbers =
        values.is_array() && std::ranges::all_of(values, [](const auto& value) { return value.is_number(); });
    if (!numbers) throw Error("value_invalid", where + "/" + key.substr(0, 80), "expected a list of numbers");
    axes.push_back({key, values.template get<std::vector<double>>()});
  }
  return axes;
}

}  // namespace

void add_device_spaces(const nlohmann::json& object, std::vector<Device>& own, const std::string& where) {
  if (!object.is_object()) throw Error("value_invalid", where, "expected devices by id, each with figures to vary");
  std::size_t added = 0;
  for (const auto& [id, figures] : object.items()) {
    const std::string place = where + "/" + id.substr(0, 80);
    const auto given = std::ranges::find(own, id, &Device::id);
    const Device* base = given != own.end() ? &*given : find_device(id);
    if (base == nullptr) throw Error("unknown_baseline", place, "no such device; `GET /baselines` lists them");
    for (Device& variant : device_space(*base, device_axes(figures, place), place)) {
      own.push_back(std::move(variant));
      require_own_id(own, where);
      if (++added > most_device_variants)
        throw Error("limit_exceeded", where, fmt::format("more than {} variants", most_device_variants));
    }
  }
}

}  // namespace sdip
