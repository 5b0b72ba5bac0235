// The parts that branches, loops and scans share: their bodies as nodes, and the values that hold them together.
// Internal to its room.
#pragma once

#include "core/onnx/reading.h"
#include "core/onnx/versions.h"
#include "core/ops/use.h"

namespace sdip {

/// Throws Error("unsupported_attribute", node, ...) for an attribute that does not stand in `known`, which are
/// names separated by spaces, or that stands twice.
void check_attribute_names(const NodeCall& call, std::string_view known);

/// The subgraph of an attribute. Throws Error("invalid_graph", node, ...) when it has none.
const onnx::GraphProto& subgraph_of(const NodeCall& call, const char* attribute);

/// A body's nodes under `path`, its inputs being these values. Returns its results.
std::vector<ValueId> read_subgraph(const NodeCall& call, const onnx::GraphProto& graph, const std::string& path,
                                   const std::vector<ValueId>& inputs);

ValueId add_constant(ModelReading& reading, std::string name, Tensor tensor);

/// One node of ai.onnx with the attribute `axis`, or for Unsqueeze `axes`. Returns its output.
ValueId add_node(ModelReading& reading, const std::string& name, const char* type, std::int64_t axis,
                 std::vector<ValueId> inputs);

/// Values of one shape side by side along a new axis. Requires at least one.
ValueId stacked(ModelReading& reading, const std::string& path, const std::vector<ValueId>& values,
                std::int64_t axis);

/// A node of one output that the file does not have, made of its name, operator, opset, attributes and inputs.
ValueId add_node(ModelReading& reading, Node node);

void read_flex_attention(const NodeCall& call);
void read_scan(const NodeCall& call);

}  // namespace sdip
