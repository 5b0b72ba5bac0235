// Every route of the table on a real socket, its answer against the OpenAPI document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/api/openapi.h"
#include "server/api/routes.h"
#include "tests/server/schema_check.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

const Json& document() {
  static const Json document = Json::parse(json_text(openapi_json()));
  return document;
}

/// How to call a route so that it goes well. SWEEP stands for a finished sweep, OTHER for one that is cancelled,
/// VALIDATED for a finished validation, WAITING for one that is queued; SEARCHED and UNSEARCHED for such searches.
struct Example {
  std::string_view id;
  std::string target, body;
};
const std::vector<Example> examples = {
    {"list_parameters", "/api/v1/parameters", ""},
    {"list_technology", "/api/v1/technology", ""},
    {"list_metrics", "/api/v1/metrics", ""},
    {"list_fields", "/api/v1/fields", ""},
    {"list_presets", "/api/v1/presets", ""},
    {"list_baselines", "/api/v1/baselines", ""},
    {"list_chips", "/api/v1/chips", ""},
    {"list_operators", "/api/v1/operators", ""},
    {"put_model", "/api/v1/models/small", "ONNX"},
    {"list_models", "/api/v1/models", ""},
    {"get_model", "/api/v1/models/tiny-sd", ""},
    {"analyze", "/api/v1/analyses",
     R"({"model": "tiny-sd", "preset": "edge", "machine": {"cores": 2}, "instructions": true})"},
    {"view_memory", "/api/v1/memory-views", R"({"model": "tiny-sd", "preset": "essay"})"},
    {"explain", "/api/v1/explanations", R"({"model": "tiny-sd", "preset": "edge", "layers": 3})"},
    {"measure_sensitivities", "/api/v1/sensitivities", R"({"model": "tiny-sd-vae-decoder", "preset": "essay"})"},
    {"screen", "/api/v1/screenings", R"({"model": "tiny-sd-text", "preset": "edge", "samples": 2})"},
    {"compare", "/api/v1/comparisons",
     R"({"model": "tiny-sd", "baselines": ["tpu_v4", "mn_core_2", "a100"], "node": "n7"})"},
    {"measure_accuracy", "/api/v1/accuracies",
     R"({"model": "tiny-sd-text", "preset": "edge", "calibration": "percentile", "percentile": 99, "seed": 2})"},
    {"get_accuracy", "/api/v1/accuracies/1", ""},
    {"delete_accuracy", "/api/v1/accuracies/1", ""},
    {"create_sweep", "/api/v1/sweeps", R"({"model": "small", "axes": [{"parameter": "cores", "values": [1, 2]}]})"},
    {"list_sweeps", "/api/v1/sweeps", ""},
    {"get_sweep", "/api/v1/sweeps/SWEEP", ""},
    {"list_points", "/api/v1/sweeps/SWEEP/points?limit=3&sort=-throughput_fps&feasible=true", ""},
    {"get_columns", "/api/v1/sweeps/SWEEP/columns?fields=cores,area_mm2,twice&metric=twice%3D2*cores", ""},
    {"get_front", "/api/v1/sweeps/SWEEP/front?metrics=throughput_fps,energy_j_per_frame", ""},
    {"get_hypervolume", "/api/v1/sweeps/SWEEP/hypervolume", ""},
    {"get_joint_front", "/api/v1/fronts?sweeps=SWEEP&metrics=throughput_fps,area_mm2,min:e&metric=e%3Dpower_w", ""},
    {"get_point", "/api/v1/sweeps/SWEEP/points/5?metric=twice%3D2*cores", ""},
    {"keep_analysis", "/api/v1/sweeps/SWEEP/points/5/analysis", ""},
    {"list_kept_points", "/api/v1/sweeps/SWEEP/kept-points", ""},
    {"get_kept_analysis", "/api/v1/sweeps/SWEEP/points/5/analysis", ""},
    {"delete_kept_analysis", "/api/v1/sweeps/SWEEP/points/5/analysis", ""},
    {"export_sweep", "/api/v1/sweeps/SWEEP/export?format=ndjson", ""},
    {"get_manifest", "/api/v1/sweeps/SWEEP/manifest?fields=cores,area_mm2", ""},
    {"get_front_validation", "/api/v1/sweeps/SWEEP/validation", ""},
    {"create_validation", "/api/v1/validations",
     R"({"model": "tiny-sd", "machine": {"cores": 2}, "layers": ["*"], "passes": 2, "seed": 1, "seconds": 30})"},
    {"list_validations", "/api/v1/validations", ""},
    {"get_validation", "/api/v1/validations/VALIDATED", ""},
    {"cancel_validation", "/api/v1/validations/WAITING/cancel", ""},
    {"delete_validation", "/api/v1/validations/VALIDATED", ""},
    {"list_searched_rows", "/api/v1/searched-rows", ""},
    {"create_search", "/api/v1/searches",
     R"({"model": "tiny-sd-text", "preset": "edge", "machine": {"steps": 4}, "fixed": {"technology_node": "n7"},
         "axes": [{"parameter": "psram_bytes", "min": 1048576, "max": 8388608, "factor": 2}],
         "metrics": {"e": {"formula": "power_w * latency_s", "unit": "J"}}, "objectives": ["min:e", "area_mm2"],
         "constraints": ["throughput_fps >= 1"], "seconds": 5, "evaluations": 300, "validate_seconds": 0,
         "seed": 3})"},
    {"list_searches", "/api/v1/searches", ""},
    {"get_search", "/api/v1/searches/SEARCHED", ""},
    {"cancel_search", "/api/v1/searches/UNSEARCHED/cancel", ""},
    {"delete_search", "/api/v1/searches/SEARCHED", ""},
    {"revise_sweep", "/api/v1/sweeps/SWEEP/revisions",
     R"({"kind": "narrow", "name": "less", "axes": [{"parameter": "cores", "values": [1, 2]}]})"},
    {"resume_sweep", "/api/v1/sweeps/OTHER/resume", ""},
    {"cancel_sweep", "/api/v1/sweeps/OTHER/cancel", ""},
    {"delete_sweep", "/api/v1/sweeps/SWEEP", ""},
    {"delete_model", "/api/v1/models/lone", ""},
    {"openapi", "/api/v1/openapi.json", ""},
    {"version", "/api/v1/version", ""},
    {"health", "/healthz", ""},
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (const auto at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

void expect_fits(const Json& value, const std::string& schema) {
  const auto found = misfits(value, {{"$ref", "#/components/schemas/" + schema}}, document());
  for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 5); ++i)
    ADD_FAILURE() << schema << " " << found[i];
}

