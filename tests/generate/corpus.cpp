// ONNX's node tests and the cases of tests/cases as models to be checked like generated ones.
#include "tests/generate/corpus.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/onnx/import.h"
#include "tests/core/onnx/case_model.h"
#include "tests/core/onnx/case_runs.h"
#include "tests/core/onnx/evaluated.h"
#include "tests/generate/machines.h"

namespace sdip::generate {
namespace {

const std::string node_tests = "/usr/share/libonnx-testdata/data/node/";

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash >> 20;
}

/// Inputs stand in files of their own; what cannot be read is drawn.
Generated node_test(const std::string& folder, bool constants) {
  Generated given;
  given.model.ParseFromString(file_bytes(node_tests + folder + "/model.onnx"));
  auto& graph = *given.model.mutable_graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    onnx::TensorProto proto;
    const std::string path = node_tests + folder + "/test_data_set_0/input_" + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path) || !proto.ParseFromString(file_bytes(path))) continue;
    const auto declared = graph.input(i).type().tensor_type().elem_type();
    if (proto.data_type() == onnx::TensorProto::UINT16 && declared == onnx::TensorProto::BFLOAT16)
      proto.set_data_type(declared);
    proto.set_name(graph.input(i).name());
    if (constants)
      *graph.add_initializer() = proto;
    else
      try {
        given.inputs[proto.name()] = tensor_of(proto);
      } catch (const Error&) {
      }
  }
  return given;
}

Generated case_of(const std::string& name, bool constants) {
  Generated given;
  const auto& one = all_cases().at(name);
  given.model = case_model(one, constants);
  for (std::size_t i = 0; i < one.at("inputs").size() && !constants; ++i)
    if (!one.at("inputs")[i].is_null()) given.inputs["in" + std::to_string(i)] = case_tensor(one.at("inputs")[i]);
  return given;
}

}  // namespace

const std::vector<std::string>& corpus_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    if (!std::filesystem::exists(node_tests)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(node_tests))
      found.push_back("node/" + entry.path().filename().string());
    for (const auto& [name, one] : all_cases()) found.push_back("case/" + name);
    std::ranges::sort(found);
    return found;
  }();
  return names;
}

Generated corpus_model(const std::string& name, bool constants) {
  const std::string rest = name.substr(5);
  return name.starts_with("node/") ? node_test(rest, constants) : case_of(rest, constants);
}

Machine corpus_machine(const std::string& name, std::uint64_t round, int preset) {
  const std::uint64_t drawn = seed_of(name) + 1000 * round;
  const auto all = diffusion_presets();
  const auto number = preset < 0 ? drawn % all.size() : static_cast<std::size_t>(preset);
  return changed_preset(all[number].name, drawn, 1 + static_cast<std::int64_t>(drawn % 5));
}

Checked check_corpus(std::uint64_t number, std::uint64_t round, int preset, const PhaseObserver& phase) {
  const std::string& name = corpus_names().at(number);
  Checked checked{number, {}, {}};
  for (const bool constants : {false, true}) {
    Machine machine = corpus_machine(name, round, preset);
    checked.outcome = check_model(corpus_model(name, constants), machine, 1, phase);
    const std::string& code = checked.outcome.code;
    const bool again =
        checked.outcome.verdict == Verdict::refused && (code == "shape_unknown" || code == "unbound_dimension" ||
                                                        code == "shape_mismatch" || code == "input_needed");
    if (!again) break;
  }
  return checked;
}

}  // namespace sdip::generate
