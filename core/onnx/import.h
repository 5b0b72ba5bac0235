// ONNX in: a bounded, checked reading of a model's bytes. Weights are noted, never copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/graph/graph.h"

namespace sdip {

/// Versions whose meaning the operators' rules have: opsets of ai.onnx, the version of com.microsoft, and IR
/// versions (https://github.com/onnx/onnx/blob/main/docs/Versioning.md).
inline constexpr std::int64_t least_opset = 7, most_opset = 27, microsoft_version = 1;
inline constexpr std::int64_t least_ir_version = 3, most_ir_version = 13;

/// Outputs of a graph; rewrites look through them for each node.
inline constexpr std::int64_t most_outputs = 4096;

struct ImportOptions {
  std::string label = "model";                        // how errors name the file
  std::map<std::string, std::int64_t> dims;           // symbolic dimensions bound by the user
  std::map<std::string, Tensor> values;               // inputs that are constants: sizes, conditions
  std::map<std::string, std::string> given;           // the same as text (core/onnx/value_text.h): {"sr", "16000"}
  std::shared_ptr<const OwnOperators> own_operators;  // looked up where no operator of ours has the name
  // Limits of the file.
  std::int64_t most_nodes = 200'000, most_tensors = 400'000;
  std::int64_t most_name_bytes = 4096, most_nesting = 32, most_rank = 16;
  std::int64_t most_messages = 4'000'000, most_names = 4'000'000, most_attributes = 64;
  std::int64_t most_attribute_bytes = 1 << 20, most_structure_bytes = 128 << 20;
  // Limits of what is made of it: most_nodes holds for nodes after inlining and unrolling, too; most_nesting for
  // calls.
  std::int64_t most_folded_elements_in_all = 1 << 24, most_inlined_name_bytes = 64 << 20;
};

/// Reads a model: nodes sorted, functions inlined, branches decided, loops unrolled, every shape resolved, patterns
/// not yet rewritten. A symbolic dimension without a size that stands first in inputs, and nowhere else in one, is
/// 1 (a batch; ModelSurvey::assumed has these). Throws Error(code, where, ...) with codes not_onnx, truncated,
/// limit_exceeded, unknown_operator (listing them all), unsupported_opset, unsupported_ir_version,
/// unbound_dimension (listing them all), invalid_graph, graph_cycle, shape_mismatch, shape_unknown,
/// unsupported_attribute, model_too_large, unknown_dimension and unknown_input (a size or value for what the model
/// does not have), input_needed (a branch, a loop or a shape depends on an input without a value; `where` ends with
/// its name), value_invalid, value_out_of_range and value_conflict of what is given; else `where` names the file
/// and node.
Graph import_onnx(std::span<const std::byte> bytes, const ImportOptions& options = {});

}  // namespace sdip