const Route& route_of(std::string_view id) {
  for (const auto& route : routes())
    if (route.id == id) return route;
  throw std::logic_error("no such route");
}

/// A sweep that is long enough to be cancelled before it ends.
constexpr const char* long_sweep =
    R"({"model": "tiny-sd", "sampling": "random", "count": 2000000, "seed": 3, "axes": [
        {"parameter": "cores", "values": [1, 2, 4, 8]}, {"parameter": "steps", "min": 1, "max": 1000, "step": 1}]})";

TEST(contract, every_route_answers_as_its_schema_says) {
  const Site site;
  const std::string sweep = site.sweep(small_sweep), other = site.sweep(long_sweep, "running");
  EXPECT_EQ(site.post("/api/v1/sweeps/" + other + "/cancel", "").status, 202);
  site.wait_for_state(other, "cancelled");
  EXPECT_EQ(site.put("/api/v1/models/lone", small_onnx()).status, 201);
  site.wait_for("/api/v1/sweeps/" + sweep + "/validation", "done");
  const std::string validated = site.validation(R"({"model": "tiny-sd", "seconds": 20})");
  site.wait_for("/api/v1/validations/" + validated, "done");
  site.validation(R"({"model": "sd15-unet", "seconds": 600})");  // runs meanwhile
  const std::string waiting = site.validation(R"({"model": "tiny-sd"})");
  const std::string goal = R"({"model": "tiny-sd-text", "preset": "edge", "objectives": ["area_mm2"], )";
  const std::string searched =
      site.post("/api/v1/searches", goal + R"("evaluations": 500})").json().at("id").dump();
  site.wait_for("/api/v1/searches/" + searched, "done");
  site.post("/api/v1/searches", goal + R"("seconds": 3600})");  // runs meanwhile
  const std::string unsearched = site.post("/api/v1/searches", goal + R"("seconds": 9})").json().at("id").dump();
  for (const auto& example : examples) {
    SCOPED_TRACE(example.id);
    const Route& route = route_of(example.id);
    std::string target = replaced(replaced(example.target, "SWEEP", sweep), "OTHER", other);
    target = replaced(replaced(target, "VALIDATED", validated), "WAITING", waiting);
    target = replaced(replaced(target, "UNSEARCHED", unsearched), "SEARCHED", searched);
    const std::string body = example.body == "ONNX" ? small_onnx() : example.body;
    const std::string type = route.body == BodyKind::json     ? "application/json"
                             : route.body == BodyKind::upload ? "application/octet-stream"
                                                              : "";
    const Answer answer = site.request(std::string(route.method), target, body, type);
    EXPECT_EQ(answer.status, route.status) << answer.body;
    if (route.status == 204) {
      EXPECT_EQ(answer.body, "");
    } else if (route.response_schema == "text") {
      EXPECT_THAT(answer.headers.at("content-disposition"), testing::StartsWith("attachment"));
    } else {
      expect_fits(answer.json(), std::string(route.response_schema));
    }
  }
}

