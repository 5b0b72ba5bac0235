// Does the engine survive every machine that the parameter table allows?
#include <gtest/gtest.h>

#include <cmath>
#include <ctime>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "tests/core/base/full_run.h"
#include "tests/core/channel.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/sanitized.h"

namespace sdip {
namespace {

/// Any value of a row: its ends, its default, or spread evenly over the logarithm.
std::int64_t any_value(Dice& dice, const ParameterRow& row) {
  if (row.type == ParameterType::choice) return dice.between(row.least, row.most);
  switch (dice.between(0, 5)) {
    case 0:
      return row.least;
    case 1:
      return row.most;
    case 2:
      return row.standard;
    default:
      break;
  }
  const double low = std::log2(static_cast<double>(row.least) + 1),
               high = std::log2(static_cast<double>(row.most) + 1);
  const double part = static_cast<double>(dice.between(0, 1000)) / 1000.0;
  const auto value = static_cast<std::int64_t>(std::exp2(low + (high - low) * part) - 1);
  return std::clamp(value, row.least, row.most);
}

/// A machine drawn over all the declared ranges that check_machine accepts: the row that a broken rule names is
/// drawn again. The workload's sizes stay small.
Machine extreme_machine(Dice& dice) {
  while (true) {
    Machine m;
    for (const ParameterRow& row : parameters()) {
      const std::int64_t value = any_value(dice, row);
      const bool whole_bytes = row.name.ends_with("_port_bits") || row.name == "dram_channel_bits";
      row.write(m, whole_bytes ? std::max(row.least, value / 8 * 8) : value);
    }
    m.batch = dice.between(1, 2);
    if (!dice.one_in(4)) m.memory_stair = false;  // takes up to 1,500 compilations
    m.image_height_px = m.image_width_px = 0;
    if (m.sparsity == Sparsity::dense) m.weight_density = m.activation_density = Decimal{100}, m.sparsity_group = 0;
    if (m.sparsity_group == 1) m.sparsity_group = 2;
    for (int drawn = 0; drawn < 100; ++drawn) {
      try {
        check_machine(m);
        return m;
      } catch (const Error& error) {
        const ParameterRow* named = find_parameter(error.where);
        named->write(m, any_value(dice, *named));
      }
    }
  }
}

void expect_within_capacity(const Application& application, const Machine& m) {
  const bool unified = m.activation_memory == ActivationMemory::unified;
  for (const CompiledStage& stage : application.stages) {
    const Machine its = machine_of_stage(m, stage.role);
    const std::int64_t side = largest_dsram_bytes(its);
    for (const Instruction& i : stage.program.instructions) {
      if (unified) {
        EXPECT_LE((i.dsram_read_side + i.dsram_write_side + i.stackram).value,
                  2 * its.dsram_bytes + its.stackram_bytes);
        continue;
      }
      EXPECT_LE(i.dsram_read_side.value, side) << i.name;
      EXPECT_LE(i.dsram_write_side.value, side) << i.name;
      EXPECT_LE(i.stackram.value, its.stackram_bytes) << i.name;
    }
  }
}

void run_extremes(const std::string& unet, std::uint64_t draws, double most_seconds) {
  std::int64_t feasible = 0;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Dice dice(seed);
    const Machine m = extreme_machine(dice);
    Workload workload;
    workload.stages.push_back(built_in_stage(Role::core, unet, m));
    const std::clock_t begin = std::clock();  // of the processor: a loaded machine is no fault
    CompileOptions quickly;
    quickly.say_needed_bytes = false;
    const Application application = compile(workload, m, quickly);
    const Report report = estimate(application, m);
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const double slower = (sanitized ? 20 : 1) * (m.memory_stair ? 10 : 1);
    EXPECT_LT(seconds, slower * most_seconds) << unet;
    if (!report.outcome.counted()) {
      EXPECT_FALSE(report.outcome.reason.empty());
      continue;
    }
    ++feasible;
    expect_within_capacity(application, m);
    const auto value = [&](Metric metric) { return report.outcome.values[static_cast<std::size_t>(metric)]; };
    EXPECT_LE(value(Metric::psram_peak_bytes), static_cast<double>(m.psram_bytes));
    EXPECT_GT(value(Metric::throughput_fps), 0);
    EXPECT_GT(value(Metric::step_cycles), 0);
    EXPECT_GE(value(Metric::weight_bytes_per_frame), 0);
    EXPECT_GE(value(Metric::activation_bytes_per_frame), 0);
    EXPECT_GE(value(Metric::latency_s), 0);
    EXPECT_LE(value(Metric::utilization), 1.0);
    EXPECT_GE(value(Metric::cycles_over_bound), 1.0);
    EXPECT_FALSE(value(Metric::dram_bytes_over_bound) < 1.0);
  }
  EXPECT_GT(feasible, static_cast<std::int64_t>(draws / 8));
}

TEST(extreme, any_machine_that_the_table_allows_is_costed_or_refused_with_a_reason_on_tiny_sd) {
  run_extremes("tiny-sd-unet", full_run() ? 500 : 50, 5.0);
}

TEST(extreme, any_machine_that_the_table_allows_is_costed_or_refused_in_seconds_on_sd15) {
  run_extremes("sd15-unet", 16, 20.0);
}

/// One lane of each, ports of a byte.
Machine least_circuits() {
  Machine m;
  for (const char* name : {"conv_lanes_in", "conv_lanes_out", "conv_lanes_pixel", "linear_lanes_m",
                           "linear_lanes_n", "linear_lanes_k", "matmul_lanes_m", "matmul_lanes_n", "matmul_lanes_k",
                           "vector_lanes", "softmax_lanes", "norm_lanes", "transpose_lanes"})
    find_parameter(name)->write(m, 1);
  m.psram_port_bits = m.dsram_port_bits = m.stackram_port_bits = 8;
  m.stackram_bytes = 0;
  m.cores = 4096;
  m.dram_channels = 4096;  // whose results they hold
  return m;
}

TEST(extreme, the_smallest_memories_and_lanes_end_in_seconds) {
  std::int64_t feasible = 0;
  for (const std::int64_t psram_kib : {1, 48, 64, 512, 65536}) {
    for (const std::int64_t dsram_kib : {1, 512, 768, 1024}) {
      Machine m = least_circuits();
      m.psram_bytes = psram_kib * 1024;
      m.dsram_bytes = dsram_kib * 1024;
      Workload workload;
      workload.stages.push_back(built_in_stage(Role::core, "sd15-unet", m));
      const std::clock_t begin = std::clock();
      const Application application = compile(workload, m);
      feasible += evaluate(application, m).counted();
      const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
      EXPECT_LT(seconds, 20.0) << psram_kib << " KiB of PSRAM, " << dsram_kib << " of DSRAM";
    }
  }
  EXPECT_EQ(feasible, 4 * 4);  // 1 KiB of PSRAM does not hold a norm's gamma and beta
}

TEST(extreme, the_largest_image_is_counted_or_refused) {
  for (const std::int64_t side : {1024, 2048, 8192}) {
    for (const bool least : {false, true}) {
      Machine m = least ? least_circuits() : Machine{};
      m.image_height_px = m.image_width_px = side;
      m.dram_channels = 64;
      m.dsram_bytes = m.psram_bytes = std::int64_t{1} << 26;
      m.dataflow = Dataflow::weight_stationary;
      Workload workload;
      workload.stages.push_back(built_in_stage(Role::core, "sd15-unet", m));
      const Application application = compile(workload, m);
      const Outcome outcome = evaluate(application, m);
      EXPECT_TRUE(outcome.feasible || !outcome.reason.empty());
      if (side == 1024 && !least) {
        EXPECT_TRUE(outcome.counted()) << outcome.reason;
      }
      if (outcome.counted()) {
        EXPECT_GE(outcome.values[static_cast<std::size_t>(Metric::cycles_over_bound)], 1.0);
      }
    }
  }
}

TEST(extreme, a_batch_of_256_frames_is_counted_or_refused) {
  for (const std::int64_t cores : {1, 4096}) {
    Machine m = least_circuits();
    m.cores = cores;
    m.batch = 256;
    m.steps = 1000;
    set_channel(m, 8, 1);
    m.dram_efficiency = Decimal{1};
    const Outcome outcome = evaluate(compile(tiny_sd(m), m), m);
    EXPECT_TRUE(outcome.feasible || !outcome.reason.empty());
  }
}

}  // namespace
}  // namespace sdip
