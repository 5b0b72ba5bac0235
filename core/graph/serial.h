// A graph as bytes, to pass it from one process to another: docs/formats.md has the form.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/graph/graph.h"
#include "core/ops/custom.h"

namespace sdip {

/// Version 1, or 2 where nodes are read in place. What `link` makes is left out.
std::string to_bytes(const Graph& graph);

/// The most that bytes may hold: above what import_onnx lets through, composites expanded.
inline constexpr std::size_t most_serial_nodes = 1'000'000, most_serial_values = 2'000'000;

/// The graph that `bytes` hold, trusting nothing of them: operators are looked up (`own` may be null), ids, sizes,
/// numbers and the order of nodes are checked, and the types and shapes of every node's outputs are inferred again
/// and compared. Linked. Throws Error("bytes_invalid", ...).
Graph graph_of_bytes(std::span<const std::byte> bytes, std::shared_ptr<const OwnOperators> own = nullptr);

}  // namespace sdip
