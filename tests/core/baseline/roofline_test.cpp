// Are the rooflines what the formulas say, and never below what was measured?
#include "core/baseline/roofline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"

namespace sdip {
namespace {

Device simple_device() {
  return {.id = "x",
          .name = "X",
          .peak_flops = 1000,
          .dram_bytes_per_s = 100,
          .native_format = "fp16",
          .fields = {},
          .notes = {"n"}};
}

TEST(roofline, takes_the_larger_of_compute_and_memory_for_each_stage) {
  // Compute-bound: 3 passes of 2 * 5000 / 1000 = 10 s, with 2 * (100 + 20 + 30) / 100 = 3 s of memory.
  // Memory-bound: 1 pass of 2 * 100 / 1000 = 0.2 s, with 2 * (40 + 5 + 5) / 100 = 1 s.
  const std::vector<StageWork> stages = {{"unet", Macs(5000), 100, 20, 30, 3}, {"text", Macs(100), 40, 5, 5, 1}};
  const Roofline one = roofline(simple_device(), stages, 1);
  EXPECT_DOUBLE_EQ(one.stages[0].time_s, 30);
  EXPECT_DOUBLE_EQ(one.stages[0].memory_s, 9);
  EXPECT_DOUBLE_EQ(one.stages[1].time_s, 1);
  EXPECT_DOUBLE_EQ(one.latency_s, 31);
  EXPECT_DOUBLE_EQ(one.throughput_fps, 1 / 31.0);
  EXPECT_DOUBLE_EQ(one.compute_s, 30.2);
  EXPECT_DOUBLE_EQ(one.memory_s, 10);
  EXPECT_DOUBLE_EQ(one.dram_bytes_per_frame, 1000);
}

TEST(roofline, reads_weights_once_for_all_frames_of_a_batch) {
  const std::vector<StageWork> stages = {{"text", Macs(100), 40, 5, 5, 1}};
  const Roofline four = roofline(simple_device(), stages, 4);
  EXPECT_DOUBLE_EQ(four.memory_s, 2 * (40 + 4 * 10) / 100.0);
  EXPECT_DOUBLE_EQ(four.compute_s, 0.8);
  EXPECT_DOUBLE_EQ(four.latency_s, 1.6);
  EXPECT_DOUBLE_EQ(four.throughput_fps, 2.5);
  EXPECT_DOUBLE_EQ(four.dram_bytes_per_frame, 40);
}

TEST(roofline, moves_no_weights_that_all_stay_in_the_arrays) {
  const std::vector<StageWork> stages = {{"text", Macs(100), 524'288, 5, 5, 2},
                                         {"unet", Macs(100), 524'288, 5, 5, 1}};
  Device device = simple_device();
  const Roofline moved = roofline(device, stages, 1);
  EXPECT_DOUBLE_EQ(moved.dram_bytes_per_frame, 3 * 2 * (524'288 + 10));
  device.figures = {{"resident_weight_mib", 1.99, "MiB", "", "primary"}};
  EXPECT_DOUBLE_EQ(roofline(device, stages, 1).dram_bytes_per_frame, moved.dram_bytes_per_frame)
      << "both stages' weights are 2 MiB";
  device.figures[0].value = 2;
  const Roofline stay = roofline(device, stages, 1);
  EXPECT_DOUBLE_EQ(stay.dram_bytes_per_frame, 3 * 2 * 10);
  EXPECT_THAT(stay.notes, testing::Contains(testing::StartsWith("Weights stay")));
}

TEST(roofline, says_that_it_is_only_a_bound) {
  const std::vector<StageWork> stages = {{"text", Macs(1), 1, 1, 1, 1}};
  const Roofline one = roofline(simple_device(), stages, 1);
  EXPECT_THAT(one.notes, testing::ElementsAre(testing::StartsWith("Roofline only"), "n"));
  EXPECT_THROW(roofline(simple_device(), stages, 0), Bug);
  EXPECT_THROW(roofline(simple_device(), {}, 1), Bug);
}

TEST(devices, are_there_with_their_figures) {
  EXPECT_EQ(find_device("tpu_v4")->peak_flops, 275e12);
  EXPECT_EQ(find_device("mn_core_2")->dram_bytes_per_s, 512e9);
  EXPECT_EQ(find_device("a100")->fields[0].value, "312");
  EXPECT_EQ(find_device("none"), nullptr);
}

TEST(devices, cite_no_source_that_was_not_read) {
  for (const Device& device : devices())
    for (const DeviceField& field : device.fields)
      if (field.confidence == "unverified")
        EXPECT_EQ(field.source, "unverified, commonly quoted") << device.id;
      else
        EXPECT_FALSE(field.source.find("unverified") != std::string::npos) << device.id << " " << field.name;
}

/// The devices of the reference are here; where both say a peak as a plain number in the device's native format,
/// and agree on no more than a vendor's roundings, it is the same.
TEST(devices, of_the_reference_are_all_here) {
  std::ifstream file(SDIP_SHARED_DIR "/reference/devices.json");
  if (!file) GTEST_SKIP() << "no reference figures at " SDIP_SHARED_DIR;
  const auto reference = nlohmann::json::parse(file);
  int compared = 0;
  for (const auto& device : reference["devices"]) {
    const Device* const ours = find_device(device["id"].get<std::string>());
    ASSERT_NE(ours, nullptr) << device["id"];
    for (const std::string& format : {ours->native_format, std::string("half")})
      for (const char* unit : {"_tflops", "_tops"}) {
        const auto peak = device["fields"].find("peak_" + format + unit);
        if (peak == device["fields"].end() || !(*peak)["value"].is_number() || ours->peak_flops == 0) continue;
        EXPECT_NEAR(ours->peak_flops, 1e12 * (*peak)["value"].get<double>(), 0.01 * ours->peak_flops) << ours->id;
        ++compared;
      }
  }
  EXPECT_GE(compared, 15);
}

struct Published {
  const char* id;
  const char* device;
  int frames;                                     // images in the batch
  double (*step_s)(const nlohmann::json& entry);  // seconds a guided U-Net step of the batch
};

/// SD 1.x U-Net at 64 x 64: 859,520,964 parameters, 401.64 GMAC a forward, guidance makes two of one step.
StageWork guided_unet() {
  return {"unet", Macs(2 * 401'640'000'000), 859'520'964, 2 * (4 * 64 * 64 + 77 * 768), 2 * 4 * 64 * 64, 1};
}

TEST(roofline, is_never_slower_than_what_was_measured) {
  std::ifstream file(SDIP_SHARED_DIR "/reference/benchmarks.json");
  if (!file) GTEST_SKIP() << "no published results at " SDIP_SHARED_DIR;
  const auto entries = nlohmann::json::parse(file)["entries"];
  const auto from_rate = [](const nlohmann::json& entry) { return 1 / entry["value"].get<double>(); };
  const auto from_ms = [](const nlohmann::json& entry) { return entry["value"].get<double>() / 1000; };
  const Published published[] = {{"ait_a100_unet", "a100", 1, from_ms},
                                 {"hf_pt2_a100_b1", "a100", 1, from_rate},
                                 {"hf_pt2_a100_b4", "a100", 4, from_rate},
                                 {"hf_pt2_a100_b16", "a100", 16, from_rate},
                                 {"onediff_a800_sd15", "a100", 1, from_rate}};
  const std::vector<StageWork> stages = {guided_unet()};
  for (const Published& row : published) {
    const auto entry = std::ranges::find_if(entries, [&](const auto& e) { return e["id"] == row.id; });
    ASSERT_NE(entry, entries.end()) << row.id;
    const Roofline bound = roofline(*find_device(row.device), stages, row.frames);
    const double measured = row.frames / row.step_s(*entry);
    const double ratio = bound.throughput_fps / measured;
    std::cout << row.id << ": roofline " << bound.throughput_fps << ", measured " << measured
              << " guided steps a second; predicted over measured " << ratio << "\n";
    EXPECT_GE(ratio, 1) << row.id;
    EXPECT_LT(ratio, 10) << row.id << ": a bound that far away would say nothing";
  }
}

}  // namespace
}  // namespace sdip
