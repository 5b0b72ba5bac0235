// Nodes by their size.
#include "core/baseline/node_place.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sdip {
namespace {

struct NodeSize {
  double nm;
  TechnologyNode node;
};
constexpr NodeSize sizes[] = {{65, TechnologyNode::n65}, {45, TechnologyNode::n45}, {28, TechnologyNode::n28},
                              {16, TechnologyNode::n16}, {7, TechnologyNode::n7},   {5, TechnologyNode::n5}};

double drawn_as(double nm) {
  if (nm >= 12 && nm < 16) return 16;
  if (nm >= 6 && nm < 7) return 7;
  return std::clamp(nm, 5.0, 65.0);
}

}  // namespace

NodePlace at_node(TechnologyNode node) { return {node, node, 1}; }

NodePlace node_place(double said_nm) {
  const double nm = drawn_as(said_nm);
  std::size_t after = 0;  // the first node that is no larger
  while (sizes[after].nm > nm) ++after;
  if (sizes[after].nm == nm) return at_node(sizes[after].node);
  const NodeSize& before = sizes[after - 1];
  return {before.node, sizes[after].node, std::log(before.nm / nm) / std::log(before.nm / sizes[after].nm)};
}

bool has_own_node(double nm) { return std::ranges::find(sizes, nm, &NodeSize::nm) != std::end(sizes); }

double power_law_between(double a, double b, double t) {
  return a > 0 && b > 0 ? std::exp((1 - t) * std::log(a) + t * std::log(b)) : a + t * (b - a);
}

}  // namespace sdip
