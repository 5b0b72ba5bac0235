// Fronts of one sweep and of several.
#include "server/jobs/fronts.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/explore/front.h"
#include "server/io/text.h"
#include "server/json/explain_json.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

/// The rows in which two machines differ.
std::vector<Change> changes_between(const Machine& from, const Machine& to) {
  std::vector<Change> all;
  for (const std::span<const ParameterRow> rows : {parameters(), technology_parameters()})
    for (const ParameterRow& row : rows)
      if (row.read(from) != row.read(to)) all.push_back({&row, row.read(from), row.read(to)});
  return all;
}

double percent_more(double before, double now) {
  const double percent = 100 * (now - before) / std::abs(before);
  return std::isfinite(percent) ? percent : std::numeric_limits<double>::quiet_NaN();
}

/// All points of the sweeps' own fronts.
std::vector<FrontRow> own_fronts(const Store& store, SweepsFront& front) {
  std::vector<FrontRow> rows;
  for (std::size_t s = 0; s < front.sweeps.size(); ++s) {
    const SweepRecord& sweep = front.sweeps[s];
    std::size_t& own = front.own.emplace_back();
    for (const std::int64_t index : front_points(store, sweep, front.objectives)) {
      auto point = store.point(sweep.row.id, index);
      if (!point) continue;
      FrontRow& row = rows.emplace_back(FrontRow{.sweep = s, .point = std::move(*point)});
      for (const Objective& one : front.objectives)
        row.values.push_back(
            measure_of(one.measure, sweep.spec.space, index, row.point.values, row.point.feasible));
      ++own;
    }
  }
  return rows;
}

}  // namespace

std::vector<std::string> SweepsFront::models() const {
  std::vector<std::string> all;
  for (const SweepRecord& sweep : sweeps)
    if (std::ranges::find(all, sweep.row.model) == all.end()) all.push_back(sweep.row.model);
  return all;
}

SweepsFront front_of_sweeps(const Store& store, std::vector<SweepRecord> sweeps,
                            std::vector<Objective> objectives) {
  SweepsFront front{.sweeps = std::move(sweeps), .objectives = std::move(objectives)};
  const std::vector<Better> better = directions(front.objectives);
  std::vector<FrontRow> all = own_fronts(store, front);
  const auto values = [](const FrontRow& row) -> const std::vector<double>& { return row.values; };
  if (front.sweeps.size() > 1) {
    const auto columns = columns_of(all, better.size(), values);
    for (const std::int64_t place : pareto_front(spans_of(columns), better))
      front.rows.push_back(std::move(all[at(place)]));
  } else {
    front.rows = std::move(all);
  }
  const auto columns = columns_of(front.rows, better.size(), values);
  const auto knees = front_knees(spans_of(columns), better);
  std::optional<Machine> before;
  for (std::size_t i = 0; i < front.rows.size(); ++i) {
    FrontRow& row = front.rows[i];
    row.knee = knees[i];
    const Machine machine = point(front.sweeps[row.sweep].spec.space, row.point.index);
    if (before) {
      row.differs = changes_between(*before, machine);
      for (std::size_t k = 0; k < better.size(); ++k)
        row.percent.push_back(percent_more(front.rows[i - 1].values[k], row.values[k]));
    }
    before = machine;
  }
  return front;
}

std::string empty_front_text(const Store& store, const SweepRecord& sweep) {
  if (sweep.row.feasible == 0) return "no point is feasible";
  std::vector<Measure> constraints;
  for (const Formula& one : sweep.spec.constraints) constraints.emplace_back(one);
  std::string without_value = "no feasible point has a value of each objective";
  if (constraints.empty()) return without_value;
  List<std::int64_t> keep(constraints.size());
  std::int64_t keep_all = 0;
  StoredPoints(store, sweep.row.id, sweep.spec.space)
      .each_of(constraints, [&](const std::vector<std::vector<double>>& values) {
        for (std::size_t i = 0; i < values[0].size(); ++i) {
          bool all = true;
          for (std::size_t k = 0; k < values.size(); ++k) {
            const bool kept = condition_holds(values[k][i]);
            keep[k] += kept ? 1 : 0;
            all = all && kept;
          }
          keep_all += all ? 1 : 0;
        }
      });
  if (keep_all > 0) return without_value + " and keeps the constraints";
  std::string texts;
  for (std::size_t k = 0; k < constraints.size(); ++k)
    texts += fmt::format("{}{} by {}", k > 0 ? ", " : "", sweep.spec.constraints[k].text, count_text(keep[k]));
  return fmt::format("no point keeps all constraints; of {} feasible points are kept: {}",
                     count_text(sweep.row.feasible), texts);
}

std::optional<bool> gains(const Objective& objective, double percent) {
  if (!(std::abs(percent) > 0)) return std::nullopt;
  return (percent > 0) == (objective.better == Better::higher);
}

std::vector<std::string> percent_texts(const SweepsFront& front, const FrontRow& row) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < row.percent.size(); ++k) {
    if (!gains(front.objectives[k], row.percent[k])) continue;
    texts.push_back(fmt::format("{} {} {}", front.objectives[k].measure.name(),
                                share_text(std::abs(row.percent[k]) / 100), row.percent[k] > 0 ? "more" : "less"));
  }
  return texts;
}

OrderedJson place_json(const SweepsFront& front, const FrontRow& row) {
  OrderedJson changes = OrderedJson::array();
  for (std::size_t k = 0; k < row.percent.size(); ++k) {
    const auto gain = gains(front.objectives[k], row.percent[k]);
    changes.push_back({{"metric", front.objectives[k].measure.name()},
                       {"percent", number_or_null(row.percent[k])},
                       {"better", gain ? OrderedJson(*gain) : OrderedJson()}});
  }
  return {{"knee", knee_text(row.knee)},
          {"differs", Written<std::vector<Change>>::json(row.differs)},
          {"changes", std::move(changes)}};
}

OrderedJson front_json(const Store& store, const SweepsFront& front) {
  const SweepRecord& sweep = front.sweeps[0];
  const Fields fields = fields_of(sweep.spec, "", "fields");
  OrderedJson rows = OrderedJson::array(), places = OrderedJson::array();
  const PointAccuracies measured = store.point_accuracies(sweep.row.id);
  for (const FrontRow& row : front.rows) {
    rows.push_back(point_row(sweep.spec.space, fields, row.point, measured));
    places.push_back(place_json(front, row));
  }
  return {{"metrics", json_list(front.objectives, objective_text)},
          {"columns", column_names(sweep.spec.space, fields)},
          {"rows", std::move(rows)},
          {"places", std::move(places)},
          {"reason", front.rows.empty() ? OrderedJson(empty_front_text(store, sweep)) : OrderedJson()}};
}

}  // namespace sdip
