// Energy and area per event, by process: every constant with its source and how far it can be trusted.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/base/units.h"
#include "core/machine/machine.h"

namespace sdip {

/// cited: read in the named source. unverified: commonly quoted, source not re-read. assumption: ours, with a
/// range.
enum class Confidence { cited, unverified, assumption };
std::string_view confidence_text(Confidence confidence);

struct TechnologyRow {
  std::string_view name;  // "n7.mac.int8"
  double value, least, most;
  std::string_view unit;
  Confidence confidence;
  std::string_view source;
};

/// Every constant of every process, for docs, API and reports.
std::span<const TechnologyRow> technology_rows();

inline constexpr std::size_t technology_row_count = 285;

/// Whether a node's or a part's figures are made of that row: its own, those of the nodes that it lies between or
/// is derived from, and those of all.
bool concerns(const TechnologyRow& row, TechnologyNode node);

/// Which end of the rows' ranges a figure is made from; most: the largest energy, area and power. assumed: the
/// values, but of rows that are assumptions a hundredth more, which tells what leans on them.
enum class Bound { least, value, most, assumed };
inline constexpr std::size_t bound_count = 4;
inline constexpr double more_of_assumptions = 0.01;

/// A node, and the figures of it that are meant: the table's, or with those that a machine has of its own, which
/// are their own ends. Lives no longer than that machine's `technology`.
struct Process {
  TechnologyNode node;
  Bound bound = Bound::value;
  const OwnTables* own = nullptr;
  Process(TechnologyNode n, Bound b = Bound::value) : node(n), bound(b) {}  // NOLINT: a node is one
};

/// The process that a machine is made in: the way to every figure that it is priced by.
Process process_of(const Machine& machine, Bound bound = Bound::value);

/// FPGA parts are priced as the node that they are made in, times what programmable logic costs over it.
bool is_fpga(TechnologyNode node);

/// The format that a MAC of both operands is built and priced for: that of more bits; of as many a block format,
/// else the first. Elements of nf4 are numbers of 16 bits.
NumberFormat wider_format(NumberFormat a, NumberFormat b);

/// Energy of bringing a group's partial sum to its scale and adding it, in `sum`: a product and an addition, where
/// the scale is a power of two an addition.
Joules scaling_energy(Process process, NumberFormat weights, NumberFormat sum);

/// The formats of one lane: a product of two formats, added in a third.
struct MacFormats {
  NumberFormat weights, activations, sums;
};

/// Energy of one multiply-accumulate: the product as built, of so many bits by so many, the addition, and the
/// registers of operands and sum.
Joules mac_energy(Process process, MacFormats formats);

/// Cell area of one MAC lane: multiplier, adder, registers of operands and sum; before placing.
SquareMm mac_area(Process process, MacFormats formats);

/// Bits that a lane keeps in registers at least; and what each pipeline stage beyond the first keeps: the wider
/// operand and the sum.
std::int64_t lane_bits(MacFormats formats);
std::int64_t stage_bits(MacFormats formats);

/// Cell area of so many flip-flops; energy of one that is clocked once, the clock's own apart.
SquareMm register_area(Process process, double bits);
Joules register_energy(Process process);

/// A MAC that splits into narrower ones over one that does not: what its area and its energy are times as much.
struct ComposableMac {
  double mac_area, mac_energy;
};
ComposableMac composable_over_plain(Process process, NumberFormat operand);

/// Energy of moving `bits` through the port of an SRAM whose bank holds `bank_bytes`: the table's points (8 KB, 32
/// KB, 1 MB, each per 64 bits), joined and continued by power laws.
Joules sram_energy(Process process, Bytes bank_bytes, Bits bits);

/// Macro area of an SRAM of one bank and no port, before the floor-plan factor.
SquareMm sram_area(Process process, Bytes capacity);

/// The same with `banks` that each have a port of `port_bits`: sram.port_cells more bits for each bit of each.
SquareMm sram_area(Process process, Bytes capacity, std::int64_t banks, Bits port_bits);
/// As many times as large is one whose cells have a second port.
double second_port_area(Process process);

/// Area of weights kept in ROM.
SquareMm rom_area(Process process, Bytes capacity);

/// Area of FeFET cells of one bit.
SquareMm fefet_cell_area(Process process, Bits cells);

/// Area of a converter of a FeFET memory's columns, and energy of a conversion, that lose nothing of 128 cells when
/// rows take `input_bits` of an activation at once: 7 + input_bits bits, area and energy doubled by each.
SquareMm fefet_converter_area(Process process, std::int64_t input_bits);
Joules fefet_conversion_energy(Process process, std::int64_t input_bits);
/// The share of a FeFET memory's area that leaks as logic does.
double fefet_leaking_share(Process process);

/// Energy of a product of one bit by one bit in a FeFET cell.
Joules fefet_product_energy(Process process);

/// Energy of moving `bytes` between chip and DRAM.
Joules dram_energy(Process process, DramKind kind, Bytes bytes);

/// The share of the die and its edge that a bit of a channel takes, and the power of the channel. PHYs keep their
/// area from node to node.
struct DramFigures {
  double phy_mm2, phy_mm;        // of a bit of a channel: area, and edge of the die
  double phy_pj, phy_mw;         // of a bit that moves, on the die; standing, for each Gb/s of the pins
  double background_mw, row_pj;  // of a channel's devices; of a row that they open
  double controller_mm2;         // for each GB/s
};
DramFigures dram_figures(Process process, DramKind kind);

/// A link between two dies: of a Gb/s each way the area and edge of one of its ends and its standing power; the
/// least that anything takes on its way.
struct LinkFigures {
  double mm2, mm, mw, ns;
};
LinkFigures link_figures(Process process);
/// Energy of a bit that crosses one.
Joules link_energy(Process process);

/// The most that a scanner exposes at once.
SquareMm exposed_area(Process process);

/// The figures that make the price of silicon, package and DRAM, in USD.
struct PriceFigures {
  double wafer, defects_per_mm2, clusters;  // of 300 mm; their density and how they cluster
  double assembly, substrate_mm2, interposer_mm2, interposer_over_dies, bond_yield;
  double dram_gib[4];           // of HBM, LPDDR, DDR, GDDR
  double years, kilowatt_hour;  // that a chip is used, and its electricity
};
const PriceFigures& price_figures(Process process);
/// Price of a GiB of that kind.
double dram_gib_usd(Process process, DramKind kind);

/// Energy of moving a bit along a millimetre of wire.
Joules wire_energy(Process process);

/// Energy a cycle of the clock tree of a square millimetre of logic.
Joules clock_tree_energy(Process process);

/// Area of a crossbar of so many ports: a square as wide as the bits of all of them side by side.
SquareMm crossbar_area(Process process, std::int64_t ports, Bits port_bits);
/// LUTs of its multiplexers: each bit of each port chooses among the other ports.
double fpga_crossbar_luts(Process process, std::int64_t ports, Bits port_bits);
/// Area beside lanes and memories: sequencers over all of them; what grows with lanes (networks, vector registers,
/// wires, what stays empty) over these; and the fixed part, host interface, PLLs and pads.
double control_over_datapath(Process process, Sequencer sequencer);
double other_over_lanes(Process process);
SquareMm other_fixed_area(Process process);

/// Speed, energy of events and leakage at a supply over those at the nominal one, leakage at the die's temperature
/// over that at 85 C. SRAM's is never below its own least supply. docs/model/limits.md has the laws.
struct Supply {
  std::int64_t mv{};
  double speed = 1, logic = 1, sram = 1, logic_leakage = 1, sram_leakage = 1;
};
/// At any voltage, by the rows' values; speed 0 where transistors do not switch.
Supply supply_at(Process process, std::int64_t mv);  // of an FPGA all 1
/// At the multiples of 10 mV that the node runs at, rising; at least one. An FPGA has one at 0 mV: as it is.
std::span<const Supply> supplies(Process process);

/// The supply at which energies and leakage are given, in mV; 0 for an FPGA.
std::int64_t nominal_supply_mv(Process process);

/// Watts that logic and SRAM leak at a supply; of an FPGA the whole part's, whatever it holds.
double leakage_watts(Process process, SquareMm logic, double sram_mib, const Supply& supply);

/// MiB of SRAM whose macros are that large: the unit in which SRAM leaks, periphery as bits.
double sram_mib_of(Process process, SquareMm macros);

/// The fastest clock of a lane of `stages` at the nominal supply, in MHz: 1 / (FO4 x margin x (max(logic depth /
/// stages, least) + overhead)). An FPGA has its blocks' own, a third of it for each stage short of three.
/// Bound::most is the slowest.
double clock_limit_mhz(Process process, NumberFormat operand, std::int64_t stages);
/// The clock limit of an SRAM bank of that capacity: 1 / (FO4 x (least + by the root of its KiB)). An FPGA has
/// none: infinite.
double sram_clock_limit_mhz(Process process, Bytes bank_bytes);

/// The heat that a die stands: W/mm2, and degrees of the junction, which is so many above the air for each W/mm2.
struct DieLimits {
  double watts_per_mm2, celsius, ambient_celsius, kelvin_mm2_per_watt;
  double leaks_at_celsius;  // at which leakage is priced
  double celsius_at(double density) const { return ambient_celsius + kelvin_mm2_per_watt * density; }
};
DieLimits die_limits(Process process);

/// The resources of an FPGA part, and those that a lane takes.
struct FpgaPart {
  double dsp, bram, uram, lut;
};
FpgaPart fpga_part(Process process);
/// Bits of its RAM blocks, and of a port of theirs.
struct FpgaMemories {
  double bram_bits, uram_bits, port_bits;
};
FpgaMemories fpga_memories(Process process);
/// The bytes that make a part a machine, and the pace at which its configuration port takes them. Bound::most:
/// takes longest.
struct FpgaConfiguration {
  double bytes, megabytes_per_s;
  double seconds() const { return bytes / (1e6 * megabytes_per_s); }
};
FpgaConfiguration fpga_configuration(Process process);
double fpga_dsp_blocks(Process process, NumberFormat operand);
double fpga_lane_luts(Process process, NumberFormat operand);
double fpga_control_luts(Process process);
/// Bits of a LUT that is a RAM one bit wide.
double fpga_lut_ram_bits(Process process);

}  // namespace sdip
