// Layouts of a whole network on a tree of memories: which product makes what another reads, joins included, and
// the plan that costs least over all of it. docs/model/simd_tree.md. Internal to its room.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/baseline/archetypes/layers.h"
#include "core/baseline/archetypes/layout.h"
#include "core/baseline/archetypes/simd_tree.h"

namespace sdip {

/// Elements that go from the result of one product to another. `joins`: they meet `to`'s result in elementwise work
/// and take its layout; else they are `to`'s first operand.
struct ProductEdge {
  std::size_t from = 0, to = 0;
  std::int64_t elements = 0;
  bool joins = false;
};
/// The products of a graph in order, each one for itself. Work between them keeps the layout of its largest
/// operand, of equal ones that which was made last; second activations of products are broadcast from wherever they
/// lie.
struct ProductFlow {
  std::vector<Layer> products;
  std::vector<ProductEdge> edges;
};
ProductFlow product_flow(const Graph& rewritten);

/// The plan of a flow, and its cost in cycles: all products and conversions, once.
struct NetworkLayout {
  std::size_t products = 0, edges = 0;
  LayoutPlan plan;
  double greedy_cycles = 0;                    // node by node in order
  double converted = 0, greedy_converted = 0;  // conversions alone
};
/// With the `candidates` best mappings of each product. Tensors that do not stay in the leaves convert for nothing,
/// as in schedule_of.
NetworkLayout network_layout(const ProductFlow& flow, const SimdTree& tree, std::string_view format,
                             std::size_t candidates = 12);

}  // namespace sdip
