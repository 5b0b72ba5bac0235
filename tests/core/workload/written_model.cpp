// Reading written models back, with libonnx for the shapes.
#include "tests/core/workload/written_model.h"

#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <set>
#include <stdexcept>

namespace sdip::test {
namespace {

using Shapes = std::map<std::string, std::vector<std::int64_t>>;

bool external(const onnx::TensorProto& tensor) { return tensor.data_location() == onnx::TensorProto::EXTERNAL; }

std::int64_t elements(const onnx::TensorProto& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.dims()) count *= extent;
  return count;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void note(Shapes& shapes, const onnx::ValueInfoProto& info) {
  std::vector<std::int64_t> shape;
  for (const auto& dim : info.type().tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) throw std::runtime_error(info.name() + " has an unknown extent");
    shape.push_back(dim.dim_value());
  }
  shapes[info.name()] = shape;
}

Shapes shapes_of(onnx::ModelProto model) {
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     onnx::ShapeInferenceOptions(true, 1, false));
  Shapes shapes;
  for (const auto& info : model.graph().input()) note(shapes, info);
  for (const auto& info : model.graph().value_info()) note(shapes, info);
  for (const auto& info : model.graph().output()) note(shapes, info);
  for (const auto& tensor : model.graph().initializer()) {
    shapes[tensor.name()] = {tensor.dims().begin(), tensor.dims().end()};
  }
  return shapes;
}

}  // namespace

onnx::ModelProto read_model(const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes)) throw std::runtime_error("not ONNX");
  return model;
}

onnx::ModelProto written(std::string_view name, const ModelOptions& options) {
  return read_model(write_model(name, options));
}

std::int64_t parameters_of(const onnx::ModelProto& model) {
  std::int64_t count = 0;
  for (const auto& tensor : model.graph().initializer()) {
    const bool buffer = ends_with(tensor.name(), "running_mean") || ends_with(tensor.name(), "running_var");
    if (external(tensor) && !buffer) count += elements(tensor);
  }
  return count;
}

MacCount macs_of(const onnx::ModelProto& model) {
  const Shapes shapes = shapes_of(model);
  std::set<std::string> constants;
  for (const auto& tensor : model.graph().initializer()) constants.insert(tensor.name());
  MacCount count;
  for (const auto& node : model.graph().node()) {
    const std::string& op = node.op_type();
    if (op != "Conv" && op != "MatMul" && op != "Gemm") continue;
    const auto& weights = shapes.at(node.input(1));
    std::int64_t macs = 1;
    for (const std::int64_t extent : shapes.at(node.output(0))) macs *= extent;
    if (op == "Conv") macs *= weights[1] * weights[2] * weights[3];
    if (op == "MatMul") macs *= weights[weights.size() - 2];
    if (op == "Gemm") macs *= weights[1];
    (op == "MatMul" && constants.count(node.input(1)) == 0 ? count.attention : count.weighted) += macs;
  }
  return count;
}

onnx::ModelProto without_weights(const onnx::ModelProto& model) {
  onnx::ModelProto bare = model;
  bare.mutable_graph()->clear_initializer();
  for (const auto& tensor : model.graph().initializer()) {
    if (!external(tensor)) {
      *bare.mutable_graph()->add_initializer() = tensor;
      continue;
    }
    onnx::ValueInfoProto& input = *bare.mutable_graph()->add_input();
    input.set_name(tensor.name());
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    for (const std::int64_t extent : tensor.dims()) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return bare;
}

std::map<std::string, int> op_histogram(const onnx::ModelProto& model) {
  std::map<std::string, int> histogram;
  for (const auto& node : model.graph().node()) ++histogram[node.op_type()];
  return histogram;
}

std::vector<std::vector<std::int64_t>> kernel_shapes(const onnx::ModelProto& model) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (const auto& tensor : model.graph().initializer()) {
    if (!external(tensor) || tensor.data_type() != onnx::TensorProto::FLOAT || elements(tensor) < 1024) continue;
    std::vector<std::int64_t> shape;
    for (const std::int64_t extent : tensor.dims()) {
      if (extent > 1) shape.push_back(extent);
    }
    if (shape.size() < 2) continue;
    std::sort(shape.begin(), shape.end());
    shapes.push_back(shape);
  }
  std::sort(shapes.begin(), shapes.end());
  return shapes;
}

}  // namespace sdip::test
