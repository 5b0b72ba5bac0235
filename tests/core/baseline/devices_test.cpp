// Device files: what is read, what is refused and where, and what runs on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/baseline/device_run.h"
#include "tests/core/baseline/made_product.h"
#include "tests/core/explore/refusal.h"

namespace sdip {
namespace {

using nlohmann::json;

json figure(const char* key, double value) {
  return {{"key", key}, {"value", value}, {"unit", ""}, {"source", "a paper"}, {"confidence", "primary"}};
}

json small_device() {
  const json peak = {
      {"name", "peak"}, {"value", 1}, {"unit", "TFLOP/s"}, {"source", "a paper"}, {"confidence", "primary"}};
  const json rate = {
      {"name", "DRAM"}, {"value", 100}, {"unit", "GB/s"}, {"source", "a paper"}, {"confidence", "primary"}};
  return {{"id", "small"},
          {"name", "Small"},
          {"archetype", "tiles"},
          {"native_format", "int8"},
          {"peak", peak},
          {"dram_bandwidth", rate},
          {"figures",
           {figure("tiles", 4), figure("macs_per_tile_per_cycle", 125), figure("clock_mhz", 1000),
            figure("tile_kib", 256), figure("exchange_gb_per_s", 1000), figure("tdp_w", 10),
            figure("vector_flops_per_cycle", 16)}},
          {"fields", json::array()},
          {"measured", json::array()},
          {"notes", {"a note"}}};
}

std::string refusal_of(const std::function<void(json&)>& change) {
  json device = small_device();
  change(device);
  return refusal([&] { read_device(device.dump(), "d.json"); });
}

TEST(devices, are_read_with_their_figures_in_base_units) {
  const Device device = read_device(small_device().dump(), "d.json");
  EXPECT_EQ(device.peak_flops, 1e12);
  EXPECT_EQ(device.dram_bytes_per_s, 100e9);
  EXPECT_EQ(figure_of(device, "tiles"), 4);
  EXPECT_EQ(figure_of(device, "nothing"), std::nullopt);
  EXPECT_EQ(bytes_per_element(device), 1);
  EXPECT_EQ(device.fields.size(), 2U);
}

TEST(devices, that_are_malformed_are_refused_where_they_are) {
  EXPECT_EQ(refusal([] { read_device("{", "d.json"); }), "device_invalid at d.json");
  EXPECT_EQ(refusal([] { read_device("[]", "d.json"); }), "device_invalid at d.json");
  EXPECT_EQ(refusal_of([](json& d) { d.erase("peak"); }), "device_invalid at d.json/peak");
  EXPECT_EQ(refusal_of([](json& d) { d["more"] = 1; }), "device_invalid at d.json/more");
  EXPECT_EQ(refusal_of([](json& d) { d["archetype"] = "magic"; }), "device_invalid at d.json/archetype");
  EXPECT_EQ(refusal_of([](json& d) { d["figures"][1]["value"] = -1; }), "device_invalid at d.json/figures/1/value");
  EXPECT_EQ(refusal_of([](json& d) { d["peak"]["unit"] = "GFLOP/s"; }), "device_invalid at d.json/peak/unit");
  EXPECT_EQ(refusal_of([](json& d) { d["peak"]["confidence"] = "unverified"; }),
            "device_invalid at d.json/peak/source");
  EXPECT_EQ(refusal_of([](json& d) { d["notes"] = {1}; }), "device_invalid at d.json/notes");
  EXPECT_EQ(refusal_of([](json& d) { d["peak"] = nullptr; }), "accepted") << "unpublished";
  EXPECT_EQ(refusal_of([](json& d) { d["figures"][0]["value"] = 1e9; }),
            "device_invalid at d.json/figures/0/value");
  EXPECT_EQ(refusal_of([](json& d) { d["figures"][0]["value"] = 0.3; }),
            "device_invalid at d.json/figures/0/value");
  EXPECT_EQ(refusal_of([](json& d) { d["figures"][2]["value"] = 1e300; }),
            "device_invalid at d.json/figures/2/value");
  EXPECT_EQ(refusal_of([](json& d) { d["figures"].push_back(d["figures"][0]); }),
            "device_invalid at d.json/figures/7")
      << "twice";
  EXPECT_EQ(refusal_of([](json& d) { d["id"] = "A b/.."; }), "device_invalid at d.json/id");
  EXPECT_EQ(refusal_of([](json& d) { d["native_format"] = "fp64"; }), "device_invalid at d.json/native_format");
}

LayeredStage one_product(std::int64_t rows, std::int64_t columns, std::int64_t terms) {
  const Layer layer = made_product({1, rows, columns, terms}, true);
  return {.name = "net",
          .layers = {layer},
          .passes_per_frame = 2,
          .weight_elements = layer.weight_elements,
          .input_elements = layer.a_elements,
          .output_elements = layer.output_elements};
}

TEST(devices, without_what_their_model_reads_are_bounded) {
  json small = small_device();
  const std::vector<LayeredStage> stages = {one_product(64, 64, 64)};
  const Device device = read_device(small.dump(), "d.json");
  EXPECT_EQ(lacking_figure(device), "");
  EXPECT_TRUE(run_device(device, stages, 1).modelled);
  small["figures"].erase(0);
  const Device less = read_device(small.dump(), "d.json");
  EXPECT_EQ(lacking_figure(less), "tiles");
  json faster = small_device();
  faster["peak"]["value"] = 0.5;
  EXPECT_NE(lacking_figure(read_device(faster.dump(), "d.json")), "") << "its tiles make twice its peak";
  const DeviceRun bound = run_device(less, stages, 1);
  EXPECT_FALSE(bound.modelled);
  // Two passes of max(2 x 64^3 / 1e12, 3 x 64^2 / 100e9).
  EXPECT_DOUBLE_EQ(bound.latency_s, 2 * 2.0 * 64 * 64 * 64 / 1e12);
  EXPECT_DOUBLE_EQ(bound.utilization, 1);
}

TEST(devices, of_this_program_are_never_faster_than_their_peak_or_memory_allows) {
  const std::vector<LayeredStage> stages = {one_product(4096, 320, 320), one_product(77, 768, 768)};
  for (const Device& device : devices()) {
    if (!can_run(device)) continue;
    for (const std::int64_t frames : {1, 8}) {
      const DeviceRun run = run_device(device, stages, frames);
      EXPECT_LE(run.utilization, 1.0001) << device.id;
      EXPECT_GT(run.utilization, 0) << device.id;
      EXPECT_GT(run.dram_bytes_per_frame, 0) << device.id;
    }
  }
}

TEST(devices, a_software_s_factor_is_fitted_on_its_smallest_batch_alone) {
  json small = small_device();
  const auto measured = [](const char* id, const char* software, int batch, double seconds) {
    return json{{"id", id},
                {"software", software},
                {"model", "m"},
                {"stage", "all"},
                {"resolution", 512},
                {"steps", 1},
                {"guidance", false},
                {"batch", batch},
                {"chips", 1},
                {"format", "int8"},
                {"metric", "batch_latency_s"},
                {"value", seconds},
                {"unit", "s"},
                {"source", "a page"},
                {"confidence", "primary"},
                {"note", ""}};
  };
  small["measured"] = {measured("b", "A", 8, 1), measured("a", "A", 1, 0.25), measured("c", "A eager", 1, 7)};
  const Device device = read_device(small.dump(), "d.json");
  const auto compared =
      compare_measured(device, [](const Measurement&) { return std::vector{one_product(64, 64, 64)}; });
  ASSERT_EQ(compared.size(), 3U);
  EXPECT_TRUE(compared[1].fitted);
  EXPECT_FALSE(compared[0].fitted);
  EXPECT_FALSE(compared[2].fitted);
  EXPECT_DOUBLE_EQ(compared[1].error(), 0);
  EXPECT_DOUBLE_EQ(compared[0].factor, 0.25 / compared[1].predicted_s);
  EXPECT_DOUBLE_EQ(compared[0].error(), compared[0].factor * compared[0].predicted_s / 1 - 1);
  EXPECT_EQ(compared[2].factor, 1) << "eager runs fit nothing";
}

TEST(devices, of_cubes_need_buffers_that_hold_one) {
  Device device = *find_device("ascend_910");
  EXPECT_EQ(device.archetype, Archetype::cube);
  EXPECT_EQ(lacking_figure(device), "");
  const auto figure_at = [&](std::string_view key) {
    return std::ranges::find(device.figures, key, &DeviceFigure::key);
  };
  const double l0c = figure_at("l0c_kib")->value;
  figure_at("l0c_kib")->value = 2;  // two of 16 x 16 sums of 4 bytes
  EXPECT_EQ(lacking_figure(device), "");
  figure_at("l0c_kib")->value = 1.99;
  EXPECT_EQ(lacking_figure(device), "buffers that hold a cube");
  const std::vector<LayeredStage> stages = {one_product(64, 64, 64)};
  EXPECT_FALSE(run_device(device, stages, 1).modelled);
  figure_at("l0c_kib")->value = l0c;
  const double whole = run_device(device, stages, 1).latency_s;
  device.figures.erase(figure_at("launch_us"));  // assumed figures are 0 where they are left out
  device.figures.erase(figure_at("sync_cycles"));
  EXPECT_TRUE(run_device(device, stages, 1).modelled);
  EXPECT_LT(run_device(device, stages, 1).latency_s, whole);
  device.figures.erase(figure_at("l1_kib"));
  EXPECT_EQ(lacking_figure(device), "l1_kib");
}

TEST(devices, that_differ_in_rates_share_their_mappings_and_none_is_worse_than_another_s) {
  // A mapping found at one clock and memory rate is only scaled at others: where both double, all that is neither
  // overhead nor a rate of its own halves; and more of either is never slower, whatever was mapped before.
  const std::vector<LayeredStage> stages = {one_product(512, 320, 640)};
  const auto seconds = [&](Device device, double clock, double dram) {
    device.dram_bytes_per_s *= dram;
    device.peak_flops *= clock;
    std::ranges::find(device.figures, "clock_mhz", &DeviceFigure::key)->value *= clock;
    return run_device(device, stages, 1).latency_s;
  };
  for (const Device& device : devices()) {
    if (!has_model(device)) continue;
    const double here = seconds(device, 1, 1);
    for (const double more : {1.5, 4.0, 64.0}) {
      EXPECT_LE(seconds(device, more, 1), here * (1 + 1e-12)) << device.id;
      EXPECT_LE(seconds(device, 1, more), here * (1 + 1e-12)) << device.id;
      EXPECT_GE(more * seconds(device, more, more), here * (1 - 1e-12)) << device.id;
    }
    EXPECT_LT(seconds(device, 64, 64), here) << device.id;
    EXPECT_EQ(seconds(device, 1, 1), here) << device.id << ": asked again";
  }
}

}  // namespace
}  // namespace sdip
