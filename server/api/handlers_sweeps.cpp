// Handlers of sweeps and their points.
#include "core/base/error.h"
#include "core/base/words.h"
#include "core/explore/space/revision.h"
#include "server/api/handlers.h"
#include "server/jobs/exports.h"
#include "server/jobs/front_growth.h"
#include "server/jobs/fronts.h"
#include "server/json/report_json.h"
#include "server/studies/validation_json.h"

namespace sdip {
namespace {

std::int64_t required_number(const std::string& text, const std::string& code, const std::string& where) {
  if (const auto number = whole_number(text)) return *number;
  throw Error(code, where, text.substr(0, 80) + ": expected a whole number");
}

/// Nothing where neither the query nor `otherwise` says it.
std::optional<bool> query_flag(const Call& call, const std::string& key, const std::string& otherwise) {
  const std::string value = query_value(call, key, otherwise);
  if (value != "true" && value != "false" && value != otherwise)
    throw Error("value_invalid", "?" + key, "expected true or false");
  return value.empty() ? std::nullopt : std::optional(value == "true");
}

/// A sweep as it stands, with the validation of its front.
OrderedJson current_json(Service& service, const SweepRow& row, const std::optional<Pace>& pace) {
  OrderedJson validation;
  if (const auto found = service.store.validation_of(row.id))
    validation = validation_row_json(*found, service.validations.progress(found->id));
  // One that is done and still has a pace is about to hand its front over.
  const bool measuring =
      (row.state == SweepState::done && pace.has_value()) || service.accuracies.measures_front_of(row.id);
  return sweep_json(row, row.state == SweepState::running ? pace : std::nullopt, measuring, validation);
}

/// Null where nothing was measured.
OrderedJson accuracy_of_point(const PointAccuracies& measured, std::int64_t index) {
  if (!measured.contains(index)) return {};
  return {{"sqnr_db", accuracy_cell(AccuracyField::sqnr_db, measured, index)},
          {"cosine", accuracy_cell(AccuracyField::cosine, measured, index)},
          {"weights", accuracy_cell(AccuracyField::accuracy_weights, measured, index)}};
}

/// A sweep to read points of, with the formulas that the query adds to its own.
SweepRecord sweep_to_read(const Service& service, const Call& call) {
  SweepRecord sweep = sweep_record(service.store, path_id(call));
  for (Formula& formula : query_formulas(call, "metric", formula_from_text))
    sweep.spec.formulas.push_back(std::move(formula));
  check_formulas(sweep.spec.formulas, "?metric");
  return sweep;
}

Reply sweep_reply(Service& service, std::int64_t id, int status = 200) {
  // The pace first: a sweep that ends in between is then shown as ended, without one.
  const auto pace = service.jobs.pace(id);
  const SweepRow row = service.store.sweep(id);
  return json_reply(current_json(service, row, pace), status);
}

}  // namespace

std::int64_t path_id(const Call& call) { return required_number(call.parts[0], "not_found", "id"); }
std::int64_t path_index(const Call& call) { return required_number(call.parts[1], "not_found", "index"); }

namespace {

Reply started(Service& service, std::int64_t id) {
  return made_at("sweeps/" + std::to_string(id), sweep_reply(service, id, 202));
}

}  // namespace

Reply post_sweep(Service& service, const Call& call) {
  return started(service, service.jobs.submit(spec_from_json(parse_json(call.body))));
}

Reply revise_sweep(Service& service, const Call& call) {
  return started(service, service.jobs.revise(path_id(call), revision_from_json(parse_json(call.body))));
}

Reply answer_sweeps(Service& service, const Call&) {
  const auto now = [&](const SweepRow& row) { return current_json(service, row, service.jobs.pace(row.id)); };
  return json_reply({{"sweeps", json_list(service.store.sweeps(), now)}});
}

Reply answer_sweep(Service& service, const Call& call) { return sweep_reply(service, path_id(call)); }

Reply delete_sweep(Service& service, const Call& call) {
  service.store.remove_sweep(path_id(call));
  return {.status = 204};
}

Reply cancel_sweep(Service& service, const Call& call) {
  service.jobs.cancel(path_id(call));
  return sweep_reply(service, path_id(call), 202);
}

Reply resume_sweep(Service& service, const Call& call) {
  service.jobs.resume(path_id(call));
  return sweep_reply(service, path_id(call), 202);
}

Reply answer_points(Service& service, const Call& call) {
  const SweepRecord sweep = sweep_to_read(service, call);
  const Space& space = sweep.spec.space;
  const Fields fields = fields_of(sweep.spec, query_value(call, "fields"), "?fields");
  PageQuery query;
  query.formulas = sweep.spec.formulas;
  query.limit = required_number(query_value(call, "limit", "100"), "value_invalid", "?limit");
  query.cursor = query_value(call, "cursor");
  query.sort = query_value(call, "sort", "index");
  query.feasible = query_flag(call, "feasible", "");
  const Page page = service.store.page(sweep.row.id, space, query);
  OrderedJson rows = OrderedJson::array();
  const PointAccuracies measured = service.store.point_accuracies(sweep.row.id);
  for (const auto& point : page.points) rows.push_back(point_row(space, fields, point, measured));
  return json_reply({{"columns", column_names(space, fields)},
                     {"rows", std::move(rows)},
                     {"next", page.next.empty() ? OrderedJson() : OrderedJson(page.next)},
                     {"total", page.total}});
}

Reply answer_columns(Service& service, const Call& call) {
  SweepRecord sweep = sweep_to_read(service, call);
  Fields fields = fields_of(sweep.spec, query_value(call, "fields"), "?fields");
  StoredPoints(service.store, sweep.row.id, sweep.spec.space).check(fields.metrics);
  Reply reply;
  reply.stream = [&store = service.store, sweep = std::move(sweep), fields = std::move(fields)](const Sink& sink) {
    write_columns(store, sweep, fields, sink);
  };
  return reply;
}

namespace {

/// A sweep with the constraints that the query adds to its own, and the objectives that it asks for.
struct FrontToRead {
  SweepRecord sweep;
  std::vector<Objective> objectives;
};

FrontToRead front_to_read(const Service& service, const Call& call) {
  SweepRecord sweep = sweep_to_read(service, call);
  for (Formula& constraint : query_formulas(call, "constraint", parse_constraint))
    sweep.spec.constraints.push_back(std::move(constraint));
  if (sweep.spec.constraints.size() > most_formulas)
    throw Error("limit_exceeded", "?constraint", fmt::format("expected at most {} constraints", most_formulas));
  const std::string list = query_value(call, "metrics");
  auto objectives = list.empty() ? sweep.spec.objectives : objectives_of(sweep.spec, list, "?metrics");
  return {std::move(sweep), std::move(objectives)};
}

}  // namespace

Reply answer_front(Service& service, const Call& call) {
  FrontToRead asked = front_to_read(service, call);
  return json_reply(
      front_json(service.store, front_of_sweeps(service.store, {std::move(asked.sweep)}, asked.objectives)));
}

Reply answer_hypervolume(Service& service, const Call& call) {
  const FrontToRead asked = front_to_read(service, call);
  return json_reply(growth_json(front_growth(service.store, asked.sweep, asked.objectives)));
}

namespace {

/// Where what follows cannot have its value, the point is infeasible, and shown without.
Machine machine_shown(const Space& space, std::int64_t index) {
  try {
    return point(space, index);
  } catch (const Error&) {
    return unlinked_point(space, index);
  }
}

}  // namespace

Reply answer_point(Service& service, const Call& call) {
  const SweepRecord sweep = sweep_to_read(service, call);
  const std::int64_t index = path_index(call);
  const auto stored = service.store.point(sweep.row.id, index);
  if (!stored) throw Error("not_found", "index", "this point is not stored (yet)");
  const auto kept = service.store.kept_point(sweep.row.id, index);
  return json_reply({{"index", index},
                     {"machine", machine_json(machine_shown(sweep.spec.space, index))},
                     {"feasible", stored->feasible},
                     {"reason", stored->reason},
                     {"metrics", Written<MetricValues>::json(stored->values)},
                     {"formulas", formula_values(sweep.spec, *stored)},
                     {"accuracy", accuracy_of_point(service.store.point_accuracies(sweep.row.id), index)},
                     {"kept", kept ? Written<KeptPoint>::json(*kept) : OrderedJson()}});
}

namespace {

/// An export as it is asked for.
struct AskedExport {
  SweepRecord sweep;
  ExportQuery query;
};

AskedExport asked_export(Service& service, const Call& call) {
  const ExportFormat format = export_format_named(query_value(call, "format", "csv"), "?format", true);
  const bool front = *query_flag(call, "front", "false");
  AskedExport asked{sweep_to_read(service, call), {}};
  asked.query = export_query(service.store, asked.sweep, format, query_value(call, "fields"), front, "?fields");
  return asked;
}

OrderedJson manifest_of(Service& service, const AskedExport& asked) {
  return manifest_json(service.store, asked.sweep, asked.query,
                       fmt::format("GET /api/v1/sweeps/{}/export", asked.sweep.row.id));
}

void name_attachment(Reply& reply, const AskedExport& asked, std::string_view ending) {
  reply.headers.emplace_back("Content-Disposition",
                             fmt::format("attachment; filename=\"sweep-{}.{}{}\"", asked.sweep.row.id,
                                         row_of(asked.query.format).suffix, ending));
}

}  // namespace

Reply answer_manifest(Service& service, const Call& call) {
  const AskedExport asked = asked_export(service, call);
  Reply reply = json_reply(manifest_of(service, asked));
  name_attachment(reply, asked, ".manifest.json");
  return reply;
}

Reply export_sweep(Service& service, const Call& call) {
  AskedExport asked = asked_export(service, call);
  const ExportFormatRow& row = row_of(asked.query.format);
  if (row.holds_manifest) asked.query.manifest_json = json_text(manifest_of(service, asked));
  StoredPoints(service.store, asked.sweep.row.id, asked.sweep.spec.space).check(asked.query.measures);
  Reply reply;
  reply.content_type = row.media_type;
  name_attachment(reply, asked, "");
  reply.stream = [&store = service.store, asked = std::move(asked)](const Sink& sink) {
    store.export_points(asked.sweep.row.id, asked.sweep.spec.space, asked.query, sink);
  };
  return reply;
}

}  // namespace sdip
