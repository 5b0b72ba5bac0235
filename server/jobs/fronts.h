// The front of a sweep, or of several together: its knees, and how each point differs from the one before it.
#pragma once

#include "core/explore/front.h"
#include "core/explore/sensitivity.h"
#include "server/jobs/sweep_json.h"

namespace sdip {

/// A point of a front, in its order: best in the first objective first.
struct FrontRow {
  std::size_t sweep = 0;  // place among the sweeps
  StoredPoint point;
  std::vector<double> values{};  // of the objectives, in their units
  Knee knee = Knee::plain;
  std::vector<Change> differs{};  // from the row before: parameters and figures of technology
  std::vector<double> percent{};  // likewise by how much more of each objective; NaN where that was 0 or infinite
};

struct SweepsFront {
  std::vector<SweepRecord> sweeps;
  std::vector<Objective> objectives;
  std::vector<std::size_t> own{};  // points on each sweep's own front
  std::vector<FrontRow> rows{};

  /// The sweeps' models, each once.
  std::vector<std::string> models() const;
};

/// The front of the stored points that keep their sweep's constraints. Among equal points those of the earlier
/// sweep come first.
SweepsFront front_of_sweeps(const Store& store, std::vector<SweepRecord> sweeps, std::vector<Objective> objectives);

/// Why a sweep's front has no point: nothing feasible, or how many feasible points keep each constraint.
std::string empty_front_text(const Store& store, const SweepRecord& sweep);

/// "throughput_fps 12.3 % less", of each objective that differs from the row before.
std::vector<std::string> percent_texts(const SweepsFront& front, const FrontRow& row);
/// Whether more or less of an objective is better than the row before; nothing where it is neither.
std::optional<bool> gains(const Objective& objective, double percent);

/// {"knee", "differs", "changes"}
OrderedJson place_json(const SweepsFront& front, const FrontRow& row);
/// GET /sweeps/{id}/front. Requires the front of one sweep.
OrderedJson front_json(const Store& store, const SweepsFront& front);

}  // namespace sdip
