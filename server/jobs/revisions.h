// Sweeps made of others: kept with where they come from, and what they take over from there.
#pragma once

#include <list>
#include <mutex>

#include "core/explore/space/equal_points.h"
#include "core/explore/space/revision.h"
#include "core/explore/sweep.h"
#include "server/jobs/jobs.h"
#include "server/jobs/sweep_json.h"

namespace sdip {

/// Keeps the sweep that a revision makes of a stored one, queued. Throws Error not_found, unknown_model, and what
/// revised() does.
std::int64_t add_revision(Store& store, const Catalog& catalog, std::int64_t parent, const Revision& revision);

/// The points that a sweep takes over from its parent or, where it has none, from a sweep of the same points: those
/// that are the same machine, of the same engine; of a retry the feasible ones alone. Read as they are needed; may
/// be asked by several threads.
class TakenPoints {
 public:
  /// Null where there is no such sweep, or its points are of another engine or other settings. Two sweeps without a
  /// parent are the same only where their models are built in.
  static std::unique_ptr<TakenPoints> of(const Store& store, const SweepRow& row, const SweepSpec& spec);

  /// The outcome of each point of a range that is the parent's (KnownPoints).
  std::vector<std::optional<Outcome>> in(const IndexRange& range);
  /// A batch whose taken points say nothing yet, with what they are. Throws Error("conflict", ...) where the parent
  /// was removed since they were left out.
  PointBatch completed(const PointBatch& batch);
  /// How many of the points of a range `in` had.
  std::int64_t count(const IndexRange& range) const;

 private:
  TakenPoints(const Store& store, std::int64_t parent, SweepSpec parent_spec, const SweepSpec& spec,
              bool feasible_alone);
  std::shared_ptr<const PointBatch> batch_of(std::int64_t index);

  const Store& store_;
  std::int64_t parent_;
  SweepSpec parent_spec_, spec_;
  bool feasible_alone_;
  PointIndex index_;
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<const PointBatch>> recent_;  // of the parent, the last one first
  std::vector<bool> taken_;                              // by point
};

/// "1" for each point of `ranges`, one after the other, that is taken, else "0"; and back: of such a point an
/// outcome that says nothing.
std::string taken_text(TakenPoints& taken, const std::vector<IndexRange>& ranges);
KnownPoints left_out(std::string text, std::vector<IndexRange> ranges);

}  // namespace sdip
