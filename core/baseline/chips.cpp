// The model of a chip.
#include "core/baseline/chips.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/baseline/node_place.h"
#include "core/machine/machine.h"

namespace sdip {
namespace {

/// Interfaces but those of DRAM: readings of GA100's die photo at 7 nm (LLMCompass, ISCA 2024: PCIe) and a cost
/// model (SerDes).
struct InterfaceFigures {
  double pcie_mm2_lane = 0.33, serdes_mm2_lane = 0.35, pads_mm2 = 2.5, serdes_pj = 5.5, busy = 0.5;
};
constexpr InterfaceFigures interfaces;

/// The share of its MACs that is taken to be busy on a chip whose activity is not published.
constexpr double typical_activity = 0.4;

constexpr double widest_range = 2;

/// One node's prediction, in parts.
struct Priced {
  std::vector<ChipPart> area_parts, power_parts;
  double limit_mhz{};
};

double or_else(const Chip& chip, std::string_view name, double otherwise) {
  return chip_figure(chip, name).value_or(otherwise);
}

/// A chip's DRAM, priced as a machine's.
struct ChipDram {
  DramFigures figures;
  double bits{}, gb_per_s{}, device_pj{}, background_w{};
};
ChipDram dram_of(const Chip& chip, Process process) {
  constexpr double stack_bits = 1024, stack_channels = 8;
  const double stacks = or_else(chip, "hbm_stacks", 0), lpddr = or_else(chip, "lpddr_bits", 0);
  const DramKind kind = stacks > 0 ? DramKind::hbm2e : lpddr > 0 ? DramKind::lpddr5 : DramKind::ddr4;
  ChipDram dram{dram_figures(process, kind), stacks * stack_bits + lpddr + or_else(chip, "ddr_bits", 0),
                or_else(chip, "dram_gbs", 0), dram_energy(process, kind, Bytes(1)).value / 8 * 1e12, 0};
  dram.background_w = stacks * stack_channels * dram.figures.background_mw * 1e-3;
  return dram;
}

double sram_mib(const Chip& chip) { return or_else(chip, "sram_mib", or_else(chip, "sram_built_mib", 0)); }

ChipAreas price_area(const Chip& chip, Process process, const MacFormats& formats, Priced& p) {
  ChipAreas areas = chip_areas(process, formats, or_else(chip, "macs_built", or_else(chip, "macs_per_clk", 0)),
                               sram_mib(chip), or_else(chip, "sram_port_bits", 0));
  if (chip.scope != ChipScope::chip) areas.fixed = chip.scope == ChipScope::die ? interfaces.pads_mm2 : 0;
  const ChipDram dram = dram_of(chip, process);
  const double interfaces_mm2 = dram.bits * dram.figures.phy_mm2 +
                                (dram.bits > 0 ? dram.gb_per_s * dram.figures.controller_mm2 : 0) +
                                or_else(chip, "pcie_lanes", 0) * interfaces.pcie_mm2_lane +
                                or_else(chip, "serdes_lanes", 0) * interfaces.serdes_mm2_lane;
  p.area_parts = {{"lanes", areas.lanes}, {"sram", areas.sram},   {"control", areas.control},
                  {"other", areas.other}, {"fixed", areas.fixed}, {"interfaces", interfaces_mm2}};
  return areas;
}

void price_power(const Chip& chip, Process process, const MacFormats& formats, double logic_mm2, Priced& p) {
  const auto millivolts = [&](std::string_view name) {
    const auto volts = chip_figure(chip, name);
    return volts ? std::llround(1000 * *volts) : nominal_supply_mv(process);
  };
  Supply supply = supply_at(process, millivolts("vdd_v"));
  const Supply of_sram = supply_at(process, millivolts(chip_figure(chip, "vdd_sram_v") ? "vdd_sram_v" : "vdd_v"));
  supply.sram = of_sram.sram;
  supply.sram_leakage = of_sram.sram_leakage;
  p.limit_mhz = clock_limit_mhz(process, chip.weights, chip_pipeline_stages) * supply.speed;
  const double hertz =
      1e6 * or_else(chip, "clock_mhz", or_else(chip, "clock_mhz_max", or_else(chip, "clock_assumed_mhz", 0)));
  const double working = hertz * or_else(chip, "activity", typical_activity);
  const double mac = chip_mac_joules(process, formats);
  const double macs_w = or_else(chip, "macs_per_clk", 0) * working * mac * supply.logic;
  const double reads_w = sram_energy(process, Bytes(std::llround(1024 * or_else(chip, "bank_kib", 32))),
                                     Bits(std::llround(or_else(chip, "read_bits", 0))))
                             .value *
                         working * supply.sram;
  const double clock_w = clock_tree_energy(process).value * logic_mm2 * supply.logic * hertz;
  const double leakage_w = leakage_watts(process, SquareMm(logic_mm2), sram_mib(chip), supply);
  const ChipDram dram = dram_of(chip, process);
  const double with_devices = or_else(chip, "power_has_dram", 0);
  const double moved_bits = chip.scope == ChipScope::chip ? 8e9 * dram.gb_per_s * interfaces.busy : 0;
  const double interfaces_w = (dram.bits > 0 ? 8e-3 * dram.gb_per_s * dram.figures.phy_mw : 0) +
                              with_devices * dram.background_w +
                              1e-12 * moved_bits * (dram.figures.phy_pj + with_devices * dram.device_pj) +
                              1e-12 * interfaces.serdes_pj * 1e9 *
                                  (or_else(chip, "serdes_lanes", 0) * or_else(chip, "serdes_gbps", 0) +
                                   or_else(chip, "pcie_lanes", 0) * or_else(chip, "pcie_gbps", 8)) *
                                  interfaces.busy;
  p.power_parts = {{"macs", macs_w},
                   {"sram", reads_w},
                   {"clock", clock_w},
                   {"leakage", leakage_w},
                   {"interfaces", interfaces_w}};
}

Priced priced_at(const Chip& chip, TechnologyNode node) {
  const MacFormats formats{chip.weights, chip.activations, chip.sums};
  Priced p;
  price_power(chip, node, formats, price_area(chip, node, formats, p).logic(), p);
  return p;
}

/// What a node between two others has, by the power law between them.
Priced joined(Priced a, const Priced& b, double t) {
  for (std::vector<ChipPart> Priced::*parts : {&Priced::area_parts, &Priced::power_parts})
    for (std::size_t i = 0; i < (a.*parts).size(); ++i) {
      double& value = (a.*parts)[i].value;
      value = power_law_between(value, (b.*parts)[i].value, t);
    }
  a.limit_mhz = power_law_between(a.limit_mhz, b.limit_mhz, t);
  return a;
}

Priced priced(const Chip& chip) {
  const NodePlace place = node_place(chip.node_nm);
  const Priced at = priced_at(chip, place.smaller);
  return place.t == 1 ? at : joined(priced_at(chip, place.larger), at, place.t);
}

struct Published {
  std::string_view figure, kind;
  bool bound;
};
constexpr Published areas[] = {{"die_mm2", "die", false},
                               {"die_mm2_max", "at most", true},
                               {"core_mm2", "core", false},
                               {"cell_mm2", "cells", false},
                               {"system_mm2", "core", false}};
constexpr Published powers[] = {{"power_busy_w", "busy", false}, {"power_typical_w", "typical", false},
                                {"power_mean_w", "mean", false}, {"power_w", "measured", false},
                                {"power_peak_w", "peak", false}, {"tdp_w", "TDP", true}};

Predicted against(const Chip& chip, double value, std::span<const Published> figures) {
  Predicted predicted{value, value, value, {}, "", false};
  for (const Published& one : figures)
    if (const auto figure = chip_figure(chip, one.figure); figure && !predicted.published) {
      predicted.published = figure;
      predicted.kind = one.kind;
      predicted.bound = one.bound;
    }
  return predicted;
}

/// Twice the spread of the logarithms of the errors of fitted chips, as a factor. A size of one design in two
/// nodes, as NVDLA's, counts as a chip.
double spread_of(const std::vector<ChipPrediction>& all, Predicted ChipPrediction::*what) {
  double sum = 0;
  int count = 0;
  for (const ChipPrediction& one : all) {
    const Predicted& predicted = one.*what;
    if (one.chip->use != ChipUse::fit || predicted.bound || !predicted.published) continue;
    const double error = std::log(*predicted.error());
    sum += error * error;
    ++count;
  }
  check(count > 0, "no chip to fit on");
  return std::min(widest_range, std::exp(2 * std::sqrt(sum / count)));
}

}  // namespace

double chip_mac_joules(Process process, const MacFormats& formats) {
  return mac_energy(process, formats).value +
         register_energy(process).value * static_cast<double>((chip_pipeline_stages - 1) * stage_bits(formats));
}

ChipAreas chip_areas(Process process, const MacFormats& formats, double macs, double sram_mib,
                     double sram_port_bits) {
  const Machine standard;
  const double stages = static_cast<double>((chip_pipeline_stages - 1) * stage_bits(formats));
  ChipAreas parts;
  parts.lanes = macs * (mac_area(process, formats).value + register_area(process, stages).value) *
                standard.mac_floor_plan_factor.value();
  parts.sram =
      sram_area(process, Bytes(std::llround(sram_mib * 1048576)), 1, Bits(std::llround(sram_port_bits))).value *
      standard.sram_floor_plan_factor.value();
  parts.control = control_over_datapath(process, Sequencer::central) * (parts.lanes + parts.sram);
  parts.other = other_over_lanes(process) * parts.lanes;
  parts.fixed = other_fixed_area(process).value;
  return parts;
}

std::string_view chip_use_text(ChipUse use) {
  constexpr std::string_view names[] = {"fit", "predict", "check"};
  return names[at(use)];
}

std::optional<double> chip_figure(const Chip& chip, std::string_view name) {
  std::optional<double> found;
  for (const ChipFigure& figure : chip.described.empty() ? chip_figures() : chip.described) {
    if (figure.name != name) continue;
    if (figure.chip == chip.id) return figure.value;  // its own before that of its design
    if (figure.chip == chip.figures) found = figure.value;
  }
  return found;
}

std::vector<ChipPrediction> predict_chips(std::span<const Chip> others) {
  std::vector<ChipPrediction> all;
  const std::size_t known = chips().size();
  for (std::size_t i = 0; i < known + others.size(); ++i) {
    const Chip& chip = i < known ? chips()[i] : others[i - known];
    const Priced p = priced(chip);
    ChipPrediction one;
    one.chip = &chip;
    one.area_parts = p.area_parts;
    one.power_parts = p.power_parts;
    double mm2 = 0, watts = 0;
    for (const ChipPart& part : one.area_parts) mm2 += part.value;
    for (const ChipPart& part : one.power_parts) watts += part.value;
    one.area_mm2 = against(chip, mm2, areas);
    one.power_w = against(chip, watts, powers);
    one.clock_limit_mhz = p.limit_mhz;
    one.clock_mhz = chip_figure(chip, "clock_mhz");
    if (!one.clock_mhz) one.clock_mhz = chip_figure(chip, "clock_mhz_max");
    all.push_back(std::move(one));
  }
  for (Predicted ChipPrediction::*what : {&ChipPrediction::area_mm2, &ChipPrediction::power_w}) {
    const double spread = spread_of(all, what);
    for (ChipPrediction& one : all) {
      (one.*what).least = (one.*what).value / spread;
      (one.*what).most = (one.*what).value * spread;
    }
  }
  return all;
}

const KnownChipErrors& known_chip_errors() {
  static const KnownChipErrors errors = [] {
    KnownChipErrors all;
    const auto add = [](const Predicted& predicted, ChipErrors& to) {
      if (!predicted.error() || predicted.bound) return;
      const double off = *predicted.error() - 1;
      to.least = to.chips == 0 ? off : std::min(to.least, off);
      to.most = to.chips == 0 ? off : std::max(to.most, off);
      ++to.chips;
    };
    for (const ChipPrediction& one : predict_chips()) {
      if (one.chip->use != ChipUse::predict) continue;
      add(one.area_mm2, all.area);
      add(one.power_w, all.power);
    }
    return all;
  }();
  return errors;
}

}  // namespace sdip
