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

#include "core/base/error.h"
#include "core/baseline/archetypes/network_layout.h"
#include "server/io/text.h"
#include "tests/core/base/made_section.h"
#include "tests/server/comparison/rows.h"

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
  expect_made_section("model/devices.md", "measured", "tests/server/comparison/comparison_test.cpp", table);
}

/// The list of docs/model/devices.md: what was published and has no prediction beside it.
TEST(docs, the_list_of_what_is_not_compared_is_that_of_the_devices) {
  std::string table =
      "| device | published | format | batch | why it is not compared |\n| --- | --- | --- | --- | --- |\n";
  for (const Device& device : devices()) {
    const auto compared = measured_beside_model(device);
    for (const Measurement& m : device.measured) {
      const std::string why = not_compared(device, m);
      EXPECT_EQ(why.empty(), std::ranges::find(compared, &m, &Compared::measurement) != compared.end()) << m.id;
      if (why.empty()) continue;
      table += "| " + device.name + " | " + m.software + ", " + m.model + (m.stage == "all" ? "" : " " + m.stage) +
               ", " + quantity_text(m.value, m.unit) + " | " + m.format + " | " +
               (m.batch ? std::to_string(*m.batch) : "-") + " | " + why + " |\n";
    }
  }
  expect_made_section("model/devices.md", "not compared", "tests/server/comparison/comparison_test.cpp", table);
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
  expect_made_section("model/simd_tree.md", "planned layouts", "tests/server/comparison/comparison_test.cpp",
                      table);
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
  const double told =
      run_device(in_int8(*device), layered_work(built_in_workloads(), int8->model, machine), 1).latency_s;
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
  expect_made_section("model/cpu.md", "formats", "tests/server/comparison/comparison_test.cpp", table);
}

TEST(comparison, has_a_row_for_each_machine_and_device_at_each_batch) {
  const Catalog catalog;
  ComparisonAsked asked = asked_of("tiny-sd", {});
  asked.machines.push_back({"sdip:edge", "SDIP edge", find_preset("edge")->machine});
  for (const Device& device : devices()) asked.devices.push_back(&device);
  asked.batches = {1, 8};
  const auto rows = comparison_rows(catalog, asked);
  ASSERT_EQ(rows.size(), 2 * (2 + 2 + 2 + devices().size())) << "ours have streams and bounds, too";
  int predicted = 0, bounds = 0, unpublished = 0, priced = 0, modelled = 0;
  for (const ComparisonRow& row : rows) {
    predicted += row.kind == RowKind::device;
    bounds += row.kind == RowKind::roofline;
    unpublished += row.kind == RowKind::unpublished;
    priced += row.device && row.value("price_usd");
    modelled += row.device && row.value("energy_j_per_frame");
    EXPECT_EQ(row.kind == RowKind::unpublished, !row.value("latency_s").has_value()) << row.id;
    EXPECT_EQ(row.energy.empty(), !row.value("energy_j_per_frame").has_value()) << row.id;
    EXPECT_EQ(row.energy_parts_j.empty(), row.energy.empty()) << row.id;
    double parts = 0;
    for (const auto& [part, joules] : row.energy_parts_j) parts += joules;
    EXPECT_NEAR(parts, row.value("energy_j_per_frame").value_or(0), 1e-9 * parts) << row.id;
  }
  EXPECT_GE(predicted / 2, 25);
  EXPECT_GE(bounds / 2, 2 + 2);
  EXPECT_GE(unpublished / 2, 2);
  EXPECT_GE(priced / 2, 12);
  EXPECT_GE(modelled / 2, 25);
  // Our machine's frames behind the first leave one by one.
  EXPECT_DOUBLE_EQ(
      *row_of(rows, "sdip", 8).value("latency_s"),
      *row_of(rows, "sdip").value("latency_s") + 7 / *row_of(rows, "stream:sdip").value("throughput_fps"));
  // A batch of ours is so many frames and no more, as a device's is; the stream is what it tends to.
  for (const std::int64_t batch : {1, 8}) {
    const ComparisonRow& own = row_of(rows, "sdip", batch);
    EXPECT_DOUBLE_EQ(*own.value("throughput_fps") * *own.value("latency_s"), static_cast<double>(batch));
    EXPECT_LT(*own.value("throughput_fps"), *row_of(rows, "stream:sdip", batch).value("throughput_fps"));
    EXPECT_GT(*own.value("energy_j_per_frame"), *row_of(rows, "stream:sdip", batch).value("energy_j_per_frame"));
  }
  EXPECT_GE(*row_of(rows, "bound:sdip").value("throughput_fps"), *row_of(rows, "sdip").value("throughput_fps"));
}

