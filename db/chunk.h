// Batches of points as the blobs that the store keeps; docs/formats.md shows every byte. Internal to its room.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/explore/space/points.h"

namespace sdip {

/// A batch as blobs. `columns[m]` is empty when no point of the chunk is feasible.
struct ChunkBlobs {
  std::int64_t count = 0, feasible = 0;
  std::string flags, reason, reasons;
  Array<std::string, metric_count> columns;
  friend bool operator==(const ChunkBlobs&, const ChunkBlobs&) = default;
};

/// Requires vectors of one length, at least one point, and NaN metrics where infeasible. A metric that a row of
/// derived_metrics() computes, bit for bit, becomes the row's number.
ChunkBlobs encode(const PointBatch& batch);

/// Which sweep a chunk is of, and which of its points.
struct ChunkPlace {
  std::int64_t sweep = 0, first = 0, count = 0, feasible = 0;
};

/// Writes the checksums of the head of a chunk (its place, flags, reason and reasons) and of each column that it
/// has. `metric_ids[m]` is the store's number of metric m.
std::string encode_checksums(const ChunkPlace& place, const ChunkBlobs& blobs,
                             const std::array<std::int64_t, metric_count>& metric_ids);

/// Throws Error("store_corrupt", where, ...) unless `checksums` are of a chunk with this head.
void check_head(const ChunkPlace& place, std::string_view flags, std::string_view reason, std::string_view reasons,
                std::string_view checksums, const std::string& where);

/// Throws likewise unless `checksums` say of the metric of that number what its column is; "": there is none.
void check_column(std::string_view checksums, std::int64_t metric_id, std::string_view column,
                  const std::string& where);

/// The metrics of which checksums say that there is a column.
std::vector<std::int64_t> column_metrics(std::string_view checksums);

/// The points' feasibility, one byte a point. Throws Error("store_corrupt", where, ...) when `flags` cannot be what
/// encode made of `count` points, `feasible` of them feasible.
std::vector<std::uint8_t> decode_flags(std::string_view flags, std::int64_t count, std::int64_t feasible,
                                       const std::string& where);

/// The reason of every point, "" for feasible ones. Throws likewise.
std::vector<std::string> decode_reasons(const std::vector<std::uint8_t>& feasible, std::string_view reason,
                                        std::string_view reasons, const std::string& where);

/// The row of derived_metrics() that computes the column; nullptr: its values are stored. Throws likewise.
const DerivedMetric* derived_row(std::string_view column, const std::string& where);

/// Appends the value of every point to `values`, NaN for infeasible ones. An empty `column` gives NaN for all.
/// Requires one that is stored. Throws likewise.
void decode_column(std::string_view column, const std::vector<std::uint8_t>& feasible, std::vector<double>& values,
                   const std::string& where);

}  // namespace sdip
