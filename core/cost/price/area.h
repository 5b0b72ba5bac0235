// Area of lanes and memories, control, and what else a die holds.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/cost/price/estimate.h"
#include "core/machine/technology.h"

namespace sdip {

/// Chips' worth of cores that carry SRAM: the diffusion cores, and one each for encoder and decoder on chip.
std::int64_t built_cores(const Application& application, const Machine& machine);
/// Of them those that are circuits made for their stage.
std::vector<const CompiledStage*> built_circuits(const Application& application, const Machine& machine);

/// Memories of one kind on the chip.
struct BuiltMemory {
  std::int64_t bytes{}, copies{};
};
/// Those that hold weights: one for the cores, one each for encoder and decoder on chip, no copy where all that it
/// would hold lie in place. With memory_hierarchy=writable_psram they hold the stacks of their cores, too, or
/// alone.
std::vector<BuiltMemory> psram_memories(const Application& application, const Machine& machine);

/// Capacity of the PSRAM that a stage runs from, where it has weights there.
std::int64_t psram_bytes_of(const CompiledStage& stage, const Machine& machine);

/// The widest format that a circuit meets: of operands, and of them and weights. Narrower layers use the same
/// circuits.
struct Widest {
  NumberFormat operands, all;
};
Widest widest_formats(const Machine& machine);
Widest widest_formats(std::span<const Formats> of_layers, const Machine& machine);
Widest widest_formats(const Application& application, const Machine& machine);

/// Lanes that one core has. softmax, norm: none where vector lanes or a host do their work.
struct CoreLanes {
  double conv2d{}, linear{}, matmul{}, vector{}, softmax{}, norm{};
};
CoreLanes core_lanes(const Machine& machine);

/// Those that a stage runs on: a core's, or a circuit's, which has none that its program does not work on.
CoreLanes stage_lanes(const CompiledStage& stage, const Machine& machine);
/// MACs among them: products a cycle at most where none splits. At least 1.
std::int64_t stage_mac_lanes(const CompiledStage& stage, const Machine& machine);
/// MACs of all cores and circuits.
double built_mac_lanes(const Application& application, const Machine& machine);

/// mm2 of one core's blocks, floor-plan factors included.
struct CoreArea {
  double conv2d{}, linear{}, matmul{}, vector{}, softmax{}, norm{}, dsram{}, stackram{};
  double total() const { return conv2d + linear + matmul + vector + softmax + norm + dsram + stackram; }
};
CoreArea core_area(const Machine& machine, Widest widest, Bound bound = Bound::value);
/// Of the core, or circuit, that a stage runs on.
CoreArea stage_area(const CompiledStage& stage, const Machine& machine, Widest widest, Bound bound);

/// mm2 of an SRAM of that capacity and port, floor-plan factor included; nothing where it holds nothing.
double memory_area(const Machine& machine, std::int64_t bytes, std::int64_t port_bits, Bound bound = Bound::value);

/// Ports of the crossbar: the cores', encoder's and decoder's; none where there is none.
std::int64_t crossbar_ports(const Machine& machine);

/// mm2 by block, floor-plan factors included: lanes and memories; FeFET memories; control and other, which are
/// shares of all but these; the crossbar, which is wires. In the order of area_blocks.
inline constexpr std::array<std::string_view, 15> area_blocks = {
    "conv2d", "linear", "matmul", "vector", "softmax", "norm",  "dsram",   "stackram",
    "psram",  "imem",   "rom",    "fefet",  "control", "other", "crossbar"};
std::array<double, area_blocks.size()> block_areas(const Application& application, Widest widest,
                                                   const Machine& machine, Bound bound = Bound::value);
/// The same by name; no `fefet` and no `crossbar` on a machine without.
Breakdown area_of(const Application& application, const Machine& machine, Bound bound = Bound::value);

/// Of a block's area the share that leaks as logic does.
double leaking_share(std::string_view block, Process process);

/// SRAM bytes on the chip.
std::int64_t sram_bytes(const Application& application, const Machine& machine);

}  // namespace sdip
