// A case of tests/cases as a model: one node, built with ONNX's own messages.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/core/onnx/build.h"

#include "core/base/tensor.h"

namespace sdip {

/// A tensor as a case writes it: {"type", "shape", "data"}. Throws Error("invalid_case", ...).
Tensor case_tensor(const nlohmann::json& written);

/// The model of a case. Its inputs are inputs of the model, or constants of it.
onnx::ModelProto case_model(const nlohmann::json& one, bool inputs_are_constants);

}  // namespace sdip
