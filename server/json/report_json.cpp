// Reports to JSON.
#include "server/json/report_json.h"

#include <cmath>

namespace sdip {
namespace {

OrderedJson breakdown_json(const Breakdown& breakdown) {
  OrderedJson parts = OrderedJson::array();
  for (const auto& [part, value] : breakdown) parts.push_back({{"part", part}, {"value", number_or_null(value)}});
  return parts;
}

/// With the ends of the parts' ranges, which are in the same order.
OrderedJson ranged_json(const Breakdown& breakdown, const Ranges& ranges) {
  OrderedJson parts = breakdown_json(breakdown);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i]["least"] = number_or_null(ranges.least[i].second);
    parts[i]["most"] = number_or_null(ranges.most[i].second);
  }
  return parts;
}

OrderedJson energy_json(const EnergyParts& joules) {
  OrderedJson parts = OrderedJson::object();
  for (std::size_t i = 0; i < energy_part_count; ++i)
    parts[std::string(energy_part_text(static_cast<EnergyPart>(i)))] = number_or_null(joules[i]);
  return parts;
}

OrderedJson range_json(double value, double least, double most) {
  return {{"value", number_or_null(value)}, {"least", number_or_null(least)}, {"most", number_or_null(most)}};
}

/// In total and by part.
void add_frame_energy(const RangedEnergy& energy, OrderedJson& object) {
  object["frame_energy_j"] = range_json(total_of(energy.value), total_of(energy.least), total_of(energy.most));
  OrderedJson parts = OrderedJson::object();
  for (std::size_t i = 0; i < energy_part_count; ++i)
    parts[std::string(energy_part_text(static_cast<EnergyPart>(i)))] =
        range_json(energy.value[i], energy.least[i], energy.most[i]);
  object["frame_energy_parts_j"] = std::move(parts);
}

OrderedJson fpga_json(const FpgaUse& use) {
  OrderedJson resources = OrderedJson::array();
  for (const FpgaUse::Resource& one : use.resources)
    resources.push_back({{"resource", one.name}, {"needed", one.needed}, {"available", one.available}});
  return {{"fits", use.fits}, {"limit", use.limit}, {"resources", resources}};
}

OrderedJson load_json(const Load& load) {
  const auto ranged = [](const Ranged& r) { return range_json(r.value, r.least, r.most); };
  OrderedJson parts = OrderedJson::array();
  for (const LoadPart& part : load.parts)
    parts.push_back({{"memory", part.memory},
                     {"bytes", part.bytes.value},
                     {"cycles", part.cycles.value},
                     {"seconds", part.seconds}});
  OrderedJson object = {{"cycles", load.cycles.value},
                        {"seconds", load.seconds},
                        {"parts", std::move(parts)},
                        {"kept_bytes", load.kept.value}};
  if (const auto& part = load.configuration)
    object["configuration"] = {{"bytes", ranged(part->bytes)}, {"seconds", ranged(part->seconds)}};
  return object;
}

OrderedJson instruction_json(const Analysis& analysis, std::size_t stage, std::size_t index) {
  const auto& cost = analysis.report.stages[stage].instructions[index];
  const auto& instruction = analysis.application.stages[stage].program.instructions[index];
  OrderedJson busy = OrderedJson::object();
  for (std::size_t i = 0; i < resource_count; ++i)
    busy[std::string(resource_text(static_cast<Resource>(i)))] = cost.busy[i].value;
  OrderedJson object = {{"index", index},
                        {"name", instruction.name},
                        {"op", instruction.mnemonic},
                        {"start_cycle", cost.start.value},
                        {"end_cycle", cost.end.value},
                        {"limiter", resource_text(cost.limiter)},
                        {"busy_cycles", busy},
                        {"stall_weights_cycles", cost.stall_weights.value},
                        {"stall_activations_cycles", cost.stall_activations.value},
                        {"stall_program_cycles", cost.stall_program.value},
                        {"waiting_cycles", cost.waiting.value},
                        {"dram_weights_bytes", cost.dram_weights.value},
                        {"dram_activations_in_bytes", cost.dram_activations_in.value},
                        {"dram_activations_out_bytes", cost.dram_activations_out.value},
                        {"dram_program_bytes", cost.dram_program.value},
                        {"dram_bytes", cost.dram.value},
                        {"dsram_read_side_bytes", cost.dsram_read_side.value},
                        {"dsram_write_side_bytes", cost.dsram_write_side.value},
                        {"stackram_bytes", cost.stackram.value},
                        {"psram_bytes", cost.psram.value},
                        {"macs", cost.macs.value},
                        {"lane_macs", cost.lane_macs.value},
                        {"energy_j", cost.energy_j},
                        {"energy_parts_j", energy_json(cost.energy_parts)},
                        {"output_shape", output_shape(analysis, stage, index)}};
  add_frame_energy(cost.frame_energy, object);
  return object;
}

