// Does the model behave as hardware must: never slower for having more, parts sum to the whole?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "core/cost/price/estimate.h"
#include "core/cost/time/timeline.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// Presets, and one on which everything spills and waits.
std::vector<Machine> machines() {
  std::vector<Machine> all;
  for (const Preset& preset : diffusion_presets()) all.push_back(preset.machine);
  Machine m = all[0];
  m.psram_bytes = 96 * 1024;
  m.dsram_bytes = 16 * 1024;
  m.stackram_bytes = 24 * 1024;
  m.dram_channels = 1, m.dram_channel_bits = 8;
  m.mode = Mode::image_to_image;
  m.weight_compression = Decimal{150};
  all.push_back(m);
  m.program_storage = ProgramStorage::streamed;
  m.imem_bytes = 32 * 1024;
  m.granularity = Granularity::micro_operation;
  m.host_operators = HostOperators::softmax;
  all.push_back(m);
  return all;
}

TEST(property, more_lanes_or_wider_ports_never_need_more_of_any_circuit_or_port) {
  // Lanes times a whole number: a fold then covers whole folds. (From 5 lanes to 6 the edges may fall worse.)
  using Change = std::function<void(Machine&)>;
  const std::pair<const char*, Change> changes[] = {
      {"channel lanes", [](Machine& m) { m.conv_lanes_out *= 2, m.linear_lanes_n *= 2, m.matmul_lanes_n *= 2; }},
      {"row lanes", [](Machine& m) { m.conv_lanes_pixel *= 3, m.linear_lanes_m *= 3, m.matmul_lanes_m *= 3; }},
      {"sum lanes", [](Machine& m) { m.conv_lanes_in *= 2, m.linear_lanes_k *= 2, m.matmul_lanes_k *= 2; }},
      {"MACs that split", [](Machine& m) { m.composable_macs = ComposableMacs::on; }},
  };
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    const Machine machine = random_machine(dice);
    Machine drawn = machine;
    const Program program = random_program(dice, drawn);
    // A second weight register has the first load, of as many weights as there are lanes, stand before the work.
    drawn.weight_registers = std::min<std::int64_t>(drawn.weight_registers, 1);
    for (const InstructionClass& c : program.classes) {
      const ClassCost before = class_cost(c, drawn);
      for (const auto& [name, change] : changes) {
        Machine more = drawn;
        change(more);
        EXPECT_LE(class_cost(c, more).busy[Resource::compute], before.busy[Resource::compute])
            << name << " seed " << seed;
      }
      Machine wider = drawn;
      for (std::int64_t* port : {&wider.psram_port_bits, &wider.dsram_port_bits, &wider.stackram_port_bits})
        *port += 8 * dice.between(1, 30);
      wider.die_link_bits = wider.psram_port_bits;  // or a beat crosses in more cycles than a narrower one
      EXPECT_LE(class_cost(c, wider).cycles, before.cycles) << "seed " << seed;
    }
  }
}

/// Cycles of `passes` from cold.
std::int64_t total(const Program& program, const Machine& m, Decimal share, std::int64_t passes) {
  List<ClassCost> costs;
  for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
  return run_timeline(program, costs, timeline_rules(m, share, 1, program.pinned_bytes), passes).total(passes);
}

/// DRAM bytes of `passes` from cold.
std::int64_t total_bytes(const Program& program, const Machine& m, std::int64_t passes) {
  List<ClassCost> costs;
  for (const InstructionClass& c : program.classes) costs.push_back(class_cost(c, m));
  const TimelineResult run =
      run_timeline(program, costs, timeline_rules(m, Decimal{50}, 1, program.pinned_bytes), passes);
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < static_cast<std::size_t>(passes); ++p)
    sum += bytes_of(run.passes[std::min(p, run.passes.size() - 1)]);
  return sum;
}

