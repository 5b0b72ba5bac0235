// Rows of published machines in a comparison.
#pragma once

#include "server/studies/comparison.h"

namespace sdip {

/// Behind `rows`, of each device at each batch: what its model predicts or its roofline bounds, and what was
/// measured of exactly these frames.
void add_device_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop,
                     std::vector<ComparisonRow>& rows);

/// The fitted factor of a device's fastest software; nothing where none is.
std::optional<Calibration> calibration_of(std::span<const Compared> measured);

}  // namespace sdip
