// The JSON schemas of explanations and of single changes.
#include "core/explore/sensitivity.h"
#include "server/api/schema_parts.h"

namespace sdip {
namespace {

using namespace schema;

Schema by_needed() {
  Properties properties;
  for (std::size_t i = 0; i < needed_count; ++i)
    properties.emplace_back(needed_text(static_cast<Needed>(i)), integer());
  return object(properties);
}

Properties layer_properties() {
  Properties properties =
      integers({"stage", "index", "cycles", "macs", "lane_macs", "array_macs_per_cycle", "dram_bytes"});
  properties.insert(properties.end(), {{"name", text()}, {"op", text()}, {"limiter", text()}});
  return properties;
}

void add_layers(OrderedJson& schemas) {
  schemas["FilledTerm"] = object({{"what", text()},
                                  {"section", text()},
                                  {"formula", text()},
                                  {"numbers", text()},
                                  {"value", integer()},
                                  {"unit", one_of({"cycles", "B", "us", "MHz", "mV"})}});
  schemas["CyclesByNeed"] = by_needed();
  schemas["LayerNeeds"] = object(layer_properties());
  Properties worst = layer_properties();
  worst.insert(worst.end(), {{"alike", array(integer())},
                             {"needed_cycles", reference("CyclesByNeed")},
                             {"slack_cycles", reference("CyclesByNeed")},
                             {"bound_cycles", integer()},
                             {"least_dram_bytes", integer()},
                             {"written_out", flag()},
                             {"terms", array(reference("FilledTerm"))}});
  schemas["LayerExplanation"] = object(worst);
}

void add_changes(OrderedJson& schemas) {
  const Schema value = {{"type", {"number", "string", "boolean"}}};
  schemas["SingleChange"] = object({{"parameter", text()},
                                    {"from", value},
                                    {"to", value},
                                    {"kind", one_of({"design", "unpriced", "task", "results", "assumption"})},
                                    {"feasible", flag()},
                                    {"reason", text()},
                                    {"pace", text()},
                                    {"limiter", text()},
                                    {"metrics", reference("MetricValues")},
                                    {"elasticities", reference("MetricValues")}});
  schemas["WithoutStep"] = object({{"parameter", text()}, {"value", value}, {"reason", text()}});
  schemas["Sensitivities"] = object({{"model", text()},
                                     {"feasible", flag()},
                                     {"reason", text()},
                                     {"pace", text()},
                                     {"limiter", text()},
                                     {"metrics", reference("MetricValues")},
                                     {"changes", array(reference("SingleChange"))},
                                     {"without_step", array(reference("WithoutStep"))},
                                     {"moves_bottleneck", array(integer())},
                                     {"moves_without_gain", array(integer())},
                                     {"more_frames", array(integer())}});
  schemas["ScreeningRequest"] = object({{"model", text()},
                                        {"preset?", text()},
                                        {"machine?", reference("MachineChanges")},
                                        {"axes?", array(reference("Axis"))},
                                        {"links?", array(reference("Link"))},
                                        {"metrics?", user_formulas()},
                                        {"measures?", array(text())},
                                        {"method?", one_of({"morris", "sobol"})},
                                        {"samples?", integer()},
                                        {"seed?", integer()}});
  // Of morris the first four, of sobol the others.
  schemas["ScreenedRow"] = object({{"parameter", text()},
                                   {"mean?", nullable(number())},
                                   {"mean_size?", nullable(number())},
                                   {"deviation?", nullable(number())},
                                   {"effects?", integer()},
                                   {"first?", nullable(number())},
                                   {"first_error?", nullable(number())},
                                   {"total?", nullable(number())},
                                   {"total_error?", nullable(number())}});
  schemas["ScreenedMeasure"] =
      object({{"measure", text()}, {"unit", text()}, {"rows", array(reference("ScreenedRow"))}});
  schemas["Screening"] = object({{"model", text()},
                                 {"preset", text()},
                                 {"machine", reference("Machine")},
                                 {"axes", array(reference("Axis"))},
                                 {"links", array(reference("Link"))},
                                 {"method", one_of({"morris", "sobol"})},
                                 {"samples", integer()},
                                 {"seed", integer()},
                                 {"evaluated", integer()},
                                 {"without_value", integer()},
                                 {"reason", nullable(text())},
                                 {"compiled", integer()},
                                 {"measures", array(reference("ScreenedMeasure"))}});
}

}  // namespace

void add_explanations(OrderedJson& schemas) {
  add_layers(schemas);
  Properties stage = integers({"cycles", "passes_per_frame", "bound_cycles", "dram_bytes", "bound_dram_bytes",
                               "active_cores", "spread_cores", "products_in_mac", "mac_lanes"});
  stage.insert(stage.end(), {{"name", text()},
                             {"role", text()},
                             {"limiter", text()},
                             {"needed_cycles", reference("CyclesByNeed")},
                             {"limited_cycles", reference("CyclesByNeed")},
                             {"dram_bytes_per_cycle", number()},
                             {"mac_roofs", array(reference("MacRoof"))},
                             {"terms", array(reference("FilledTerm"))}});
  schemas["StageExplanation"] = object(stage);
  schemas["ExplanationRequest"] = point_request({{"layers?", integer()}});
  schemas["Explanation"] = object({{"model", text()},
                                   {"machine", reference("Machine")},
                                   {"feasible", flag()},
                                   {"reason", text()},
                                   {"pace", text()},
                                   {"limiter", text()},
                                   {"terms", array(reference("FilledTerm"))},
                                   {"load", array(reference("FilledTerm"))},
                                   {"stages", array(reference("StageExplanation"))},
                                   {"worst", array(reference("LayerExplanation"))},
                                   {"layers", array(reference("LayerNeeds"))}});
  add_changes(schemas);
}

}  // namespace sdip
