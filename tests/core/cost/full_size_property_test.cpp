// At full size, all built-in models on all presets: do parts sum to the whole, is nothing below its bounds, and is
// more never worse where that holds without exception?
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/cost/price/stage.h"
#include "core/machine/dram.h"
#include "core/workload/workload.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"
#include "tests/core/cost/work/split_difference.h"

namespace sdip {
namespace {

double of(const Outcome& outcome, Metric metric) { return outcome.values[static_cast<std::size_t>(metric)]; }

struct Compiled {
  std::string name;  // of model and preset
  Machine machine;
  Application application;
};

Application compiled(const Workload& workload, const Machine& m) {
  CompileOptions options;
  options.say_needed_bytes = false;
  return compile(workload, m, options);
}

/// Every built-in model as a network of its own, and SD 1.5 from image to image, on three presets, as far as they
/// fit.
std::vector<Compiled> all() {
  std::vector<Compiled> list;
  const auto add = [&](std::string_view name, const Preset& preset, const Workload& workload, const Machine& m) {
    Compiled one{std::string(name) + " on " + std::string(preset.name), m, compiled(workload, m)};
    if (evaluate(one.application, m).feasible) list.push_back(std::move(one));
  };
  for (const Preset& preset : diffusion_presets()) {
    for (const ModelRow& row : built_in_models()) {
      Workload workload;
      workload.stages.push_back(built_in_stage(Role::network, std::string(row.name), preset.machine));
      add(row.name, preset, workload, preset.machine);
    }
    Machine m = preset.machine;
    m.mode = Mode::image_to_image;
    add("sd15", preset, built_in_pipeline("sd15", m), m);
  }
  return list;
}

double sum_of(const EnergyParts& parts) {
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

void expect_near(double a, double b, const char* what) { EXPECT_NEAR(a, b, 1e-9 * std::abs(b) + 1e-18) << what; }

/// Energy by block, area, leakage, latency and bytes.
void expect_wholes(const Report& report) {
  const Outcome& outcome = report.outcome;
  expect_near(sum_of_parts(report.energy_j), of(outcome, Metric::energy_j_per_frame), "energy");
  expect_near(sum_of_parts(report.area_mm2), of(outcome, Metric::area_mm2), "area");
  expect_near(sum_of_parts(report.latency_s), of(outcome, Metric::latency_s), "latency");
  expect_near(of(outcome, Metric::weight_bytes_per_frame) + of(outcome, Metric::activation_bytes_per_frame) +
                  of(outcome, Metric::program_bytes_per_frame),
              of(outcome, Metric::dram_bytes_per_frame), "bytes");
  double leaked = 0;
  for (const auto& [name, part] : report.energy_j)
    if (name == "leakage") leaked += part;
  expect_near(sum_of_parts(report.leakage_w), leaked * of(outcome, Metric::throughput_fps), "leakage");
}

/// Energy by layer and by block.
void expect_energy_of_layers(const StageReport& stage) {
  EnergyParts parts{};
  double energy = 0;
  for (const InstructionCost& i : stage.instructions) {
    expect_near(sum_of(i.energy_parts), i.energy_j, "instruction");
    energy += i.energy_j;
    for (std::size_t p = 0; p < energy_part_count; ++p) parts[p] += i.energy_parts[p];
  }
  expect_near(energy, stage.energy_j, "stage");
  expect_near(sum_of(stage.energy_parts), stage.energy_j, "its parts");
  for (std::size_t p = 0; p < energy_part_count; ++p)
    expect_near(parts[p], stage.energy_parts[p], std::string(energy_part_text(static_cast<EnergyPart>(p))).c_str());
}

/// Work, stalls and overhead; the bounds.
void expect_time_of_layers(const StageReport& stage, const Program& program, const Machine& m) {
  std::vector<std::int64_t> work;
  for (const InstructionClass& c : program.classes) work.push_back(class_cost(c, m, stage.role).cycles);
  Cycles time(0);
  for (std::size_t i = 0; i < stage.instructions.size(); ++i) {
    const InstructionCost& cost = stage.instructions[i];
    const auto number = static_cast<std::size_t>(program.instructions[i].instruction_class);
    const Cycles stalls = cost.stall_weights + cost.stall_activations + cost.stall_program;
    const Cycles overhead = cost.busy[static_cast<std::size_t>(Resource::overhead)];
    EXPECT_EQ(cost.end - cost.start, Cycles(work[number]) + stalls + overhead) << program.instructions[i].name;
    EXPECT_EQ(cost.start, time);  // each begins where the one before ends
    time = cost.end;
  }
  EXPECT_EQ(time, stage.steady_cycles);
  EXPECT_EQ(stage.running, stage.steady_cycles);
  EXPECT_GE(stage.steady_cycles, stage.bound_cycles);
  EXPECT_GE(stage.dram_weights + stage.dram_activations, stage.bound_dram_bytes);
}

TEST(full_size_property, parts_sum_to_the_whole_by_block_and_by_layer_and_nothing_is_below_its_bounds) {
  const std::vector<Compiled> points = all();
  EXPECT_GT(points.size(), 80U);
  for (const Compiled& one : points) {
    SCOPED_TRACE(one.name);
    const Report report = estimate(one.application, one.machine);
    ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
    expect_wholes(report);
    EXPECT_EQ(split_difference(report), "");
    for (std::size_t s = 0; s < report.stages.size(); ++s) {
      expect_energy_of_layers(report.stages[s]);
      expect_time_of_layers(report.stages[s], one.application.stages[s].program, one.machine);
    }
    EXPECT_GE(of(report.outcome, Metric::cycles_over_bound), 1);
    const double ratio = of(report.outcome, Metric::dram_bytes_over_bound);
    EXPECT_TRUE(std::isnan(ratio) || ratio >= 1);
  }
}

using MachineChange = std::function<void(Machine&)>;

/// Wider ports, faster DRAM, wider links.
void expect_never_slower(const Compiled& one, const Outcome& before) {
  const std::pair<const char*, MachineChange> changes[] = {
      {"DRAM rate", [](Machine& m) { m.dram_rate_mtps = dram_channels(m).rate_mtps * 21 / 20; }},
      {"DRAM channels", [](Machine& m) { m.dram_channels *= 2; }},
      {"DRAM latency", [](Machine& m) { m.dram_latency_ns /= 2; }},
      {"DRAM efficiency", [](Machine& m) { m.dram_efficiency = Decimal{97}; }},
      {"DSRAM port", [](Machine& m) { m.dsram_port_bits += 8; }},
      {"STACKRAM port", [](Machine& m) { m.stackram_port_bits *= 3; }},
      {"PSRAM port", [](Machine& m) { m.psram_port_bits += 1000, m.die_link_bits += 1000; }},
      {"links", [](Machine& m) { m.link_bits *= 2; }},
      {"links between dies", [](Machine& m) { m.die_link_bits *= 2; }},
      {"their latency", [](Machine& m) { m.die_link_cycles /= 2; }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    Machine more = one.machine;
    change(more);
    const Outcome after = evaluate(one.application, more);
    EXPECT_LE(of(after, Metric::step_cycles), of(before, Metric::step_cycles));
    EXPECT_LE(of(after, Metric::latency_s), of(before, Metric::latency_s));
    EXPECT_LE(of(after, Metric::stream_latency_s), of(before, Metric::stream_latency_s));
    EXPECT_GE(of(after, Metric::throughput_fps), of(before, Metric::throughput_fps));
    EXPECT_EQ(of(after, Metric::dram_bytes_per_frame), of(before, Metric::dram_bytes_per_frame));
  }
}

/// The core's clock by a whole number, or transfers round up worse. DRAM stays as it is.
void expect_fewer_seconds(const Compiled& one, const Outcome& before) {
  Machine faster = one.machine;
  faster.core_clock_mhz = 2 * one.machine.core_clock_mhz;
  const Outcome after = evaluate(one.application, faster);
  EXPECT_GE(of(after, Metric::step_cycles), of(before, Metric::step_cycles));
  EXPECT_LE(of(after, Metric::latency_s), of(before, Metric::latency_s));
  EXPECT_GE(of(after, Metric::throughput_fps), of(before, Metric::throughput_fps));
}

/// A steady pass of a program on a machine that it was perhaps not compiled for, stages summed.
PassCost pass_of(const Application& application, const Machine& m) {
  PassCost sum;
  for (const CompiledStage& stage : application.stages) sum += run_stage(stage, m, nullptr)->steady();
  return sum;
}

/// The program of a machine on one of twice its memories.
void expect_no_more_moved(const Compiled& one) {
  Machine more = one.machine;
  for (std::int64_t* bytes : {&more.psram_bytes, &more.dsram_bytes, &more.stackram_bytes, &more.imem_bytes})
    *bytes *= 2;
  const PassCost before = pass_of(one.application, one.machine), after = pass_of(one.application, more);
  EXPECT_LE(bytes_of(after), bytes_of(before));
  EXPECT_LE(after.cycles, before.cycles);
}

TEST(full_size_property, a_fixed_program_is_never_slower_nor_moves_more_for_faster_dram_wider_ports_or_more_sram) {
  for (const Compiled& one : all()) {
    SCOPED_TRACE(one.name);
    const Outcome before = evaluate(one.application, one.machine);
    expect_never_slower(one, before);
    expect_fewer_seconds(one, before);
    expect_no_more_moved(one);
  }
}

TEST(full_size_property,
     compiled_again_for_twice_dsram_or_psram_the_unet_moves_no_more_and_for_stackram_a_thousandth) {
  std::int64_t fewer = 0;
  for (const Preset& preset : diffusion_presets()) {
    Workload workload;
    workload.stages.push_back(built_in_stage(Role::network, "sd15-unet", preset.machine));
    for (std::int64_t Machine::*memory : {&Machine::psram_bytes, &Machine::dsram_bytes, &Machine::stackram_bytes}) {
      std::int64_t before = 0;
      for (const std::int64_t quarters : {1, 2, 4, 8, 16}) {
        Machine m = preset.machine;
        m.cores = 1;  // for which bytes are weighed
        m.*memory = m.*memory / 4 * quarters;
        const Application application = compiled(workload, m);
        ASSERT_TRUE(application.feasible) << application.reason;
        const std::int64_t bytes = bytes_of(pass_of(application, m));
        // Strips end elsewhere: their transfers are rounded up to other bursts.
        const std::int64_t rounded = m.strips == Strips::off ? 0 : before / 100'000;
        const std::int64_t allowed =
            m.tile_goal == TileGoal::balanced ? before / 100 : rounded;  // for fewer cycles
        const std::int64_t more = memory == &Machine::stackram_bytes ? before / 1000 : allowed;
        EXPECT_TRUE(before == 0 || bytes <= before + more)
            << preset.name << " " << m.*memory << ": " << bytes << " after " << before;
        fewer += before > 0 && bytes < before;
        before = bytes;
      }
    }
  }
  EXPECT_GT(fewer, 15);
}

}  // namespace
}  // namespace sdip
