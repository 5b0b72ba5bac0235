// How fast the circuits that are built may be clocked, at which supply, and which limit a chip breaks.
#include "core/cost/price/clock.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/cost/price/stage.h"
#include "core/cost/work/micro_operations.h"

namespace sdip {
namespace {

/// The value as a decimal number of so many places after the point.
std::string digits(double value, int places) {
  char text[400];
  return {text, std::to_chars(text, std::end(text), value, std::chars_format::fixed, places).ptr};
}

}  // namespace

SlowestCircuit slowest_circuit(const Application& application, Widest widest, const Machine& m, Bound bound) {
  const Process process = process_of(m, bound);
  if (is_fpga(m.technology_node)) return {"part", clock_limit_mhz(process, wider_of(widest), m.pipeline_stages)};
  SlowestCircuit slowest{"conv2d", clock_limit_mhz(process, wider_of(widest), m.pipeline_stages)};
  const auto meets = [&](std::string_view name, double mhz) {
    if (mhz < slowest.mhz) slowest = {name, mhz};
  };
  const auto memory = [&](std::string_view name, std::int64_t bytes, std::int64_t banks) {
    if (bytes > 0) meets(name, sram_clock_limit_mhz(process, Bytes(ceil_div(bytes, banks))));
  };
  // Other lanes have the activations' format, which is no wider.
  const auto activations = [&](const Machine& its) {
    memory("dsram", is_unified(its) ? unified_bytes(its) : largest_dsram_bytes(its), its.sram_banks);
    if (!is_unified(its) && !stack_in_psram(its)) memory("stackram", its.stackram_bytes, its.sram_banks);
  };
  activations(m);
  for (const CompiledStage* own : own_blocks(application, m)) activations(*StageMachine(m, own->role));
  for (const BuiltMemory& psram : psram_memories(application, m))
    if (psram.copies > 0) memory("psram", psram.bytes, m.sram_banks);
  memory("imem", m.imem_bytes, m.sram_banks);
  return slowest;
}

Supply chip_supply(const SlowestCircuit& slowest, const Machine& m) {
  const Process process = process_of(m);
  if (is_fpga(m.technology_node)) return supply_at(process, 0);
  if (m.supply_mv > 0) return supply_at(process, m.supply_mv);
  const std::span<const Supply> all = supplies(process);
  const auto clock = static_cast<double>(m.core_clock_mhz);
  const auto allows =
      std::ranges::find_if(all, [&](const Supply& supply) { return clock_limit_at(slowest, supply) >= clock; });
  return allows == all.end() ? all.back() : *allows;
}

double clock_limit_at(const SlowestCircuit& slowest, const Supply& supply) {
  return std::floor(slowest.mhz * supply.speed);
}

std::string broken_clock(const SlowestCircuit& slowest, const Supply& supply, const Machine& m) {
  if (!is_fpga(m.technology_node)) {
    const std::span<const Supply> all = supplies(process_of(m));
    if (supply.mv < all.front().mv || supply.mv > all.back().mv)
      return fmt::format("supply_mv = {} is not within the {} to {} mV of this process", supply.mv, all.front().mv,
                         all.back().mv);
  }
  const double limit = clock_limit_at(slowest, supply);
  if (static_cast<double>(m.core_clock_mhz) <= limit) return {};
  const bool lanes = slowest.name == "conv2d" || slowest.name == "part";
  return fmt::format("core_clock_mhz = {} is beyond the fastest clock of {} in this process: {} MHz{}",
                     m.core_clock_mhz,
                     lanes ? fmt::format("{} with {} pipeline stages", slowest.name, m.pipeline_stages)
                           : "a bank of " + std::string(slowest.name),
                     digits(limit, 0), supply.mv > 0 ? fmt::format(" at {} mV", supply.mv) : "");
}

std::optional<Heat> heat_of(double watts, double area_mm2, const Machine& m) {
  if (is_fpga(m.technology_node) || !(area_mm2 > 0)) return std::nullopt;
  const DieLimits limits = die_limits(process_of(m));
  const double density = watts / area_mm2;
  return Heat{density, limits.watts_per_mm2, limits.celsius_at(density), limits.celsius};
}

std::string broken_heat(const Heat& heat) {
  if (heat.watts_per_mm2 > heat.most_watts_per_mm2)
    return "the die gives off " + digits(heat.watts_per_mm2, 1) + " W/mm2, more than die.power_density, " +
           digits(heat.most_watts_per_mm2, 2);
  if (heat.celsius > heat.most_celsius)
    return "the die reaches " + digits(heat.celsius, 0) + " C, more than die.temperature.most, " +
           digits(heat.most_celsius, 0);
  return {};
}

}  // namespace sdip
