// The table of constants made into numbers: nodes that are derived from others, and figures of a user.
#include "core/machine/technology_numbers.h"

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
    if (end == Bound::assumed)
      return row.value * (row.confidence == Confidence::assumption ? 1 + more_of_assumptions : 1);
    return end == Bound::value ? row.value : end == Bound::least ? row.least : row.most;
  }
};

constexpr std::size_t nodes = technology_nodes, formats = technology_formats, kinds = technology_dram_kinds;
constexpr std::string_view node_prefix[nodes] = {"n7",  "n45",           "n5",  "n16",
                                                 "n28", "fpga_zynq7020", "n65", "fpga_vc1902"};
static_assert(at(TechnologyNode::fpga_vc1902) + 1 == nodes);
static_assert(at(DramKind::hbm3e) + 1 == kinds);

/// The rows by which a format's arithmetic is priced: fixed point as the integer of its width; floats narrower than
/// fp32 add as fp16, integers narrower than int8 as int8. A block format's MAC is so much of one of int8, its share
/// of a dot product; where none is named it is a plain one.
struct PricedAs {
  std::string_view multiply, add, block = "";
};
constexpr PricedAs priced_as[] = {
    {"fp32", "fp32"},         {"fp16", "fp16"},         {"bf16", "fp16"},         {"fp8", "fp16"},
    {"fp8", "fp16"},          {"int32", "int32"},       {"int16", "int16"},       {"int8", "int8"},
    {"int8", "int8"},         {"int4", "int8"},         {"int4", "int8"},         {"int8", "int8"},
    {"int16", "int16"},       {"int32", "int32"},       {"fp16", "fp16"},         {"int8", "int8", "mxint8"},
    {"fp8", "fp16", "mxfp8"}, {"fp8", "fp16", "mxfp8"}, {"fp8", "fp16", "mxfp6"}, {"fp8", "fp16", "mxfp6"},
    {"fp8", "fp16", "mxfp4"}, {"fp8", "fp16", "mxfp4"}, {"fp16", "fp16"},         {"int8", "int8", "mxint8"},
    {"int4", "int8", "mxfp4"}};
static_assert(std::size(priced_as) == formats);

constexpr std::string_view sram_points[] = {".sram.8KB", ".sram.32KB", ".sram.1MB"};
constexpr double sram_point_bytes[] = {8 * 1024.0, 32 * 1024.0, 1024 * 1024.0};
constexpr double steepest_sram = 2;  // power of the capacity: a user's points may lie anywhere

/// Energies, or areas times a factor, of each format's arithmetic.
void fill_arithmetic(double (&multiply)[formats], double (&add)[formats], const std::string& prefix,
                     std::string_view figure, double factor, const Table& table) {
  const auto row = [&](std::string_view operation, std::string_view of) {
    return table(fmt::format("{}.{}.{}", prefix, operation, of));
  };
  for (std::size_t f = 0; f < formats; ++f) {
    const PricedAs& as = priced_as[f];
    multiply[f] = factor * row("multiply", as.multiply);
    add[f] = factor * row("add", as.add);
    if (!as.block.empty())
      multiply[f] = factor * table(fmt::format("block.{}.{}", as.block, figure)) *
                    (row("multiply", "int8") + row("add", "int32"));
  }
}

/// A node with energies of its own, 45 or 7 nm.
NodeNumbers node_of_rows(const std::string& prefix, const Table& table) {
  NodeNumbers n{};
  fill_arithmetic(n.multiply, n.add, prefix, "energy", 1, table);
  for (std::size_t i = 0; i < 3; ++i) n.sram_pj[i] = table(prefix + std::string(sram_points[i]));
  return n;
}

/// Fills in the figures that all nodes have by 45 nm's times the node's two factors.
void fill_by_factor(NodeNumbers& n, const Table& table) {
  fill_arithmetic(n.multiply_um2, n.add_um2, "n45.area", "area", n.logic_area, table);
  n.register_um2 = n.logic_area * table("n45.register.area");
  n.register_pj = n.logic_energy * table("n45.register.energy");
  n.clock_pj_mm2 = table("clock.tree") * n.logic_energy / n.logic_area;
}

