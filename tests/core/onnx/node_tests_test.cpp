// ONNX's own node tests as an oracle: the shapes, types and, where all inputs are small constants, the values they
// give.
#include <cmath>
#include <filesystem>
#include <set>

#include "tests/core/onnx/build.h"

#include "core/onnx/tensor.h"

namespace sdip {
namespace {

const std::string node_tests = "/usr/share/libonnx-testdata/data/node";

struct NodeTest {
  onnx::ModelProto model;
  std::vector<onnx::TensorProto> inputs, outputs;
};

std::vector<onnx::TensorProto> read_tensors(const std::string& folder, const std::string& kind) {
  std::vector<onnx::TensorProto> tensors;
  for (int i = 0;; ++i) {
    const std::string bytes = file_bytes(folder + "/test_data_set_0/" + kind + "_" + std::to_string(i) + ".pb");
    onnx::TensorProto tensor;
    if (bytes.empty() || !tensor.ParseFromString(bytes)) return tensors;
    tensors.push_back(tensor);
  }
}

bool has_type(const onnx::ValueInfoProto& declared, const onnx::TensorProto& stored) {
  return declared.type().has_tensor_type() && declared.type().tensor_type().elem_type() == stored.data_type();
}

/// Whether the files hold what the model declares: not so for sequences, and for bfloat16, which is stored as
/// uint16.
bool is_consistent(const NodeTest& test) {
  const auto& graph = test.model.graph();
  for (std::size_t i = 0; i < test.inputs.size() && i < static_cast<std::size_t>(graph.input_size()); ++i) {
    if (!has_type(graph.input(static_cast<int>(i)), test.inputs[i])) return false;
  }
  for (std::size_t i = 0; i < test.outputs.size() && i < static_cast<std::size_t>(graph.output_size()); ++i) {
    if (!has_type(graph.output(static_cast<int>(i)), test.outputs[i])) return false;
  }
  return true;
}

/// The test with inputs from `first` on as constants.
std::string with_inputs_as_constants(const NodeTest& test, std::size_t first) {
  onnx::ModelProto model = test.model;
  for (std::size_t i = first; i < test.inputs.size() && i < static_cast<std::size_t>(model.graph().input_size());
       ++i) {
    auto* constant = model.mutable_graph()->add_initializer();
    *constant = test.inputs[i];
    constant->set_name(model.graph().input(static_cast<int>(i)).name());
  }
  return model.SerializeAsString();
}

std::optional<Graph> import_supported(const std::string& name, const std::string& bytes) {
  try {
    return import_bytes(bytes);
  } catch (const Error& error) {
    const std::set<std::string> honest = {"unknown_operator", "unsupported_attribute", "unsupported_opset",
                                          "unsupported_type", "shape_unknown",         "unbound_dimension",
                                          "input_needed"};
    const bool no_tensor = std::string(error.what()).find("no tensor of a known type") != std::string::npos;
    EXPECT_TRUE(honest.contains(error.code) || no_tensor) << name << ": " << error.code << " " << error.what();
    return std::nullopt;
  }
}

Operand expected_operand(const onnx::TensorProto& tensor) {
  // A tensor in a file of its own has not been through the walk that says where its data lie.
  onnx::TensorProto marked = tensor;
  marked.mutable_segment()->set_begin(0);
  marked.mutable_segment()->set_end(0);
  return read_tensor(marked, "expected", {}).operand;
}

void expect_values(const std::string& name, const Tensor& found, const Tensor& wanted) {
  EXPECT_EQ(found.ints, wanted.ints) << name;
  ASSERT_EQ(found.floats.size(), wanted.floats.size()) << name;
  for (std::size_t i = 0; i < found.floats.size(); ++i) {
    const double a = found.floats[i], b = wanted.floats[i];  // as ONNX's own runner compares
    const bool same = a == b || (std::isnan(a) && std::isnan(b)) || std::fabs(a - b) <= 1e-7 + 1e-3 * std::fabs(b);
    EXPECT_TRUE(same) << name << ": " << a << " for " << b;
  }
}

/// Tests whose expected values are not those of runtimes; backend_not_run.txt says why.
const std::set<std::string> other_values = {"test_maxunpool_export_with_output_shape",
                                            "test_resize_downsample_scales_cubic_align_corners",
                                            "test_resize_downsample_scales_linear_align_corners"};

struct Seen {
  int shapes = 0, values = 0, tests = 0;
};

void compare(const std::string& name, const NodeTest& test, const Graph& graph, Seen& seen) {
  for (std::size_t i = 0; i < test.outputs.size() && i < graph.outputs.size(); ++i) {
    const Operand& found = graph.values[static_cast<std::size_t>(graph.outputs[i])].operand;
    const Operand wanted = expected_operand(test.outputs[i]);
    EXPECT_EQ(found.shape, wanted.shape) << name << " output " << i;
    EXPECT_EQ(found.type, wanted.type) << name << " output " << i;
    ++seen.shapes;
    if (!found.value || !wanted.value || other_values.contains(name)) continue;
    expect_values(name, *found.value, *wanted.value);
    ++seen.values;
  }
}

TEST(onnx_node_tests, shapes_types_and_folded_values_agree) {
  if (!std::filesystem::exists(node_tests)) GTEST_SKIP() << "no " << node_tests << " (package libonnx-testdata)";
  Seen seen;
  for (const auto& folder : std::filesystem::directory_iterator(node_tests)) {
    const std::string name = folder.path().filename();
    NodeTest test;
    const std::string bytes = file_bytes(folder.path().string() + "/model.onnx");
    if (!test.model.ParseFromString(bytes)) continue;
    test.inputs = read_tensors(folder.path(), "input");
    test.outputs = read_tensors(folder.path(), "output");
    if (!is_consistent(test)) continue;
    bool imported = false;
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}, test.inputs.size()}) {
      const auto graph = import_supported(name, with_inputs_as_constants(test, first));
      if (graph) compare(name, test, *graph, seen);
      imported = imported || graph;
    }
    seen.tests += imported;
  }
  // How much this test has looked at: fewer would mean that operators were lost.
  EXPECT_GE(seen.tests, 650);
  EXPECT_GE(seen.values, 240);
  std::cout << seen.tests << " node tests imported, " << seen.shapes << " shapes and " << seen.values
            << " values compared\n";
}

}  // namespace
}  // namespace sdip
