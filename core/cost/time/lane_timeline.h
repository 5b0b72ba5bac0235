// Time of machines side by side: the recurrence for eight at once, along one plain tape.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/base/vectors.h"
#include "core/cost/time/tape.h"
#include "core/machine/rate.h"

namespace sdip {

inline constexpr std::size_t lane_count = 8;

/// One machine: its numbers on the tape, and its channel.
struct LaneMachine {
  const TapeNumbers* numbers = nullptr;
  DramRate rate;
  std::int64_t cores = 1;  // whose activations each transfer moves
};

/// The times that run_timeline gives for one lane. Passes behind the last are as long as that.
struct LaneTimes {
  std::vector<std::int64_t> pass_cycles;
  std::int64_t stall_cycles = 0, running_cycles = 0;  // of the last pass
  std::int64_t psram_peak_bytes = 0;
  std::int64_t turns = 0;  // of the channel, in the last pass

  /// Cycles of `count` passes from cold.
  std::int64_t total(std::int64_t count) const;
};

/// Runs machines, lane_count at a time: each as if it were alone, whatever the instructions of the processor.
class LaneRunner {
 public:
  explicit LaneRunner(Vectors vectors = widest_vectors());
  ~LaneRunner();

  /// At most `most_passes` of each; quickest where machines of the same numbers stand together. Requires that all
  /// numbers are of that tape, and countable(...) of each.
  void run(const Tape& tape, std::span<const LaneMachine> machines, std::int64_t most_passes,
           std::span<LaneTimes> times);

  /// Tile operations of the last run one by one; of the others is known that they last the same.
  std::int64_t operations_run() const;

 private:
  void run_alone(const Tape& tape, const LaneMachine& machine, std::int64_t most_passes, LaneTimes& times);
  void run_lanes(const Tape& tape, std::span<const LaneMachine> machines, std::int64_t most_passes,
                 std::span<LaneTimes> times);

  struct Memory;  // used again and again
  std::unique_ptr<Memory> memory_;
};

}  // namespace sdip
