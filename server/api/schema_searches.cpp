// The JSON schemas of searches for the best machine.
#include "core/explore/search/search.h"
#include "server/api/schema_parts.h"

namespace sdip {
namespace {

using namespace schema;

Schema maybe(const char* name) { return {{"anyOf", {reference(name), {{"type", "null"}}}}}; }

Schema value_of_parameter() { return {{"type", {"number", "string", "boolean"}}}; }

Properties row_step(Properties more) {
  Properties properties = {{"parameter", text()}, {"from", value_of_parameter()}, {"to", value_of_parameter()}};
  properties.insert(properties.end(), more.begin(), more.end());
  return properties;
}

/// Values of the goal's objectives, in its order; and by name.
Schema objective_values() { return array(nullable(number())); }
Schema named_objectives() { return {{"type", "object"}, {"additionalProperties", nullable(number())}}; }

void add_found(OrderedJson& schemas) {
  schemas["BestSoFar"] = object({{"evaluated", integer()}, {"values", objective_values()}});
  schemas["RowStep"] = object(row_step({}));
  schemas["FoundMachine"] = object({{"objectives", named_objectives()},
                                    {"keeps_constraints", flag()},
                                    {"broken", array(text())},
                                    {"feasible", flag()},
                                    {"reason", text()},
                                    {"settings", reference("MachineChanges")},
                                    {"differs", array(reference("RowStep"))},
                                    {"knee?", one_of({"none", "local", "greatest"})},
                                    {"metrics", reference("MetricValues")}});
  schemas["BetterStep"] = object(row_step({{"value", nullable(number())},
                                           {"limit", text()},
                                           {"broken", array(text())},
                                           {"violation", nullable(number())}}));
  schemas["BoughtStep"] = object(
      row_step({{"area_mm2", number()}, {"throughput_fps", number()}, {"throughput_fps_per_mm2", number()}}));
  schemas["FormatSet"] = object({{"formats", reference("MachineChanges")}, {"sqnr_db", number()}});
  schemas["FormatAccuracies"] = object({{"model", text()},
                                        {"weights", one_of({"random", "file"})},
                                        {"measured", integer()},
                                        {"sets", array(reference("FormatSet"))},
                                        {"sqnr_db", nullable(number())}});
  schemas["WorkloadWorth"] =
      object({{"model", text()}, {"weight", number()}, {"metrics", reference("MetricValues")}});
  schemas["KnownRange"] = object({{"metric", text()}, {"least", nullable(number())}, {"most", nullable(number())}});
  Properties result = integers({"generations", "evaluated", "feasible", "compiled", "found"});
  result.insert(result.end(), {{"request", reference("SearchRequest")},
                               {"engine?", text()},
                               {"searched", array(text())},
                               {"seconds", number()},
                               {"cancelled", flag()},
                               {"trace", array(reference("BestSoFar"))},
                               {"best", array(reference("FoundMachine"))},
                               {"workloads", array(reference("WorkloadWorth"))},
                               {"accuracy", maybe("FormatAccuracies")},
                               {"ranges", array(reference("KnownRange"))},
                               {"beyond", array(reference("BetterStep"))},
                               {"bought", array(reference("BoughtStep"))},
                               {"around", maybe("Sensitivities")},
                               {"validation", maybe("ValidationSummary")}});
  schemas["SearchResult"] = object(result);
}

}  // namespace

void add_searches(OrderedJson& schemas) {
  schemas["SearchedRow"] =
      object({{"parameter", text()}, {"rule", text()}, {"values", array(value_of_parameter())}});
  schemas["SearchedRows"] = object({{"rows", array(reference("SearchedRow"))}});
  schemas["SearchRequest"] = object({{"model", text()},
                                     {"preset?", text()},
                                     {"machine?", reference("MachineChanges")},
                                     {"fixed?", reference("MachineChanges")},
                                     {"axes?", array(reference("Axis"))},
                                     {"links?", array(reference("Link"))},
                                     {"metrics?", user_formulas()},
                                     {"objectives", array(text())},
                                     {"constraints?", array(text())},
                                     {"seconds?", integer()},
                                     {"evaluations?", integer()},
                                     {"validate_seconds?", integer()},
                                     {"seed?", integer()},
                                     {"part?", text()},
                                     {"optimiser?", one_of(optimiser_names())},
                                     {"islands?", integer()},
                                     {"sqnr_db?", number()},
                                     {"sqnr_model?", text()}});
  Properties progress = integers({"generations", "evaluated", "feasible", "compiled"});
  progress.insert(progress.end(), {{"doing", one_of({"accuracy", "search", "changes", "validation"})},
                                   {"seconds", number()},
                                   {"best", {{"anyOf", {objective_values(), {{"type", "null"}}}}}},
                                   {"trace", array(reference("BestSoFar"))}});
  schemas["SearchProgress"] = object(progress);
  Properties summary = integers({"evaluated", "feasible", "compiled", "found"});
  summary.insert(summary.end(), {{"seconds", number()},
                                 {"keeps_constraints", flag()},
                                 {"objectives", {{"anyOf", {named_objectives(), {{"type", "null"}}}}}},
                                 {"verdict", nullable(text())}});
  schemas["SearchSummary"] = object(summary);
  add_found(schemas);
  Properties item = {{"id", integer()},
                     {"model", text()},
                     {"state", job_states()},
                     {"created", text()},
                     {"progress", maybe("SearchProgress")},
                     {"error", maybe("Problem")},
                     {"request", reference("SearchRequest")},
                     {"summary", maybe("SearchSummary")}};
  schemas["SearchItem"] = object(item);
  item.emplace_back("result", maybe("SearchResult"));
  schemas["Search"] = object(item);
  schemas["Searches"] = object({{"searches", array(reference("SearchItem"))}});
}

}  // namespace sdip
