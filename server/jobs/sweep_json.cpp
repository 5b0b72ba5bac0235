// Sweeps, pages, columns and fronts to JSON.
#include "server/jobs/sweep_json.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <memory>
#include <mutex>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/study/signature.h"
#include "server/json/report_json.h"
#include "server/studies/accuracy.h"

namespace sdip {
namespace {

using SharedSpec = std::shared_ptr<const SweepSpec>;

/// Reads a spec, and keeps the last few: a sweep is read again and again, and blocks of conditions take long.
SharedSpec spec_of_text(const std::string& text) {
  constexpr std::size_t most_specs = 4;
  using Kept = std::pair<std::string, SharedSpec>;
  static std::mutex reading;
  static std::list<Kept> kept;  // most recently used first
  {
    const std::lock_guard lock(reading);
    const auto known = std::ranges::find(kept, text, &Kept::first);
    if (known != kept.end()) {
      kept.splice(kept.begin(), kept, known);
      return known->second;
    }
  }
  auto spec = std::make_shared<const SweepSpec>(spec_from_json(Json::parse(text)));
  const std::lock_guard lock(reading);
  kept.emplace_front(text, spec);
  if (kept.size() > most_specs) kept.pop_back();
  return spec;
}

/// Names between commas; one behind the last name says nothing.
std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names = split(list, ',');
  if (names.back().empty()) names.pop_back();
  return names;
}

/// A sweep as it stands.
struct SweepNow {
  const SweepRow& row;
  const std::optional<Pace>& pace;
  bool measuring;
  const OrderedJson& validation;
  OrderedJson spec = OrderedJson::parse(row.spec_json);
};

}  // namespace

template <>
struct Written<SweepState> : WrittenNames<sweep_state_text, SweepState::interrupted> {};
template <>
Record<SweepNow> make_record() {
  using Of = SweepNow;
  using namespace schema;
  return Record<Of>("Sweep")
      .field("id", [](const Of& of) { return of.row.id; })
      .field("name", [](const Of& of) { return of.row.name; })
      .field("model", [](const Of& of) { return of.row.model; })
      .field("state", [](const Of& of) { return of.row.state; })
      .field("total", [](const Of& of) { return of.row.total; })
      .field("done", [](const Of& of) { return of.row.done; })
      .field("feasible", [](const Of& of) { return of.row.feasible; })
      .field("unchecked", [](const Of& of) { return of.row.unchecked; })
      .field("revision", [](const Of& of) { return of.row.revision; })
      .field("parent",
             [](const Of& of) { return of.row.origin ? std::optional(of.row.origin->parent) : std::nullopt; })
      .field("change", or_null(reference("RevisionRequest")),
             [](const Of& of) {
               return of.row.origin ? OrderedJson::parse(of.row.origin->revision_json) : OrderedJson();
             })
      .field("taken", [](const Of& of) { return of.row.taken; })
      .field("signature",
             [](const Of& of) { return of.row.signature.empty() ? std::nullopt : std::optional(of.row.signature); })
      .field("engine_changed", [](const Of& of) { return engine_changed(of.row); })
      .field("points_per_second",
             [](const Of& of) { return of.pace ? std::optional(of.pace->points_per_second) : std::nullopt; })
      .field("eta_s", [](const Of& of) { return of.pace ? of.pace->eta_s : std::nullopt; })
      .field("measuring_accuracy", &Of::measuring)
      .field("created", [](const Of& of) { return of.row.created; })
      .field("error", or_null(reference("Problem")),
             [](const Of& of) {
               const auto& error = of.row.error;
               return error ? problem_json(error->code, error->where, error->message) : OrderedJson();
             })
      .field("objectives", array(text()), [](const Of& of) { return of.spec.at("objectives"); })
      .field("validation", or_null(reference("SweepValidation")), [](const Of& of) { return of.validation; })
      .field("spec", reference("SweepRequest"), &Of::spec);
}
template <>
Record<KeptPoint> make_record() {
  return Record<KeptPoint>("KeptPoint")
      .field("index", &KeptPoint::index)
      .field("created", &KeptPoint::created)
      .field("signature", &KeptPoint::signature)
      .field("text_bytes", &KeptPoint::text_bytes);
}

std::string_view accuracy_field_name(AccuracyField field) { return accuracy_fields[at(field)]; }