TEST(comparison, puts_like_beside_like) {
  const auto rows = comparison_rows(Catalog(), asked_of("sd15", {"a800", "apple_m2", "a100", "ipu_bow"}));
  std::vector<RowKind> kinds;
  for (const ComparisonRow& row : rows) {
    const RowKind kind = row.kind == RowKind::device ? RowKind::model : row.kind;
    if (kinds.empty() || kinds.back() != kind) kinds.push_back(kind);
  }
  EXPECT_THAT(kinds,
              testing::ElementsAre(RowKind::model, RowKind::measured, RowKind::roofline, RowKind::unpublished));
  const ComparisonRow& measured = row_of(rows, "measured:a800:onediff_a800_sd15_image");
  EXPECT_EQ(measured.value("latency_s"), 0.3) << "of the same 20 steps; its others are of other frames";
  EXPECT_EQ(std::ranges::count(rows, RowKind::measured, &ComparisonRow::kind), 1);
  EXPECT_EQ(measured.against, std::nullopt) << "nothing of ours is measured";
  EXPECT_DOUBLE_EQ(*row_of(rows, "apple_m2").against, *row_of(rows, "apple_m2").value("throughput_fps") /
                                                          *row_of(rows, "bound:sdip").value("throughput_fps"));
}

TEST(comparison, calibrates_by_the_fastest_software) {
  const auto rows = comparison_rows(Catalog(), asked_of("sd15", {"a800", "tt_wh_n150", "h100"}));
  for (const char* id : {"a800", "tt_wh_n150"}) {
    const ComparisonRow& row = row_of(rows, id);
    ASSERT_TRUE(row.calibration.has_value()) << id;
    double least = 1e9;
    for (const Compared& one : measured_beside_model(*row.device))
      if (one.fitted) least = std::min(least, one.factor);
    EXPECT_DOUBLE_EQ(row.calibration->factor, least) << id;
    EXPECT_DOUBLE_EQ(*row.likely("latency_s"), least * *row.value("latency_s")) << id;
    EXPECT_DOUBLE_EQ(*row.likely("fps_per_mm2"), *row.value("fps_per_mm2") / least) << id;
    EXPECT_EQ(row.likely("area_mm2"), row.value("area_mm2")) << "which no time moves";
    const double energy = *row.likely("energy_j_per_frame") / *row.value("energy_j_per_frame");
    EXPECT_GT(energy, 1) << "what stands all the time takes longer";
    EXPECT_LT(energy, least) << "the work is the same";
  }
  EXPECT_FALSE(row_of(rows, "h100").calibration.has_value());
  EXPECT_EQ(row_of(rows, "h100").likely("latency_s"), row_of(rows, "h100").value("latency_s"));
}

