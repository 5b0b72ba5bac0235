// Tensors laid out over a tree of memories, and the choice of layouts for a network. Internal to its room.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sdip {

/// One level of a tree of memories, all its nodes alike. A node exchanges link_bytes a cycle with its parent; the
/// parent's memory gives or takes port_bytes a cycle, whatever the number of children. What several children need
/// alike leaves a parent's memory once where it broadcasts, once for each of them else; likewise sums on their way
/// up where it reduces.
struct TreeLevel {
  std::string_view name;
  std::int64_t branching = 1;     // nodes under one node of the level above
  std::int64_t memory_bytes = 0;  // of one node
  double link_bytes = 0;          // a cycle, either way
  double port_bytes = 0;          // a cycle, of the parent
  bool broadcasts = true, reduces = true;
};
/// Nodes of that level in the whole tree.
inline std::int64_t nodes_at(std::span<const TreeLevel> levels, std::size_t level) {
  std::int64_t nodes = 1;
  for (const TreeLevel& above : levels.first(level + 1)) nodes *= above.branching;
  return nodes;
}
/// Requires a level.
inline std::int64_t leaves_of(std::span<const TreeLevel> levels) { return nodes_at(levels, levels.size() - 1); }

/// A digit of a tensor's index. A dimension's index is written in a mixed radix, most significant digit first; each
/// digit says either which node of a level (0 is the outermost) or, `kept`, which address within a leaf. A digit of
/// no dimension, `copied`, has every value at once: so many nodes hold copies.
struct LayoutDigit {
  static constexpr int copied = -1, kept = -1;
  int dimension = 0;
  std::int64_t extent = 1;
  int level = kept;
  friend bool operator==(const LayoutDigit&, const LayoutDigit&) = default;
};
/// The digits in one order, which is that of significance within each dimension, within each level and within the
/// address: PFN's n2h1w1h0w0CHWc. Nodes that no digit tells apart beyond the first stay empty.
/// Example: 12 over 4 in runs is {0, 4, level 0}, {0, 3, kept}: 5 is in PE 1 at address 2. Dealt out in turn it is
/// {0, 3, kept}, {0, 4, level 0}: 5 is in PE 1 at address 1.
struct TreeLayout {
  std::vector<LayoutDigit> digits;
  friend bool operator==(const TreeLayout&, const TreeLayout&) = default;
};
/// Whether digits name dimensions and levels that are there, cover the shape, and need no more nodes than there
/// are.
bool fits_tree(const TreeLayout& layout, std::span<const std::int64_t> shape, std::span<const TreeLevel> levels);
/// Lower case and the level of what is split, upper case of what is kept, "*" of copies, each with its extent;
/// names has a letter for each dimension. Levels count from the leaves, as PFN does. Example: "h0:2 w0:2 H:2 W:3".
std::string layout_text(const TreeLayout& layout, std::string_view names, std::size_t levels);

struct TreePlace {
  std::vector<std::int64_t> path;  // the node at each level, outermost first
  std::int64_t address = 0;        // elements
  friend auto operator<=>(const TreePlace&, const TreePlace&) = default;
};
/// Where the element is; of copies the first. Requires an index within the shape.
TreePlace place_of(const TreeLayout& layout, std::span<const std::int64_t> index, std::size_t levels);
/// Where all copies are, in order of their path.
std::vector<TreePlace> places_of(const TreeLayout& layout, std::span<const std::int64_t> index, std::size_t levels);

/// Cycles to move a tensor of so many bytes from one layout to another: conversion_of
/// (core/baseline/archetypes/simd_tree.h) in closed form. Digits that are kept behind all others of a dimension may
/// be left out. Requires extents that are powers of two, no empty node, no copies in `from`, levels that broadcast:
/// all links of a level are then alike.
double conversion_cycles(const TreeLayout& from, const TreeLayout& to, double bytes,
                         std::span<const TreeLevel> levels);

/// A choice at each node, with a cost for each candidate, and a cost for each pair of candidates along an edge:
/// candidate layouts of layers, conversions between them.
struct PairwiseEdge {
  std::size_t from = 0, to = 0;
  std::vector<double> costs;  // of (candidate of from, candidate of to), rows first
};
struct PairwiseProblem {
  std::vector<std::vector<double>> costs;  // of each node's candidates, at least one
  std::vector<PairwiseEdge> edges;
};
struct LayoutPlan {
  std::vector<std::size_t> chosen;
  double cost = 0;
  double lower_bound = 0;  // no plan costs less
  bool exact = false;      // lower_bound = cost, by elimination
};
double plan_cost(const PairwiseProblem& problem, std::span<const std::size_t> chosen);
/// Node by node in order, the candidate that costs least with those chosen before: what a compiler does that does
/// not look ahead. lower_bound is 0.
LayoutPlan plan_greedily(const PairwiseProblem& problem);
/// The least cost. Exact by elimination of nodes, fewest joint candidates first, as long as no table exceeds
/// most_entries: chains, trees and what has few joins. Else messages along the edges (sequential tree-reweighted)
/// give a lower bound and a first plan, which exact replanning of random forests improves, the rest held: the same
/// on each run. Requires a candidate at each node, edges that fit their nodes.
LayoutPlan plan_layouts(const PairwiseProblem& problem, std::size_t most_entries = std::size_t{1} << 20);

}  // namespace sdip
