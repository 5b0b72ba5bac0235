// Scales of groups of weights: their bytes, their beats, the lanes that they leave, and what they cost.
#include <gtest/gtest.h>
#include <cmath>

#include "core/base/error.h"
#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"
#include "core/cost/work/circuit.h"
#include "core/cost/work/split_macs.h"
#include "core/exec/clock/operations.h"
#include "core/exec/walk/resolve.h"
#include "core/program/tiling/tiles.h"

namespace sdip {
namespace {

using enum NumberFormat;

Machine grouped(NumberFormat format, ScaleGranularity granularity = ScaleGranularity::tensor) {
  Machine m;
  m.weight_format = format;
  m.scale_granularity = granularity;
  m.activation_format = int8;
  m.linear_lanes_m = m.linear_lanes_n = 2;
  m.linear_lanes_k = 24;
  m.dsram_port_bits = m.psram_port_bits = 64;
  return m;
}

/// A linear of 4 x 48 by 48 x 8.
InstructionClass four_by_eight() {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest = {.out_channels = 8, .in_channels = 48, .out_h = 4, .in_h = 4};
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.mapping = cost::one_tile;
  c.out_elements = 32;
  c.weight_elements_per_channel = 48;
  return c;
}

/// The worked example of docs/model/numbers.md: by hand.
TEST(scale_groups, of_32_int4_weights_are_read_with_them_and_leave_16_of_24_lanes) {
  const Machine m = grouped(int4, ScaleGranularity::group_32);
  const InstructionClass c = four_by_eight();
  const ClassCost cost = class_cost(c, m);
  const exec::Operation stepped = exec::expand(c, m).at(0);
  EXPECT_EQ(cost.busy[Resource::compute], 2 * 4 * 3) << "of 48 sums three folds of 16";
  EXPECT_EQ(cost.busy[Resource::dsram_read], 2 * 4 * 3 * 4) << "2 rows by 16 sums of 8 bits";
  EXPECT_EQ(cost.busy[Resource::psram_read], 2 * 4 * (3 + 2 + 3)) << "2 x 16 x 4 bits; twice with two fp32 scales";
  EXPECT_EQ(cost.shapes[0].weight_bytes, 8 * (48 / 2 + 2 * 4));
  EXPECT_EQ(cost.scalings, 4 * 8 * 2);
  EXPECT_EQ(stepped.needs.compute, 24);
  EXPECT_EQ(stepped.needs[exec::Port::dsram_read], 96);
  EXPECT_EQ(stepped.needs[exec::Port::psram_read], 64);
  EXPECT_EQ(stepped.weight_psram_bytes, 256);
  EXPECT_EQ(stepped.scalings, 64);
  EXPECT_EQ(weight_tile_bytes(c, 8, weight_form(m)), 256);
}

TEST(scale_groups, begin_anew_with_each_tile_of_sums) {
  InstructionClass c = four_by_eight();
  c.mapping.tile_sums = 40;  // groups of 32 and 8, then one of 8
  const Machine m = grouped(mxfp4);
  const WeightForm form = weight_form(m);
  EXPECT_EQ(weight_tile_bytes(c, 8, 40, true, form), 8 * (40 / 2 + 2));
  EXPECT_EQ(weight_tile_bytes(c, 8, 8, false, form), 8 * (8 / 2 + 1));
  EXPECT_EQ(region_bytes(c, form).dram, 8 * (24 + 3));
  const ClassCost cost = class_cost(c, m);
  EXPECT_EQ(cost.scalings, 4 * 8 * 3);
  std::int64_t scalings = 0, bytes = 0;
  for (const exec::Operation& o : exec::expand(c, m)) scalings += o.scalings, bytes += o.weight_psram_bytes;
  EXPECT_EQ(scalings, cost.scalings);
  EXPECT_EQ(bytes, 8 * (24 + 3));
}

TEST(scale_groups, have_bytes_of_whole_and_of_started_blocks_in_every_format) {
  const auto bytes = [](NumberFormat format, std::int64_t sums) {
    InstructionClass c = four_by_eight();
    c.work.nest.in_channels = c.weight_elements_per_channel = sums;
    return weight_tile_bytes(c, 8, weight_form(grouped(format)));
  };
  EXPECT_EQ(bytes(mxint8, 64), 8 * (64 + 2));
  EXPECT_EQ(bytes(mxfp8, 65), 8 * (65 + 3));
  EXPECT_EQ(bytes(mxfp6, 64), 8 * (48 + 2));
  EXPECT_EQ(bytes(mxfp6_e3m2, 33), 8 * (33 * 6 + 16) / 8);
  EXPECT_EQ(bytes(nvfp4, 64), 8 * (32 + 4));
  EXPECT_EQ(bytes(nf4, 64), 8 * (32 + 4));
  EXPECT_EQ(bytes(nf4, 65), (8 * (65 * 4 + 64)) / 8);
  EXPECT_EQ(bytes(msfp16, 48), 8 * (48 + 3));
  EXPECT_EQ(bytes(msfp12, 48), 8 * (24 + 3));
  InstructionClass biased = four_by_eight();
  biased.bias_elements_per_channel = 1;
  biased.weight_elements = 5;
  EXPECT_EQ(weight_tile_bytes(biased, 8, weight_form(grouped(mxfp4))), 8 * (24 + 2 + 2)) << "biases are halves";
  EXPECT_EQ(held_weight_bytes(biased, weight_form(grouped(mxfp4))), 10);
  EXPECT_EQ(exec::held_psram_bytes(biased, grouped(mxfp4)), 10);
}

TEST(scale_groups, leave_the_lanes_that_divide_a_group_or_are_whole_groups) {
  EXPECT_EQ(lanes_of_groups(24, 32), 16);
  EXPECT_EQ(lanes_of_groups(32, 32), 32);
  EXPECT_EQ(lanes_of_groups(80, 32), 64);
  EXPECT_EQ(lanes_of_groups(3, 64), 2);
  EXPECT_EQ(lanes_of_groups(1, 128), 1);
  const InstructionClass c = four_by_eight();
  for (std::int64_t lanes = 1; lanes < 300; ++lanes)
    for (const ScaleGranularity g :
         {ScaleGranularity::group_32, ScaleGranularity::group_64, ScaleGranularity::group_128}) {
      Machine m = grouped(int8, g);
      m.linear_lanes_k = lanes;
      EXPECT_EQ(resolve(c, m).arrays[Family::linear].sum, exec::resolve(c, m).linear_lanes_k);
      EXPECT_LE(resolve(c, m).arrays[Family::linear].sum, lanes);
    }
  InstructionClass activations = c;
  activations.operand_b = Place::stackram;
  const Machine blocks = grouped(mxfp4);
  EXPECT_EQ(resolve(activations, blocks).arrays[Family::linear].sum, 24) << "activations have no groups";
  EXPECT_EQ(exec::resolve(activations, blocks).linear_lanes_k, 24);
}

TEST(scale_groups, are_priced_by_scaling_and_by_dot_product) {
  const auto pj = [](NumberFormat a, NumberFormat b) {
    const MacFormats formats{b, a, fp32};
    return mac_energy(TechnologyNode::n7, formats).value * 1e12 -
           register_energy(TechnologyNode::n7).value * 1e12 * static_cast<double>(lane_bits(formats));
  };
  EXPECT_NEAR(pj(int8, mxint8), 1.11 * (0.07 + 0.03), 1e-12) << "of an int8 product and an int32 addition";
  EXPECT_NEAR(pj(int8, mxfp8), 1.126 * 0.1, 1e-12);
  EXPECT_NEAR(pj(int4, mxfp4), 0.52 * 0.1, 1e-12);
  EXPECT_NEAR(pj(fp16, mxfp4), std::sqrt(0.34 * 0.14) + 0.38, 1e-12) << "beside halves as built: fp16 by fp8";
  EXPECT_NEAR(pj(int8, nf4), 0.34 * 8 / 11 + 0.38, 1e-12) << "its elements are halves, of 11 bits by 8";
  EXPECT_NEAR(scaling_energy(TechnologyNode::n7, mxfp4, fp32).value * 1e12, 0.38, 1e-12) << "a shift, an addition";
  EXPECT_NEAR(scaling_energy(TechnologyNode::n7, nvfp4, fp32).value * 1e12, 1.31 + 0.38, 1e-12);
  const Machine plain = grouped(int8), groups = grouped(int8, ScaleGranularity::group_32), blocks = grouped(mxint8);
  const auto area = [](const Machine& m) { return core_area(m, widest_formats(m)); };
  Machine fp = groups;
  EXPECT_NEAR(area(groups).linear - area(plain).linear,
              2 * 2 *
                  (mac_area(TechnologyNode::n7, {fp32, fp32, fp32}).value +
                   register_area(TechnologyNode::n7, static_cast<double>((fp.pipeline_stages - 1) * 64)).value) *
                  fp.mac_floor_plan_factor.value(),
              1e-12)
      << "a multiplier for each of 2 x 2 results";
  fp.linear_lanes_k = 80;
  Machine wide = plain;
  wide.linear_lanes_k = 80;
  EXPECT_NEAR(area(fp).linear - area(wide).linear, 2 * (area(groups).linear - area(plain).linear), 1e-12)
      << "two groups at a time";
}

TEST(scale_groups, are_built_for_the_fewest_weights_that_any_layer_scales_together) {
  const Machine whole = grouped(fp16), by_32 = grouped(int4, ScaleGranularity::group_32);
  const auto group = [](const Machine& m, std::vector<Formats> layers) {
    for (Formats& one : layers) one.activations = m.activation_format;
    return widest_formats(layers, m).scale_group;
  };
  EXPECT_EQ(group(whole, {}), 0);
  EXPECT_EQ(group(whole, {{nvfp4, int8}, {fp16, int8}}), 16);
  EXPECT_EQ(group(by_32, {}), 32);
  EXPECT_EQ(group(by_32, {{fp16, int8}}), 32);
  EXPECT_EQ(group(by_32, {{nvfp4, int8}}), 16);
  EXPECT_EQ(group(whole, {{mxfp4, int8}}), 0) << "a shift builds nothing";
}

std::string refused(const Machine& m) {
  try {
    check_machine(m);
  } catch (const Error& error) {
    return error.code + " at " + error.where;
  }
  return "none";
}

TEST(scale_groups, and_blocks_are_of_weights_whose_sums_are_floats) {
  Machine m;
  EXPECT_EQ(refused(m), "none");
  m.activation_format = fp16_e6m9;
  EXPECT_EQ(refused(m), "none");
  m.accumulator_format = fp16_e6m9;
  EXPECT_EQ(refused(m), "none");
  m.activation_format = mxfp8;
  EXPECT_EQ(refused(m), "value_conflict at activation_format");
  m = Machine();
  m.accumulator_format = mxint8;
  EXPECT_EQ(refused(m), "value_conflict at accumulator_format");
  m = Machine();
  m.weight_format = m.activation_format = int8;
  m.accumulator_format = int32;
  m.scale_granularity = ScaleGranularity::group_64;
  EXPECT_EQ(refused(m), "value_conflict at accumulator_format");
  m.accumulator_format = fp32;
  EXPECT_EQ(refused(m), "none");
  m.sparsity = Sparsity::skipping;
  EXPECT_EQ(refused(m), "value_conflict at sparsity");
  m.sparsity = Sparsity::gating;
  EXPECT_EQ(refused(m), "none");
  m.in_memory_weights = InMemoryWeights::fefet;
  EXPECT_EQ(refused(m), "value_conflict at in_memory_weights");
  m = Machine();
  m.scale_granularity = ScaleGranularity::group_32;
  m.accumulator_format = fp16;
  EXPECT_EQ(refused(m), "none") << "halves have no scales";
}

}  // namespace
}  // namespace sdip
