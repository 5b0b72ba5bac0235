// Inputs of a model's graph: their types, sizes by name, and those whose value is given.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/onnx/reading.h"

namespace sdip {

/// Symbolic dimensions of the inputs: sizes given by name, or by the shape of a value that is given.
struct FreeDimensions {
  std::map<std::string, std::int64_t> bound;
  std::vector<std::string> unbound;  // in the order of the inputs

  /// "these dimensions have no size, ...", or "" when all have one.
  std::string unbound_text() const;
};

/// The name of an input's dimension: its own, or that of its place: "x[3]".
std::string dimension_name(const onnx::TensorShapeProto::Dimension& dimension, const std::string& input, int axis);
/// Whether a dimension has a size of its own.
bool has_size(const onnx::TensorShapeProto::Dimension& dimension);

/// Inputs that are no initializers: IR 3 lists all of those, too.
std::vector<const onnx::ValueInfoProto*> free_inputs(const onnx::GraphProto& graph);

/// Throws unknown_dimension, unknown_input for what no input has; shape_mismatch for a value of another type, rank
/// or size than its input; value_conflict for a dimension that would have two sizes.
FreeDimensions free_dimensions(const onnx::GraphProto& graph, const ImportOptions& options);

/// Values of the inputs; those given become constants. Requires that every dimension is bound. Throws
/// invalid_graph, shape_unknown, limit_exceeded, model_too_large.
void read_inputs(Reading& reading, const Place& place, Scope& scope, const onnx::GraphProto& graph,
                 const FreeDimensions& free);

}  // namespace sdip
