// Devices whose figures vary.
#include "core/baseline/device_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/baseline/device_run.h"
#include "tests/core/baseline/made_product.h"

namespace sdip {
namespace {

std::vector<Device> variants(const std::string& text) {
  std::vector<Device> own;
  add_device_spaces(nlohmann::json::parse(text), own, "/vary");
  return own;
}

std::string refusal_code(const std::string& text) {
  try {
    variants(text);
  } catch (const Error& error) {
    return error.code + " " + error.where;
  }
  return "";
}

/// One product of 4096 rows, columns and terms.
std::vector<LayeredStage> made_stage() {
  LayeredStage stage;
  stage.name = "made";
  stage.layers = {made_product({1, 4096, 4096, 4096}, true)};
  return {stage};
}

TEST(device_space, of_the_worked_example) {
  const auto all = variants(R"({"tpu_v4i": {"array_columns": [64], "array_rows": [64]}})");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_NEAR(all[0].peak_flops, 34.5e12, 1e9);
  EXPECT_EQ(all[0].id, "tpu_v4i_1");
  EXPECT_EQ(all[0].name, find_device("tpu_v4i")->name + ", array_columns=64 array_rows=64");
  EXPECT_TRUE(all[0].measured.empty());
  EXPECT_FALSE(figure_of(all[0], "tdp_w"));
  EXPECT_TRUE(has_model(all[0]));
}

TEST(device_space, has_every_combination_and_runs_each) {
  const auto all = variants(R"({"tpu_v4i": {"arrays": [1, 4], "dram_gb_per_s": [100, 614, 1200]},
                                "a100": {"processors": [54, 108]}})");
  ASSERT_EQ(all.size(), 8U);
  EXPECT_DOUBLE_EQ(all[0].peak_flops * 2, all[1].peak_flops);
  const std::vector<LayeredStage> stages = made_stage();
  for (const Device& device : all) EXPECT_GT(run_device(device, stages, 1).throughput_fps, 0) << device.name;
  EXPECT_LT(run_device(all[0], stages, 1).throughput_fps, run_device(all[1], stages, 1).throughput_fps);
  EXPECT_LE(run_device(all[2], stages, 1).throughput_fps, run_device(all[4], stages, 1).throughput_fps);
}

TEST(device_space, of_the_base_s_own_figures_takes_the_base_s_time) {
  const Device& base = *find_device("tpu_v4i");
  const auto same = variants(R"({"tpu_v4i": {"arrays": [4]}})");
  const std::vector<LayeredStage> stages = made_stage();
  EXPECT_DOUBLE_EQ(run_device(same[0], stages, 2).latency_s, run_device(base, stages, 2).latency_s);
  EXPECT_DOUBLE_EQ(same[0].peak_flops, base.peak_flops);
}

TEST(device_space, of_a_tree_too_large_to_plan_for_has_no_model) {
  const auto all = variants(R"({"mn_core_2": {"l1_blocks_per_l2": [8, 4096], "mabs_per_l1": [16, 64]}})");
  for (const Device& device : all)
    EXPECT_EQ(has_model(device),
              figure_of(device, "l1_blocks_per_l2") == 8 && figure_of(device, "mabs_per_l1") == 16)
        << device.name;
}

TEST(device_space, refuses_what_no_device_can_have) {
  EXPECT_EQ(refusal_code(R"({"tpu": {"arrays": [1]}})"), "unknown_baseline /vary/tpu");
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": {"lanes": [1]}})"), "value_invalid /vary/tpu_v4i/lanes");
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": {"arrays": []}})"), "value_invalid /vary/tpu_v4i/arrays");
  for (const char* of_the_whole : {"die_mm2", "tdp_w"})
    EXPECT_EQ(refusal_code(R"({"a100": {")" + std::string(of_the_whole) + R"(": [100]}})"),
              "value_invalid /vary/a100/" + std::string(of_the_whole));
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": {}})"), "value_invalid /vary/tpu_v4i");
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": [1]})"), "value_invalid /vary/tpu_v4i");
  EXPECT_EQ(refusal_code(R"([])"), "value_invalid /vary");
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": {"arrays": ["4"]}})"), "value_invalid /vary/tpu_v4i/arrays");
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": {"arrays": [1.5]}})"), "value_out_of_range /vary/tpu_v4i/arrays");
  EXPECT_EQ(refusal_code(R"({"tpu_v4i": {"clock_mhz": [0]}})"), "value_out_of_range /vary/tpu_v4i/clock_mhz");
  EXPECT_EQ(refusal_code(R"({"symphony": {"node_nm": [7]}})").substr(0, 13), "value_invalid");
  std::string many = R"({"tpu_v4i": {"arrays": [1)";
  for (int i = 2; i <= 300; ++i) many += "," + std::to_string(i);
  EXPECT_EQ(refusal_code(many + "]}}"), "limit_exceeded /vary/tpu_v4i");
}

}  // namespace
}  // namespace sdip
