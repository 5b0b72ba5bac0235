// Fronts of several sweeps: what may stand side by side, and the answer.
#include "server/jobs/joint_front.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/base/words.h"
#include "server/json/report_json.h"

namespace sdip {
namespace {

/// The formula of that name that a sweep has; nothing where it has none.
const Formula* own_formula(const SweepSpec& spec, std::string_view name) {
  const auto found = std::ranges::find(spec.formulas, name, &Formula::name);
  return found == spec.formulas.end() ? nullptr : &*found;
}

/// An objective means the same in all sweeps.
void check_same_meaning(const std::vector<SweepRecord>& sweeps, const std::vector<Objective>& objectives,
                        const std::string& where) {
  for (const Objective& one : objectives)
    for (const SweepRecord& sweep : sweeps) {
      const Formula* own = own_formula(sweep.spec, one.measure.name());
      const bool same = one.measure.formula ? own == nullptr || own->text == one.measure.formula->text : !own;
      if (!same)
        throw Error("value_conflict", where,
                    fmt::format("{} is something else in sweep {}", one.measure.name(), sweep.row.id));
    }
}

void check_one_engine(const std::vector<SweepRecord>& sweeps, const std::string& where) {
  const SweepRecord* first = nullptr;
  for (const SweepRecord& sweep : sweeps) {
    if (sweep.row.done == 0) continue;
    if (first == nullptr) first = &sweep;
    if (sweep.row.signature != first->row.signature)
      throw Error(
          "engine_changed", where,
          fmt::format("the points of sweeps {} and {} are of different engines", first->row.id, sweep.row.id));
  }
}

/// The objectives that are said, in the words of the first sweep that knows them all; or the sweeps' own.
std::vector<Objective> joint_objectives(const std::vector<SweepRecord>& sweeps, const std::string& said,
                                        const std::string& where) {
  if (said.empty()) {
    for (const SweepRecord& sweep : sweeps)
      if (sweep.spec.objectives != sweeps[0].spec.objectives)
        throw Error("value_invalid", where,
                    fmt::format("sweeps {} and {} have different objectives: expected which to take",
                                sweeps[0].row.id, sweep.row.id));
    return sweeps[0].spec.objectives;
  }
  for (const SweepRecord& sweep : sweeps) try {
      return objectives_of(sweep.spec, said, where);
    } catch (const Error& error) {
      if (error.code != "unknown_metric" || &sweep == &sweeps.back()) throw;
    }
  throw Error("value_invalid", where, "expected objectives");
}

}  // namespace

std::vector<std::int64_t> sweep_numbers(std::string_view list, const std::string& where) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view one : split(list, ',')) {
    const auto number = whole_number(one);
    if (!number) throw Error("value_invalid", where, "expected numbers of sweeps: 1,2");
    numbers.push_back(*number);
  }
  return numbers;
}

SweepsFront joint_front(const Store& store, const JointFrontRequest& request, const JointFrontPlaces& places) {
  if (request.sweeps.empty()) throw Error("value_invalid", places.sweeps, "expected a sweep");
  if (request.sweeps.size() > most_joint_sweeps)
    throw Error("limit_exceeded", places.sweeps, fmt::format("expected at most {} sweeps", most_joint_sweeps));
  std::vector<SweepRecord> sweeps;
  for (const std::int64_t id : request.sweeps) {
    if (std::ranges::count(request.sweeps, id) > 1)
      throw Error("value_invalid", places.sweeps, fmt::format("sweep {} stands twice", id));
    SweepSpec& spec = sweeps.emplace_back(sweep_record(store, id)).spec;
    spec.formulas.insert(spec.formulas.end(), request.formulas.begin(), request.formulas.end());
    check_formulas(spec.formulas, places.formulas);
    spec.constraints.insert(spec.constraints.end(), request.constraints.begin(), request.constraints.end());
    if (spec.constraints.size() > most_formulas)
      throw Error("limit_exceeded", places.constraints,
                  fmt::format("expected at most {} constraints", most_formulas));
  }
  std::vector<Objective> objectives = joint_objectives(sweeps, request.objectives, places.objectives);
  check_same_meaning(sweeps, objectives, places.objectives);
  check_one_engine(sweeps, places.sweeps);
  return front_of_sweeps(store, std::move(sweeps), std::move(objectives));
}

std::string models_note(const SweepsFront& front) {
  const std::vector<std::string> models = front.models();
  if (models.size() < 2) return "";
  return "these sweeps are of different models, so that their figures are of different work: " + list_text(models);
}

OrderedJson joint_front_json(const SweepsFront& front) {
  OrderedJson sweeps = OrderedJson::array(), points = OrderedJson::array();
  for (std::size_t s = 0; s < front.sweeps.size(); ++s)
    sweeps.push_back({{"id", front.sweeps[s].row.id},
                      {"name", front.sweeps[s].row.name},
                      {"model", front.sweeps[s].row.model},
                      {"own", front.own[s]},
                      {"points", std::ranges::count(front.rows, s, &FrontRow::sweep)}});
  for (const FrontRow& row : front.rows) {
    const SweepRecord& sweep = front.sweeps[row.sweep];
    OrderedJson values = OrderedJson::object(), axes = OrderedJson::object();
    for (std::size_t k = 0; k < row.values.size(); ++k)
      values[std::string(front.objectives[k].measure.name())] = number_or_null(row.values[k]);
    const std::vector<std::int64_t> at_point = axis_values(sweep.spec.space, row.point.index);
    for (std::size_t a = 0; a < at_point.size(); ++a) {
      const ParameterRow& parameter = *sweep.spec.space.axes[a].row;
      axes[std::string(parameter.name)] = OrderedJson(value_json(parameter, at_point[a]));
    }
    OrderedJson point = {{"sweep", sweep.row.id},
                         {"index", row.point.index},
                         {"objectives", std::move(values)},
                         {"axes", std::move(axes)}};
    point.update(place_json(front, row));
    points.push_back(std::move(point));
  }
  const std::string note = models_note(front);
  return {{"metrics", json_list(front.objectives, objective_text)},
          {"sweeps", std::move(sweeps)},
          {"note", note.empty() ? OrderedJson() : OrderedJson(note)},
          {"points", std::move(points)}};
}

}  // namespace sdip
