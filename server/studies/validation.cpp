// Validations: requests, times and results.
#include "server/studies/validation.h"

#include <algorithm>

#include "core/base/error.h"
#include "server/models/program_weights.h"
#include "server/models/request.h"

namespace sdip {
namespace {

// Times on one core of a 2-core Xeon: of a tile operation on the clock, and, of executor and graph together, of a
// multiply-accumulate and of a byte of their tensors. They are first guesses: what was measured corrects them.
constexpr double tile_operation_s = 0.5e-6, executed_operation_s = 15e-9, executed_byte_s = 10e-9;
constexpr double most_layer_bytes = 2147483648.0;  // of one layer's tensors, on both sides

/// Tells what layers will take from what layers took.
class LayerPace {
 public:
  /// The next one begins; the one before ended.
  double seconds_of(double guess_s) {
    const auto now = std::chrono::steady_clock::now();
    if (guessed_ > 0) {
      guesses_ += guessed_;
      taken_ += std::chrono::duration<double>(now - begin_).count();
    }
    begin_ = now;
    guessed_ = 0;
    return guess_s * (guesses_ > 0.01 ? std::clamp(taken_ / guesses_, 0.1, 20.0) : 1);
  }
  void goes_on(double guess_s) { guessed_ = guess_s; }

 private:
  std::chrono::steady_clock::time_point begin_;
  double guessed_ = 0, guesses_ = 0, taken_ = 0;
};

}  // namespace

ValidationRequest validation_request(const Json& body) {
  require_keys(body, {"model", "preset", "machine", "formats", "layers", "passes", "tensors", "seed", "seconds"},
               "");
  Json point = Json::object();
  for (const char* key : {"model", "preset", "machine", "formats"})
    if (body.contains(key)) point[key] = body[key];
  const PointRequest design = point_request(point, false);
  ValidationRequest request;
  request.model = design.model;
  request.machine = design.machine;
  request.formats = design.formats;
  request.layers = texts_field(body, "layers", "").value_or(std::vector<std::string>());
  request.passes = integer_within(body, "passes", 0, 0, most_validation_passes);
  request.tensors = flag_field(body, "tensors", "").value_or(true);
  request.seed = static_cast<std::uint64_t>(integer_within(body, "seed", 0, 0, most_seed));
  request.seconds = integer_within(body, "seconds", 60, 1, most_validation_seconds);
  return request;
}

OrderedJson request_json(const ValidationRequest& request) {
  return {{"model", request.model},     {"machine", machine_json(request.machine)},
          {"layers", request.layers},   {"passes", request.passes},
          {"tensors", request.tensors}, {"seed", request.seed},
          {"seconds", request.seconds}, {"formats", request.formats.text}};
}

Allowance Allowance::part(double share) const {
  Allowance part = *this;
  part.end_ =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(std::max(0.0, left_s()) * share));
  return part;
}

double Allowance::left_s() const {
  return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
}

Verdict verdict_of(const Validation& validation) {
  std::int64_t compared = 0, differences = 0;
  for (const StageCounters& stage : validation.counters) {
    compared += stage.values;
    differences += stage.differences;
  }
  for (const StageTensors& stage : validation.tensors) {
    compared += stage.compared;
    differences += stage.differences;
  }
  return verdict_of(compared, differences);
}

std::vector<StageCounters> validate_within(const Application& application, const ValidationRequest& request,
                                           const Allowance& allowance,
                                           const std::function<void(const ValidationProgress&)>& progress) {
  ValidateOptions options;
  options.layers = request.layers;
  options.most_passes = request.passes;
  std::int64_t instructions = 0;
  for (const CompiledStage& stage : application.stages) instructions += std::ssize(stage.program.instructions);
  options.progress = [&](const CompiledStage& stage, std::int64_t done, std::int64_t all) {
    if (!progress) return;
    std::int64_t before = 0;
    for (const CompiledStage* one = application.stages.data(); one != &stage; ++one)
      before += std::ssize(one->program.instructions);
    progress({"counters", before + std::ssize(stage.program.instructions) * done / all, instructions});
  };
  options.affordable = [&](const CompiledStage& stage, std::int64_t tile_operations) {
    options.progress(stage, 0, 1);
    return allowance.fits(static_cast<double>(tile_operations) * tile_operation_s);
  };
  options.stop = [&] { return !allowance.fits(0); };
  return validate_counters(application, request.machine, options);
}

