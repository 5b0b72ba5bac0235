// A process of so many nanometres among the nodes of the technology table. Internal to its room.
#pragma once

#include "core/machine/technology.h"

namespace sdip {

/// The nodes that a process lies between: of a figure `larger` has `a` and `smaller` `b` it has a^(1 - t) b^t. A
/// process that the table has is both, t 1.
struct NodePlace {
  TechnologyNode larger, smaller;
  double t = 1;
};
/// The place of a node of the table.
NodePlace at_node(TechnologyNode node);
/// 12 to below 16 nm is the 16 nm process and 6 the 7 nm one, drawn smaller; beyond 65 and 5 nm the last nodes
/// stand (4 nm is the 5 nm process). Else t is the logarithm's share.
/// Example: 22 nm lies between 28 and 16 nm, t = ln(28 / 22) / ln(28 / 16) = 0.431. Requires nm > 0.
NodePlace node_place(double nm);
/// Whether the table has the process under its own name.
bool has_own_node(double nm);

/// a^(1 - t) b^t; where one is not above 0, on the straight line between.
double power_law_between(double a, double b, double t);
/// A figure at a place: `of` says it of a node.
template <class Of>
double at_place(const NodePlace& place, const Of& of) {
  const double smaller = of(place.smaller);
  return place.t == 1 ? smaller : power_law_between(of(place.larger), smaller, place.t);
}

}  // namespace sdip