TEST(contract, every_route_has_an_example) {
  for (const auto& route : routes())
    EXPECT_TRUE(std::ranges::any_of(examples, [&](const auto& one) { return one.id == route.id; })) << route.id;
}

TEST(contract, the_document_names_only_schemas_that_it_has) {
  const std::string text = document().dump();
  const std::string prefix = "\"#/components/schemas/";
  for (auto at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
    const auto from = at + prefix.size();
    EXPECT_TRUE(document()["components"]["schemas"].contains(text.substr(from, text.find('"', from) - from)));
  }
}

TEST(contract, the_document_holds_every_parameter_and_metric) {
  const Json& schemas = document()["components"]["schemas"];
  EXPECT_EQ(schemas["Machine"]["properties"].size(), parameters().size() + 1) << "and technology";
  EXPECT_EQ(schemas["MetricValues"]["properties"].size(), metric_count);
  EXPECT_EQ(schemas["Machine"]["properties"]["cores"]["minimum"], 1);
}

struct Refused {
  const char *method, *target, *body;
  int status;
  const char *code, *where;
};
const Refused refusals[] = {
    {"GET", "/api/v1/nope", "", 404, "not_found", "/api/v1/nope"},
    {"DELETE", "/api/v1/parameters", "", 405, "method_not_allowed", "/api/v1/parameters"},
    {"POST", "/", "{}", 405, "method_not_allowed", "/"},
    {"POST", "/api/v1/sweeps/77/points/0/analysis", "", 404, "not_found", "sweep 77"},
    {"GET", "/api/v1/sweeps/77/kept-points", "", 404, "not_found", "sweep 77"},
    {"GET", "/api/v1/accuracies/77", "", 404, "not_found", "accuracy 77"},
    {"DELETE", "/api/v1/accuracies/x", "", 404, "not_found", "id"},
    {"POST", "/api/v1/accuracies", R"({"model": "sd15"})", 422, "limit_exceeded", "sd15"},
    {"POST", "/api/v1/accuracies", R"({"model": "tiny-sd", "calibration": "x"})", 422, "value_invalid",
     "/calibration"},
    {"POST", "/api/v1/accuracies", R"({"model": "tiny-sd", "samples": 0})", 422, "value_out_of_range", "/samples"},
    {"POST", "/api/v1/accuracies", R"({"model": "tiny-sd", "instructions": true})", 400, "unknown_key", nullptr},
    {"POST", "/api/v1/accuracies", R"({"model": "tiny-sd", "machine": {"psram_bytes": 1024}})", 422, "infeasible",
     "/machine"},
    {"GET", "/api/v1/models/nope", "", 404, "not_found", "name"},
    {"DELETE", "/api/v1/models/sd15", "", 409, "conflict", "sd15"},
    {"PUT", "/api/v1/models/sd15", "x", 409, "conflict", "sd15"},
    {"PUT", "/api/v1/models/bad%20name", "x", 422, "value_invalid", "name"},
    {"PUT", "/api/v1/models/text", "not ONNX at all", 422, "not_onnx", nullptr},
    {"PUT", "/api/v1/models/x?dim=N", "x", 422, "value_invalid", "?dim"},
    {"PUT", "/api/v1/models/x?dim=N=1", "not ONNX at all", 422, "not_onnx", nullptr},
    {"PUT", "/api/v1/models/x?dim=N%3D1&dim=M=2", "not ONNX at all", 422, "not_onnx", nullptr},
    {"PUT", "/api/v1/models/x?mid=N=1", "x", 400, "unknown_key", "?mid"},
    {"POST", "/api/v1/analyses", "", 400, "json_invalid", ""},
    {"POST", "/api/v1/analyses", "{} {}", 400, "json_invalid", ""},
    {"POST", "/api/v1/analyses", "{\"model\": NaN}", 400, "json_invalid", "/model"},
    {"POST", "/api/v1/analyses", "[]", 422, "value_invalid", ""},
    {"POST", "/api/v1/analyses", "{}", 422, "value_invalid", "/model"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "model": "sd15"})", 400, "json_duplicate_key", "/model"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "extra": 1})", 400, "unknown_key", "/extra"},
    {"POST", "/api/v1/analyses", R"({"model": "../../etc/passwd.onnx"})", 422, "unknown_model", "/model"},
    {"POST", "/api/v1/analyses", R"({"model": "tiny-sd", "formats": "\"x\" weights=int5"})", 422, "formats_invalid",
     "/formats:1"},
    {"POST", "/api/v1/validations", R"({"model": "tiny-sd", "formats": "\"x\" weights=int5"})", 422,
     "formats_invalid", "/formats:1"},
    {"POST", "/api/v1/accuracies", R"({"model": "tiny-sd", "formats": "\"x\" weights=int5"})", 422,
     "formats_invalid", "/formats:1"},
    {"POST", "/api/v1/analyses", R"({"model": "tiny-sd", "formats": "\n\"x\" weights=int4"})", 422,
     "format_unmatched", "/formats:2"},
    {"POST", "/api/v1/memory-views", R"({"model": "tiny-sd", "formats": "\"x\" weights=int4"})", 422,
     "format_unmatched", "/formats:1"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "preset": "x"})", 422, "unknown_preset", "/preset"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "machine": {"coers": 1}})", 422, "unknown_parameter",
     "/machine/coers"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "machine": {"cores": "1"}})", 422, "value_invalid",
     "/machine/cores"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "machine": {"cores": 0}})", 422, "value_out_of_range",
     "/machine/cores"},
    {"POST", "/api/v1/analyses", R"({"model": "sd15", "machine": {"memory_hierarchy": "mesh"}})", 422,
     "value_invalid", "/machine/memory_hierarchy"},
    {"POST", "/api/v1/comparisons", R"({"model": "sd15", "baselines": ["x"]})", 422, "unknown_baseline",
     "/baselines/0"},
    {"POST", "/api/v1/sweeps", R"({"model": "nope", "axes": [{"parameter": "cores", "values": [1]}]})", 422,
     "unknown_model", "/model"},
    {"POST", "/api/v1/sweeps", R"({"model": "sd15", "axes": [{"parameter": "coers", "values": [1]}]})", 422,
     "unknown_parameter", nullptr},
    {"POST", "/api/v1/sweeps",
     R"({"model": "sd15", "axes": [{"parameter": "cores", "values": [1]}], "objectives": ["x"]})", 422,
     "unknown_metric", nullptr},
    {"POST", "/api/v1/sweeps",
     R"({"model": "sd15", "axes": [{"parameter": "cores", "values": [1]}], "validate_seconds": 3601})", 422,
     "value_out_of_range", "/validate_seconds"},
    {"GET", "/api/v1/sweeps/99/validation", "", 404, "not_found", nullptr},
    {"POST", "/api/v1/validations", "{}", 422, "value_invalid", "/model"},
    {"POST", "/api/v1/validations", R"({"model": "nope"})", 422, "unknown_model", "/model"},
    {"POST", "/api/v1/validations", R"({"model": "sd15", "passes": 65})", 422, "value_out_of_range", "/passes"},
    {"POST", "/api/v1/validations", R"({"model": "sd15", "seconds": 0})", 422, "value_out_of_range", "/seconds"},
    {"POST", "/api/v1/validations", R"({"model": "sd15", "tensors": 1})", 422, "value_invalid", "/tensors"},
    {"POST", "/api/v1/validations", R"({"model": "sd15", "layer": ["*"]})", 400, "unknown_key", "/layer"},
    {"POST", "/api/v1/validations", R"({"model": "sd15", "instructions": true})", 400, "unknown_key",
     "/instructions"},
    {"GET", "/api/v1/validations/99", "", 404, "not_found", nullptr},
    {"GET", "/api/v1/validations/x", "", 404, "not_found", nullptr},
    {"POST", "/api/v1/validations/99/cancel", "", 404, "not_found", nullptr},
    {"DELETE", "/api/v1/validations/99", "", 404, "not_found", nullptr},
    {"POST", "/api/v1/searches", "{}", 422, "value_invalid", "/model"},
    {"POST", "/api/v1/searches", R"({"model": "nope", "objectives": ["area_mm2"]})", 422, "unknown_model",
     "/model"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "preset": "x", "objectives": ["area_mm2"]})", 422,
     "unknown_preset", "/preset"},
    {"POST", "/api/v1/searches", R"({"model": "sd15"})", 422, "value_invalid", "/objectives"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area"]})", 422, "unknown_metric",
     "/objectives/0"},
    {"POST", "/api/v1/searches",
     R"({"model": "sd15", "objectives": ["area_mm2", "power_w", "price_usd", "latency_s", "throughput_fps", "energy_j_per_frame", "min:sram_bytes", "min:dram_bytes_per_frame", "max:utilization"]})",
     422, "limit_exceeded", "/objectives"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "constraints": ["area_mm2 <"]})",
     422, "formula_invalid", "/constraints/0"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "seconds": 86401})", 422,
     "value_out_of_range", "/seconds"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "seconds": 0})", 422,
     "value_out_of_range", "/seconds"},
    {"POST", "/api/v1/searches",
     R"({"model": "sd15", "objectives": ["area_mm2", "power_w"], "optimiser": "nsga3"})", 422, "value_invalid",
     "/optimiser"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "optimiser": "nsga2"})", 422,
     "value_conflict", "/optimiser"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "islands": 65})", 422,
     "value_out_of_range", "/islands"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "evaluations": -1})", 422,
     "value_out_of_range", "/evaluations"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "validate_seconds": 3601})", 422,
     "value_out_of_range", "/validate_seconds"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "fixed": {"coers": 1}})", 422,
     "unknown_parameter", "/fixed/coers"},
    {"POST", "/api/v1/searches",
     R"({"model": "sd15", "objectives": ["area_mm2"], "fixed": {"cores": 4}, "axes": [{"parameter": "cores", "values": [1, 2]}]})",
     422, "value_conflict", "/axes"},
    {"POST", "/api/v1/searches",
     R"({"model": "sd15", "objectives": ["area_mm2"], "axes": [{"parameter": "cores", "values": [1, 2]}, {"parameter": "cores", "values": [3, 4]}]})",
     422, "value_invalid", "/axes"},
    {"POST", "/api/v1/searches",
     R"({"model": "sd15", "objectives": ["area_mm2"], "axes": [{"parameter": "cores", "values": [4]}]})", 422,
     "value_invalid", "/axes"},
    {"POST", "/api/v1/searches", R"({"model": "sd15", "objectives": ["area_mm2"], "threads": 1})", 400,
     "unknown_key", "/threads"},
    {"GET", "/api/v1/searches/99", "", 404, "not_found", "search 99"},
    {"GET", "/api/v1/searches/x", "", 404, "not_found", "id"},
    {"POST", "/api/v1/searches/99/cancel", "", 404, "not_found", "search 99"},
    {"DELETE", "/api/v1/searches/99", "", 404, "not_found", "search 99"},
    {"GET", "/api/v1/sweeps/99", "", 404, "not_found", nullptr},
    {"GET", "/api/v1/sweeps/abc", "", 404, "not_found", nullptr},
    {"POST", "/api/v1/sweeps/1/resume", "", 409, "conflict", nullptr},
    {"POST", "/api/v1/sweeps/77/revisions", R"({"kind": "clone"})", 404, "not_found", "sweep 77"},
    {"POST", "/api/v1/sweeps/1/revisions", "[]", 422, "value_invalid", ""},
    {"POST", "/api/v1/sweeps/1/revisions", R"({"kind": "split"})", 422, "value_invalid", "/kind"},
    {"POST", "/api/v1/sweeps/1/revisions", R"({"kind": "clone", "axes": []})", 400, "unknown_key", "/axes"},
    {"POST", "/api/v1/sweeps/1/revisions", R"({"kind": "extend", "count": 5})", 422, "value_invalid", "/count"},
    {"POST", "/api/v1/sweeps/1/cancel", "", 409, "conflict", nullptr},
    {"GET", "/api/v1/sweeps/1/points?limit=0", "", 422, nullptr, nullptr},
    {"GET", "/api/v1/sweeps/1/points?limit=x", "", 422, "value_invalid", "?limit"},
    {"GET", "/api/v1/sweeps/1/points?sort=nope", "", 422, nullptr, nullptr},
    {"GET", "/api/v1/sweeps/1/points?cursor=zzz", "", 422, nullptr, nullptr},
    {"GET", "/api/v1/sweeps/1/points?feasible=yes", "", 422, "value_invalid", "?feasible"},
    {"GET", "/api/v1/sweeps/1/points?fields=nope", "", 422, "unknown_metric", "?fields"},
    {"GET", "/api/v1/sweeps/1/points?limit=1&limit=2", "", 400, "bad_request", "?limit"},
    {"GET", "/api/v1/sweeps/1/points/99", "", 404, "not_found", "index"},
    {"GET", "/api/v1/sweeps/1/front?metrics=sram_bytes,psram_peak_bytes", "", 422, "value_invalid", nullptr},
    {"GET", "/api/v1/sweeps/1/export?format=xls", "", 422, "value_invalid", "?format"},
    {"POST", "/api/v1/sweeps",
     R"({"model": "sd15", "axes": [{"parameter": "cores", "values": [1]}], "metrics": {"e": "cores +"}})", 422,
     "formula_invalid", "/metrics/e"},
    {"POST", "/api/v1/sweeps",
     R"({"model": "sd15", "axes": [{"parameter": "cores", "values": [1]}], "metrics": {"cores": "1"}})", 422,
     "value_conflict", "/metrics/cores"},
    {"POST", "/api/v1/sweeps",
     R"({"model": "sd15", "axes": [{"parameter": "cores", "values": [1]}], "metrics": {"e": "1"}, "objectives": ["e"]})",
     422, "value_invalid", "/objectives/0"},
    {"GET", "/api/v1/sweeps/1/columns?metric=e%3Dspeed", "", 422, "formula_invalid", "?metric"},
    {"GET", "/api/v1/sweeps/1/points?metric=e%3D1&metric=e%3D2", "", 422, "value_conflict", "?metric"},
    {"GET", "/api/v1/sweeps/1/front?metric=e%3D1&metrics=e,area_mm2", "", 422, "value_invalid", "?metrics"},
    {"GET", "/api/v1/sweeps/1/front?constraint=area_mm2%20%3C", "", 422, "formula_invalid", "?constraint"},
    {"GET", "/api/v1/sweeps/99/hypervolume", "", 404, "not_found", nullptr},
    {"GET", "/api/v1/sweeps/1/hypervolume?metrics=speed", "", 422, "unknown_metric", "?metrics"},
    {"GET", "/api/v1/fronts", "", 422, "value_invalid", "?sweeps"},
    {"GET", "/api/v1/fronts?sweeps=1,x", "", 422, "value_invalid", "?sweeps"},
    {"GET", "/api/v1/fronts?sweeps=1,1", "", 422, "value_invalid", "?sweeps"},
    {"GET", "/api/v1/fronts?sweeps=1,99", "", 404, "not_found", nullptr},
    {"GET", "/api/v1/fronts?sweeps=1&metrics=speed", "", 422, "unknown_metric", "?metrics"},
    {"GET", "/api/v1/fronts?sweeps=1&constraint=area_mm2%20%3C", "", 422, "formula_invalid", "?constraint"},
    {"GET", "/api/v1/sweeps/1/points/0?metric=Tops%3D1", "", 422, "value_invalid", "?metric"},
    {"GET", "/absent.js", "", 404, "not_found", "/absent.js"},
};

