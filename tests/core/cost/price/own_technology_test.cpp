// Does every row of the technology table move some figure, and a user's own figure exactly what its formula says?
#include "core/machine/own_technology.h"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "core/cost/price/batch.h"
#include "core/machine/technology.h"
#include "tests/core/cost/reports.h"

namespace sdip {
namespace {

using testing::Contains;
using testing::HasSubstr;

void multiply_row(Machine& m, std::string_view row, double times) {
  const ParameterRow* found = find_setting(std::string(technology_prefix) + std::string(row));
  ASSERT_NE(found, nullptr) << row;
  found->write(m, std::bit_cast<std::int64_t>(std::bit_cast<double>(found->standard) * times));
}

void put(Machine& m, const char* parameter, std::string_view value) {
  const ParameterRow& row = *find_parameter(parameter);
  row.write(m, parse_value(row, value, parameter));
}

/// One core of few lanes and memories that a small part of programmable logic holds.
Machine small_machine() {
  Machine m;
  m.cores = 1;
  m.steps = 2;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.mac_sharing = MacSharing::shared;
  m.conv_lanes_in = m.conv_lanes_out = m.conv_lanes_pixel = 2;
  m.vector_lanes = m.softmax_lanes = m.norm_lanes = m.transpose_lanes = 2;
  m.psram_bytes = 128 * 1024;
  m.dsram_bytes = m.imem_bytes = 64 * 1024;
  m.stackram_bytes = 96 * 1024;
  m.dsram_port_bits = m.stackram_port_bits = m.psram_port_bits = 512;
  m.vae_stage = VaeStage::off_chip;
  return m;
}

bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// The format whose arithmetic a row is of.
std::string_view format_named(std::string_view name) { return name == "fp8" ? "fp8_e4m3" : name; }

/// A machine whose figures a row should move.
Machine machine_for(std::string_view row) {
  Machine m = small_machine();
  const std::string_view first = row.substr(0, row.find('.')), last = row.substr(row.rfind('.') + 1);
  const ParameterRow& nodes = *find_parameter("technology_node");
  for (const std::string_view node : nodes.choices)
    if (node == first) put(m, "technology_node", first);
  if (holds(row, ".over_n45") && first == "n7") m.technology_node = TechnologyNode::n16;
  if (first == "fpga") m.technology_node = TechnologyNode::fpga_zynq7020;
  if (holds(row, "uram_bits") || holds(row, "inputs_switched")) m.technology_node = TechnologyNode::fpga_vc1902;
  if (holds(row, "uram_bits")) m.psram_bytes = 112 * 1024, m.psram_port_bits = 8;
  if (holds(row, "ram_port")) m.dsram_port_bits = m.stackram_port_bits = 2048;
  if (first == "dram") {
    const std::string_view rest = row.substr(5), kind = rest.substr(0, rest.find('.'));
    if (kind != "controller" && kind != "row" && last != "price") put(m, "dram_kind", kind);
  }
  if (row == "sram.second_port") m.dma_port = DmaPort::own;
  if (first == "link") m.cores = m.dies = 2;
  if (row == "link.latency") m.die_link_cycles = 2, m.core_clock_mhz = 1000;
  if (row == "package.interposer" || row == "package.interposer.over_dies") m.cores = m.dies = 2;
  if (row.starts_with("dram.") && last == "price")
    put(m, "dram_kind",
        row == "dram.hbm.price"     ? "hbm2"
        : row == "dram.gddr.price"  ? "gddr6"
        : row == "dram.lpddr.price" ? "lpddr4"
                                    : "ddr4");
  if (row == "dram.row") m.stackram_bytes = 4 * 1024;  // what leaves and comes back turns the channel
  if (first == "phy")
    m.dram_kind = holds(row, ".hbm.")     ? DramKind::hbm2
                  : holds(row, ".gddr.")  ? DramKind::gddr6
                  : holds(row, ".lpddr.") ? DramKind::lpddr4
                                          : DramKind::ddr4;
  for (const NumberFormatRow& format : number_formats)
    if (format.name == format_named(last))
      for (const char* parameter : {"weight_format", "activation_format", "accumulator_format"})
        put(m, parameter, format.name);
  if (holds(row, "float")) m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp16;
  if (first == "block") {
    put(m, "weight_format", row.substr(6, row.rfind('.') - 6));
    m.activation_format = bits_of(m.weight_format) == 8 ? NumberFormat::int8 : NumberFormat::int4;
    m.accumulator_format = NumberFormat::fp32;
  }
  if (first == "composable") m.composable_macs = ComposableMacs::on;
  if (first == "flop") m.accumulator_folds = m.weight_registers = 2;
  if (holds(row, "ram_bits")) m.accumulator_folds = 65, m.weight_registers = 1;
  if (first == "rom") m.weight_storage = WeightStorage::hard_coded;
  if (first == "fefet") m.in_memory_weights = InMemoryWeights::fefet;
  if (holds(row, "distributed")) m.sequencer = Sequencer::distributed;
  if (holds(row, "crossbar") || holds(row, "inputs_switched")) {
    m.memory_hierarchy = MemoryHierarchy::crossbar;
    m.cores = m.steps = 10;
    m.psram_bytes = 32 * 1024;
  }
  m.pipeline_stages = first == "depth" ? 1 : 64;
  if (first == "leakage") multiply_row(m, "die.temperature", 1.2), m.supply_mv = 700;
  if (first == "clock" && holds(row, "sram")) m.psram_bytes = m.stackram_bytes = 1 << 22, m.sram_banks = 1;
  if (first == "depth" || first.starts_with("fpga")) m.core_clock_mhz = 300;
  if (last == "least" && holds(row, "supply")) m.core_clock_mhz = 100;
  if (holds(row, ".clock") && first.starts_with("fpga")) m.pipeline_stages = 3;
  return m;
}

/// Every figure that is no end of a range.
std::vector<double> figures_of(const Report& report) {
  std::vector<double> all(report.outcome.values.begin(), report.outcome.values.end());
  all.push_back(report.clock_limit.mhz);
  all.push_back(report.load.seconds);
  all.push_back(report.dram_edge_mm);
  all.push_back(report.outcome.feasible);
  for (const DieReport& die : report.dies) all.insert(all.end(), {die.area_mm2.value, die.edge_mm, die.yield});
  if (report.heat)
    all.insert(all.end(), {report.heat->celsius, report.heat->most_celsius, report.heat->watts_per_mm2,
                           report.heat->most_watts_per_mm2});
  if (report.fpga)
    for (const FpgaUse::Resource& resource : report.fpga->resources)
      all.insert(all.end(), {resource.needed, resource.available});
  std::ranges::replace_if(
      all, [](double x) { return std::isnan(x); }, -1.0);
  return all;
}

TEST(own_technology, every_row_moves_a_figure_of_a_machine_made_for_it) {
  for (const TechnologyRow& row : technology_rows()) {
    if (row.name == "fefet.array") continue;  // refused but as it is: counts and converters are made for 128
    const Machine m = machine_for(row.name);
    ASSERT_NO_THROW(check_machine(m)) << row.name;
    EXPECT_TRUE(concerns(row, m.technology_node)) << row.name;
    const Application application = compile(tiny_sd(m), m);
    ASSERT_TRUE(application.feasible) << row.name << " " << application.reason;
    const Report before = estimate(application, m);
    EXPECT_TRUE(before.outcome.counted()) << row.name;
    Machine raised = m;
    multiply_row(raised, row.name, row.name == "die.exposure" ? 0.001 : 1.1);
    const bool moved = figures_of(estimate(application, raised)) != figures_of(before);
    EXPECT_TRUE(moved) << row.name;
  }
}

TEST(own_technology, moves_nothing_of_a_node_that_it_does_not_concern) {
  const Machine all = small_machine();
  const Application application = compile(tiny_sd(all), all);
  const ParameterRow& nodes = *find_parameter("technology_node");
  for (const std::string_view node : nodes.choices) {
    Machine m = all;
    put(m, "technology_node", node);
    Machine others = m;
    for (const TechnologyRow& row : technology_rows())
      if (!concerns(row, m.technology_node)) multiply_row(others, row.name, 1.1);
    ASSERT_FALSE(others.technology.empty());
    EXPECT_EQ(figures_of(estimate(application, others)), figures_of(estimate(application, m))) << node;
  }
}

double part_named(const Breakdown& parts, std::string_view name) {
  for (const auto& [each, value] : parts)
    if (each == name) return value;
  return 0;
}

TEST(own_technology, doubles_in_a_report_what_its_row_prices_and_leaves_the_rest) {
  Machine m = find_preset("edge")->machine;
  m.psram_bytes = 96 * 1024;  // less than the weights
  const Application application = compile(tiny_sd(m), m);
  const Report before = estimate(application, m);
  const auto report_with = [&](std::initializer_list<const char*> rows) {
    Machine twice = m;
    for (const char* row : rows) multiply_row(twice, row, 2);
    return estimate(application, twice);
  };
  const auto ratio = [&](const Report& after, std::string_view name) {
    return part_named(after.energy_j, name) / part_named(before.energy_j, name);
  };
  const Report macs = report_with({"n7.multiply.int8", "n7.add.int32", "n45.register.energy"});
  EXPECT_NEAR(ratio(macs, "mac"), 2, 1e-12);
  EXPECT_EQ(ratio(macs, "dsram"), 1);
  EXPECT_EQ(ratio(macs, "dram_weights"), 1);
  EXPECT_EQ(ratio(macs, "leakage"), 1);
  EXPECT_EQ(macs.area_mm2, before.area_mm2);
  EXPECT_EQ(value(macs, Metric::throughput_fps), value(before, Metric::throughput_fps));

  const Report dram = report_with({"dram.lpddr4"});
  EXPECT_NEAR(ratio(dram, "dram_weights"), 2, 1e-12);
  EXPECT_NEAR(ratio(dram, "dram_activations"), 2, 1e-12);
  EXPECT_EQ(ratio(dram, "mac"), 1);

  const Report leaky = report_with({"n7.leakage", "n7.sram.leakage"});
  EXPECT_NEAR(ratio(leaky, "leakage"), 2, 1e-12);
  EXPECT_NEAR(sum_of_parts(leaky.leakage_w), 2 * sum_of_parts(before.leakage_w), 1e-9);
  EXPECT_EQ(ratio(leaky, "mac"), 1);

  const Report sram = report_with({"n7.sram.8KB", "n7.sram.32KB", "n7.sram.1MB"});
  for (const char* memory : {"dsram", "stackram", "psram", "control"}) EXPECT_NEAR(ratio(sram, memory), 2, 1e-12);
  const Report wide = report_with({"n7.sram.area"});
  for (const char* memory : {"dsram", "stackram", "psram", "imem"})
    EXPECT_NEAR(part_named(wide.area_mm2, memory), 2 * part_named(before.area_mm2, memory), 1e-9);
  EXPECT_EQ(part_named(wide.area_mm2, "conv2d"), part_named(before.area_mm2, "conv2d"));
  const Report clock = report_with({"n7.fo4"});
  EXPECT_NEAR(clock.clock_limit.mhz, before.clock_limit.mhz / 2, 1);
}

std::int64_t commas_of(const std::string& note) { return std::ranges::count(note, ','); }

TEST(own_technology, is_said_in_the_notes) {
  Machine m = find_preset("edge")->machine;
  EXPECT_THAT(report_of(m).notes, testing::Not(Contains(HasSubstr("the user's: "))));
  multiply_row(m, "dram.lpddr4", 0.5);
  EXPECT_THAT(report_of(m).notes, Contains("1 technology figure is the user's: dram.lpddr4 = 4 pJ/bit (8)."));
  multiply_row(m, "rom.over_sram", 2);
  EXPECT_THAT(report_of(m).notes,
              Contains("2 technology figures are the user's: rom.over_sram = 0.5 (0.25), dram.lpddr4 = 4 pJ/bit "
                       "(8)."));
  Machine few = m;
  for (const TechnologyRow& row : technology_rows().first(6)) multiply_row(few, row.name, 1.01);
  const auto of_eight = testing::AllOf(HasSubstr("8 technology figures are the user's: "),
                                       testing::Not(HasSubstr(" more")), testing::ResultOf(commas_of, 7));
  EXPECT_THAT(report_of(few).notes, Contains(of_eight));
  multiply_row(few, technology_rows()[6].name, 1.01);
  EXPECT_THAT(report_of(few).notes,
              Contains(testing::AllOf(HasSubstr("9 technology figures are the user's: "),
                                      testing::EndsWith(", and 1 more."), testing::ResultOf(commas_of, 8))));
  for (const TechnologyRow& row : technology_rows())
    if (row.name != "fefet.array") multiply_row(m, row.name, 1.01);
  EXPECT_THAT(report_of(m).notes, Contains(testing::AllOf(HasSubstr("284 technology figures are the user's: "),
                                                          testing::EndsWith(", and 276 more."))));
}

TEST(own_technology, is_the_same_alone_and_in_a_batch_where_it_differs_from_machine_to_machine) {
  const Machine m = find_preset("edge")->machine;
  const Application application = compile(tiny_sd(m), m);
  std::vector<Machine> machines;
  for (const double times : {1.0, 0.5, 2.0, 2.0})
    for (const char* row : {"n7.multiply.int8", "dram.lpddr4", "n7.leakage", "n7.sram.area"}) {
      machines.push_back(m);
      machines.back().dram_channels = std::ssize(machines);
      if (times != 1) multiply_row(machines.back(), row, times);
    }
  BatchEvaluator batch(application);
  std::vector<Outcome> beside(machines.size());
  batch.evaluate(machines, beside);
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const Outcome alone = evaluate(application, machines[i]);
    for (std::size_t v = 0; v < metric_count; ++v)
      EXPECT_EQ(std::bit_cast<std::uint64_t>(beside[i].values[v]), std::bit_cast<std::uint64_t>(alone.values[v]));
  }
  EXPECT_EQ(batch.counts().alone, 0);
  EXPECT_EQ(batch.counts().costs, 1) << "prices are not counts";
  EXPECT_EQ(batch.counts().chips, 9) << "the table's, and four rows halved and doubled";
}

}  // namespace
}  // namespace sdip
