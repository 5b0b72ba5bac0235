// Published accelerators, described as machines, and what was published of them.
#pragma once

#include <span>
#include <string_view>

#include "core/machine/machine.h"

namespace sdip {

struct Chip {
  std::string_view name;
  Machine machine;
  double area_mm2, power_w, clock_mhz;
  std::string_view area_source, power_source;
};

/// TPU v1, TPU v4i, Eyeriss. Power: on the chip, DRAM apart.
std::span<const Chip> chips();

}  // namespace sdip
