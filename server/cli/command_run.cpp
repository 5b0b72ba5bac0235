// sdip run: a model's programs, or one of a file, executed on random or given inputs, beside what the graph
// computes or alone.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <thread>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/explore/validate/validate_tensors.h"
#include "core/program/form/parse.h"
#include "server/cli/commands.h"
#include "server/cli/run_tensors.h"
#include "server/io/files.h"
#include "server/io/said_formats.h"
#include "server/io/text.h"
#include "server/json/program_files.h"
#include "server/models/program_weights.h"
#include "server/models/weight_values.h"

namespace sdip {
namespace {

// About a minute of a 2-core Xeon: beside the graph at 10 ns an operation of one core, alone at a hundredth of
// that; and memory that most machines have.
constexpr double most_operations = 4294967296.0, most_operations_alone = 1099511627776.0, most_bytes = 4294967296.0;

struct RunArguments {
  std::string model, program, weights, formats;
  FileOptions files;
  MachineOptions machine;
  RunTensors tensors;
  std::int64_t threads = std::max(1u, std::thread::hardware_concurrency());
  bool alone = false, any_size = false;
};

/// Whether results of the stage are stored as multiples of a scale, which the graph's own results set.
bool takes_scales(const CompiledStage& stage, const Machine& machine) {
  return std::ranges::any_of(stage.graph->values, [&](const Value& value) {
    return value.kind != ValueKind::weight && needs_scale(value.format.value_or(machine.activation_format));
  });
}

/// Throws Error limit_exceeded, with what it would take, unless the stage may be run.
void require_small(const RunArguments& arguments, const CompiledStage& stage, const Machine& machine) {
  if (arguments.alone && takes_scales(stage, machine))
    throw Error("value_conflict", "--alone",
                "expected formats of activations without scales: those come from what the graph computes beside");
  if (arguments.any_size) return;
  const ExecutionWork work = execution_work(stage);
  // Sums of floats in fixed point are exact, which takes as long as the graph's do.
  const bool floating = is_floating(machine.accumulator_format);
  const double operations = arguments.alone && floating ? most_operations_alone : most_operations;
  const double bytes = arguments.alone ? static_cast<double>(execution_memory(stage, machine).bytes()) : work.bytes;
  if (work.operations <= operations && bytes <= most_bytes) return;
  throw Error("limit_exceeded", stage.name,
              "executing '" + printable(stage.name) + "' takes " + quantity_text(work.operations, "operations") +
                  " and " + quantity_text(bytes, "B") + " of memory; sdip run takes at most " +
                  quantity_text(operations, "operations") + " and " + quantity_text(most_bytes, "B") +
                  (arguments.alone ? " in sums of this format" : " beside the graph, more with --alone") +
                  ", whatever with --any-size");
}

/// A line on a terminal's standard error.
std::function<void(std::size_t, std::size_t)> progress_line(const std::string& stage) {
  if (::isatty(2) != 1) return {};
  return [name = printable(stage)](std::size_t done, std::size_t all) {
    std::cerr << "\r\x1b[K";
    if (done < all) std::cerr << name << ": " << done << " of " << all << " instructions";
    std::cerr << std::flush;
  };
}

/// SHA-256 over the elements, row-major and little-endian: floats as float64, integers as int64.
std::string digest_of(const Tensor& tensor) {
  const auto bytes =
      is_floating(tensor.type) ? std::as_bytes(std::span(tensor.floats)) : std::as_bytes(std::span(tensor.ints));
  return sha256_hex(bytes).substr(0, 16);
}

/// How far two numbers are apart: a NaN from a number, and an infinity from all else, is infinitely far.
double apart(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double distance = std::fabs(a - b);
  return std::isnan(distance) ? std::numeric_limits<double>::infinity() : distance;
}

struct Difference {
  double largest = 0, magnitude = 0;
};
Difference difference_of(const Tensor& got, const Tensor& want) {
  Difference difference;
  const auto add = [&](double a, double b) {
    difference.largest = std::max(difference.largest, apart(a, b));
    if (std::isfinite(b)) difference.magnitude = std::max(difference.magnitude, std::fabs(b));
  };
  for (std::size_t i = 0; i < want.floats.size(); ++i) add(got.floats[i], want.floats[i]);
  for (std::size_t i = 0; i < want.ints.size(); ++i)
    add(static_cast<double>(got.ints[i]), static_cast<double>(want.ints[i]));
  return difference;
}

void print_runs(const std::vector<TextRow>& rows, bool compared) {
  std::vector<Column> columns{{"stage"}, {"output", Align::left, true}, {"shape"}, {"sha256"}};
  if (compared) columns.insert(columns.end(), {{"off by", Align::right}, {"of its largest", Align::right}});
  columns.insert(columns.end(), {{"instructions", Align::right}, {"tiles", Align::right}});
  print_table(std::cout, columns, rows, colour_out());
}

/// A row for each output; `want`: what it should be, or nothing.
void add_rows(const CompiledStage& stage, const Run& run, std::span<const Tensor> want,
              std::vector<TextRow>& rows) {
  const Graph& graph = *stage.graph;
  for (std::size_t i = 0; i < run.outputs.size(); ++i) {
    const Value& output = graph.values[graph.outputs[i]];
    TextRow row{stage.name, output.name, shape_text(output.operand.shape), digest_of(run.outputs[i])};
    if (!want.empty()) {
      const Difference difference = difference_of(run.outputs[i], want[i]);
      row.push_back(significant_text(difference.largest, 3));
      row.push_back(share_text(difference.magnitude > 0 ? difference.largest / difference.magnitude : 0));
    }
    row.push_back(count_text(run.counts.instructions));
    row.push_back(count_text(run.counts.tile_operations));
    rows.push_back(std::move(row));
  }
}

/// Runs a stage, with the same inputs and weights for its graph and for `graph`, which may be the one before the
/// compiler's passes.
void run_stage(const RunArguments& arguments, const Machine& machine, const Graph& graph,
               const CompiledStage& compiled, const StoredTensors& stored, const StoredByteSource& mapped,
               std::vector<TextRow>& rows) {
  const std::vector<Tensor> inputs = inputs_of(graph, arguments.tensors);
  ExecuteOptions options;
  if (!arguments.alone) options.scales = activation_scales(*compiled.graph, machine, inputs, stored);
  options.threads = arguments.threads;
  options.mapped = mapped;
  options.progress = progress_line(compiled.name);
  const Run run = execute(compiled, machine, inputs, stored, options);
  write_outputs(*compiled.graph, run.outputs, arguments.tensors);
  add_rows(compiled, run, arguments.alone ? std::vector<Tensor>() : compute(graph, inputs, stored), rows);
}

/// Errors name the file.
WeightFile opened(const std::string& name, const CompiledStage& stage, const Machine& machine,
                  const MappedFile& file) {
  try {
    return read_weight_file(stage, machine, file.bytes());
  } catch (const Error& error) {
    throw Error(error.code, name, error.what());
  }
}

/// A program on the weights of its file alone: nothing is there to compare with.
void run_on_file(const RunArguments& arguments, const Machine& machine, const CompiledStage& stage) {
  const MappedFile file(arguments.weights);
  const WeightFile weights = opened(arguments.weights, stage, machine, file);
  const std::vector<Tensor> inputs = inputs_of(*stage.graph, arguments.tensors);
  const ActivationScales scales = activation_scales(*stage.graph, machine, inputs, stored_in(weights));
  const Run run = execute(stage, machine, inputs, weights, scales);
  write_outputs(*stage.graph, run.outputs, arguments.tensors);
  std::vector<TextRow> rows;
  add_rows(stage, run, {}, rows);
  print_runs(rows, false);
}

int run_program(const RunArguments& arguments) {
  const Machine machine = machine_of(arguments.machine);
  const CompiledStage stage =
      asking_for_weights(program_of_file(arguments.program, operators_of(arguments.files.operators)));
  require_like(stage, machine);
  if (const auto reason = misfit(stage, machine)) return say_infeasible(stage.name + ": " + *reason);
  require_known_tensors({stage.graph.get()}, arguments.tensors);
  require_small(arguments, stage, machine);
  if (!arguments.weights.empty()) {
    run_on_file(arguments, machine, stage);
    return exit_ok;
  }
  std::vector<TextRow> rows;
  run_stage(arguments, machine, *stage.graph, stage, random_weights(*stage.graph, arguments.tensors.seed), {},
            rows);
  print_runs(rows, !arguments.alone);
  return exit_ok;
}

/// Values of an ONNX file's inputs become constants of its graph, as for every command; files, and what is given
/// for a program or a built-in model, are tensors of the run.
RunArguments with_tensors(RunArguments arguments) {
  std::vector<std::string> constants;
  const bool has_graph = arguments.program.empty() && !is_built_in(arguments.model);
  for (std::string& text : arguments.files.inputs) {
    const auto equals = text.find('=');
    const bool value = equals != std::string::npos && is_value(std::string_view(text).substr(equals + 1));
    (has_graph && value ? constants : arguments.tensors.inputs).push_back(std::move(text));
  }
  arguments.files.inputs = std::move(constants);
  return arguments;
}

int run_run(const RunArguments& given) {
  const RunArguments arguments = with_tensors(given);
  require_model_or_program(arguments.model, !arguments.program.empty(), arguments.files);
  if (arguments.program.empty() && !arguments.weights.empty())
    throw Error("value_conflict", "--weights", "expected with --program; a MODEL has weights of its own");
  if (!arguments.program.empty()) return run_program(arguments);
  const Machine machine = machine_of(arguments.machine);
  const Catalog catalog(file_models(arguments.files));
  const auto workload = catalog.workload(arguments.model, machine);
  const Application application = compile_said(*workload, machine, formats_of_file(arguments.formats));
  if (!application.feasible) return say_infeasible(application.reason);
  std::vector<const Graph*> graphs;
  for (const Stage& stage : workload->stages) graphs.push_back(stage.graph.get());
  require_known_tensors(graphs, arguments.tensors);
  for (const CompiledStage& stage : application.stages) require_small(arguments, stage, machine);
  const std::vector<Member> members = catalog.members(arguments.model, "/model");
  std::vector<TextRow> rows;
  for (std::size_t i = 0; i < application.stages.size(); ++i) {
    const Member& member = member_of(members, application.stages[i].name);
    const MemberWeights weights =
        member_weights(member, machine, arguments.tensors.seed, std::filesystem::temp_directory_path());
    // Parts in series have graphs of their own; else the graph is the one before the compiler's passes.
    const CompiledStage& compiled = application.stages[i];
    const bool parts = application.stages.size() != workload->stages.size();
    run_stage(arguments, machine, parts ? *compiled.graph : *workload->stages[i].graph, compiled,
              stored_tensors(weights.numbers), weights.bytes, rows);
  }
  print_runs(rows, !arguments.alone);
  return exit_ok;
}

}  // namespace

void add_run_command(CLI::App& app, Action& action) {
  const auto [command, a] = add_command<RunArguments>(
      app, action, "run",
      "Execute the programs of a model, or one of a file, and compare with what its graph computes (at most 2^32 "
      "operations; 2^40 with --alone)",
      run_run);
  command.add_option("MODEL", a.model, "A built-in model or an ONNX file");
  command.add_option("--program", a.program,
                     "A program instead of a model: .graph text or its binary form, compared with what its own "
                     "graph computes on random weights");
  command.add_option("--weights", a.weights,
                     "The program's .weight file: it runs on that alone, and is compared with nothing");
  add_several(command, "--output", a.tensors.outputs,
              "NAME=FILE.npy or NAME=FILE.pb: writes that output; several, or repeated");
  add_seed_option(command, a.tensors.seed,
                  "Seed of random inputs, and of the random weights of a built-in model or a program");
  command.add_flag("--alone", a.alone,
                   "Compute no graph beside: large models in seconds, where activations need no scales");
  command.add_flag("--any-size", a.any_size, "However long it takes and however much memory");
  command.add_option("--threads", a.threads, "Threads; the results do not depend on them")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  add_machine_options(command, a.machine);
  add_formats_option(command, a.formats);
  add_file_options(command, a.files);
  command.get_option("--input")->description(
      "NAME=VALUE makes an input of a file a constant (sr=16000, mask=[1,1,0]); NAME=FILE gives its elements for "
      "the "
      "run: .npy of numpy, .pb of ONNX, or else raw and little-endian; inputs that are not given are random. What "
      "reads as a number, true, false or begins with [ is a value: a file of such a name is ./16000. Several, or "
      "repeated");
}

}  // namespace sdip
