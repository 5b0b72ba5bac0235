// The dies that a machine is made of: their links, whether they can be made, and what all of it costs.
#include "core/cost/price/dies_price.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/base/powers.h"
#include "core/machine/dies.h"
#include "core/machine/dram.h"

namespace sdip {
namespace {

constexpr double wafer_mm = 300, million = 1e6, thousandth = 1e-3;
constexpr double hours_of_day = 24, seconds_of_year = 365.25 * hours_of_day * 3600, joules_of_kilowatt_hour = 3.6e6;
constexpr double no_price = std::numeric_limits<double>::quiet_NaN();

/// Written by hand: machines of a sweep that are refused are told why, one by one.
std::string tenths(double value) {
  const auto all = static_cast<std::int64_t>(std::llround(value * 10));
  return fmt::format("{}.{}", all / 10, all % 10);
}

/// Whole dies on a wafer: its area over theirs, less what its edge cuts. Example: of 700 mm2 at most 75.
double dies_on_wafer(double mm2) {
  return std::numbers::pi * (wafer_mm * wafer_mm / (4 * mm2) - wafer_mm / std::sqrt(2 * mm2));
}

}  // namespace

bool is_hbm(DramKind kind) { return dram_kinds()[kind].family == DramFamily::hbm; }

BuiltLinks built_links(const Machine& m, Bound bound) {
  const std::int64_t links = die_line(m).dies - 1;
  if (links == 0) return {};
  const LinkFigures f = link_figures(process_of(m, bound));
  const double gb_per_s = static_cast<double>(m.die_link_bits) * static_cast<double>(m.core_clock_mhz) * thousandth;
  const double ends = 2 * static_cast<double>(links);
  return {ends * gb_per_s * f.mm2, gb_per_s * f.mm2, gb_per_s * f.mm, ends * gb_per_s * f.mw * thousandth};
}

std::array<BuiltDie, 3> built_dies(const DieAreas& areas, const BuiltDram& dram, const BuiltLinks& links) {
  const std::int64_t dies = areas.line.dies;
  const auto count = static_cast<double>(dies);
  const auto die = [&](std::int64_t alike, double mm2, double ends) -> BuiltDie {
    return {alike, mm2 + dram.area_mm2 / count + ends * links.end_mm2,
            dram.edge_mm / count + ends * links.end_edge_mm};
  };
  if (dies == 1) return {die(1, areas.first, 0)};
  return {die(1, areas.first, 1), die(dies - 2, areas.between, 2), die(1, areas.last, 1)};
}

std::string broken_dies(const std::array<BuiltDie, 3>& dies, const Machine& m) {
  if (is_fpga(m.technology_node)) return {};
  const Process process = process_of(m);
  const double exposed = exposed_area(process).value;
  constexpr const char* names[] = {"the first die", "a die between", "the last die"};
  const bool one = die_line(m).dies == 1;
  for (std::size_t i = 0; i < dies.size(); ++i) {
    const BuiltDie& die = dies[i];
    if (die.count == 0) continue;
    const std::string name = one ? "the die" : names[i];
    if (die.mm2 > exposed)
      return fmt::format("{} is {} mm2, a scanner exposes {} at most: more dies, or less on them", name,
                         tenths(die.mm2), tenths(exposed));
    const double edge_mm = 4 * std::sqrt(die.mm2);
    if (die.edge_mm > edge_mm)
      return "PHYs of DRAM" + std::string(one ? "" : " and links between dies") + " need " + tenths(die.edge_mm) +
             " mm of the die's edge, a square die of " + tenths(die.mm2) + " mm2 has " + tenths(edge_mm) +
             ": fewer dram_channels, a kind that needs less edge" + (one ? "" : ", or narrower links");
  }
  if (one) return {};
  const double least_ns = link_figures(process).ns;
  const double ns = static_cast<double>(m.die_link_cycles) * 1e3 / static_cast<double>(m.core_clock_mhz);
  if (ns >= least_ns) return {};
  return fmt::format("die_link_cycles are {} ns, a link between dies takes {}: more die_link_cycles", tenths(ns),
                     tenths(least_ns));
}

double die_yield(double mm2, const PriceFigures& f) {
  return power(1 + mm2 * f.defects_per_mm2 / f.clusters, -f.clusters);
}

Price package_price(std::span<const BuiltDie> dies, Process process, bool interposer, double dram_usd) {
  const PriceFigures& f = price_figures(process);
  const double exposed = exposed_area(process).value;
  Price price;
  double mm2 = 0, count = 0;
  for (const BuiltDie& die : dies) {
    if (die.count == 0) continue;
    if (die.mm2 > exposed) return {no_price, no_price, no_price};
    const auto alike = static_cast<double>(die.count);
    price.silicon += alike * f.wafer / dies_on_wafer(die.mm2) / die_yield(die.mm2, f);
    mm2 += alike * die.mm2;
    count += alike;
  }
  const double carrier =
      mm2 * (f.substrate_mm2 + (interposer || count > 1 ? f.interposer_mm2 * f.interposer_over_dies : 0)) +
      f.assembly * price.silicon;
  const double bonded = count == 1 ? f.bond_yield : power(f.bond_yield, count);
  price.package = (price.silicon + carrier) / bonded - price.silicon;
  price.dram = dram_usd;
  return price;
}

Price price_of(const std::array<BuiltDie, 3>& dies, const Machine& m, Bound bound) {
  if (is_fpga(m.technology_node)) return {no_price, no_price, no_price};
  const Process process = process_of(m, bound);
  if (m.host_memory) return package_price(dies, process, false, 0);
  const DramChannels dram = dram_channels(m);
  return package_price(
      dies, process, is_hbm(m.dram_kind),
      static_cast<double>(dram.channels * dram.channel_mib) / 1024 * dram_gib_usd(process, m.dram_kind));
}

double million_images_usd(const Price& price, double frames_per_s, double energy_j_per_frame, const Machine& m,
                          Bound bound) {
  const PriceFigures& f = price_figures(process_of(m, bound));
  const double share_of_day = static_cast<double>(m.hours_a_day) / hours_of_day;
  return million * (price.total() / (f.years * seconds_of_year * share_of_day * frames_per_s) +
                    energy_j_per_frame / joules_of_kilowatt_hour * f.kilowatt_hour);
}

}  // namespace sdip
