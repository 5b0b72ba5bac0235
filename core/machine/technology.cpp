// The laws that join the table's constants.
#include "core/machine/technology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/error.h"
#include "core/base/powers.h"
#include "core/machine/dram.h"
#include "core/machine/scale_groups.h"
#include "core/machine/technology_numbers.h"

namespace sdip {
namespace {

constexpr double pico = 1e-12, mib = 1048576.0;
constexpr double sram_point_bytes[] = {8 * 1024.0, 32 * 1024.0};

const PartNumbers& part_numbers(Process process) {
  check(is_fpga(process.node), "a figure of an FPGA part asked of a node");
  return technology_numbers(process).fpga[at(process.node)];
}

}  // namespace

bool is_fpga(TechnologyNode node) {
  return node == TechnologyNode::fpga_zynq7020 || node == TechnologyNode::fpga_vc1902;
}

namespace {

/// Bits that a multiplier multiplies: of floats the significand with its leading one.
double multiplied_bits(NumberFormat format) {
  using enum NumberFormat;
  static constexpr std::pair<NumberFormat, double> floats[] = {{fp32, 24}, {fp16, 11},    {fp16_e6m9, 10},
                                                               {bf16, 8},  {fp8_e4m3, 4}, {fp8_e5m2, 3}};
  for (const auto& [floating, bits] : floats)
    if (floating == format) return bits;
  return static_cast<double>(bits_of(format));
}

/// A number of its own in place of one of a block: what a multiplier meets of it beside wider activations.
NumberFormat element_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::nf4:
      return NumberFormat::fp16;
    case NumberFormat::mxint8:
    case NumberFormat::msfp16:
      return NumberFormat::int8;
    case NumberFormat::mxfp8_e5m2:
      return NumberFormat::fp8_e5m2;
    default:
      return is_block_format(format) ? NumberFormat::fp8_e4m3 : format;
  }
}

/// The figure of a multiplier of a by b bits. For two formats of a kind it is the geometric mean of their own
/// figures, as it grows with the product of their bits (int4 by int8: sqrt(0.05 x 0.2) = 0.1 = 0.2 x 32 / 64 pJ);
/// of a float and an integer it is that of the float by the integer's bits over its own.
double of_multiplier(const double (&of)[technology_formats], NumberFormat said_a, NumberFormat said_b) {
  const NumberFormat a = element_of(said_a), b = element_of(said_b);
  if (a == b) return of[at(a)];
  if (is_floating(a) == is_floating(b)) return std::sqrt(of[at(a)] * of[at(b)]);
  if (is_floating(b)) return of_multiplier(of, b, a);
  return of[at(a)] * multiplied_bits(b) / multiplied_bits(a);
}

}  // namespace

std::int64_t lane_bits(MacFormats formats) {
  return bits_of(formats.weights) + bits_of(formats.activations) + bits_of(formats.sums);
}
std::int64_t stage_bits(MacFormats formats) {
  return std::max(bits_of(formats.weights), bits_of(formats.activations)) + bits_of(formats.sums);
}

NumberFormat wider_format(NumberFormat a, NumberFormat b) {
  const auto bits = [](NumberFormat f) { return f == NumberFormat::nf4 ? 16 : bits_of(f); };
  return bits(b) > bits(a) || (bits(b) == bits(a) && is_block_format(b)) ? b : a;
}

Joules scaling_energy(Process process, NumberFormat weights, NumberFormat sum) {
  const NodeNumbers& n = node_numbers(process);
  const std::size_t of = at(sum);
  return Joules(pico * (n.add[of] + (scales_by_shifts(weights) ? 0 : n.multiply[of])));
}

namespace {

/// A product and its addition, of energies or of areas: of a block format its share of a dot product.
double of_product(const double (&multiply)[technology_formats], const double (&add)[technology_formats],
                  MacFormats formats) {
  const NumberFormat wider = wider_format(formats.activations, formats.weights);
  if (is_dot_product(wider)) return multiply[at(wider)];
  return of_multiplier(multiply, formats.weights, formats.activations) + add[at(formats.sums)];
}

}  // namespace

Joules mac_energy(Process process, MacFormats formats) {
  const NodeNumbers& n = node_numbers(process);
  return Joules(pico *
                (of_product(n.multiply, n.add, formats) + n.register_pj * static_cast<double>(lane_bits(formats))));
}

