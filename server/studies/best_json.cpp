// Searches as JSON.
#include "server/studies/best_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/json/explain_json.h"
#include "server/studies/best_steps.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

/// One of the best of an answer, beside another one.
struct FoundOf {
  const BestAnswer& answer;
  const Candidate& candidate;
  const Machine& before;
  Knee knee;
};

OrderedJson values_json(const SearchGoal& goal, const std::vector<double>& costs) {
  OrderedJson values = OrderedJson::array();
  for (std::size_t k = 0; k < costs.size(); ++k)
    values.push_back(number_or_null(value_of_cost(goal.objectives[k], costs[k])));
  return values;
}

OrderedJson values_or_null(const SearchGoal& goal, const std::vector<double>& costs) {
  return costs.empty() ? OrderedJson() : values_json(goal, costs);
}

NamedFigures objectives_of(const SearchGoal& goal, const std::vector<double>& costs) {
  NamedFigures objectives;
  for (std::size_t k = 0; k < costs.size(); ++k)
    objectives.emplace_back(goal.objectives[k].measure.name(), value_of_cost(goal.objectives[k], costs[k]));
  return objectives;
}

OrderedJson trace_json(const SearchGoal& goal, const BestTrace& trace) {
  return json_list(trace, [&](const BestSoFar& one) -> OrderedJson {
    return {{"evaluated", one.evaluated},
            {"values", values_json(goal, one.costs)},
            {"volume", one.volume ? OrderedJson(*one.volume) : OrderedJson()}};
  });
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

/// The machines found. With one objective each is told beside the best; on a front each beside the one before.
std::vector<FoundOf> found_of(const BestAnswer& answer) {
  const std::vector<Candidate>& best = answer.found.best;
  const bool front = answer.goal.objectives.size() > 1;
  std::vector<FoundOf> all;
  const std::vector<Knee> knees = found_knees(answer);
  const std::size_t most = answer.request.is_part() ? best.size() : most_listed_machines;
  std::size_t before = 0;
  for (const std::size_t at : places_shown(best.size(), most, knees)) {
    all.push_back({answer, best[at], best[front ? before : 0].machine, knees[at]});
    before = at;
  }
  return all;
}

std::vector<std::string_view> searched_by(const BestAnswer& answer) {
  std::vector<std::string_view> names;
  for (const Axis& axis : answer.space.axes) names.push_back(axis.row->name);
  return names;
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

std::optional<SensitivitiesOf> around(const BestAnswer& answer) {
  if (!answer.keeps() || answer.around.points.empty()) return std::nullopt;
  return SensitivitiesOf{answer.request.model, answer.around};
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

std::optional<double> number_in(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

}  // namespace

template <>
Record<FoundOf> make_record() {
  using Of = FoundOf;
  return Record<Of>("FoundMachine")
      .field("objectives", [](const Of& of) { return objectives_of(of.answer.goal, of.candidate.score.costs); })
      .field("keeps_constraints", [](const Of& of) { return of.candidate.score.violation == 0; })
      .field("broken", [](const Of& of) { return broken_conditions(of.answer, of.candidate); })
      .field("feasible", [](const Of& of) { return of.candidate.outcome.feasible; })
      .field("reason", [](const Of& of) { return of.candidate.outcome.reason; })
      .field("settings", schema::reference("MachineChanges"),
             [](const Of& of) { return settings_json(of.answer.request, of.candidate.machine); })
      .field("differs", [](const Of& of) { return differences(of.answer.space, of.before, of.candidate.machine); })
      .field("knee?", [](const Of& of) { return of.knee; })
      .field("metrics", [](const Of& of) { return of.candidate.outcome.values; });
}
template <>
Record<BetterStep> make_record() {
  using Of = BetterStep;
  return Record<Of>("BetterStep")
      .with(&Of::change)
      .field("value", [](const Of& step) { return Figure{step.value}; })
      .field("limit", &Of::limit)
      .field("broken", &Of::broken)
      .field("violation",
             [](const Of& step) { return step.limit.empty() ? std::optional(step.violation) : std::nullopt; });
}
template <>
Record<BoughtStep> make_record() {
  using Of = BoughtStep;
  return Record<Of>("BoughtStep")
      .with(&Of::change)
      .field("area_mm2", &Of::area_mm2)
      .field("throughput_fps", &Of::frames_per_s)
      .field("throughput_fps_per_mm2", &Of::frames_per_s_per_mm2);
}
template <>
Record<KnownRange> make_record() {
  using Of = KnownRange;
  return Record<Of>("KnownRange")
      .field("metric", [](const Of& range) { return metrics()[range.metric].name; })
      .field("least", [](const Of& range) { return Figure{range.least}; })
      .field("most", [](const Of& range) { return Figure{range.most}; });
}
template <>
Record<BestAnswer> make_record() {
  using Of = BestAnswer;
  using namespace schema;
  return Record<Of>("SearchResult", SchemaOrder::counts_first)
      .field("request", reference("SearchRequest"), [](const Of& of) { return best_request_json(of.request); })
      .field("engine?", [](const Of&) { return signature(); })
      .field("searched", searched_by)
      .field("seconds", &Of::seconds)
      .field("cancelled", &Of::cancelled)
      .field("generations", [](const Of& of) { return of.found.progress.generations; })
      .field("evaluated", [](const Of& of) { return of.found.progress.evaluated; })
      .field("feasible", [](const Of& of) { return of.found.progress.feasible; })
      .field("compiled", [](const Of& of) { return of.found.progress.compiled; })
      .field("reference?", or_null(array(nullable(number()))),
             [](const Of& of) { return values_or_null(of.goal, of.found.progress.reference); })
      .field("trace", array(reference("BestSoFar")), [](const Of& of) { return trace_json(of.goal, of.trace); })
      .field("found", [](const Of& of) { return of.found.best.size(); })
      .field("best", found_of)
      .field("workloads", array(reference("WorkloadWorth")), workloads_json)
      .field("accuracy", or_null(reference("FormatAccuracies")), accuracy_of_formats_json)
      .field("ranges", known_ranges)
      .field("beyond", better_steps)
      .field("bought", bought_steps)
      .field("around", around)
      .field("validation", or_null(reference("ValidationSummary")), validated_json);
}

OrderedJson best_json(const BestAnswer& answer) { return record<BestAnswer>().json(answer); }

void add_search_schemas(OrderedJson& schemas) {
  add_schemas<FoundOf, BetterStep, BoughtStep, KnownRange, BestAnswer>(schemas);
}

OrderedJson best_summary_json(const BestAnswer& answer) {
  const SearchProgress& progress = answer.found.progress;
  const OrderedJson validation = validated_json(answer);
  const auto& best = answer.found.best;
  return {
      {"seconds", answer.seconds},
      {"evaluated", progress.evaluated},
      {"feasible", progress.feasible},
      {"compiled", progress.compiled},
      {"found", std::ssize(best)},
      {"keeps_constraints", answer.keeps()},
      {"objectives", best.empty() ? OrderedJson(nullptr)
                                  : Written<NamedFigures>::json(objectives_of(answer.goal, best[0].score.costs))},
      {"verdict", validation.is_null() ? OrderedJson(nullptr) : OrderedJson(validation.at("verdict"))}};
}

OrderedJson best_progress_json(const SearchGoal& goal, const BestProgress& progress) {
  return {{"doing", progress.doing},
          {"seconds", progress.seconds},
          {"generations", progress.search.generations},
          {"evaluated", progress.search.evaluated},
          {"feasible", progress.search.feasible},
          {"compiled", progress.search.compiled},
          {"best", values_or_null(goal, progress.search.best)},
          {"reference", values_or_null(goal, progress.search.reference)},
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
    progress.trace.push_back({one.at("evaluated").get<std::int64_t>(), costs_from(goal, one.at("values")),
                              number_in(one.value("volume", Json()))});
  if (const Json reference = json.value("reference", Json()); !reference.is_null())
    progress.search.reference = costs_from(goal, reference);
  if (!progress.trace.empty()) progress.search.volume = progress.trace.back().volume;
  return progress;
}

OrderedJson search_row_json(const SearchRow& row, const std::optional<BestProgress>& progress) {
  OrderedJson at;
  if (row.state == SweepState::running && progress && !progress->doing.empty())
    at = best_progress_json(best_request(Json::parse(row.request_json)).goal, *progress);
  return job_row_json(row, std::move(at));
}

OrderedJson searched_rows_json(bool narrow) {
  OrderedJson rows = OrderedJson::array();
  for (const SearchedRow& searched : searched_rows()) {
    const ParameterRow& row = *find_parameter(searched.name);
    const std::string text = searched_text(searched, narrow);
    const auto its_value = [&](std::int64_t value) { return OrderedJson(value_json(row, value)); };
    rows.push_back({{"parameter", searched.name},
                    {"rule", text},
                    {"values", json_list(searched_values(row, text), its_value)}});
  }
  return {{"rows", std::move(rows)}};
}

}  // namespace sdip
