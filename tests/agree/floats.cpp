// Weights written into a model or beside it, and a model in half precision.
#include <cstring>
#include <fstream>
#include <set>

#include "core/base/code_runs.h"
#include "core/base/error.h"
#include "tests/agree/models.h"

namespace sdip::agree {
namespace {

using onnx::TensorProto;

std::string halves_of(std::span<const float> numbers) {
  std::string raw(2 * numbers.size(), '\0');
  encode_run(NumberFormat::fp16, {}, false, numbers, reinterpret_cast<std::byte*>(raw.data()));
  return raw;
}

void make_half(TensorProto& tensor) {
  if (tensor.data_type() != TensorProto::FLOAT) return;
  tensor.set_data_type(TensorProto::FLOAT16);
  if (tensor.data_location() != TensorProto::EXTERNAL) {
    const std::string raw = halves_of(floats_of(tensor));
    tensor.clear_float_data();
    return tensor.set_raw_data(raw);
  }
  for (auto& entry : *tensor.mutable_external_data())
    if (entry.key() != "location") entry.set_value(std::to_string(std::stoll(entry.value()) / 2));
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

onnx::ModelProto with_weight_file(std::string_view name, const ModelOptions& options,
                                  const std::filesystem::path& file, bool half) {
  const std::string bytes = write_model(name, options);
  std::ofstream out(file, std::ios::binary);
  write_weights(bytes, 7, [&](std::span<const std::byte> piece) {
    std::string raw(reinterpret_cast<const char*>(piece.data()), piece.size());
    if (half) {
      std::vector<float> numbers(piece.size() / sizeof(float));
      std::memcpy(numbers.data(), piece.data(), piece.size());
      raw = halves_of(numbers);
    }
    out.write(raw.data(), std::ssize(raw));
  });
  out.close();
  check(out.good(), "the weights of a model were written");
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  for (TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
    for (auto& entry : *tensor.mutable_external_data())
      if (entry.key() == "location") entry.set_value(file.filename().string());
  if (half) make_half(model);
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
