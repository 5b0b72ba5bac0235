// How long does importing take, and how much memory, against ONNX's own shape inference on the same bytes? Each run
// is a process of its own, so that its peak resident memory is its own, too.
#include <benchmark/benchmark.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "core/base/error.h"
#include "core/onnx/import.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

struct Measured {
  double seconds = 0, cpu_seconds = 0, peak_bytes = 0;  // cpu: what a loaded machine does not stretch
};

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// The time of `work` and the peak memory of the process it runs in, a child of this one.
template <class Work>
Measured measured(const Work& work) {
  int ends[2];
  check(::pipe(ends) == 0, "bench: no pipe");
  const pid_t child = ::fork();
  check(child >= 0, "bench: no process");
  if (child == 0) {
    const auto start = std::chrono::steady_clock::now();
    work();
    Measured found;
    found.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    found.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    found.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
    const bool told = ::write(ends[1], &found, sizeof found) == sizeof found;
    ::_exit(told ? 0 : 1);
  }
  ::close(ends[1]);
  Measured found;
  const bool told = ::read(ends[0], &found, sizeof found) == sizeof found;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  check(told && status == 0, "bench: the process measured did not end well");
  return found;
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  check(file.is_open(), "bench: the model cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void import_file(const std::filesystem::path& path) {
  const std::string bytes = bytes_of(path);
  const Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  benchmark::DoNotOptimize(graph.nodes.data());
}

void import_for_costing(const std::filesystem::path& path) {
  const std::string bytes = bytes_of(path);
  Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
  rewrite(graph);
  GraphFacts facts = facts_of(graph);
  benchmark::DoNotOptimize(facts);
}

void infer_by_onnx(const std::filesystem::path& path) {
  onnx::ModelProto model;
  check(model.ParseFromString(bytes_of(path)), "bench: the model cannot be parsed");
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(),
                                     onnx::ShapeInferenceOptions(false, 0, true));
  benchmark::DoNotOptimize(model);
}

onnx::NodeProto& add(onnx::GraphProto& graph, const char* type, const std::vector<std::string>& inputs,
                     const std::string& output) {
  auto* node = graph.add_node();
  node->set_op_type(type);
  node->set_name("/" + output + "/" + type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

void add_tensor(onnx::GraphProto& graph, const std::string& name, int type, const std::vector<std::int64_t>& sizes,
                const std::vector<std::int64_t>& ints) {
  auto* tensor = graph.add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (std::int64_t size : sizes) tensor->add_dims(size);
  for (std::int64_t value : ints) tensor->add_int64_data(value);
}

/// Blocks of ten nodes as exporters write them: a linear layer, the shape chain of a reshape, an activation, a
/// residual.
std::string model_of(std::int64_t nodes) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("blocks");
  auto* input = graph.add_input();
  input->set_name("x0");
  auto* type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  for (std::int64_t size : {1, 16, 64}) type->mutable_shape()->add_dim()->set_dim_value(size);
  add_tensor(graph, "zero", 7, {}, {0});
  add_tensor(graph, "first", 7, {1}, {0});
  add_tensor(graph, "rest", 7, {2}, {16, 64});
  for (std::int64_t block = 0; block < nodes / 10; ++block) {
    const std::string i = std::to_string(block), x = "x" + i, weight = "w" + i, bias = "b" + i;
    add_tensor(graph, weight, 1, {64, 64}, {});
    add_tensor(graph, bias, 1, {64}, {});
    add(graph, "MatMul", {x, weight}, "m" + i);
    add(graph, "Add", {"m" + i, bias}, "a" + i);
    add(graph, "Shape", {x}, "s" + i);
    add(graph, "Gather", {"s" + i, "zero"}, "g" + i);
    add(graph, "Unsqueeze", {"g" + i, "first"}, "u" + i);
    auto* axis = add(graph, "Concat", {"u" + i, "rest"}, "c" + i).add_attribute();
    axis->set_name("axis");
    axis->set_type(onnx::AttributeProto::INT);
    add(graph, "Reshape", {"a" + i, "c" + i}, "r" + i);
    add(graph, "Sigmoid", {"r" + i}, "t" + i);
    add(graph, "Mul", {"r" + i, "t" + i}, "h" + i);
    add(graph, "Add", {x, "h" + i}, "x" + std::to_string(block + 1));
  }
  auto* output = graph.add_output();
  output->set_name("x" + std::to_string(nodes / 10));
  output->mutable_type()->mutable_tensor_type()->set_elem_type(1);
  return model.SerializeAsString();
}

/// A folder of its own, removed at the end.
struct Models {
  std::filesystem::path folder;

  Models() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sdip-import-XXXXXX").string();
    check(::mkdtemp(pattern.data()) != nullptr, "bench: no folder");
    folder = pattern;
  }
  ~Models() { std::filesystem::remove_all(folder); }
  Models(const Models&) = delete;
  Models& operator=(const Models&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder / name, std::ios::binary) << bytes;
    return folder / name;
  }
};

