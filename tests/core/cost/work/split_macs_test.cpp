// How many narrow products a wide MAC makes, of which layers, and what that costs and brings.
#include "core/cost/work/split_macs.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/cost/explain/explain.h"
#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"
#include "core/cost/price/estimate.h"
#include "core/cost/work/circuit.h"
#include "core/cost/work/tile_plan.h"
#include "core/exec/clock/operations.h"
#include "core/exec/walk/resolve.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

std::vector<NumberFormat> every_format() {
  std::vector<NumberFormat> all;
  for (std::size_t f = 0; f < std::size(number_formats); ++f)
    if (number_formats[f].bits != 6) all.push_back(static_cast<NumberFormat>(f));  // the table has powers of two
  return all;
}

/// Products of a MAC whose wider format has so many bits, by the bits of the operands: as docs/model/numbers.md has
/// it.
struct WidthRow {
  std::int64_t mac, a, b, integers, floats;
};
constexpr WidthRow widths[] = {
    {4, 4, 4, 1, 1},   {8, 4, 4, 4, 2},   {8, 4, 8, 2, 1},    {8, 8, 8, 1, 1},    {16, 4, 4, 16, 4},
    {16, 4, 8, 8, 2},  {16, 4, 16, 4, 1}, {16, 8, 8, 4, 2},   {16, 8, 16, 2, 1},  {16, 16, 16, 1, 1},
    {32, 4, 4, 64, 8}, {32, 4, 8, 32, 4}, {32, 4, 16, 16, 2}, {32, 4, 32, 8, 1},  {32, 8, 8, 16, 4},
    {32, 8, 16, 8, 2}, {32, 8, 32, 4, 1}, {32, 16, 16, 4, 2}, {32, 16, 32, 2, 1}, {32, 32, 32, 1, 1},
};

std::int64_t by_widths(OperandFormats mac, OperandFormats operands) {
  const std::int64_t wide = std::max(bits_of(mac.a), bits_of(mac.b));
  const std::int64_t a = std::min(bits_of(operands.a), bits_of(operands.b)),
                     b = std::max(bits_of(operands.a), bits_of(operands.b));
  std::int64_t floats = 0;
  for (const NumberFormat f : {mac.a, mac.b, operands.a, operands.b})
    floats += number_formats[static_cast<std::size_t>(f)].floating;
  if (floats > 0 && floats < 4) return 1;
  for (const WidthRow& row : widths)
    if (row.mac == wide && row.a == a && row.b == b) return floats == 4 ? row.floats : row.integers;
  return 1;  // wider than the MAC
}

TEST(split_macs, make_as_many_products_as_the_table_says_of_all_formats) {
  std::int64_t several = 0;
  for (const NumberFormat x : every_format())
    for (const NumberFormat y : every_format())
      for (const NumberFormat a : every_format())
        for (const NumberFormat b : every_format()) {
          const std::int64_t products = products_in_mac({x, y}, {a, b});
          several += products > 1;
          ASSERT_EQ(products, by_widths({x, y}, {a, b}))
              << format_text(x) << ' ' << format_text(y) << ": " << format_text(a) << ' ' << format_text(b);
          ASSERT_EQ(exec::multipliers_side_by_side({x, y}, {a, b}), products);
        }
  EXPECT_GT(several, 3000);
}

Machine composable_of(NumberFormat weights, NumberFormat activations) {
  Machine m;
  m.composable_macs = ComposableMacs::on;
  m.weight_format = weights;
  m.activation_format = activations;
  return m;
}

/// A product of 4 x 16 by 16 x 8, of weights or of two activations.
InstructionClass four_by_eight(Family family, bool weighted) {
  InstructionClass c;
  c.work.family = family;
  c.work.nest = {.out_channels = 8, .in_channels = 16, .out_h = 4, .in_h = 4};
  c.operand_a = Place::dsram;
  c.operand_b = weighted ? Place::psram : Place::stackram;
  c.mapping = cost::one_tile;
  c.out_elements = 32;
  c.weight_elements_per_channel = weighted ? 16 : 0;
  return c;
}

