// An order in which everything comes after what it needs.
#pragma once

#include <cstdint>
#include <vector>

namespace sdip {

/// `order` is empty when there is a cycle; then `on_cycle` is one of its members, else -1.
struct SortOrder {
  std::vector<std::int32_t> order;
  std::int32_t on_cycle = -1;
};

/// Orders the things 0, 1, ..., of which i needs `needs[i]`. They stay as they stand where that is an order
/// already; else each comes as late as the first that needs it allows. {{1}, {}, {0}}: 1, 0, 2.
SortOrder order_of(const std::vector<std::vector<std::int32_t>>& needs);

}  // namespace sdip
