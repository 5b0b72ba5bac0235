// Measuring what a machine's number formats do to a model.
#include "server/studies/accuracy.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "server/io/text.h"
#include "server/io/version.h"
#include "server/json/report_json.h"
#include "server/models/request.h"
#include "server/models/weight_values.h"

namespace sdip {
namespace {

constexpr std::int64_t most_samples = 64;

/// The workload with noise as an input wherever a stage draws it.
std::shared_ptr<const Workload> given_noise(const Workload& workload) {
  auto given = std::make_shared<Workload>(workload);
  for (Stage& stage : given->stages) stage.graph = std::make_shared<const Graph>(with_given_noise(*stage.graph));
  return given;
}

OrderedJson deviation_json(const Deviation& deviation) {
  return {{"sqnr_db", decibels_json(deviation.sqnr_db())},
          {"cosine", number_or_null(deviation.cosine())},
          {"elements", deviation.elements},
          {"not_finite", deviation.not_finite}};
}

OrderedJson stage_json(const StageAccuracy& stage) {
  OrderedJson layers = OrderedJson::array(), steps = OrderedJson::array();
  for (const LayerAccuracy& layer : stage.layers) {
    OrderedJson row = {{"value", layer.value}, {"instruction", layer.instruction}, {"op", layer.op}};
    row.update(deviation_json(layer.deviation));
    layers.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < stage.steps.size(); ++i) {
    OrderedJson row = {{"step", i + 1}, {"t", stage.steps[i].t}};
    row.update(deviation_json(stage.steps[i].latent));
    steps.push_back(std::move(row));
  }
  return {{"name", stage.name},
          {"role", role_text(stage.role)},
          {"output", deviation_json(stage.output)},
          {"steps", std::move(steps)},
          {"layers", std::move(layers)}};
}

}  // namespace

std::string accuracy_key(const std::string& model, const AccuracyRequest& request) {
  const AccuracyOptions& options = request.options;
  std::string key = fmt::format("{} {} seed={} {} percentile={} samples={}", program_version, model, options.seed,
                                calibration_names[at(options.rule.method)], std::to_string(options.rule.percent),
                                options.samples);
  key += " steps=" + std::to_string(request.machine.steps);
  for (const ParameterRow& row : parameters())
    if (row.effect == ParameterEffect::results)
      key += fmt::format(" {}={}", row.name, value_text(row, row.read(request.machine)));
  if (const std::string rules = rules_text(request.formats); !rules.empty()) key += " formats=" + rules;
  return key;
}

CalibrationMethod calibration_named(std::string_view name, const std::string& where) {
  const auto found = std::ranges::find(calibration_names, name);
  if (found == std::end(calibration_names))
    throw Error("value_invalid", where, std::string(name.substr(0, 80)) + ": expected minmax, percentile or mse");
  return static_cast<CalibrationMethod>(found - std::begin(calibration_names));
}

void check_accuracy_options(const AccuracyOptions& options, const std::string& where) {
  const double percent = options.rule.percent;
  if (!(percent > 50 && percent <= 100))
    throw Error("value_out_of_range", where + "percentile", "expected above 50, at most 100");
  if (options.samples < 1 || options.samples > most_samples)
    throw Error("value_out_of_range", where + "samples", "expected 1 to " + std::to_string(most_samples));
}

AccuracyRequest accuracy_request(const Json& body) {
  require_keys(body, {"model", "preset", "machine", "formats", "calibration", "percentile", "samples", "seed"}, "");
  Json point = body;
  for (const char* key : {"calibration", "percentile", "samples", "seed"}) point.erase(key);
  const PointRequest asked = point_request(point, false);
  AccuracyRequest request{asked.model, asked.machine, {}, asked.formats};
  request.options.rule.method =
      calibration_named(text_field(body, "calibration", "").value_or("minmax"), "/calibration");
  if (body.contains("percentile")) {
    if (!body["percentile"].is_number()) throw Error("value_invalid", "/percentile", "expected a number");
    request.options.rule.percent = body["percentile"].get<double>();
  }
  request.options.samples = integer_field(body, "samples", "").value_or(request.options.samples);
  request.options.seed = static_cast<std::uint64_t>(integer_within(body, "seed", 0, 0, most_seed));
  check_accuracy_options(request.options, "/");
  return request;
}

Json accuracy_body(const AccuracyRequest& request) {
  return {{"model", request.model}, {"machine", machine_json(request.machine)}, {"formats", request.formats.text}};
}

AccuracyPlan accuracy_plan(const Catalog& catalog, const AccuracyRequest& request, const Stop& stop) {
  if (request.machine.core_weights == CoreWeights::per_core)
    throw Error("value_conflict", "core_weights", "accuracy is measured of whole networks; expected common");
  AccuracyPlan plan{request, given_noise(*catalog.workload(request.model, request.machine)), {}, false, {}};
  CompileOptions options;
  options.stop = stop;
  plan.application = compile_said(*plan.workload, request.machine, request.formats, options);
  for (const Member& member : catalog.members(request.model, "/model"))
    plan.random_weights = plan.random_weights || is_built_in(member);
  if (plan.application.feasible) plan.work = accuracy_work(plan.application, request.machine, request.options);
  return plan;
}

void require_measurable(const AccuracyPlan& plan) {
  if (plan.work.operations <= most_accuracy_operations && plan.work.bytes <= most_accuracy_bytes) return;
  throw Error(
      "limit_exceeded", plan.request.model,
      fmt::format("measuring '{}' takes {} and {} of memory; expected at most {} and {}",
                  printable(plan.request.model), quantity_text(plan.work.operations, "operations"),
                  quantity_text(plan.work.bytes, "B"), quantity_text(most_accuracy_operations, "operations"),
                  quantity_text(most_accuracy_bytes, "B")));
}

AccuracyReport measure(const Catalog& catalog, const AccuracyPlan& plan) {
  const std::vector<Member> members = catalog.members(plan.request.model, "/model");
  std::vector<StoredTensors> stored;
  for (const CompiledStage& stage : plan.application.stages) {
    const Member& member = member_of(members, stage.name);
    // Models that are not built in may be measured where no file can be made, nor asked for.
    const auto folder = is_built_in(member) ? std::filesystem::temp_directory_path() : std::filesystem::path();
    stored.push_back(
        stored_tensors(member_weights(member, plan.request.machine, plan.request.options.seed, folder).numbers));
  }
  return measured_accuracy(plan.application, plan.request.machine, stored, plan.request.options);
}

OrderedJson decibels_json(double db) { return std::isinf(db) && db > 0 ? OrderedJson("inf") : number_or_null(db); }

OrderedJson accuracy_json(const AccuracyPlan& plan, const AccuracyReport& report) {
  const Machine& machine = plan.request.machine;
  const AccuracyOptions& options = plan.request.options;
  OrderedJson object = {{"model", plan.request.model},
                        {"machine", machine_json(machine)},
                        {"formats", plan.request.formats.text},
                        {"weights", plan.random_weights ? "random" : "file"},
                        {"seed", options.seed},
                        {"calibration", calibration_names[at(options.rule.method)]},
                        {"percentile", options.rule.percent},
                        {"samples", options.samples}};
  object.update(deviation_json(report.output()));
  object["stages"] = json_list(report.stages, stage_json);
  return object;
}

}  // namespace sdip
