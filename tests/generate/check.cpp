// A model and a machine, and what is found on them.
#include "tests/generate/check.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "core/exec/chip/execute.h"
#include "core/explore/validate/validate.h"
#include "core/explore/validate/validate_tensors.h"
#include "core/machine/technology.h"
#include "core/onnx/import.h"
#include "server/models/program_weights.h"
#include "tests/generate/inference.h"

namespace sdip::generate {
namespace {

/// A finding, told on its way out.
struct Found {
  std::string code, detail;
};

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

/// Values that are known at import; of larger ones numbers that follow from the name.
StoredTensors weights_of() {
  return [](const Value& value) -> std::optional<Tensor> {
    if (value.operand.value) return value.operand.value;
    return seeded_tensor(value.operand, hash_of(value.name), 0);
  };
}

/// What an operation did, its errors told apart: refusals are Errors, all else is ours.
template <class Work>
auto guarded(const char* where, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    if (error.code == "execution_failed" || error.code == "graph_inconsistent")
      throw Found{std::string(where) + " " + without_names(error.what()), error.what()};
    throw;
  } catch (const std::exception& error) {
    throw Found{std::string(where) + " internal " + without_names(error.what()), error.what()};
  }
}

/// From its bytes, as a user's file.
Graph imported(const Generated& given) {
  const std::string bytes = given.model.SerializeAsString();
  ImportOptions options;
  options.dims = given.dims;
  return guarded("import", [&] { return import_onnx(std::as_bytes(std::span(bytes)), options); });
}

/// Values of outputs, and how far they may be apart in each.
struct Expected {
  std::vector<Tensor> outputs;
  std::vector<std::vector<double>> allowed;  // of each element
};

double largest_of(const Tensor& tensor) {
  double largest = 0;
  for (const double x : tensor.floats)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  return largest;
}

double place_of(ElementType type) {
  switch (type) {
    case ElementType::float16:
      return 1.0 / 1024;
    case ElementType::bfloat16:
      return 1.0 / 128;
    default:
      return 8e-6;
  }
}

/// Nothing where the graph has random numbers, or its inputs do not suit it. What it allows is what 6 half places
/// in each result change in a graph with narrow types, and what 200 of float32 do in another.
std::optional<Expected> expected_values(const Graph& graph, const std::vector<Tensor>& inputs) {
  Expected expected;
  try {
    expected.outputs = guarded("plain", [&] { return compute(graph, inputs, weights_of()); });
    expected.allowed = sensitivity(graph, inputs, expected.outputs, weights_of(), 1.2e-5, 6);
  } catch (const Error&) {
    return std::nullopt;
  }
  double share = 8e-6;
  for (const Value& value : graph.values) share = std::max(share, place_of(value.operand.type));
  for (std::size_t i = 0; i < expected.outputs.size(); ++i) {
    const double more = share * (largest_of(expected.outputs[i]) + 1e-6);
    for (double& allowed : expected.allowed[i]) allowed += more;
  }
  return expected;
}

void compare_values(const char* where, const std::vector<Tensor>& found, const Expected& expected) {
  if (found.size() != expected.outputs.size()) throw Found{std::string(where) + " outputs missing", ""};
  for (std::size_t o = 0; o < found.size(); ++o) {
    const Tensor &a = found[o], &b = expected.outputs[o];
    if (a.shape != b.shape || a.type != b.type)
      throw Found{std::string(where) + " shape", shape_text(a.shape) + " for " + shape_text(b.shape)};
    for (std::size_t i = 0; i < b.ints.size(); ++i)
      if (a.ints[i] != b.ints[i] && std::isfinite(expected.allowed[o][i]))
        throw Found{std::string(where) + " integers", "output " + std::to_string(o) + " element " +
                                                          std::to_string(i) + ": " + std::to_string(a.ints[i]) +
                                                          " for " + std::to_string(b.ints[i])};
    for (std::size_t i = 0; i < b.floats.size(); ++i) {
      const double x = a.floats[i], y = b.floats[i];
      if (x == y || (std::isnan(x) && std::isnan(y)) || std::fabs(x - y) <= expected.allowed[o][i]) continue;
      if (std::isinf(expected.allowed[o][i])) continue;
      if (std::isinf(y) && std::fabs(x) > 1e38) continue;  // fp32 has no more of a float64
      throw Found{std::string(where) + (std::isnan(x) != std::isnan(y) ? " nan" : " floats"),
                  "output " + std::to_string(o) + " element " + std::to_string(i) + ": " + std::to_string(x) +
                      " for " + std::to_string(y) + " +- " + std::to_string(expected.allowed[o][i])};
    }
  }
}

/// The program on the machine, whose memories grow until it fits. Throws Error("infeasible", ...).
Application compiled_on(Machine& machine, const Workload& workload) {
  std::string reason;
  for (int i = 0; i < 24; ++i) {
    CompileOptions options;
    options.say_needed_bytes = false;
    Application application = guarded("compile", [&] { return compile(workload, machine, options); });
    reason = application.reason;
    if (reason.find("every output is a constant or a view") != std::string::npos)
      throw Error("values_alone", "", reason);
    if (application.feasible) {
      Machine built = machine;
      if (is_fpga(built.technology_node)) built.technology_node = TechnologyNode::n28;  // few fit on a part
      const auto outcome = guarded("evaluate", [&] { return evaluate(application, built); });
      if (outcome.counted()) return application;
      reason = outcome.reason;
      machine.imem_bytes *= 4;
    }
    machine.psram_bytes *= 2;
    machine.dsram_bytes *= 2;
    for (const ParameterRow& row : parameters())
      if (row.name.ends_with("_dsram_bytes")) row.write(machine, 0);  // the common size is all that grows
    machine.stackram_bytes = std::max<std::int64_t>(64, machine.stackram_bytes * 2);
  }
  throw Error("infeasible", "", reason);
}

void check_counters(const Application& application, const Machine& machine) {
  const auto stages = guarded("counters", [&] { return validate_counters(application, machine); });
  for (const StageCounters& stage : stages) {
    if (!stage.failure.empty()) throw Found{"counters " + without_names(stage.failure), stage.failure};
    if (stage.differences == 0) continue;
    const CounterDifference& first = stage.first.value();
    const bool peak = first.instruction == none;
    throw Found{"counters " + first.counter + (peak ? " of the pass" : ""),
                first.layer + ": " + std::to_string(first.values.estimated) + " for " +
                    std::to_string(first.values.executed)};
  }
}

bool is_lossless(const Machine& m) {
  using enum NumberFormat;
  const bool sums = m.accumulator_format == fp32 || m.accumulator_format == int32;
  return m.activation_format == fp32 && m.weight_format == fp32 && sums && m.sparsity == Sparsity::dense &&
         m.low_rank == LowRank::off;
}

bool holds(const Graph& graph, ElementType type) {
  return std::ranges::any_of(graph.values, [&](const Value& v) { return v.operand.type == type; });
}

/// Leaves out what has parts in series: those take each other's results.
void check_execution(Outcome& outcome, const Application& application, const Machine& machine,
                     const std::vector<Tensor>& inputs, const std::optional<Expected>& expected, bool rounds) {
  if (application.stages.size() != 1 || !expected) return;
  const CompiledStage& stage = application.stages[0];
  std::vector<Tensor> found;
  for (const bool charged : {false, true}) {
    const Run run = guarded("execute", [&] {
      ExecuteOptions options;
      options.charged = charged;
      options.scales = activation_scales(*stage.graph, machine, inputs, weights_of());
      return execute(stage, machine, inputs, weights_of(), options);
    });
    if (!charged) found = run.outputs;
  }
  if (!is_lossless(machine) || rounds) return;
  outcome.executed = true;
  compare_values("executed", found, *expected);
}

void check_tensors(Outcome& outcome, const Application& application, const Machine& machine) {
  for (const CompiledStage& compiled : application.stages) {
    const CompiledStage stage = asking_for_weights(compiled);
    const StageTensors found =
        guarded("tensors", [&] { return validate_tensors(stage, machine, random_weights(*stage.graph, 0)); });
    outcome.tensors |= found.compared > 0;
    if (found.differences == 0) continue;
    for (const LayerTensors& layer : found.layers) {
      if (!layer.failure.empty())
        throw Found{"tensors " + layer.mnemonic + " " + without_names(layer.failure), layer.failure};
      if (layer.result.differing == 0 || layer.overflows) continue;
      throw Found{"tensors differ " + layer.mnemonic,
                  layer.layer + ": " + std::to_string(layer.result.first->executed) + " for " +
                      std::to_string(layer.result.first->expected) + " +- " + std::to_string(layer.result.allowed)};
    }
  }
}

Workload workload_of(Graph graph) {
  Workload workload;
  workload.name = "generated";
  workload.stages.push_back({Role::network, "generated", std::make_shared<const Graph>(std::move(graph)), {}});
  return workload;
}

/// float64 and integers of 64 bits lose on a machine of fp32.
bool rounds_otherwise(const Graph& graph) { return holds(graph, ElementType::float64); }

void check_all(Outcome& outcome, const Generated& given, Machine& machine, std::uint64_t seed,
               const PhaseObserver& phase) {
  phase("import");
  const Graph graph = imported(given);
  phase("plain");
  const std::vector<Tensor> inputs = inputs_of(graph, given, seed);
  const auto expected = expected_values(graph, inputs);
  phase("rewrite");
  Graph rewritten = graph;
  guarded("rewrite", [&] { return rewrite(rewritten); });
  phase("rewritten");
  if (expected) {
    outcome.values = true;
    compare_values("rewritten", guarded("rewritten", [&] { return compute(rewritten, inputs, weights_of()); }),
                   *expected);
  }
  phase("compile");
  const bool rounds = rounds_otherwise(graph);
  const Application application = compiled_on(machine, workload_of(std::move(rewritten)));
  for (const CompiledStage& stage : application.stages)
    outcome.instructions += std::ssize(stage.program.instructions);
  phase("counters");
  check_counters(application, machine);
  phase("execute");
  check_execution(outcome, application, machine, inputs, expected, rounds);
  phase("tensors");
  check_tensors(outcome, application, machine);
}

/// Last, since libonnx dies of some models.
void check_shapes(const Generated& given, const PhaseObserver& phase) {
  const Graph graph = imported(given);
  phase("libonnx");
  if (const std::string what = inference_difference(graph, given); !what.empty())
    throw Found{"shapes " + without_names(what), what};
}

}  // namespace

