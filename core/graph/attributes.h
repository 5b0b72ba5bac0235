// Attributes of a node, as passes and circuits ask for them.
#pragma once

#include <string_view>

#include "core/graph/graph.h"

namespace sdip {

/// Whether an integer attribute is there and not 0.
bool is_set(const Node& node, std::string_view attribute);

}  // namespace sdip
