// Inputs that decide branches, loops and shapes: a graph's author left them to whoever runs it.
#pragma once

#include <span>
#include <string>

#include "core/graph/graph.h"

namespace sdip {

/// Refuses a node that needs the numbers of `ids`, saying on which inputs they depend. Throws Error input_needed
/// where one of these is small enough to be given as a value, `where` being the first such one's name: integers and
/// booleans of up to most_folded_elements elements, or else floats of up to 16; shape_unknown at `node` where none
/// is. `what` says what is not known: "node 'If_3' (If): the condition 'c'".
[[noreturn]] void refuse_unknown_numbers(const Graph& graph, std::span<const ValueId> ids, const std::string& node,
                                         const std::string& what);

}  // namespace sdip
