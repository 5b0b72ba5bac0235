// The JSON schemas of validations.
#include "core/explore/validate.h"
#include "db/store.h"
#include "server/api/schema_parts.h"

namespace sdip {
namespace {

using namespace schema;

Schema verdicts() { return one_of({"pass", "differs", "not_compared"}); }

Schema counter_names() {
  Schema names = {{"type", "string"}, {"enum", Schema::array()}};
  for (const CounterRow& row : counter_rows()) names["enum"].push_back(row.name);
  return names;
}

void add_requests(OrderedJson& schemas, const Schema& first) {
  schemas["FirstDifference"] = object({{"kind", one_of({"counter", "tensor", "execution"})},
                                       {"stage", text()},
                                       {"pass", nullable(integer())},
                                       {"instruction", nullable(integer())},
                                       {"layer", text()},
                                       {"what", text()},
                                       {"estimated", nullable(number())},
                                       {"executed", nullable(number())},
                                       {"point?", integer()}});
  schemas["Coverage"] =
      object(integers({"instructions", "instructions_compared", "classes", "classes_compared", "classes_executed",
                       "values", "tile_operations", "elements", "differences", "overflows"}));
  schemas["ValidationRequest"] = point_request({{"layers?", array(text())},
                                                {"passes?", integer()},
                                                {"tensors?", flag()},
                                                {"seed?", integer()},
                                                {"seconds?", integer()}});
  schemas["ValidationSummary"] = object({{"feasible", flag()},
                                         {"reason", text()},
                                         {"verdict", verdicts()},
                                         {"passed", flag()},
                                         {"seconds", number()},
                                         {"first_difference", first},
                                         {"coverage", reference("Coverage")}});
  schemas["ValidationProgress"] = object({{"doing", text()}, {"done", integer()}, {"total", integer()}});
}

void add_counters(OrderedJson& schemas) {
  const Schema totals = array(nullable(integer())), rows = array(array(integer()));
  schemas["ComparedPass"] = object({{"number", integer()},
                                    {"estimated", totals},
                                    {"executed", totals},
                                    {"instructions_estimated?", rows},
                                    {"instructions_executed?", rows}});
  schemas["Peak"] = object({{"name", text()}, {"estimated", integer()}, {"executed", nullable(integer())}});
  Properties stage = integers({"instructions", "classes", "classes_compared", "simulated_passes", "tile_operations",
                               "values", "differences"});
  stage.insert(stage.end(), {{"name", text()},
                             {"role", text()},
                             {"left_out", text()},
                             {"repeats", flag()},
                             {"passes", array(reference("ComparedPass"))},
                             {"peaks", array(reference("Peak"))},
                             {"index", array(integer())},
                             {"layers", array(text())},
                             {"operations", array(text())}});
  schemas["StageCounters"] = object(stage);
}

void add_tensors(OrderedJson& schemas) {
  schemas["TensorDifference"] =
      object({{"element", integer()}, {"executed", nullable(number())}, {"expected", nullable(number())}});
  schemas["LayerTensors"] = object({{"index", integer()},
                                    {"name", text()},
                                    {"op", text()},
                                    {"left_out", text()},
                                    {"failure", text()},
                                    {"operations", number()},
                                    {"elements", integer()},
                                    {"differing", integer()},
                                    {"unsettled", integer()},
                                    {"allowed", number()},
                                    {"largest_error", number()},
                                    {"overflows", flag()},
                                    {"first", or_null(reference("TensorDifference"))}});
  schemas["StageTensors"] = object({{"stage", text()},
                                    {"classes", integer()},
                                    {"compared", integer()},
                                    {"differences", integer()},
                                    {"overflows", integer()},
                                    {"layers", array(reference("LayerTensors"))}});
}

void add_jobs(OrderedJson& schemas, const Schema& first) {
  schemas["ValidationResult"] = object({{"model", text()},
                                        {"machine", reference("Machine")},
                                        {"feasible", flag()},
                                        {"reason", text()},
                                        {"verdict", verdicts()},
                                        {"passed", flag()},
                                        {"seconds", number()},
                                        {"first_difference", first},
                                        {"coverage", reference("Coverage")},
                                        {"counters", array(object({{"name", counter_names()}, {"unit", text()}}))},
                                        {"stages", array(reference("StageCounters"))},
                                        {"tensors", array(reference("StageTensors"))}});
  const Properties job = {{"id", integer()},
                          {"model", text()},
                          {"state", job_states()},
                          {"created", text()},
                          {"progress", or_null(reference("ValidationProgress"))},
                          {"error", or_null(reference("Problem"))}};
  const auto with = [&](Properties more) {
    more.insert(more.begin(), job.begin(), job.end());
    return object(more);
  };
  const Schema summary = or_null(reference("ValidationSummary"));
  schemas["ValidationItem"] = with({{"request", reference("ValidationRequest")}, {"summary", summary}});
  schemas["Validation"] = with({{"request", reference("ValidationRequest")},
                                {"summary", summary},
                                {"result", or_null(reference("ValidationResult"))}});
  schemas["Validations"] = object({{"validations", array(reference("ValidationItem"))}});
  Properties front = integers({"budget_s", "points", "points_covered", "programs", "classes", "classes_executed",
                               "values", "differences", "overflows"});
  front.insert(front.end(),
               {{"verdict", verdicts()}, {"passed", flag()}, {"seconds", number()}, {"first_difference", first}});
  schemas["FrontSummary"] = object(front);
  const Schema request = object({{"seconds", integer()}});
  schemas["SweepValidation"] = with({{"request", request}, {"summary", or_null(reference("FrontSummary"))}});
  schemas["FrontPoint"] = object({{"index", integer()},
                                  {"covered", flag()},
                                  {"verdict", verdicts()},
                                  {"passed", flag()},
                                  {"coverage", reference("Coverage")},
                                  {"first_difference", first}});
  schemas["FrontValidation"] = with({{"request", request},
                                     {"summary", or_null(reference("FrontSummary"))},
                                     {"points", array(reference("FrontPoint"))}});
}

}  // namespace

Schema job_states() {
  Schema schema = {{"type", "string"}, {"enum", Schema::array()}};
  for (const auto state : {SweepState::queued, SweepState::running, SweepState::done, SweepState::cancelled,
                           SweepState::failed, SweepState::interrupted})
    schema["enum"].push_back(sweep_state_text(state));
  return schema;
}

void add_validations(OrderedJson& schemas) {
  const Schema first = or_null(reference("FirstDifference"));
  add_requests(schemas, first);
  add_counters(schemas);
  add_tensors(schemas);
  add_jobs(schemas, first);
}

}  // namespace sdip
