// Searches as JSON.
#include "server/studies/best_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/http/http.h"
#include "server/json/explain_json.h"
#include "server/studies/best_steps.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

OrderedJson values_json(const SearchGoal& goal, const std::vector<double>& costs) {
  OrderedJson values = OrderedJson::array();
  for (std::size_t k = 0; k < costs.size(); ++k)
    values.push_back(number_or_null(value_of_cost(goal.objectives[k], costs[k])));
  return values;
}

OrderedJson objectives_json(const SearchGoal& goal, const std::vector<double>& costs) {
  OrderedJson objectives = OrderedJson::object();
  for (std::size_t k = 0; k < costs.size(); ++k)
    objectives[std::string(goal.objectives[k].measure.name())] =
        number_or_null(value_of_cost(goal.objectives[k], costs[k]));
  return objectives;
}

OrderedJson trace_json(const SearchGoal& goal, const BestTrace& trace) {
  OrderedJson list = OrderedJson::array();
  for (const BestSoFar& one : trace)
    list.push_back({{"evaluated", one.evaluated}, {"values", values_json(goal, one.costs)}});
  return list;
}

/// As the body of a request changes the preset: what differs from it, and what is fixed.
OrderedJson settings_json(const BestRequest& request, const Machine& machine) {
  const OrderedJson preset = machine_json(find_preset(request.preset)->machine), own = machine_json(machine);
  OrderedJson settings = OrderedJson::object();
  for (const auto& item : own.items()) {
    const bool fixed = std::ranges::find(request.fixed, item.key()) != request.fixed.end();
    if (fixed || !preset.contains(item.key()) || preset[item.key()] != item.value())
      settings[item.key()] = item.value();
  }
  return settings;
}

OrderedJson machine_found_json(const BestAnswer& answer, const Candidate& candidate, const Machine& before,
                               Knee knee) {
  OrderedJson differs = OrderedJson::array();
  for (const Change& change : differences(answer.space, before, candidate.machine))
    differs.push_back(step_json(change));
  return {{"objectives", objectives_json(answer.goal, candidate.score.costs)},
          {"keeps_constraints", candidate.score.violation == 0},
          {"broken", broken_conditions(answer, candidate)},
          {"feasible", candidate.outcome.feasible},
          {"reason", candidate.outcome.reason},
          {"settings", settings_json(answer.request, candidate.machine)},
          {"differs", std::move(differs)},
          {"knee", knee_text(knee)},
          {"metrics", Written<MetricValues>::json(candidate.outcome.values)}};
}

/// The machines found. With one objective each is told beside the best; on a front each beside the one before.
OrderedJson found_json(const BestAnswer& answer) {
  const std::vector<Candidate>& best = answer.found.best;
  const bool front = answer.goal.objectives.size() > 1;
  OrderedJson list = OrderedJson::array();
  const std::vector<Knee> knees = found_knees(answer);
  const std::size_t most = answer.request.is_part() ? best.size() : most_listed_machines;
  std::size_t before = 0;
  for (const std::size_t at : places_shown(best.size(), most, knees)) {
    list.push_back(machine_found_json(answer, best[at], best[front ? before : 0].machine, knees[at]));
    before = at;
  }
  return list;
}

OrderedJson beyond_json(const BestAnswer& answer) {
  OrderedJson list = OrderedJson::array();
  for (const BetterStep& step : better_steps(answer)) {
    OrderedJson one = step_json(step.change);
    one["value"] = number_or_null(step.value);
    one["limit"] = step.limit;
    one["broken"] = step.broken;
    one["violation"] = step.limit.empty() ? OrderedJson(step.violation) : OrderedJson(nullptr);
    list.push_back(std::move(one));
  }
  return list;
}

