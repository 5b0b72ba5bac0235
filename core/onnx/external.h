// Weights in other files: what a model says of where they lie, checked as text; no file is opened. Internal to its
// room.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>

#include "core/onnx/import.h"

namespace sdip {

/// Where a tensor's data lie, as it says. `bytes` is what its shape needs. Throws Error("invalid_graph", "", ...)
/// without a location, for a key that stands twice, for an offset or length that is no number, or a length that is
/// not `bytes`.
WeightBytes external_bytes(const onnx::TensorProto& tensor, const std::string& what, std::int64_t bytes);

/// Checks that tensors in one file lie side by side, or on the very same bytes, as tied weights do: initializers
/// and constants of the graph, its subgraphs and functions. Throws Error("invalid_graph", "", ...) naming two that
/// overlap, and what external_bytes throws.
void check_external(const onnx::ModelProto& model, const ImportOptions& options);

}  // namespace sdip