TEST(split_macs, are_as_wide_as_the_array_is_built_and_operands_as_the_layer_says) {
  using enum NumberFormat;
  const InstructionClass linear = four_by_eight(Family::linear, true),
                         scores = four_by_eight(Family::matmul, false);
  EXPECT_EQ(products_in_mac(linear, composable_of(int4, int8)), 2);
  EXPECT_EQ(products_in_mac(linear, composable_of(int8, int16)), 2);
  EXPECT_EQ(products_in_mac(linear, composable_of(int16, int8)), 2);
  EXPECT_EQ(products_in_mac(linear, composable_of(fp8_e4m3, fp16)), 1) << "floats by the wider operand";
  EXPECT_EQ(products_in_mac(linear, composable_of(int8, fp16)), 1) << "integers beside floats";
  Machine m = composable_of(int16, int8);
  EXPECT_EQ(products_in_mac(scores, m), 1) << "an array for activations alone is as wide as these";
  EXPECT_EQ(products_in_mac(four_by_eight(Family::conv2d, false), m), 4) << "both operands are activations";
  m.mac_sharing = MacSharing::shared;
  EXPECT_EQ(products_in_mac(scores, m), 4) << "on the one array, whose MACs are of 16 bits";
  m.mac_sharing = MacSharing::separate;
  m.granularity = Granularity::micro_operation;
  EXPECT_EQ(products_in_mac(scores, m), 4);
  m.composable_macs = ComposableMacs::off;
  EXPECT_EQ(products_in_mac(scores, m), 1);

  InstructionClass own = linear;
  own.formats = Formats{int4, int4, int8, {}};
  EXPECT_EQ(products_in_mac(own, composable_of(int8, int8)), 4);
  EXPECT_EQ(products_in_mac(own, composable_of(int4, int4)), 1);
  own.formats = Formats{int4, int16, int16, {}};
  EXPECT_EQ(products_in_mac(own, composable_of(int8, int8)), 1) << "an operand wider than the MAC";
  own.formats = Formats{fp16, fp16, fp16, {}};
  EXPECT_EQ(products_in_mac(own, composable_of(fp32, fp32)), 2);

  InstructionClass strips;
  strips.compound = Compound::strips;
  strips.work.family = Family::conv2d;
  EXPECT_EQ(products_in_mac(strips, composable_of(int4, int8)), 2);
  InstructionClass softmax;
  softmax.work.family = Family::softmax;
  EXPECT_EQ(products_in_mac(softmax, composable_of(int4, int8)), 1);
  EXPECT_EQ(products_in_mac(softmax, composable_of(int16, int8)), 1);
  strips.work.family = Family::vector;  // a compound makes products whatever follows them
  EXPECT_EQ(products_in_mac(strips, composable_of(int4, int8)), 2);
}

/// The worked example of docs/model/numbers.md.
TEST(split_macs, halve_the_cycles_of_int4_weights_on_int8_activations) {
  using enum NumberFormat;
  Machine m = composable_of(int4, int8);
  m.accumulator_format = int32;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 2;
  m.dsram_port_bits = m.psram_port_bits = 64;
  const InstructionClass c = four_by_eight(Family::linear, true);
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.busy[Resource::compute], 2 * 4 * 4);
  EXPECT_EQ(cost.busy[Resource::dsram_read], 2 * 4 * 4) << "2 rows by 4 sums of 8 bits are a beat";
  EXPECT_EQ(cost.busy[Resource::psram_read], 2 * 4 * 4) << "2 channels by 4 sums of 4 bits";
  EXPECT_EQ(cost.products_in_mac, 2);
  EXPECT_EQ(cost.spent_macs, 512);
  EXPECT_EQ(mac_cycles(cost), 256);
  EXPECT_EQ(exec::expand(c, m).at(0).needs.compute, 32);
  m.composable_macs = ComposableMacs::off;
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 64);
  EXPECT_EQ(mac_cycles(class_cost(c, m)), 512);
}