SquareMm mac_area(Process process, MacFormats formats) {
  const NodeNumbers& n = node_numbers(process);
  return SquareMm(1e-6 * (of_product(n.multiply_um2, n.add_um2, formats) +
                          n.register_um2 * static_cast<double>(lane_bits(formats))));
}

SquareMm register_area(Process process, double bits) {
  return SquareMm(1e-6 * node_numbers(process).register_um2 * bits);
}
Joules register_energy(Process process) { return Joules(pico * node_numbers(process).register_pj); }

ComposableMac composable_over_plain(Process process, NumberFormat operand) {
  const Numbers& n = technology_numbers(process);
  return is_floating(operand) ? n.composable_float : n.composable_integer;
}

Joules sram_energy(Process process, Bytes bank_bytes, Bits bits) {
  const double capacity = std::max(1024.0, static_cast<double>(bank_bytes.value));
  const std::size_t low = capacity < sram_point_bytes[1] ? 0 : 1;
  const double over = logarithm(capacity / sram_point_bytes[low]);
  const auto at = [&](Bound bound) {
    Process end = process;
    end.bound = bound;
    const NodeNumbers& n = node_numbers(end);
    return n.sram_pj[low] * exponential(n.sram_slope[low] * over);
  };
  double per_64_bits = at(process.bound);  // beyond its points a bound's law can cross that of the values
  if (process.bound == Bound::least) per_64_bits = std::min(per_64_bits, at(Bound::value));
  if (process.bound == Bound::most) per_64_bits = std::max(per_64_bits, at(Bound::value));
  return Joules(pico * per_64_bits / 64.0 * static_cast<double>(bits.value));
}

SquareMm sram_area(Process process, Bytes capacity) {
  return SquareMm(node_numbers(process).sram_mm2 * static_cast<double>(capacity.value) / mib);
}

SquareMm sram_area(Process process, Bytes capacity, std::int64_t banks, Bits port_bits) {
  const double periphery_bits =
      technology_numbers(process).port_cells * static_cast<double>(banks) * static_cast<double>(port_bits.value);
  return SquareMm(node_numbers(process).sram_mm2 * (static_cast<double>(capacity.value) + periphery_bits / 8.0) /
                  mib);
}

double second_port_area(Process process) { return technology_numbers(process).second_port; }

SquareMm rom_area(Process process, Bytes capacity) {
  return sram_area(process, capacity) * technology_numbers(process).rom_over_sram;
}

SquareMm fefet_cell_area(Process process, Bits cells) {
  return SquareMm(sram_area(process, Bytes(1)).value / 8.0 * static_cast<double>(cells.value) *
                  technology_numbers(process).fefet_over_sram);
}

namespace {

/// An 8-bit converter serves inputs of one bit; each bit more doubles its levels.
double levels(std::int64_t input_bits) { return std::ldexp(1.0, static_cast<int>(input_bits - 1)); }

}  // namespace

SquareMm fefet_converter_area(Process process, std::int64_t input_bits) {
  return SquareMm(1e-6 * technology_numbers(process).fefet_converter_um2 * levels(input_bits));
}

double fefet_leaking_share(Process process) { return technology_numbers(process).fefet_leaks; }

Joules fefet_product_energy(Process process) { return Joules(pico * technology_numbers(process).fefet_product_pj); }

Joules fefet_conversion_energy(Process process, std::int64_t input_bits) {
  return Joules(pico * technology_numbers(process).fefet_conversion_pj * levels(input_bits));
}

DramFigures dram_figures(Process process, DramKind kind) {
  const Numbers& n = technology_numbers(process);
  const PhyNumbers& phy = n.phy[at(dram_kinds()[kind].family)];
  const double as_logic = node_numbers(process).logic_area / n.node[at(TechnologyNode::n7)].logic_area;
  return {phy.mm2, phy.mm, phy.pj, phy.mw, n.dram_background_mw[at(kind)], n.row_pj, n.controller_mm2 * as_logic};
}

Joules dram_energy(Process process, DramKind kind, Bytes bytes) {
  return Joules(pico * technology_numbers(process).dram_pj[at(kind)] * 8.0 * static_cast<double>(bytes.value));
}

