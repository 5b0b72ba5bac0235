// Screening the rows of a machine.
#include "server/studies/screening.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/explore/search/families.h"
#include "core/explore/search/rows.h"
#include "server/io/threads.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

constexpr std::string_view method_names[] = {"morris", "sobol"};
constexpr std::int64_t usual_samples[] = {usual_trajectories, 64};

/// Values from half of the base's to twice, of numbers: choices drawn among all break rules between rows nearly
/// always.
std::vector<Axis> axes_near(const Machine& base) {
  std::vector<Axis> axes = searched_axes(base, {}, {});
  for (Axis& axis : axes) {
    const std::int64_t own = axis.row->read(base);
    std::erase_if(axis.values, [&](std::int64_t value) { return 2 * value < own || value > 2 * own; });
  }
  std::erase_if(axes, [](const Axis& axis) { return !has_order(*axis.row) || axis.values.size() < 2; });
  return axes;
}

/// Machines that share a program, by their places.
using Sharing = std::map<std::vector<std::int64_t>, std::vector<std::size_t>>;

/// Of one program, but what its machines are worth stays without values where it cannot be.
void evaluate_sharing(const CompileFunction& compile_machine, const std::vector<Machine>& machines,
                      const std::vector<std::size_t>& places, std::vector<Outcome>& outcomes) {
  try {
    const Programs programs = compile_machine(machines[places[0]]);
    const Evaluator evaluator = evaluator_of(programs, side_by_side);
    std::vector<Machine> its;
    for (const std::size_t place : places) its.push_back(machines[place]);
    std::vector<Outcome> found(its.size());
    evaluate_each(evaluator, its, found);
    for (std::size_t i = 0; i < places.size(); ++i) outcomes[places[i]] = std::move(found[i]);
  } catch (const Error& error) {
    if (is_cancelled(error)) throw;
  }
}

