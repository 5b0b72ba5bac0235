// One pass of a model's program on raw inputs, for comparison with another runtime: prints seconds and memory as
// JSON. bench_step MODEL.onnx FOLDER RUNS THREADS MACHINE.json [key=value ...]: inputs are FOLDER/NAME.bin, outputs
// go to FOLDER/NAME.out, raw and little-endian. Weights are mapped from the model's external data.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/exec/chip/execute.h"
#include "core/onnx/raw.h"
#include "core/program/form/form.h"
#include "core/program/program.h"
#include "server/cli/commands.h"
#include "server/io/files.h"
#include "server/models/catalog.h"
#include "server/models/weight_values.h"

namespace {

using namespace sdip;

/// A step for codes of activations, where the machine holds codes: speed alone is asked for there, and it does not
/// depend on the values.
constexpr float any_scale = 0.05F;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What all threads took together.
double processor_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

std::vector<Tensor> inputs_in(const std::filesystem::path& folder, const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const ValueId v : graph.inputs) {
    const Value& value = graph.values[static_cast<std::size_t>(v)];
    const MappedFile file(folder / (value.name + ".bin"));
    const std::string_view raw(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    inputs.push_back(tensor_of_raw(value.operand.type, value.operand.shape, raw));
  }
  return inputs;
}

void write_outputs(const std::filesystem::path& folder, const Graph& graph, const std::vector<Tensor>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Value& value = graph.values[static_cast<std::size_t>(graph.outputs[i])];
    std::ofstream file(folder / (value.name + ".out"), std::ios::binary);
    for (const double x : outputs[i].floats) {
      const auto number = static_cast<float>(x);
      file.write(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
}

ExecuteOptions options_of(const CompiledStage& stage, StoredByteSource weights, std::int64_t threads) {
  ExecuteOptions options;
  options.threads = threads;
  options.mapped = std::move(weights);
  const Graph& graph = *stage.graph;
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (graph.values[v].kind != ValueKind::weight) options.scales[static_cast<ValueId>(v)] = any_scale;
  return options;
}

/// Activations in memory at once, as the program keeps them: each from the instruction that makes it, or from the
/// start, to the last that reads it, or to the end; the most at any instruction.
std::int64_t live_peak_bytes(const CompiledStage& stage, const Machine& machine) {
  const Graph& graph = *stage.graph;
  const auto count = static_cast<std::int64_t>(stage.program.instructions.size());
  std::map<ValueId, std::pair<std::int64_t, std::int64_t>> lives;  // first and last instruction
  for (const ValueId v : graph.inputs) lives[v] = {0, 0};
  for (std::int64_t i = 0; i < count; ++i) {
    const Instruction& instruction = stage.program.instructions[static_cast<std::size_t>(i)];
    for (const PlacedOperand& source : instruction.sources)
      if (const auto found = lives.find(source.value); found != lives.end()) found->second.second = i;
    if (instruction.destination != none) lives.try_emplace(instruction.destination, i, i);
  }
  for (const ValueId v : graph.outputs)
    if (const auto found = lives.find(v); found != lives.end()) found->second.second = count - 1;
  std::vector<std::int64_t> live(static_cast<std::size_t>(count), 0);
  for (const auto& [v, life] : lives)
    for (std::int64_t i = life.first; i <= life.second; ++i)
      live[static_cast<std::size_t>(i)] += value_bytes(graph, v, machine).value;
  return live.empty() ? 0 : *std::ranges::max_element(live);
}

int run_step(int argc, char** argv) {
  const std::filesystem::path model = argv[1], folder = argv[2];
  MachineOptions given;
  given.file = argv[5];
  for (int i = 6; i < argc; ++i) given.changes.emplace_back(argv[i]);
  const Machine machine = machine_of(given);
  const Catalog catalog(file_models({}));
  const Application application = compile(*catalog.workload(model, machine), machine);
  if (!application.feasible) {
    std::cerr << "infeasible: " << application.reason << "\n";
    return exit_infeasible;
  }
  const CompiledStage& stage = application.stages.at(0);
  const std::vector<Tensor> inputs = inputs_in(folder, *stage.graph);
  const Member member = catalog.members(model, argv[1]).at(0);
  const ExecuteOptions options =
      options_of(stage, member_weights(member, machine, 0, folder).bytes, std::atoi(argv[4]));
  OrderedJson seconds = OrderedJson::array(), processor_seconds = seconds;
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    const double start = now_s(), work = processor_s();
    const Run run = execute(
        stage, machine, inputs, [](const Value&) { return std::nullopt; }, options);
    seconds.push_back(now_s() - start);
    processor_seconds.push_back(processor_s() - work);
    write_outputs(folder, *stage.graph, run.outputs);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const ExecutionMemory told = execution_memory(stage, machine);
  std::cout << OrderedJson{{"seconds", seconds},
                           {"processor_seconds", processor_seconds},
                           {"peak_bytes", 1024.0 * static_cast<double>(used.ru_maxrss)},
                           {"live_peak_bytes", live_peak_bytes(stage, machine)},
                           {"told_bytes", told.memories_bytes + told.tiles_bytes},
                           {"operations", execution_work(stage).operations}}
                   .dump()
            << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "bench_step MODEL.onnx FOLDER RUNS THREADS MACHINE.json [key=value ...]\n";
    return 2;
  }
  try {
    return run_step(argc, argv);
  } catch (const sdip::Error& error) {
    std::cerr << error.code << ": " << error.where << ": " << error.what() << "\n";
    return 1;
  }
}