LinkFigures link_figures(Process process) { return technology_numbers(process).link; }
Joules link_energy(Process process) { return Joules(pico * technology_numbers(process).link_pj); }
SquareMm exposed_area(Process process) { return SquareMm(technology_numbers(process).exposed_mm2); }
const PriceFigures& price_figures(Process process) { return technology_numbers(process).price[at(process.node)]; }
double dram_gib_usd(Process process, DramKind kind) {
  return price_figures(process).dram_gib[at(dram_kinds()[kind].family)];
}

SquareMm crossbar_area(Process process, std::int64_t ports, Bits port_bits) {
  const double side_bits = static_cast<double>(ports) * static_cast<double>(port_bits.value);
  return SquareMm(side_bits * side_bits * node_numbers(process).crossbar_mm2);
}

double fpga_crossbar_luts(Process process, std::int64_t ports, Bits port_bits) {
  // A tree of multiplexers: each takes the place of so many inputs but one. Example: 6 ports choose among 5 others,
  // ceil(4 / 3) = 2 for each bit.
  const double bits = static_cast<double>(ports) * static_cast<double>(port_bits.value);
  const double others = static_cast<double>(ports) - 1;
  return bits * std::ceil((others - 1) / (technology_numbers(process).inputs_switched - 1));
}

Joules wire_energy(Process process) { return Joules(pico * technology_numbers(process).wire_pj); }
Joules clock_tree_energy(Process process) { return Joules(pico * node_numbers(process).clock_pj_mm2); }
double control_over_datapath(Process process, Sequencer sequencer) {
  const Numbers& n = technology_numbers(process);
  return sequencer == Sequencer::distributed ? n.control * n.distributed : n.control;
}
double other_over_lanes(Process process) {
  return is_fpga(process.node) ? 0 : technology_numbers(process).other_over_lanes;
}
SquareMm other_fixed_area(Process process) { return SquareMm(node_numbers(process).fixed_mm2); }

double leakage_watts(Process process, SquareMm logic, double sram_mib, const Supply& supply) {
  if (is_fpga(process.node)) return part_numbers(process).static_w;
  const NodeNumbers& n = node_numbers(process);
  return 1e-3 *
         (n.leakage_mw * logic.value * supply.logic_leakage + n.sram_leakage_mw * sram_mib * supply.sram_leakage);
}

double sram_mib_of(Process process, SquareMm macros) { return macros.value / node_numbers(process).sram_mm2; }

double clock_limit_mhz(Process process, NumberFormat operand, std::int64_t stages) {
  const auto depth = static_cast<double>(stages);
  if (is_fpga(process.node)) return part_numbers(process).clock_mhz * std::min(1.0, depth / 3.0);
  const Numbers& n = technology_numbers(process);
  const double logic = std::max(n.least_stage, n.depth[at(operand)] / depth);
  return 1e6 / (n.fo4_ps[at(process.node)] * n.margin * (logic + n.overhead));
}

double sram_clock_limit_mhz(Process process, Bytes bank_bytes) {
  if (is_fpga(process.node)) return std::numeric_limits<double>::infinity();
  const Numbers& n = technology_numbers(process);
  const double root = std::sqrt(static_cast<double>(bank_bytes.value) / 1024.0);
  return 1e6 / (n.fo4_ps[at(process.node)] * (n.sram_stage + n.sram_root_kib * root));
}

DieLimits die_limits(Process process) { return technology_numbers(process).die; }

FpgaPart fpga_part(Process process) { return part_numbers(process).part; }

FpgaMemories fpga_memories(Process process) { return technology_numbers(process).memories; }

FpgaConfiguration fpga_configuration(Process process) { return part_numbers(process).configuration; }

double fpga_dsp_blocks(Process process, NumberFormat operand) {
  return part_numbers(process).dsp_blocks[at(operand)];
}

double fpga_lane_luts(Process process, NumberFormat operand) {
  const Numbers& n = technology_numbers(process);
  return is_floating(operand) ? n.float_lane_luts : n.integer_lane_luts;
}

double fpga_lut_ram_bits(Process process) { return technology_numbers(process).lut_ram_bits; }
double fpga_control_luts(Process process) { return technology_numbers(process).control_luts; }

}  // namespace sdip
