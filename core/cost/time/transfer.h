// What a program's DRAM transfers take on a channel: bytes in whole bursts, and cycles.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/time/timeline.h"

namespace sdip {

struct Transfer {
  std::int64_t bytes = 0, time = 0;
};

/// A tile shape with its transfers as times.
struct ShapeTimes {
  std::int64_t cycles = 0, dispatch_cycles = 0, psram_bytes = 0;
  Transfer b, split, weights, partial, out;
};

struct WindowTimes {
  Transfer all, fresh;
};

/// Where a class's shapes and windows stand in TransferTimes.
struct ClassTimes {
  std::size_t first_shape = 0, first_window = 0;
  Transfer held;
  std::int64_t held_psram_bytes = 0;
};

/// An instruction's words.
struct WordsTimes {
  std::int64_t bytes = 0;
  Transfer transfer;
};

struct TransferTimes {
  std::vector<WordsTimes> words;  // by instruction; empty when IMEM holds the program
  std::vector<ShapeTimes> shapes;
  std::vector<WindowTimes> windows;
  std::vector<ClassTimes> classes;
};
TransferTimes transfer_times(const Program& program, const std::vector<ClassCost>& costs,
                             const TimelineRules& rules);

}  // namespace sdip
