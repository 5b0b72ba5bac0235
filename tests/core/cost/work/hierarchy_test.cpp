// What a crossbar between cores and a PSRAM that holds their stacks cost and save, by hand.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"
#include "core/cost/price/fpga.h"
#include "core/cost/work/circuit.h"
#include "core/exec/clock/operations.h"
#include "tests/core/cost/reports.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

/// 8 elements of a byte, popped from the stack, two a cycle, and pushed.
InstructionClass stacked_class() {
  InstructionClass c;
  c.work.family = Family::vector;
  c.work.rows = c.work.passes = 1;
  c.work.row_length = c.out_elements = 8;
  c.mapping = {1, 1, 8, 1, rows_outermost};
  c.fetches = {{.place = Place::stackram, .elements = 8, .passes = 1, .per_fold = true}};
  c.to_dsram = false;
  c.push = true;
  return c;
}

Machine with_stacks(MemoryHierarchy hierarchy) {
  Machine m;
  m.memory_hierarchy = hierarchy;
  m.activation_format = NumberFormat::int8;
  m.vector_lanes = 2;
  m.stackram_port_bits = 16;
  m.psram_port_bits = 8;
  return m;
}

/// The worked example of docs/model/sharing.md: 4 folds of 2 bytes; through a port of 16 bit 4 beats each way, side
/// by side; through PSRAM's of 8 bit 2 each, 8 in and 8 out, of every core one after the other.
TEST(writable_psram, moves_the_stacks_of_all_cores_in_lockstep_through_its_port) {
  const InstructionClass c = stacked_class();
  const ClassCost apart =
      class_cost(c, machine_of_stage(with_stacks(MemoryHierarchy::private_memories), Role::network, 3));
  EXPECT_EQ(apart.busy[Resource::stackram_read], 4);
  EXPECT_EQ(apart.busy[Resource::stackram_write], 4);
  EXPECT_EQ(apart.cycles, 4);
  const Machine m = with_stacks(MemoryHierarchy::writable_psram);
  for (const std::int64_t cores : {1, 3}) {
    const Machine its = machine_of_stage(m, Role::network, cores);
    const ClassCost cost = class_cost(c, its);
    EXPECT_EQ(cost.busy.psram_stack, 8 + 8);
    EXPECT_EQ(cost.busy[Resource::psram_read], cores * 16);
    EXPECT_EQ(cost.busy.weight_beats(), 0);
    EXPECT_EQ(cost.busy[Resource::stackram_read] + cost.busy[Resource::stackram_write], 0);
    EXPECT_EQ(cost.cycles, cores * 16);
    EXPECT_EQ(core_events(c, cost, m).stackram_beats, 16);
    const exec::Needs needs = exec::expand(c, its).at(0).needs;
    EXPECT_EQ(needs[exec::Port::psram_read], cores * 16);
    EXPECT_EQ(needs.psram_stack, 16);
    EXPECT_EQ(needs[exec::Port::stackram_read] + needs[exec::Port::stackram_write], 0);
  }
  Machine wired = m;  // weights in ROM take no beats, stacks do
  wired.weight_storage = WeightStorage::hard_coded;
  EXPECT_EQ(class_cost(c, machine_of_stage(wired, Role::network, 2)).cycles, 32);
}

TEST(writable_psram, limits_by_reads_so_called_where_pushes_alone_fill_its_port) {
  CompiledStage stage;
  stage.name = "pushes";
  InstructionClass& c = stage.program.classes.emplace_back(stacked_class());
  c.fetches[0].place = Place::dsram;
  stage.program.instructions.emplace_back().name = "push";
  Application application;
  application.stages = {stage};
  Machine m = with_stacks(MemoryHierarchy::writable_psram);
  m.dispatch_cycles = 1, m.pipeline_stages = 1;
  const Report report = estimate(application, m);
  const InstructionCost& push = report.stages.at(0).instructions.at(0);
  EXPECT_EQ(resource_text(push.limiter), "psram_read");
  EXPECT_EQ(push.busy[static_cast<std::size_t>(push.limiter)], Cycles(8 * m.cores));  // of 8 bytes of each core
}

TEST(writable_psram, owns_its_port_where_instructions_overlap) {
  Machine m = with_stacks(MemoryHierarchy::writable_psram);
  m.operator_dsram = OperatorDsram::per_operator;
  const std::size_t circuits = 1;  // the vector circuit
  EXPECT_EQ(class_cost(stacked_class(), m).owned.count(), circuits + 1);
  m.memory_hierarchy = MemoryHierarchy::private_memories;
  EXPECT_EQ(class_cost(stacked_class(), m).owned.count(), circuits + 2) << "to push and to pop";
}

