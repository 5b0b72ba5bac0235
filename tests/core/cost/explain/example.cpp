// A small machine with a program or a network, as text.
#include "tests/core/cost/explain/example.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <stdexcept>

#include "core/cost/price/stage.h"
#include "tests/core/cost/explain/diagrams.h"
#include "tests/core/cost/random_program.h"
#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error("example: " + what); }

/// A network as it is read, value by value.
class NetworkText {
 public:
  explicit NetworkText(const std::string& sizes) {
    std::istringstream text(sizes);
    Shape shape{1};
    for (std::string size; std::getline(text, size, 'x');) shape.push_back(std::stoll(size));
    if (shape.size() != 4) fail("an input of " + sizes);
    add_input(model_, "x0", shape);
    shapes_.push_back(shape);
  }

  void apply(const std::string& text) {
    std::istringstream words(text);
    std::string type;
    words >> type;
    std::vector<std::int64_t> numbers;
    for (std::int64_t n = 0; words >> n;) numbers.push_back(n);
    const Shape before = shapes_.at(current_);
    if (type == "from") {
      current_ = static_cast<std::size_t>(numbers.at(0));
      if (current_ >= shapes_.size()) fail("a value that is not there: " + text);
    } else if (type == "conv") {
      conv(before, numbers.at(0), numbers.at(1), numbers.size() > 2 ? numbers[2] : 1);
    } else if (type == "linear") {
      linear(before, numbers.at(0));
    } else if (type == "norm") {
      norm(before);
    } else if (type == "silu") {
      made("Sigmoid", {last()}, before, "gate");
      made("Mul", {last(), "gate" + std::to_string(shapes_.size())}, before);
    } else if (type == "transpose") {
      set_ints(made("Transpose", {last()}, {1, before[1], before[3], before[2]}), "perm", {0, 1, 3, 2});
    } else if (type == "matmul") {
      const Shape& other = shapes_.at(static_cast<std::size_t>(numbers.at(0)));
      made("MatMul", {last(), value(numbers.at(0))}, {1, before[1], before[2], other[3]});
    } else if (type == "concat") {
      const Shape& other = shapes_.at(static_cast<std::size_t>(numbers.at(0)));
      set_int(made("Concat", {last(), value(numbers.at(0))}, {1, before[1] + other[1], before[2], before[3]}),
              "axis", 1);
    } else {
      elementwise(type, before, numbers);
    }
  }

  Graph graph() {
    add_output(model_, last());
    return import_model(model_);
  }

 private:
  static std::string value(std::int64_t n) { return "x" + std::to_string(n); }
  std::string last() const { return value(static_cast<std::int64_t>(current_)); }

  onnx::NodeProto& made(const std::string& type, const std::vector<std::string>& inputs, const Shape& shape,
                        const std::string& name = "") {
    const std::string next = std::to_string(shapes_.size());
    if (name.empty()) {
      current_ = shapes_.size();
      shapes_.push_back(shape);
    }
    return add_node(model_, type, inputs, name.empty() ? "x" + next : name + next);
  }

  void elementwise(const std::string& type, const Shape& before, const std::vector<std::int64_t>& numbers) {
    static const std::map<std::string, std::string> types{
        {"relu", "Relu"}, {"softmax", "Softmax"}, {"add", "Add"}, {"mul", "Mul"}};
    const auto known = types.find(type);
    if (known == types.end()) fail("no operator " + type);
    std::vector<std::string> inputs{last()};
    for (const std::int64_t n : numbers) inputs.push_back(value(n));
    made(known->second, inputs, before);
  }

  void conv(const Shape& before, std::int64_t channels, std::int64_t kernel, std::int64_t groups) {
    const std::string w = "w" + std::to_string(shapes_.size());
    add_weight(model_, w, {channels, before[1] / groups, kernel, kernel});
    const std::vector<std::string> inputs{last(), w};
    onnx::NodeProto& node = made("Conv", inputs, {1, channels, before[2], before[3]});
    set_ints(node, "pads", {kernel / 2, kernel / 2, kernel / 2, kernel / 2});
    if (groups > 1) set_int(node, "group", groups);
  }

