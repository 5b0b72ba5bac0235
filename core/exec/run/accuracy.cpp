// Measures what a machine's number formats do to a workload's results.
#include "core/exec/run/accuracy.h"

#include <algorithm>

#include "core/base/encode.h"
#include "core/base/error.h"

namespace sdip {
namespace {

using Samples = std::vector<std::vector<Tensor>>;

NumberFormat format_of(const Value& value, const Machine& machine) {
  return value.format.value_or(machine.activation_format);
}

/// Whether a value is kept in steps of a scale. Weights need no samples.
bool needs_samples(const Application& application, const Machine& machine) {
  for (const CompiledStage& stage : application.stages)
    for (const Value& value : stage.graph->values)
      if (value.kind != ValueKind::weight && needs_scale(format_of(value, machine))) return true;
  return false;
}

struct Measurement {
  const Application& application;
  const Machine& machine;
  const std::vector<StoredTensors>& stored;
  const AccuracyOptions& options;
  double done = 0, all = 1;  // operations
  bool going = true;

  const CompiledStage& stage(std::size_t s) const { return application.stages[s]; }
  std::int64_t runs(std::size_t s) const { return stage(s).role == Role::core ? machine.steps : 1; }
  bool calibrates() const { return needs_samples(application, machine); }
  bool worked(std::size_t s) {
    done += execution_work(stage(s)).operations;
    if (options.go_on) going = going && options.go_on(std::min(done / all, 1.0));
    return going;
  }
  bool way(std::uint64_t seed, const StageRunner& run) {
    const auto counted = [&](const StageUse& use, const std::vector<Tensor>& inputs) {
      auto outputs = run(use, inputs);
      return outputs && worked(use.stage) ? std::move(outputs) : std::nullopt;
    };
    return walk(application.stages, machine.sampler, machine.steps, seed, counted);
  }
};

/// Whether step number `step` of `steps` is one of `count` evenly spaced ones, the first among them.
bool is_sample(std::int64_t step, std::int64_t steps, std::int64_t count) {
  return step * count / steps != (step - 1) * count / steps || step == 0;
}

/// Inputs of each stage to calibrate from. The ways behind the first end before the core, which is long.
std::vector<Samples> samples_of(Measurement& m) {
  std::vector<Samples> samples(m.application.stages.size());
  for (std::int64_t s = 0; s < m.options.samples && m.going; ++s) {
    const auto seed = m.options.seed + 1 + static_cast<std::uint64_t>(s);
    m.way(seed, [&](const StageUse& use, const std::vector<Tensor>& inputs) -> std::optional<std::vector<Tensor>> {
      const CompiledStage& stage = m.stage(use.stage);
      if (s > 0 && stage.role == Role::core) return std::nullopt;
      if (is_sample(use.step, m.runs(use.stage), m.options.samples)) samples[use.stage].push_back(inputs);
      return compute(*stage.graph, inputs, m.stored[use.stage]);
    });
  }
  return samples;
}

/// The reference: outputs of every run of a stage and, of its first, every value.
struct Wanted {
  std::vector<std::vector<Tensor>> outputs;  // by step
  std::map<ValueId, Tensor> values;
};

/// Every value that the graph makes, and then its outputs.
std::vector<Tensor> computed_values(const Graph& graph, const std::vector<Tensor>& inputs,
                                    const StoredTensors& stored, std::map<ValueId, Tensor>& values) {
  Graph all = graph;
  for (ValueId v = 0; v < std::ssize(graph.values); ++v)
    if (graph.values[v].kind == ValueKind::activation && graph.values[v].producer != none) all.outputs.push_back(v);
  std::vector<Tensor> outputs = compute(all, inputs, stored);
  for (std::size_t i = graph.outputs.size(); i < outputs.size(); ++i)
    values[all.outputs[i]] = std::move(outputs[i]);
  outputs.resize(graph.outputs.size());
  return outputs;
}

std::vector<Wanted> wanted_of(Measurement& m) {
  std::vector<Wanted> wanted(m.application.stages.size());
  m.way(m.options.seed, [&](const StageUse& use, const std::vector<Tensor>& inputs) {
    const Graph& graph = *m.stage(use.stage).graph;
    Wanted& here = wanted[use.stage];
    here.outputs.push_back(use.step == 0 ? computed_values(graph, inputs, m.stored[use.stage], here.values)
                                         : compute(graph, inputs, m.stored[use.stage]));
    return here.outputs.back();
  });
  return wanted;
}

/// A stage ready to run on the machine: its calibrated weights, and the scales of its activations.
struct Prepared {
  CalibratedWeights weights;
  ActivationScales scales;
};

Prepared prepared(Measurement& m, std::size_t s, const Samples& samples) {
  const CompiledStage& stage = m.stage(s);
  Prepared made{calibrated_weights(stage, m.machine, m.stored[s], m.options.rule), {}};
  if (m.calibrates())
    made.scales = calibrated_scales(*stage.graph, m.machine, samples, m.stored[s], m.options.rule);
  for (std::size_t i = 0; i < samples.size() && m.calibrates(); ++i) m.worked(s);
  return made;
}

/// The layer that an instruction's result is, measured; masked scores as calibration sees them.
void add_layer(const Measurement& m, StageAccuracy& to, const CompiledStage& stage, ValueId v, Tensor got,
               const Wanted& wanted) {
  const auto want = wanted.values.find(v);
  if (want == wanted.values.end()) return;
  const Graph& graph = *stage.graph;
  const Value& value = graph.values[v];
  Tensor should = want->second;
  raise_masked(graph, v, format_of(value, m.machine), should.floats);
  raise_masked(graph, v, format_of(value, m.machine), got.floats);
  const auto& all = stage.program.instructions;
  const auto made_by = std::ranges::find(all, v, &Instruction::destination);
  to.layers.push_back({value.name, made_by->name, made_by->mnemonic, deviation_of(got, should)});
}

void execute_all(Measurement& m, const std::vector<Prepared>& ready, const std::vector<Wanted>& wanted,
                 AccuracyReport& report) {
  const std::vector<StepNumbers> numbers = step_numbers(m.machine.sampler, m.machine.steps);
  report.complete = m.way(m.options.seed, [&](const StageUse& use, const std::vector<Tensor>& inputs) {
    StageAccuracy& here = report.stages[use.stage];
    const CompiledStage& stage = ready[use.stage].weights.stage;
    const auto step = at(use.step);
    ExecuteOptions options;
    options.scales = ready[use.stage].scales;
    options.observe = [&](ValueId v, const Tensor& got) {
      if (step == 0) add_layer(m, here, stage, v, got, wanted[use.stage]);
    };
    Run run = execute(stage, m.machine, inputs, ready[use.stage].weights.stored, options);
    here.output = deviation_of(run.outputs.at(0), wanted[use.stage].outputs.at(step).at(0));
    if (here.role == Role::core) here.steps.push_back({numbers[step].t, here.output});
    return std::move(run.outputs);
  });
}

}  // namespace

ExecutionWork accuracy_work(const Application& application, const Machine& machine,
                            const AccuracyOptions& options) {
  ExecutionWork sum;
  const std::int64_t sampled = needs_samples(application, machine) ? options.samples : 0;
  for (const CompiledStage& stage : application.stages) {
    const ExecutionWork one = execution_work(stage);
    const bool core = stage.role == Role::core;
    const std::int64_t runs = core ? machine.steps : 1;
    // Runs to calibrate: of a core all steps once, and then the samples among them; of another stage each sample
    // twice.
    const std::int64_t to_calibrate = sampled == 0 ? 0 : (core ? runs + std::min(sampled, runs) : 2 * sampled);
    // Executing and computing are both in a stage's operations.
    sum.operations += one.operations * (static_cast<double>(runs) + static_cast<double>(to_calibrate) / 2);
    // Samples' results are kept, and those of one way.
    sum.bytes = std::max(sum.bytes, 2 * one.bytes);
  }
  return sum;
}

AccuracyReport measured_accuracy(const Application& application, const Machine& machine,
                                 const std::vector<StoredTensors>& stored, const AccuracyOptions& options) {
  check(application.feasible && stored.size() == application.stages.size(), "a feasible application with weights");
  Measurement m{application, machine, stored, options};
  m.all = 2 * accuracy_work(application, machine, options).operations;
  AccuracyReport report;
  for (const CompiledStage& stage : application.stages)
    report.stages.push_back({stage.name, stage.role, {}, {}, {}});
  const std::vector<Samples> samples =
      m.calibrates() ? samples_of(m) : std::vector<Samples>(application.stages.size());
  std::vector<Prepared> ready;
  for (std::size_t s = 0; s < application.stages.size() && m.going; ++s)
    ready.push_back(prepared(m, s, samples[s]));
  if (!m.going) return report;
  const std::vector<Wanted> wanted = wanted_of(m);
  if (m.going) execute_all(m, ready, wanted, report);
  return report;
}

}  // namespace sdip
