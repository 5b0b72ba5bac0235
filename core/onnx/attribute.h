// Attributes of a node, from ONNX's messages.
#pragma once

#include <onnx/onnx_pb.h>

#include <string>

#include "core/onnx/import.h"

namespace sdip {

/// By name. Throws Error("invalid_graph" | "unsupported_attribute" | ...) when a name stands twice or a kind of
/// value is not supported (subgraphs, sparse tensors, types).
Attributes read_attributes(const onnx::NodeProto& node, const std::string& name, const ImportOptions& options);

}  // namespace sdip
