// The hypervolume of a sweep's front, and how it grew with the points.
#pragma once

#include "core/explore/front.h"
#include "server/jobs/sweep_json.h"

namespace sdip {

/// The front after so many points, in the order of their index.
struct GrowthMark {
  std::int64_t points = 0;
  std::optional<double> volume{};  // nothing where it takes too long (front_volume)
};
inline constexpr std::int64_t most_growth_marks = 100;

struct FrontGrowth {
  std::vector<Objective> objectives;
  std::vector<CostAxis> axes{};  // of the front of all points
  std::int64_t on_front = 0;     // points
  std::vector<GrowthMark> marks{};
};

/// Growth over the stored points that keep the sweep's constraints: at equal steps, the last of them after all
/// points. Reads one snapshot, a chunk of points at a time.
FrontGrowth front_growth(const Store& store, const SweepRecord& sweep, std::vector<Objective> objectives);

/// GET /sweeps/{id}/hypervolume
OrderedJson growth_json(const FrontGrowth& growth);

}  // namespace sdip
