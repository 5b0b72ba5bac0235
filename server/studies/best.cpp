// A search and its answer.
#include "server/studies/best.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/list_text.h"
#include "core/base/number_text.h"
#include "core/explore/space/sampling.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"

namespace sdip {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

/// An axis that could not be searched would be left out in silence; and what is fixed follows nothing.
void check_asked(const BestRequest& request) {
  for (const Axis& axis : request.asked) {
    const std::string name(axis.row->name);
    if (std::ranges::find(request.fixed, name) != request.fixed.end())
      throw Error("value_conflict", "/axes", name + " is fixed");
    if (axis.values.size() < 2)
      throw Error("value_invalid", "/axes", name + " has one value: fix it, or give more of them");
    const auto same = [&](const Axis& other) { return other.row == axis.row; };
    if (std::ranges::count_if(request.asked, same) > 1)
      throw Error("value_invalid", "/axes", name + " is given twice");
  }
  for (std::size_t l = 0; l < request.links.size(); ++l) {
    const std::string name(request.links[l].row->name);
    if (std::ranges::find(request.fixed, name) != request.fixed.end())
      throw Error("value_conflict", fmt::format("/links/{}/parameter", l),
                  name + " is fixed: it cannot follow others");
  }
  check_conditions(request.asked, request.links);
  check_links(request.asked, request.links);
}

/// Behind the objectives.
void read_optimiser(const Json& body, BestRequest& request) {
  if (const auto name = text_field(body, "optimiser", "")) {
    const auto named = optimiser_named(*name);
    if (!named) throw Error("value_invalid", "/optimiser", "expected one of " + list_text(optimiser_names()));
    request.optimiser = *named;
  }
  request.islands = integer_within(body, "islands", 1, 1, most_islands);
  const std::size_t least = least_objectives(request.optimiser);
  if (request.goal.objectives.size() < least)
    throw Error(
        "value_conflict", "/optimiser",
        fmt::format("{} finds fronts: expected {} objectives or more", optimiser_name(request.optimiser), least));
}

/// Behind the objectives.
void read_formats(const Json& body, BestRequest& request) {
  if (body.contains("sqnr_db")) {
    const Json& least = body["sqnr_db"];
    if (!least.is_number()) throw Error("value_invalid", "/sqnr_db", "expected a number of decibels");
    request.sqnr_db = least.get<double>();
    if (!(std::abs(*request.sqnr_db) <= most_sqnr_db))
      throw Error("value_out_of_range", "/sqnr_db",
                  "expected decibels from " + shortest_text(-most_sqnr_db) + " to " + shortest_text(most_sqnr_db));
  }
  request.sqnr_model = text_field(body, "sqnr_model", "").value_or("");
  if (!request.sqnr_model.empty() && !request.measures_formats())
    throw Error("value_invalid", "/sqnr_model",
                "expected with sqnr_db, or the objective min:sqnr_db or max:sqnr_db");
}

}  // namespace

std::uint64_t BestRequest::own_seed() const { return part.part == 1 ? seed : drawn(seed, part.part, 0); }

bool BestRequest::measures_formats() const {
  return sqnr_db ||
         std::ranges::any_of(goal.objectives, [](const Objective& one) { return one.measure.name() == sqnr_name; });
}

