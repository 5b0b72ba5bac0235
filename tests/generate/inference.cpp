// ONNX's own shape inference beside what import says.
#include "tests/generate/inference.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <set>

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

/// The same of a node or of one in its branches, its body, or the function that it calls.
bool has_wrong_there(const onnx::ModelProto& model, const onnx::NodeProto& node) {
  const auto any = [&](const auto& nodes) {
    return std::any_of(nodes.begin(), nodes.end(), [&](const auto& one) { return has_wrong_there(model, one); });
  };
  return is_wrong_there(node) ||
         std::any_of(node.attribute().begin(), node.attribute().end(),
                     [&](const auto& a) { return a.has_g() && any(a.g().node()); }) ||
         std::any_of(model.functions().begin(), model.functions().end(), [&](const auto& f) {
           return f.domain() == node.domain() && f.name() == node.op_type() && any(f.node());
         });
}

/// By name the shapes that libonnx infers and knows whole.
std::map<std::string, Shape> inferred_shapes(const onnx::ModelProto& model) {
  std::map<std::string, Shape> shapes;
  for (const auto* infos : {&model.graph().value_info(), &model.graph().output()})
    for (const auto& info : *infos)
      if (const auto shape = known_shape(info)) shapes[info.name()] = *shape;
  return shapes;
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
  const std::map<std::string, Shape> answers = inferred_shapes(model);
  std::map<std::string, Shape> ours;
  for (const Value& value : graph.values) ours[value.name] = value.operand.shape;
  std::set<std::string> misled;  // what libonnx has wrong, and what follows from it
  for (const auto& node : model.graph().node()) {
    const bool follows =
        std::ranges::any_of(names_read(node), [&](const auto& name) { return misled.contains(name); });
    for (const std::string& output : node.output()) {
      const auto answer = answers.find(output);
      const auto own = ours.find(output);
      const bool differs = answer != answers.end() && own != ours.end() && answer->second != own->second;
      // It keeps one element of an empty axis where a Slice goes backwards, or windows have strides.
      const bool keeps_one =
          node.op_type() == "Slice" || node.op_type() == "Conv" || node.op_type().ends_with("Pool");
      const bool of_nothing = keeps_one && differs && element_count(own->second) == 0;
      if (differs && !follows && !of_nothing && !has_wrong_there(model, node))
        return node.op_type() + ": " + shape_text(own->second) + " for " + shape_text(answer->second);
      if (follows || differs) misled.insert(output);
    }
  }
  return "";
}

}  // namespace sdip::generate