  void linear(const Shape& before, std::int64_t features) {
    const std::string w = "w" + std::to_string(shapes_.size());
    add_weight(model_, w, {before[3], features});
    made("MatMul", {last(), w}, {1, before[1], before[2], features});
  }

  void norm(const Shape& before) {
    const std::string n = std::to_string(shapes_.size());
    add_weight(model_, "g" + n, {before[1]});
    add_weight(model_, "b" + n, {before[1]});
    made("InstanceNormalization", {last(), "g" + n, "b" + n}, before);
  }

  onnx::ModelProto model_ = empty_model();
  std::vector<Shape> shapes_;
  std::size_t current_ = 0;  // the value that the next operator is upon
};

Graph network_of(const std::string& line) {
  std::istringstream parts(line);
  std::string part;
  std::getline(parts, part, '|');
  NetworkText network(part.substr(part.find(' ') + 1, part.find_last_not_of(' ') - part.find(' ')));
  while (std::getline(parts, part, '|')) network.apply(part);
  Graph graph = network.graph();
  rewrite(graph);
  return graph;
}

/// Whether each instruction's weights pass through PSRAM and its words through IMEM, at least one at a time.
bool runs(const Program& program, const Machine& m) {
  CompiledStage stage;
  stage.program = program;
  if (m.program_storage == ProgramStorage::streamed && program_size(stage, m).longest_bytes > m.imem_bytes)
    return false;
  for (const InstructionClass& c : program.classes)
    if (!c.to_dsram && !c.push && !c.to_dram) return false;
  return m.weight_storage == WeightStorage::hard_coded ||
         std::ranges::all_of(program.classes, [&](const InstructionClass& c) {
           const ClassWeights weights = weights_of(c, m);
           return weights.held + weights.tile <= m.psram_bytes;
         });
}

}  // namespace

Application example_of(const std::string& text, Machine& machine) {
  std::string lines, network;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);)
    line.starts_with("network") ? network = line : lines += "    " + line + "\n";
  Diagram diagram = diagrams_in("    diagram x\n" + lines).at(0);
  machine = diagram.machine;
  machine.cores = diagram.cores;
  machine.vae_stage = VaeStage::off_chip;
  const Role role = text.find(" steps=") == std::string::npos ? Role::network : Role::core;
  if (!network.empty()) {
    Workload workload;
    workload.stages.push_back({role, "net", std::make_shared<const Graph>(network_of(network)), {}});
    CompileOptions options;
    options.say_needed_bytes = false;
    return compile(workload, machine, options);
  }
  Application application;
  application.feasible = runs(diagram.program, machine);
  application.stages.emplace_back().program = std::move(diagram.program);
  application.stages.back().role = role;
  return application;
}

Measured measure(const std::string& text) {
  Machine machine;
  const Application application = example_of(text, machine);
  Measured measured;
  if (!application.feasible) return measured;
  for (const CompiledStage& stage : application.stages) {
    const auto run = run_stage(stage, machine, nullptr);
    if (!run || !run->stream.repeats) return {};
    const PassCost& pass = run->steady();
    measured.cycles += pass.cycles;
    measured.dram_bytes +=
        pass.weight_bytes + pass.activation_in_bytes + pass.activation_out_bytes + pass.program_bytes;
  }
  const Outcome outcome = evaluate(application, machine);
  measured.feasible = outcome.feasible;
  measured.frame_ns = 1e9 / outcome.values[static_cast<std::size_t>(Metric::throughput_fps)];
  return measured;
}

std::string with_setting(const std::string& text, std::string_view setting) {
  const std::size_t end = text.find('\n');
  const std::string key(setting.substr(0, setting.find('=') + 1));
  std::istringstream words(text.substr(0, end));
  std::string line;
  for (std::string word; words >> word;)
    if (!word.starts_with(key)) line += (line.empty() ? "" : " ") + word;
  return line + " " + std::string(setting) + text.substr(end);
}

}  // namespace sdip
