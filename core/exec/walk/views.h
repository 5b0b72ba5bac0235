// Values that are the bytes of another one: what reshapes and, read in the other order, transposes leave, and parts
// that are read in place; values that are the bytes of several; results that are written in another order than they
// are made.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/exec/walk/elements.h"
#include "core/program/program.h"

namespace sdip::exec {

/// For each value the one whose bytes it is (itself for most), and where its elements stand there: element i of v
/// is element map[v][i] of root[v], or element i where the map is empty. Example: x [2,3], t = Transpose(x), r =
/// Reshape(t, [6]): root[r] = x, map[r] = {0,3,1,4,2,5}.
struct Views {
  List<ValueId> root;
  // back[v]: where in v each element of the root stands; empty of parts. Example: of y, the last two of x [3],
  // map[y] = {1,2}.
  List<List<std::int64_t>> map, back;
  /// For the result of a Transpose that an instruction does behind other operators, where each element of its
  /// operand goes. Example: {0,2,4,1,3,5} for t above, were it such a one.
  std::map<ValueId, std::vector<std::int64_t>> turned;
  /// For the result of a Concat that no instruction makes, the values that it joins, and how many elements of each,
  /// and of all, stand in one row of it. Example: of [2,3] and [2,1] along the last axis rows of 4, 3 and 1 in
  /// each.
  struct Join {
    std::int64_t row = 0;
    std::vector<std::pair<ValueId, std::int64_t>> parts;
  };
  std::map<ValueId, Join> joined;
  /// For each value, the one whose scale it has: a part has that of the whole, read in place or joined.
  List<ValueId> scaled_as;

  std::int64_t at(ValueId v, std::int64_t element) const {
    const auto& m = map[v];
    return m.empty() ? element : m[element];
  }
};

/// Views: activations that nodes make which no instruction computes; and of the other nodes those that turn.
Views views_of(const CompiledStage& stage);

/// Elements by their numbers in a map; as they are where it is empty. Requires elements that it has.
Elements mapped(std::span<const std::int64_t> map, const Elements& elements);

/// The elements of `view` that stand at its root's elements `at`. Requires elements that the root has, and a view
/// that is no part.
Elements elements_in_view(const Views& views, ValueId view, const Elements& at);

/// The elements of its root at which elements `at` of `view` stand. Requires elements that the view has.
Elements elements_behind_view(const Views& views, ValueId view, const Elements& at);

}  // namespace sdip::exec
