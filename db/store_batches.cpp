// Points out again, as they were appended.
#include "db/parts.h"

namespace sdip {

void Store::each_batch(std::int64_t id, const IndexRange& range,
                       const std::function<void(PointBatch&&)>& visit) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  reader.each(id, range.first, [&](const ChunkHead& chunk) {
    if (chunk.first >= range.end) return false;
    visit(reader.batch(chunk, range));
    return true;
  });
}

std::optional<PointBatch> Store::batch_holding(std::int64_t id, std::int64_t index) const {
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  const auto chunk = reader.holding(id, index);
  if (!chunk) return std::nullopt;
  return reader.batch(*chunk, {chunk->first, chunk->first + chunk->count});
}

}  // namespace sdip