std::vector<StageTensors> execute_within(const Application& application, const ValidationRequest& request,
                                         const Allowance& allowance,
                                         const std::function<void(const ValidationProgress&)>& progress) {
  ValidationProgress at{"tensors", 0, 0};
  for (const CompiledStage& stage : application.stages) at.total += std::ssize(stage.program.classes);
  std::vector<StageTensors> stages;
  std::int64_t left = std::ssize(application.stages);
  LayerPace pace;
  for (const CompiledStage& compiled : application.stages) {
    if (chosen_instructions(compiled, request.layers).empty()) continue;
    const CompiledStage stage = asking_for_weights(compiled);
    // Each stage gets its part of what is left, so that the last one is looked at, too.
    const double part_ends = allowance.left_s() * (1 - 1.0 / static_cast<double>(left--));
    TensorOptions options;
    options.layers = request.layers;
    options.seed = request.seed;
    options.affordable = [&](double operations, double bytes) {
      if (progress) progress(at);
      ++at.done;
      const double guess_s = operations * executed_operation_s + bytes * executed_byte_s;
      const double seconds = pace.seconds_of(guess_s);
      const bool fits = allowance.fits(seconds) && allowance.left_s() - seconds >= part_ends;
      if (!fits || bytes > most_layer_bytes) return false;
      pace.goes_on(guess_s);
      return true;
    };
    options.stop = [&] { return !allowance.fits(0) || allowance.left_s() < part_ends; };
    const StoredTensors weights = random_weights(*stage.graph, request.seed);
    stages.push_back(validate_tensors(stage, request.machine, weights, options));
  }
  return stages;
}

void require_layers(const Catalog& catalog, const ValidationRequest& request) {
  if (request.layers.empty() && request.formats.text.empty()) return;
  CompileOptions quickly;
  quickly.say_needed_bytes = false;
  const auto workload = catalog.workload(request.model, request.machine);
  const Application application = compile_said(*workload, request.machine, request.formats, quickly);
  if (!application.feasible) return;  // which the validation says
  if (const auto unmatched = unmatched_layer(application, request.layers))
    throw Error("layer_unmatched", "/layers/" + std::to_string(*unmatched),
                "no layer has a name that '" + request.layers[*unmatched] + "' stands for");
}

Validation validate(const Catalog& catalog, const ValidationRequest& request, const std::atomic<bool>* cancel,
                    const std::function<void(const ValidationProgress&)>& progress) {
  const auto begin = std::chrono::steady_clock::now();
  Validation result;
  result.model = request.model;
  result.machine = request.machine;
  const auto workload = catalog.workload(request.model, request.machine);
  CompileOptions options;
  options.stop = [&] { return cancel != nullptr && cancel->load(); };
  Application application;
  try {
    application = compile_said(*workload, request.machine, request.formats, options);
  } catch (const Error& error) {
    if (!is_cancelled(error)) throw;
    result.cancelled = true;
    return result;
  }
  const Allowance allowance(request.seconds, cancel);  // of what is validated: compiling is not
  result.feasible = application.feasible;
  result.reason = application.reason;
  if (result.feasible) {
    const Outcome outcome = evaluate(application, request.machine);
    result.feasible = outcome.feasible;
    result.reason = outcome.reason;
  }
  if (result.feasible && !allowance.cancelled()) {
    result.counters = validate_within(application, request, allowance, progress);
    if (request.tensors) result.tensors = execute_within(application, request, allowance, progress);
  }
  result.cancelled = allowance.cancelled();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace sdip
