// Published machines beside ours: what was measured on them beside what their models say, and the table's rows.
#include "server/studies/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <set>
#include <sstream>

#include "core/baseline/network_layout.h"
#include "server/io/text.h"
#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

/// Mean absolute error of all points that fitted nothing, eager runs left out.
double mean_error(const std::set<std::string>& ids, int& points) {
  double sum = 0;
  points = 0;
  for (const std::string& id : ids)
    for (const Compared& one : measured_beside_model(*find_device(id))) {
      if (one.fitted || is_eager(*one.measurement)) continue;
      sum += std::abs(one.error());
      ++points;
    }
  return sum / points;
}

TEST(comparison, of_an_a100_with_one_factor_a_software_is_within_25_percent_of_what_was_measured) {
  int points = 0;
  const double error = mean_error({"a100", "a100_40gb", "a800"}, points);
  std::cout << "A100 and A800: mean absolute error " << 100 * error << " % of " << points << " points\n";
  EXPECT_GE(points, 9);
  EXPECT_LE(error, 0.25);
}

/// The table of docs/model/devices.md.
TEST(docs, the_table_of_what_was_measured_is_that_of_the_models) {
  std::string table =
      "| device | software | format | timed | batch | measured | predicted | factor | error |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Device& device : devices())
    for (const Compared& one : measured_beside_model(device)) {
      const Measurement& m = *one.measurement;
      table += "| " + device.name + " | " + m.software + " | " + m.format + " | " + m.model +
               (m.stage == "all" ? "" : " " + m.stage) + (m.metric == "step_s" ? ", a step" : "") + " | " +
               std::to_string(*m.batch) + " | " + quantity_text(one.measured_s, "s") + " | " +
               quantity_text(one.predicted_s, "s") + " | " + quantity_text(one.factor, "x") + " | " +
               (one.fitted ? "fitted" : std::to_string(std::llround(100 * one.error())) + " %") + " |\n";
    }
  expect_made_section("model/devices.md", "measured", "tests/server/comparison_test.cpp", table);
}

/// The table of docs/model/simd_tree.md: Stable Diffusion's U-Nets on MN-Core 2, a batch of two.
TEST(docs, the_table_of_planned_layouts_is_that_of_the_u_nets) {
  std::string table =
      "| U-Net | products | edges | plan, M cycles | above the bound | conversions, planned | greedy | saved |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  const auto rounded = [](double value, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << value;
    return text.str();
  };
  for (const char* model : {"sd15", "sd21"}) {
    const auto workload = Catalog().workload(model, Machine{});
    for (const Stage& stage : workload->stages) {
      if (stage.role != Role::core) continue;
      const NetworkLayout found = network_layout(product_flow(*stage.graph), mn_core_2(), "tf16");
      const double gap = found.plan.cost / found.plan.lower_bound - 1;
      const double saved = 1 - found.converted / found.greedy_converted;
      EXPECT_LE(gap, 0.05) << model;
      EXPECT_GT(saved, 0) << model;
      EXPECT_LE(found.plan.cost, found.greedy_cycles) << model;
      table += "| " + std::string(model) + " | " + std::to_string(found.products) + " | " +
               std::to_string(found.edges) + " | " + rounded(found.plan.cost / 1e6, 2) + " | " +
               (found.plan.exact ? "optimal" : rounded(100 * gap, 2) + " %") + " | " +
               rounded(found.converted / 1e6, 2) + " | " + rounded(found.greedy_converted / 1e6, 2) + " | " +
               rounded(100 * saved, 1) + " % |\n";
    }
  }
  expect_made_section("model/simd_tree.md", "planned layouts", "tests/server/comparison_test.cpp", table);
}

/// The same processor with elements of a byte, four beside each other in a lane of 32 bits (VNNI).
Device in_int8(Device device) {
  device.native_format = "int8";
  device.peak_flops *= 4;
  return device;
}

