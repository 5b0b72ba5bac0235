// A search and its answer.
#include "server/studies/best.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/program/compile/stage_cache.h"
#include "core/program/tiling/mapping_cache.h"
#include "server/json/explain_json.h"
#include "server/json/report_json.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

std::int64_t number_or(const Json& body, const char* key, std::int64_t standard, std::int64_t least,
                       std::int64_t most) {
  const std::int64_t number = integer_field(body, key, "").value_or(standard);
  if (number < least || number > most)
    throw Error("value_out_of_range", std::string("/") + key,
                "expected " + std::to_string(least) + " to " + std::to_string(most));
  return number;
}

/// Of the one that is kept best: of one objective what it is, of several a point of the front.
OrderedJson candidate_json(const BestRequest& request, const SearchSpace& space, const Candidate& candidate) {
  OrderedJson changed = OrderedJson::object();
  for (const Axis& axis : space.axes) {
    const std::int64_t value = axis.row->read(candidate.machine);
    if (value != axis.row->read(request.base)) changed[std::string(axis.row->name)] = value_json(*axis.row, value);
  }
  OrderedJson objectives = OrderedJson::object();
  const std::vector<Machine> machine = {candidate.machine};
  const std::vector<Outcome> outcome = {candidate.outcome};
  for (const Objective& objective : request.goal.objectives)
    objectives[std::string(objective.measure.name())] =
        number_or_null(measured(objective.measure, machine, outcome)[0]);
  return {
      {"objectives", std::move(objectives)},    {"keeps_constraints", candidate.score.violation == 0},
      {"feasible", candidate.outcome.feasible}, {"reason", candidate.outcome.reason},
      {"changed", std::move(changed)},          {"metrics", Written<MetricValues>::json(candidate.outcome.values)}};
}

}  // namespace

BestRequest best_request(const Json& body) {
  require_keys(body,
               {"model", "preset", "machine", "fixed", "axes", "metrics", "objectives", "constraints", "seconds",
                "evaluations", "validate_seconds", "seed"},
               "");
  BestRequest request;
  request.model = text_field(body, "model", "").value_or("");
  if (request.model.empty()) throw Error("value_invalid", "/model", "expected the name of a model");
  request.preset = text_field(body, "preset", "").value_or(std::string(default_preset));
  request.base = require_preset(request.preset, "/preset").machine;
  if (body.contains("machine")) assign_json(request.base, body["machine"], "/machine");
  if (body.contains("fixed")) {
    assign_json(request.base, body["fixed"], "/fixed");
    for (const auto& item : body["fixed"].items())
      if (const ParameterRow* row = find_setting(item.key())) request.fixed.emplace_back(row->name);
  }
  check_machine(request.base);
  if (body.contains("axes")) request.asked = axes_from_json(body["axes"]);
  for (const Axis& axis : request.asked)
    if (std::ranges::find(request.fixed, axis.row->name) != request.fixed.end())
      throw Error("value_conflict", "/axes", std::string(axis.row->name) + " is fixed");
  if (body.contains("metrics")) request.formulas = formulas_from_json(body["metrics"], "/metrics");
  if (!body.contains("objectives"))
    throw Error("value_invalid", "/objectives", "expected what the machine is to be best in");
  request.goal.objectives = objectives_from_json(body["objectives"], request.formulas);
  if (body.contains("constraints"))
    request.goal.constraints = constraints_from_json(body["constraints"], "/constraints");
  request.evaluations = number_or(body, "evaluations", 0, 0, most_evaluations);
  request.seconds = number_or(body, "seconds", 60, 1, most_search_seconds);
  request.validate_seconds = number_or(body, "validate_seconds", 30, 0, most_validation_seconds);
  request.seed = static_cast<std::uint64_t>(number_or(body, "seed", 1, 0, (std::int64_t{1} << 53) - 1));
  check_search_space(search_space(request));
  return request;
}

