// A survey of what a model's file says of itself.
#include "core/onnx/survey.h"

#include <google/protobuf/arena.h>

#include <set>

#include "core/onnx/inputs.h"
#include "core/onnx/model_message.h"
#include "core/onnx/reading.h"
#include "core/onnx/versions.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

using Opsets = std::map<std::string, std::int64_t>;

struct Surveying {
  ModelSurvey found;
  std::map<std::pair<std::string, std::string>, SurveyedOperator> operators;
  std::map<FunctionName, std::size_t> functions;  // where in found.functions
  std::set<std::string> files;
  const OwnOperators* own = nullptr;
};

/// The opsets of a file. A survey refuses nothing: where a domain stands in two versions it takes the first.
Opsets opsets_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports) {
  Opsets opsets;
  for (const auto& import : imports) opsets.emplace(domain_of(import.domain()), import.version());
  return opsets;
}

void note_tensor(Surveying& survey, const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") survey.files.insert(entry.value());
  }
}

void survey_nodes(Surveying& survey, const Nodes& nodes, const Opsets& opsets);

void note_attributes(Surveying& survey, const onnx::NodeProto& node, const Opsets& opsets) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_t()) note_tensor(survey, attribute.t());
    if (!attribute.has_g()) continue;
    survey.found.subgraphs += 1;
    survey.found.initializers += attribute.g().initializer_size();
    for (const auto& tensor : attribute.g().initializer()) note_tensor(survey, tensor);
    survey_nodes(survey, attribute.g().node(), opsets);
  }
}

void survey_nodes(Surveying& survey, const Nodes& nodes, const Opsets& opsets) {
  survey.found.nodes += nodes.size();
  for (int i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    note_attributes(survey, node, opsets);
    if (const auto called = survey.functions.find(function_called(node)); called != survey.functions.end()) {
      survey.found.functions[called->second].calls += 1;
      continue;
    }
    const std::string domain(domain_of(node.domain()));
    SurveyedOperator& counted = survey.operators[{domain, node.op_type()}];
    if (counted.nodes++ == 0) {
      counted.domain = domain;
      counted.type = node.op_type();
      counted.first_node = own_name(node, i);
    }
    if (counted.unsupported.empty() && !is_control(node))
      counted.unsupported = why_unsupported(node, opsets, survey.own);
  }
}

SurveyedValue surveyed(const onnx::ValueInfoProto& value) {
  const auto& declared = value.type().tensor_type();
  const auto type = element_type_of_onnx(declared.elem_type());
  SurveyedValue found;
  found.name = value.name();
  if (type) found.type = element_type_text(*type);
  found.has_shape = declared.has_shape();
  for (int axis = 0; axis < declared.shape().dim_size(); ++axis) {
    const auto& dimension = declared.shape().dim(axis);
    found.dims.push_back(has_size(dimension) ? std::to_string(dimension.dim_value())
                                             : dimension_name(dimension, value.name(), axis));
  }
  return found;
}

void note_values(ModelSurvey& found, const onnx::GraphProto& graph) {
  std::set<std::string> seen;
  for (const auto* input : free_inputs(graph)) {
    found.inputs.push_back(surveyed(*input));
    const auto& shape = input->type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      const std::string& name = found.inputs.back().dims[at(axis)];
      if (!has_size(shape.dim(axis)) && seen.insert(name).second) found.free_dimensions.push_back(name);
    }
  }
  for (const auto& output : graph.output()) found.outputs.push_back(surveyed(output));
}

void note_functions(Surveying& survey, const onnx::ModelProto& model) {
  for (const auto& function : model.functions()) {
    const auto [domain, name, overload] = name_of(function);
    survey.functions.emplace(name_of(function), survey.found.functions.size());
    survey.found.functions.push_back({domain, name, overload, function.node_size(), 0});
  }
}

}  // namespace

ModelSurvey survey_onnx(std::span<const std::byte> bytes, const ImportOptions& options) {
  google::protobuf::Arena arena;
  const onnx::ModelProto& model = model_message(bytes, options, arena);
  const auto& graph = model.graph();
  const Opsets opsets = opsets_of(model.opset_import());
  Surveying survey;
  survey.own = options.own_operators.get();
  survey.found.ir_version = model.ir_version();
  survey.found.opset = opsets.contains("") ? opsets.at("") : 0;
  survey.found.producer =
      model.producer_name() + (model.producer_version().empty() ? "" : " " + model.producer_version());
  survey.found.graph = graph.name();
  survey.found.domains.assign(opsets.begin(), opsets.end());
  note_values(survey.found, graph);
  survey.found.assumed = assumed_dimensions(graph, options);
  note_functions(survey, model);
  survey.found.initializers = graph.initializer_size();
  for (const auto& tensor : graph.initializer()) note_tensor(survey, tensor);
  survey_nodes(survey, graph.node(), opsets);
  for (const auto& function : model.functions()) {
    survey_nodes(survey, function.node(), opsets_of(function.opset_import()));
  }
  for (auto& [name, found] : survey.operators) survey.found.operators.push_back(std::move(found));
  survey.found.external_files.assign(survey.files.begin(), survey.files.end());
  return std::move(survey.found);
}

}  // namespace sdip
