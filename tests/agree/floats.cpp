// Weights written into a model, and a model in half precision.
#include <cstring>
#include <set>

#include "core/base/encode.h"
#include "tests/agree/models.h"

namespace sdip::agree {
namespace {

using onnx::TensorProto;

void make_half(TensorProto& tensor) {
  if (tensor.data_type() != TensorProto::FLOAT) return;
  std::string raw;
  for (const float x : floats_of(tensor)) {
    const std::uint32_t code = encoded(NumberFormat::fp16, x);
    raw.push_back(static_cast<char>(code & 255));
    raw.push_back(static_cast<char>(code >> 8));
  }
  tensor.clear_float_data();
  tensor.set_data_type(TensorProto::FLOAT16);
  tensor.set_raw_data(raw);
}

void make_half(onnx::ValueInfoProto& info) {
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  if (tensor.elem_type() == TensorProto::FLOAT) tensor.set_elem_type(TensorProto::FLOAT16);
}

}  // namespace

std::vector<float> floats_of(const TensorProto& tensor) {
  if (!tensor.has_raw_data()) return {tensor.float_data().begin(), tensor.float_data().end()};
  std::vector<float> values(tensor.raw_data().size() / sizeof(float));
  std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(float));
  return values;
}

TensorProto floats_named(const std::string& name, const Shape& shape, const std::vector<float>& values) {
  TensorProto tensor;
  tensor.set_name(name);
  tensor.set_data_type(TensorProto::FLOAT);
  for (const std::int64_t size : shape) tensor.add_dims(size);
  tensor.set_raw_data(std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)));
  return tensor;
}

onnx::ModelProto with_weights(std::string_view name, const ModelOptions& options) {
  const std::string bytes = write_model(name, options);
  std::string weights;
  write_weights(bytes, 7, [&](std::span<const std::byte> piece) {
    weights.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  std::size_t at = 0;
  for (TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.data_location() != TensorProto::EXTERNAL) continue;
    std::size_t size = sizeof(float);
    for (const std::int64_t extent : tensor.dims()) size *= static_cast<std::size_t>(extent);
    tensor.clear_data_location();
    tensor.clear_external_data();
    tensor.set_raw_data(weights.substr(at, size));
    at += size;
  }
  return model;
}

void make_half(onnx::ModelProto& model) {
  auto& graph = *model.mutable_graph();
  std::set<std::string> scales;  // of Resize, float32 whatever the rest is
  for (const auto& node : graph.node())
    if (node.op_type() == "Resize") scales.insert(node.input(2));
  for (TensorProto& tensor : *graph.mutable_initializer())
    if (!scales.contains(tensor.name())) make_half(tensor);
  for (auto& info : *graph.mutable_input()) make_half(info);
  for (auto& info : *graph.mutable_output()) make_half(info);
  for (auto& node : *graph.mutable_node())
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t() && !scales.contains(node.output(0))) make_half(*attribute.mutable_t());
      if (node.op_type() == "Cast" && attribute.i() == TensorProto::FLOAT) attribute.set_i(TensorProto::FLOAT16);
    }
}

}  // namespace sdip::agree