std::vector<Outcome> outcomes_on(const CompileFunction& compile_machine, const std::vector<Machine>& machines,
                                 int threads, Screening& screening) {
  std::vector<Outcome> outcomes(machines.size());
  for (Outcome& outcome : outcomes) outcome.values.fill(std::numeric_limits<double>::quiet_NaN());
  Sharing sharing;
  for (std::size_t i = 0; i < machines.size(); ++i) try {
      check_machine(machines[i]);
      sharing[compile_key(machines[i])].push_back(i);
    } catch (const Error&) {
      continue;
    }
  std::vector<const std::vector<std::size_t>*> groups;
  for (const auto& [key, places] : sharing) groups.push_back(&places);
  std::mutex failing;
  std::exception_ptr failure;
  on_threads(threads, std::ssize(groups), [&](std::int64_t g) {
    try {
      evaluate_sharing(compile_machine, machines, *groups[static_cast<std::size_t>(g)], outcomes);
    } catch (...) {
      const std::scoped_lock lock(failing);
      if (!failure) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
  screening.compiled = std::ssize(groups);
  return outcomes;
}

OrderedJson effect_json(const MorrisEffect& effect) {
  return {{"mean", number_or_null(effect.mean)},
          {"mean_size", number_or_null(effect.mean_size)},
          {"deviation", number_or_null(effect.deviation)},
          {"effects", effect.effects}};
}

OrderedJson index_json(const SobolIndex& index) {
  return {{"first", number_or_null(index.first)},
          {"first_error", number_or_null(index.first_error)},
          {"total", number_or_null(index.total)},
          {"total_error", number_or_null(index.total_error)}};
}

}  // namespace

std::int64_t ScreeningRequest::machines() const {
  return samples * (std::ssize(space.axes) + (method == ScreeningMethod::morris ? 1 : 2));
}

ScreeningRequest screening_request(const Json& body) {
  require_keys(body, {"model", "preset", "machine", "axes", "metrics", "measures", "method", "samples", "seed"},
               "");
  ScreeningRequest request;
  request.model = text_field(body, "model", "").value_or("");
  if (request.model.empty()) throw Error("value_invalid", "/model", "expected the name of a model");
  request.preset = text_field(body, "preset", "").value_or(std::string(default_preset));
  request.space.base = require_preset(request.preset, "/preset").machine;
  if (body.contains("machine")) assign_json(request.space.base, body["machine"], "/machine");
  check_machine(request.space.base);
  request.space.axes = body.contains("axes") ? axes_from_json(body["axes"]) : axes_near(request.space.base);
  check_search_space(request.space);
  if (body.contains("metrics")) request.formulas = formulas_from_json(body["metrics"], "/metrics");
  const auto names =
      texts_field(body, "measures", "").value_or(std::vector<std::string>{"throughput_fps", "area_mm2"});
  for (std::size_t i = 0; i < names.size(); ++i)
    request.measures.push_back(require_measure(names[i], request.formulas, "/measures/" + std::to_string(i)));
  if (request.measures.empty()) throw Error("value_invalid", "/measures", "expected at least one metric");
  const std::string method = text_field(body, "method", "").value_or("morris");
  const auto named = std::ranges::find(method_names, method);
  if (named == std::end(method_names)) throw Error("value_invalid", "/method", "expected morris or sobol");
  request.method = static_cast<ScreeningMethod>(named - std::begin(method_names));
  request.samples =
      integer_within(body, "samples", usual_samples[named - std::begin(method_names)], 2, most_screened);
  request.seed = static_cast<std::uint64_t>(integer_within(body, "seed", 1, 0, (std::int64_t{1} << 53) - 1));
  if (request.machines() > most_screened)
    throw Error("limit_exceeded", "/samples",
                "takes " + std::to_string(request.machines()) + " machines; expected at most " +
                    std::to_string(most_screened));
  return request;
}

Screening screen(const Catalog& catalog, const ScreeningRequest& request, int threads, const Stop& stop) {
  Screening screening;
  screening.request = request;
  const SearchSpace& space = request.space;
  const std::size_t factors = space.axes.size();
  const bool morris = request.method == ScreeningMethod::morris;
  const MorrisDesign design = morris ? morris_design(factors, request.samples, request.seed) : MorrisDesign();
  const std::vector<UnitPoint> points =
      morris ? design.points : sobol_design(factors, request.samples, request.seed);
  std::vector<Machine> machines;
  for (const UnitPoint& point : points) {
    Placing places;
    for (std::size_t a = 0; a < factors; ++a)
      places.push_back(static_cast<std::uint16_t>(place_in(space.axes[a].values.size(), point[a])));
    machines.push_back(machine_at(space, places));
  }
  const CompileFunction quickly = compile_quickly(catalog, catalog.mix(request.model, "/model"), {}, stop);
  const std::vector<Outcome> outcomes = outcomes_on(quickly, machines, threads, screening);
  screening.evaluated = std::ssize(outcomes);
  screening.without_value =
      std::ranges::count_if(outcomes, [](const Outcome& outcome) { return !outcome.counted(); });
  for (const Measure& measure : request.measures) {
    const std::vector<double> values = measured(measure, machines, outcomes);
    if (morris)
      screening.effects.push_back(morris_effects(design, values));
    else
      screening.indices.push_back(sobol_indices(factors, values));
  }
  return screening;
}

std::vector<std::size_t> by_importance(const Screening& screening, std::size_t measure) {
  const auto importance = [&](std::size_t a) {
    const double value =
        screening.effects.empty() ? screening.indices[measure][a].total : screening.effects[measure][a].mean_size;
    return std::isnan(value) ? -1 : value;
  };
  std::vector<std::size_t> order(screening.request.space.axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return importance(a) > importance(b); });
  return order;
}

OrderedJson screening_json(const Screening& screening) {
  const ScreeningRequest& request = screening.request;
  const bool morris = request.method == ScreeningMethod::morris;
  OrderedJson measures = OrderedJson::array();
  for (std::size_t m = 0; m < request.measures.size(); ++m) {
    OrderedJson rows = OrderedJson::array();
    for (const std::size_t a : by_importance(screening, m)) {
      OrderedJson row = {{"parameter", request.space.axes[a].row->name}};
      row.update(morris ? effect_json(screening.effects[m][a]) : index_json(screening.indices[m][a]));
      rows.push_back(std::move(row));
    }
    measures.push_back(
        {{"measure", request.measures[m].name()}, {"unit", request.measures[m].unit()}, {"rows", std::move(rows)}});
  }
  return {{"model", request.model},
          {"preset", request.preset},
          {"machine", machine_json(request.space.base)},
          {"axes", axes_json(request.space.axes)},
          {"method", method_names[static_cast<std::size_t>(request.method)]},
          {"samples", request.samples},
          {"seed", request.seed},
          {"evaluated", screening.evaluated},
          {"without_value", screening.without_value},
          {"compiled", screening.compiled},
          {"measures", std::move(measures)}};
}

}  // namespace sdip
