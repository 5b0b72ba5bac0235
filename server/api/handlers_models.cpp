// Handlers of tables, models and single design points.
#include "core/base/error.h"
#include "core/study/signature.h"
#include "server/api/handlers.h"
#include "server/io/version.h"
#include "server/jobs/evaluations.h"
#include "server/json/tables_json.h"
#include "server/models/operator_files.h"
#include "server/studies/screening.h"

namespace sdip {

std::string query_value(const Call& call, const std::string& key, const std::string& otherwise) {
  const auto found = call.query.find(key);
  return found == call.query.end() ? otherwise : found->second;
}

std::vector<Formula> query_formulas(const Call& call, const std::string& key,
                                    Formula (*read)(std::string_view text, const std::string& where)) {
  std::vector<Formula> formulas;
  const auto [first, last] = call.query.equal_range(key);
  for (auto one = first; one != last; ++one) formulas.push_back(read(one->second, "?" + key));
  return formulas;
}

Reply json_reply(const OrderedJson& value, int status) { return {.status = status, .body = json_text(value)}; }

Reply made_at(const std::string& place, Reply reply) {
  reply.headers.emplace_back("Location", "/api/v1/" + place);
  return reply;
}

namespace {

/// The problem, and beside it everything else in the file's way.
Reply refusal_of(const Error& error, OrderedJson refused) {
  const std::string detail = refused.contains("detail") ? refused["detail"].get<std::string>() : error.what();
  OrderedJson problem = problem_json(error.code, error.where, detail);
  if (status_of(error.code) == 422) {
    problem["problems"] = {{{"code", error.code}, {"where", error.where}, {"detail", detail}}};
    for (const char* key : {"unbound", "unsupported"}) problem[key] = OrderedJson::array();
    problem["give"] = "";
  }
  for (const char* key : {"problems", "unbound", "unsupported", "give"})
    if (refused.contains(key)) problem[key] = std::move(refused[key]);
  return {.status = status_of(error.code), .content_type = "application/problem+json", .body = json_text(problem)};
}

}  // namespace

Reply answer_technology(Service&, const Call& call) {
  return json_reply(technology_json(rows_of_node(query_value(call, "node"), "?node")));
}
Reply answer_health(Service&, const Call&) { return json_reply({{"status", "ok"}}); }

Reply answer_version(Service&, const Call&) {
  return json_reply({{"version", program_version}, {"signature", signature()}});
}

Reply answer_operators(Service& service, const Call&) {
  return json_reply(operators_json(service.catalog.operators()));
}

Reply answer_models(Service& service, const Call&) {
  return json_reply({{"models", json_list(service.catalog.entries(), entry_json)}});
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
  OrderedJson refused;
  try {
    std::string facts = service.catalog.add(member, *call.upload->file, call.upload->sha256, call.stop, &refused);
    return made_at("models/" + member.name, {.status = 201, .body = std::move(facts)});
  } catch (const Error& error) {
    return refusal_of(error, std::move(refused));
  }
}

Reply delete_model(Service& service, const Call& call) {
  service.catalog.remove(call.parts[0]);
  return {.status = 204};
}

namespace {

/// A design point of any model, by one of the evaluations.
Reply evaluated(Service& service, const Call& call, std::string_view name) {
  const Json body = parse_json(call.body);
  return {.body = evaluate(service.catalog, name, model_of(body), body, {{}, call.stop})};
}

}  // namespace

Reply post_analysis(Service& service, const Call& call) { return evaluated(service, call, "analysis"); }
Reply post_memory_view(Service& service, const Call& call) { return evaluated(service, call, "memory_view"); }
Reply post_explanation(Service& service, const Call& call) { return evaluated(service, call, "explanation"); }
Reply post_sensitivities(Service& service, const Call& call) { return evaluated(service, call, "sensitivities"); }

namespace {

/// One of the screenings that may be under way at once.
class ScreeningTurn {
 public:
  explicit ScreeningTurn(std::counting_semaphore<>& turns) : turns_(turns) {
    if (!turns_.try_acquire()) throw Error("busy", "", "other screenings are under way; try again later");
  }
  ~ScreeningTurn() { turns_.release(); }
  ScreeningTurn(const ScreeningTurn&) = delete;
  ScreeningTurn& operator=(const ScreeningTurn&) = delete;

 private:
  std::counting_semaphore<>& turns_;
};

}  // namespace

/// A mix is screened in the child of its uploaded model.
Reply post_screening(Service& service, const Call& call) {
  const Json body = parse_json(call.body);
  const ScreeningRequest request = screening_request(body);
  const ScreeningTurn turn(service.screenings);
  const auto member = service.catalog.uploaded(service.catalog.mix(request.model, "/model"));
  return {.body =
              evaluate(service.catalog, "screening", member ? member->name : request.model, body, {{}, call.stop})};
}
Reply post_comparison(Service& service, const Call& call) { return evaluated(service, call, "comparison"); }

}  // namespace sdip
