// Graphs that PyTorch itself exported (tests/models): shapes, figures, patterns, and PyTorch's own results.
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "tests/core/onnx/build.h"

#include "core/onnx/tensor.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

using nlohmann::json;

const std::string exported_folder = SDIP_SOURCE_DIR "/tests/models/exported/";

std::string unpacked(const std::string& path) {
  const std::string packed = file_bytes(path);
  std::string bytes;
  z_stream stream{};
  if (packed.empty() || inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return "";  // 16: a gzip header
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  int status = Z_OK;
  while (status == Z_OK) {
    std::string piece(1 << 20, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&stream, Z_NO_FLUSH);
    bytes.append(piece, 0, piece.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END ? bytes : "";
}

const std::vector<json>& manifest() {
  static const std::vector<json> rows = json::parse(file_bytes(exported_folder + "manifest.json"));
  return rows;
}

std::string bytes_of(const json& row) {
  return unpacked(exported_folder + row["file"].get<std::string>() + ".onnx.gz");
}

Graph graph_of(const json& row) {
  ImportOptions options;
  options.label = row["file"];
  options.dims = row["dims"].get<std::map<std::string, std::int64_t>>();
  return import_bytes(bytes_of(row), options);
}

/// What the file holds besides PyTorch's parameters; the manifest says why.
std::int64_t besides(const json& row) {
  std::int64_t sum = 0;
  for (const auto& [why, count] : row["besides"].items()) sum += count.get<std::int64_t>();
  return sum;
}

/// The tensors of a tiny graph: "input x", "output y".
std::map<std::string, Tensor> values_of(const json& row) {
  onnx::GraphProto stored;
  std::map<std::string, Tensor> values;
  EXPECT_TRUE(stored.ParseFromString(unpacked(exported_folder + row["file"].get<std::string>() + ".values.gz")));
  for (onnx::TensorProto& tensor : *stored.mutable_initializer()) {
    tensor.mutable_segment()->set_begin(0);  // as the walk over a model would say where its data lie
    tensor.mutable_segment()->set_end(0);
    ReadTensor read = read_tensor(tensor, tensor.name(), {}, std::int64_t{1} << 30);
    values[tensor.name()] = read.operand.value.value();
  }
  return values;
}

/// Names of the rows that have `key`; of all when it is empty.
std::vector<std::string> files_with(const std::string& key) {
  std::vector<std::string> names;
  for (const json& row : manifest()) {
    if (key.empty() || row.contains(key)) names.push_back(row["file"]);
  }
  return names;
}

struct torch_exports : testing::TestWithParam<std::string> {
  const json& row() const {
    const auto& rows = manifest();
    return *std::ranges::find_if(rows, [](const json& row) { return row["file"] == GetParam(); });
  }
};
struct torch_exports_built_in : torch_exports {};

std::string name_of_test(const testing::TestParamInfo<std::string>& file) { return file.param; }
INSTANTIATE_TEST_SUITE_P(all, torch_exports, testing::ValuesIn(files_with("")), name_of_test);
INSTANTIATE_TEST_SUITE_P(all, torch_exports_built_in, testing::ValuesIn(files_with("built_in")), name_of_test);

TEST_P(torch_exports, every_shape_is_known_and_those_of_the_outputs_are_pytorchs) {
  const Graph graph = graph_of(row());
  ASSERT_EQ(graph.outputs.size(), row()["outputs"].size());
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    const Operand& output = graph.values[static_cast<std::size_t>(graph.outputs[i])].operand;
    EXPECT_EQ(output.shape, row()["outputs"][i].get<Shape>());
    EXPECT_EQ(output.type, row()["half"] ? ElementType::float16 : ElementType::float32);
  }
  for (const Node& node : graph.nodes) ASSERT_NO_THROW(work_of(graph, node)) << node.name;
}

TEST_P(torch_exports, parameters_and_macs_are_pytorchs_before_and_after_rewriting) {
  Graph graph = graph_of(row());
  for (const bool rewritten : {false, true}) {
    if (rewritten) rewrite(graph);
    const GraphFacts facts = facts_of(graph);
    EXPECT_EQ(facts.parameters, row()["parameters"].get<std::int64_t>() + besides(row())) << rewritten;
    EXPECT_EQ(facts.macs_conv, row()["macs"]["conv"]) << rewritten;
    EXPECT_EQ(facts.macs_linear, row()["macs"]["linear"]) << rewritten;
    EXPECT_EQ(facts.macs_matmul, row()["macs"]["matmul"]) << rewritten;
  }
}

TEST_P(torch_exports_built_in, figures_are_those_of_the_built_in_model) {
  const json& same = row()["built_in"];
  ModelOptions options;
  options.batch = same["batch"];
  options.image_height_px = options.image_width_px = same.value("image_px", std::int64_t{0});
  options.tokens = same.value("tokens", std::int64_t{0});
  const GraphFacts ours = facts_of(import_bytes(write_model(same["model"].get<std::string>(), options)));
  const GraphFacts theirs = facts_of(graph_of(row()));
  EXPECT_EQ(theirs.parameters, ours.parameters + besides(row()));
  // CompVis' VAE projects by 1x1 convolutions what ours projects by linear layers.
  EXPECT_EQ(theirs.macs_conv + theirs.macs_linear, ours.macs_conv + ours.macs_linear);
  if (!GetParam().starts_with("vae_decoder_einsum")) {
    EXPECT_EQ(theirs.macs_conv, ours.macs_conv);
  }
  EXPECT_EQ(theirs.macs_matmul, ours.macs_matmul);
}

TEST_P(torch_exports, patterns_are_those_of_the_architecture) {
  Graph graph = graph_of(row());
  std::map<std::string, std::int64_t> found;
  for (const auto& [pass, count] : rewrite(graph)) found[pass] = count;
  for (const auto& [pattern, count] : row()["patterns"].items()) {
    ASSERT_TRUE(found.contains(pattern)) << pattern;
    EXPECT_EQ(found[pattern], count.get<std::int64_t>()) << pattern;
  }
}

TEST(torch_exports_manifest, covers_networks_and_options) {
  std::map<std::string, std::set<std::string>> graphs, networks;
  for (const json& row : manifest()) {
    const auto file = row["file"].get<std::string>(), network = row["network"].get<std::string>();
    graphs[network].insert(file);
    graphs[network + " " + row["form"].get<std::string>()].insert(file);
    networks["opset " + std::to_string(row["opset"].get<int>())].insert(network);
    networks[row["folded"] ? "folded" : "unfolded"].insert(network);
    networks[row["dims"].empty() ? "fixed" : "dynamic"].insert(network);
    networks[row["half"] ? "float16" : "float32"].insert(network);
  }
  for (const char* network : {"unet", "vae_encoder", "vae_decoder", "clip", "dit", "resnet50", "bert", "gpt2",
                              "mobilenetv2", "unet einsum", "unet divided", "unet sdpa", "unet baddbmm"}) {
    EXPECT_GE(graphs[network].size(), 2u) << network;
  }
  for (const char* option :
       {"opset 9", "opset 14", "opset 17", "folded", "unfolded", "fixed", "dynamic", "float16", "float32"}) {
    EXPECT_GE(networks[option].size(), 3u) << option;
  }
}

/// Values of initializers and constants by name.
std::function<std::optional<Tensor>(const Value&)> stored_tensors(const std::string& bytes) {
  auto tensors = std::make_shared<std::unordered_map<std::string, onnx::TensorProto>>();
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  for (const auto& tensor : model.graph().initializer()) (*tensors)[tensor.name()] = tensor;
  for (const auto& node : model.graph().node()) {
    if (node.op_type() == "Constant") (*tensors)[node.output(0)] = node.attribute(0).t();
  }
  return [tensors](const Value& value) -> std::optional<Tensor> {
    const auto at = tensors->find(value.name);
    if (at == tensors->end()) return std::nullopt;
    onnx::TensorProto tensor = at->second;
    tensor.mutable_segment()->set_begin(0);
    tensor.mutable_segment()->set_end(0);
    return read_tensor(tensor, value.name, {}, std::int64_t{1} << 30).operand.value;
  };
}

/// Nothing when equal: relative 1e-3, absolute 1e-5. A graph in float16 rounds everywhere, where PyTorch computed
/// in float32: 1 % of the largest element.
std::string difference(const Tensor& found, const Tensor& wanted, bool half) {
  if (found.shape != wanted.shape) return "shape " + shape_text(found.shape) + " for " + shape_text(wanted.shape);
  double largest = 0;
  for (const double x : wanted.floats) largest = std::fmax(largest, std::fabs(x));
  for (std::size_t i = 0; i < wanted.floats.size(); ++i) {
    const double a = found.floats.at(i), b = wanted.floats[i];
    if (std::fabs(a - b) <= (half ? 1e-2 * largest : 1e-5 + 1e-3 * std::fabs(b))) continue;
    return "element " + std::to_string(i) + ": " + std::to_string(a) + " for " + std::to_string(b);
  }
  return "";
}

/// Empty when `graph` computes what PyTorch did.
std::string outcome(const Graph& graph, const json& row, const std::map<std::string, Tensor>& values) {
  std::vector<Tensor> inputs;
  for (const ValueId id : graph.inputs) {
    inputs.push_back(values.at("input " + graph.values[static_cast<std::size_t>(id)].name));
  }
  const std::vector<Tensor> found = compute(graph, inputs, stored_tensors(bytes_of(row)));
  std::string what;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string name = graph.values[static_cast<std::size_t>(graph.outputs[i])].name;
    const std::string one = difference(found[i], values.at("output " + name), row["half"]);
    if (!one.empty() && what.empty()) what = name + " " + one;
  }
  return what;
}

TEST(torch_exports_values, tiny_graphs_compute_what_pytorch_computes_before_and_after_rewriting) {
  int ran = 0;
  for (const json& row : manifest()) {
    if (!row["tiny"]) continue;
    const auto values = values_of(row);
    Graph graph = graph_of(row);
    EXPECT_EQ(outcome(graph, row, values), "") << row["file"];
    rewrite(graph);
    EXPECT_EQ(outcome(graph, row, values), "") << row["file"] << " rewritten";
    ran += 1;
  }
  EXPECT_GT(ran, 30);
}

}  // namespace
}  // namespace sdip
