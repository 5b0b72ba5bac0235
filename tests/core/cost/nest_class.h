// A nest of weights as an instruction class, its activations from DRAM. For tests.
#pragma once

#include "core/program/program.h"

namespace sdip {

inline InstructionClass weighted_nest(const LoopNest& nest, const Mapping& mapping) {
  InstructionClass c;
  c.work.family = Family::conv2d;
  c.work.nest = nest;
  c.mapping = mapping;
  c.operand_a = Place::dram;
  c.operand_b = Place::psram;
  return c;
}

}  // namespace sdip
