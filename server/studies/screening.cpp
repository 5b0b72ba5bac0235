// Screenings as they are asked and answered in JSON.
#include "server/studies/screening.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/explore/search/families.h"
#include "core/explore/search/rows.h"
#include "server/json/record.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

constexpr std::string_view method_names[] = {"morris", "sobol"};
constexpr std::int64_t usual_samples[] = {usual_trajectories, 64};

/// Values from half of the base's to twice, of numbers: choices drawn among all break rules between rows nearly
/// always.
std::vector<Axis> axes_near(const Machine& base, std::span<const Link> links) {
  std::vector<std::string_view> linked;
  for (const Link& link : links) linked.push_back(link.row->name);
  std::vector<Axis> axes = searched_axes(base, linked, {});
  for (Axis& axis : axes) {
    const std::int64_t own = axis.row->read(base);
    std::erase_if(axis.values, [&](std::int64_t value) { return 2 * value < own || value > 2 * own; });
  }
  std::erase_if(axes, [](const Axis& axis) { return !has_order(*axis.row) || axis.values.size() < 2; });
  return axes;
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

ScreeningRequest screening_request(const Json& body) {
  require_keys(body,
               {"model", "preset", "machine", "axes", "links", "metrics", "measures", "method", "samples", "seed"},
               "");
  ScreeningRequest request;
  request.model = text_field(body, "model", "").value_or("");
  if (request.model.empty()) throw Error("value_invalid", "/model", "expected the name of a model");
  request.preset = text_field(body, "preset", "").value_or(std::string(default_preset));
  request.space.base = require_preset(request.preset, "/preset").machine;
  if (body.contains("machine")) assign_json(request.space.base, body["machine"], "/machine");
  if (body.contains("links")) request.space.links = links_from_json(body["links"]);
  check_machine(request.space.base);
  if (body.contains("axes") && body["axes"].is_array() && body["axes"].empty())
    throw Error("value_invalid", "/axes",
                "a screening needs at least one axis; none said: numbers near the machine's");
  request.space.axes =
      body.contains("axes") ? axes_from_json(body["axes"]) : axes_near(request.space.base, request.space.links);
  check_search_space(request.space);
  if (body.contains("metrics")) request.formulas = formulas_from_json(body["metrics"], "/metrics");
  const auto names =
      texts_field(body, "measures", "").value_or(std::vector<std::string>{"throughput_fps", "area_mm2"});
  if (names.size() > most_screened_measures)
    throw Error("limit_exceeded", "/measures",
                fmt::format("{} metrics; expected at most {}", names.size(), most_screened_measures));
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string where = "/measures/" + std::to_string(i);
    if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
        names.begin() + static_cast<std::ptrdiff_t>(i))
      throw Error("value_invalid", where, names[i] + ": is listed twice");
    request.measures.push_back(require_measure(names[i], request.formulas, where));
  }
  if (request.measures.empty()) throw Error("value_invalid", "/measures", "expected at least one metric");
  const std::string method = text_field(body, "method", "").value_or("morris");
  const auto named = std::ranges::find(method_names, method);
  if (named == std::end(method_names)) throw Error("value_invalid", "/method", "expected morris or sobol");
  request.method = static_cast<ScreeningMethod>(named - std::begin(method_names));
  request.samples =
      integer_within(body, "samples", usual_samples[named - std::begin(method_names)], 2, most_screened);
  request.seed = static_cast<std::uint64_t>(integer_within(body, "seed", 1, 0, most_seed));
  if (request.machines() > most_screened)
    throw Error("limit_exceeded", "/samples",
                fmt::format("takes {} machines; expected at most {}", request.machines(), most_screened));
  return request;
}

Screening screen(const Catalog& catalog, const ScreeningRequest& request, int threads, const Stop& stop) {
  const Mix mix = catalog.mix(request.model, "/model");
  catalog.require_read(mix);
  return screen(compile_quickly(catalog, mix, {}, stop), request, threads);
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
          {"links", links_json(request.space.links)},
          {"method", method_names[at(request.method)]},
          {"samples", request.samples},
          {"seed", request.seed},
          {"evaluated", screening.evaluated},
          {"without_value", screening.without_value},
          {"reason", screening.reason.empty() ? OrderedJson() : OrderedJson(screening.reason)},
          {"compiled", screening.compiled},
          {"measures", std::move(measures)}};
}

}  // namespace sdip
