// A survey of what a model's file says of itself: read without shapes, so that it holds of models that cannot be
// imported, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/onnx/import.h"

namespace sdip {

/// An input or output as declared. A dimension is a size, or the name by which ImportOptions.dims binds it.
struct SurveyedValue {
  std::string name;
  std::string type;  // "float32", ...; "" when it is no tensor of a known type
  bool has_shape = false;
  std::vector<std::string> dims;
};

struct SurveyedOperator {
  std::string domain, type;  // "" is ai.onnx
  std::int64_t nodes = 0;    // subgraphs and functions included, each as often as it is written
  std::string first_node;
  std::string unsupported;  // why import refuses it; "" when it does not
};

struct SurveyedFunction {
  std::string domain, name, overload;
  std::int64_t nodes = 0, calls = 0;
};

struct ModelSurvey {
  std::int64_t ir_version = 0, opset = 0;  // 0: not said
  std::string producer, graph;
  std::vector<std::pair<std::string, std::int64_t>> domains;  // with their versions, by name
  std::vector<SurveyedValue> inputs, outputs;                 // of the graph; no initializers
  std::vector<std::string> free_dimensions;                   // each once, in the order of the inputs
  std::vector<std::string> assumed;                           // of these: without a size given, taken for 1
  std::vector<SurveyedOperator> operators;                    // by domain and type
  std::vector<SurveyedFunction> functions;                    // in the file's order
  std::int64_t nodes = 0, initializers = 0, subgraphs = 0;
  std::vector<std::string> external_files;  // locations of external data, as written, by name
};

/// Throws Error(not_onnx | truncated | limit_exceeded) for bytes that are no model; never for what a model holds.
ModelSurvey survey_onnx(std::span<const std::byte> bytes, const ImportOptions& options = {});

}  // namespace sdip