/// The table of docs/model/devices.md: what a device would draw by the table while it runs, beside what it may.
TEST(docs, the_table_of_modelled_power_is_that_of_the_models) {
  ComparisonAsked asked = asked_of("sd15", {});
  for (const Device& device : devices()) asked.devices.push_back(&device);
  asked.batches = {8};
  std::string table =
      "| device | design power, W | modelled | of MACs | of clock tree | leakage | of DRAM and PHYs |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  std::set<std::string> above;
  int devices_beside = 0;
  for (const ComparisonRow& row : comparison_rows(Catalog(), asked)) {
    const auto joules = row.value("energy_j_per_frame"), design = row.value("design_energy_j_per_frame");
    if (!row.device || !joules || !design) continue;
    ++devices_beside;
    if (*joules > 1.1 * *design) above.insert(row.id);
    const double fps = *row.value("throughput_fps");
    const auto watts = [&](std::initializer_list<const char*> parts) {
      double sum = 0;
      for (const char* part : parts) sum += compared_value(row.energy_parts_j, part).value_or(0);
      return std::to_string(std::llround(fps * sum));
    };
    table += "| " + row.name + " | " + std::to_string(std::llround(fps * *design)) + " | " +
             std::to_string(std::llround(fps * *joules)) + " | " + watts({"mac"}) + " | " + watts({"clock"}) +
             " | " + watts({"leakage"}) + " | " + watts({"dram", "dram_phy", "dram_background"}) + " |\n";
  }
  EXPECT_GE(devices_beside, 20);
  EXPECT_THAT(above, testing::ElementsAre("a10", "l4", "t4"))
      << "cards that do not keep their boost clock at 150 W and at 70 W";
  expect_made_section("model/devices.md", "modelled power", "tests/server/comparison/comparison_test.cpp", table);
}

TEST(comparison, tells_losses_once_by_what_may_be_compared) {
  ComparisonAsked asked = asked_of("sd15", {});
  for (const Device& device : devices()) asked.devices.push_back(&device);
  const auto rows = comparison_rows(Catalog(), asked);
  const auto losses = losses_of(rows);
  ASSERT_FALSE(losses.empty());
  std::size_t expected = 0;
  for (const ComparisonRow& row : rows)
    for (const ComparedAim& aim : compared_aims) {
      if (!row.device || (row.kind != RowKind::device && row.kind != RowKind::roofline)) continue;
      const auto ours =
          row_of(rows, row.kind == RowKind::device ? "sdip" : "bound:sdip", row.batch).value(aim.metric);
      const auto theirs = row.likely(aim.metric);
      if (!ours || !theirs || !(aim.more ? *theirs > *ours : *theirs < *ours)) continue;
      ++expected;
      const auto loss = std::ranges::find_if(losses, [&](const Loss& one) {
        return one.id == row.id && one.batch == row.batch && one.metric == aim.metric;
      });
      ASSERT_NE(loss, losses.end()) << row.id << " " << aim.metric;
      EXPECT_DOUBLE_EQ(loss->times, aim.more ? *theirs / *ours : *ours / *theirs);
      EXPECT_EQ(loss->calibrated, row.calibration.has_value());
      EXPECT_EQ(loss->kind, row.kind);
    }
  EXPECT_EQ(losses.size(), expected);
  for (std::size_t i = 1; i < losses.size(); ++i)
    if (losses[i].metric == losses[i - 1].metric && losses[i].batch == losses[i - 1].batch) {
      EXPECT_LE(losses[i].times, losses[i - 1].times);
    }
}

