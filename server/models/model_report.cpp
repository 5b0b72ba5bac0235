// Reports and surveys as JSON.
#include "server/models/model_report.h"

#include <algorithm>

namespace sdip {
namespace {

OrderedJson tree_json(const LayerTree& tree) {
  OrderedJson object = {{"name", tree.name},
                        {"type", tree.type},
                        {"nodes", tree.nodes},
                        {"macs", tree.macs},
                        {"parameters", tree.parameters},
                        {"elements", tree.elements}};
  if (!tree.children.empty()) object["children"] = json_list(tree.children, tree_json);
  if (tree.omitted_children > 0) object["more"] = tree.omitted_children;
  return object;
}

OrderedJson tensors_json(const std::vector<TensorFigure>& tensors) {
  return json_list(tensors, [](const TensorFigure& one) -> OrderedJson {
    return {{"name", one.name},         {"type", element_type_text(one.type)}, {"shape", one.shape},
            {"elements", one.elements}, {"int8_bytes", one.elements},          {"fp16_bytes", 2 * one.elements}};
  });
}

OrderedJson live_json(const GraphReport& report) {
  OrderedJson list = OrderedJson::array();
  for (const LiveRule rule : live_rules) {
    const auto place = at(rule);
    const LiveFigures& live = report.live[place];
    list.push_back({{"rule", live_rule_text(rule)},
                    {"int8_bytes", live.peak_elements},
                    {"fp16_bytes", 2 * live.peak_elements},
                    {"node", report.live_nodes[place]},
                    {"intervals", live.intervals},
                    {"crossings", live.crossings}});
  }
  return list;
}

OrderedJson layers_json(const GraphReport& report) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < std::min(report.layers.size(), most_listed_layers); ++i) {
    const LayerClass& layer = report.layers[i];
    list.push_back({{"type", layer.type},
                    {"family", family_text(layer.work.family)},
                    {"work", work_text(layer.work)},
                    {"nodes", layer.nodes},
                    {"macs", layer.macs},
                    {"elements", layer.elements},
                    {"first", layer.first}});
  }
  return list;
}

OrderedJson residual_json(const ResidualFigures& residual) {
  return {{"adds", residual.adds},
          {"add_skips", residual.add_skips},
          {"concat_skips", residual.concat_skips},
          {"longest_operators", residual.longest_operators},
          {"crossings", residual.crossings},
          {"concat_held_int8_bytes", residual.concat_held_elements},
          {"concat_held_fp16_bytes", 2 * residual.concat_held_elements}};
}

OrderedJson nodes_json(const GraphReport& report) {
  return {{"imported", report.nodes},
          {"constant", report.constant_nodes},
          {"rewritten", report.rewritten_nodes},
          {"folded", report.imported.folded_nodes},
          {"composites", report.imported.composites},
          {"functions", report.imported.functions},
          {"branches", report.imported.branches},
          {"loop_iterations", report.imported.loop_iterations}};
}

OrderedJson values_json(const std::vector<SurveyedValue>& values) {
  return json_list(values, [](const SurveyedValue& value) -> OrderedJson {
    return {{"name", value.name},
            {"type", value.type},
            {"dims", value.has_shape ? OrderedJson(value.dims) : OrderedJson()}};
  });
}

std::string operator_name(const SurveyedOperator& one) {
  return one.domain.empty() ? one.type : one.domain + "::" + one.type;
}

}  // namespace

OrderedJson report_json(GraphReport report, const TreeLimits& limits) {
  cut_tree(report.tree, limits);
  OrderedJson object = {{"nodes", nodes_json(report)}};
  object["parameters"] = json_list(report.parameters, [](const ParameterCount& one) -> OrderedJson {
    return {{"type", element_type_text(one.type)},
            {"tensors", one.tensors},
            {"elements", one.elements},
            {"bytes", one.bytes()}};
  });
  object["families"] = json_list(report.families, [](const FamilyCount& one) -> OrderedJson {
    return {
        {"family", family_text(one.family)}, {"nodes", one.nodes}, {"macs", one.macs}, {"elements", one.elements}};
  });
  object["decomposed"] = json_list(report.decomposed, [](const Decomposed& one) -> OrderedJson {
    return {{"pattern", one.pattern}, {"count", one.count}, {"node", one.node}};
  });
  object["layer_classes"] = report.layers.size();
  object["layers"] = layers_json(report);
  object["activations"] = tensors_json(report.activations);
  object["weights"] = tensors_json(report.weights);
  object["live"] = live_json(report);
  object["residual"] = residual_json(report.residual);
  object["tree"] = tree_json(report.tree);
  return object;
}

OrderedJson survey_json(const ModelSurvey& survey) {
  OrderedJson object = {{"ir_version", survey.ir_version}, {"opset", survey.opset}, {"producer", survey.producer}};
  object["opsets"] = OrderedJson::array();
  for (const auto& [domain, version] : survey.domains)
    object["opsets"].push_back({{"domain", domain.empty() ? "ai.onnx" : domain}, {"version", version}});
  object["inputs"] = values_json(survey.inputs);
  object["outputs"] = values_json(survey.outputs);
  object["free_dimensions"] = survey.free_dimensions;
  object["nodes"] = survey.nodes;
  object["initializers"] = survey.initializers;
  object["subgraphs"] = survey.subgraphs;
  object["functions"] = survey.functions.size();
  object["external_files"] = survey.external_files;
  object["operators"] = json_list(survey.operators, [](const SurveyedOperator& one) -> OrderedJson {
    return {{"type", operator_name(one)}, {"count", one.nodes}, {"unsupported", one.unsupported}};
  });
  return object;
}

OrderedJson obstacles_json(const ModelSurvey& survey, const GivenSoFar& so_far, const Error& first) {
  OrderedJson object = {{"problems", OrderedJson::array()}, {"unbound", OrderedJson::array()}};
  object["unsupported"] = OrderedJson::array();
  bool told = false;
  const auto add = [&](std::string_view code, const std::string& where, const std::string& detail) {
    object["problems"].push_back({{"code", code}, {"where", where}, {"detail", detail}});
    told = told || first.code == code;
  };
  for (const SurveyedOperator& one : survey.operators) {
    if (one.unsupported.empty()) continue;
    const std::string name = operator_name(one);
    object["unsupported"].push_back(
        {{"type", name}, {"count", one.nodes}, {"node", one.first_node}, {"reason", one.unsupported}});
    add("unknown_operator", one.first_node, fmt::format("{} ({}): {}", name, one.nodes, one.unsupported));
  }
  for (const std::string& name : unbound_dimensions(survey, so_far)) {
    object["unbound"].push_back(name);
    add("unbound_dimension", name, "this dimension has no size");
  }
  if (!told) add(first.code, first.where, first.what());
  return object;
}

}  // namespace sdip
