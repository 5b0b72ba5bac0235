// Cores on several dies.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/machine/machine.h"

namespace sdip {

/// Dies that have cores, in a line, and the cores of each; the last may have fewer.
struct DieLine {
  std::int64_t dies = 1, cores = 1;
};
/// `dies` share the cores evenly. Example: 10 cores on 6 dies: two on each of five dies.
constexpr DieLine die_line(const Machine& m) {
  const std::int64_t cores = ceil_div(m.cores, m.dies);
  return {ceil_div(m.cores, cores), cores};
}

/// Cores whose activations a die's even share of the channels takes in the time that the fullest die's take.
constexpr std::int64_t cores_on_channels(const DieLine& line, std::int64_t active_cores) {
  return line.dies == 1 ? active_cores : line.dies * (active_cores < line.cores ? active_cores : line.cores);
}

}  // namespace sdip