/// The table of docs/model/cpu.md: a factor of a runtime, fitted in fp32, on the same network in int8.
TEST(docs, the_table_of_a_processor_s_formats_is_that_of_the_model) {
  const Device* device = find_device("xeon_8375c_r6id_2xlarge");
  ASSERT_NE(device, nullptr);
  const auto compared = measured_beside_model(*device);
  const auto fp32 = std::ranges::find_if(compared, [](const Compared& one) { return one.fitted; });
  ASSERT_NE(fp32, compared.end());
  const auto int8 = std::ranges::find(device->measured, "int8", &Measurement::format);
  ASSERT_NE(int8, device->measured.end());
  ASSERT_EQ(int8->software, fp32->measurement->software);
  Machine machine;
  machine.steps = int8->steps;
  machine.guidance = Guidance::batch;
  const double told = run_device(in_int8(*device), layered_work(Catalog(), int8->model, machine), 1).latency_s;
  const double error = fp32->factor * told / int8->value - 1;
  std::cout << "int8 by the factor of fp32: " << 100 * error << " %\n";
  const auto row = [](const std::string& format, double measured, double predicted, double factor,
                      const std::string& off) {
    return "| " + format + " | " + quantity_text(measured, "s") + " | " + quantity_text(predicted, "s") + " | " +
           quantity_text(factor, "x") + " | " + off + " |\n";
  };
  const std::string table =
      "| Stable Diffusion 1.5, 50 steps, four cores of Ice Lake, " + int8->software +
      " | measured | predicted | factor | error |\n| --- | --- | --- | --- | --- |\n" +
      row("fp32", fp32->measured_s, fp32->predicted_s, fp32->factor, "fitted") +
      row("int8", int8->value, told, fp32->factor, std::to_string(std::llround(100 * error)) + " %");
  expect_made_section("model/cpu.md", "formats", "tests/server/comparison_test.cpp", table);
}

TEST(comparison, has_a_row_for_each_machine_and_device_at_each_batch) {
  const Catalog catalog;
  ComparisonAsked asked;
  asked.model = "tiny-sd";
  asked.machines = {{"sdip", "SDIP", find_preset("balanced")->machine},
                    {"sdip:edge", "SDIP edge", find_preset("edge")->machine}};
  for (const Device& device : devices()) asked.devices.push_back(&device);
  asked.batches = {1, 8};
  const auto rows = comparison_rows(catalog, asked);
  ASSERT_EQ(rows.size(), 2 * (2 + devices().size()));
  int predicted = 0, bounds = 0, unpublished = 0;
  for (const ComparisonRow& row : rows) {
    predicted += row.kind == RowKind::device;
    bounds += row.kind == RowKind::roofline;
    unpublished += row.kind == RowKind::unpublished;
    EXPECT_EQ(row.kind == RowKind::unpublished, !row.value("latency_s").has_value()) << row.id;
    EXPECT_EQ(row.energy.empty(), !row.value("energy_j_per_frame").has_value()) << row.id;
  }
  EXPECT_GE(predicted / 2, 25);
  EXPECT_GE(bounds / 2, 2);
  EXPECT_GE(unpublished / 2, 2);
  // Of ours the frames behind the first leave one by one.
  EXPECT_DOUBLE_EQ(*rows[1].value("latency_s"), *rows[0].value("latency_s") + 7 / *rows[0].value("throughput_fps"));
}

TEST(comparison, more_frames_at_once_never_take_less_time_nor_more_a_frame_than_alone) {
  const Catalog catalog;
  const auto work = layered_work(catalog, "sd15", Machine{});
  for (const Device& device : devices()) {
    if (!can_run(device)) continue;
    const DeviceRun one = run_device(device, work, 1), eight = run_device(device, work, 8);
    EXPECT_GE(eight.latency_s, one.latency_s) << device.id;
    EXPECT_LE(eight.latency_s, 8 * one.latency_s * 1.15) << device.id;
    EXPECT_LE(one.utilization, 1.0001) << device.id;
  }
}

}  // namespace
}  // namespace sdip
