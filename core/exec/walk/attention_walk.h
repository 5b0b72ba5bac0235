// A fused attention walked tile operation by tile operation, by the clock and by the datapath: heads, in each tiles
// of queries, for each of them tiles of keys.
//
// Example: 3 queries in tiles of 2 and 4 keys in tiles of 3: (queries 0-1, keys 0-2), (0-1, 3), which divides,
// (2, 0-2), (2, 3).
#pragma once

#include <algorithm>

#include "core/exec/walk/tile_loops.h"

namespace sdip::exec {

/// One tile operation. `first`, `last`: of its queries' tiles of keys.
struct AttentionStep {
  std::int64_t head = 0;
  Extent queries, keys;
  bool first = true, last = true;
  bool loads_keys = true;  // other keys, or another head, than the operation before
};

/// Calls `visit` with each tile operation in order; `scores` is the nest of the first product.
template <class Visit>
void for_each_attention_step(const LoopNest& scores, const Mapping& mapping, Visit&& visit) {
  const std::int64_t queries = scores.out_h, keys = scores.out_channels;
  const bool several = mapping.tile_channels < keys;
  for (std::int64_t head = 0; head < scores.groups; ++head)
    for (std::int64_t row = 0; row < queries; row += mapping.tile_rows)
      for (std::int64_t key = 0; key < keys; key += mapping.tile_channels) {
        const Extent tile{key, std::min(keys, key + mapping.tile_channels)};
        visit(AttentionStep{head,
                            {row, std::min(queries, row + mapping.tile_rows)},
                            tile,
                            key == 0,
                            tile.end == keys,
                            several || row == 0});
      }
}

}  // namespace sdip::exec
