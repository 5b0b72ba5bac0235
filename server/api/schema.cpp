// The JSON schemas of the API, machines and metrics from their tables.
#include "server/api/openapi.h"

#include "core/cost/price/estimate.h"
#include "core/exec/run/calibration.h"
#include "core/explore/space/revision.h"
#include "core/explore/space/space.h"
#include "core/machine/machine.h"
#include "server/api/schema_parts.h"
#include "server/jobs/sweep_json.h"
#include "server/json/memory_json.h"
#include "server/json/report_json.h"
#include "server/json/tables_json.h"
#include "server/studies/comparison.h"

namespace sdip {
namespace {

using namespace schema;

Schema parameter_schema(const ParameterRow& row) {
  Schema schema;
  if (row.type == ParameterType::choice) {
    schema = one_of(row.choices);
  } else if (row.type == ParameterType::flag) {
    schema = flag();
  } else {
    schema = row.type == ParameterType::count ? integer() : number();
    schema["minimum"] = value_json(row, row.least);
    schema["maximum"] = value_json(row, row.most);
  }
  schema["description"] = row.unit.empty() ? std::string(row.en) : fmt::format("{}, {}", row.en, row.unit);
  schema["default"] = value_json(row, row.standard);
  return schema;
}

Schema machine(bool whole) {
  Properties properties;
  for (const auto& row : parameters())
    properties.emplace_back(std::string(row.name) + (whole ? "" : "?"), parameter_schema(row));
  properties.emplace_back("technology?",
                          Schema{{"type", "object"},
                                 {"additionalProperties", number()},
                                 {"description", "Figures of one's own, by row of the technology table"}});
  return object(properties);
}

Schema metric_values() {
  Properties properties;
  for (const auto& row : metrics()) {
    Schema schema = nullable(number());
    schema["description"] = row.unit.empty() ? std::string(row.en) : fmt::format("{}, {}", row.en, row.unit);
    properties.emplace_back(std::string(row.name), schema);
  }
  return object(properties);
}

Schema parameter_names() {
  Schema schema = {{"type", "string"}, {"enum", Schema::array()}};
  for (const auto& row : parameters()) schema["enum"].push_back(row.name);
  for (const auto& row : technology_parameters()) schema["enum"].push_back(row.name);
  return schema;
}

void add_tables(Schema& schemas) {
  const Schema obstacle = object({{"code", text()}, {"where", text()}, {"detail", text()}});
  const Schema unsupported = object({{"type", text()}, {"count", integer()}, {"node", text()}, {"reason", text()}});
  schemas["Problem"] = object({{"type", text()},
                               {"title", text()},
                               {"status", integer()},
                               {"code", text()},
                               {"where", text()},
                               {"detail", text()},
                               {"problems?", array(obstacle)},
                               {"unbound?", array(text())},
                               {"unsupported?", array(unsupported)},
                               {"give?", text()}});
  add_table_schemas(schemas);
  schemas["Parameters"] = object({{"parameters", array(reference("Parameter"))}});
  schemas["Technology"] = object({{"technology", array(reference("TechnologyRow"))}});
  add_schemas<FieldInfo, FieldRecord>(schemas);
  schemas["Fields"] = object({{"records", array(reference("FieldRecord"))}});
  schemas["Metrics"] = object({{"metrics", array(reference("MetricInfo"))}});
  schemas["Presets"] = object({{"presets", array(reference("Preset"))}});
  schemas["Operator"] = object({{"domain", text()},
                                {"type", text()},
                                {"mnemonic", text()},
                                {"since", text()},
                                {"family", text()},
                                {"composite", flag()},
                                {"origin", one_of({"built_in", "file"})}});
  schemas["Operators"] = object({{"operators", array(reference("Operator"))}});
  schemas["Baselines"] = object({{"baselines", array(reference("Baseline"))}});
  schemas["Machine"] = machine(true);
  schemas["MachineChanges"] = machine(false);
  schemas["MetricValues"] = metric_values();
  schemas["Version"] = object({{"version", text()}, {"signature", text()}});
  schemas["Health"] = object({{"status", one_of({"ok"})}});
  schemas["OpenApi"] = {{"type", "object"}};
}

/// Adds the schemas of a report's network.
void add_report(Schema& schemas) {
  const auto row = [](std::initializer_list<const char*> texts, std::initializer_list<const char*> counts) {
    Properties properties;
    for (const char* name : texts) properties.emplace_back(name, text());
    for (const auto& one : integers(counts)) properties.push_back(one);
    return properties;
  };
  Properties tree = row({"name", "type"}, {"nodes", "macs", "parameters", "elements"});
  tree.insert(tree.end(), {{"children?", array(reference("LayerTree"))}, {"more?", integer()}});
  schemas["LayerTree"] = object(tree);
  Properties tensor = row({"name", "type"}, {"elements", "int8_bytes", "fp16_bytes"});
  tensor.emplace_back("shape", array(integer()));
  schemas["TensorSize"] = object(tensor);
  schemas["LayerClass"] = object(row({"type", "family", "work", "first"}, {"nodes", "macs", "elements"}));
  schemas["LivePeak"] = object(row({"rule", "node"}, {"int8_bytes", "fp16_bytes", "intervals", "crossings"}));
  schemas["ModelReport"] =
      object({{"nodes", object(integers({"file", "imported", "constant", "rewritten", "folded", "composites",
                                         "functions", "branches", "loop_iterations"}))},
              {"parameters", array(object(row({"type"}, {"tensors", "elements", "bytes"})))},
              {"families", array(object(row({"family"}, {"nodes", "macs", "elements"})))},
              {"decomposed", array(object(row({"pattern", "node"}, {"count"})))},
              {"layer_classes", integer()},
              {"layers", array(reference("LayerClass"))},
              {"activations", array(reference("TensorSize"))},
              {"weights", array(reference("TensorSize"))},
              {"live", array(reference("LivePeak"))},
              {"residual", object(integers({"adds", "add_skips", "concat_skips", "longest_operators", "crossings",
                                            "concat_held_int8_bytes", "concat_held_fp16_bytes"}))},
              {"tree", reference("LayerTree")},
              {"external_files", array(text())}});
}

void add_model_facts(Schema& schemas, const Schema& origin, const Schema& kind) {
  add_report(schemas);
  schemas["TensorInfo"] =
      object({{"name", text()}, {"type", text()}, {"shape", array(integer())}, {"dims", array(text())}});
  const Properties counts = {{"ir_version", integer()},
                             {"opset", integer()},
                             {"opsets", array(object({{"domain", text()}, {"version", integer()}}))},
                             {"producer", text()},
                             {"inputs", array(reference("TensorInfo"))},
                             {"outputs", array(reference("TensorInfo"))},
                             {"parameters", integer()},
                             {"macs", object(integers({"conv", "linear", "matmul"}))},
                             {"operators", array(object({{"type", text()}, {"count", integer()}}))},
                             {"rewrites", array(object({{"pattern", text()}, {"count", integer()}}))}};
  Properties stage = {{"role", text()}, {"name", text()}};
  stage.insert(stage.end(), counts.begin(), counts.end());
  stage.emplace_back("report", reference("ModelReport"));
  schemas["StageFacts"] = object(stage);
  Properties facts = {{"name", text()}, {"title", text()}, {"origin", origin}, {"kind", kind}};
  facts.insert(facts.end(), counts.begin(), counts.end());
  facts.emplace_back("dims", Schema{{"type", "object"}, {"additionalProperties", integer()}});
  facts.emplace_back("given", Schema{{"type", "object"}, {"additionalProperties", text()}});
  facts.emplace_back("assumed", array(text()));
  facts.emplace_back("stages", array(reference("StageFacts")));
  schemas["ModelFacts"] = object(facts);
}

void add_models(Schema& schemas) {
  const Schema origin = one_of({"built_in", "uploaded"}), kind = one_of({"pipeline", "model"});
  schemas["Model"] = object({{"name", text()},
                             {"title", text()},
                             {"origin", origin},
                             {"kind", kind},
                             {"stages", array(text())},
                             {"parameters", nullable(integer())},
                             {"bytes", nullable(integer())}});
  schemas["Models"] = object({{"models", array(reference("Model"))}});
  add_model_facts(schemas, origin, kind);
}

Schema manifest_schema() {
  const Schema file = object({{"name", text()}, {"sha256", text()}});
  const Schema sweep = object({{"id", integer()},
                               {"name", text()},
                               {"created", text()},
                               {"total", integer()},
                               {"done", integer()},
                               {"feasible", integer()},
                               {"stored", nullable(array(array(integer())))},
                               {"revision", integer()},
                               {"parent", nullable(integer())},
                               {"change", or_null(reference("RevisionRequest"))}});
  return object({{"manifest", integer()},
                 {"version", text()},
                 {"signature", nullable(text())},
                 {"command", text()},
                 {"model", object({{"name", text()}, {"files", array(file)}})},
                 {"machine_sha256", text()},
                 {"sweep", sweep},
                 {"points", text()},
                 {"columns", array(object({{"name", text()}, {"unit", text()}}))},
                 {"spec", reference("SweepRequest")}});
}

void add_sweeps(Schema& schemas) {
  const Schema value = {{"type", {"number", "string", "boolean"}}};
  schemas["Axis"] = object({{"parameter", parameter_names()},
                            {"values?", array(value)},
                            {"min?", number()},
                            {"max?", number()},
                            {"step?", number()},
                            {"factor?", number()},
                            {"when?", text()}});
  schemas["Link"] = object({{"parameter", parameter_names()}, {"formula", text()}});
  schemas["SweepRequest"] = object({{"name?", text()},
                                    {"model", text()},
                                    {"preset?", text()},
                                    {"machine?", reference("MachineChanges")},
                                    {"sampling?", one_of(sampling_names())},
                                    {"seed?", integer()},
                                    {"count?", integer()},
                                    {"draws?", array(integer())},
                                    {"axes", array(reference("Axis"))},
                                    {"links?", array(reference("Link"))},
                                    {"metrics?", user_formulas()},
                                    {"objectives?", array(text())},
                                    {"constraints?", array(text())},
                                    {"formats?", text()},
                                    {"validate_seconds?", integer()}});
  schemas["RevisionRequest"] = object({{"kind", one_of(revision_names())},
                                       {"name?", text()},
                                       {"axes?", array(reference("Axis"))},
                                       {"count?", integer()},
                                       {"constraints?", array(text())}});
  add_sweep_schema(schemas);
  schemas["Manifest"] = manifest_schema();
  schemas["Sweeps"] = object({{"sweeps", array(reference("Sweep"))}});
  schemas["PointsPage"] = object({{"columns", array(text())},
                                  {"rows", array(array(cell()))},
                                  {"next", nullable(text())},
                                  {"total", integer()}});
  schemas["PointColumns"] = object({{"count", integer()},
                                    {"index", array(integer())},
                                    {"feasible", array(integer())},
                                    {"columns", {{"type", "object"}, {"additionalProperties", array(cell())}}}});
  schemas["Point"] = object({{"index", integer()},
                             {"machine", reference("Machine")},
                             {"feasible", flag()},
                             {"reason", text()},
                             {"metrics", reference("MetricValues")},
                             {"formulas", {{"type", "object"}, {"additionalProperties", nullable(number())}}},
                             {"accuracy", or_null(reference("PointAccuracy"))},
                             {"kept", or_null(reference("KeptPoint"))}});
  Schema kept = schemas["KeptPoint"] = record<KeptPoint>().schema();
  schemas["KeptPoints"] = object({{"points", array(reference("KeptPoint"))}});
  kept["properties"]["analyses"] = array(reference("Analysis"));
  kept["required"].push_back("analyses");
  schemas["KeptAnalyses"] = std::move(kept);
}

/// A measurement: its sums' ratio in decibels ("inf": nothing differs), its cosine, and of what.
Properties deviation(const Properties& of) {
  Properties properties = of;
  properties.insert(properties.end(), {{"sqnr_db", {{"type", {"number", "string", "null"}}}},
                                       {"cosine", nullable(number())},
                                       {"elements", integer()},
                                       {"not_finite", integer()}});
  return properties;
}

void add_accuracies(Schema& schemas) {
  schemas["PointAccuracy"] = object({{"sqnr_db", {{"type", {"number", "string", "null"}}}},
                                     {"cosine", nullable(number())},
                                     {"weights", one_of({"random", "file"})}});
  schemas["AccuracyRequest"] = point_request({{"calibration?", one_of(calibration_names)},
                                              {"percentile?", number()},
                                              {"samples?", integer()},
                                              {"seed?", integer()}});
  const Schema layer = object(deviation({{"value", text()}, {"instruction", text()}, {"op", text()}}));
  const Schema step = object(deviation({{"step", integer()}, {"t", number()}}));
  schemas["StageAccuracy"] = object({{"name", text()},
                                     {"role", text()},
                                     {"output", object(deviation({}))},
                                     {"steps", array(step)},
                                     {"layers", array(layer)}});
  schemas["Accuracy"] = object(deviation({{"model", text()},
                                          {"machine", reference("Machine")},
                                          {"formats", text()},
                                          {"weights", one_of({"random", "file"})},
                                          {"seed", integer()},
                                          {"calibration", text()},
                                          {"percentile", number()},
                                          {"samples", integer()},
                                          {"stages", array(reference("StageAccuracy"))}}));
  schemas["AccuracyJob"] = object({{"id", integer()},
                                   {"state", one_of({"queued", "running", "done", "failed"})},
                                   {"progress", number()},
                                   {"model", text()},
                                   {"error", or_null(reference("Problem"))},
                                   {"result", or_null(reference("Accuracy"))}});
}

}  // namespace

Schema point_request(const Properties& more) {
  Properties all = {
      {"model", text()}, {"preset?", text()}, {"machine?", reference("MachineChanges")}, {"formats?", text()}};
  all.insert(all.end(), more.begin(), more.end());
  return object(all);
}

Schema user_formulas() {
  const Schema either = {{"anyOf", {text(), object({{"formula", text()}, {"unit?", text()}})}}};
  return {{"type", "object"}, {"additionalProperties", either}};
}

OrderedJson component_schemas() {
  Schema schemas = Schema::object();
  add_tables(schemas);
  add_models(schemas);
  schemas["AnalysisRequest"] = point_request({{"instructions?", flag()}});
  add_analysis_schemas(schemas);
  add_memory_schemas(schemas);
  add_explanations(schemas);
  add_chips(schemas);
  schemas["ComparisonRequest"] = point_request({{"baselines?", array(text())},
                                                {"devices?", array({{"type", "object"}})},
                                                {"presets?", array(text())},
                                                {"batches?", array(integer())},
                                                {"node?", text()},
                                                {"vary?", {{"type", "object"}}}});
  add_comparison_schemas(schemas);
  add_sweeps(schemas);
  add_fronts(schemas);
  add_validations(schemas);
  add_searches(schemas);
  add_accuracies(schemas);
  return schemas;
}

}  // namespace sdip
