// Worked examples of core/cost/work/branches.cpp, for the estimate and for the executor.
#pragma once

#include "core/program/program.h"

namespace sdip {

/// Two of eight channels of 4 x 4 under 3 x 3 each, which four cores share, and the weights of these.
inline InstructionClass shared_depthwise() {
  InstructionClass c;
  c.work.family = Family::conv2d;
  c.work.nest = {.groups = 2,
                 .out_h = 4,
                 .out_w = 4,
                 .in_h = 4,
                 .in_w = 4,
                 .kernel_h = 3,
                 .kernel_w = 3,
                 .pad_top = 1,
                 .pad_left = 1,
                 .pad_bottom = 1,
                 .pad_right = 1};
  c.mapping = {4, 4, 2, 1, rows_outermost};
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = 9;
  c.out_elements = 2 * 4 * 4;
  c.spread_cores = 4;
  return c;
}

inline Machine of_shared_depthwise() {
  Machine m;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.scale_granularity = ScaleGranularity::tensor;
  m.conv_lanes_pixel = 32;
  m.conv_lanes_in = m.conv_lanes_out = 16;
  m.link_bits = m.psram_port_bits = 64;
  m.dma_port = DmaPort::own;
  return m;
}

/// The third: 3 of 12 output channels of a linear of 4 rows of 8, which four cores share.
inline InstructionClass shared_linear() {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest = {.out_channels = 3, .in_channels = 8, .out_h = 4, .in_h = 4};
  c.mapping = {4, 1, 3, 8, rows_outermost};
  c.operand_a = Place::dsram;
  c.operand_b = Place::psram;
  c.weight_elements_per_channel = 8;
  c.out_elements = 4 * 3;
  c.spread_cores = 4;
  c.shares_channels = true;
  return c;
}

}  // namespace sdip