std::string_view verdict_text(Verdict verdict) {
  static constexpr std::string_view texts[] = {"passed", "values_alone", "refused", "infeasible", "finding"};
  return texts[static_cast<std::size_t>(verdict)];
}

std::int64_t node_count(const onnx::ModelProto& model) {
  const std::function<std::int64_t(const onnx::GraphProto&)> count = [&](const onnx::GraphProto& graph) {
    std::int64_t nodes = 0;
    for (const auto& node : graph.node()) {
      nodes += node.op_type() != "Constant";
      for (const auto& attribute : node.attribute())
        if (attribute.has_g()) nodes += count(attribute.g());
    }
    return nodes;
  };
  return count(model.graph());
}

std::vector<Tensor> inputs_of(const Graph& graph, const Generated& given, std::uint64_t seed) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[at(id)];
    if (const auto known = given.inputs.find(value.name); known != given.inputs.end()) {
      inputs.push_back(known->second);
      continue;
    }
    const auto range = given.ranges.find(value.name);
    Draw draw(seed ^ hash_of(value.name));
    inputs.push_back(random_tensor(value.operand.type, value.operand.shape,
                                   range == given.ranges.end() ? Range{} : range->second, draw));
  }
  return inputs;
}

/// "instruction 2 'add' (n3) reads [2,3]" -> "instruction # ' reads [#]"
std::string without_names(std::string_view message) {
  std::string text;
  bool quoted = false;
  int bracketed = 0;
  for (const char c : message.substr(0, 300)) {
    if (c == '\'') {
      quoted = !quoted;
      if (quoted) text += '\'';
      continue;
    }
    bracketed += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (quoted || bracketed > 0 || c == ')') continue;
    const bool digit = (c >= '0' && c <= '9') || (c == ',' && !text.empty() && text.back() == '#');
    if (!digit)
      text += c;
    else if (text.empty() || text.back() != '#')
      text += '#';
  }
  return text.substr(0, 110);
}

