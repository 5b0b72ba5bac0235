// Handlers of tables, models and single design points.
#include "core/base/error.h"
#include "server/analysis.h"
#include "server/explain_json.h"
#include "server/handlers.h"
#include "server/memory_json.h"
#include "server/model_facts.h"
#include "server/openapi.h"
#include "server/operator_files.h"
#include "server/request.h"
#include "server/tables_json.h"
#include "server/version.h"

namespace sdip {

std::string query_value(const Call& call, const std::string& key, const std::string& otherwise) {
  const auto found = call.query.find(key);
  return found == call.query.end() ? otherwise : found->second;
}

Reply json_reply(const OrderedJson& value, int status) { return {.status = status, .body = json_text(value)}; }

namespace {

/// The problem, and beside it everything else in the file's way.
Reply refusal_of(const Catalog& catalog, const Member& member, const Error& error) {
  OrderedJson refused = refused_model(catalog, member, error);
  OrderedJson problem = problem_json(error.code, error.where, refused["detail"].get<std::string>());
  for (const char* key : {"problems", "unbound", "unsupported", "give"}) problem[key] = std::move(refused[key]);
  return {.status = status_of(error.code), .content_type = "application/problem+json", .body = json_text(problem)};
}

}  // namespace

Reply answer_parameters(Service&, const Call&) { return json_reply(parameters_json()); }

Reply answer_technology(Service&, const Call& call) {
  return json_reply(technology_json(rows_of_node(query_value(call, "node"), "?node")));
}
Reply answer_metrics(Service&, const Call&) { return json_reply(metrics_json()); }
Reply answer_presets(Service&, const Call&) { return json_reply(presets_json()); }
Reply answer_baselines(Service&, const Call&) { return json_reply(baselines_json()); }
Reply answer_openapi(Service&, const Call&) { return json_reply(openapi_json()); }
Reply answer_health(Service&, const Call&) { return json_reply({{"status", "ok"}}); }

Reply answer_version(Service& service, const Call&) {
  return json_reply({{"version", program_version}, {"signature", service.signature()}});
}

Reply answer_operators(Service& service, const Call&) {
  return json_reply(operators_json(service.catalog.operators()));
}

Reply answer_models(Service& service, const Call&) {
  OrderedJson models = OrderedJson::array();
  for (const auto& entry : service.catalog.entries()) models.push_back(entry_json(entry));
  return json_reply({{"models", models}});
}

Reply answer_model(Service& service, const Call& call) {
  try {
    return json_reply(service.catalog.facts(call.parts[0]));
  } catch (const Error& error) {
    if (error.code != "unknown_model") throw;
    throw Error("not_found", error.where, error.what());
  }
}

Reply put_model(Service& service, const Call& call) {
  Member member{Role::network, call.parts[0], {}, {}};
  for (const auto& [key, value] : call.query) {
    if (key == "dim") bind_dim(member.dims, value, "?" + key);
    if (key == "input") give_input(member.given, value, "?" + key);
  }
  if (call.query.contains("role")) member.role = role_named(query_value(call, "role"), "?role");
  require_folder(service.data / "models");
  NewFile file(service.data / "models" / "upload");
  Sha256 hash;
  call.read_upload([&](std::string_view piece) {
    file.write(piece);
    hash.add(piece);
    return true;
  });
  member.file = file.path();
  try {
    const OrderedJson facts = service.catalog.add(member, file, hash.hex());
    Reply reply = json_reply(facts, 201);
    reply.headers.emplace_back("Location", "/api/v1/models/" + member.name);
    return reply;
  } catch (const Error& error) {
    return status_of(error.code) == 422 ? refusal_of(service.catalog, member, error)
                                        : problem_reply(error.code, error.where, error.what());
  }
}

Reply delete_model(Service& service, const Call& call) {
  service.catalog.remove(call.parts[0]);
  return {.status = 204};
}

Reply post_analysis(Service& service, const Call& call) {
  const PointRequest request = point_request(parse_json(call.body), false);
  return json_reply(analysis_json(analyze(service.catalog, request.model, request.machine, request.formats),
                                  request.instructions));
}

Reply post_memory_view(Service& service, const Call& call) {
  const PointRequest request = point_request(parse_json(call.body), false);
  return json_reply(memory_json(analyze(service.catalog, request.model, request.machine, request.formats)));
}

Reply post_explanation(Service& service, const Call& call) {
  Json body = parse_json(call.body);
  const std::int64_t layers = integer_field(body, "layers", "").value_or(usual_explained_layers);
  if (layers < 0 || layers > most_explained_layers)
    throw Error("value_out_of_range", "/layers", "expected 0 to " + std::to_string(most_explained_layers));
  if (body.is_object()) body.erase("layers");
  const PointRequest request = point_request(body, false);
  const Analysis analysis = analyze(service.catalog, request.model, request.machine, request.formats);
  return json_reply(explanation_json(
      analysis, explain(analysis.application, analysis.machine, static_cast<std::size_t>(layers))));
}

Reply post_sensitivities(Service& service, const Call& call) {
  const PointRequest request = point_request(parse_json(call.body), false);
  return json_reply(sensitivities_json(
      request.model, analyze_changes(service.catalog, request.model, request.machine, request.formats)));
}

Reply post_comparison(Service& service, const Call& call) {
  const PointRequest request = point_request(parse_json(call.body), true);
  return json_reply(
      comparison_json(service.catalog, request.model, request.machine, request.baselines, request.formats));
}

}  // namespace sdip
