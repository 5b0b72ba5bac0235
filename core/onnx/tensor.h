// One tensor of a model: its type and shape, where its bytes lie, and its values when it is small.
#pragma once

#include <onnx/onnx_pb.h>

#include <optional>
#include <string>

#include "core/graph/graph.h"
#include "core/onnx/import.h"

namespace sdip {

struct ReadTensor {
  Operand operand;
  WeightBytes bytes;
};

/// Sizes checked: as many as `most_rank`, each in 0..2^40. `what` names the tensor in errors.
/// Throws Error("limit_exceeded" | "invalid_graph" | "model_too_large", "", ...).
void check_shape(const Shape& shape, const std::string& what, const ImportOptions& options);

/// The elements that stand in a message, raw or in a field of their own; nothing where they are not as many as the
/// shape says. Requires no strings.
std::optional<Tensor> elements_of(const onnx::TensorProto& tensor, ElementType type, const Shape& shape);

/// Reads what slim_model left of a tensor; its values when there are at most `most_elements`. Data of another
/// length than the shape needs are refused, read or not. Throws Error("invalid_graph" | "limit_exceeded" |
/// "model_too_large", "", ...).
ReadTensor read_tensor(const onnx::TensorProto& tensor, const std::string& what, const ImportOptions& options,
                       std::int64_t most_elements = most_folded_elements);

}  // namespace sdip
