// The table by number, so that a sweep never compares strings. Internal to its room.
#pragma once

#include <iterator>
#include <vector>

#include "core/machine/technology.h"

namespace sdip {

inline constexpr std::size_t technology_nodes = 8, technology_formats = std::size(number_formats),
                             technology_dram_kinds = 15;

struct NodeNumbers {
  double multiply[technology_formats], add[technology_formats];  // pJ
  double multiply_um2[technology_formats], add_um2[technology_formats];
  double sram_pj[3], sram_slope[2], sram_mm2;
  double register_um2, register_pj, clock_pj_mm2, fixed_mm2;
  double leakage_mw, sram_leakage_mw;  // a mm2 of logic; a MiB
  double crossbar_mm2;                 // of a crossbar: for each pair of bits that cross
  double logic_energy, logic_area;     // over 45 nm
};
struct PartNumbers {
  FpgaPart part;
  FpgaConfiguration configuration;
  double dsp_blocks[technology_formats], clock_mhz, static_w;
};
/// Volts, but for alpha.
struct SupplyNumbers {
  double nominal = 1, threshold = 0, least = 1, most = 1, sram_least = 1, alpha = 1;
};
inline constexpr std::size_t phy_families = 4;  // of DramFamily
struct PhyNumbers {
  double mm2, mm, pj, mw;  // a bit; its edge; a bit that moves; standing, a Gb/s
};
struct Numbers {
  PhyNumbers phy[phy_families];
  double controller_mm2, row_pj;
  LinkFigures link;
  double link_pj, exposed_mm2;
  PriceFigures price[technology_nodes];
  NodeNumbers node[technology_nodes];
  PartNumbers fpga[technology_nodes];  // of parts
  double float_lane_luts, integer_lane_luts, control_luts, inputs_switched, lut_ram_bits;
  FpgaMemories memories;
  double rom_over_sram, fefet_over_sram, fefet_product_pj, fefet_conversion_pj, fefet_converter_um2, fefet_leaks,
      port_cells, second_port, dram_pj[technology_dram_kinds], dram_background_mw[technology_dram_kinds], wire_pj,
      control, distributed, other_over_lanes;
  double depth[technology_formats], fo4_ps[technology_nodes], margin, overhead, least_stage, sram_stage,
      sram_root_kib;
  ComposableMac composable_integer, composable_float;
  DieLimits die;
  double leakage_of_volts, leakage_of_degrees;
  SupplyNumbers supply[technology_nodes];
  std::vector<Supply> supplies[technology_nodes];  // at multiples of 10 mV
};

const Numbers& technology_numbers(Process process);
inline const NodeNumbers& node_numbers(Process process) {
  return technology_numbers(process).node[at(process.node)];
}

/// Whether a format's MAC is priced as its share of a dot product of a block, which is rounded once.
bool is_dot_product(NumberFormat format);

/// At any voltage, from a node's figures.
Supply supply_of(const Numbers& numbers, std::size_t node, std::int64_t mv);
/// Fills `supplies`.
void fill_supplies(Numbers& numbers);

}  // namespace sdip
