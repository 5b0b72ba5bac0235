// Facts of models as JSON.
#include "server/model_facts.h"

#include "core/workload/workload.h"
#include "server/stages.h"

namespace sdip {
namespace {

OrderedJson values_json(const Graph& graph, const std::vector<ValueId>& ids) {
  OrderedJson values = OrderedJson::array();
  for (const ValueId id : ids) {
    const auto& value = graph.values[static_cast<std::size_t>(id)];
    values.push_back(
        {{"name", value.name}, {"type", element_type_text(value.operand.type)}, {"shape", value.operand.shape}});
  }
  return values;
}

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

OrderedJson member_facts(const Catalog& catalog, const Member& member, Totals& totals) {
  const ReadModel model = catalog.read(member, {});
  const Graph& graph = model.as_written;
  GraphFacts facts = facts_of(graph);
  const ModelRow* row = member.file.empty() ? find_model(member.name) : nullptr;
  if (row) facts.parameters = row->parameters;
  OrderedJson object = {{"role", role_text(member.role)},
                        {"name", member.name},
                        {"opset", graph.opset},
                        {"producer", graph.producer},
                        {"inputs", values_json(graph, graph.inputs)},
                        {"outputs", values_json(graph, graph.outputs)}};
  const RewriteCounts& patterns = model.rewrites;
  add(totals, facts, patterns);
  add_counts(object, facts, patterns);
  return object;
}

std::string_view title_of(const std::string& name) {
  if (const PipelineRow* row = find_pipeline(name)) return row->title;
  if (const ModelRow* row = find_model(name)) return row->title;
  return name;
}

}  // namespace

OrderedJson model_facts(const Catalog& catalog, const std::string& name, const std::vector<Member>& members) {
  Totals totals;
  OrderedJson stages = OrderedJson::array();
  for (const auto& member : members) stages.push_back(member_facts(catalog, member, totals));
  OrderedJson object = {{"name", name},
                        {"title", title_of(name)},
                        {"origin", is_built_in(name) ? "built_in" : "uploaded"},
                        {"kind", find_pipeline(name) ? "pipeline" : "model"},
                        {"opset", stages.front()["opset"]},
                        {"producer", stages.front()["producer"]},
                        {"inputs", stages.front()["inputs"]},
                        {"outputs", stages.back()["outputs"]}};
  add_counts(object, totals.facts, totals.patterns);
  object["dims"] = members.front().dims;
  object["stages"] = std::move(stages);
  return object;
}

Dims dims_of_facts(const std::string& facts_json) { return Json::parse(facts_json).at("dims").get<Dims>(); }

}  // namespace sdip
