// Between which values each metric of a chunk's points lies: what a page in an order asks first. Internal to its
// room.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/explore/space/points.h"

namespace sdip {

/// Bounds over the feasible points of a chunk: NaN where none has a value.
struct MetricBounds {
  double least = 0, most = 0;
  bool some_without = false;  // a feasible point has no value
};

/// Writes the bounds of a batch, for each metric that has any value; `metric_ids[m]` is the store's number of
/// metric m. docs/formats.md shows the bytes. "" where no point is feasible.
std::string encode_bounds(const PointBatch& batch, const std::array<std::int64_t, metric_count>& metric_ids);

/// Reads the bounds of the metric of that number; nothing where it has none. Throws Error("store_corrupt", where,
/// ...).
std::optional<MetricBounds> decode_bounds(std::string_view bytes, std::int64_t metric_id, const std::string& where);

}  // namespace sdip
