// A nest as an instruction class. For tests.
#pragma once

#include "core/program/program.h"

namespace sdip {

/// A product with weights, its activations from DRAM.
inline InstructionClass weighted_nest(const LoopNest& nest, const Mapping& mapping) {
  InstructionClass c;
  c.work.family = Family::conv2d;
  c.work.nest = nest;
  c.mapping = mapping;
  c.operand_a = Place::dram;
  c.operand_b = Place::psram;
  return c;
}

/// `rows` by `sums` by `channels` in one tile, on chip; by weights where B lies in PSRAM.
inline InstructionClass linear_class(std::int64_t rows, std::int64_t sums, std::int64_t channels,
                                     Place operand_b = Place::psram) {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest.out_h = c.work.nest.in_h = rows;
  c.work.nest.in_channels = sums;
  c.work.nest.out_channels = channels;
  c.operand_a = Place::dsram;
  c.operand_b = operand_b;
  c.mapping = {rows, 1, channels, sums};
  c.out_elements = rows * channels;
  if (operand_b == Place::psram) c.weight_elements_per_channel = sums;
  return c;
}

}  // namespace sdip