Bound opposite(Bound bound) {
  return bound == Bound::most ? Bound::least : bound == Bound::least ? Bound::most : bound;
}

/// A node as 45 nm's figures to the power 1 - t times those of 7 nm to the power t; t = ln(its factor) / ln(that of
/// 7 nm). For int8 products at 16 nm: t = ln 0.54 / ln 0.33 = 0.556, 0.2^0.444 x 0.07^0.556 = 0.112 pJ. The largest
/// t saves most; of a node before 45 nm, where t is below 0, the one nearest to 0: so the most of a figure has its
/// own factor at the most and that of 7 nm at its least, before 45 nm at its most.
NodeNumbers node_between(const std::string& prefix, const Table& table, const NodeNumbers& n45,
                         const NodeNumbers& n7) {
  const double own = table(prefix + ".logic_energy.over_n45");
  const Bound end = own < 1 ? opposite(table.bound) : table.bound;
  const double t = logarithm(own) / logarithm(table.at(end, "n7.logic_energy.over_n45"));
  const auto between = [&](double from, double to) { return power(from, 1 - t) * power(to, t); };
  NodeNumbers n{};
  for (std::size_t f = 0; f < formats; ++f) {
    n.multiply[f] = between(n45.multiply[f], n7.multiply[f]);
    n.add[f] = between(n45.add[f], n7.add[f]);
  }
  for (std::size_t i = 0; i < 3; ++i) n.sram_pj[i] = between(n45.sram_pj[i], n7.sram_pj[i]);
  return n;
}

NodeNumbers scaled(NodeNumbers n, double logic_energy, double sram_energy) {
  for (std::size_t f = 0; f < formats; ++f) {
    n.multiply[f] *= logic_energy;
    n.add[f] *= logic_energy;
  }
  for (double& pj : n.sram_pj) pj *= sram_energy;
  return n;
}

/// A part of programmable logic over the node that it is made in.
NodeNumbers made_in(const NodeNumbers& node, double energy, double area) {
  NodeNumbers n = scaled(node, energy, energy);
  for (std::size_t f = 0; f < formats; ++f) {
    n.multiply_um2[f] *= area;
    n.add_um2[f] *= area;
  }
  n.register_um2 *= area;
  n.register_pj *= energy;
  n.clock_pj_mm2 *= energy / area;
  n.fixed_mm2 = 0;
  n.crossbar_mm2 *= area;
  return n;
}

void fill_node(NodeNumbers& n, const std::string& prefix, const Table& table) {
  n.sram_mm2 = table(prefix + ".sram.area");
  n.leakage_mw = table(prefix + ".leakage");
  n.sram_leakage_mw = table(prefix + ".sram.leakage");
  const double pitch_mm = 1e-3 * table(prefix + ".crossbar.pitch");
  n.crossbar_mm2 = pitch_mm * pitch_mm;
  const bool n5 = prefix == "n5";
  const auto factor = [&](const std::string& what) {
    if (prefix == "n45") return 1.0;
    const double of = table((n5 ? "n7" : prefix) + what + ".over_n45");
    return n5 ? of * table(prefix + what + ".over_n7") : of;
  };
  n.logic_energy = factor(".logic_energy");
  n.logic_area = factor(".logic_area");
  n.fixed_mm2 = table("other.fixed") * n.logic_area / table.at(Bound::value, "n7.logic_area.over_n45");
  fill_by_factor(n, table);
}

