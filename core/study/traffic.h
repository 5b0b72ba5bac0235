// The effect of each option of the compiler on a model's traffic: the rows of `sdip traffic`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/study/workloads.h"

namespace sdip {

/// A model on a machine with some options set: one steady pass of every stage, summed; activations of one core.
struct TrafficRow {
  std::string options;     // "none", "fusion=norm", ...; what is on stands with spaces between
  bool stacked = false;    // on top of the stacked rows before it; else alone
  std::string infeasible;  // why; the figures are then 0
  std::int64_t instructions = 0;
  std::int64_t dram_weights_bytes = 0, dram_activations_in_bytes = 0, dram_activations_out_bytes = 0;
  std::int64_t macs = 0, cycles = 0;
  std::int64_t dram_bytes() const {
    return dram_weights_bytes + dram_activations_in_bytes + dram_activations_out_bytes;
  }
  /// Whether every figure is the other's.
  bool changes_nothing_of(const TrafficRow& other) const;
};

/// Rows alone whose figures are all the first row's: their options, and the others in order. For people; the
/// machine-readable forms have every row.
struct ShortTraffic {
  std::vector<TrafficRow> rows;
  std::vector<std::string> no_change;
};
ShortTraffic shortened(const std::vector<TrafficRow>& rows);

/// First `machine` with every option that can change the program at its default; then each other value
/// alone, where the rules between parameters allow it; then those that fuse, one on top of the other. Throws what
/// reading the model throws. Requires a checked machine.
std::vector<TrafficRow> traffic_rows(const Workloads& workloads, const std::string& model, const Machine& machine);

}  // namespace sdip
