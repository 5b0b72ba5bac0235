// How long one execution of a model's program takes, where the time goes, and how much memory it holds.
// build/release/tests/bench_execute MODEL PRESET THREADS [key=value ...]; run by hand.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "core/exec/chip/execute.h"
#include "core/program/program.h"
#include "server/cli/commands.h"
#include "server/models/catalog.h"

namespace {

using namespace sdip;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Uniform, of variance 1 over the length of a sum.
std::map<std::string, std::vector<float>> random_weights_of(const Graph& graph) {
  std::map<std::string, std::vector<float>> weights;
  for (const Value& value : graph.values) {
    if (!value.bytes || value.operand.type != ElementType::float32) continue;
    const std::int64_t count = element_count(value.operand.shape);
    const std::int64_t channels = value.operand.shape.empty() ? 1 : value.operand.shape[0];
    const float reach = std::sqrt(3.0F / static_cast<float>(std::max<std::int64_t>(1, count / channels)));
    std::vector<float>& numbers = weights[value.name];
    numbers.resize(static_cast<std::size_t>(count));
    std::uint64_t state = std::hash<std::string>{}(value.name) | 1;
    for (float& x : numbers) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      x = (static_cast<float>(state >> 40) * 0x1p-23F - 1) * reach;
    }
  }
  return weights;
}

int run_bench(int argc, char** argv) {
  MachineOptions given;
  given.preset = argv[2];
  for (int i = 4; i < argc; ++i) given.changes.emplace_back(argv[i]);
  const Machine machine = machine_of(given);
  const Catalog catalog;
  const auto workload = catalog.workload(argv[1], machine);
  const Application application = compile(*workload, machine);
  if (!application.feasible) {
    std::printf("infeasible: %s\n", application.reason.c_str());
    return 3;
  }
  for (const CompiledStage& stage : application.stages) {
    const Graph& graph = *stage.graph;
    const auto weights = random_weights_of(graph);
    std::vector<Tensor> inputs;
    std::mt19937_64 engine(1);
    for (const ValueId v : graph.inputs) {
      Tensor tensor = zero_tensor(graph.values[static_cast<std::size_t>(v)].operand.type,
                                  graph.values[static_cast<std::size_t>(v)].operand.shape);
      for (double& x : tensor.floats) x = static_cast<double>(static_cast<float>(engine() >> 40) * 0x1p-23F - 1);
      for (std::int64_t& x : tensor.ints) x = static_cast<std::int64_t>(engine() >> 63);
      inputs.push_back(std::move(tensor));
    }
    ExecuteOptions options;
    options.threads = std::atoi(argv[3]);
    options.mapped = [&](const Value& value) -> std::optional<StoredBytes> {
      const auto found = weights.find(value.name);
      if (found == weights.end()) return std::nullopt;
      return StoredBytes{std::as_bytes(std::span(found->second)), {}};
    };
    for (const Value& value : graph.values)
      if (value.kind != ValueKind::weight)
        options.scales[static_cast<ValueId>(&value - graph.values.data())] = 0.05F;
    std::map<std::string, double> spent;
    auto last = std::chrono::steady_clock::now();
    const auto start = last;
    options.progress = [&](std::size_t done, std::size_t) {
      spent[stage.program.instructions[done - 1].mnemonic] += seconds_since(last);
      last = std::chrono::steady_clock::now();
    };
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const Run run = execute(
        stage, machine, inputs, [](const Value&) { return std::nullopt; }, options);
    getrusage(RUSAGE_SELF, &after);
    const ExecutionWork work = execution_work(stage);
    const ExecutionMemory memory = execution_memory(stage, machine);
    const auto cpu = [](const rusage& u) {
      return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
             1e-6 * static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
    };
    std::printf(
        "%s: %.2f s (%.2f s of processors), %.1f G operations, %lld tile operations, %lld whole operators; peak "
        "%.2f GB, %.2f GB before; "
        "told %.2f GB\n",
        stage.name.c_str(), seconds_since(start), cpu(after) - cpu(before), work.operations * 1e-9,
        static_cast<long long>(run.counts.tile_operations), static_cast<long long>(run.counts.whole_operators),
        static_cast<double>(after.ru_maxrss) * 1.024e-6, static_cast<double>(before.ru_maxrss) * 1.024e-6,
        static_cast<double>(memory.memories_bytes + memory.tiles_bytes) * 1e-9);
    std::vector<std::pair<double, std::string>> rows;
    for (const auto& [name, seconds] : spent) rows.emplace_back(-seconds, name);
    std::sort(rows.begin(), rows.end());
    for (const auto& [seconds, name] : rows) std::printf("  %8.3f s  %s\n", -seconds, name.c_str());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::printf("bench_execute MODEL PRESET THREADS [key=value ...]\n");
    return 2;
  }
  return run_bench(argc, argv);
}