TEST(property, faster_dram_wider_ports_and_earlier_dispatch_never_end_a_program_later) {
  // In one program the order of transfers is fixed, so what comes earlier delays nothing.
  using Change = std::function<void(Machine&, Dice&)>;
  const std::pair<const char*, Change> changes[] = {
      {"channels", [](Machine& m, Dice& dice) { m.dram_channels += dice.between(1, 9); }},
      {"DRAM rate", [](Machine& m, Dice& dice) { m.dram_rate_mtps += 20 * dice.between(1, 300); }},
      {"DRAM latency", [](Machine& m, Dice&) { m.dram_latency_ns /= 2; }},
      {"DRAM turns", [](Machine& m, Dice&) { m.dram_turn_ns /= 3; }},
      {"efficiency", [](Machine& m, Dice&) { m.dram_efficiency = Decimal{100}; }},
      {"DSRAM port", [](Machine& m, Dice& dice) { m.dsram_port_bits += 8 * dice.between(1, 30); }},
      {"PSRAM port",
       [](Machine& m, Dice& dice) {
         m.psram_port_bits += 8 * dice.between(1, 30);
         m.die_link_bits = std::max(m.die_link_bits, m.psram_port_bits);
       }},
      {"links between dies", [](Machine& m, Dice& dice) { m.die_link_bits += dice.between(1, 300); }},
      {"their latency", [](Machine& m, Dice&) { m.die_link_cycles = 1; }},
      {"STACKRAM port", [](Machine& m, Dice& dice) { m.stackram_port_bits += 8 * dice.between(1, 30); }},
      {"link", [](Machine& m, Dice& dice) { m.link_bits += dice.between(1, 300); }},
      {"host's bus", [](Machine& m, Dice& dice) { m.host_bus_bits += dice.between(1, 100); }},
      {"decompressor", [](Machine& m, Dice& dice) { m.decompressor_bytes_per_cycle += dice.between(1, 20); }},
      {"dispatch", [](Machine& m, Dice&) { m.dispatch_cycles /= 2; }},
      {"pipeline", [](Machine& m, Dice&) { m.pipeline_stages = 1; }},
  };
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    const Program program = random_program(dice, m);
    const std::int64_t before = total(program, m, Decimal{50}, 4);
    EXPECT_LE(total(program, m, Decimal{75}, 4), before) << "seed " << seed;
    for (const auto& [name, change] : changes) {
      Machine better = m;
      change(better, dice);
      EXPECT_LE(total(program, better, Decimal{50}, 4), before) << name << " seed " << seed;
    }
  }
}

TEST(property, more_sram_never_makes_a_fixed_program_move_more) {
  std::int64_t fewer = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Dice dice(seed);
    const Machine drawn = random_machine(dice);
    Machine m = drawn;
    const Program program = random_program(dice, m);
    Machine more = m;
    for (std::int64_t* bytes : {&more.psram_bytes, &more.dsram_bytes, &more.stackram_bytes, &more.imem_bytes})
      *bytes += dice.one_in(2) ? *bytes : dice.between(1, 60);
    const std::int64_t before = total_bytes(program, m, 6), after = total_bytes(program, more, 6);
    EXPECT_LE(after, before) << "seed " << seed;
    fewer += after < before;
  }
  EXPECT_GT(fewer, 100);
}

TEST(property, double_buffers_never_end_a_program_later_than_single_ones) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    m.weight_buffering = m.tile_buffering = Buffering::single_buffer;
    const Program program = random_program(dice, m);
    Machine doubled = m;
    doubled.weight_buffering = Buffering::double_buffer;
    EXPECT_LE(total(program, doubled, Decimal{50}, 3), total(program, m, Decimal{50}, 3)) << seed;
    doubled.tile_buffering = Buffering::double_buffer;
    EXPECT_LE(total(program, doubled, Decimal{50}, 3), total(program, m, Decimal{50}, 3)) << seed;
  }
}

TEST(property, more_psram_never_ends_a_program_later_when_no_weights_are_held) {
  // A held tile that comes first in the queue moves to its back, so with one a larger PSRAM can free in another
  // order.
  std::int64_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    const Program program = random_program(dice, m);
    if (std::ranges::any_of(program.classes, [](const auto& c) { return c.weight_elements > 0; })) continue;
    ++tried;
    Machine more = m;
    more.psram_bytes += dice.between(1, 200);
    EXPECT_LE(total(program, more, Decimal{50}, 4), total(program, m, Decimal{50}, 4)) << seed;
  }
  EXPECT_GT(tried, 50);
}

TEST(property, more_imem_never_ends_a_streamed_program_later) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    m.program_storage = ProgramStorage::streamed;
    const Program program = random_program(dice, m);
    Machine more = m;
    more.imem_bytes += dice.between(1, 500);
    EXPECT_LE(total(program, more, Decimal{50}, 4), total(program, m, Decimal{50}, 4)) << seed;
    more.program_storage = ProgramStorage::held;
    EXPECT_LE(total(program, more, Decimal{50}, 4), total(program, m, Decimal{50}, 4)) << seed;
  }
}

TEST(property, estimate_and_evaluate_give_the_same_bits_and_again_the_same) {
  for (const Machine& m : machines()) {
    const Application application = compile(tiny_sd(m), m);
    const Outcome fast = evaluate(application, m), whole = estimate(application, m).outcome;
    ASSERT_TRUE(fast.feasible) << fast.reason;
    EXPECT_EQ(std::memcmp(fast.values.data(), whole.values.data(), sizeof fast.values), 0);
    const Outcome again = evaluate(compile(tiny_sd(m), m), m);
    EXPECT_EQ(std::memcmp(fast.values.data(), again.values.data(), sizeof fast.values), 0);
  }
}