namespace {

/// What a check makes of a model, errors told apart.
Outcome outcome_of(const Generated& given, const std::function<void(Outcome&)>& check) {
  Outcome outcome;
  outcome.nodes = node_count(given.model);
  try {
    check(outcome);
  } catch (const Found& found) {
    outcome.verdict = Verdict::finding;
    outcome.code = found.code;
    outcome.detail = found.detail;
  } catch (const Error& error) {
    outcome.verdict = error.code == "infeasible" ? Verdict::infeasible : Verdict::refused;
    outcome.code = error.code;
    outcome.detail = error.what();
  } catch (const std::exception& error) {
    outcome.verdict = Verdict::finding;
    outcome.code = std::string("internal ") + without_names(error.what());
    outcome.detail = error.what();
  }
  return outcome;
}

}  // namespace

Outcome check_model(const Generated& given, Machine& machine, std::uint64_t seed, const PhaseObserver& phase) {
  return outcome_of(given, [&](Outcome& outcome) {
    try {
      check_all(outcome, given, machine, seed, phase);
    } catch (const Error& error) {
      if (error.code != "values_alone") throw;
      outcome.verdict = Verdict::values_alone;
    }
    check_shapes(given, phase);
  });
}

Outcome check_import(const Generated& given, const PhaseObserver& phase) {
  return outcome_of(given, [&](Outcome&) {
    phase("import");
    imported(given);
  });
}

}  // namespace sdip::generate
