// Attributes of a node, as passes and circuits ask for them.
#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace sdip {

/// Whether an integer attribute is there and not 0.
bool is_set(const Node& node, std::string_view attribute);

/// Whether each element of the result follows from those in its place: not of one that gathers or joins. Quantising
/// with one scale does.
bool works_by_elements(const Graph& graph, const Node& node);

}  // namespace sdip
