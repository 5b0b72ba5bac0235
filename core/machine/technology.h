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

inline constexpr std::size_t technology_row_count = 163;

/// Whether a node's or a part's figures are made of that row: its own, those of the nodes that it lies between or
/// is derived from, and those of all.
bool concerns(const TechnologyRow& row, TechnologyNode node);

/// Which end of the rows' ranges a figure is made from; most: the largest energy, area and power.
enum class Bound { least, value, most };
inline constexpr std::size_t bound_count = 3;

/// A node, and the figures of it that are meant: the table's, or with those that a machine has of its own, which
/// are their own ends. Lives no longer than that machine's `technology`.
struct Process {
  TechnologyNode node;
  Bound bound = Bound::value;
  const OwnTables* own = nullptr;
  Process(TechnologyNode n, Bound b = Bound::value) : node(n), bound(b) {}  // NOLINT: a node is one
};

/// What a machine is made in: the way to every figure that it is priced by.
Process process_of(const Machine& machine, Bound bound = Bound::value);

/// FPGA parts are priced as the node that they are made in, times what programmable logic costs over it.
bool is_fpga(TechnologyNode node);

/// Energy of one multiply-accumulate: a product in the wider of the operands' formats and an addition in `sum`.
Joules mac_energy(Process process, NumberFormat operand, NumberFormat sum);

/// Area of one MAC lane, before the floor-plan factor.
SquareMm mac_area(Process process, NumberFormat operand);

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

/// Area of weights kept in ROM.
SquareMm rom_area(Process process, Bytes capacity);

/// Area of FeFET cells of one bit.
SquareMm fefet_cell_area(Process process, Bits cells);

/// Area of a converter of a FeFET memory's columns, and energy of a conversion, that lose nothing of 128 cells when
/// rows take `input_bits` of an activation at once: 7 + input_bits bits, area and energy doubled by each.
SquareMm fefet_converter_area(Process process, std::int64_t input_bits);
Joules fefet_conversion_energy(Process process, std::int64_t input_bits);
/// Of the area of FeFET memories the share that leaks as logic does.
double fefet_leaking_share(Process process);

/// Energy of a product of one bit by one bit in a FeFET cell.
Joules fefet_product_energy(Process process);

/// Energy of moving `bytes` between chip and DRAM.
Joules dram_energy(Process process, DramKind kind, Bytes bytes);

/// Energy of moving a bit along a millimetre of wire.
Joules wire_energy(Process process);

/// Energy of the clock tree and of pipeline registers over that of arithmetic and SRAM.
double clock_over_dynamic(Process process);

/// Area of a crossbar of so many ports: a square as wide as the bits of all of them side by side.
SquareMm crossbar_area(Process process, std::int64_t ports, Bits port_bits);
/// LUTs of its multiplexers: each bit of each port chooses among the other ports.
double fpga_crossbar_luts(Process process, std::int64_t ports, Bits port_bits);
/// Area beside lanes and memories over theirs: sequencers; and pads, PHYs, wires and what stays empty.
double control_over_datapath(Process process, Sequencer sequencer);
double other_over_datapath(Process process);

/// Watts that `area` leaks; of an FPGA the whole part's, whatever the area.
double leakage_watts(Process process, SquareMm area);

/// The fastest clock of a MAC of `stages`, in MHz: 1 / (FO4 x margin x (max(logic depth / stages, least) +
/// overhead)). Of an FPGA its blocks' own, a third of it for each stage short of three. Bound::most is the slowest.
double clock_limit_mhz(Process process, NumberFormat operand, std::int64_t stages);

/// What an FPGA part holds, and what a lane takes of it.
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

}  // namespace sdip
