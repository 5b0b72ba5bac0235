// The input positions that results read along rows or columns of a nest.
#include "core/exec/walk/windows.h"

#include <algorithm>

namespace sdip::exec {

InputAxis rows_of(const LoopNest& n) { return {n.out_h, n.in_h, n.stride_h, n.kernel_h, n.dilation_h, n.pad_top}; }

InputAxis columns_of(const LoopNest& n) {
  return {n.out_w, n.in_w, n.stride_w, n.kernel_w, n.dilation_w, n.pad_left};
}

std::int64_t positions_in(const Runs& runs) {
  std::int64_t count = 0;
  for (const Extent& run : runs) count += run.size();
  return count;
}

Extent hull_read(const InputAxis& axis, const Extent& results) {
  const std::int64_t begin = results.begin * axis.stride - axis.pad;
  const std::int64_t end = (results.end - 1) * axis.stride - axis.pad + axis.reach();
  return {std::clamp<std::int64_t>(begin, 0, axis.in), std::clamp<std::int64_t>(end, 0, axis.in)};
}

Runs positions_read(const InputAxis& axis, const Extent& results) {
  Runs runs;
  const auto add = [&](const Extent& run) {
    if (run.size() > 0) runs.push_back(run);
  };
  if (axis.stride <= axis.reach()) {
    add(hull_read(axis, results));
    return runs;
  }
  for (std::int64_t i = results.begin; i < results.end; ++i) add(hull_read(axis, {i, i + 1}));
  return runs;
}

Runs fresh_positions(const Runs& now, const Runs& had) {
  Runs fresh;
  auto next = had.begin();
  for (Extent run : now) {
    while (next != had.end() && next->end <= run.begin) ++next;
    for (auto h = next; h != had.end() && h->begin < run.end; ++h) {
      if (h->begin > run.begin) fresh.push_back({run.begin, h->begin});
      run.begin = std::min(h->end, run.end);
    }
    if (run.size() > 0) fresh.push_back(run);
  }
  return fresh;
}

bool clips_too_many(const InputAxis& axis, const std::vector<Extent>& tiles) {
  constexpr std::int64_t most_clipped = 256;
  std::int64_t clipped = 0;
  for (const Extent& tile : tiles) {
    const std::int64_t begin = tile.begin * axis.stride - axis.pad;
    const std::int64_t end = begin + (tile.size() - 1) * axis.stride + axis.reach();
    clipped += tile.size() == tiles.front().size() && (begin < 0 || end > axis.in);
  }
  return clipped > most_clipped;
}

}  // namespace sdip::exec
