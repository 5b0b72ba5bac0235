// Area, edge and power that a machine's DRAM takes of the die.
#include "core/cost/price/dram_price.h"

#include "core/machine/dram.h"

namespace sdip {
namespace {

constexpr double pico = 1e-12, milli = 1e-3;

}  // namespace

BuiltDram built_dram(const Machine& m, Bound bound) {
  if (m.host_memory) return {};
  const DramChannels dram = dram_channels(m);
  const DramFigures f = dram_figures(process_of(m, bound), m.dram_kind);
  const double bits = static_cast<double>(8 * dram.wide_bytes());
  BuiltDram built;
  built.background_w = static_cast<double>(dram.channels) * f.background_mw * milli;
  if (is_fpga(m.technology_node)) return built;
  built.area_mm2 = bits * f.phy_mm2 + dram.peak_gb_per_s() * f.controller_mm2;
  built.edge_mm = bits * f.phy_mm;
  built.phy_w = 8 * dram.peak_gb_per_s() * f.phy_mw * milli;
  return built;
}

double dram_turn_j(const Machine& m, Bound bound) {
  if (m.host_memory) return 0;
  const double rows_kib = static_cast<double>(m.dram_channels * dram_kinds()[m.dram_kind].row_bytes) / 1024;
  return rows_kib * dram_figures(process_of(m, bound), m.dram_kind).row_pj * pico;
}

double dram_phy_byte_j(const Machine& m, Bound bound) {
  if (m.host_memory || is_fpga(m.technology_node)) return 0;
  return 8 * dram_figures(process_of(m, bound), m.dram_kind).phy_pj * pico;
}

}  // namespace sdip
