// The cost of a program on a machine: exact cycles, stalls, occupancy and traffic; energy and area from tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/cost/work/resource.h"
#include "core/machine/machine.h"
#include "core/machine/rate.h"
#include "core/program/memories.h"
#include "core/program/program.h"

namespace sdip {

enum class Metric {
#define METRIC(name, unit, better, en, ja) name,
#include "core/cost/price/metrics.def"
#undef METRIC
  count
};
inline constexpr std::size_t metric_count = at(Metric::count);

enum class Better { higher, lower, neither };
struct MetricRow {
  std::string_view name, unit;
  Better better;
  std::string_view en, ja;
};
View<const MetricRow> metrics();
const MetricRow* find_metric(std::string_view name);

/// Values by Metric; all NaN when it cannot run. For a machine that breaks a limit (clock, supply, heat) they are
/// what it would do if it could.
using MetricValues = Array<double, metric_count>;

/// A metric that is a function of two others of the same point, or of one, named twice; NaN where they leave it
/// none.
struct DerivedMetric {
  Metric metric;
  std::array<Metric, 2> of;  // not derived themselves
  double (*from)(double first, double second);
};
/// The store names a row by its place, and computes with it what it did not store: rows are only ever added, and
/// none changes what it computes.
std::span<const DerivedMetric> derived_metrics();

/// The metrics of one design point. `reason` says, when infeasible, what does not fit: "stage: what, by how many
/// bytes"; or which limit it breaks, with limit and value.
struct Outcome {
  bool feasible = false;
  std::string reason;
  MetricValues values{};
  /// Whether it ran and has values: feasible, or breaking a limit alone.
  bool counted() const {
    const double cycles = values[Metric::step_cycles];
    return cycles == cycles;
  }
};

std::string_view resource_text(Resource resource);
using ByResource = Array<Cycles, resource_count>;

/// Parts of the energy. broadcast: weights on their way to the cores; ports: beats across the macros of a memory;
/// clock: its tree and pipeline registers; control: instruction words read from IMEM.
enum class EnergyPart {
  mac,
  vector,
  dsram,
  stackram,
  psram,
  dram_weights,
  dram_activations,
  dram_program,
  dram_phy,
  dram_turns,
  dram_background,
  die_links,
  broadcast,
  ports,
  clock,
  control,
  leakage
};
std::string_view energy_part_text(EnergyPart part);
inline constexpr std::size_t energy_part_count = 17;
using EnergyParts = std::array<double, energy_part_count>;
double total_of(const EnergyParts& joules);

/// J by part, and at the ends of the constants' ranges.
struct RangedEnergy {
  EnergyParts value{}, least{}, most{};
};

/// One instruction in the steady pass.
struct InstructionCost {
#define FIELD(type, member, key, unit, en, ja) type member{};
#include "core/cost/price/instruction_fields.def"
#undef FIELD
  RangedEnergy frame_energy;  // its share of a frame's energy
};

/// The most that a stage's products can reach. MACs a cycle: lanes times products_in_mac.
struct MacRoof {
  std::vector<Family> families;  // whose products it is the roof of, in their order
  std::int64_t lanes{};          // of all cores that work at once
  std::int64_t products_in_mac{};
  std::int64_t macs_per_cycle() const { return lanes * products_in_mac; }
};

struct StageReport {
#define FIELD(type, member, key, unit, en, ja) type member{};
#include "core/cost/price/stage_fields.def"
#undef FIELD
  RangedEnergy frame_energy;                  // its instructions' shares of a frame's energy
  std::vector<InstructionCost> instructions;  // empty unless asked for
};

/// A part of a total: ("DRAM weights", 0.012). The parts of a breakdown sum to its total.
using Breakdown = std::vector<std::pair<std::string, double>>;

/// The ends of a breakdown's ranges, part by part.
struct Ranges {
  Breakdown least, most;
};

/// The fastest clock that all circuits stand, by the rows' values and at the ends of their ranges: at `supply_mv`
/// where the user says it, else at the most supply of the node.
struct ClockLimit {
  double least_mhz{}, mhz{}, most_mhz{};
  std::string circuit;       // the slowest; "part" of an FPGA
  std::int64_t supply_mv{};  // that the chip runs at and is priced at; 0 of an FPGA
};

/// Power density and hottest temperature of the die, each beside the most that it stands.
struct Heat {
  double watts_per_mm2{}, most_watts_per_mm2{}, celsius{}, most_celsius{};
};

/// A figure of the technology table's, and the ends of its range.
struct Ranged {
  double value{}, least{}, most{};
};

/// Dies alike: the first, those between, the last. The edge is what PHYs and links take of one; the yield the share
/// of dies that work.
struct DieReport {
  std::int64_t count{};
  Ranged area_mm2;
  double edge_mm{}, yield{};
};

/// Shares of a frame's energy and of the area that grow with the rows of the technology table that are assumptions:
/// part by part what of it does, at most all.
struct AssumedShares {
  double energy{}, area{};
};

/// An FPGA part made into the machine.
struct Configuration {
  Ranged bytes, seconds;
};

/// A memory filled before processing.
struct LoadPart {
  std::string_view memory;  // "imem", "dram"; "fefet": memories that multiply, all copies at once
  Bytes bytes;
  Cycles cycles;
  double seconds{};
};

/// Before processing, whatever comes in on its way from the outside: docs/model/frames.md#load-phase.
struct Load {
  std::vector<LoadPart> parts;                 // one after the other; FeFET memories where there are some
  Cycles cycles;                               // of all parts
  double seconds{};                            // with the configuration
  std::optional<Configuration> configuration;  // of an FPGA part; before there are cycles
  Bytes kept;  // weights that stay in PSRAM: the first pass brings them, and its cycles have them
};

/// Resources of an FPGA part that a machine uses.
struct FpgaUse {
  struct Resource {
    std::string_view name;  // "dsp", "bram", "uram", "lut"
    double needed{}, available{};
  };
  std::array<Resource, 4> resources;
  std::string_view limit;  // the resource that is used most of, or that is lacking most; "fefet": memories of it
  bool fits{};
};

struct Report {
  Outcome outcome;
  std::vector<StageReport> stages;
  Breakdown energy_j;  // of one frame
  Ranges energy_ranges_j;
  // The part of it that no instruction has: leakage and clock tree while cores wait or hand data on, by what does.
  Breakdown waiting_energy_j;
  Ranges waiting_energy_ranges_j;
  Breakdown area_mm2;
  Ranges area_ranges_mm2;
  Breakdown leakage_w;  // by block of the area, logic and memories apart, at its supply
  ClockLimit clock_limit;
  std::optional<Heat> heat;     // none of an FPGA
  double dram_edge_mm = 0;      // of the die, that the PHYs of DRAM take
  std::vector<DieReport> dies;  // none of an FPGA
  Breakdown price_usd;          // silicon, package, DRAM
  Ranges price_ranges_usd;
  Breakdown million_images_usd;  // what a million images take of the machine, and of electricity
  std::optional<FpgaUse> fpga;   // of a machine on such a part
  Breakdown latency_s;           // of one frame alone
  AssumedShares assumed;
  Load load;
  std::vector<std::string> notes;  // what is estimated or outside the model's validity
};

/// The whole report. Requires that `application` was compiled with the same compile_key(machine).
Report estimate(const Application& application, const Machine& machine);

/// The outcome alone, the same bits as estimate(...).outcome, faster.
Outcome evaluate(const Application& application, const Machine& machine);

}  // namespace sdip