TEST(report, parts_of_energy_area_and_latency_sum_to_the_whole) {
  for (const Machine& m : machines()) {
    const Report report = report_of(m);
    const double energy = value(report, Metric::energy_j_per_frame), area = value(report, Metric::area_mm2),
                 latency = value(report, Metric::latency_s);
    EXPECT_NEAR(sum_of_parts(report.energy_j), energy, 1e-12 * energy);
    const double moved = value(report, Metric::dram_bytes_per_frame);
    EXPECT_NEAR(value(report, Metric::weight_bytes_per_frame) + value(report, Metric::activation_bytes_per_frame) +
                    value(report, Metric::program_bytes_per_frame),
                moved, 1e-12 * moved);
    EXPECT_NEAR(sum_of_parts(report.area_mm2), area, 1e-12 * area);
    EXPECT_NEAR(sum_of_parts(report.latency_s), latency, 1e-12 * latency);
    EXPECT_NEAR(value(report, Metric::edp_js), energy * latency, 1e-12 * energy * latency);
    EXPECT_NEAR(value(report, Metric::power_w), energy * value(report, Metric::throughput_fps), 1e-9);
  }
}

TEST(report, instructions_sum_to_their_stage_and_follow_one_another_without_a_gap) {
  for (const Machine& m : machines()) {
    for (const StageReport& stage : report_of(m).stages) {
      double energy = 0;
      Cycles before(0), weights(0), activations(0), words(0);
      Bytes moved(0), fetched(0), program(0);
      Macs macs(0);
      for (const InstructionCost& i : stage.instructions) {
        EXPECT_EQ(i.start, before);
        EXPECT_GT(i.end, i.start);
        before = i.end;
        energy += i.energy_j;
        weights += i.stall_weights, activations += i.stall_activations, words += i.stall_program;
        program += i.dram_program;
        fetched += i.dram_weights, moved += i.dram_activations_in + i.dram_activations_out;
        macs += i.macs;
        EXPECT_LE(i.stall_weights + i.stall_activations + i.stall_program, i.end - i.start);
      }
      EXPECT_EQ(before, stage.steady_cycles) << stage.name;
      EXPECT_EQ(weights, stage.stall_weights);
      EXPECT_EQ(activations, stage.stall_activations);
      EXPECT_EQ(words, stage.stall_program);
      EXPECT_EQ(fetched, stage.dram_weights);
      EXPECT_EQ(program, stage.dram_program);
      EXPECT_EQ(moved.value * (stage.role == Role::core ? std::min(m.cores, m.steps) : 1),
                stage.dram_activations.value);
      EXPECT_EQ(macs, stage.macs);
      EXPECT_NEAR(energy, stage.energy_j, 1e-9 * stage.energy_j) << stage.name;
      EXPECT_GE(stage.steady_cycles, stage.bound_cycles);
      EXPECT_GE(stage.dram_weights + stage.dram_activations, stage.bound_dram_bytes);
    }
  }
}

TEST(cores, weight_bytes_a_frame_fall_as_one_over_n_where_n_divides_the_steps) {
  Machine m;
  m.steps = 20;
  m.vae_stage = VaeStage::off_chip;
  m.cores = 1;
  const double one = value(report_of(m), Metric::weight_bytes_per_frame);
  for (const std::int64_t cores : {2, 4, 5, 10, 20}) {
    m.cores = cores;
    EXPECT_DOUBLE_EQ(value(report_of(m), Metric::weight_bytes_per_frame) * static_cast<double>(cores), one);
  }
  m.cores = 8;  // ceil(20 / 8) = 3 steps a core on 7 cores: 3 W, not 20/8 W
  EXPECT_DOUBLE_EQ(value(report_of(m), Metric::weight_bytes_per_frame) * 20.0 / 3.0, one);
  EXPECT_EQ(value(report_of(m), Metric::active_cores), 7);
}

Report core_alone(Machine m) {
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::core, "tiny-sd-unet", m));
  return estimate(compile(workload, m), m);
}

TEST(guidance, a_batch_of_two_reads_the_weights_once_and_two_passes_twice) {
  Machine m;
  m.guidance = Guidance::off;
  const Report off = core_alone(m);
  m.guidance = Guidance::batch;
  const Report batch = core_alone(m);
  m.guidance = Guidance::two_passes;
  const Report twice = core_alone(m);
  EXPECT_EQ(batch.stages[0].dram_weights, off.stages[0].dram_weights);
  EXPECT_EQ(twice.stages[0].dram_weights, 2 * off.stages[0].dram_weights);
  EXPECT_EQ(twice.stages[0].weight_bytes, off.stages[0].weight_bytes);  // stored once all the same
  EXPECT_EQ(twice.stages[0].macs, 2 * off.stages[0].macs);
}