void fill_nodes(Numbers& n, const Table& table) {
  const auto at = [&](TechnologyNode node) -> NodeNumbers& { return n.node[sdip::at(node)]; };
  const NodeNumbers n7 = at(TechnologyNode::n7) = node_of_rows("n7", table);
  const NodeNumbers n45 = at(TechnologyNode::n45) = node_of_rows("n45", table);
  at(TechnologyNode::n28) = node_between("n28", table, n45, n7);
  at(TechnologyNode::n16) = node_between("n16", table, n45, n7);
  // Beyond 45 nm t is below 0: the more 7 nm takes, the less is gained from 65 to 7, and the less 65 takes.
  at(TechnologyNode::n65) = node_between("n65", table, n45, node_of_rows("n7", {table.own, opposite(table.bound)}));
  at(TechnologyNode::n5) = scaled(n7, table("n5.logic_energy.over_n7"), table("n5.sram_energy.over_n7"));
  for (std::size_t i = 0; i < nodes; ++i) {
    if (is_fpga(static_cast<TechnologyNode>(i))) continue;
    const std::string prefix(node_prefix[i]);
    fill_node(n.node[i], prefix, table);
    n.fo4_ps[i] = table(prefix + ".fo4");
  }
  const double energy = table("fpga.energy.over_node"), area = table("fpga.logic_area.over_node");
  at(TechnologyNode::fpga_zynq7020) = made_in(at(TechnologyNode::n28), energy, area);
  at(TechnologyNode::fpga_vc1902) = made_in(at(TechnologyNode::n7), energy, area);
  for (NodeNumbers& node : n.node)
    for (std::size_t i = 0; i < 2; ++i)
      node.sram_slope[i] = std::clamp(logarithm(node.sram_pj[i + 1] / node.sram_pj[i]) /
                                          logarithm(sram_point_bytes[i + 1] / sram_point_bytes[i]),
                                      -steepest_sram, steepest_sram);
}

/// Takes the rows' values, whatever the end: a chip has one supply.
void fill_supply(Numbers& n, const Table& table) {
  const auto value = [&](const std::string& name) { return table.at(Bound::value, name); };
  n.leakage_of_volts = value("leakage.of_volts");
  n.leakage_of_degrees = value("leakage.of_degrees");
  n.die = {value("die.power_density"), value("die.temperature.most"), value("die.ambient"),
           value("die.thermal_resistance"), value("die.temperature")};
  for (std::size_t i = 0; i < nodes; ++i) {
    if (is_fpga(static_cast<TechnologyNode>(i))) continue;
    const std::string of = std::string(node_prefix[i]) + ".supply.";
    n.supply[i] = {value(of + "nominal"), value(of + "threshold"),  value(of + "least"),
                   value(of + "most"),    value(of + "sram_least"), value("supply.alpha")};
  }
  fill_supplies(n);
}

PartNumbers part_of_rows(const std::string& prefix, const Table& table) {
  PartNumbers n{};
  n.part = {table(prefix + ".dsp"), table(prefix + ".bram"), table(prefix + ".uram", false),
            table(prefix + ".lut")};
  for (std::size_t f = 0; f < formats; ++f)
    n.dsp_blocks[f] = table(prefix + ".dsp." + std::string(priced_as[f].multiply));
  n.clock_mhz = table.at(opposite(table.bound), prefix + ".clock");
  n.static_w = table(prefix + ".static");
  n.configuration = {table(prefix + ".bitstream"), table.at(opposite(table.bound), prefix + ".configuration")};
  return n;
}

