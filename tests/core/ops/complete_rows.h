// The operators that tests of all rows look at.
#pragma once

#include <vector>

#include "core/ops/families.h"

namespace sdip {

/// Rows of the families that are complete.
inline std::vector<Operator> complete_rows() {
  std::vector<Operator> rows;
  for (auto family : {activation_rows(),  batchnorm_rows(), cast_rows(),      compare_rows(), constant_rows(),
                      elementwise_rows(), find_rows(),      gather_rows(),    norm_rows(),    pad_rows(),
                      random_rows(),      rank_rows(),      reduce_rows(),    repeat_rows(),  scatter_rows(),
                      slice_rows(),       softmax_rows(),   transpose_rows(), unary_rows(),   view_rows()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  return rows;
}

}  // namespace sdip