BestRequest best_request(const Json& body) {
  require_keys(
      body,
      {"model", "preset", "machine", "fixed", "axes", "links", "metrics", "objectives", "constraints", "seconds",
       "evaluations", "validate_seconds", "seed", "part", "optimiser", "islands", "sqnr_db", "sqnr_model"},
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
      if (const ParameterRow* row = find_setting(item.key()))
        request.fixed.emplace_back(row->name);
      else  // {"technology": {row: value}}
        for (const auto& figure : item.value().items())
          request.fixed.push_back(std::string(technology_prefix) + figure.key());
  }
  if (body.contains("axes")) request.asked = axes_from_json(body["axes"]);
  if (body.contains("links")) request.links = links_from_json(body["links"]);
  check_asked(request);
  if (body.contains("metrics")) request.formulas = formulas_from_json(body["metrics"], "/metrics");
  if (!body.contains("objectives"))
    throw Error("value_invalid", "/objectives", "expected what the machine is to be best in");
  std::vector<Formula> named = request.formulas;
  named.push_back(FormatAccuracies().formula());  // of a name of its own; its numbers come before the search
  request.goal.objectives = objectives_from_json(body["objectives"], named);
  if (request.goal.objectives.size() > most_search_objectives)
    throw Error("limit_exceeded", "/objectives",
                fmt::format("expected at most {} metrics", most_search_objectives));
  if (body.contains("constraints"))
    request.goal.constraints = constraints_from_json(body["constraints"], "/constraints");
  request.evaluations = integer_within(body, "evaluations", 0, 0, most_evaluations);
  request.seconds = integer_within(body, "seconds", 60, 1, most_search_seconds);
  request.validate_seconds = integer_within(body, "validate_seconds", 30, 0, most_validation_seconds);
  request.seed = static_cast<std::uint64_t>(integer_within(body, "seed", 1, 0, most_seed));
  if (const auto part = text_field(body, "part", "")) request.part = work_part(*part, "/part");
  read_optimiser(body, request);
  read_formats(body, request);
  if (request.is_part() && request.measures_formats())
    throw Error("value_conflict", "/part",
                "what formats do is measured by one search: expected no sqnr_db in parts");
  request.base = mended(request.base, search_space(request).axes, request.links);
  check_search_space(search_space(request));
  return request;
}

OrderedJson best_request_json(const BestRequest& request) {
  OrderedJson body = {{"model", request.model}, {"preset", request.preset}};
  OrderedJson fixed = OrderedJson::object();
  OrderedJson machine = machine_json(request.base);
  for (const std::string& name : request.fixed)
    if (name.starts_with(technology_prefix)) {
      const std::string figure = name.substr(technology_prefix.size());
      fixed["technology"][figure] = machine["technology"][figure];
    } else {
      fixed[name] = machine[name];
    }
  body["machine"] = std::move(machine);
  body["fixed"] = std::move(fixed);
  body["axes"] = axes_json(request.asked);
  if (!request.links.empty()) body["links"] = links_json(request.links);
  if (!request.formulas.empty()) body["metrics"] = formulas_json(request.formulas);
  body["objectives"] = json_list(request.goal.objectives, objective_text);
  body["constraints"] = json_list(request.goal.constraints, &Formula::text);
  body["seconds"] = request.seconds;
  body["evaluations"] = request.evaluations;
  body["validate_seconds"] = request.validate_seconds;
  body["seed"] = request.seed;
  if (request.is_part()) body["part"] = work_part_text(request.part);
  body["optimiser"] = optimiser_name(request.optimiser);
  body["islands"] = request.islands;
  if (request.sqnr_db) body["sqnr_db"] = *request.sqnr_db;
  if (!request.sqnr_model.empty()) body["sqnr_model"] = request.sqnr_model;
  return body;
}

SearchSpace search_space(const BestRequest& request) {
  std::vector<std::string_view> others(request.fixed.begin(), request.fixed.end());
  for (const Link& link : request.links) others.push_back(link.row->name);
  return {request.base, searched_axes(request.base, others, request.asked, request.sqnr_db.has_value()),
          request.links};
}

void trace_best(BestTrace& trace, const SearchProgress& progress) {
  if (progress.best.empty()) return;
  if (!trace.empty() && trace.back().costs == progress.best && trace.back().volume == progress.volume) return;
  if (trace.size() == longest_trace) {
    for (std::size_t i = 1; i < longest_trace / 2; ++i) trace[i] = std::move(trace[2 * i]);
    trace.resize(longest_trace / 2);
  }
  trace.push_back({progress.evaluated, progress.best, progress.volume});
}

