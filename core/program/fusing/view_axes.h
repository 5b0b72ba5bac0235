// How the elements of a view stand in the value whose bytes it is. Internal to its room.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace sdip {

/// So many elements along an axis, each so many elements of the value behind the view from the one before.
struct ViewAxis {
  std::int64_t size = 1, stride = 1;
  friend bool operator==(const ViewAxis&, const ViewAxis&) = default;
};
using ViewAxes = std::vector<ViewAxis>;

/// The same order of elements in the fewest axes: those of one element left out, one that goes on where the next
/// ends joined with it. Example: {2, 12}, {3, 4}, {1, 9}, {4, 1} is {24, 1}.
ViewAxes fewest_axes(const ViewAxes& axes);

/// The fewest axes of `v`, outermost first, in its root; nothing where it is a part of that, or its order is none
/// that axes have. Example: x [6, 8] seen as [6, 2, 4] and turned to [2, 6, 4] is {2, 4}, {6, 8}, {4, 1}.
std::optional<ViewAxes> view_axes(const Graph& graph, const List<ValueId>& roots, ValueId v);

}  // namespace sdip