PriceFigures prices_of(const std::string& prefix, const Table& table) {
  const Bound other = opposite(table.bound);  // of what makes a price less
  return {table(prefix + ".wafer"),
          table(prefix + ".defects") / 100,
          table("defects.clusters"),
          table("package.assembly"),
          table("package.substrate"),
          table("package.interposer"),
          table("package.interposer.over_dies"),
          table.at(other, "package.bond_yield"),
          {table("dram.hbm.price"), table("dram.lpddr.price"), table("dram.ddr.price"), table("dram.gddr.price")},
          table.at(other, "use.years"),
          table("use.electricity")};
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
  n.lut_ram_bits = table("fpga.lut.ram_bits");
  n.memories = {table("fpga.bram_bits"), table("fpga.uram_bits"), table("fpga.ram_port")};
  n.rom_over_sram = table("rom.over_sram");
  n.fefet_over_sram = table("fefet.cell.over_sram");
  n.fefet_product_pj = table("fefet.product");
  n.fefet_conversion_pj = table("fefet.conversion");
  n.fefet_converter_um2 = table("fefet.converter");
  n.fefet_leaks = table("fefet.leaks");
  n.port_cells = table("sram.port_cells");
  n.second_port = table("sram.second_port");
  const auto names = find_parameter("dram_kind")->choices;
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const std::string name = "dram." + std::string(names[kind]);
    n.dram_pj[kind] = table(name);
    n.dram_background_mw[kind] = table(name + ".background");
  }
  constexpr const char* families[phy_families] = {"phy.hbm", "phy.lpddr", "phy.ddr", "phy.gddr"};
  for (std::size_t f = 0; f < phy_families; ++f) {
    const std::string name = families[f];
    n.phy[f] = {table(name + ".area"), table(name + ".edge"), table(name + ".energy"), table(name + ".standing")};
  }
  n.controller_mm2 = table("dram.controller");
  n.row_pj = table("dram.row");
  n.link = {table("link.area"), table("link.edge"), table("link.standing"), table.at(Bound::value, "link.latency")};
  n.link_pj = table("link.energy");
  n.exposed_mm2 = table.at(Bound::value, "die.exposure");
  for (std::size_t i = 0; i < nodes; ++i)
    if (!is_fpga(static_cast<TechnologyNode>(i))) n.price[i] = prices_of(std::string(node_prefix[i]), table);
  n.wire_pj = table("wire.energy");
  n.control = table("control.over_datapath");
  n.distributed = table("control.distributed.over_central");
  n.other_over_lanes = table("other.over_lanes");
  n.margin = table("clock.margin");
  n.overhead = table("clock.overhead");
  n.least_stage = table("clock.least_stage");
  n.sram_stage = table("clock.sram.least");
  n.sram_root_kib = table("clock.sram.root_kib");
  n.composable_integer = {table("composable.integer.area"), table("composable.integer.energy")};
  n.composable_float = {table("composable.float.area"), table("composable.float.energy")};
  for (std::size_t f = 0; f < formats; ++f) n.depth[f] = table("depth." + std::string(priced_as[f].multiply));
  fill_supply(n, table);
  return n;
}

}  // namespace

bool is_dot_product(NumberFormat format) { return !priced_as[sdip::at(format)].block.empty(); }

/// Made when first asked for: of most points of a sweep nobody asks.
struct OwnTables {
  std::vector<OwnFigure> figures;
  mutable std::once_flag made[bound_count];
  mutable std::unique_ptr<const Numbers> numbers[bound_count];

  const Numbers& at(Bound bound) const {
    const std::size_t end = sdip::at(bound);
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

const Numbers& technology_numbers(Process process) {
  if (process.own != nullptr) return process.own->at(process.bound);
  static const Numbers values[bound_count] = {numbers_of({{}, Bound::least}), numbers_of({{}, Bound::value}),
                                              numbers_of({{}, Bound::most}), numbers_of({{}, Bound::assumed})};
  return values[at(process.bound)];
}

bool concerns(const TechnologyRow& row, TechnologyNode node) {
  // As fill_nodes() makes them of others.
  constexpr std::string_view made_of[nodes] = {" n7 n45 ",     " n45 n7 ",
                                               " n5 n7 n45 ",  " n16 n45 n7 ",
                                               " n28 n45 n7 ", " fpga_zynq7020 fpga n28 n45 n7 ",
                                               " n65 n45 n7 ", " fpga_vc1902 fpga n7 n45 "};
  const std::string_view of = row.name.substr(0, row.name.find('.'));
  const bool of_all = of != "fpga" && std::ranges::find(node_prefix, of) == std::end(node_prefix);
  return of_all || made_of[sdip::at(node)].find(" " + std::string(of) + " ") != std::string_view::npos;
}

}  // namespace sdip