TEST(writable_psram, is_one_memory_of_weights_and_of_each_core_s_stack) {
  Machine m = find_preset("edge")->machine;
  m.cores = 3;
  m.psram_bytes = 1000000;
  m.stackram_bytes = 20000;
  m.imem_bytes = 5000000;
  const Application application = compile(tiny_sd(m), m);  // a decoder beside the cores
  const auto bytes = [&](const Machine& machine) {
    std::vector<std::int64_t> all;
    for (const BuiltMemory& memory : psram_memories(application, machine))
      for (std::int64_t copy = 0; copy < memory.copies; ++copy) all.push_back(memory.bytes);
    return all;
  };
  EXPECT_THAT(bytes(m), testing::ElementsAre(1000000, 1000000));
  const std::int64_t apart = sram_bytes(application, m);
  const Breakdown before = area_of(application, m);
  m.memory_hierarchy = MemoryHierarchy::writable_psram;
  EXPECT_THAT(bytes(m), testing::ElementsAre(1060000, 1020000));
  EXPECT_EQ(sram_bytes(application, m), apart);
  const Breakdown after = area_of(application, m);
  EXPECT_EQ(before[7].first, "stackram");
  EXPECT_GT(before[7].second, 0);
  EXPECT_EQ(after[7].second, 0);
  EXPECT_DOUBLE_EQ(after[8].second,
                   memory_area(m, 1060000, m.psram_port_bits) + memory_area(m, 1020000, m.psram_port_bits));
  m.weight_storage = WeightStorage::hard_coded;
  EXPECT_THAT(bytes(m), testing::ElementsAre(60000, 20000)) << "no weights, but stacks";
  EXPECT_EQ(psram_bytes_of(application.stages.back(), m), 20000);
}

/// Prices of a memory that holds three stacks, 4 mm side of a core: to one of them (3 + 1) / 2 sides.
TEST(writable_psram, spends_what_a_beat_of_the_common_memory_takes_and_the_way_to_one_core) {
  Machine m = with_stacks(MemoryHierarchy::writable_psram);
  m.sram_banks = 1;
  FloorPlan plan;
  plan.psram_bytes = 50000;
  plan.stack_way_mm = 8;
  plan.psram_port_mm = 3;
  const EnergyPrices prices = energy_prices(m, Role::core, plan);
  const double beat = sram_energy(m.technology_node, Bytes(50000), Bits(8)).value;
  const double mm = wire_energy(m.technology_node).value;
  EXPECT_EQ(prices.psram_beat, beat);
  const Energy energy = core_energy({.stackram_beats = 5}, prices);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::psram], 5 * beat);
  EXPECT_EQ(energy[EnergyPart::stackram], 0);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::ports], 5 * 8 * 3 * mm);
  EXPECT_DOUBLE_EQ(energy[EnergyPart::broadcast], 5 * 8 * 8 * mm);
  m.weight_storage = WeightStorage::hard_coded;  // weights are not read, stacks are
  EXPECT_EQ(energy_prices(m, Role::core, plan).psram_beat, 0);
  EXPECT_EQ(energy_prices(m, Role::core, plan).stackram_beat, beat);
  const FloorPlan of_three = floor_plan(m, 3, 50000), of_one = floor_plan(m, 1, 50000);
  EXPECT_DOUBLE_EQ(of_three.stack_way_mm, 2 * of_one.stack_way_mm);
  EXPECT_DOUBLE_EQ(of_one.stack_way_mm, of_one.broadcast_mm);
}

TEST(writable_psram, is_refused_where_one_memory_holds_all_activations) {
  Machine m;
  m.memory_hierarchy = MemoryHierarchy::writable_psram;
  EXPECT_NO_THROW(check_machine(m));
  m.activation_memory = ActivationMemory::unified;
  EXPECT_THROW(check_machine(m), Error);
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  EXPECT_NO_THROW(check_machine(m));
}

/// docs/model/sharing.md: (8 + 2) ports of 512 bit at 0.0674 um a bit: 5,120 x 0.0674 um = 0.3451 mm, 0.119 mm2.
TEST(crossbar, is_a_square_of_its_ports_wires) {
  Machine m = find_preset("essay")->machine;
  m.cores = 8, m.dies = 1;
  m.link_bits = 512;
  EXPECT_EQ(crossbar_ports(m), 0);
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  EXPECT_EQ(crossbar_ports(m), 10);
  EXPECT_NEAR(crossbar_area(TechnologyNode::n7, 10, Bits(512)).value, 0.345088 * 0.345088, 1e-9);
  const Application application = compile(tiny_sd(m), m);
  const Breakdown area = area_of(application, m);
  const auto& crossbar = area.at(area.size() - 2);  // before DRAM's PHYs
  EXPECT_EQ(crossbar.first, "crossbar");
  EXPECT_NEAR(crossbar.second, 0.345088 * 0.345088, 1e-9);
  // A 64 x 64 crossbar of 128 bit, as its source has it.
  EXPECT_NEAR(crossbar_area(TechnologyNode::n45, 64, Bits(128)).value, 4.06, 0.01);
  // 6 ports of 3 bit: each bit chooses among 5, by 4-to-1 multiplexers: 2.
  EXPECT_EQ(fpga_crossbar_luts(TechnologyNode::fpga_zynq7020, 6, Bits(3)), 6 * 3 * 2);
  EXPECT_EQ(fpga_crossbar_luts(TechnologyNode::fpga_zynq7020, 5, Bits(1)), 5);
}