using Works = std::map<std::string, std::map<std::string, Measured>>;  // by model, by what was done

void bench(Works& all, const std::string& model, const std::string& what,
           void (*work)(const std::filesystem::path&), const std::filesystem::path& path) {
  benchmark::RegisterBenchmark((model + "/" + what).c_str(),
                               [&all, model, what, work, path](benchmark::State& state) {
                                 Measured best{1e9, 0, 0};
                                 for (auto _ : state) {
                                   const Measured found = measured([&] { work(path); });
                                   state.SetIterationTime(found.seconds);
                                   if (found.seconds < best.seconds) best = found;
                                 }
                                 state.counters["cpu_ms"] = 1e3 * best.cpu_seconds;
                                 state.counters["peak_MB"] = best.peak_bytes / 1e6;
                                 all[model][what] = best;
                               })
      ->UseManualTime()
      ->Unit(benchmark::kMillisecond);
}

void print_ratios(const Works& all) {
  std::printf("\n%-32s %9s %9s %9s   against ONNX's shape inference: CPU time, memory\n", "fastest", "ms", "CPU ms",
              "peak MB");
  for (const auto& [model, works] : all) {
    const auto onnx = works.find("onnx_inference");
    for (const auto& [what, found] : works) {
      std::printf("%-32s %9.1f %9.1f %9.1f", (model + "/" + what).c_str(), 1e3 * found.seconds,
                  1e3 * found.cpu_seconds, found.peak_bytes / 1e6);
      if (onnx != works.end() && what != onnx->first) {
        std::printf("   %.2f %.2f", found.cpu_seconds / onnx->second.cpu_seconds,
                    found.peak_bytes / onnx->second.peak_bytes);
      }
      std::printf("\n");
    }
  }
}

int run(int count, char** arguments) {
  const Models models;
  Works all;
  for (const std::int64_t nodes : {1'000, 10'000, 100'000}) {
    const std::string name = "blocks_" + std::to_string(nodes);
    const auto path = models.write(name + ".onnx", model_of(nodes));
    bench(all, name, "import", import_file, path);
    bench(all, name, "onnx_inference", infer_by_onnx, path);
  }
  const auto unet = models.write("sd15-unet.onnx", write_model("sd15-unet", {}));
  bench(all, "sd15_unet", "import", import_file, unet);
  const auto weights = models.write("sd15-unet.weights", "");
  std::filesystem::resize_file(weights, 4 * std::uintmax_t{859'520'964});  // fp32, sparse: 3.4 GB
  bench(all, "sd15_unet", "import_and_cost_facts", import_for_costing, unet);
  bench(all, "sd15_unet", "onnx_inference", infer_by_onnx, unet);
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
  print_ratios(all);
  return 0;
}

}  // namespace
}  // namespace sdip

int main(int count, char** arguments) { return sdip::run(count, arguments); }
