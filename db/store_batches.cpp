// Points out again, as they were appended.
#include <algorithm>

#include "db/parts.h"

namespace sdip {

void Store::each_batch(std::int64_t id, const IndexRange& range,
                       const std::function<void(PointBatch&&)>& visit) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  reader.each(id, range.first, [&](const ChunkHead& chunk) {
    if (chunk.first >= range.end) return false;
    PointBatch batch;
    batch.first = std::max(chunk.first, range.first);
    for (const StoredPoint& point : reader.points(chunk))
      if (range.first <= point.index && point.index < range.end)
        sdip::append(batch, {.feasible = point.feasible, .reason = point.reason, .values = point.values});
    visit(std::move(batch));
    return true;
  });
}

}  // namespace sdip
