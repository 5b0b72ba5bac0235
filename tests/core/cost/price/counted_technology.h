// Area, wires and leakage of an application on a machine, from docs/model/ alone: written apart from core/cost.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/program/program.h"

namespace sdip {

/// A row of the technology table.
double counted_row(const std::string& name);

/// What a bit of flip-flops takes at a node: "area" or "energy" as the row has it.
double counted_flop(TechnologyNode node, const std::string& what);

/// Whether the core that a stage runs on has a circuit for that family: of one made for the stage when the
/// executor sees its program use it. The machine is that of the stage.
bool has_circuit(const CompiledStage& stage, Family family, const Machine& machine);

/// docs/model/area.md: mm2 by block.
std::map<std::string, double> counted_area(const Application& application, const Machine& machine);

/// docs/model/energy.md: millimetres that a bit travels for a stage.
struct Wires {
  double broadcast = 0, psram = 0, dsram = 0, stackram = 0;
  double to_a_core = 0;          // from PSRAM, on average
  std::int64_t psram_bytes = 0;  // of the stage's PSRAM
  std::vector<double> pairs;     // of each DSRAM pair, by family; of one for all that alone
};
/// The machine is that of the application.
Wires counted_wires(const CompiledStage& stage, const Machine& machine);

/// MACs of the array that a family's products go to.
std::int64_t counted_lanes(Family family, const Machine& machine);
/// Joules of the registers of pipeline stages beyond the first, for a cycle that an instruction works on its lanes.
double counted_registers(const InstructionClass& instruction_class, const Machine& machine);

/// Area or energy ("area", "energy") of a MAC in that format over one that does not split.
double composable_ratio(const Machine& machine, NumberFormat format, const std::string& what);

/// docs/model/limits.md: the fastest clock of all that is built, at the nominal supply; the supply that a chip runs
/// at, as if every layer had the machine's formats.
double counted_clock_mhz(const Application& application, const Machine& machine);
double counted_volts(double slowest_mhz, const Machine& machine);

/// What a chip of that area leaks at a supply, what its clock tree takes a cycle, and what events of logic and of
/// SRAM cost there over what they cost at the nominal one.
struct CountedStanding {
  double leakage_w = 0, clock_j = 0, logic = 1, sram = 1;
  double phy_w = 0, background_w = 0;  // of DRAM: on the die, and in its devices
  double links_w = 0;                  // between dies
};

/// Joules of a byte through the die's PHYs, and of a turn of all channels.
double counted_phy_byte(const Machine& machine);
double counted_turn(const Machine& machine);
CountedStanding counted_standing(const std::map<std::string, double>& area_mm2, double volts,
                                 const Machine& machine);

/// Bytes of each DSRAM of a family.
std::int64_t counted_pair_bytes(const Machine& machine, Family family);

/// Whether a stage of that role is on chip and any row of its group is set.
bool counted_own_rows(const Machine& machine, Role role);

/// Cores alike: the diffusion cores first (of no stage), then the encoder's, the decoder's, and a text encoder's
/// that has rows of its own, once, each with its stage's machine.
struct CountedBlock {
  const CompiledStage* stage;
  Machine machine;
  std::int64_t copies;
};
std::vector<CountedBlock> counted_blocks(const Application& application, const Machine& machine);
/// As how many diffusion cores the core of a stage leaks, or (no stage) all of them: one with rows of its own by
/// its area beside theirs, any other as one of them.
double counted_leaking_cores(const Application& application, const Machine& machine, const CompiledStage* stage);

/// mm2 of one copy of a block's lanes and memories, its control and what grows with its lanes.
double counted_placed_mm2(const CountedBlock& block, const Machine& machine);
/// mm2 of an SRAM, and its control; of a stage's ROM and its control; of a stage's FeFET arrays, all copies.
double counted_memory_mm2(std::int64_t bytes, std::int64_t port_bits, const Machine& machine);
double counted_rom_mm2(const CompiledStage& stage, const Machine& machine);
double counted_fefet_mm2(const CompiledStage& stage, const Machine& machine);
/// mm2 of the fixed part of a die, and of DRAM's PHYs and controllers.
double counted_fixed_mm2(const Machine& machine);
double counted_phys_mm2(const Machine& machine);

/// SRAM on the chip.
std::int64_t counted_sram_bytes(const Application& application, const Machine& machine);

}  // namespace sdip