TEST(contract, what_cannot_be_used_is_a_problem_with_code_and_place) {
  const Site site;
  EXPECT_EQ(site.sweep(small_sweep), "1");
  for (const auto& one : refusals) {
    SCOPED_TRACE(std::string(one.method) + " " + one.target + " " + one.body);
    const std::string method = one.method;
    const char* type = method == "POST" ? "application/json" : method == "PUT" ? "application/octet-stream" : "";
    const Answer answer = site.request(method, one.target, one.body, type);
    EXPECT_EQ(answer.status, one.status) << answer.body;
    ASSERT_EQ(answer.headers.at("content-type"), "application/problem+json");
    const Json problem = answer.json();
    expect_fits(problem, "Problem");
    EXPECT_EQ(problem["status"], one.status);
    EXPECT_EQ(problem["code"], one.code ? Json(one.code) : problem["code"]) << answer.body;
    EXPECT_EQ(problem["where"], one.where ? Json(one.where) : problem["where"]) << answer.body;
  }
  EXPECT_EQ(site.get("/api/v1/sweeps").json()["sweeps"].size(), 1U) << "a refused sweep leaves nothing behind";
  EXPECT_TRUE(site.get("/api/v1/searches").json()["searches"].empty());
}

}  // namespace
}  // namespace sdip::test
