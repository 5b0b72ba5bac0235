// How far bits travel on the chip.
#include "core/cost/price/floor_plan.h"

#include <cmath>

namespace sdip {
namespace {

double port_mm(double area, std::int64_t banks) {
  return 0.75 * (std::sqrt(area) - std::sqrt(area / static_cast<double>(banks)));
}

}  // namespace

std::int64_t cores_fed(const CompiledStage& stage, const Machine& m) {
  const bool common = stage.role == Role::core || stage.role == Role::network;
  return common && stage.part.count == 1 ? m.cores : 1;
}

FloorPlan floor_plan(const Machine& m, std::int64_t cores_fed, std::int64_t psram_bytes, Bound bound) {
  return floor_plan(m, core_area(m, widest_formats(m), bound), cores_fed, psram_bytes, bound);
}

FloorPlan floor_plan(const Machine& m, const CoreArea& core, std::int64_t cores_fed, std::int64_t psram_bytes,
                     Bound bound) {
  const Process process = process_of(m, bound);
  const double built =
      core.total() * (1 + control_over_datapath(process, m.sequencer)) + core.lanes() * other_over_lanes(process);
  const bool unified = is_unified(m);
  const double dsram =
      exchanging_area(m, unified ? m.dsram_bytes : largest_dsram_bytes(m), m.dsram_port_bits, bound);
  FloorPlan plan;
  plan.broadcast_mm = static_cast<double>(cores_fed) * std::sqrt(built);
  plan.stack_way_mm = static_cast<double>(cores_fed + 1) / 2 * std::sqrt(built);
  plan.psram_bytes = psram_bytes;
  plan.psram_port_mm = port_mm(exchanging_area(m, psram_bytes, m.psram_port_bits, bound), m.sram_banks);
  plan.dsram_port_mm = port_mm(unified ? 2 * dsram + core.stackram : dsram, m.sram_banks);
  for (std::size_t f = 0; f < pair_families && has_own_pairs(m); ++f)
    plan.pair_port_mm[f] = port_mm(
        exchanging_area(m, dsram_bytes_of(m, static_cast<Family>(f)), m.dsram_port_bits, bound), m.sram_banks);
  plan.stackram_port_mm = port_mm(core.stackram, m.sram_banks);
  return plan;
}

}  // namespace sdip
