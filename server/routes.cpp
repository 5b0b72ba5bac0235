// The route table.
#include "server/routes.h"

#include <algorithm>

#include "core/base/error.h"
#include "server/handlers.h"

namespace sdip {
namespace {

constexpr QueryRow upload_query[] = {
    {"dim", "string", true, "NAME=SIZE binds a symbolic dimension"},
    {"role", "string", false, "core, text_encoder, encoder, decoder or network; network when not given"}};
constexpr QueryRow page_query[] = {
    {"limit", "integer", false, "rows, 1 to 10000; 100 when not given"},
    {"cursor", "string", false, "`next` of the page before"},
    {"sort", "string", false, "index, a metric or an axis; a leading - reverses"},
    {"feasible", "boolean", false, "only feasible (true) or infeasible (false) points"},
    {"fields", "string", false, "axes and metrics, comma separated; all when not given"}};
constexpr QueryRow columns_query[] = {
    {"fields", "string", false, "axes and metrics, comma separated; all when not given"}};
constexpr QueryRow front_query[] = {
    {"metrics", "string", false, "comma separated; the sweep's objectives when not given"}};
constexpr QueryRow export_query[] = {{"format", "string", false, "csv or ndjson; csv when not given"}};

constexpr Route table[] = {
    {"GET",
     "/api/v1/parameters",
     "list_parameters",
     "Every parameter of a machine",
     BodyKind::empty,
     "",
     {},
     200,
     "Parameters",
     answer_parameters},
    {"GET",
     "/api/v1/metrics",
     "list_metrics",
     "Every metric of a design point",
     BodyKind::empty,
     "",
     {},
     200,
     "Metrics",
     answer_metrics},
    {"GET",
     "/api/v1/presets",
     "list_presets",
     "Named machines",
     BodyKind::empty,
     "",
     {},
     200,
     "Presets",
     answer_presets},
    {"GET",
     "/api/v1/baselines",
     "list_baselines",
     "Other devices, as rooflines",
     BodyKind::empty,
     "",
     {},
     200,
     "Baselines",
     answer_baselines},
    {"GET",
     "/api/v1/operators",
     "list_operators",
     "Every operator that a model may use",
     BodyKind::empty,
     "",
     {},
     200,
     "Operators",
     answer_operators},
    {"GET",
     "/api/v1/models",
     "list_models",
     "Built-in and uploaded models",
     BodyKind::empty,
     "",
     {},
     200,
     "Models",
     answer_models},
    {"PUT", "/api/v1/models/{name}", "put_model", "Upload an ONNX file", BodyKind::upload, "", upload_query, 201,
     "ModelFacts", put_model},
    {"GET",
     "/api/v1/models/{name}",
     "get_model",
     "What a model consists of",
     BodyKind::empty,
     "",
     {},
     200,
     "ModelFacts",
     answer_model},
    {"DELETE",
     "/api/v1/models/{name}",
     "delete_model",
     "Remove an uploaded model",
     BodyKind::empty,
     "",
     {},
     204,
     "",
     delete_model},
    {"POST",
     "/api/v1/analyses",
     "analyze",
     "One design point in full",
     BodyKind::json,
     "AnalysisRequest",
     {},
     200,
     "Analysis",
     post_analysis},
    {"POST",
     "/api/v1/memory-views",
     "view_memory",
     "What lies where and when in each SRAM",
     BodyKind::json,
     "AnalysisRequest",
     {},
     200,
     "MemoryViews",
     post_memory_view},
    {"POST",
     "/api/v1/comparisons",
     "compare",
     "A design point beside other devices",
     BodyKind::json,
     "ComparisonRequest",
     {},
     200,
     "Comparison",
     post_comparison},
    {"POST",
     "/api/v1/accuracies",
     "measure_accuracy",
     "Measure what number formats do to a model",
     BodyKind::json,
     "AccuracyRequest",
     {},
     202,
     "AccuracyJob",
     post_accuracy},
    {"GET",
     "/api/v1/accuracies/{id}",
     "get_accuracy",
     "A measurement of accuracy, and how far it is",
     BodyKind::empty,
     "",
     {},
     200,
     "AccuracyJob",
     answer_accuracy},
    {"DELETE",
     "/api/v1/accuracies/{id}",
     "delete_accuracy",
     "End and forget a measurement of accuracy",
     BodyKind::empty,
     "",
     {},
     204,
     "",
     delete_accuracy},
    {"POST",
     "/api/v1/sweeps",
     "create_sweep",
     "Start a sweep",
     BodyKind::json,
     "SweepRequest",
     {},
     202,
     "Sweep",
     post_sweep},
    {"GET",
     "/api/v1/sweeps",
     "list_sweeps",
     "Every sweep, newest first",
     BodyKind::empty,
     "",
     {},
     200,
     "Sweeps",
     answer_sweeps},
    {"GET",
     "/api/v1/sweeps/{id}",
     "get_sweep",
     "A sweep and how far it is",
     BodyKind::empty,
     "",
     {},
     200,
     "Sweep",
     answer_sweep},
    {"DELETE",
     "/api/v1/sweeps/{id}",
     "delete_sweep",
     "Remove a sweep and its points",
     BodyKind::empty,
     "",
     {},
     204,
     "",
     delete_sweep},
    {"POST",
     "/api/v1/sweeps/{id}/cancel",
     "cancel_sweep",
     "Stop a sweep; its points stay",
     BodyKind::empty,
     "",
     {},
     202,
     "Sweep",
     cancel_sweep},
    {"POST",
     "/api/v1/sweeps/{id}/resume",
     "resume_sweep",
     "Evaluate what is missing",
     BodyKind::empty,
     "",
     {},
     202,
     "Sweep",
     resume_sweep},
    {"GET", "/api/v1/sweeps/{id}/points", "list_points", "Stored points, a page", BodyKind::empty, "", page_query,
     200, "PointsPage", answer_points},
    {"GET", "/api/v1/sweeps/{id}/columns", "get_columns", "Stored points, a column each field", BodyKind::empty, "",
     columns_query, 200, "PointColumns", answer_columns},
    {"GET", "/api/v1/sweeps/{id}/front", "get_front", "The Pareto front", BodyKind::empty, "", front_query, 200,
     "Front", answer_front},
    {"GET",
     "/api/v1/sweeps/{id}/points/{index}",
     "get_point",
     "One stored point",
     BodyKind::empty,
     "",
     {},
     200,
     "Point",
     answer_point},
    {"GET", "/api/v1/sweeps/{id}/export", "export_sweep", "All points in index order, as a file", BodyKind::empty,
     "", export_query, 200, "text", export_sweep},
    {"GET",
     "/api/v1/sweeps/{id}/validation",
     "get_front_validation",
     "How the front of a sweep was validated",
     BodyKind::empty,
     "",
     {},
     200,
     "FrontValidation",
     answer_front_validation},
    {"POST",
     "/api/v1/validations",
     "create_validation",
     "Estimate against executor, tensors against the graph",
     BodyKind::json,
     "ValidationRequest",
     {},
     202,
     "Validation",
     post_validation},
    {"GET",
     "/api/v1/validations",
     "list_validations",
     "Every validation of a design point, newest first",
     BodyKind::empty,
     "",
     {},
     200,
     "Validations",
     answer_validations},
    {"GET",
     "/api/v1/validations/{id}",
     "get_validation",
     "A validation, how far it is and what it found",
     BodyKind::empty,
     "",
     {},
     200,
     "Validation",
     answer_validation},
    {"DELETE",
     "/api/v1/validations/{id}",
     "delete_validation",
     "Remove a validation",
     BodyKind::empty,
     "",
     {},
     204,
     "",
     delete_validation},
    {"POST",
     "/api/v1/validations/{id}/cancel",
     "cancel_validation",
     "Stop a validation",
     BodyKind::empty,
     "",
     {},
     202,
     "Validation",
     cancel_validation},
    {"GET",
     "/api/v1/openapi.json",
     "openapi",
     "This document",
     BodyKind::empty,
     "",
     {},
     200,
     "OpenApi",
     answer_openapi},
    {"GET",
     "/api/v1/version",
     "version",
     "Version and engine signature",
     BodyKind::empty,
     "",
     {},
     200,
     "Version",
     answer_version},
    {"GET",
     "/healthz",
     "health",
     "Whether the service answers",
     BodyKind::empty,
     "",
     {},
     200,
     "Health",
     answer_health},
};

/// Splits at every slash: "/a/b" is "", "a", "b".
std::vector<std::string_view> segments(std::string_view path) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

bool matches(std::string_view pattern, std::string_view path, std::vector<std::string>& parts) {
  const auto wanted = segments(pattern), given = segments(path);
  if (wanted.size() != given.size()) return false;
  parts.clear();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{')) {
      if (given[i].empty()) return false;
      parts.emplace_back(given[i]);
    } else if (wanted[i] != given[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::span<const Route> routes() { return table; }

Matched match_route(std::string_view method, std::string_view path) {
  Matched result;
  std::vector<std::string> parts;
  for (const auto& route : table) {
    if (!matches(route.path, path, parts)) continue;
    result.allowed += (result.allowed.empty() ? "" : ", ") + std::string(route.method);
    if (route.method != method) continue;
    result.route = &route;
    result.parts = parts;
    return result;
  }
  return result;
}

void check_query(const Route& route, const Call& call) {
  for (const auto& [key, value] : call.query) {
    const auto row = std::ranges::find(route.query, key, &QueryRow::name);
    if (row == route.query.end())
      throw Error("unknown_key", "?" + key.substr(0, 80), "this route has no such query key");
    if (!row->repeated && call.query.count(key) > 1)
      throw Error("bad_request", "?" + key.substr(0, 80), "given more than once");
  }
}

}  // namespace sdip
