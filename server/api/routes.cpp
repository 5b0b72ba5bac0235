// The route table.
#include "server/api/routes.h"

#include "server/api/handlers.h"

namespace sdip {
namespace {

constexpr std::span<const QueryRow> no_query;
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

constexpr Route table[] = {
    {"GET", "/api/v1/parameters", "list_parameters", "Every parameter of a machine", BodyKind::empty, "", no_query,
     200, "Parameters", answer_parameters, Effort::quick},
    {"GET", "/api/v1/technology", "list_technology",
     "Every figure of energy, area, clock and programmable logic, and its source", BodyKind::empty, "",
     technology_query, 200, "Technology", answer_technology, Effort::quick},
    {"GET", "/api/v1/metrics", "list_metrics", "Every metric of a design point", BodyKind::empty, "", no_query, 200,
     "Metrics", answer_metrics, Effort::quick},
    {"GET", "/api/v1/fields", "list_fields", "Every figure of a stage and of an instruction in an analysis",
     BodyKind::empty, "", no_query, 200, "Fields", answer_fields, Effort::quick},
    {"GET", "/api/v1/presets", "list_presets", "Named machines", BodyKind::empty, "", no_query, 200, "Presets",
     answer_presets, Effort::quick},
    {"GET", "/api/v1/baselines", "list_baselines", "Other devices, as rooflines", BodyKind::empty, "", no_query,
     200, "Baselines", answer_baselines, Effort::quick},
    {"GET", "/api/v1/chips", "list_chips",
     "Published chips: area, power and clock as priced here, and as published", BodyKind::empty, "", no_query, 200,
     "Chips", answer_chips, Effort::quick},
    {"GET", "/api/v1/operators", "list_operators", "Every operator that a model may use", BodyKind::empty, "",
     no_query, 200, "Operators", answer_operators, Effort::quick},
    {"GET", "/api/v1/models", "list_models", "Built-in and uploaded models", BodyKind::empty, "", no_query, 200,
     "Models", answer_models},
    {"PUT", "/api/v1/models/{name}", "put_model", "Upload an ONNX file", BodyKind::upload, "", upload_query, 201,
     "ModelFacts", put_model},
    {"GET", "/api/v1/models/{name}", "get_model", "What a model consists of", BodyKind::empty, "", no_query, 200,
     "ModelFacts", answer_model},
    {"DELETE", "/api/v1/models/{name}", "delete_model", "Remove an uploaded model", BodyKind::empty, "", no_query,
     204, "", delete_model},
    {"POST", "/api/v1/analyses", "analyze", "One design point in full", BodyKind::json, "AnalysisRequest", no_query,
     200, "Analysis", post_analysis},
    {"POST", "/api/v1/memory-views", "view_memory", "What lies where and when in each SRAM", BodyKind::json,
     "AnalysisRequest", no_query, 200, "MemoryViews", post_memory_view},
    {"POST", "/api/v1/explanations", "explain", "What limits a design point, with formulas filled in",
     BodyKind::json, "ExplanationRequest", no_query, 200, "Explanation", post_explanation},
    {"POST", "/api/v1/sensitivities", "measure_sensitivities", "What each single change of a machine does",
     BodyKind::json, "AnalysisRequest", no_query, 200, "Sensitivities", post_sensitivities},
    {"POST", "/api/v1/screenings", "screen", "Which rows of a machine matter to metrics, over their whole ranges",
     BodyKind::json, "ScreeningRequest", no_query, 200, "Screening", post_screening},
    {"POST", "/api/v1/comparisons", "compare", "A design point beside other devices", BodyKind::json,
     "ComparisonRequest", no_query, 200, "Comparison", post_comparison},
    {"POST", "/api/v1/accuracies", "measure_accuracy", "Measure what number formats do to a model", BodyKind::json,
     "AccuracyRequest", no_query, 202, "AccuracyJob", post_accuracy},
    {"GET", "/api/v1/accuracies/{id}", "get_accuracy", "A measurement of accuracy, and how far it is",
     BodyKind::empty, "", no_query, 200, "AccuracyJob", answer_accuracy, Effort::quick},
    {"DELETE", "/api/v1/accuracies/{id}", "delete_accuracy", "End and forget a measurement of accuracy",
     BodyKind::empty, "", no_query, 204, "", delete_accuracy, Effort::quick},
    {"POST", "/api/v1/sweeps", "create_sweep", "Start a sweep", BodyKind::json, "SweepRequest", no_query, 202,
     "Sweep", post_sweep},
    {"GET", "/api/v1/sweeps", "list_sweeps", "Every sweep, newest first", BodyKind::empty, "", no_query, 200,
     "Sweeps", answer_sweeps, Effort::quick},
    {"GET", "/api/v1/sweeps/{id}", "get_sweep", "A sweep and how far it is", BodyKind::empty, "", no_query, 200,
     "Sweep", answer_sweep, Effort::quick},
    {"DELETE", "/api/v1/sweeps/{id}", "delete_sweep", "Remove a sweep and its points", BodyKind::empty, "",
     no_query, 204, "", delete_sweep},
    {"POST", "/api/v1/sweeps/{id}/cancel", "cancel_sweep", "Stop a sweep; its points stay", BodyKind::empty, "",
     no_query, 202, "Sweep", cancel_sweep, Effort::quick},
    {"POST", "/api/v1/sweeps/{id}/resume", "resume_sweep", "Evaluate what is missing", BodyKind::empty, "",
     no_query, 202, "Sweep", resume_sweep, Effort::quick},
    {"POST", "/api/v1/sweeps/{id}/revisions", "revise_sweep",
     "Start a sweep made of this one: cloned, extended, narrowed, or with its failures tried again", BodyKind::json,
     "RevisionRequest", no_query, 202, "Sweep", revise_sweep},
    {"GET", "/api/v1/sweeps/{id}/points", "list_points", "Stored points, a page", BodyKind::empty, "", page_query,
     200, "PointsPage", answer_points},
    {"GET", "/api/v1/sweeps/{id}/columns", "get_columns", "Stored points, a column each field", BodyKind::empty, "",
     columns_query, 200, "PointColumns", answer_columns},
    {"GET", "/api/v1/sweeps/{id}/front", "get_front", "The Pareto front", BodyKind::empty, "", front_query, 200,
     "Front", answer_front},
    {"GET", "/api/v1/sweeps/{id}/hypervolume", "get_hypervolume",
     "What a sweep's front covers, and how it grew with the points", BodyKind::empty, "", front_query, 200,
     "Hypervolume", answer_hypervolume},
    {"GET", "/api/v1/fronts", "get_joint_front", "The Pareto front of several sweeps together", BodyKind::empty, "",
     joint_front_query, 200, "JointFront", answer_joint_front},
    {"GET", "/api/v1/sweeps/{id}/points/{index}", "get_point", "One stored point", BodyKind::empty, "", point_query,
     200, "Point", answer_point, Effort::quick},
    {"GET", "/api/v1/sweeps/{id}/export", "export_sweep", "All points in index order, as a file", BodyKind::empty,
     "", export_query_rows, 200, "text", export_sweep},
    {"GET", "/api/v1/sweeps/{id}/manifest", "get_manifest", "What made the points of an export of the same query",
     BodyKind::empty, "", export_query_rows, 200, "Manifest", answer_manifest},
    {"GET", "/api/v1/sweeps/{id}/validation", "get_front_validation", "How the front of a sweep was validated",
     BodyKind::empty, "", no_query, 200, "FrontValidation", answer_front_validation},
    {"POST", "/api/v1/validations", "create_validation", "Estimate against executor, tensors against the graph",
     BodyKind::json, "ValidationRequest", no_query, 202, "Validation", post_validation},
    {"GET", "/api/v1/validations", "list_validations", "Every validation of a design point, newest first",
     BodyKind::empty, "", no_query, 200, "Validations", answer_validations, Effort::quick},
    {"GET", "/api/v1/validations/{id}", "get_validation", "A validation, how far it is and what it found",
     BodyKind::empty, "", no_query, 200, "Validation", answer_validation},
    {"DELETE", "/api/v1/validations/{id}", "delete_validation", "Remove a validation", BodyKind::empty, "",
     no_query, 204, "", delete_validation},
    {"POST", "/api/v1/validations/{id}/cancel", "cancel_validation", "Stop a validation", BodyKind::empty, "",
     no_query, 202, "Validation", cancel_validation, Effort::quick},
    {"GET", "/api/v1/searched-rows", "list_searched_rows",
     "What a search varies where nothing is said, and the values", BodyKind::empty, "", no_query, 200,
     "SearchedRows", answer_searched_rows, Effort::quick},
    {"POST", "/api/v1/searches", "create_search", "Search the best machine for a goal", BodyKind::json,
     "SearchRequest", no_query, 202, "Search", post_search},
    {"GET", "/api/v1/searches", "list_searches", "Every search, newest first", BodyKind::empty, "", no_query, 200,
     "Searches", answer_searches, Effort::quick},
    {"GET", "/api/v1/searches/{id}", "get_search", "A search, how far it is and what it found", BodyKind::empty, "",
     no_query, 200, "Search", answer_search},
    {"DELETE", "/api/v1/searches/{id}", "delete_search", "Remove a search", BodyKind::empty, "", no_query, 204, "",
     delete_search},
    {"POST", "/api/v1/searches/{id}/cancel", "cancel_search", "Stop a search; what was best until then stays",
     BodyKind::empty, "", no_query, 202, "Search", cancel_search, Effort::quick},
    {"GET", "/api/v1/openapi.json", "openapi", "This document", BodyKind::empty, "", no_query, 200, "OpenApi",
     answer_openapi, Effort::quick},
    {"GET", "/api/v1/version", "version", "Version and engine signature", BodyKind::empty, "", no_query, 200,
     "Version", answer_version},
    {"GET", "/healthz", "health", "Whether the service answers", BodyKind::empty, "", no_query, 200, "Health",
     answer_health, Effort::quick},
};

}  // namespace

std::span<const Route> routes() { return table; }

}  // namespace sdip