OrderedJson best_request_json(const BestRequest& request) {
  OrderedJson body = {{"model", request.model}, {"preset", request.preset}};
  OrderedJson fixed = OrderedJson::object();
  OrderedJson machine = machine_json(request.base);
  for (const std::string& name : request.fixed) fixed[name] = machine[name];
  body["machine"] = std::move(machine);
  body["fixed"] = std::move(fixed);
  body["axes"] = axes_json(request.asked);
  if (!request.formulas.empty()) body["metrics"] = formulas_json(request.formulas);
  body["objectives"] = OrderedJson::array();
  for (const Objective& objective : request.goal.objectives)
    body["objectives"].push_back(objective_text(objective));
  body["constraints"] = OrderedJson::array();
  for (const Formula& constraint : request.goal.constraints) body["constraints"].push_back(constraint.text);
  body["seconds"] = request.seconds;
  body["evaluations"] = request.evaluations;
  body["validate_seconds"] = request.validate_seconds;
  body["seed"] = request.seed;
  return body;
}

SearchSpace search_space(const BestRequest& request) {
  const std::vector<std::string_view> fixed(request.fixed.begin(), request.fixed.end());
  return {request.base, searched_axes(request.base, fixed, request.asked)};
}

CompileFunction compile_quickly(const Catalog& catalog, const std::string& model, const Stop& stop) {
  CompileOptions options;
  options.say_needed_bytes = false;
  options.mappings = std::make_shared<MappingCache>();
  options.stages = std::make_shared<StageCache>();
  options.stop = stop;
  return [&catalog, model, options](const Machine& machine) {
    return std::make_shared<const Application>(compile(*catalog.workload(model, machine), machine, options));
  };
}

BestAnswer find_best(const Catalog& catalog, const BestRequest& request, int threads,
                     const std::atomic<bool>* cancel, const std::function<void(const SearchProgress&)>& progress) {
  catalog.require(request.model, "/model");
  const auto cancelled = [cancel] { return cancel != nullptr && cancel->load(); };
  BestAnswer answer;
  answer.request = request;
  const SearchSpace space = search_space(request);
  const auto begun = Clock::now();
  SearchOptions options;
  options.seed = request.seed;
  options.threads = threads;
  options.evaluations = request.evaluations;
  const bool timed = request.evaluations == 0;
  options.stop = [&, timed] {
    return cancelled() || (timed && seconds_since(begun) >= static_cast<double>(request.seconds));
  };
  for (const Preset& preset : diffusion_presets()) options.starts.push_back(preset.machine);
  options.on_generation = progress;
  answer.found =
      search(space, request.goal, compile_quickly(catalog, request.model, options.stop), side_by_side, options);
  answer.seconds = seconds_since(begun);
  answer.cancelled = cancelled();
  if (!answer.keeps() || answer.cancelled) return answer;
  const Machine& best = answer.found.best[0].machine;
  answer.analysis = analyze(catalog, request.model, best, {}, cancelled);
  answer.around = analyze_changes(catalog, request.model, best, {}, cancelled);
  ValidationRequest checked;
  checked.model = request.model;
  checked.machine = best;
  checked.seconds = request.validate_seconds;
  if (request.validate_seconds > 0) answer.validation = validate(catalog, checked, cancel);
  answer.cancelled = cancelled();
  return answer;
}

OrderedJson best_json(const BestAnswer& answer) {
  const SearchSpace space = search_space(answer.request);
  const SearchProgress& progress = answer.found.progress;
  OrderedJson best = OrderedJson::array();
  for (const Candidate& candidate : answer.found.best)
    best.push_back(candidate_json(answer.request, space, candidate));
  OrderedJson searched = OrderedJson::array();
  for (const Axis& axis : space.axes) searched.push_back(axis.row->name);
  return {{"request", best_request_json(answer.request)},
          {"searched", std::move(searched)},
          {"seconds", answer.seconds},
          {"cancelled", answer.cancelled},
          {"generations", progress.generations},
          {"evaluated", progress.evaluated},
          {"feasible", progress.feasible},
          {"compiled", progress.compiled},
          {"best", std::move(best)},
          {"around", answer.keeps() && !answer.around.points.empty()
                         ? sensitivities_json(answer.request.model, answer.around)
                         : OrderedJson(nullptr)}};
}

}  // namespace sdip
