// Weights in other files: what a model says of where they lie.
#include "core/onnx/external.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/onnx/raw.h"
#include "core/onnx/tensor.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

struct Range {
  WeightBytes bytes;  // with their length
  const onnx::TensorProto* tensor;
};

struct Search {
  const ImportOptions& options;
  std::vector<Range> ranges;
};

void note(Search& search, const onnx::TensorProto& tensor) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  const ReadTensor read = read_tensor(tensor, "tensor '" + tensor.name() + "'", search.options);
  Range range{read.bytes, &tensor};
  range.bytes.length = stored_bytes(read.operand.type, read.operand.shape);
  search.ranges.push_back(std::move(range));
}

void note_graph(Search& search, const onnx::GraphProto& graph);

void note_nodes(Search& search, const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (const auto& node : nodes) {
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_t()) note(search, attribute.t());
      if (attribute.has_g()) note_graph(search, attribute.g());
    }
  }
}

void note_graph(Search& search, const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) note(search, tensor);
  note_nodes(search, graph.node());
}

std::int64_t number_of(const std::string& text, const std::string& what) {
  const std::int64_t number = whole_number(text).value_or(-1);
  if (number < 0) {
    throw Error("invalid_graph", "",
                what + ": external data at '" + text.substr(0, 40) + "', expected a number from 0 on");
  }
  return number;
}

}  // namespace

WeightBytes external_bytes(const onnx::TensorProto& tensor, const std::string& what, std::int64_t bytes) {
  WeightBytes found;
  bool location = false, offset = false, length = false;
  const auto once = [&](bool& seen, const std::string& key) {
    if (seen) throw Error("invalid_graph", "", what + ": its external data have two of '" + key + "'");
    seen = true;
  };
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") once(location, entry.key()), found.file = entry.value();
    if (entry.key() == "offset") once(offset, entry.key()), found.offset = number_of(entry.value(), what);
    if (entry.key() == "length") once(length, entry.key()), found.length = number_of(entry.value(), what);
  }
  if (found.file.empty()) throw Error("invalid_graph", "", what + ": its external data have no location");
  if (length && found.length != bytes) {
    throw Error(
        "invalid_graph", "",
        fmt::format("{}: has {} bytes of external data, but its shape needs {}", what, found.length, bytes));
  }
  if (found.offset > std::numeric_limits<std::int64_t>::max() - bytes) {
    throw Error("invalid_graph", "", what + ": its external data end beyond 2^63");
  }
  return found;
}

void check_external(const onnx::ModelProto& model, const ImportOptions& options) {
  Search search{options, {}};
  note_graph(search, model.graph());
  for (const auto& function : model.functions()) note_nodes(search, function.node());
  const auto key = [](const Range& range) {
    return std::tie(range.bytes.file, range.bytes.offset, range.bytes.length);
  };
  std::sort(search.ranges.begin(), search.ranges.end(),
            [&](const Range& a, const Range& b) { return key(a) < key(b); });
  const Range* furthest = nullptr;  // of those so far, the one that ends last
  for (const Range& range : search.ranges) {
    if (range.bytes.length == 0) continue;
    const bool beside = furthest == nullptr || furthest->bytes.file != range.bytes.file ||
                        furthest->bytes.offset + furthest->bytes.length <= range.bytes.offset;
    if (!beside && key(*furthest) != key(range)) {
      throw Error("invalid_graph", "",
                  fmt::format("the external data of tensors '{}' and '{}' overlap", furthest->tensor->name(),
                              range.tensor->name()));
    }
    furthest = &range;
  }
}

}  // namespace sdip
