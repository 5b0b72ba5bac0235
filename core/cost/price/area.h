// Area of lanes and memories, control, and what else a die holds.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/cost/price/estimate.h"
#include "core/machine/dies.h"
#include "core/machine/technology.h"

namespace sdip {

/// The workload that the chip is built for: an application's own `chip`, or the application itself.
const Application& built_for(const Application& application);
/// One chip for all: of each stage's place what any of them needs there: its circuits, formats and weights.
/// Requires one at least.
Application common_chip(std::span<const std::shared_ptr<const Application>> applications);

/// Stages that run on a block of a kind of its own (is_own_block), of several text encoders the first, on whose
/// block all of them run.
std::vector<const CompiledStage*> own_blocks(const Application& application, const Machine& machine);
/// Cores of one kind: the diffusion cores, and one each for encoder and decoder on chip that have no such block.
std::int64_t cores_alike(const Application& application, const Machine& machine);
/// Both: cores and circuits that carry SRAM.
std::int64_t built_cores(const Application& application, const Machine& machine);

/// As how many diffusion cores the one that a stage runs on leaks: by its area where it has rows of its own,
/// else 1.
double leaking_cores(const CompiledStage& stage, const Machine& machine);
/// All cores and circuits.
double leaking_cores(const Application& application, const Machine& machine);

/// Memories of one kind on the chip.
struct BuiltMemory {
  std::int64_t bytes{}, copies{}, port_bits{};
};
/// Those that hold weights: one for the cores, one each for encoder and decoder on chip, no copy where all that it
/// would hold lie in place; one of its own size and port for a block with such rows. They also hold the stacks of
/// their cores where memory_hierarchy=writable_psram, or hold them alone.
std::vector<BuiltMemory> psram_memories(const Application& application, const Machine& machine);

/// Capacity of the PSRAM that a stage runs from, where it has weights there.
std::int64_t psram_bytes_of(const CompiledStage& stage, const Machine& machine);

/// The widest formats that a circuit meets: of operands, and of partial sums. Narrower layers use the same
/// circuits.
struct Widest {
  NumberFormat activations, weights, sums;
  std::int64_t scale_group = 0;  // the fewest weights whose partial sum is multiplied by a scale; 0: none
};
/// The wider of both operand formats.
NumberFormat wider_of(Widest widest);
/// The formats that lanes are built for: products of weights, products of activations, and elementwise steps.
struct BuiltFormats {
  MacFormats weighted, others, steps;
};
BuiltFormats built_formats(const Machine& machine, Widest widest);
Widest widest_formats(const Machine& machine);
Widest widest_formats(std::span<const Formats> of_layers, const Machine& machine);
Widest widest_formats(const Application& application, const Machine& machine);

/// Lanes that one core has. softmax, norm: none where vector lanes or a host do their work.
struct CoreLanes {
  double conv2d{}, linear{}, matmul{}, vector{}, softmax{}, norm{};
  std::int64_t conv2d_sums = 1, linear_sums = 1;  // of them along the sums of one result
};
CoreLanes core_lanes(const Machine& machine);

/// Scaling multipliers of arrays that multiply by weights: one for each group of each result that is made at once.
double group_scalers(const CoreLanes& lanes, Widest widest);

/// Those that a stage runs on: a core's, or a circuit's, which has none that its program does not work on.
CoreLanes stage_lanes(const CompiledStage& stage, const Machine& machine);
/// MACs among them: products a cycle at most where none splits. At least 1.
std::int64_t stage_mac_lanes(const CompiledStage& stage, const Machine& machine);
/// MACs of all cores and circuits of the chip.
double built_mac_lanes(const Application& application, const Machine& machine);

/// Bits that one fold of accumulators of a family's array has: rows by channels; and one weight in each register:
/// channels by sums, of operands B no wider than `weights`.
struct HeldBits {
  std::int64_t sums{}, weights{};
};
HeldBits held_bits(const Machine& machine, Family family, NumberFormat weights, NumberFormat sums);

/// mm2 of one core's blocks, floor-plan factors and pipeline registers included.
struct CoreArea {
  double conv2d{}, linear{}, matmul{}, vector{}, softmax{}, norm{}, dsram{}, stackram{};
  double lanes() const { return conv2d + linear + matmul + vector + softmax + norm; }
  double total() const { return lanes() + dsram + stackram; }
};
CoreArea core_area(const Machine& machine, Widest widest, Bound bound = Bound::value);
/// Area of the core, or circuit, that a stage runs on.
CoreArea stage_area(const CompiledStage& stage, const Machine& machine, Widest widest, Bound bound);

/// mm2 of an SRAM of that capacity and port, floor-plan factor included; nothing where it holds nothing.
double memory_area(const Machine& machine, std::int64_t bytes, std::int64_t port_bits, Bound bound = Bound::value);
/// The same of one that exchanges with DRAM: DSRAM, PSRAM, which may have a port for that of their own.
double exchanging_area(const Machine& machine, std::int64_t bytes, std::int64_t port_bits,
                       Bound bound = Bound::value);

/// Ports of the crossbar: the cores', encoder's and decoder's; none where there is none.
std::int64_t crossbar_ports(const Machine& machine);

/// mm2 by block, floor-plan factors included: lanes and memories; FeFET memories; control, a share of lanes and
/// memories; other, a fixed part and a share of lanes; the crossbar, which is wires. Areas stand in the order of
/// area_blocks.
inline constexpr std::array<std::string_view, 15> area_blocks = {
    "conv2d", "linear", "matmul", "vector", "softmax", "norm",  "dsram",   "stackram",
    "psram",  "imem",   "rom",    "fefet",  "control", "other", "crossbar"};
std::array<double, area_blocks.size()> block_areas(const Application& application, Widest widest,
                                                   const Machine& machine, Bound bound = Bound::value);
/// mm2 of what block_areas() has, by die: of the first, of one between, and of the last; of one die alone all of it
/// is the first. Cores in order; encoders, PSRAM, IMEM and the like on the first, the decoder on the last, a fixed
/// part on each. `all_mm2`: the sum of block_areas().
struct DieAreas {
  DieLine line;
  double first = 0, between = 0, last = 0;
};
DieAreas die_areas(const Application& application, Widest widest, double all_mm2, const Machine& machine,
                   Bound bound);

/// The same by name, and `dram`, PHYs and controllers, and `die_links`; no `fefet`, no `crossbar` and no
/// `die_links` on a machine without.
Breakdown area_of(const Application& application, const Machine& machine, Bound bound = Bound::value);

/// The part of an area that draws power whether it works or not: logic, which leaks and has a clock tree, and
/// memories, which leak as SRAM of their macros' MiB.
struct StandingArea {
  double logic_mm2 = 0, sram_mib = 0;
};
StandingArea standing_of(std::string_view block, double mm2, const Machine& machine, Bound bound);

/// SRAM bytes on the chip.
std::int64_t sram_bytes(const Application& application, const Machine& machine);

}  // namespace sdip
