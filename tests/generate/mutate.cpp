// Models of others, changed.
#include "tests/generate/mutate.h"

#include <zlib.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/onnx/import.h"
#include "tests/generate/corpus.h"
#include "tests/generate/model.h"

namespace sdip::generate {
namespace {

const std::string exported = SDIP_SOURCE_DIR "/tests/models/exported/";

std::string unpacked(const std::string& path) {
  const gzFile file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr) return "";
  std::string bytes, piece(1 << 16, '\0');
  for (int count; (count = ::gzread(file, piece.data(), static_cast<unsigned>(piece.size()))) > 0;)
    bytes.append(piece, 0, static_cast<std::size_t>(count));
  ::gzclose(file);
  return bytes;
}

/// Small networks with weights and without free sizes.
const std::vector<std::string>& networks() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> found;
    if (!std::filesystem::exists(exported)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(exported)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".onnx.gz") && name.find("_tiny_") != std::string::npos &&
          name.find("dynamic") == std::string::npos)
        found.push_back(entry.path().string());
    }
    std::ranges::sort(found);
    return found;
  }();
  return paths;
}

/// Types and shapes of what the file itself names.
void learn_values(Generated& given, const Graph& graph) {
  std::set<std::string> names;
  for (const auto& input : given.model.graph().input()) names.insert(input.name());
  for (const auto& node : given.model.graph().node()) names.insert(node.output().begin(), node.output().end());
  for (const Value& value : graph.values) {
    if (!names.contains(value.name) || value.operand.type == ElementType::string) continue;
    Known known{value.name, value.operand.type, value.operand.shape, value.operand.value.has_value(), {}, {}};
    if (value.operand.value) known.value = proto_of(*value.operand.value, value.name, true);
    given.values[value.name] = known;
  }
}

/// A few of a network's nodes, one behind the other; what comes from before is an input.
bool cut_window(Draw& draw, Generated& given, std::int64_t most) {
  auto& graph = *given.model.mutable_graph();
  const std::int64_t count = std::min<std::int64_t>(graph.node_size(), draw.between(3, most));
  const auto first = static_cast<int>(draw.between(0, graph.node_size() - count));
  onnx::GraphProto window;
  window.set_name("window");
  for (int i = first; i < first + count; ++i) *window.add_node() = graph.node(i);
  std::set<std::string> used;
  free_names(window, used);
  for (const auto& initializer : graph.initializer())
    if (used.contains(initializer.name())) *window.add_initializer() = initializer;
  for (const auto& initializer : window.initializer()) used.erase(initializer.name());
  for (const std::string& name : used) {
    const auto known = given.values.find(name);
    if (known == given.values.end() || element_count(known->second.shape) > (1 << 14)) return false;
    if (known->second.value)
      *window.add_initializer() = *known->second.value;
    else
      describe(*window.add_input(), known->second);
  }
  std::set<std::string> made(used.begin(), used.end());
  for (const auto& node : window.node()) made.insert(node.output().begin(), node.output().end());
  std::erase_if(given.values, [&](const auto& one) { return !made.contains(one.first); });
  graph = window;
  return true;
}

/// Some of the inputs stand in the model, where they have no initializer yet.
void make_constants(Draw& draw, Generated& given) {
  auto& graph = *given.model.mutable_graph();
  std::set<std::string> stored;
  for (const auto& initializer : graph.initializer()) stored.insert(initializer.name());
  for (int i = graph.input_size(); i-- > 0;) {
    const std::string name = graph.input(i).name();
    const auto known = given.values.find(name);
    if (known == given.values.end() || stored.contains(name) || !draw.one_in(4)) continue;
    const auto fed = given.inputs.find(name);
    const Tensor tensor =
        fed != given.inputs.end() ? fed->second : random_tensor(known->second.type, known->second.shape, {}, draw);
    known->second.value = proto_of(tensor, name, draw.one_in(2));
    known->second.constant = true;
    *graph.add_initializer() = *known->second.value;
    if (given.model.ir_version() >= 4) graph.mutable_input()->DeleteSubrange(i, 1);
  }
}

/// A node between an input and those that read it.
void put_before(Draw& draw, Generated& given) {
  auto& graph = *given.model.mutable_graph();
  for (const auto& input : std::vector<onnx::ValueInfoProto>(graph.input().begin(), graph.input().end())) {
    const auto known = given.values.find(input.name());
    const bool floats = known != given.values.end() && known->second.type == ElementType::float32;
    if (!floats || !draw.one_in(3)) continue;
    const std::string name = input.name() + "_before";
    for (auto& node : *graph.mutable_node())
      for (auto& read : *node.mutable_input())
        if (read == input.name()) read = name;
    auto* node = graph.add_node();
    node->set_op_type(draw.of(std::vector<std::string>{"Identity", "Neg", "Relu", "Sigmoid"}));
    node->add_input(input.name());
    node->add_output(name);
    known->second.name = input.name();
    Known between = known->second;
    between.name = name;
    given.values[name] = between;
    for (int i = graph.node_size() - 1; i > 0; --i) graph.mutable_node()->SwapElements(i, i - 1);
  }
}

std::optional<Generated> changed(Draw& draw, std::uint64_t seed) {
  Generated given;
  const bool network = draw.one_in(2) && !networks().empty();
  if (network)
    given.model.ParseFromString(unpacked(draw.of(networks())));
  else
    given = corpus_model(draw.of(corpus_names()), draw.one_in(4));
  const std::string bytes = given.model.SerializeAsString();
  learn_values(given, import_onnx(std::as_bytes(std::span(bytes)), {}));
  if (network && !cut_window(draw, given, 16)) return std::nullopt;
  make_constants(draw, given);
  put_before(draw, given);
  Making m(seed, given);
  return extended(m, draw.between(2, 8));
}

}  // namespace

std::optional<Generated> mutated_model(std::uint64_t seed) {
  if (corpus_names().empty()) return std::nullopt;
  Draw draw(seed ^ 0xabcdef);
  for (int tries = 0; tries < 20; ++tries) try {
      if (auto made = changed(draw, seed)) return made;
    } catch (const std::exception&) {  // of ONNX's tests some cannot be imported
    }
  return std::nullopt;
}

}  // namespace sdip::generate
