// ONNX's own shape inference beside what import says.
#include "tests/generate/inference.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>

namespace sdip::generate {
namespace {

std::optional<Shape> known_shape(const onnx::ValueInfoProto& info) {
  if (!info.type().has_tensor_type() || !info.type().tensor_type().has_shape()) return std::nullopt;
  Shape shape;
  for (const auto& dimension : info.type().tensor_type().shape().dim()) {
    if (!dimension.has_dim_value()) return std::nullopt;
    shape.push_back(dimension.dim_value());
  }
  return shape;
}

void bind_dimensions(onnx::ModelProto& model, const std::map<std::string, std::int64_t>& dims) {
  for (auto& input : *model.mutable_graph()->mutable_input())
    for (auto& dimension : *input.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      if (dimension.has_dim_param()) dimension.set_dim_value(dims.at(dimension.dim_param()));
}

/// Where libonnx 1.12 is not what ONNX says: windows that begin behind the input (ceil_mode), frames of STFT,
/// operands of Min, Max, Sum and Mean that broadcast: [3,5,1,4] and [5,2,4] are [3,5,1,4] there.
bool is_wrong_there(const onnx::NodeProto& node) {
  const std::string& type = node.op_type();
  const bool many = type == "Min" || type == "Max" || type == "Sum" || type == "Mean";
  const auto ceils = [](const auto& a) { return a.name() == "ceil_mode" && a.i() != 0; };
  return type == "STFT" || (many && node.input_size() > 1) ||
         std::any_of(node.attribute().begin(), node.attribute().end(), ceils);
}

}  // namespace

std::string inference_difference(const Graph& graph, const Generated& given) {
  for (const auto& import : given.model.opset_import())
    if (import.domain().empty() && import.version() > 17) return "";
  onnx::ModelProto model = given.model;
  bind_dimensions(model, given.dims);
  model.mutable_graph()->clear_value_info();
  for (auto& output : *model.mutable_graph()->mutable_output()) output.clear_type();
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                       onnx::ShapeInferenceOptions(false, 0, true));
  } catch (const std::exception&) {
    return "";
  }
  std::map<std::string, Shape> answers;
  for (const auto* infos : {&model.graph().value_info(), &model.graph().output()})
    for (const auto& info : *infos)
      if (const auto shape = known_shape(info)) answers[info.name()] = *shape;
  std::map<std::string, std::string> makers;
  for (const auto& node : model.graph().node())
    for (const std::string& output : node.output())
      if (!is_wrong_there(node)) makers[output] = node.op_type();
  for (const Value& value : graph.values) {
    const auto answer = answers.find(value.name);
    if (answer == answers.end() || !makers.contains(value.name) || answer->second == value.operand.shape) continue;
    return makers[value.name] + ": " + shape_text(value.operand.shape) + " for " + shape_text(answer->second);
  }
  return "";
}

}  // namespace sdip::generate