OrderedJson bought_json(const BestAnswer& answer) {
  OrderedJson list = OrderedJson::array();
  for (const BoughtStep& step : bought_steps(answer)) {
    OrderedJson one = step_json(step.change);
    one["area_mm2"] = step.area_mm2;
    one["throughput_fps"] = step.frames_per_s;
    one["throughput_fps_per_mm2"] = step.frames_per_s_per_mm2();
    list.push_back(std::move(one));
  }
  return list;
}

OrderedJson ranges_json(const BestAnswer& answer) {
  OrderedJson list = OrderedJson::array();
  for (const KnownRange& range : known_ranges(answer))
    list.push_back({{"metric", metrics()[range.metric].name},
                    {"least", number_or_null(range.least)},
                    {"most", number_or_null(range.most)}});
  return list;
}

/// The outcome of the best machine for each workload of a mix.
OrderedJson workloads_json(const BestAnswer& answer) {
  OrderedJson list = OrderedJson::array();
  for (std::size_t i = 0; i < answer.analyses.size(); ++i)
    list.push_back({{"model", answer.mix[i].model},
                    {"weight", answer.mix[i].weight},
                    {"metrics", Written<MetricValues>::json(answer.analyses[i].report.outcome.values)}});
  return list;
}

/// The accuracies measured of sets of formats; null where there are none.
OrderedJson accuracy_of_formats_json(const BestAnswer& answer) {
  if (!answer.request.measures_formats()) return nullptr;
  OrderedJson sets = OrderedJson::array();
  for (const TabledValue& set : answer.formats.sets) {
    OrderedJson formats = OrderedJson::object();
    for (std::size_t r = 0; r < set.values.size(); ++r) {
      const ParameterRow& row = *answer.formats.rows[r];
      formats[std::string(row.name)] = OrderedJson(value_json(row, set.values[r]));
    }
    sets.push_back({{"formats", std::move(formats)}, {"sqnr_db", set.number}});
  }
  return {{"model", answer.measured_model()},
          {"weights", answer.formats.random_weights ? "random" : "file"},
          {"measured", answer.formats.measured},
          {"sets", std::move(sets)},
          {"sqnr_db", answer.sqnr_db ? number_or_null(*answer.sqnr_db) : OrderedJson(nullptr)}};
}

/// Null where the answer was not validated.
OrderedJson validated_json(const BestAnswer& answer) {
  const bool validated =
      answer.keeps() && !answer.cancelled && !answer.request.is_part() && answer.request.validate_seconds > 0;
  return validated ? validation_summary_json(answer.validation) : OrderedJson(nullptr);
}

std::vector<double> costs_from(const SearchGoal& goal, const Json& values) {
  if (values.size() != goal.objectives.size())
    throw Error("value_invalid", "values", "expected a value of each objective");
  std::vector<double> costs;
  for (std::size_t k = 0; k < values.size(); ++k)
    costs.push_back(value_of_cost(goal.objectives[k], values[k].is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                                          : values[k].get<double>()));
  return costs;
}

}  // namespace

OrderedJson step_json(const Change& change) {
  return {{"parameter", change.row->name},
          {"from", value_json(*change.row, change.from)},
          {"to", value_json(*change.row, change.to)}};
}

OrderedJson best_json(const BestAnswer& answer) {
  const SearchSpace& space = answer.space;
  const SearchProgress& progress = answer.found.progress;
  OrderedJson searched = OrderedJson::array();
  for (const Axis& axis : space.axes) searched.push_back(axis.row->name);
  return {{"request", best_request_json(answer.request)},
          {"engine", signature()},
          {"searched", std::move(searched)},
          {"seconds", answer.seconds},
          {"cancelled", answer.cancelled},
          {"generations", progress.generations},
          {"evaluated", progress.evaluated},
          {"feasible", progress.feasible},
          {"compiled", progress.compiled},
          {"trace", trace_json(answer.goal, answer.trace)},
          {"found", std::ssize(answer.found.best)},
          {"best", found_json(answer)},
          {"workloads", workloads_json(answer)},
          {"accuracy", accuracy_of_formats_json(answer)},
          {"ranges", ranges_json(answer)},
          {"beyond", beyond_json(answer)},
          {"bought", bought_json(answer)},
          {"around", answer.keeps() && !answer.around.points.empty()
                         ? sensitivities_json(answer.request.model, answer.around)
                         : OrderedJson(nullptr)},
          {"validation", validated_json(answer)}};
}

