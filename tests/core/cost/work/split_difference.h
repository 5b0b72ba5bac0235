// Where the shares of layers, and what waits, do not come to a frame's energy.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/core/cost/reports.h"

namespace sdip {

/// At one end of the constants' ranges: by part, by stage and in total; empty where they do to 1e-9, and nothing
/// takes energy by waiting.
inline std::string split_difference(const Report& report, EnergyParts RangedEnergy::*end, const Breakdown& whole,
                                    const Breakdown& waiting) {
  const auto differ = [](double told, double summed) {
    return !(std::abs(told - summed) <= 1e-9 * std::abs(told) + 1e-30);
  };
  for (const auto& [what, joules] : waiting)
    if (!(joules >= 0)) return "waiting: " + what;
  EnergyParts parts{};
  for (const StageReport& stage : report.stages) {
    EnergyParts of_stage{};
    for (const InstructionCost& i : stage.instructions)
      for (std::size_t p = 0; p < energy_part_count; ++p) of_stage[p] += (i.frame_energy.*end)[p];
    for (std::size_t p = 0; p < energy_part_count; ++p) {
      if (differ((stage.frame_energy.*end)[p], of_stage[p])) return stage.name + " " + whole[p].first;
      parts[p] += of_stage[p];
    }
  }
  // What waits leaks, its clock tree goes on, and DRAM and links stand.
  const auto leakage = static_cast<std::size_t>(EnergyPart::leakage);
  const auto stands = [](std::size_t p) {
    constexpr EnergyPart all[] = {EnergyPart::leakage, EnergyPart::clock, EnergyPart::dram_phy,
                                  EnergyPart::dram_background, EnergyPart::die_links};
    return std::find(std::begin(all), std::end(all), static_cast<EnergyPart>(p)) != std::end(all);
  };
  double told = 0, summed = sum_of_parts(waiting);
  for (std::size_t p = 0; p < energy_part_count; ++p)
    if (stands(p)) told += whole[p].second, summed += parts[p];
  if (differ(told, summed)) return "what stands";
  for (std::size_t p = 0; p < energy_part_count; ++p)
    if (!stands(p) && differ(whole[p].second, parts[p]))
      return whole[p].first + ": " + std::to_string(whole[p].second) + ", " + std::to_string(parts[p]);
  parts[leakage] += sum_of_parts(waiting);
  return differ(sum_of_parts(whole), total_of(parts)) ? "total" : "";
}

/// By the values, with all at their least, with all at their most; and of no layer the ends the wrong way round.
inline std::string split_difference(const Report& report) {
  const double energy = value(report, Metric::energy_j_per_frame);
  if (std::abs(sum_of_parts(report.energy_j) - energy) > 1e-9 * energy) return "energy_j_per_frame";
  for (const StageReport& stage : report.stages)
    for (const InstructionCost& i : stage.instructions)
      if (total_of(i.frame_energy.least) > total_of(i.frame_energy.value) * (1 + 1e-12) ||
          total_of(i.frame_energy.value) > total_of(i.frame_energy.most) * (1 + 1e-12))
        return stage.name + ": least, value and most of an instruction";
  const std::string differences[] = {
      split_difference(report, &RangedEnergy::value, report.energy_j, report.waiting_energy_j),
      split_difference(report, &RangedEnergy::least, report.energy_ranges_j.least,
                       report.waiting_energy_ranges_j.least),
      split_difference(report, &RangedEnergy::most, report.energy_ranges_j.most,
                       report.waiting_energy_ranges_j.most)};
  for (const std::string& difference : differences)
    if (!difference.empty()) return difference;
  return "";
}

}  // namespace sdip