OrderedJson stage_json(const Analysis& analysis, std::size_t index, bool with_instructions) {
  const auto& stage = analysis.report.stages[index];
  const CompiledStage& compiled = analysis.application.stages[index];
  OrderedJson object = {{"name", stage.name},
                        {"role", role_text(stage.role)},
                        {"parts", compiled.part.count},
                        {"dram_share", static_cast<double>(compiled.dram_thousandths) / 1000},
                        {"passes_per_frame", stage.passes_per_frame},
                        {"cold_cycles", stage.cold_cycles.value},
                        {"steady_cycles", stage.steady_cycles.value},
                        {"bound_cycles", stage.bound_cycles.value},
                        {"bound_dram_bytes", stage.bound_dram_bytes.value},
                        {"stall_weights_cycles", stage.stall_weights.value},
                        {"stall_activations_cycles", stage.stall_activations.value},
                        {"stall_program_cycles", stage.stall_program.value},
                        {"running_cycles", stage.running.value},
                        {"waiting_cycles", stage.waiting.value},
                        {"dram_weights_bytes", stage.dram_weights.value},
                        {"dram_activations_bytes", stage.dram_activations.value},
                        {"dram_program_bytes", stage.dram_program.value},
                        {"weight_bytes", stage.weight_bytes.value},
                        {"imem_bytes", stage.imem_bytes.value},
                        {"dsram_peak_bytes", stage.dsram_peak.value},
                        {"stackram_peak_bytes", stage.stackram_peak.value},
                        {"psram_peak_bytes", stage.psram_peak.value},
                        {"macs", stage.macs.value},
                        {"products_in_mac", stage.products_in_mac},
                        {"spread_cores", stage.spread_cores},
                        {"active_cores", stage.active_cores},
                        {"dram_bytes_per_cycle", stage.rate.bytes_per_cycle()},
                        {"mac_roofs", mac_roofs_json(stage.roofs)},
                        {"energy_j", stage.energy_j},
                        {"energy_parts_j", energy_json(stage.energy_parts)}};
  add_frame_energy(stage.frame_energy, object);
  if (!with_instructions) return object;
  OrderedJson instructions = OrderedJson::array();
  for (std::size_t i = 0; i < stage.instructions.size(); ++i)
    instructions.push_back(instruction_json(analysis, index, i));
  object["instructions"] = std::move(instructions);
  return object;
}

}  // namespace

OrderedJson metric_values_json(const MetricValues& values) {
  OrderedJson object = OrderedJson::object();
  for (std::size_t i = 0; i < metric_count; ++i) object[std::string(metrics()[i].name)] = number_or_null(values[i]);
  return object;
}

Shape output_shape(const Analysis& analysis, std::size_t stage, std::size_t index) {
  const auto value = analysis.application.stages[stage].program.instructions[index].destination;
  if (value == none) return {};
  return analysis.application.stages[stage].graph->values.at(static_cast<std::size_t>(value)).operand.shape;
}

OrderedJson mac_roofs_json(const std::vector<MacRoof>& roofs) {
  OrderedJson list = OrderedJson::array();
  for (const MacRoof& roof : roofs) {
    OrderedJson families = OrderedJson::array();
    for (const Family family : roof.families) families.push_back(family_text(family));
    list.push_back({{"families", std::move(families)},
                    {"lanes", roof.lanes},
                    {"products_in_mac", roof.products_in_mac},
                    {"macs_per_cycle", roof.macs_per_cycle()}});
  }
  return list;
}

OrderedJson number_or_null(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(); }

OrderedJson analysis_json(const Analysis& analysis, bool with_instructions) {
  const auto& report = analysis.report;
  OrderedJson stages = OrderedJson::array();
  for (std::size_t i = 0; i < report.stages.size(); ++i)
    stages.push_back(stage_json(analysis, i, with_instructions));
  OrderedJson object = {{"model", analysis.model},
                        {"machine", machine_json(analysis.machine)},
                        {"feasible", report.outcome.feasible},
                        {"reason", report.outcome.reason},
                        {"metrics", metric_values_json(report.outcome.values)},
                        {"energy_j", ranged_json(report.energy_j, report.energy_ranges_j)},
                        {"waiting_energy_j", ranged_json(report.waiting_energy_j, report.waiting_energy_ranges_j)},
                        {"area_mm2", ranged_json(report.area_mm2, report.area_ranges_mm2)},
                        {"leakage_w", breakdown_json(report.leakage_w)},
                        {"clock_limit_mhz",
                         {{"least", report.clock_limit.least_mhz},
                          {"value", report.clock_limit.mhz},
                          {"most", report.clock_limit.most_mhz}}},
                        {"latency_s", breakdown_json(report.latency_s)},
                        {"load", load_json(report.load)},
                        {"notes", report.notes},
                        {"stages", std::move(stages)}};
  if (report.fpga) object["fpga"] = fpga_json(*report.fpga);
  return object;
}

}  // namespace sdip
