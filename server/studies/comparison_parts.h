// The parts of a comparison: rows of ours, and of published machines. Internal to its room.
#pragma once

#include "server/studies/comparison.h"

namespace sdip {

/// Behind `rows`, of each machine of ours at each batch: the batch, the saturated stream, the bound.
void add_own_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop,
                  std::vector<ComparisonRow>& rows);

/// Behind `rows`, of each device at each batch: what its model predicts or its roofline bounds, and what was
/// measured of exactly these frames.
void add_device_rows(const Catalog& catalog, const ComparisonAsked& asked, const Stop& stop,
                     std::vector<ComparisonRow>& rows);

/// How far a prediction has been checked: `here` with `measured_here`, `near` where one of `measured` is of the
/// same model, or, `pipeline`, of a diffusion pipeline as the model is; eager runs check nothing.
Checked checked_by(std::span<const Compared> measured, std::string_view model, bool pipeline, bool measured_here);

/// The fitted factor of a device's fastest software; nothing where none is.
std::optional<Calibration> calibration_of(std::span<const Compared> measured);

}  // namespace sdip
