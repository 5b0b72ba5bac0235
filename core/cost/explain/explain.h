// Why a machine takes the time that it takes: for each layer and in total the resource that limits, the formulas of
// docs/model/ with their numbers filled in, what every other resource has to spare, and how far both bounds are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/price/estimate.h"

namespace sdip {

/// Resources whose cycles a layer needs: the circuit, the SRAM ports, the DRAM channel, and the time that every
/// instruction takes to be issued and drained.
enum class Needed {
  compute,
  dsram_read,
  dsram_write,
  stackram_read,
  stackram_write,
  psram_read,
  overhead,
  dram_channel
};
inline constexpr std::size_t needed_count = 8;
static_assert(at(Needed::overhead) == at(Resource::overhead),
              "as far as the channel they are resources, in their order");
std::string_view needed_text(Needed needed);
using Needs = Array<std::int64_t, needed_count>;  // in cycles

/// One figure: the formula in symbols, as `section` of the documents has it, and with its numbers filled in;
/// the latter, worked out, is `value`. `numbers` is empty where a figure is counted and no formula of its own.
struct FilledTerm {
  std::string what, section, formula, numbers;
  std::int64_t value{};
};

/// "B" of what ends in bytes, "us", "MHz" and "mV" of what ends so, nothing of reads and writes that are counted,
/// else "cycles".
std::string_view unit_of(const FilledTerm& term);

/// One instruction of a stage in its steady pass, of all active cores.
struct LayerNeeds {
  std::size_t stage{}, index{};
  std::int64_t cycles{};
  Needs needs{};  // dram_channel: of its own transfers, whenever they go
  Needed limiter = Needed::compute;
  std::int64_t macs{}, dram_bytes{};
  std::int64_t lane_macs{};   // of the MACs those on lanes: no zeros skipped, none that a memory makes
  std::int64_t array_macs{};  // that its array makes a cycle at most, on all cores that run it; 0 without lane_macs
  friend bool operator==(const LayerNeeds&, const LayerNeeds&) = default;
};

/// A kind of layer: instructions of a stage that cost the same. `layer` is the first of them.
struct LayerExplanation {
  LayerNeeds layer;
  std::vector<std::size_t> alike;  // all their indices, ascending
  std::vector<FilledTerm> terms;
  bool written_out{};  // the on-chip needs have formulas, and these agree with the engine
  std::int64_t bound_cycles{}, least_dram_bytes{};

  /// Cycles of the layer in which a resource has nothing to do; below 0 where transfers went ahead of it.
  std::int64_t slack(Needed needed) const;
};

/// A stage in its steady pass.
struct StageExplanation {
  std::string name;
  Role role = Role::network;
  std::int64_t cycles{}, passes_per_frame{};
  Needs needs{};                                // summed over its instructions
  Array<std::int64_t, needed_count> limited{};  // cycles of the instructions that each limits
  Needed limiter = Needed::compute;             // the largest need
  std::int64_t bound_cycles{}, dram_bytes{}, bound_dram_bytes{};
  std::int64_t active_cores{};
  std::int64_t spread_cores{};     // the most that share one instruction of a frame
  std::int64_t products_in_mac{};  // that a MAC makes a cycle, of the layer of which it makes most
  std::int64_t mac_lanes{};        // times these, of the cores that work on it together: MACs a cycle at most
  DramRate rate;                   // of its share of the channel
  std::vector<MacRoof> roofs;
  std::vector<FilledTerm> bounds;
};

struct Explanation {
  bool feasible{};
  std::string reason;
  std::size_t pace{};             // the stage that sets the period
  std::vector<FilledTerm> terms;  // period and latency
  std::vector<FilledTerm> load;   // before processing
  std::vector<StageExplanation> stages;
  std::vector<LayerNeeds> layers;       // all, in program order; with lane_macs the points of a roofline
  std::vector<LayerExplanation> worst;  // the kinds that take most cycles of a frame, most first
  Needed limiter() const { return stages[pace].limiter; }
};

/// Explains a design point, and `most_layers` kinds of layers in full. Requires what estimate() does.
Explanation explain(const Application& application, const Machine& machine, std::size_t most_layers);

}  // namespace sdip