/// What a machine with so many more lanes needs, in all but its MACs' rate.
TEST(split_macs, are_lanes_of_any_nest_and_compound) {
  std::int64_t several = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Dice dice(seed);
    Machine split = random_machine(dice);
    const Program program = random_program(dice, split);
    split.composable_macs = ComposableMacs::on;
    for (const InstructionClass& c : program.classes) {
      Machine wide = split;
      wide.composable_macs = ComposableMacs::off;
      const std::int64_t products = products_in_mac(c, split);
      for (std::int64_t* lanes : {&wide.conv_lanes_in, &wide.linear_lanes_k, &wide.matmul_lanes_k})
        *lanes *= products;
      const ClassCost got = class_cost(c, split), want = class_cost(c, wide);
      several += products > 1;
      const std::int64_t in_a_mac = got.memory_cycles > 0 ? 1 : products;  // a memory makes them else
      ASSERT_EQ(got.products_in_mac, in_a_mac);
      ASSERT_EQ(got.cycles, want.cycles) << "seed " << seed;
      ASSERT_EQ(got.busy[Resource::compute], want.busy[Resource::compute]) << "seed " << seed;
      ASSERT_EQ(got.busy[Resource::dsram_read], want.busy[Resource::dsram_read]) << "seed " << seed;
      ASSERT_EQ(got.busy[Resource::psram_read], want.busy[Resource::psram_read]) << "seed " << seed;
      ClassCost anew = class_cost(c, wide);
      cost_anew(c, resolve(c, split), anew);
      ASSERT_EQ(anew.cycles, got.cycles);
      ASSERT_EQ(anew.products_in_mac, in_a_mac);
    }
  }
  EXPECT_GT(several, 60);
}

/// One instruction of a stage, alone.
Application alone_in_a_stage(const InstructionClass& c) {
  Application application;
  CompiledStage& stage = application.stages.emplace_back();
  stage.role = Role::network;
  stage.name = "net";
  stage.program.classes = {c};
  stage.program.instructions.emplace_back();
  return application;
}

/// 8 MACs that all products share.
Machine eight_macs() {
  Machine m = composable_of(NumberFormat::int4, NumberFormat::int8);
  m.accumulator_format = NumberFormat::int32;
  m.linear_lanes_m = m.linear_lanes_n = m.linear_lanes_k = 2;
  m.mac_sharing = MacSharing::shared;
  m.conv_lanes_pixel = m.conv_lanes_out = m.conv_lanes_in = 2;
  m.dispatch_cycles = 0;
  m.pipeline_stages = 1;
  m.cores = 1;
  return m;
}

TEST(split_macs, at_their_full_rate_are_fully_used_and_no_more) {
  const Machine m = eight_macs();
  InstructionClass c = four_by_eight(Family::linear, true);
  c.pinned = true;
  const Report report = estimate(alone_in_a_stage(c), m);
  EXPECT_EQ(report.stages[0].bound_cycles, Cycles(32)) << "512 products, 2 a MAC and 8 MACs";
  EXPECT_EQ(report.stages[0].macs, Macs(512));
  const double cycles = static_cast<double>(report.stages[0].steady_cycles.value);
  EXPECT_EQ(report.outcome.values[static_cast<std::size_t>(Metric::utilization)], 256 / (cycles * 8));
  EXPECT_GE(cycles, 32);
}

