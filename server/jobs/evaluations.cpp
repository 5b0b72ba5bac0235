// The table of evaluations, and those of single design points.
#include "server/jobs/evaluations.h"

#include <algorithm>

#include "core/base/error.h"
#include "server/jobs/accuracy_front.h"
#include "server/jobs/accuracy_jobs.h"
#include "server/jobs/jobs.h"
#include "server/jobs/search_jobs.h"
#include "server/jobs/validation_jobs.h"
#include "server/json/explain_json.h"
#include "server/json/memory_json.h"
#include "server/models/request.h"
#include "server/studies/analysis.h"
#include "server/studies/comparison.h"
#include "server/studies/screening.h"

namespace sdip {
namespace {

Analysis analyzed(const Catalog& catalog, const PointRequest& request, const EvaluationTurn& turn) {
  Analysis analysis = analyze(catalog, request.model, request.machine, request.formats, turn.stop);
  auto& notes = analysis.report.notes;
  notes.insert(notes.begin(), request.warnings.begin(), request.warnings.end());
  return analysis;
}

std::string evaluate_analysis(const Catalog& catalog, const Json& body, const EvaluationTurn& turn) {
  const PointRequest request = point_request(body, false);
  return json_text(analysis_json(analyzed(catalog, request, turn), request.instructions));
}

std::string evaluate_memory_view(const Catalog& catalog, const Json& body, const EvaluationTurn& turn) {
  return json_text(memory_json(analyzed(catalog, point_request(body, false), turn)));
}

std::string evaluate_explanation(const Catalog& catalog, const Json& asked, const EvaluationTurn& turn) {
  Json body = asked;
  const std::int64_t layers = integer_field(body, "layers", "").value_or(usual_explained_layers);
  if (layers < 0 || layers > most_explained_layers)
    throw Error("value_out_of_range", "/layers", "expected 0 to " + std::to_string(most_explained_layers));
  if (body.is_object()) body.erase("layers");
  const Analysis analysis = analyzed(catalog, point_request(body, false), turn);
  return json_text(explanation_json(analysis, explain(analysis.application, analysis.machine, as_size(layers))));
}

std::string evaluate_sensitivities(const Catalog& catalog, const Json& body, const EvaluationTurn& turn) {
  const PointRequest request = point_request(body, false);
  return json_text(sensitivities_json(
      request.model, analyze_changes(catalog, {{request.model, 1}}, request.machine, request.formats, turn.stop)));
}

std::string evaluate_screening(const Catalog& catalog, const Json& body, const EvaluationTurn& turn) {
  return json_text(screening_json(screen(catalog, screening_request(body), 1, turn.stop)));
}

std::string evaluate_comparison(const Catalog& catalog, const Json& body, const EvaluationTurn& turn) {
  const PointRequest request = point_request(body, true);
  return json_text(comparison_json(catalog, comparison_asked(request), turn.stop));
}

constexpr std::int64_t gib = std::int64_t{1} << 30;

/// docs/api.md has these limits, too.
const std::vector<Evaluation>& table() {
  static const std::vector<Evaluation> rows = {
      facts_evaluation,
      {"analysis", evaluate_analysis, {2 * gib, 60, 120}},
      {"memory_view", evaluate_memory_view, {2 * gib, 60, 120}},
      {"explanation", evaluate_explanation, {2 * gib, 60, 120}},
      {"sensitivities", evaluate_sensitivities, {2 * gib, 180, 300}},
      {"screening", evaluate_screening, {2 * gib, 180, 300}},
      {"comparison", evaluate_comparison, {2 * gib, 60, 120}},
      {"accuracy_check", evaluate_accuracy_check, {2 * gib, 60, 120}},
      {"accuracy", evaluate_accuracy, {6 * gib, 1800, 600}},
      {"point_accuracy", evaluate_point_accuracy, {6 * gib, 300, 600}},
      {"validation_check", evaluate_validation_check, {2 * gib, 60, 120}},
      {"validation", evaluate_validation, {6 * gib, 2 * most_validation_seconds, most_validation_seconds + 600}},
      {"front_validation",
       evaluate_validation,
       {6 * gib, 2 * most_validation_seconds, most_validation_seconds + 600}},
      {"sweep", evaluate_sweep, {4 * gib, 0, 600}},
      {"search", evaluate_search, {6 * gib, 0, most_validation_seconds + 600}},
  };
  return rows;
}

}  // namespace

std::span<const Evaluation> evaluations() { return table(); }

const Evaluation& evaluation_named(std::string_view name) {
  const auto row = std::ranges::find(table(), name, &Evaluation::name);
  check(row != table().end(), "an evaluation of the table");
  return *row;
}

std::string evaluate(const Catalog& catalog, std::string_view name, const std::string& model, const Json& request,
                     const EvaluationTurn& turn, bool job) {
  const Evaluation& one = evaluation_named(name);
  const auto member = catalog.uploaded(model);
  return member ? catalog.apart(*member, one, request, turn, job) : one.run(catalog, request, turn);
}

std::string model_of(const Json& body) {
  const bool named = body.is_object() && body.contains("model") && body["model"].is_string();
  return named ? body["model"].get<std::string>() : "";
}

}  // namespace sdip
