// ONNX's own backend tests and the cases of tests/cases, compiled and executed: on a machine with room for
// everything, and on one whose memories begin at the least there is and grow until one tile fits. What the executor
// does not run is listed with its reason in executor_not_run.txt.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>

#include "core/exec/chip/execute.h"
#include "core/graph/rewrite/passes.h"
#include "tests/core/onnx/case_runs.h"
#include "tests/core/onnx/evaluated.h"

namespace sdip {
namespace {

/// fp32 throughout.
Machine ample() {
  Machine m;
  m.weight_format = m.activation_format = m.accumulator_format = NumberFormat::fp32;
  m.psram_bytes = m.dsram_bytes = m.stackram_bytes = std::int64_t{1} << 28;
  return m;
}

Machine cramped() {
  Machine m = ample();
  m.psram_bytes = m.dsram_bytes = find_parameter("dsram_bytes")->least;
  m.stackram_bytes = 64;
  m.fusion = Fusion::pointwise;
  return m;
}

/// With memories twice as large until the program can be placed.
Application compiled_on(Machine& machine, const Workload& workload) {
  for (int doublings = 0;; ++doublings) {
    Application application = compile(workload, machine);
    if (application.feasible || doublings == 20) return application;
    machine.psram_bytes *= 2;
    machine.dsram_bytes *= 2;
  }
}

struct Executed {
  Machine machine;
  int programs = 0;
  std::int64_t instructions = 0, tile_operations = 0;
};

struct Imported {
  Graph graph;
  std::string bytes;
  std::vector<Tensor> inputs;
};

onnx::TensorProto proto_of(const Tensor& tensor, const std::string& name) {
  onnx::TensorProto proto;
  proto.set_name(name);
  for (const std::int64_t size : tensor.shape) proto.add_dims(size);
  using enum ElementType;
  const bool of_64_bits = tensor.type == int64;
  proto.set_data_type(of_64_bits               ? onnx::TensorProto::INT64
                      : tensor.type == int32   ? onnx::TensorProto::INT32
                      : tensor.type == boolean ? onnx::TensorProto::BOOL
                                               : onnx::TensorProto::FLOAT);
  for (const std::int64_t x : tensor.ints)
    of_64_bits ? proto.add_int64_data(x) : proto.add_int32_data(static_cast<std::int32_t>(x));
  for (const double x : tensor.floats) proto.add_float_data(static_cast<float>(x));
  return proto;
}

bool can_be_written(const Tensor& tensor) {
  using enum ElementType;
  return tensor.type == int64 || tensor.type == int32 || tensor.type == boolean || tensor.type == float32;
}

/// The model with those inputs written into it.
Imported with_constants(const std::string& bytes, const std::vector<Tensor>& inputs,
                        bool (*constant)(const Tensor&, std::size_t)) {
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  Imported made;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (constant(inputs[i], i) && can_be_written(inputs[i]))
      *model.mutable_graph()->add_initializer() =
          proto_of(inputs[i], model.graph().input(static_cast<int>(i)).name());
    else
      made.inputs.push_back(inputs[i]);
  }
  made.bytes = model.SerializeAsString();
  made.graph = import_bytes(made.bytes);
  if (made.graph.inputs.empty()) made.inputs.clear();
  return made;
}

/// With as many inputs fed as can be: all; all but short integers, on which shapes depend; all but integers; the
/// first. Throws what the import of all says.
Imported imported(const std::string& bytes, const std::vector<Tensor>& inputs) {
  constexpr bool (*ways[])(const Tensor&, std::size_t) = {
      [](const Tensor& t, std::size_t) { return !t.ints.empty() && t.shape.size() <= 1; },
      [](const Tensor& t, std::size_t) { return !t.ints.empty(); },
      [](const Tensor&, std::size_t i) { return i > 0; },
  };
  try {
    return {import_bytes(bytes), bytes, inputs};
  } catch (const Error&) {
    for (const auto& way : ways) {
      try {
        return with_constants(bytes, inputs, way);
      } catch (const Error&) {
      }
    }
    throw;
  }
}

/// Whether tensors are equal, NaN to NaN.
bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) {
    const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
    return x.shape == y.shape && x.ints == y.ints && std::ranges::equal(x.floats, y.floats, same);
  });
}

/// What goes wrong behind the import is no Error, which might mean that shapes follow from inputs.
std::vector<Tensor> executed_outputs(Executed& done, const std::string& bytes, const std::vector<Tensor>& inputs) {
  Imported read = imported(bytes, inputs);
  rewrite(read.graph);
  const auto graph = std::make_shared<const Graph>(std::move(read.graph));
  Workload workload;
  workload.stages.push_back({Role::network, "test", graph, {}});
  if (graph->inputs.empty()) read.inputs.clear();
  for (std::size_t i = 0; i < read.inputs.size(); ++i)
    if (read.inputs[i].shape != graph->values[static_cast<std::size_t>(graph->inputs[i])].operand.shape)
      throw Error("shape_mismatch", "", "an input of another shape than the model declares");
  try {
    Machine machine = done.machine;
    const Application application = compiled_on(machine, workload);
    if (!application.feasible) throw std::runtime_error("infeasible: " + application.reason);
    const CompiledStage& stage = application.stages.at(0);
    const Run run = execute(stage, machine, read.inputs, stored_tensors(read.bytes));
    ExecuteOptions charged;
    charged.charged = true;  // what moves is what the clock charges, or known not to be
    const Run by_tiles = execute(stage, machine, read.inputs, stored_tensors(read.bytes), charged);
    if (!same_bits(run.outputs, by_tiles.outputs)) throw std::runtime_error("tile by tile it computes otherwise");
    ++done.programs;
    done.instructions += run.counts.instructions;
    done.tile_operations += run.counts.tile_operations;
    return run.outputs;
  } catch (const Error& error) {
    throw std::runtime_error(error.code + ": " + error.what());
  }
}

ModelRunner runner_of(Executed& done) {
  return [&done](const std::string& bytes, const std::vector<Tensor>& inputs) {
    return executed_outputs(done, bytes, inputs);
  };
}

void print_counts(const char* what, int passed, int listed, const Executed& done) {
  std::cout << passed << " " << what << " pass through the executor, " << listed << " are listed; " << done.programs
            << " programs of " << done.instructions << " instructions, " << done.tile_operations
            << " tile operations\n";
}

void expect_backend_tests(const Machine& machine) {
  if (!has_backend_tests()) GTEST_SKIP() << "no package libonnx-testdata";
  Executed done{machine};
  const BackendCounts counts =
      run_backend_tests(runner_of(done), {"core/onnx/backend_not_run.txt", "core/onnx/executor_not_run.txt"});
  print_counts("of ONNX's backend tests", counts.passed, counts.listed, done);
  EXPECT_GT(done.programs, 800);
}

void expect_cases(const Machine& machine) {
  Executed done{machine};
  const CaseCounts counts = run_cases(runner_of(done), {"cases/not_run.txt", "cases/executor_not_run.txt"});
  print_counts("cases", counts.passed, counts.listed, done);
  EXPECT_GT(done.programs, 500);
}

TEST(executor, runs_every_backend_test_of_onnx_in_scope_with_ample_memories) { expect_backend_tests(ample()); }
TEST(executor, runs_every_backend_test_of_onnx_in_scope_with_cramped_memories) { expect_backend_tests(cramped()); }
TEST(executor, runs_every_case_with_ample_memories) { expect_cases(ample()); }
TEST(executor, runs_every_case_with_cramped_memories) { expect_cases(cramped()); }

}  // namespace
}  // namespace sdip
