// Attributes of a node, from ONNX's messages. Internal to its room.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

#include "core/onnx/import.h"

namespace sdip {

/// The values in a call of those of a function's attributes that its body refers to by ref_attr_name. One without a
/// value, given or default, is absent.
using AttributeEnvironment = std::map<std::string, const onnx::AttributeProto*, std::less<>>;

/// The attribute itself, or that of the call which it refers to; nullptr when that has no value. Throws
/// Error("unsupported_attribute" | "invalid_graph").
const onnx::AttributeProto* resolved_attribute(const onnx::AttributeProto& attribute, const std::string& what,
                                               const AttributeEnvironment& environment);

/// By name, without subgraphs. Throws Error("invalid_graph" | "unsupported_attribute" | ...) when a name stands
/// twice, a value is of another kind than its attribute says, or a kind is not supported (sparse tensors, types).
Attributes read_attributes(const onnx::NodeProto& node, const std::string& name,
                           const AttributeEnvironment& environment, const ImportOptions& options);

}  // namespace sdip
