// A model and a machine, and what is found on them: from ONNX bytes to counters and tensors, as a user's file goes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/exec/chip/execute.h"
#include "core/machine/machine.h"
#include "tests/generate/making.h"

namespace sdip::generate {

enum class Verdict { passed, values_alone, refused, infeasible, finding };
/// values_alone: every output is a constant or a view, so that no program runs.
std::string_view verdict_text(Verdict verdict);

/// What became of a model. `code`: of a refusal its error's code, of a finding its class, which holds no names and
/// numbers of the model.
struct Outcome {
  Verdict verdict = Verdict::passed;
  std::string code, detail;
  std::int64_t nodes = 0, instructions = 0;
  bool values = false, executed = false, tensors = false;  // compared: with the plain graph, whole, layer by layer
};

/// Is told what begins: "import", "libonnx", ...; after a crash it says where that was.
using PhaseObserver = std::function<void(const char*)>;

/// The number of nodes, those of bodies and functions too.
std::int64_t node_count(const onnx::ModelProto& model);

/// Inputs of a model, from its seed and ranges.
std::vector<Tensor> inputs_of(const Graph& graph, const Generated& given, std::uint64_t seed);

/// Everything. `machine` is made larger until the program fits.
Outcome check_model(const Generated& given, Machine& machine, std::uint64_t seed, const PhaseObserver& phase);

/// Import alone.
Outcome check_import(const Generated& given, const PhaseObserver& phase);

/// A message without names and numbers.
std::string without_names(std::string_view message);

/// How far each element of each output moves when every result of the graph is rounded otherwise, by up to that
/// share or, of a narrow type, so many half places.
std::vector<std::vector<double>> sensitivity(const Graph& graph, const std::vector<Tensor>& inputs,
                                             const std::vector<Tensor>& outputs, const StoredTensors& stored,
                                             double share, double places);

}  // namespace sdip::generate
