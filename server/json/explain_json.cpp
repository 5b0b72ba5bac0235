// Explanations and single changes as JSON.
#include "server/json/explain_json.h"

namespace sdip {
namespace {

OrderedJson terms_json(const std::vector<FilledTerm>& terms) {
  OrderedJson list = OrderedJson::array();
  for (const FilledTerm& term : terms)
    list.push_back({{"what", term.what},
                    {"section", term.section},
                    {"formula", term.formula},
                    {"numbers", term.numbers},
                    {"value", term.value},
                    {"unit", unit_of(term)}});
  return list;
}

OrderedJson by_resource(const Needs& cycles) {
  OrderedJson object = OrderedJson::object();
  for (std::size_t i = 0; i < needed_count; ++i)
    object[std::string(needed_text(static_cast<Needed>(i)))] = cycles[i];
  return object;
}

OrderedJson stage_json(const StageExplanation& s) {
  return {{"name", s.name},
          {"role", role_text(s.role)},
          {"cycles", s.cycles},
          {"passes_per_frame", s.passes_per_frame},
          {"limiter", needed_text(s.limiter)},
          {"needed_cycles", by_resource(s.needs)},
          {"limited_cycles", by_resource(s.limited)},
          {"bound_cycles", s.bound_cycles},
          {"dram_bytes", s.dram_bytes},
          {"bound_dram_bytes", s.bound_dram_bytes},
          {"active_cores", s.active_cores},
          {"spread_cores", s.spread_cores},
          {"products_in_mac", s.products_in_mac},
          {"mac_lanes", s.mac_lanes},
          {"dram_bytes_per_cycle", s.rate.bytes_per_cycle()},
          {"mac_roofs", Written<std::vector<MacRoof>>::json(s.roofs)},
          {"terms", terms_json(s.bounds)}};
}

OrderedJson layer_json(const Analysis& analysis, const LayerNeeds& layer) {
  const Instruction& instruction = analysis.application.stages[layer.stage].program.instructions[layer.index];
  return {{"stage", layer.stage},
          {"index", layer.index},
          {"name", instruction.name},
          {"op", instruction.mnemonic},
          {"cycles", layer.cycles},
          {"limiter", needed_text(layer.limiter)},
          {"macs", layer.macs},
          {"lane_macs", layer.lane_macs},
          {"array_macs_per_cycle", layer.array_macs},
          {"dram_bytes", layer.dram_bytes}};
}

OrderedJson worst_json(const Analysis& analysis, const LayerExplanation& e) {
  OrderedJson object = layer_json(analysis, e.layer);
  object["alike"] = e.alike;
  object["needed_cycles"] = by_resource(e.layer.needs);
  Needs slack{};
  for (std::size_t i = 0; i < needed_count; ++i) slack[i] = e.slack(static_cast<Needed>(i));
  object["slack_cycles"] = by_resource(slack);
  object["bound_cycles"] = e.bound_cycles;
  object["least_dram_bytes"] = e.least_dram_bytes;
  object["written_out"] = e.written_out;
  object["terms"] = terms_json(e.terms);
  return object;
}

OrderedJson change_json(const Sensitivities& s, const ChangedPoint& point) {
  const ParameterRow& row = *point.change.row;
  OrderedJson elasticities = OrderedJson::object();
  for (std::size_t i = 0; i < metric_count; ++i) {
    const auto elasticity = point.elasticity(s.outcome, static_cast<Metric>(i));
    elasticities[std::string(metrics()[i].name)] = elasticity ? OrderedJson(*elasticity) : OrderedJson();
  }
  return {{"parameter", row.name},
          {"from", value_json(row, point.change.from)},
          {"to", value_json(row, point.change.to)},
          {"kind", change_kind_text(row.change)},
          {"feasible", point.outcome.feasible},
          {"reason", point.outcome.reason},
          {"pace", point.pace},
          {"limiter", point.outcome.feasible ? needed_text(point.limiter) : ""},
          {"metrics", Written<MetricValues>::json(point.outcome.values)},
          {"elasticities", std::move(elasticities)}};
}

}  // namespace

OrderedJson explanation_json(const Analysis& analysis, const Explanation& e) {
  OrderedJson stages = OrderedJson::array(), worst = OrderedJson::array(), layers = OrderedJson::array();
  for (const StageExplanation& stage : e.stages) stages.push_back(stage_json(stage));
  for (const LayerExplanation& layer : e.worst) worst.push_back(worst_json(analysis, layer));
  for (const LayerNeeds& layer : e.layers) layers.push_back(layer_json(analysis, layer));
  return {{"model", analysis.model},
          {"machine", machine_json(analysis.machine)},
          {"feasible", e.feasible},
          {"reason", e.reason},
          {"pace", e.feasible ? e.stages[e.pace].name : ""},
          {"limiter", e.feasible ? needed_text(e.limiter()) : ""},
          {"terms", terms_json(e.terms)},
          {"load", terms_json(e.load)},
          {"stages", std::move(stages)},
          {"worst", std::move(worst)},
          {"layers", std::move(layers)}};
}

OrderedJson sensitivities_json(const std::string& model, const Sensitivities& s) {
  OrderedJson changes = OrderedJson::array();
  for (const ChangedPoint& point : s.points) changes.push_back(change_json(s, point));
  OrderedJson without_step = OrderedJson::array();
  for (const Stepless& one : s.without_step)
    without_step.push_back(
        {{"parameter", one.row->name}, {"value", value_json(*one.row, one.value)}, {"reason", one.reason}});
  return {{"model", model},
          {"feasible", s.outcome.feasible},
          {"reason", s.outcome.reason},
          {"pace", s.pace},
          {"limiter", s.outcome.feasible ? needed_text(s.limiter) : ""},
          {"metrics", Written<MetricValues>::json(s.outcome.values)},
          {"changes", std::move(changes)},
          {"without_step", std::move(without_step)},
          {"moves_bottleneck", cheapest_changes(s, {})},
          {"moves_without_gain", idle_moves(s)},
          {"more_frames", cheapest_changes(s, {Metric::throughput_fps, wanted_frame_share})}};
}

}  // namespace sdip
