// Time to evaluate a machine as a network grows in layers, and in kinds of layers, for `sdip bench`. Internal to
// its room.
#pragma once

#include <cstdint>
#include <vector>

namespace sdip {

/// Seconds of one thread a machine: where each makes its layers' costs, areas and energies anew but has the times
/// of the one before; and what the recurrence takes beside that where each has times of its own.
struct LayerGrowth {
  std::int64_t layers = 0, classes = 0;
  double seconds = 0, recurrence_seconds = 0;
};

/// Networks of 1, 10, ... 10,000 equal convolutions of 64 channels of 64 x 64, their weights streamed.
std::vector<LayerGrowth> layer_growth();

/// Networks of 1,000 such convolutions of 1, 10, 100, 1,000 kinds, of 64, 65, 66, ... input channels.
std::vector<LayerGrowth> class_growth();

}  // namespace sdip