OrderedJson best_summary_json(const BestAnswer& answer) {
  const SearchProgress& progress = answer.found.progress;
  const OrderedJson validation = validated_json(answer);
  const auto& best = answer.found.best;
  return {{"seconds", answer.seconds},
          {"evaluated", progress.evaluated},
          {"feasible", progress.feasible},
          {"compiled", progress.compiled},
          {"found", std::ssize(best)},
          {"keeps_constraints", answer.keeps()},
          {"objectives", best.empty() ? OrderedJson(nullptr) : objectives_json(answer.goal, best[0].score.costs)},
          {"verdict", validation.is_null() ? OrderedJson(nullptr) : OrderedJson(validation.at("verdict"))}};
}

OrderedJson best_progress_json(const SearchGoal& goal, const BestProgress& progress) {
  return {{"doing", progress.doing},
          {"seconds", progress.seconds},
          {"generations", progress.search.generations},
          {"evaluated", progress.search.evaluated},
          {"feasible", progress.search.feasible},
          {"compiled", progress.search.compiled},
          {"best", progress.search.best.empty() ? OrderedJson(nullptr) : values_json(goal, progress.search.best)},
          {"trace", trace_json(goal, progress.trace)}};
}

BestProgress best_progress_from_json(const SearchGoal& goal, const Json& json) {
  BestProgress progress;
  progress.doing = json.at("doing").get<std::string>();
  progress.seconds = json.at("seconds").get<double>();
  progress.search.generations = json.at("generations").get<std::int64_t>();
  progress.search.evaluated = json.at("evaluated").get<std::int64_t>();
  progress.search.feasible = json.at("feasible").get<std::int64_t>();
  progress.search.compiled = json.at("compiled").get<std::int64_t>();
  if (!json.at("best").is_null()) progress.search.best = costs_from(goal, json.at("best"));
  if (json.at("trace").size() > longest_trace)
    throw Error("value_invalid", "trace", "expected at most " + std::to_string(longest_trace));
  for (const Json& one : json.at("trace"))
    progress.trace.push_back({one.at("evaluated").get<std::int64_t>(), costs_from(goal, one.at("values"))});
  return progress;
}

OrderedJson search_row_json(const SearchRow& row, const std::optional<BestProgress>& progress) {
  const OrderedJson request = OrderedJson::parse(row.request_json);
  OrderedJson at, error;
  if (row.state == SweepState::running && progress && !progress->doing.empty())
    at = best_progress_json(best_request(Json::parse(row.request_json)).goal, *progress);
  if (row.error) error = problem_json(row.error->code, row.error->where, row.error->message);
  return {{"id", row.id},
          {"model", row.model},
          {"state", sweep_state_text(row.state)},
          {"created", row.created},
          {"progress", at},
          {"error", error},
          {"request", request},
          {"summary", row.summary_json.empty() ? OrderedJson() : OrderedJson::parse(row.summary_json)}};
}

OrderedJson searched_rows_json(bool narrow) {
  OrderedJson rows = OrderedJson::array();
  for (const SearchedRow& searched : searched_rows()) {
    const ParameterRow& row = *find_parameter(searched.name);
    const std::string text = searched_text(searched, narrow);
    OrderedJson values = OrderedJson::array();
    for (const std::int64_t value : searched_values(row, text))
      values.push_back(OrderedJson(value_json(row, value)));
    rows.push_back({{"parameter", searched.name}, {"rule", text}, {"values", std::move(values)}});
  }
  return {{"rows", std::move(rows)}};
}

}  // namespace sdip