SweepRecord sweep_record(const Store& store, std::int64_t id) {
  SweepRecord record{store.sweep(id), {}};
  record.spec = *spec_of_text(record.row.spec_json);
  return record;
}

bool engine_changed(const SweepRow& row) { return row.done > 0 && row.signature != signature(); }

OrderedJson sweep_json(const SweepRow& row, const std::optional<Pace>& pace, bool measuring,
                       const OrderedJson& validation) {
  return record<SweepNow>().json({row, pace, measuring, validation});
}

void add_sweep_schema(OrderedJson& schemas) { add_schemas<SweepNow>(schemas); }

Fields fields_of(const SweepSpec& spec, std::string_view list, const std::string& where) {
  const Space& space = spec.space;
  Fields fields;
  if (list.empty()) {
    for (std::size_t i = 0; i < space.axes.size(); ++i) fields.axes.push_back(i);
    for (std::size_t i = 0; i < metric_count; ++i) fields.metrics.emplace_back(static_cast<Metric>(i));
    for (const Formula& formula : spec.formulas) fields.metrics.emplace_back(formula);
    fields.accuracies = {AccuracyField::sqnr_db, AccuracyField::cosine, AccuracyField::accuracy_weights};
    return fields;
  }
  for (const auto name : names_in(list)) {
    if (name == "index" || name == "feasible" || name == "reason") continue;  // are always there
    const auto axis = std::ranges::find_if(space.axes, [&](const Axis& one) { return one.row->name == name; });
    const auto accuracy = std::ranges::find(accuracy_fields, name);
    if (accuracy != std::end(accuracy_fields))
      fields.accuracies.push_back(static_cast<AccuracyField>(accuracy - std::begin(accuracy_fields)));
    else if (axis == space.axes.end())
      fields.metrics.push_back(require_measure(name, spec.formulas, where));
    else
      fields.axes.push_back(as_size(axis - space.axes.begin()));
  }
  return fields;
}

std::vector<Objective> objectives_of(const SweepSpec& spec, std::string_view list, const std::string& where) {
  std::vector<Objective> objectives;
  for (const auto name : names_in(list)) objectives.push_back(objective_from_text(name, spec.formulas, where));
  check_objectives(objectives, where);
  return objectives;
}

OrderedJson formula_values(const SweepSpec& spec, const StoredPoint& point) {
  OrderedJson values = OrderedJson::object();
  for (const Formula& formula : spec.formulas)
    values[formula.name] =
        number_or_null(measure_of(Measure(formula), spec.space, point.index, point.values, point.feasible));
  return values;
}

OrderedJson column_names(const Space& space, const Fields& fields) {
  OrderedJson names = {"index", "feasible", "reason"};
  for (const auto axis : fields.axes) names.push_back(space.axes[axis].row->name);
  for (const Measure& metric : fields.metrics) names.push_back(metric.name());
  for (const auto accuracy : fields.accuracies) names.push_back(accuracy_field_name(accuracy));
  return names;
}

OrderedJson accuracy_cell(AccuracyField field, const PointAccuracies& measured, std::int64_t index) {
  const auto found = measured.find(index);
  if (found == measured.end()) return {};
  if (field == AccuracyField::accuracy_weights) return found->second.random_weights ? "random" : "file";
  return field == AccuracyField::sqnr_db ? decibels_json(found->second.sqnr_db)
                                         : number_or_null(found->second.cosine);
}

OrderedJson point_row(const Space& space, const Fields& fields, const StoredPoint& point,
                      const PointAccuracies& measured) {
  OrderedJson row = {point.index, point.feasible, point.reason};
  const std::vector<std::int64_t> values = axis_values(space, point.index);  // at once: conditions read others
  for (const auto axis : fields.axes) row.push_back(OrderedJson(value_json(*space.axes[axis].row, values[axis])));
  for (const Measure& metric : fields.metrics)
    row.push_back(number_or_null(measure_of(metric, space, point.index, point.values, point.feasible)));
  for (const auto accuracy : fields.accuracies) row.push_back(accuracy_cell(accuracy, measured, point.index));
  return row;
}

std::vector<std::int64_t> front_points(const Store& store, const SweepRecord& sweep,
                                       const std::vector<Objective>& objectives) {
  return store.front(sweep.row.id, sweep.spec.space, objectives, sweep.spec.constraints);
}

}  // namespace sdip
