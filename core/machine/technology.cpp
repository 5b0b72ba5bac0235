// Energy and area constants, and the laws that join them.
#include "core/machine/technology.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/base/powers.h"

namespace sdip {
namespace {

/// Rows by name: a table with a user's figures is made for each point of a sweep over them.
std::optional<std::size_t> row_named(std::string_view name) {
  static const auto places = [] {
    std::unordered_map<std::string_view, std::size_t> made;
    for (const TechnologyRow& row : technology_rows()) made.emplace(row.name, made.size());
    return made;
  }();
  const auto found = places.find(name);
  return found == places.end() ? std::nullopt : std::optional(found->second);
}

/// The table at one end of its ranges, with figures of a user in it.
struct Table {
  std::span<const OwnFigure> own;
  Bound bound;

  /// The row's figure; 0 where there is none and none is asked for.
  double operator()(const std::string& name, bool required = true) const { return at(bound, name, required); }

  double at(Bound end, const std::string& name, bool required = true) const {
    const auto place = row_named(name);
    check(place || !required, "a technology constant without a row");
    if (!place) return 0;
    const auto mine = std::ranges::lower_bound(own, *place, {}, &OwnFigure::row);
    if (mine != own.end() && mine->row == *place) return mine->value;
    const TechnologyRow& row = technology_rows()[*place];
    return end == Bound::value ? row.value : end == Bound::least ? row.least : row.most;
  }
};

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
  FpgaConfiguration configuration;
  double dsp_blocks[formats], clock_mhz, static_w;
};
struct Numbers {
  NodeNumbers node[nodes];
  PartNumbers fpga[nodes];  // of parts
  double float_lane_luts, integer_lane_luts, control_luts, inputs_switched;
  FpgaMemories memories;
  double rom_over_sram, fefet_over_sram, fefet_product_pj, fefet_conversion_pj, fefet_converter_um2, fefet_leaks,
      port_cells, dram_pj[kinds], wire_pj, clock, control, distributed;
  double depth[formats], fo4_ps[nodes], margin, overhead, least_stage;
  ComposableMac composable_integer, composable_float;
};

constexpr std::string_view sram_points[] = {".sram.8KB", ".sram.32KB", ".sram.1MB"};
constexpr double sram_point_bytes[] = {8 * 1024.0, 32 * 1024.0, 1024 * 1024.0};
constexpr double steepest_sram = 2;  // power of the capacity: a user's points may lie anywhere

/// A node with energies and areas of its own, 45 or 7 nm.
NodeNumbers node_of_rows(const std::string& prefix, const Table& table) {
  NodeNumbers n{};
  for (std::size_t f = 0; f < formats; ++f) {
    const auto format = static_cast<NumberFormat>(f);
    const std::string name(arithmetic_name(format));
    n.multiply[f] = table(prefix + ".multiply." + name);
    n.add[f] = table(prefix + ".add." + adder_name(format));
    n.area[f] = table(prefix + ".area." + name);
  }
  for (std::size_t i = 0; i < 3; ++i) n.sram_pj[i] = table(prefix + std::string(sram_points[i]));
  return n;
}

Bound opposite(Bound bound) {
  return bound == Bound::most ? Bound::least : bound == Bound::least ? Bound::most : Bound::value;
}

/// A node as 45 nm's figures to the power 1 - t times those of 7 nm to the power t; t = ln(its factor) / ln(that of
/// 7 nm), of energy or area. Of int8 products at 16 nm: t = ln 0.198 / ln 0.0684 = 0.604, 0.2^0.396 x 0.07^0.604 =
/// 0.106 pJ. The largest t saves most; of a node before 45 nm, where t is below 0, the one nearest to 0: so the
/// most of a figure has its own factor at the most and that of 7 nm at its least, before 45 nm at its most.
NodeNumbers node_between(const std::string& prefix, const Table& table, const NodeNumbers& n45,
                         const NodeNumbers& n7) {
  const auto place = [&](const char* factor) {
    const double own = table(prefix + factor);
    const Bound end = own < 1 ? opposite(table.bound) : table.bound;
    return logarithm(own) / logarithm(table.at(end, "n7" + std::string(factor)));
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

std::size_t place_of(TechnologyNode node) { return static_cast<std::size_t>(node); }

void fill_nodes(Numbers& n, const Table& table) {
  const auto at = [&](TechnologyNode node) -> NodeNumbers& { return n.node[place_of(node)]; };
  const NodeNumbers n7 = at(TechnologyNode::n7) = node_of_rows("n7", table);
  const NodeNumbers n45 = at(TechnologyNode::n45) = node_of_rows("n45", table);
  at(TechnologyNode::n28) = node_between("n28", table, n45, n7);
  at(TechnologyNode::n16) = node_between("n16", table, n45, n7);
  // Beyond 45 nm t is below 0: the more 7 nm takes, the less is gained from 65 to 7, and the less 65 takes.
  at(TechnologyNode::n65) = node_between("n65", table, n45, node_of_rows("n7", {table.own, opposite(table.bound)}));
  at(TechnologyNode::n5) =
      scaled(n7, table("n5.logic_energy.over_n7"), table("n5.sram_energy.over_n7"), table("n5.logic_area.over_n7"));
  for (std::size_t i = 0; i < nodes; ++i) {
    if (is_fpga(static_cast<TechnologyNode>(i))) continue;
    const std::string prefix(node_prefix[i]);
    n.node[i].sram_mm2 = table(prefix + ".sram.area");
    n.node[i].other = table(prefix + ".other.over_datapath");
    n.node[i].leakage_mw = table(prefix + ".leakage");
    n.fo4_ps[i] = table(prefix + ".fo4");
    const double pitch_mm = 1e-3 * table(prefix + ".crossbar.pitch");
    n.node[i].crossbar_mm2 = pitch_mm * pitch_mm;
  }
  const double energy = table("fpga.energy.over_node"), area = table("fpga.logic_area.over_node");
  const auto made_in = [&](TechnologyNode part, TechnologyNode node) {
    at(part) = scaled(at(node), energy, energy, area);
    at(part).other = 0;
    at(part).crossbar_mm2 *= area;
  };
  made_in(TechnologyNode::fpga_zynq7020, TechnologyNode::n28);
  made_in(TechnologyNode::fpga_vc1902, TechnologyNode::n7);
  for (NodeNumbers& node : n.node)
    for (std::size_t i = 0; i < 2; ++i)
      node.sram_slope[i] = std::clamp(logarithm(node.sram_pj[i + 1] / node.sram_pj[i]) /
                                          logarithm(sram_point_bytes[i + 1] / sram_point_bytes[i]),
                                      -steepest_sram, steepest_sram);
}

PartNumbers part_of_rows(const std::string& prefix, const Table& table) {
  PartNumbers n{};
  n.part = {table(prefix + ".dsp"), table(prefix + ".bram"), table(prefix + ".uram", false),
            table(prefix + ".lut")};
  for (std::size_t f = 0; f < formats; ++f)
    n.dsp_blocks[f] = table(prefix + ".dsp." + std::string(arithmetic_name(static_cast<NumberFormat>(f))));
  n.clock_mhz = table.at(opposite(table.bound), prefix + ".clock");
  n.static_w = table(prefix + ".static");
  n.configuration = {table(prefix + ".bitstream"), table.at(opposite(table.bound), prefix + ".configuration")};
  return n;
}

Numbers numbers_of(const Table& table) {
  Numbers n{};
  fill_nodes(n, table);
  for (std::size_t i = 0; i < nodes; ++i)
    if (is_fpga(static_cast<TechnologyNode>(i))) n.fpga[i] = part_of_rows(std::string(node_prefix[i]), table);
  n.float_lane_luts = table("fpga.lut.float_lane");
  n.integer_lane_luts = table("fpga.lut.integer_lane");
  n.control_luts = table("fpga.lut.control");
  n.inputs_switched = table("fpga.lut.inputs_switched");
  n.memories = {table("fpga.bram_bits"), table("fpga.uram_bits"), table("fpga.ram_port")};
  n.rom_over_sram = table("rom.over_sram");
  n.fefet_over_sram = table("fefet.cell.over_sram");
  n.fefet_product_pj = table("fefet.product");
  n.fefet_conversion_pj = table("fefet.conversion");
  n.fefet_converter_um2 = table("fefet.converter");
  n.fefet_leaks = table("fefet.leaks");
  n.port_cells = table("sram.port_cells");
  const char* names[kinds] = {"lpddr4", "ddr4", "gddr6", "hbm2", "ddr3", "gddr5", "hbm2e"};
  for (std::size_t kind = 0; kind < kinds; ++kind) n.dram_pj[kind] = table("dram." + std::string(names[kind]));
  n.wire_pj = table("wire.energy");
  n.clock = table("clock.over_dynamic");
  n.control = table("control.over_datapath");
  n.distributed = table("control.distributed.over_central");
  n.margin = table("clock.margin");
  n.overhead = table("clock.overhead");
  n.least_stage = table("clock.least_stage");
  n.composable_integer = {table("composable.integer.area"), table("composable.integer.energy")};
  n.composable_float = {table("composable.float.area"), table("composable.float.energy")};
  for (std::size_t f = 0; f < formats; ++f)
    n.depth[f] = table("depth." + std::string(arithmetic_name(static_cast<NumberFormat>(f))));
  return n;
}

constexpr double pico = 1e-12, mib = 1048576.0;

}  // namespace

/// Made when first asked for: of most points of a sweep nobody asks.
struct OwnTables {
  std::vector<OwnFigure> figures;
  mutable std::once_flag made[bound_count];
  mutable std::unique_ptr<const Numbers> numbers[bound_count];

  const Numbers& at(Bound bound) const {
    const auto end = static_cast<std::size_t>(bound);
    std::call_once(made[end], [&] {
      numbers[end] = std::make_unique<const Numbers>(numbers_of({figures, bound}));
    });
    return *numbers[end];
  }
};

std::span<const OwnFigure> OwnTechnology::figures() const {
  return tables_ ? std::span<const OwnFigure>(tables_->figures) : std::span<const OwnFigure>();
}

void OwnTechnology::set(OwnFigure figure) {
  auto tables = std::make_shared<OwnTables>();
  tables->figures.assign(figures().begin(), figures().end());
  const auto place = std::ranges::lower_bound(tables->figures, figure.row, {}, &OwnFigure::row);
  if (place != tables->figures.end() && place->row == figure.row)
    *place = figure;
  else
    tables->figures.insert(place, figure);
  tables_ = std::move(tables);
}

bool OwnTechnology::same(const OwnTechnology& a, const OwnTechnology& b) {
  return std::ranges::equal(a.figures(), b.figures());
}

std::size_t hash_of(const OwnTechnology& own) {
  std::size_t hash = 0;
  for (const OwnFigure& figure : own.figures())
    hash = hash * 31 + std::hash<double>()(figure.value) * 2 * (figure.row + 1);
  return hash;
}

Process process_of(const Machine& machine, Bound bound) {
  Process process(machine.technology_node, bound);
  process.own = machine.technology.tables();
  return process;
}

namespace {

const Numbers& all_numbers(Process process) {
  if (process.own != nullptr) return process.own->at(process.bound);
  static const Numbers values[bound_count] = {numbers_of({{}, Bound::least}), numbers_of({{}, Bound::value}),
                                              numbers_of({{}, Bound::most})};
  return values[static_cast<std::size_t>(process.bound)];
}
const NodeNumbers& numbers(Process process) { return all_numbers(process).node[place_of(process.node)]; }

const PartNumbers& part_numbers(Process process) {
  check(is_fpga(process.node), "a figure of an FPGA part asked of a node");
  return all_numbers(process).fpga[place_of(process.node)];
}

}  // namespace

bool concerns(const TechnologyRow& row, TechnologyNode node) {
  // As fill_nodes() makes them of others.
  constexpr std::string_view made_of[nodes] = {" n7 ",         " n45 ",
                                               " n5 n7 ",      " n16 n45 n7 ",
                                               " n28 n45 n7 ", " fpga_zynq7020 fpga n28 n45 n7 ",
                                               " n65 n45 n7 ", " fpga_vc1902 fpga n7 "};
  const std::string_view of = row.name.substr(0, row.name.find('.'));
  const bool of_all = of != "fpga" && std::ranges::find(node_prefix, of) == std::end(node_prefix);
  return of_all || made_of[place_of(node)].find(" " + std::string(of) + " ") != std::string_view::npos;
}

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

ComposableMac composable_over_plain(Process process, NumberFormat operand) {
  const Numbers& n = all_numbers(process);
  return number_formats[static_cast<std::size_t>(operand)].floating ? n.composable_float : n.composable_integer;
}

Joules sram_energy(Process process, Bytes bank_bytes, Bits bits) {
  const double capacity = std::max(1024.0, static_cast<double>(bank_bytes.value));
  const std::size_t low = capacity < sram_point_bytes[1] ? 0 : 1;
  const double over = logarithm(capacity / sram_point_bytes[low]);
  const auto at = [&](Bound bound) {
    Process end = process;
    end.bound = bound;
    const NodeNumbers& n = numbers(end);
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
      all_numbers(process).port_cells * static_cast<double>(banks) * static_cast<double>(port_bits.value);
  return SquareMm(numbers(process).sram_mm2 * (static_cast<double>(capacity.value) + periphery_bits / 8.0) / mib);
}

SquareMm rom_area(Process process, Bytes capacity) {
  return sram_area(process, capacity) * all_numbers(process).rom_over_sram;
}

SquareMm fefet_cell_area(Process process, Bits cells) {
  return SquareMm(sram_area(process, Bytes(1)).value / 8.0 * static_cast<double>(cells.value) *
                  all_numbers(process).fefet_over_sram);
}

namespace {

/// An 8-bit converter serves inputs of one bit; each bit more doubles its levels.
double levels(std::int64_t input_bits) { return std::ldexp(1.0, static_cast<int>(input_bits - 1)); }

}  // namespace

SquareMm fefet_converter_area(Process process, std::int64_t input_bits) {
  return SquareMm(1e-6 * all_numbers(process).fefet_converter_um2 * levels(input_bits));
}

double fefet_leaking_share(Process process) { return all_numbers(process).fefet_leaks; }

Joules fefet_product_energy(Process process) { return Joules(pico * all_numbers(process).fefet_product_pj); }

Joules fefet_conversion_energy(Process process, std::int64_t input_bits) {
  return Joules(pico * all_numbers(process).fefet_conversion_pj * levels(input_bits));
}

Joules dram_energy(Process process, DramKind kind, Bytes bytes) {
  return Joules(pico * all_numbers(process).dram_pj[static_cast<std::size_t>(kind)] * 8.0 *
                static_cast<double>(bytes.value));
}

SquareMm crossbar_area(Process process, std::int64_t ports, Bits port_bits) {
  const double side_bits = static_cast<double>(ports) * static_cast<double>(port_bits.value);
  return SquareMm(side_bits * side_bits * numbers(process).crossbar_mm2);
}

double fpga_crossbar_luts(Process process, std::int64_t ports, Bits port_bits) {
  // A tree of multiplexers: each takes the place of so many inputs but one. Example: 6 ports choose among 5 others,
  // ceil(4 / 3) = 2 for each bit.
  const double bits = static_cast<double>(ports) * static_cast<double>(port_bits.value);
  const double others = static_cast<double>(ports) - 1;
  return bits * std::ceil((others - 1) / (all_numbers(process).inputs_switched - 1));
}

Joules wire_energy(Process process) { return Joules(pico * all_numbers(process).wire_pj); }
double clock_over_dynamic(Process process) { return all_numbers(process).clock; }
double control_over_datapath(Process process, Sequencer sequencer) {
  const Numbers& n = all_numbers(process);
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
  const Numbers& n = all_numbers(process);
  const double logic = std::max(n.least_stage, n.depth[static_cast<std::size_t>(operand)] / depth);
  return 1e6 / (n.fo4_ps[place_of(process.node)] * n.margin * (logic + n.overhead));
}

FpgaPart fpga_part(Process process) { return part_numbers(process).part; }

FpgaMemories fpga_memories(Process process) { return all_numbers(process).memories; }

FpgaConfiguration fpga_configuration(Process process) { return part_numbers(process).configuration; }

double fpga_dsp_blocks(Process process, NumberFormat operand) {
  return part_numbers(process).dsp_blocks[static_cast<std::size_t>(operand)];
}

double fpga_lane_luts(Process process, NumberFormat operand) {
  const Numbers& n = all_numbers(process);
  return number_formats[static_cast<std::size_t>(operand)].floating ? n.float_lane_luts : n.integer_lane_luts;
}

double fpga_control_luts(Process process) { return all_numbers(process).control_luts; }

}  // namespace sdip
