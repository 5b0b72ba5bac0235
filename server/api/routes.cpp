// The route table.
#include "server/api/routes.h"

#include "server/api/handlers.h"
#include "server/api/openapi.h"
#include "server/json/tables_json.h"
#include "server/studies/comparison.h"

namespace sdip {
namespace {

/// Answers with JSON that never changes, written once.
template <OrderedJson (*json)()>
Reply answer(Service&, const Call&) {
  static const std::string text = json_text(json());
  return {.body = text};
}

OrderedJson every_field_json() { return fields_json(comparison_fields()); }
OrderedJson predicted_chips_json() { return chips_json(predict_chips()); }

constexpr QueryRow upload_query[] = {
    {"dim", "string", true, "NAME=SIZE binds a symbolic dimension"},
    {"input", "string", true, "NAME=VALUE makes an input a constant: sr=16000, mask=[1,1,0]"},
    {"role", "string", false, "core, text_encoder, encoder, decoder or network; network when not given"}};
constexpr QueryRow technology_query[] = {
    {"node", "string", false, "only rows that this node's or part's figures are made of; all when not given"}};
constexpr QueryRow formula_row = {"metric", "string", true,
                                  "a formula beside the sweep's own: NAME=EXPRESSION or NAME [UNIT]=EXPRESSION"};
constexpr QueryRow page_query[] = {
    {"limit", "integer", false, "rows, 1 to 10000; 100 when not given"},
    {"cursor", "string", false, "`next` of the page before"},
    {"sort", "string", false, "index, a metric or an axis; a leading - reverses"},
    {"feasible", "boolean", false, "only feasible (true) or infeasible (false) points"},
    {"fields", "string", false, "axes and metrics, comma separated; all when not given"},
    formula_row};
constexpr QueryRow columns_query[] = {
    {"fields", "string", false, "axes and metrics, comma separated; all when not given"}, formula_row};
constexpr QueryRow front_query[] = {
    {"metrics", "string", false,
     "comma separated, max:NAME or min:NAME for a direction; the sweep's objectives when not given"},
    formula_row,
    {"constraint", "string", true, "a condition that points of the front keep: area_mm2 <= 100"}};
constexpr QueryRow joint_front_query[] = {
    {"sweeps", "string", false, "numbers of sweeps, comma separated"},
    {"metrics", "string", false,
     "comma separated, max:NAME or min:NAME for a direction; the sweeps' objectives when not given"},
    formula_row,
    {"constraint", "string", true, "a condition that points of the front keep beside their sweep's"}};
constexpr QueryRow point_query[] = {formula_row};
constexpr QueryRow export_query_rows[] = {
    {"format", "string", false, "csv, ndjson, json, markdown or latex; csv when not given"},
    {"fields", "string", false,
     "axes, metrics and formulas, comma separated; as docs/exports.md says when not given"},
    {"front", "boolean", false, "the points of the front alone, in its order"},
    formula_row};

// A route of each kind: an answer that changes nothing; one that a body asks for, at once, or as a job that it
// starts; what is removed; what a job that is there is told.
using Handler = Reply (*)(Service&, const Call&);
constexpr Route get(std::string_view path, std::string_view id, std::string_view summary, std::string_view schema,
                    Handler handler, Effort effort = Effort::heavy, std::span<const QueryRow> query = {}) {
  return {"GET", path, id, summary, BodyKind::empty, "", query, 200, schema, handler, effort};
}
constexpr Route post(std::string_view path, std::string_view id, std::string_view summary, std::string_view request,
                     std::string_view schema, Handler handler, int status = 200) {
  return {"POST", path, id, summary, BodyKind::json, request, {}, status, schema, handler};
}
constexpr Route start(std::string_view path, std::string_view id, std::string_view summary,
                      std::string_view request, std::string_view schema, Handler handler) {
  return post(path, id, summary, request, schema, handler, 202);
}
constexpr Route remove(std::string_view path, std::string_view id, std::string_view summary, Handler handler,
                       Effort effort = Effort::heavy) {
  return {"DELETE", path, id, summary, BodyKind::empty, "", {}, 204, "", handler, effort};
}
constexpr Route tell(std::string_view path, std::string_view id, std::string_view summary, std::string_view schema,
                     Handler handler) {
  return {"POST", path, id, summary, BodyKind::empty, "", {}, 202, schema, handler, Effort::quick};
}

constexpr Route table[] = {
    get("/api/v1/parameters", "list_parameters", "Every parameter of a machine", "Parameters",
        answer<parameters_json>, Effort::quick),
    get("/api/v1/technology", "list_technology",
        "Every figure of energy, area, clock and programmable logic, and its source", "Technology",
        answer_technology, Effort::quick, technology_query),
    get("/api/v1/metrics", "list_metrics", "Every metric of a design point", "Metrics", answer<metrics_json>,
        Effort::quick),
    get("/api/v1/fields", "list_fields", "Every figure of a stage and of an instruction in an analysis", "Fields",
        answer<every_field_json>, Effort::quick),
    get("/api/v1/presets", "list_presets", "Named machines", "Presets", answer<presets_json>, Effort::quick),
    get("/api/v1/baselines", "list_baselines", "Other devices, as rooflines", "Baselines", answer<baselines_json>,
        Effort::quick),
    get("/api/v1/chips", "list_chips", "Published chips: area, power and clock as priced here, and as published",
        "Chips", answer<predicted_chips_json>, Effort::quick),
    get("/api/v1/operators", "list_operators", "Every operator that a model may use", "Operators", answer_operators,
        Effort::quick),
    get("/api/v1/models", "list_models", "Built-in and uploaded models", "Models", answer_models),
    {"PUT", "/api/v1/models/{name}", "put_model", "Upload an ONNX file", BodyKind::upload, "", upload_query, 201,
     "ModelFacts", put_model},
    get("/api/v1/models/{name}", "get_model", "What a model consists of", "ModelFacts", answer_model),
    remove("/api/v1/models/{name}", "delete_model", "Remove an uploaded model", delete_model),
    post("/api/v1/analyses", "analyze", "One design point in full", "AnalysisRequest", "Analysis", post_analysis),
    post("/api/v1/memory-views", "view_memory", "What lies where and when in each SRAM", "AnalysisRequest",
         "MemoryViews", post_memory_view),
    post("/api/v1/explanations", "explain", "What limits a design point, with formulas filled in",
         "ExplanationRequest", "Explanation", post_explanation),
    post("/api/v1/sensitivities", "measure_sensitivities", "What each single change of a machine does",
         "AnalysisRequest", "Sensitivities", post_sensitivities),
    post("/api/v1/screenings", "screen", "Which rows of a machine matter to metrics, over their whole ranges",
         "ScreeningRequest", "Screening", post_screening),
    post("/api/v1/comparisons", "compare", "A design point beside other devices", "ComparisonRequest", "Comparison",
         post_comparison),
    start("/api/v1/accuracies", "measure_accuracy", "Measure what number formats do to a model", "AccuracyRequest",
          "AccuracyJob", post_accuracy),
    get("/api/v1/accuracies/{id}", "get_accuracy", "A measurement of accuracy, and how far it is", "AccuracyJob",
        answer_accuracy, Effort::quick),
    remove("/api/v1/accuracies/{id}", "delete_accuracy", "End and forget a measurement of accuracy",
           delete_accuracy, Effort::quick),
    start("/api/v1/sweeps", "create_sweep", "Start a sweep", "SweepRequest", "Sweep", post_sweep),
    get("/api/v1/sweeps", "list_sweeps", "Every sweep, newest first", "Sweeps", answer_sweeps, Effort::quick),
    get("/api/v1/sweeps/{id}", "get_sweep", "A sweep and how far it is", "Sweep", answer_sweep, Effort::quick),
    remove("/api/v1/sweeps/{id}", "delete_sweep", "Remove a sweep and its points", delete_sweep),
    tell("/api/v1/sweeps/{id}/cancel", "cancel_sweep", "Stop a sweep; its points stay", "Sweep", cancel_sweep),
    tell("/api/v1/sweeps/{id}/resume", "resume_sweep", "Evaluate what is missing", "Sweep", resume_sweep),
    start("/api/v1/sweeps/{id}/revisions", "revise_sweep",
          "Start a sweep made of this one: cloned, extended, narrowed, or with its failures tried again",
          "RevisionRequest", "Sweep", revise_sweep),
    get("/api/v1/sweeps/{id}/points", "list_points", "Stored points, a page", "PointsPage", answer_points,
        Effort::heavy, page_query),
    get("/api/v1/sweeps/{id}/columns", "get_columns", "Stored points, a column each field", "PointColumns",
        answer_columns, Effort::heavy, columns_query),
    get("/api/v1/sweeps/{id}/front", "get_front", "The Pareto front", "Front", answer_front, Effort::heavy,
        front_query),
    get("/api/v1/sweeps/{id}/hypervolume", "get_hypervolume",
        "What a sweep's front covers, and how it grew with the points", "Hypervolume", answer_hypervolume,
        Effort::heavy, front_query),
    get("/api/v1/fronts", "get_joint_front", "The Pareto front of several sweeps together", "JointFront",
        answer_joint_front, Effort::heavy, joint_front_query),
    get("/api/v1/sweeps/{id}/points/{index}", "get_point", "One stored point", "Point", answer_point, Effort::quick,
        point_query),
    get("/api/v1/sweeps/{id}/kept-points", "list_kept_points", "The points whose analyses are kept", "KeptPoints",
        answer_kept_points, Effort::quick),
    {"POST",
     "/api/v1/sweeps/{id}/points/{index}/analysis",
     "keep_analysis",
     "Keep the analyses of a stored point, layer by layer, as they are",
     BodyKind::empty,
     "",
     {},
     201,
     "KeptPoint",
     keep_analysis},
    get("/api/v1/sweeps/{id}/points/{index}/analysis", "get_kept_analysis", "The analyses of a point that is kept",
        "KeptAnalyses", answer_kept_analysis),
    remove("/api/v1/sweeps/{id}/points/{index}/analysis", "delete_kept_analysis",
           "Let go of what is kept of a point", delete_kept_analysis),
    get("/api/v1/sweeps/{id}/export", "export_sweep", "All points in index order, as a file", "text", export_sweep,
        Effort::heavy, export_query_rows),
    get("/api/v1/sweeps/{id}/manifest", "get_manifest", "What made the points of an export of the same query",
        "Manifest", answer_manifest, Effort::heavy, export_query_rows),
    get("/api/v1/sweeps/{id}/validation", "get_front_validation", "How the front of a sweep was validated",
        "FrontValidation", answer_front_validation),
    start("/api/v1/validations", "create_validation", "Estimate against executor, tensors against the graph",
          "ValidationRequest", "Validation", post_validation),
    get("/api/v1/validations", "list_validations", "Every validation of a design point, newest first",
        "Validations", answer_validations, Effort::quick),
    get("/api/v1/validations/{id}", "get_validation", "A validation, how far it is and what it found", "Validation",
        answer_validation),
    remove("/api/v1/validations/{id}", "delete_validation", "Remove a validation", delete_validation),
    tell("/api/v1/validations/{id}/cancel", "cancel_validation", "Stop a validation", "Validation",
         cancel_validation),
    get("/api/v1/searched-rows", "list_searched_rows", "What a search varies where nothing is said, and the values",
        "SearchedRows", answer_searched_rows, Effort::quick),
    start("/api/v1/searches", "create_search", "Search the best machine for a goal", "SearchRequest", "Search",
          post_search),
    get("/api/v1/searches", "list_searches", "Every search, newest first", "Searches", answer_searches,
        Effort::quick),
    get("/api/v1/searches/{id}", "get_search", "A search, how far it is and what it found", "Search",
        answer_search),
    remove("/api/v1/searches/{id}", "delete_search", "Remove a search", delete_search),
    tell("/api/v1/searches/{id}/cancel", "cancel_search", "Stop a search; what was best until then stays", "Search",
         cancel_search),
    get("/api/v1/openapi.json", "openapi", "This document", "OpenApi", answer<openapi_json>, Effort::quick),
    get("/api/v1/version", "version", "Version and engine signature", "Version", answer_version),
    get("/healthz", "health", "Whether the service answers", "Health", answer_health, Effort::quick),
};

}  // namespace

std::span<const Route> routes() { return table; }

}  // namespace sdip