TEST(split_macs, are_told_in_the_formulas_of_a_layer_and_of_its_stage) {
  const Explanation e = explain(alone_in_a_stage(four_by_eight(Family::linear, true)), eight_macs(), 1);
  EXPECT_EQ(e.stages.at(0).products_in_mac, 2);
  EXPECT_EQ(e.stages[0].mac_lanes, 16) << "MACs a cycle at most";
  EXPECT_EQ(e.stages[0].bounds.at(0).formula, "ceil(MAC cycles/lanes), by array: linear");
  EXPECT_EQ(e.stages[0].bounds[0].numbers, "ceil(256/8)");
  const auto& terms = e.worst.at(0).terms;
  const auto term = [&](std::string_view what) { return *std::ranges::find(terms, what, &FilledTerm::what); };
  EXPECT_EQ(term("bound_cycles").formula, "ceil(MACs/(lanes of the array x products in a MAC))");
  EXPECT_EQ(term("bound_cycles").numbers, "ceil(512/16)");
  EXPECT_EQ(term("bound_cycles").value, 32);
  EXPECT_EQ(term("compute").value, 32);
  EXPECT_TRUE(term("compute").formula.ends_with("kernel x ceil(K_tile/(lanes x products in a MAC))"));
  EXPECT_NE(term("compute").numbers.find("ceil(16/4)"), std::string::npos) << term("compute").numbers;
}

TEST(split_macs, are_never_used_beyond_their_rate) {
  std::int64_t several = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    Application application = alone_in_a_stage({});
    application.stages[0].program = random_program(dice, m);
    m.composable_macs = ComposableMacs::on;
    const Report report = estimate(application, m);
    if (!report.outcome.feasible) continue;
    for (const InstructionClass& c : application.stages[0].program.classes) several += products_in_mac(c, m) > 1;
    EXPECT_LE(report.outcome.values[static_cast<std::size_t>(Metric::utilization)], 1) << "seed " << seed;
    EXPECT_GE(report.stages[0].steady_cycles, report.stages[0].bound_cycles) << "seed " << seed;
  }
  EXPECT_GT(several, 60);
}

TEST(split_macs, take_more_area_and_energy_of_arrays_alone) {
  using enum NumberFormat;
  for (const bool floats : {true, false}) {
    Machine m = composable_of(floats ? fp16 : int8, floats ? fp16 : int8);
    m.pipeline_stages = 1;  // registers of more do not split
    Machine plain = m;
    plain.composable_macs = ComposableMacs::off;
    const double area = floats ? 1.18 : 1.96, energy = floats ? 1.18 : 1.5;
    const CoreArea split = core_area(m, widest_formats(m), Bound::value),
                   before = core_area(plain, widest_formats(plain), Bound::value);
    EXPECT_DOUBLE_EQ(split.conv2d, area * before.conv2d);
    EXPECT_DOUBLE_EQ(split.linear, area * before.linear);
    EXPECT_DOUBLE_EQ(split.matmul, area * before.matmul);
    EXPECT_EQ(split.vector, before.vector);
    EXPECT_EQ(split.softmax, before.softmax);
    EXPECT_EQ(split.norm, before.norm);
    const FloorPlan plan;
    const EnergyPrices prices = energy_prices(m, Role::core, plan, Bound::value),
                       prices_before = energy_prices(plain, Role::core, plan, Bound::value);
    EXPECT_DOUBLE_EQ(prices.mac, energy * prices_before.mac);
    EXPECT_EQ(prices.lane_operation, prices_before.lane_operation);
  }
  EXPECT_EQ(composable_over_plain({TechnologyNode::n7, Bound::most}, int8).mac_area, 3.33);
  EXPECT_EQ(composable_over_plain({TechnologyNode::n7, Bound::least}, int8).mac_area, 1.1);
}

TEST(split_macs, are_no_dsp_blocks) {
  Machine m;
  m.composable_macs = ComposableMacs::on;
  EXPECT_NO_THROW(check_machine(m));
  m.technology_node = TechnologyNode::fpga_vc1902;
  try {
    check_machine(m);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "value_conflict");
    EXPECT_EQ(error.where, "composable_macs");
  }
  m.composable_macs = ComposableMacs::off;
  EXPECT_NO_THROW(check_machine(m));
}

}  // namespace
}  // namespace sdip
