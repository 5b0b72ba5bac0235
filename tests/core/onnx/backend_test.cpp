// ONNX's own backend tests run on our arithmetic: model and inputs in, outputs compared. What is not run is listed
// by name with its reason in backend_not_run.txt; a listed test that would pass fails.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/core/onnx/build.h"

#include "core/onnx/tensor.h"

namespace sdip {
namespace {

const std::string data = "/usr/share/libonnx-testdata/data/";
constexpr const char* suites[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};

/// A tensor in a file of its own has not been through the walk that says where its data lie.
Tensor tensor_of(onnx::TensorProto proto) {
  proto.mutable_segment()->set_begin(0);
  proto.mutable_segment()->set_end(0);
  ReadTensor read = read_tensor(proto, "tensor", {}, std::int64_t{1} << 40);
  if (!read.operand.value) throw Error("no_values", proto.name(), "its values cannot be read");
  return std::move(*read.operand.value);
}

std::vector<Tensor> tensors_in(const std::string& folder, const std::string& kind) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = folder + "/" + kind + "_" + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path)) return tensors;
    onnx::TensorProto proto;
    if (!proto.ParseFromString(file_bytes(path))) throw Error("no_tensor", path, "no tensor");
    tensors.push_back(tensor_of(proto));
  }
}

/// Inputs as constants of the model: what shapes and branches depend on is then known at import.
std::string with_inputs_known(const std::string& bytes, const std::string& folder) {
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  for (int i = 0; i < model.graph().input_size(); ++i) {
    const std::string path = folder + "/input_" + std::to_string(i) + ".pb";
    onnx::TensorProto proto;
    if (!std::filesystem::exists(path) || !proto.ParseFromString(file_bytes(path))) continue;
    proto.set_name(model.graph().input(i).name());
    *model.mutable_graph()->add_initializer() = proto;
  }
  return model.SerializeAsString();
}

/// Nothing when equal as ONNX's own runner compares: relative 1e-3, absolute 1e-7, integers exactly.
std::string difference(const Tensor& found, const Tensor& wanted) {
  if (found.type != wanted.type) return "type " + std::string(element_type_text(found.type));
  if (found.shape != wanted.shape) return "shape " + shape_text(found.shape) + " for " + shape_text(wanted.shape);
  for (std::size_t i = 0; i < wanted.ints.size(); ++i) {
    if (found.ints.at(i) != wanted.ints[i]) {
      return "element " + std::to_string(i) + ": " + std::to_string(found.ints[i]) + " for " +
             std::to_string(wanted.ints[i]);
    }
  }
  for (std::size_t i = 0; i < wanted.floats.size(); ++i) {
    const double a = found.floats.at(i), b = wanted.floats[i];
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-7 + 1e-3 * std::fabs(b);
    if (!same) return "element " + std::to_string(i) + ": " + std::to_string(a) + " for " + std::to_string(b);
  }
  return "";
}

/// Values of initializers and constants by name.
std::function<std::optional<Tensor>(const Value&)> stored_tensors(const std::string& bytes) {
  auto model = std::make_shared<onnx::ModelProto>();
  model->ParseFromString(bytes);
  return [model](const Value& value) -> std::optional<Tensor> {
    for (const auto& tensor : model->graph().initializer()) {
      if (tensor.name() == value.name) return tensor_of(tensor);
    }
    for (const auto& node : model->graph().node()) {
      if (node.op_type() == "Constant" && node.output(0) == value.name) return tensor_of(node.attribute(0).t());
    }
    return std::nullopt;
  };
}

std::string run(const std::string& bytes, const std::vector<Tensor>& inputs, const std::vector<Tensor>& wanted) {
  ImportOptions options;
  const Graph graph = import_bytes(bytes, options);
  std::vector<Tensor> given;
  if (!graph.inputs.empty()) given = inputs;
  const auto stored = stored_tensors(bytes);
  const std::vector<Tensor> found = compute(graph, given, stored);
  if (found.size() < wanted.size()) return "fewer outputs";
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string what = difference(found[i], wanted[i]);
    if (!what.empty()) return "output " + std::to_string(i) + ": " + what;
  }
  return "";
}

/// Empty when every data set of the test passes; else why not.
std::string outcome(const std::string& folder) {
  try {
    const std::string bytes = file_bytes(folder + "/model.onnx");
    for (int set = 0; std::filesystem::exists(folder + "/test_data_set_" + std::to_string(set)); ++set) {
      const std::string at = folder + "/test_data_set_" + std::to_string(set);
      const auto inputs = tensors_in(at, "input"), wanted = tensors_in(at, "output");
      std::string what;
      try {
        what = run(bytes, inputs, wanted);
      } catch (const Error& error) {
        if (error.code != "shape_unknown" && error.code != "unbound_dimension") throw;
        what = run(with_inputs_known(bytes, at), {}, wanted);
      }
      if (!what.empty()) return what;
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Lines "suite/name reason"; '#' starts a comment.
std::map<std::string, std::string> tests_not_run() {
  std::map<std::string, std::string> reasons;
  std::ifstream file(SDIP_SOURCE_DIR "/tests/core/onnx/backend_not_run.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    EXPECT_NE(space, std::string::npos) << "no reason for " << line;
    reasons[line.substr(0, space)] = line.substr(space + 1);
  }
  return reasons;
}

TEST(onnx_backend_tests, every_test_in_scope_passes_and_the_others_are_listed) {
  if (!std::filesystem::exists(data)) GTEST_SKIP() << "no " << data << " (package libonnx-testdata)";
  auto reasons = tests_not_run();
  int passed = 0, listed = 0;
  std::ofstream failures;
  if (const char* path = std::getenv("SDIP_BACKEND_FAILURES")) failures.open(path);
  for (const std::string suite : suites) {
    for (const auto& entry : std::filesystem::directory_iterator(data + suite)) {
      const std::string name = suite + "/" + entry.path().filename().string();
      const std::string what = outcome(entry.path());
      if (failures.is_open() && !what.empty()) failures << name << ' ' << what << '\n';
      if (reasons.contains(name)) {
        EXPECT_NE(what, "") << name << " passes, but is listed as not run";
        listed += 1;
        reasons.erase(name);
      } else {
        EXPECT_EQ(what, "") << name;
        passed += what.empty();
      }
    }
  }
  for (const auto& [name, reason] : reasons) ADD_FAILURE() << name << " is listed, but is no test";
  std::cout << passed << " of ONNX's backend tests pass, " << listed << " are listed as not run\n";
}

}  // namespace
}  // namespace sdip
