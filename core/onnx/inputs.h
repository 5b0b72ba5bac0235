// Inputs of a model's graph: their types, sizes by name, and those whose value is given. Internal to its room.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/onnx/reading.h"

namespace sdip {

/// The values given for inputs, and sizes of their symbolic dimensions, by name or by such a value.
struct GivenInputs {
  std::map<std::string, Tensor> values;
  std::map<std::string, std::int64_t> bound;
  std::vector<std::string> unbound;  // in the order of the inputs

  /// "these dimensions have no size: ...", or "" when all have one.
  std::string unbound_text() const;
};

/// The name of an input's dimension: its own, or that of its place: "x[3]".
std::string dimension_name(const onnx::TensorShapeProto::Dimension& dimension, const std::string& input, int axis);
/// Whether a dimension has a size of its own.
bool has_size(const onnx::TensorShapeProto::Dimension& dimension);

/// Inputs that are no initializers: IR 3 lists all of those, too.
std::vector<const onnx::ValueInfoProto*> free_inputs(const onnx::GraphProto& graph);

/// Symbolic dimensions that no option gives a size, and that stand first in inputs without a value and nowhere else
/// in one: a batch, taken for 1. Inputs x [N,3,H,W] and t [N] give N; ids [B,L] and positions [L] give B. They come
/// by name, each once.
std::vector<std::string> assumed_dimensions(const onnx::GraphProto& graph, const ImportOptions& options);

/// Throws unknown_dimension, unknown_input for what no input has; shape_mismatch for a value of another type, rank
/// or size than its input; value_conflict for a dimension that would have two sizes, or an input two values; what
/// tensor_of_text throws.
GivenInputs given_inputs(const onnx::GraphProto& graph, const ImportOptions& options);

/// Values of the inputs; those given become constants. Requires that every dimension is bound. Throws
/// invalid_graph, shape_unknown, limit_exceeded, model_too_large.
void read_inputs(ModelReading& reading, const BodyPlace& place, Scope& scope, const onnx::GraphProto& graph,
                 const GivenInputs& given);

}  // namespace sdip
