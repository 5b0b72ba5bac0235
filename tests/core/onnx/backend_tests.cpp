// ONNX's own backend tests, run by whatever computes a model.
#include "tests/core/onnx/backend_tests.h"

#include <onnx/defs/schema.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/core/onnx/evaluated.h"

namespace sdip {
namespace {

/// Where the suites lie; another release's in the folder that SDIP_BACKEND_DATA names.
std::string data_folder() {
  const char* path = std::getenv("SDIP_BACKEND_DATA");
  return path == nullptr ? "/usr/share/libonnx-testdata/data/" : std::string(path) + "/";
}
constexpr const char* suites[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};

/// As ONNX's own runner compares.
constexpr Nearness near_enough = {1e-3, 1e-7};

/// Read as the type the model declares: bfloat16 stands in the files as uint16.
template <class Declared>
void retype(onnx::TensorProto& proto, const Declared& values, int i) {
  if (i >= values.size() || !values.Get(i).type().has_tensor_type()) return;
  const auto declared = values.Get(i).type().tensor_type().elem_type();
  if (proto.data_type() == onnx::TensorProto::UINT16 && declared == onnx::TensorProto::BFLOAT16) {
    proto.set_data_type(declared);
  }
}

template <class Declared>
std::vector<Tensor> tensors_in(const std::string& folder, const std::string& kind, const Declared& values) {
  std::vector<Tensor> tensors;
  for (int i = 0;; ++i) {
    const std::string path = folder + "/" + kind + "_" + std::to_string(i) + ".pb";
    if (!std::filesystem::exists(path)) return tensors;
    onnx::TensorProto proto;
    if (!proto.ParseFromString(file_bytes(path))) throw Error("no_tensor", path, "no tensor");
    retype(proto, values, i);
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
    retype(proto, model.graph().input(), i);
    proto.set_name(model.graph().input(i).name());
    *model.mutable_graph()->add_initializer() = proto;
  }
  return model.SerializeAsString();
}

/// Whether a node of an older opset means in opset 7 what it meant there: by ONNX's schemas the same definition, or
/// one that only lost attributes the node does not use. `is_test` (opset 7 has no other outputs then) and
/// `broadcast` without an axis (as numpy broadcasts) are dropped.
bool becomes_opset_7(onnx::NodeProto& node, int given) {
  const auto* old = onnx::OpSchemaRegistry::Schema(node.op_type(), given);
  const auto* now = onnx::OpSchemaRegistry::Schema(node.op_type(), 7);
  if (old == nullptr || now == nullptr) return false;
  for (int i = node.attribute_size(); i-- > 0;) {
    const auto& attribute = node.attribute(i);
    if (now->attributes().count(attribute.name()) != 0) continue;
    if (attribute.name() != "broadcast" && (attribute.name() != "is_test" || attribute.i() != 1)) return false;
    node.mutable_attribute()->DeleteSubrange(i, 1);
  }
  return true;
}

/// Models of an opset before 7 whose nodes mean the same in opset 7 are read as of opset 7.
std::string with_opset_7(const std::string& bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes) || model.opset_import_size() != 1) return bytes;
  const auto given = static_cast<int>(model.opset_import(0).version());
  if (given >= 7 || !model.opset_import(0).domain().empty()) return bytes;
  for (auto& node : *model.mutable_graph()->mutable_node()) {
    if (!becomes_opset_7(node, given)) return bytes;
  }
  model.mutable_opset_import(0)->set_version(7);
  return model.SerializeAsString();
}

std::string run(const ModelRunner& runner, const std::string& bytes, const std::vector<Tensor>& inputs,
                const std::vector<Tensor>& wanted) {
  const std::vector<Tensor> found = runner(bytes, inputs);
  if (found.size() < wanted.size()) return "fewer outputs";
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string what = difference(found[i], wanted[i], near_enough);
    if (!what.empty()) return "output " + std::to_string(i) + ": " + what;
  }
  return "";
}

/// Empty when every data set of the test passes; else why not.
std::string outcome(const ModelRunner& runner, const std::string& folder) {
  try {
    const std::string bytes = with_opset_7(file_bytes(folder + "/model.onnx"));
    onnx::ModelProto model;
    if (!model.ParseFromString(bytes)) return "no model";
    for (int set = 0; std::filesystem::exists(folder + "/test_data_set_" + std::to_string(set)); ++set) {
      const std::string at = folder + "/test_data_set_" + std::to_string(set);
      const auto inputs = tensors_in(at, "input", model.graph().input());
      const auto wanted = tensors_in(at, "output", model.graph().output());
      std::string what;
      try {
        what = run(runner, bytes, inputs, wanted);
      } catch (const Error& error) {
        // Shapes that follow from inputs, and inputs of another shape than the model declares.
        const std::set<std::string> from_inputs{"shape_unknown", "input_needed", "unbound_dimension",
                                                "shape_mismatch"};
        if (!from_inputs.contains(error.code)) throw;
        what = run(runner, with_inputs_known(bytes, at), {}, wanted);
      }
      if (!what.empty()) return what;
    }
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

bool has_backend_tests() { return std::filesystem::exists(data_folder()); }

std::map<std::string, std::string> reasons_in(const std::string& path) {
  std::map<std::string, std::string> reasons;
  std::ifstream file(SDIP_SOURCE_DIR "/tests/" + path);
  EXPECT_TRUE(file) << "no " << path;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    EXPECT_NE(space, std::string::npos) << "no reason for " << line;
    reasons[line.substr(0, space)] = line.substr(space + 1);
  }
  return reasons;
}

BackendCounts run_backend_tests(const ModelRunner& runner, const std::vector<std::string>& lists) {
  std::map<std::string, std::string> reasons;
  for (const std::string& list : lists) reasons.merge(reasons_in(list));
  BackendCounts counts;
  std::ofstream failures;
  if (const char* path = std::getenv("SDIP_BACKEND_FAILURES")) failures.open(path);
  for (const std::string suite : suites) {
    if (!std::filesystem::exists(data_folder() + suite)) continue;
    for (const auto& entry : std::filesystem::directory_iterator(data_folder() + suite)) {
      const std::string name = suite + "/" + entry.path().filename().string();
      const std::string what = outcome(runner, entry.path());
      if (failures.is_open() && !what.empty()) failures << name << ' ' << what << '\n';
      if (reasons.contains(name)) {
        EXPECT_NE(what, "") << name << " passes, but is listed as not run";
        counts.listed += 1;
        reasons.erase(name);
      } else {
        EXPECT_EQ(what, "") << name;
        counts.passed += what.empty();
      }
    }
  }
  for (const auto& [name, reason] : reasons) ADD_FAILURE() << name << " is listed, but is no test";
  return counts;
}

}  // namespace sdip
