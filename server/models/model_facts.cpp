// Facts of models as JSON.
#include "server/models/model_facts.h"

#include <algorithm>

#include "core/workload/workload.h"
#include "server/models/model_report.h"

namespace sdip {
namespace {

/// Values with their shapes, and their dimensions as the file declares them.
OrderedJson values_json(const Graph& graph, const std::vector<ValueId>& ids,
                        const std::vector<SurveyedValue>& declared) {
  OrderedJson values = OrderedJson::array();
  for (const ValueId id : ids) {
    const auto& value = graph.values[id];
    const auto found = std::ranges::find(declared, value.name, &SurveyedValue::name);
    OrderedJson dims = OrderedJson::array();
    if (found != declared.end() && found->dims.size() == value.operand.shape.size())
      dims = found->dims;
    else
      for (const std::int64_t size : value.operand.shape) dims.push_back(std::to_string(size));
    values.push_back({{"name", value.name},
                      {"type", element_type_text(value.operand.type)},
                      {"shape", value.operand.shape},
                      {"dims", std::move(dims)}});
  }
  return values;
}

OrderedJson opsets_json(const ModelSurvey& survey) { return survey_json(survey)["opsets"]; }

/// Sums of several members.
struct Totals {
  GraphFacts facts;
  std::map<std::string, std::int64_t> patterns;
};

void add(Totals& totals, const GraphFacts& facts, const RewriteCounts& patterns) {
  totals.facts.parameters += facts.parameters;
  totals.facts.macs_conv += facts.macs_conv;
  totals.facts.macs_linear += facts.macs_linear;
  totals.facts.macs_matmul += facts.macs_matmul;
  for (const auto& [type, count] : facts.operator_counts) totals.facts.operator_counts[type] += count;
  for (const auto& [pattern, count] : patterns) totals.patterns[pattern] += count;
}

void add_counts(OrderedJson& object, const GraphFacts& facts, const auto& patterns) {
  object["parameters"] = facts.parameters;
  object["macs"] = {{"conv", facts.macs_conv}, {"linear", facts.macs_linear}, {"matmul", facts.macs_matmul}};
  object["operators"] = OrderedJson::array();
  for (const auto& [type, count] : facts.operator_counts)
    object["operators"].push_back({{"type", type}, {"count", count}});
  object["rewrites"] = OrderedJson::array();
  for (const auto& [pattern, count] : patterns)
    object["rewrites"].push_back({{"pattern", pattern}, {"count", count}});
}

/// A core's network predicts noise, or says why it cannot.
void check_core(const Member& member, const Graph& graph) {
  if (member.role != Role::core || is_built_in(member)) return;
  Machine machine;
  machine.guidance = Guidance::off;  // a file has its own batch
  Graph copy = graph;
  append_step(copy, machine);
}

OrderedJson member_facts(const Catalog& catalog, const Member& member, Totals& totals, const TreeLimits& limits) {
  const ReadModel model = catalog.read(member, {});
  const ModelSurvey survey = catalog.survey(member, {});
  const Graph& graph = model.as_written;
  OrderedJson object = {{"role", role_text(member.role)},
                        {"name", member.name},
                        {"ir_version", survey.ir_version},
                        {"opset", graph.opset},
                        {"opsets", opsets_json(survey)},
                        {"producer", graph.producer},
                        {"inputs", values_json(graph, graph.inputs, survey.inputs)},
                        {"outputs", values_json(graph, graph.outputs, survey.outputs)}};
  GraphReport report = report_of(graph, model.rewritten, model.rewrites);
  check_core(member, graph);
  const ModelRow* row = is_built_in(member) ? find_model(member.name) : nullptr;
  if (row) report.facts.parameters = row->parameters;
  add(totals, report.facts, report.rewrites);
  add_counts(object, report.facts, report.rewrites);
  object["report"] = report_json(std::move(report), limits);
  object["report"]["nodes"]["file"] = survey.nodes;
  object["report"]["external_files"] = survey.external_files;
  object["assumed"] = survey.assumed;
  return object;
}

std::string_view title_of(const std::string& name) {
  if (const PipelineRow* row = find_pipeline(name)) return row->title;
  if (const ModelRow* row = find_model(name)) return row->title;
  return name;
}

}  // namespace

OrderedJson model_facts(const Catalog& catalog, const std::string& name, const std::vector<Member>& members,
                        const TreeLimits& limits) {
  Totals totals;
  OrderedJson stages = OrderedJson::array();
  for (const auto& member : members) stages.push_back(member_facts(catalog, member, totals, limits));
  OrderedJson object = {{"name", name},
                        {"title", title_of(name)},
                        {"origin", is_built_in(name) ? "built_in" : "uploaded"},
                        {"kind", find_pipeline(name) ? "pipeline" : "model"}};
  for (const char* key : {"ir_version", "opset", "opsets", "producer", "inputs"}) object[key] = stages.front()[key];
  object["outputs"] = stages.back()["outputs"];
  add_counts(object, totals.facts, totals.patterns);
  object["dims"] = members.front().dims;
  object["given"] = OrderedJson(members.front().given);
  object["assumed"] = stages.front()["assumed"];
  for (auto& stage : stages) stage.erase("assumed");
  object["stages"] = std::move(stages);
  return object;
}

OrderedJson refused_model(const Catalog& catalog, const Member& member, const Error& error,
                          std::optional<Asking> asking) {
  const Asking way = asking.value_or(catalog.asking());
  OrderedJson object = {{"name", member.name}};
  try {
    const ModelSurvey survey = catalog.survey(member, {});
    object["survey"] = survey_json(survey);
    const GivenSoFar so_far{member.dims, member.given};
    const Error told = advised(error, survey, so_far, way);
    object.update(obstacles_json(survey, so_far, told));
    object["detail"] = told.what();
    object["give"] = to_give(survey, so_far, error, way);
  } catch (const Error&) {  // bytes that are no model: `error` says it
    object["problems"] = {{{"code", error.code}, {"where", error.where}, {"detail", error.what()}}};
    object["unbound"] = OrderedJson::array();
    object["unsupported"] = OrderedJson::array();
    object["detail"] = error.what();
    object["give"] = "";
  }
  return object;
}

Json facts_head(const std::string& facts_json) {
  return Json::parse(facts_json, [](int depth, Json::parse_event_t event, Json& parsed) {
    return depth != 1 || event != Json::parse_event_t::key || parsed != "stages";
  });
}

Member member_of_facts(const std::string& facts_json) {
  const Json facts = Json::parse(facts_json);
  Member member;
  member.role = role_named(facts.at("stages").at(0).at("role").get<std::string>(), "role");
  member.dims = facts.at("dims").get<Dims>();
  member.given = facts.value("given", Given());
  return member;
}

std::vector<std::string> assumed_in_facts(const std::string& facts_json) {
  return facts_head(facts_json).value("assumed", std::vector<std::string>());
}

std::vector<std::string> notes_of(const Member& member, const std::vector<std::string>& assumed) {
  std::vector<std::string> notes;
  for (const std::string& name : assumed)
    notes.push_back(
        member.name + ": dimension '" + name +
        "' of the inputs has no size in the file; it stands first, as a batch does, and is taken for 1.");
  for (const auto& [name, value] : member.given)
    notes.push_back(fmt::format("{}: input '{}' is the constant {}.", member.name, name, value.substr(0, 80)));
  return notes;
}

}  // namespace sdip
