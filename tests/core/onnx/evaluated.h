// Models evaluated and their outputs compared: what the tests of whole operators share.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/core/onnx/build.h"

#include "core/onnx/tensor.h"

namespace sdip {

/// The values of a tensor that has not been through the walk that says where its data lie. Throws
/// Error("no_values", ...).
inline Tensor tensor_of(onnx::TensorProto proto) {
  proto.mutable_segment()->set_begin(0);
  proto.mutable_segment()->set_end(0);
  ReadTensor read = read_tensor(proto, "tensor", {}, std::int64_t{1} << 40);
  if (!read.operand.value) throw Error("no_values", proto.name(), "its values cannot be read");
  return std::move(*read.operand.value);
}

/// How near numbers are that count as equal.
struct Nearness {
  double relative = 0, floor = 0;
};

/// Nothing when types, shapes and integers are equal and floats near.
inline std::string difference(const Tensor& found, const Tensor& wanted, Nearness nearness) {
  if (found.type != wanted.type) return "type " + std::string(element_type_text(found.type));
  if (found.shape != wanted.shape) return "shape " + shape_text(found.shape) + " for " + shape_text(wanted.shape);
  for (std::size_t i = 0; i < wanted.ints.size(); ++i) {
    if (found.ints.at(i) != wanted.ints[i]) {
      return "element " + std::to_string(i) + ": " + std::to_string(found.ints[i]) + " for " +
             std::to_string(wanted.ints[i]);
    }
  }
  for (std::size_t i = 0; i < wanted.floats.size(); ++i) {
    const double a = found.floats.at(i), b = wanted.floats[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                      std::fabs(a - b) <= nearness.floor + nearness.relative * std::fabs(b);
    if (!same) return "element " + std::to_string(i) + ": " + std::to_string(a) + " for " + std::to_string(b);
  }
  return "";
}

/// Values of initializers and constants by name.
inline std::function<std::optional<Tensor>(const Value&)> stored_tensors(const std::string& bytes) {
  auto model = std::make_shared<onnx::ModelProto>();
  model->ParseFromString(bytes);
  return [model](const Value& value) -> std::optional<Tensor> {
    for (const auto& tensor : model->graph().initializer()) {
      if (tensor.name() == value.name) return tensor_of(tensor);
    }
    for (const auto& node : model->graph().node()) {
      if (node.op_type() == "Constant" && node.output(0) == value.name) return tensor_of(node.attribute(0).t());
    }
    return std::nullopt;
  };
}

/// The outputs of a model for values of what it takes; a model that takes nothing is given nothing. Throws what
/// import and compute throw.
inline std::vector<Tensor> outputs_of(const std::string& bytes, const std::vector<Tensor>& inputs) {
  const Graph graph = import_bytes(bytes);
  return compute(graph, graph.inputs.empty() ? std::vector<Tensor>() : inputs, stored_tensors(bytes));
}

}  // namespace sdip
