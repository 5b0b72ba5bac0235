// Where the elements of a nest's operands and result stand.
#pragma once

#include <optional>

#include "core/graph/graph.h"

namespace sdip::exec {

/// Element numbers, row-major, as sums of strides. `a_group` and `b_group`: the first element of each group's part
/// (of a broadcast operand the same for several).
/// Example: a linear of [5,3] by [3,4]: a_y 3, a_k 1; b_k 4, b_n 1; out_p 4, out_n 1.
struct NestMap {
  LoopNest nest;
  std::int64_t a_frame = 0, a_k = 0, a_y = 0, a_x = 0;
  std::int64_t b_n = 0, b_k = 0, b_h = 0, b_w = 0;
  std::int64_t out_frame = 0, out_group = 0, out_n = 0, out_p = 0, out_q = 0;
  List<std::int64_t> a_group, b_group;

  std::int64_t out(std::int64_t frame, std::int64_t group, std::int64_t n, std::int64_t p, std::int64_t q) const {
    return frame * out_frame + group * out_group + n * out_n + p * out_p + q * out_q;
  }
};

/// The map of a convolution over one or two axes or of a matrix product; nothing for other nests.
std::optional<NestMap> nest_map(const Graph& graph, const Node& node);

}  // namespace sdip::exec