/// Less than tiny-sd-unet's weights in fp16, so that they stream.
constexpr std::int64_t streaming_psram_bytes = 512 * 1024;

TEST(weights, that_all_fit_stay_and_one_byte_less_of_psram_streams_them) {
  Machine m;
  const auto weights = core_alone(m).stages[0].weight_bytes;
  m.psram_bytes = weights.value;
  EXPECT_EQ(core_alone(m).stages[0].dram_weights, Bytes(0));
  --m.psram_bytes;
  EXPECT_GE(core_alone(m).stages[0].dram_weights, weights);
}

TEST(weights, hard_coded_ones_move_none_and_take_no_psram_but_rom) {
  Machine m;
  m.psram_bytes = streaming_psram_bytes;
  const Report streamed = report_of(m);
  m.weight_storage = WeightStorage::hard_coded;
  const Report report = report_of(m);
  EXPECT_EQ(value(report, Metric::weight_bytes_per_frame), 0);
  EXPECT_EQ(value(report, Metric::psram_peak_bytes), 0);
  EXPECT_LT(value(report, Metric::step_cycles), value(streamed, Metric::step_cycles));
  for (const auto& [name, mm2] : report.area_mm2) {
    EXPECT_TRUE(name != "psram" || mm2 == 0);
    EXPECT_TRUE(name != "rom" || mm2 > 0);
  }
  for (const StageReport& stage : report.stages) EXPECT_EQ(stage.stall_weights, Cycles(0));
}

TEST(weights, resident_ones_move_in_the_cold_pass_alone) {
  Machine m;
  m.weight_storage = WeightStorage::resident;
  m.psram_bytes = 64 << 20;
  const Report report = report_of(m);
  ASSERT_TRUE(report.outcome.feasible) << report.outcome.reason;
  for (const StageReport& stage : report.stages) {
    EXPECT_EQ(stage.dram_weights, Bytes(0));
    EXPECT_EQ(stage.stall_weights, Cycles(0));
    EXPECT_GT(stage.cold_cycles, stage.steady_cycles);
  }
  for (const std::string& note : report.notes) EXPECT_EQ(note.find("no steady state"), std::string::npos) << note;
}

TEST(weights, pinned_ones_save_their_bytes_in_every_pass_but_the_first) {
  Machine m;
  m.psram_bytes = streaming_psram_bytes;
  m.dram_burst_bytes = 1;
  const Report none = core_alone(m);
  m.psram_pinned_bytes = 100 * 1024;
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::core, "tiny-sd-unet", m));
  const Application application = compile(workload, m);
  const Bytes pinned = application.stages[0].program.pinned_bytes;
  EXPECT_GT(pinned, Bytes(0));
  EXPECT_LE(pinned, Bytes(100 * 1024));
  EXPECT_EQ(estimate(application, m).stages[0].dram_weights + pinned, none.stages[0].dram_weights);
}

TEST(hoisted_context, keys_and_values_leave_the_step_for_a_stage_run_once_a_prompt) {
  Machine m;
  m.psram_bytes = streaming_psram_bytes;
  const Report held = report_of(m);
  m.hoisted_context = true;
  const Report hoisted = report_of(m);
  ASSERT_EQ(hoisted.stages.size(), held.stages.size() + 1);
  const StageReport &context = hoisted.stages[1], &step = hoisted.stages[2], &before = held.stages[1];
  EXPECT_EQ(context.role, Role::text_encoder);
  EXPECT_EQ(context.name, "tiny-sd-unet/context");
  EXPECT_EQ(context.macs + step.macs, before.macs);
  EXPECT_EQ(context.weight_bytes + step.weight_bytes, before.weight_bytes);
  EXPECT_LT(step.dram_weights, before.dram_weights);
  EXPECT_GT(step.stackram_peak, Bytes(0));
}

TEST(infeasible, every_value_is_nan_and_the_reason_names_the_stage) {
  Machine m;
  m.imem_bytes = 1024;
  const Report report = report_of(m);
  EXPECT_FALSE(report.outcome.feasible);
  EXPECT_NE(report.outcome.reason.find("IMEM"), std::string::npos) << report.outcome.reason;
  for (const double v : report.outcome.values) EXPECT_TRUE(std::isnan(v));
  EXPECT_FALSE(evaluate(Application{}, m).feasible);
}

TEST(infeasible, imem_of_the_program_s_size_is_enough_and_one_byte_less_is_not) {
  Machine m;
  std::int64_t longest = 0;
  for (const StageReport& stage : report_of(m).stages) longest = std::max(longest, stage.imem_bytes.value);
  m.imem_bytes = longest;
  EXPECT_TRUE(report_of(m).outcome.feasible);
  m.imem_bytes = longest - 1;
  EXPECT_FALSE(report_of(m).outcome.feasible);
}

}  // namespace
}  // namespace sdip