TEST(writable_psram, of_a_part_takes_blocks_where_it_holds_something) {
  Machine m = find_preset("pynq-attention")->machine;
  m.technology_node = TechnologyNode::fpga_vc1902;
  m.cores = 1;
  m.weight_storage = WeightStorage::hard_coded;
  m.stackram_bytes = 0;
  Application application;
  application.stages.push_back({});
  application.stages[0].role = Role::core;
  const auto blocks = [&](MemoryHierarchy hierarchy) {
    m.memory_hierarchy = hierarchy;
    const FpgaUse use = *fpga_use(application, m);
    return use.resources[1].needed + use.resources[2].needed;
  };
  const double none = blocks(MemoryHierarchy::private_memories);
  EXPECT_EQ(blocks(MemoryHierarchy::writable_psram), none);
  m.stackram_bytes = 1;
  EXPECT_GT(blocks(MemoryHierarchy::writable_psram), none);
}

TEST(crossbar, on_an_fpga_takes_its_multiplexers) {
  Machine m = find_preset("pynq-attention")->machine;
  m.technology_node = TechnologyNode::fpga_zynq7020;
  const Application application;
  const auto luts = [&] { return fpga_use(application, m)->resources[3].needed; };
  const double before = luts();
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  EXPECT_EQ(luts() - before, fpga_crossbar_luts(m.technology_node, m.cores + 2, Bits(m.link_bits)));
}

TEST(crossbar, does_nothing_to_frames_that_do_not_denoise_and_says_so) {
  Machine m = find_preset("essay")->machine;
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::network, "tiny-sd-vae-decoder", m));
  const Application application = compile(workload, m);
  const auto says = [](const Report& report) {
    return std::ranges::any_of(report.notes,
                               [](const std::string& note) { return note.starts_with("memory_hier"); });
  };
  const Report apart = estimate(application, m);
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  const Report crossed = estimate(application, m);
  EXPECT_FALSE(says(apart));
  EXPECT_TRUE(says(crossed));
  EXPECT_FALSE(says(report_of(m)));
  for (const Metric metric : {Metric::throughput_fps, Metric::latency_s, Metric::stream_latency_s,
                              Metric::weight_bytes_per_frame, Metric::active_cores})
    EXPECT_EQ(value(apart, metric), value(crossed, metric));
}

/// 20 steps on 8 cores: 3 steps a core, 7 active, against all 8 with 20 each.
TEST(crossbar, leaves_no_core_idle_where_cores_do_not_divide_the_steps) {
  Machine m = find_preset("essay")->machine;
  m.cores = 8;
  m.steps = 20;
  m.psram_bytes = 512 * 1024;
  const Report series = report_of(m);
  m.memory_hierarchy = MemoryHierarchy::crossbar;
  const Report crossed = report_of(m);
  EXPECT_EQ(value(series, Metric::active_cores), 7);
  EXPECT_EQ(value(crossed, Metric::active_cores), 8);
  const StageReport &step = series.stages[1], &same = crossed.stages[1];
  EXPECT_EQ(step.role, Role::core);
  EXPECT_EQ(step.steady_cycles.value, same.steady_cycles.value) << "nothing of tiny-sd is streamed by the cores";
  const double others = static_cast<double>(series.stages[2].dram_weights.value);  // the decoder's
  const auto weights = static_cast<double>(step.dram_weights.value);
  EXPECT_GT(weights, 0);
  EXPECT_DOUBLE_EQ(value(series, Metric::weight_bytes_per_frame), 3 * weights + others);
  EXPECT_DOUBLE_EQ(value(crossed, Metric::weight_bytes_per_frame), 20 * weights / 8 + others);
  EXPECT_GT(value(crossed, Metric::throughput_fps), 1.19 * value(series, Metric::throughput_fps));
  EXPECT_LT(value(crossed, Metric::latency_s), value(series, Metric::latency_s)) << "one hand-over for seven";
}

}  // namespace
}  // namespace sdip
