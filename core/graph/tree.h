// A network's nodes as a tree of modules, by the paths that exporters write into their names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// Names deeper than this keep the rest of their path in one part.
inline constexpr std::size_t most_tree_depth = 32;

/// Beyond so many levels for each node of the graph, no further modules are made; real models need less than two.
inline constexpr std::size_t most_levels_a_node = 8;

/// A module, or a node (then `type` is its ONNX type, and it has no children). Its figures hold everything below
/// it; `elements` are those of nodes without a loop nest.
struct LayerTree {
  std::string name;
  std::string type;
  std::int64_t nodes = 0, parameters = 0, macs = 0, elements = 0;
  std::vector<LayerTree> children;    // in the order in which they come first
  std::int64_t omitted_children = 0;  // left out by `cut_tree`
};

/// The tree of all nodes but views and constants, whose parameters their readers hold: a parameter belongs to the
/// first node that reads it, in whatever shape. A name's path is split at "/", or at "." where it has none; nodes
/// whose names have no path stand below their type. A module with one child has its name before the child's.
/// Example: "/down.0/conv1/Conv", "/down.0/norm/Add", "Relu_7": "down.0" with "conv1/Conv" and "norm/Add", and
/// "Relu/Relu_7". The root is named after the graph; its figures are those of facts_of.
LayerTree layer_tree(const Graph& graph);

/// Bounds of a tree for people: levels below the root, children of a module, levels in all.
struct TreeLimits {
  std::int64_t depth = most_tree_depth;
  std::int64_t children = 256;
  std::int64_t total = 2000;
};

/// Leaves out what is beyond the limits, deepest first and of a module's children the last; counts stay whole.
void cut_tree(LayerTree& tree, const TreeLimits& limits);

}  // namespace sdip