namespace {

std::vector<std::shared_ptr<const Workload>> workloads_of(const Catalog& catalog, const Mix& mix,
                                                          const Machine& machine) {
  std::vector<std::shared_ptr<const Workload>>
      workloads;  // or what is in the way of a file: no machine would run it
  for (const MixPart& part : mix) workloads.push_back(catalog.workload(part.model, machine));
  return workloads;
}

/// Without rows of stages that no workload has: they are parameters' groups.
SearchSpace space_of_stages(SearchSpace space, const std::vector<std::shared_ptr<const Workload>>& workloads) {
  const auto lacks = [&](Role role) {
    return std::ranges::none_of(workloads, [&](const std::shared_ptr<const Workload>& workload) {
      return std::ranges::find(workload->stages, role, &Stage::role) != workload->stages.end();
    });
  };
  const std::pair<std::string_view, bool> lacking[] = {{"text_encoder", lacks(Role::text_encoder)},
                                                       {"vae_encoder", lacks(Role::encoder)},
                                                       {"vae_decoder", lacks(Role::decoder)}};
  std::erase_if(space.axes, [&](const Axis& axis) {
    if (axis.row->name == "decoder_dram_share") return lacks(Role::decoder);
    return std::ranges::any_of(lacking,
                               [&](const auto& one) { return one.second && axis.row->group == one.first; });
  });
  check_search_space(space);
  return space;
}

/// The answer as it is before anything is found. Files that cannot be read are told here.
BestAnswer answer_begun(const Catalog& catalog, const BestRequest& request) {
  BestAnswer answer;
  answer.request = request;
  answer.goal = request.goal;
  answer.mix = catalog.mix(request.model, "/model");
  answer.space = space_of_stages(search_space(request), workloads_of(catalog, answer.mix, request.base));
  return answer;
}

/// Each workload on the machine, in its part of the time.
Validation validated_mix(const Catalog& catalog, const Mix& mix, const Machine& machine, std::int64_t seconds,
                         const std::atomic<bool>* cancel) {
  Validation all;
  std::int64_t left = std::ssize(mix);
  for (const MixPart& part : mix) {
    ValidationRequest request;
    request.model = part.model;
    request.machine = machine;
    request.seconds = std::max<std::int64_t>(1, seconds / left--);
    seconds -= request.seconds;
    const Validation one = validate(catalog, request, cancel);
    all.model = mix_text(mix);
    all.machine = machine;
    all.feasible = all.feasible && one.feasible;
    all.cancelled = all.cancelled || one.cancelled;
    if (all.reason.empty()) all.reason = one.reason;
    all.counters.insert(all.counters.end(), one.counters.begin(), one.counters.end());
    all.tensors.insert(all.tensors.end(), one.tensors.begin(), one.tensors.end());
    all.seconds += one.seconds;
  }
  return all;
}

/// Measures sets of formats, and puts what they do into the goal.
void measure_formats(const Catalog& catalog, const Mix& measured, int threads, const KnownAccuracies& known,
                     const Stop& stop, BestAnswer& answer) {
  const BestRequest& request = answer.request;
  answer.formats =
      format_accuracies(catalog, measured, request.base, answer.space.axes, request.sqnr_db, known, threads, stop);
  const Formula formula = answer.formats.formula();
  for (Objective& objective : answer.goal.objectives)
    if (objective.measure.name() == sqnr_name) objective.measure = Measure(formula);
  if (request.sqnr_db) answer.goal.constraints.push_back(at_least(formula, *request.sqnr_db));
}

/// The first of the best that keeps the limit as it is comes first, those before it are left out. Where of so many
/// none does, the nearest is alone.
void hold_to_limit(const Catalog& catalog, const Mix& measured, const KnownAccuracies& known, const Stop& stop,
                   BestAnswer& answer) {
  std::vector<Candidate>& best = answer.found.best;
  std::map<std::string, std::optional<double>> own;
  std::size_t nearest = 0;
  for (std::size_t i = 0; i < best.size(); ++i) {
    const std::string key = accuracies_key(measured, best[i].machine);
    if (!own.contains(key)) {
      if (own.size() == most_measured_as_they_are) break;
      own[key] = sqnr_of_machine(catalog, measured, best[i].machine, known, stop);
    }
    const std::optional<double> sqnr_db = own[key];
    const bool nearer = i == 0 || (answer.sqnr_db && sqnr_db && *sqnr_db > *answer.sqnr_db);
    if (nearer || !sqnr_db) answer.sqnr_db = sqnr_db, nearest = i;
    if (answer.misses_limit()) continue;
    best.erase(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(nearest));
    return;
  }
  best = {best[nearest]};
  best[0].score.violation = std::min(1.0, (*answer.request.sqnr_db - *answer.sqnr_db) / most_sqnr_db);
}

/// Looks around the best machine, and asks whether the executor agrees.
void look_closer(const Catalog& catalog, BestAnswer& answer, const std::atomic<bool>* cancel, const Stop& stop,
                 const std::function<void(const char*)>& doing) {
  const BestRequest& request = answer.request;
  const Machine& best = answer.found.best[0].machine;
  doing("changes");
  for (const MixPart& part : answer.mix) answer.analyses.push_back(analyze(catalog, part.model, best, {}, stop));
  answer.around = analyze_changes(catalog, answer.mix, best, {}, stop, request.links);
  if (request.validate_seconds == 0) return;
  doing("validation");
  answer.validation = validated_mix(catalog, answer.mix, best, request.validate_seconds, cancel);
}

/// Has where a search is kept, and begins where it was; returns the seconds that were searched before.
double go_on(const BestKeeping& keeping, const SearchSpace& space, SearchOptions& options, BestProgress& so_far) {
  double seconds = 0;
  if (keeping.from && fits(keeping.from->search, space, options.islands)) {
    options.from = keeping.from->search;
    so_far = keeping.from->progress;
    seconds = so_far.seconds;
  }
  if (keeping.keep)
    options.on_state = [&, kept = seconds](const SearchState& state) mutable {
      if (so_far.seconds - kept < keeping.between_s) return;
      kept = so_far.seconds;
      keeping.keep({so_far, state});
    };
  return seconds;
}

}  // namespace

