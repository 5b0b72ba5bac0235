// ONNX in: a bounded, checked reading of a model's bytes. Weights are noted, never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "core/graph/graph.h"

namespace sdip {

struct ImportOptions {
  std::string label = "model";               // how errors name the file
  std::map<std::string, std::int64_t> dims;  // symbolic dimensions bound by the user
  std::int64_t most_nodes = 200'000, most_tensors = 400'000;
  std::int64_t most_name_bytes = 4096, most_nesting = 32, most_rank = 16;
};

/// Reads a model: nodes sorted, every shape resolved, patterns not yet rewritten.
/// Throws Error(code, where, ...) with codes not_onnx, truncated, limit_exceeded, unknown_operator,
/// unsupported_opset, unbound_dimension (listing them all), invalid_graph, graph_cycle, shape_mismatch,
/// shape_unknown, unsupported_attribute, model_too_large, unknown_dimension (a size for a dimension that no input
/// has); `where` names the file and node.
Graph import_onnx(std::span<const std::byte> bytes, const ImportOptions& options = {});

}  // namespace sdip
