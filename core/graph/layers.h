// The layers of a network by the work they are: how often each stands in it. Internal to its room.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// Nodes of equal work: one operator, and the same loop nest, or the same rows, passes and fetches.
struct LayerClass {
  std::string_view type;  // ONNX type
  Work work;
  std::int64_t nodes = 0;
  std::int64_t macs = 0;      // of one node
  std::int64_t elements = 0;  // of one node without a loop nest: rows times their length
  std::string first;          // the name of the first
};

/// Most MACs in all first, then most elements. Views and constants are left out.
/// Example: ResNet-50's 53 convolutions and its linear layer are 24 classes.
std::vector<LayerClass> layer_classes(const Graph& graph);

/// "conv 320 -> 640, 3x3, stride 2, to 32x32", "4096 x 320 by 320 x 40, 8 times", "32 x 40960": the work for
/// people.
std::string work_text(const Work& work);

}  // namespace sdip
