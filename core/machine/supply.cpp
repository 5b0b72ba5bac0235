// Delay and energy of a node at a supply voltage.
#include <algorithm>
#include <cmath>

#include "core/base/powers.h"
#include "core/machine/technology_numbers.h"

namespace sdip {

/// Worked example, 7 nm at 0.60 V: speed (0.75 / 0.60) x (0.30 / 0.45)^1.3 = 1.25 x 0.590 = 0.738; events (0.60 /
/// 0.75)^2 = 0.64; leakage 0.8 x e^(-0.45) = 0.510.
Supply supply_of(const Numbers& numbers, std::size_t node, std::int64_t mv) {
  const SupplyNumbers& of = numbers.supply[node];
  const double volts = static_cast<double>(mv) / 1000, over = volts / of.nominal;
  const double of_sram = std::max(volts, of.sram_least);
  const double overdrive = volts - of.threshold, nominal_overdrive = of.nominal - of.threshold;
  const double heat = exponential(numbers.leakage_of_degrees * (numbers.die.leaks_at_celsius - 85));
  const auto leaks = [&](double v) {
    return v / of.nominal * exponential(numbers.leakage_of_volts * (v - of.nominal)) * heat;
  };
  Supply supply{mv};
  supply.speed = overdrive > 0 && nominal_overdrive > 0 ? power(overdrive / nominal_overdrive, of.alpha) / over : 0;
  supply.logic = over * over;
  supply.sram = of_sram / of.nominal * (of_sram / of.nominal);
  supply.logic_leakage = leaks(volts);
  supply.sram_leakage = leaks(of_sram);
  return supply;
}

void fill_supplies(Numbers& numbers) {
  for (std::size_t node = 0; node < technology_nodes; ++node) {
    std::vector<Supply>& made = numbers.supplies[node];
    if (is_fpga(static_cast<TechnologyNode>(node))) {
      made = {Supply{}};
      continue;
    }
    const SupplyNumbers& of = numbers.supply[node];
    const std::int64_t first = std::llround(std::ceil(of.least * 100 - 1e-9));
    const std::int64_t last = std::max<std::int64_t>(first, std::llround(std::floor(of.most * 100 + 1e-9)));
    for (std::int64_t tens = first; tens <= last; ++tens) made.push_back(supply_of(numbers, node, 10 * tens));
  }
}

namespace {

Process by_value(Process process) {
  process.bound = Bound::value;
  return process;
}

}  // namespace

Supply supply_at(Process process, std::int64_t mv) {
  if (is_fpga(process.node)) return {};
  return supply_of(technology_numbers(by_value(process)), at(process.node), mv);
}

std::int64_t nominal_supply_mv(Process process) {
  if (is_fpga(process.node)) return 0;
  return std::llround(1000 * technology_numbers(by_value(process)).supply[at(process.node)].nominal);
}

std::span<const Supply> supplies(Process process) {
  return technology_numbers(by_value(process)).supplies[at(process.node)];
}

}  // namespace sdip
