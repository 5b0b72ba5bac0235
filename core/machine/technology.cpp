// Energy and area constants, and the laws that join them.
#include "core/machine/technology.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/powers.h"

namespace sdip {
namespace {

/// The row's figure at a bound; 0 where there is none and none is asked for.
double constant(const std::string& name, Bound bound, bool required = true) {
  const auto rows = technology_rows();
  const auto row = std::ranges::find(rows, name, &TechnologyRow::name);
  check(row != rows.end() || !required, "a technology constant without a row");
  if (row == rows.end()) return 0;
  return bound == Bound::value ? row->value : bound == Bound::least ? row->least : row->most;
}

constexpr std::size_t nodes = 8, formats = std::size(number_formats), kinds = 7;
constexpr std::string_view node_prefix[nodes] = {"n7",  "n45",           "n5",  "n16",
                                                 "n28", "fpga_zynq7020", "n65", "fpga_vc1902"};
static_assert(static_cast<std::size_t>(TechnologyNode::fpga_vc1902) + 1 == nodes);
static_assert(static_cast<std::size_t>(DramKind::hbm2e) + 1 == kinds);

/// The row a format's arithmetic is priced by: fixed point as the integer of its width.
std::string_view arithmetic_name(NumberFormat format) {
  switch (format) {
    case NumberFormat::fp32:
      return "fp32";
    case NumberFormat::fp16:
      return "fp16";
    case NumberFormat::bf16:
      return "bf16";
    case NumberFormat::fp8_e4m3:
    case NumberFormat::fp8_e5m2:
      return "fp8";
    default:
      break;
  }
  switch (bits_of(format)) {
    case 32:
      return "int32";
    case 16:
      return "int16";
    case 8:
      return "int8";
    default:
      return "int4";
  }
}

/// Additions: floats narrower than fp32 add as fp16, integers narrower than int8 as int8.
std::string adder_name(NumberFormat format) {
  const std::string_view name = arithmetic_name(format);
  if (name == "fp32") return "fp32";
  if (name == "fp16" || name == "bf16" || name == "fp8") return "fp16";
  return name == "int4" ? "int8" : std::string(name);
}

/// The table by number, so that a sweep never compares strings.
struct NodeNumbers {
  double multiply[formats], add[formats], area[formats], sram_pj[3], sram_slope[2], sram_mm2;
  double other, leakage_mw, crossbar_mm2;  // of a crossbar: for each pair of bits that cross
};
struct PartNumbers {
  FpgaPart part;
  double dsp_blocks[formats], clock_mhz, static_w;
};
struct Numbers {
  NodeNumbers node[nodes];
  PartNumbers fpga[nodes];  // of parts
  double float_lane_luts, integer_lane_luts, control_luts, inputs_switched;
  double rom_over_sram, fefet_over_sram, fefet_product_pj, fefet_conversion_pj, fefet_converter_um2, fefet_leaks,
      port_cells, dram_pj[kinds], wire_pj, clock, control, distributed;
  double depth[formats], fo4_ps[nodes], margin, overhead, least_stage;
  ComposableMac composable_integer, composable_float;
};

constexpr std::string_view sram_points[] = {".sram.8KB", ".sram.32KB", ".sram.1MB"};
constexpr double sram_point_bytes[] = {8 * 1024.0, 32 * 1024.0, 1024 * 1024.0};

/// A node with energies and areas of its own, 45 or 7 nm.
NodeNumbers node_of_rows(const std::string& prefix, Bound bound) {
  NodeNumbers n{};
  for (std::size_t f = 0; f < formats; ++f) {
    const auto format = static_cast<NumberFormat>(f);
    const std::string name(arithmetic_name(format));
    n.multiply[f] = constant(prefix + ".multiply." + name, bound);
    n.add[f] = constant(prefix + ".add." + adder_name(format), bound);
    n.area[f] = constant(prefix + ".area." + name, bound);
  }
  for (std::size_t i = 0; i < 3; ++i) n.sram_pj[i] = constant(prefix + std::string(sram_points[i]), bound);
  return n;
}

/// A node as 45 nm's figures to the power 1 - t times those of 7 nm to the power t; t = ln(its factor) / ln(that of
/// 7 nm), of energy or area. Of int8 products at 16 nm: t = ln 0.198 / ln 0.0684 = 0.604, 0.2^0.396 x 0.07^0.604 =
/// 0.106 pJ.
NodeNumbers node_between(const std::string& prefix, Bound bound, const NodeNumbers& n45, const NodeNumbers& n7) {
  const auto place = [&](const char* factor) {
    return logarithm(constant(prefix + factor, bound)) /
           logarithm(constant("n7" + std::string(factor), Bound::value));
  };
  const double energy = place(".logic_energy.over_n45"), area = place(".logic_area.over_n45");
  const auto between = [](double from, double to, double t) { return power(from, 1 - t) * power(to, t); };
  NodeNumbers n{};
  for (std::size_t f = 0; f < formats; ++f) {
    n.multiply[f] = between(n45.multiply[f], n7.multiply[f], energy);
    n.add[f] = between(n45.add[f], n7.add[f], energy);
    n.area[f] = between(n45.area[f], n7.area[f], area);
  }
  for (std::size_t i = 0; i < 3; ++i) n.sram_pj[i] = between(n45.sram_pj[i], n7.sram_pj[i], energy);
  return n;
}

NodeNumbers scaled(NodeNumbers n, double logic_energy, double sram_energy, double area) {
  for (std::size_t f = 0; f < formats; ++f) {
    n.multiply[f] *= logic_energy;
    n.add[f] *= logic_energy;
    n.area[f] *= area;
  }
  for (double& pj : n.sram_pj) pj *= sram_energy;
  return n;
}

Bound opposite(Bound bound) {
  return bound == Bound::most ? Bound::least : bound == Bound::least ? Bound::most : Bound::value;
}

std::size_t place_of(TechnologyNode node) { return static_cast<std::size_t>(node); }

void fill_nodes(Numbers& n, Bound bound) {
  const auto at = [&](TechnologyNode node) -> NodeNumbers& { return n.node[place_of(node)]; };
  const NodeNumbers n7 = at(TechnologyNode::n7) = node_of_rows("n7", bound);
  const NodeNumbers n45 = at(TechnologyNode::n45) = node_of_rows("n45", bound);
  at(TechnologyNode::n28) = node_between("n28", bound, n45, n7);
  at(TechnologyNode::n16) = node_between("n16", bound, n45, n7);
  // Beyond 45 nm t is below 0: the more 7 nm takes, the less is gained from 65 to 7, and the less 65 takes.
  at(TechnologyNode::n65) = node_between("n65", bound, n45, node_of_rows("n7", opposite(bound)));
  at(TechnologyNode::n5) =
      scaled(n7, constant("n5.logic_energy.over_n7", bound), constant("n5.sram_energy.over_n7", bound),
             constant("n5.logic_area.over_n7", bound));
  for (std::size_t i = 0; i < nodes; ++i) {
    if (is_fpga(static_cast<TechnologyNode>(i))) continue;
    const std::string prefix(node_prefix[i]);
    n.node[i].sram_mm2 = constant(prefix + ".sram.area", bound);
    n.node[i].other = constant(prefix + ".other.over_datapath", bound);
    n.node[i].leakage_mw = constant(prefix + ".leakage", bound);
    n.fo4_ps[i] = constant(prefix + ".fo4", bound);
    const double pitch_mm = 1e-3 * constant(prefix + ".crossbar.pitch", bound);
    n.node[i].crossbar_mm2 = pitch_mm * pitch_mm;
  }
  const double energy = constant("fpga.energy.over_node", bound),
               area = constant("fpga.logic_area.over_node", bound);
  const auto made_in = [&](TechnologyNode part, TechnologyNode node) {
    at(part) = scaled(at(node), energy, energy, area);
    at(part).other = 0;
    at(part).crossbar_mm2 *= area;
  };
  made_in(TechnologyNode::fpga_zynq7020, TechnologyNode::n28);
  made_in(TechnologyNode::fpga_vc1902, TechnologyNode::n7);
  for (NodeNumbers& node : n.node)
    for (std::size_t i = 0; i < 2; ++i)
      node.sram_slope[i] = logarithm(node.sram_pj[i + 1] / node.sram_pj[i]) /
                           logarithm(sram_point_bytes[i + 1] / sram_point_bytes[i]);
}

PartNumbers part_of_rows(const std::string& prefix, Bound bound) {
  PartNumbers n{};
  n.part = {constant(prefix + ".dsp", bound), constant(prefix + ".bram", bound),
            constant(prefix + ".uram", bound, false), constant(prefix + ".lut", bound)};
  for (std::size_t f = 0; f < formats; ++f)
    n.dsp_blocks[f] =
        constant(prefix + ".dsp." + std::string(arithmetic_name(static_cast<NumberFormat>(f))), bound);
  n.clock_mhz = constant(prefix + ".clock", opposite(bound));
  n.static_w = constant(prefix + ".static", bound);
  return n;
}

Numbers numbers_of_table(Bound bound) {
  Numbers n{};
  fill_nodes(n, bound);
  for (std::size_t i = 0; i < nodes; ++i)
    if (is_fpga(static_cast<TechnologyNode>(i))) n.fpga[i] = part_of_rows(std::string(node_prefix[i]), bound);
  n.float_lane_luts = constant("fpga.lut.float_lane", bound);
  n.integer_lane_luts = constant("fpga.lut.integer_lane", bound);
  n.control_luts = constant("fpga.lut.control", bound);
  n.inputs_switched = constant("fpga.lut.inputs_switched", bound);
  n.rom_over_sram = constant("rom.over_sram", bound);
  n.fefet_over_sram = constant("fefet.cell.over_sram", bound);
  n.fefet_product_pj = constant("fefet.product", bound);
  n.fefet_conversion_pj = constant("fefet.conversion", bound);
  n.fefet_converter_um2 = constant("fefet.converter", bound);
  n.fefet_leaks = constant("fefet.leaks", bound);
  n.port_cells = constant("sram.port_cells", bound);
  const char* names[kinds] = {"lpddr4", "ddr4", "gddr6", "hbm2", "ddr3", "gddr5", "hbm2e"};
  for (std::size_t kind = 0; kind < kinds; ++kind)
    n.dram_pj[kind] = constant("dram." + std::string(names[kind]), bound);
  n.wire_pj = constant("wire.energy", bound);
  n.clock = constant("clock.over_dynamic", bound);
  n.control = constant("control.over_datapath", bound);
  n.distributed = constant("control.distributed.over_central", bound);
  n.margin = constant("clock.margin", bound);
  n.overhead = constant("clock.overhead", bound);
  n.least_stage = constant("clock.least_stage", bound);
  n.composable_integer = {constant("composable.integer.area", bound), constant("composable.integer.energy", bound)};
  n.composable_float = {constant("composable.float.area", bound), constant("composable.float.energy", bound)};
  for (std::size_t f = 0; f < formats; ++f)
    n.depth[f] = constant("depth." + std::string(arithmetic_name(static_cast<NumberFormat>(f))), bound);
  return n;
}

const Numbers& numbers(Bound bound) {
  static const Numbers values[bound_count] = {numbers_of_table(Bound::least), numbers_of_table(Bound::value),
                                              numbers_of_table(Bound::most)};
  return values[static_cast<std::size_t>(bound)];
}
const NodeNumbers& numbers(Process process) { return numbers(process.bound).node[place_of(process.node)]; }

constexpr double pico = 1e-12, mib = 1048576.0;

const PartNumbers& part_numbers(Process process) {
  check(is_fpga(process.node), "a figure of an FPGA part asked of a node");
  return numbers(process.bound).fpga[place_of(process.node)];
}

}  // namespace

bool is_fpga(TechnologyNode node) {
  return node == TechnologyNode::fpga_zynq7020 || node == TechnologyNode::fpga_vc1902;
}

Joules mac_energy(Process process, NumberFormat operand, NumberFormat sum) {
  const NodeNumbers& n = numbers(process);
  return Joules(pico * (n.multiply[static_cast<std::size_t>(operand)] + n.add[static_cast<std::size_t>(sum)]));
}

SquareMm mac_area(Process process, NumberFormat operand) {
  return SquareMm(1e-6 * numbers(process).area[static_cast<std::size_t>(operand)]);
}

ComposableMac composable_over_plain(NumberFormat operand, Bound bound) {
  const Numbers& n = numbers(bound);
  return number_formats[static_cast<std::size_t>(operand)].floating ? n.composable_float : n.composable_integer;
}

Joules sram_energy(Process process, Bytes bank_bytes, Bits bits) {
  const double capacity = std::max(1024.0, static_cast<double>(bank_bytes.value));
  const std::size_t low = capacity < sram_point_bytes[1] ? 0 : 1;
  const double over = logarithm(capacity / sram_point_bytes[low]);
  const auto at = [&](Bound bound) {
    const NodeNumbers& n = numbers(Process(process.node, bound));
    return n.sram_pj[low] * exponential(n.sram_slope[low] * over);
  };
  double per_64_bits = at(process.bound);  // beyond its points a bound's law can cross that of the values
  if (process.bound == Bound::least) per_64_bits = std::min(per_64_bits, at(Bound::value));
  if (process.bound == Bound::most) per_64_bits = std::max(per_64_bits, at(Bound::value));
  return Joules(pico * per_64_bits / 64.0 * static_cast<double>(bits.value));
}

SquareMm sram_area(Process process, Bytes capacity) {
  return SquareMm(numbers(process).sram_mm2 * static_cast<double>(capacity.value) / mib);
}

SquareMm sram_area(Process process, Bytes capacity, std::int64_t banks, Bits port_bits) {
  const double periphery_bits =
      numbers(process.bound).port_cells * static_cast<double>(banks) * static_cast<double>(port_bits.value);
  return SquareMm(numbers(process).sram_mm2 * (static_cast<double>(capacity.value) + periphery_bits / 8.0) / mib);
}

SquareMm rom_area(Process process, Bytes capacity) {
  return sram_area(process, capacity) * numbers(process.bound).rom_over_sram;
}

SquareMm fefet_cell_area(Process process, Bits cells) {
  return SquareMm(sram_area(process, Bytes(1)).value / 8.0 * static_cast<double>(cells.value) *
                  numbers(process.bound).fefet_over_sram);
}

namespace {

/// An 8-bit converter serves inputs of one bit; each bit more doubles its levels.
double levels(std::int64_t input_bits) { return std::ldexp(1.0, static_cast<int>(input_bits - 1)); }

}  // namespace

SquareMm fefet_converter_area(std::int64_t input_bits, Bound bound) {
  return SquareMm(1e-6 * numbers(bound).fefet_converter_um2 * levels(input_bits));
}

double fefet_leaking_share(Bound bound) { return numbers(bound).fefet_leaks; }

Joules fefet_product_energy(Bound bound) { return Joules(pico * numbers(bound).fefet_product_pj); }

Joules fefet_conversion_energy(std::int64_t input_bits, Bound bound) {
  return Joules(pico * numbers(bound).fefet_conversion_pj * levels(input_bits));
}

Joules dram_energy(DramKind kind, Bytes bytes, Bound bound) {
  return Joules(pico * numbers(bound).dram_pj[static_cast<std::size_t>(kind)] * 8.0 *
                static_cast<double>(bytes.value));
}

SquareMm crossbar_area(Process process, std::int64_t ports, Bits port_bits) {
  const double side_bits = static_cast<double>(ports) * static_cast<double>(port_bits.value);
  return SquareMm(side_bits * side_bits * numbers(process).crossbar_mm2);
}

double fpga_crossbar_luts(std::int64_t ports, Bits port_bits) {
  // A tree of multiplexers: each takes the place of so many inputs but one. Example: 6 ports choose among 5 others,
  // ceil(4 / 3) = 2 for each bit.
  const double bits = static_cast<double>(ports) * static_cast<double>(port_bits.value);
  const double others = static_cast<double>(ports) - 1;
  return bits * std::ceil((others - 1) / (numbers(Bound::value).inputs_switched - 1));
}

Joules wire_energy(Bound bound) { return Joules(pico * numbers(bound).wire_pj); }
double clock_over_dynamic(Bound bound) { return numbers(bound).clock; }
double control_over_datapath(Sequencer sequencer, Bound bound) {
  const Numbers& n = numbers(bound);
  return sequencer == Sequencer::distributed ? n.control * n.distributed : n.control;
}
double other_over_datapath(Process process) { return numbers(process).other; }

double leakage_watts(Process process, SquareMm area) {
  if (is_fpga(process.node)) return part_numbers(process).static_w;
  return 1e-3 * numbers(process).leakage_mw * area.value;
}

double clock_limit_mhz(Process process, NumberFormat operand, std::int64_t stages) {
  const auto depth = static_cast<double>(stages);
  if (is_fpga(process.node)) return part_numbers(process).clock_mhz * std::min(1.0, depth / 3.0);
  const Numbers& n = numbers(process.bound);
  const double logic = std::max(n.least_stage, n.depth[static_cast<std::size_t>(operand)] / depth);
  return 1e6 / (n.fo4_ps[place_of(process.node)] * n.margin * (logic + n.overhead));
}

FpgaPart fpga_part(TechnologyNode node) { return part_numbers(node).part; }

double fpga_dsp_blocks(TechnologyNode node, NumberFormat operand) {
  return part_numbers(node).dsp_blocks[static_cast<std::size_t>(operand)];
}

double fpga_lane_luts(NumberFormat operand) {
  const Numbers& n = numbers(Bound::value);
  return number_formats[static_cast<std::size_t>(operand)].floating ? n.float_lane_luts : n.integer_lane_luts;
}

double fpga_control_luts() { return numbers(Bound::value).control_luts; }

}  // namespace sdip
