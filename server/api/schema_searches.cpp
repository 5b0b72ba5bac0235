// The JSON schemas of searches for the best machine.
#include "core/explore/search/search.h"
#include "server/api/schema_parts.h"
#include "server/studies/best_json.h"

namespace sdip {
namespace {

using namespace schema;

/// Values of the goal's objectives, in its order.
Schema objective_values() { return array(nullable(number())); }

void add_found(OrderedJson& schemas) {
  schemas["BestSoFar"] =
      object({{"evaluated", integer()}, {"values", objective_values()}, {"volume?", nullable(number())}});
  schemas["FormatSet"] = object({{"formats", reference("MachineChanges")}, {"sqnr_db", number()}});
  schemas["FormatAccuracies"] = object({{"model", text()},
                                        {"weights", one_of({"random", "file"})},
                                        {"measured", integer()},
                                        {"sets", array(reference("FormatSet"))},
                                        {"sqnr_db", nullable(number())}});
  schemas["WorkloadWorth"] =
      object({{"model", text()}, {"weight", number()}, {"metrics", reference("MetricValues")}});
}

}  // namespace

void add_searches(OrderedJson& schemas) {
  schemas["SearchedRow"] =
      object({{"parameter", text()}, {"rule", text()}, {"values", array(Written<RowValue>::schema())}});
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
                                   {"best", or_null(objective_values())},
                                   {"reference?", or_null(objective_values())},
                                   {"trace", array(reference("BestSoFar"))}});
  schemas["SearchProgress"] = object(progress);
  Properties summary = integers({"evaluated", "feasible", "compiled", "found"});
  summary.insert(summary.end(), {{"seconds", number()},
                                 {"keeps_constraints", flag()},
                                 {"objectives", or_null(Written<NamedFigures>::schema())},
                                 {"verdict", nullable(text())}});
  schemas["SearchSummary"] = object(summary);
  add_found(schemas);
  add_search_schemas(schemas);
  Properties item = job_row(reference("SearchRequest"), "SearchProgress", "SearchSummary");
  schemas["SearchItem"] = object(item);
  item.emplace_back("result", or_null(reference("SearchResult")));
  schemas["Search"] = object(item);
  schemas["Searches"] = object({{"searches", array(reference("SearchItem"))}});
}

}  // namespace sdip
