// Batches of points as bytes, between a child that evaluates a sweep and its server.
#pragma once

#include <string>
#include <string_view>

#include "core/explore/space/points.h"

namespace sdip {

std::string bytes_of_batch(const PointBatch& batch);

/// Reads them, trusting nothing. Throws Error evaluation_failed at `where`.
PointBatch batch_of_bytes(std::string_view bytes, const std::string& where);

}  // namespace sdip