TEST(comparison, draws_all_in_one_process) {
  ComparisonAsked asked = asked_of("tiny-sd", {"a100", "v100", "h100", "tpu_v5e"});
  asked.batches = {1};
  const auto own = comparison_rows(Catalog(), asked);
  asked.node = TechnologyNode::n7;
  const auto at_7 = comparison_rows(Catalog(), asked);
  asked.node = TechnologyNode::n16;
  const auto at_16 = comparison_rows(Catalog(), asked);
  const auto both = [&](const char* id, const char* metric, const std::vector<ComparisonRow>& rows) {
    return std::pair(*row_of(own, id).value(metric), *row_of(rows, id).value(metric));
  };
  for (const char* id : {"sdip", "a100"})  // drawn in 7 nm as they are
    for (const char* metric : {"area_mm2", "energy_j_per_frame", "price_usd", "fps_per_mm2"}) {
      const auto [before, after] = both(id, metric, at_7);
      EXPECT_NEAR(after, before, 1e-9 * before) << id << " " << metric;
    }
  for (const char* metric : {"area_mm2", "energy_j_per_frame"}) {
    EXPECT_GT(both("v100", metric, at_7).first, both("v100", metric, at_7).second) << metric;
    EXPECT_LT(both("a100", metric, at_16).first, both("a100", metric, at_16).second) << metric;
    EXPECT_LT(both("h100", metric, at_7).first, both("h100", metric, at_7).second) << metric;
  }
  for (const ComparisonRow& row : at_16) EXPECT_EQ(row.value("latency_s"), row_of(own, row.id).value("latency_s"));
  EXPECT_GT(*row_of(at_16, "a100").value("area_mm2"), 858);
  EXPECT_FALSE(row_of(at_16, "a100").value("price_usd")) << "no scanner exposes it";
  EXPECT_THAT(row_of(at_16, "a100").notes, testing::Contains(testing::HasSubstr("Drawn anew: 826 mm2")));
  EXPECT_THAT(row_of(at_16, "tpu_v5e").notes, testing::Contains(testing::HasSubstr("lacks node_nm")));
  EXPECT_FALSE(row_of(at_16, "tpu_v5e").value("energy_j_per_frame"));
}

TEST(comparison, shows_a_dram_that_the_weights_alone_exceed) {
  Device small = *find_device("a100");
  small.id = "small";
  std::erase_if(small.figures, [](const DeviceFigure& one) { return one.key == "dram_gib"; });
  small.figures.push_back({"dram_gib", 1, "GiB", "made", "assumption"});
  ComparisonAsked asked = asked_of("sd15", {"a100"});
  asked.devices.push_back(&small);
  asked.batches = {1};
  const auto rows = comparison_rows(Catalog(), asked);
  EXPECT_GT(*row_of(rows, "small").value("dram_filled"), 1);
  EXPECT_NEAR(*row_of(rows, "a100").value("dram_filled"), *row_of(rows, "small").value("dram_filled") / 80, 1e-12);
  EXPECT_THAT(row_of(rows, "small").notes, testing::Contains(testing::HasSubstr("the weights alone take")));
  EXPECT_LT(*row_of(rows, "sdip").value("dram_filled"), 1);
  EXPECT_GT(*row_of(rows, "sdip").value("dram_filled"), 0);
}

TEST(comparison, refuses_what_stands_twice_and_processes_that_are_none) {
  const auto refused = [](const char* body) -> std::string {
    try {
      point_request(Json::parse(body), true);
    } catch (const Error& error) {
      return error.code + " " + error.where;
    }
    return "accepted";
  };
  EXPECT_EQ(refused(R"({"model": "tiny-sd", "baselines": ["a100", "h100", "a100"]})"),
            "value_invalid /baselines/2");
  EXPECT_EQ(refused(R"({"model": "tiny-sd", "presets": ["edge", "edge"]})"), "value_invalid /presets/1");
  EXPECT_EQ(refused(R"({"model": "tiny-sd", "batches": [8, 8]})"), "value_invalid /batches/1");
  EXPECT_EQ(refused(R"({"model": "tiny-sd", "node": "n6"})"), "value_invalid /node");
  EXPECT_EQ(refused(R"({"model": "tiny-sd", "node": "fpga_zynq7020"})"), "value_invalid /node");
  EXPECT_EQ(refused(R"({"model": "tiny-sd", "node": "n16", "batches": [1, 8], "presets": ["edge"]})"), "accepted");
}

TEST(comparison, more_frames_at_once_never_take_less_time_nor_more_a_frame_than_alone) {
  const Catalog catalog;
  const auto work = layered_work(catalog.workloads(), "sd15", Machine{});
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