BestAnswer answer_of(const Catalog& catalog, const BestRequest& request, SearchResult found, double seconds,
                     const std::atomic<bool>* cancel) {
  const auto cancelled = [cancel] { return cancel != nullptr && cancel->load(); };
  BestAnswer answer = answer_begun(catalog, request);
  answer.found = std::move(found);
  answer.seconds = seconds;
  try {
    if (answer.keeps()) look_closer(catalog, answer, cancel, cancelled, [](const char*) {});
  } catch (const Error& error) {
    if (!is_cancelled(error)) throw;
  }
  answer.cancelled = cancelled();
  return answer;
}

BestAnswer find_best(const Catalog& catalog, const BestRequest& request, int threads,
                     const std::atomic<bool>* cancel, const ShowBest& progress, const KnownAccuracies& known,
                     const BestKeeping& keeping) {
  const auto cancelled = [cancel] { return cancel != nullptr && cancel->load(); };
  BestAnswer answer = answer_begun(catalog, request);
  BestProgress so_far;
  auto begun = Clock::now();
  const auto show = [&](const char* doing) {
    so_far.doing = doing;
    so_far.seconds = seconds_since(begun);
    if (progress) progress(so_far);
  };
  SearchOptions options;
  options.optimiser = request.optimiser;
  options.islands = as_size(request.islands);
  options.seed = request.own_seed();
  options.threads = threads;
  options.evaluations = request.evaluations;
  const bool timed = request.evaluations == 0;
  options.stop = [&, timed] {
    return cancelled() || (timed && seconds_since(begun) >= static_cast<double>(request.seconds));
  };
  options.enough = [&, timed] {
    return timed && seconds_since(begun) >= 0.8 * static_cast<double>(request.seconds);
  };
  for (const Preset& preset : diffusion_presets()) options.starts.push_back(preset.machine);
  options.on_generation = [&](const SearchProgress& searched) {
    so_far.search = searched;
    trace_best(so_far.trace, searched);
    show("search");
  };
  const double seconds_before = go_on(keeping, answer.space, options, so_far);
  try {
    const Mix measured = catalog.mix(answer.measured_model(), "/sqnr_model");
    if (request.measures_formats()) {
      show("accuracy");
      measure_formats(catalog, measured, threads, known, cancelled, answer);
    }
    begun =
        Clock::now() - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_before));
    show("search");
    answer.found = search(answer.space, answer.goal, compile_quickly(catalog, answer.mix, {}, options.stop),
                          side_by_side, options);
    answer.seconds = seconds_since(begun);
    answer.trace = so_far.trace;
    if (answer.keeps() && !cancelled()) {
      if (request.measures_formats()) hold_to_limit(catalog, measured, known, cancelled, answer);
      if (answer.keeps() && !request.is_part()) look_closer(catalog, answer, cancel, cancelled, show);
    }
  } catch (const Error& error) {
    if (!is_cancelled(error)) throw;
  }
  answer.cancelled = cancelled();
  return answer;
}

}  // namespace sdip
