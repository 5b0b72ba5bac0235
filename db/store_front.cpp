// The Pareto front of a sweep, kept and brought up to date by what was stored since.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/explore/front.h"
#include "db/parts.h"

namespace sdip {
namespace {

constexpr std::size_t most_kept_points = 1 << 18;
constexpr std::size_t folded_points = 1 << 20;  // read before those that are on no front are let go

std::string front_key(std::int64_t id, std::span<const Objective> objectives,
                      std::span<const Formula> constraints) {
  std::string key = std::to_string(id);
  const auto add = [&](const std::string& text) { key += '\n' + std::to_string(text.size()) + ':' + text; };
  for (const Objective& one : objectives) add(objective_text(one));
  key += "\n<";
  for (const Formula& one : constraints) add(one.text);
  return key;
}

std::vector<std::int64_t> front_positions(const Columns& points, std::span<const Better> better) {
  return pareto_front(std::vector<std::span<const double>>(points.values.begin(), points.values.end()), better);
}

/// Leaves what is on the front of these, ascending by index.
void keep_front(Columns& points, std::span<const Better> better) {
  std::vector<std::int64_t> places = front_positions(points, better);
  std::ranges::sort(places, {}, [&](std::int64_t place) { return points.index[at(place)]; });
  Columns kept;
  kept.values.resize(points.values.size());
  for (const std::int64_t place : places) {
    const auto at = as_size(place);
    kept.index.push_back(points.index[at]);
    for (std::size_t k = 0; k < points.values.size(); ++k) kept.values[k].push_back(points.values[k][at]);
  }
  points = std::move(kept);
}

}  // namespace

std::vector<std::int64_t> Store::front(std::int64_t id, const Space& space, std::span<const Objective> objectives,
                                       std::span<const Formula> constraints) const {
  const std::shared_ptr<KeptFront> kept = parts_->fronts.of(front_key(id, objectives, constraints));
  const std::scoped_lock lock(kept->growing);
  const std::vector<Better> better = directions(objectives);
  const std::vector<Measure> measures = measures_of(objectives);
  ReadConnection reading(parts_->pooling, parts_->idle, parts_->path);
  total_of(reading.connection(), id);
  ChunkReader reader(reading.connection(), parts_->metric_ids);
  KeptFront grown{.last_chunk = kept->last_chunk, .points = kept->points};
  Columns& points = grown.points;
  points.values.resize(measures.size());
  std::vector<double> limit;
  std::size_t enough = folded_points;  // a front of many equal points is not folded again for a few more
  reader.each_since(id, kept->last_chunk, [&](const ChunkHead& chunk) {
    const std::size_t before = points.index.size();
    for (std::int64_t i = 0; i < chunk.count; ++i) points.index.push_back(chunk.first + i);
    for (std::size_t k = 0; k < measures.size(); ++k) reader.measure(chunk, space, measures[k], points.values[k]);
    for (const Formula& constraint : constraints) {
      limit.clear();
      reader.measure(chunk, space, Measure(constraint), limit);
      for (std::size_t i = 0; i < limit.size(); ++i)  // one without an objective is on no front
        if (!condition_holds(limit[i])) points.values[0][before + i] = std::numeric_limits<double>::quiet_NaN();
    }
    grown.last_chunk = std::max(grown.last_chunk, chunk.id);
    if (points.index.size() < enough) return;
    keep_front(points, better);
    enough = std::max(folded_points, 2 * points.index.size());
  });
  keep_front(points, better);
  std::vector<std::int64_t> indices;
  for (const std::int64_t place : front_positions(points, better)) indices.push_back(points.index[at(place)]);
  if (points.index.size() <= most_kept_points) {
    kept->last_chunk = grown.last_chunk;
    kept->points = std::move(points);
  }
  return indices;
}

}  // namespace sdip
