// Fronts of more and more of a sweep's points.
#include "server/jobs/front_growth.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/explore/front.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

using GrowthColumns = std::vector<std::vector<double>>;

/// Leaves the front, of equal points one.
void keep_front_alone(GrowthColumns& columns, std::span<const Better> better) {
  GrowthColumns kept(columns.size());
  for (const std::int64_t place : pareto_front(spans_of(columns), better)) {
    const auto same = [&](std::size_t k) { return !kept[k].empty() && kept[k].back() == columns[k][at(place)]; };
    bool equal = true;
    for (std::size_t k = 0; k < columns.size(); ++k) equal = equal && same(k);
    for (std::size_t k = 0; k < columns.size() && !equal; ++k) kept[k].push_back(columns[k][at(place)]);
  }
  columns = std::move(kept);
}

/// Calls `visit` with how many points there were, and their front, at each mark.
void each_mark(const StoredPoints& points, const SweepSpec& spec, const std::vector<Objective>& objectives,
               std::int64_t step, const std::function<void(std::int64_t, const GrowthColumns&)>& visit) {
  const std::vector<Better> better = directions(objectives);
  std::vector<Measure> measures = measures_of(objectives);
  for (const Formula& constraint : spec.constraints) measures.emplace_back(constraint);
  GrowthColumns front(objectives.size());
  std::int64_t seen = 0;
  constexpr std::size_t folded = 1 << 18;  // points held before those that are on no front are let go
  std::size_t enough = folded;
  points.each_of(measures, [&](const std::vector<std::vector<double>>& values) {
    for (std::size_t i = 0; i < values[0].size(); ++i) {
      bool kept = true;  // by the constraints, as Store::front has it
      for (std::size_t k = objectives.size(); k < values.size(); ++k) kept = kept && condition_holds(values[k][i]);
      for (std::size_t k = 0; k < objectives.size() && kept; ++k) front[k].push_back(values[k][i]);
      if (front[0].size() >= enough) {
        keep_front_alone(front, better);
        enough = std::max(folded, 2 * front[0].size());
      }
      if (++seen % step != 0) continue;
      keep_front_alone(front, better);
      visit(seen, front);
    }
  });
  if (seen % step == 0) return;
  keep_front_alone(front, better);
  visit(seen, front);
}

}  // namespace

FrontGrowth front_growth(const Store& store, const SweepRecord& sweep, std::vector<Objective> objectives) {
  FrontGrowth growth{.objectives = std::move(objectives)};
  const StoredPoints points(store, sweep.row.id, sweep.spec.space);
  GrowthColumns front(growth.objectives.size());
  const std::int64_t count = points.check({});
  each_mark(points, sweep.spec, growth.objectives, std::max<std::int64_t>(count, 1),
            [&](std::int64_t, const GrowthColumns& whole) { front = whole; });
  growth.axes = cost_axes(spans_of(front), directions(growth.objectives));
  growth.on_front = std::ssize(front[0]);
  const std::int64_t step = std::max<std::int64_t>((count + most_growth_marks - 1) / most_growth_marks, 1);
  each_mark(points, sweep.spec, growth.objectives, step, [&](std::int64_t seen, const GrowthColumns& then) {
    growth.marks.push_back({seen, front_volume(growth.axes, spans_of(then))});
  });
  return growth;
}

OrderedJson growth_json(const FrontGrowth& growth) {
  OrderedJson names = OrderedJson::array(), axes = OrderedJson::array(), marks = OrderedJson::array();
  for (std::size_t k = 0; k < growth.objectives.size(); ++k) {
    const CostAxis& axis = growth.axes[k];
    const bool any = growth.on_front > 0;
    names.push_back(objective_text(growth.objectives[k]));
    axes.push_back({{"metric", growth.objectives[k].measure.name()},
                    {"scale", axis.sign == 0 ? "as_is" : "decades"},
                    {"reference", any ? number_or_null(axis.value(axis.reference())) : OrderedJson()}});
  }
  bool whole = true;
  for (const GrowthMark& mark : growth.marks) {
    marks.push_back(
        {{"points", mark.points}, {"volume", mark.volume ? number_or_null(*mark.volume) : OrderedJson()}});
    whole = whole && mark.volume.has_value();
  }
  const OrderedJson last = growth.marks.empty() ? OrderedJson() : marks.back().at("volume");
  return {{"metrics", std::move(names)},
          {"axes", std::move(axes)},
          {"front", growth.on_front},
          {"volume", last},
          {"reason",
           whole ? OrderedJson() : OrderedJson("of more than two objectives volumes of long fronts take too long")},
          {"growth", std::move(marks)}};
}

}  // namespace sdip
