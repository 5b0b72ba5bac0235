// ONNX's own shape inference beside what import says.
#pragma once

#include <string>

#include "core/graph/graph.h"
#include "tests/generate/making.h"

namespace sdip::generate {

/// The first value whose shape libonnx gives otherwise, "Add: [2] for [3]"; empty where it agrees, knows nothing or
/// the opset is beyond 17.
std::string inference_difference(const Graph& graph, const Generated& given);

}  // namespace sdip::generate
