// Random weights with a seed: from a counter, so that any tensor can be made without those before it.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/base/words.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

/// Values uniform in centre - radius .. centre + radius.
struct Fill {
  float centre;
  float radius;
};

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the counter reaches every bit of the result.
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// FNV-1a of the tensor's name, stirred with the seed.
std::uint64_t stream_of(std::string_view name, std::uint64_t seed) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return mixed(hash ^ mixed(seed + 0x9e3779b97f4a7c15U));
}

/// The 24 high bits of a word as a number from -1 to 1, exact in fp32.
float unit(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-23F - 1.0F; }

[[noreturn]] void refuse(const std::string& where, const std::string& why) {
  throw Error("not_a_built_in_model", where,
              why + "; random weights are made for the ONNX of a built-in model only");
}

std::int64_t count_of(const onnx::TensorProto& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t extent : tensor.dims()) {
    if (extent <= 0 || extent > (std::int64_t{1} << 40) / count)
      refuse(tensor.name(), "its extents are not usable");
    count *= extent;
  }
  return count;
}

Fill spread_over(std::int64_t fan_in) {
  return {0.0F, static_cast<float>(1.0 / std::sqrt(static_cast<double>(fan_in)))};
}

/// PyTorch's default for layers with weights, uniform within 1/sqrt(fan in); tables small; norms near the identity,
/// yet unlike each other, so that a swapped operand shows in the result.
Fill fill_for(const Shape& shape, std::int64_t count, std::string_view op, std::size_t operand) {
  const bool one_a_channel = shape.size() == 1 || (shape.size() == 3 && shape[1] == 1);
  if (op == "LayerNormalization") return operand == 1 ? Fill{1.0F, 0.1F} : Fill{0.0F, 0.1F};
  if (op == "BatchNormalization") return operand == 1 || operand == 4 ? Fill{1.0F, 0.1F} : Fill{0.0F, 0.1F};
  if (op == "Mul" && one_a_channel) return {1.0F, 0.1F};
  if (op == "Conv" && operand == 1) return spread_over(count / shape[0]);
  if (op == "Gemm" && operand == 1) return spread_over(shape[1]);
  if (op == "MatMul" && operand == 1) return spread_over(shape[0]);
  if (one_a_channel) return spread_over(shape[0]);
  return {0.0F, 0.03F};  // tables of embeddings: about the spread of CLIP's own, standard deviation 0.02
}

void stream_tensor(std::uint64_t stream, std::int64_t count, Fill fill,
                   const std::function<void(std::span<const std::byte>)>& sink) {
  constexpr std::int64_t piece = 1 << 16;
  std::vector<float> values(as_size(std::min(piece, count + 1)));
  for (std::int64_t start = 0; start < count; start += piece) {
    const std::int64_t length = std::min(piece, count - start);
    for (std::int64_t i = 0; i < length; i += 2) {
      const std::uint64_t word = mixed(stream + static_cast<std::uint64_t>(start + i) * 0x9e3779b97f4a7c15U);
      const auto at = as_size(i);
      values[at] = fill.centre + fill.radius * unit(static_cast<std::uint32_t>(word >> 32));
      if (i + 1 < length) values[at + 1] = fill.centre + fill.radius * unit(static_cast<std::uint32_t>(word));
    }
    sink(std::as_bytes(std::span(values).first(as_size(length))));
  }
}

struct Reader {
  const onnx::NodeProto* node;
  int operand;
};

std::unordered_map<std::string_view, Reader> first_readers(const onnx::GraphProto& graph) {
  std::unordered_map<std::string_view, Reader> readers;
  for (const onnx::NodeProto& node : graph.node()) {
    for (int i = 0; i < node.input_size(); ++i) readers.try_emplace(node.input(i), Reader{&node, i});
  }
  return readers;
}

std::int64_t external_number(const onnx::TensorProto& tensor, std::string_view key) {
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    const auto number = entry.key() == key ? whole_number(entry.value()) : std::nullopt;
    if (number) return *number;
  }
  refuse(tensor.name(), fmt::format("its external data has no number \"{}\"", key));
}

}  // namespace

void write_weights(std::string_view model, std::uint64_t seed,
                   const std::function<void(std::span<const std::byte>)>& sink) {
  onnx::ModelProto proto;
  if (model.size() > (1U << 30) || !proto.ParseFromArray(model.data(), static_cast<int>(model.size()))) {
    refuse("model", "the bytes are not ONNX");
  }
  const auto readers = first_readers(proto.graph());
  std::int64_t written_bytes = 0;
  for (const onnx::TensorProto& tensor : proto.graph().initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) continue;
    const std::int64_t count = count_of(tensor);
    const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(float));
    if (tensor.data_type() != onnx::TensorProto::FLOAT || external_number(tensor, "offset") != written_bytes ||
        external_number(tensor, "length") != bytes) {
      refuse(tensor.name(), "its external data is not the next packed fp32 of the weights file");
    }
    const auto reader = readers.find(tensor.name());
    if (reader == readers.end()) refuse(tensor.name(), "no node reads it");
    const Shape shape(tensor.dims().begin(), tensor.dims().end());
    const auto operand = as_size(reader->second.operand);
    stream_tensor(stream_of(tensor.name(), seed), count,
                  fill_for(shape, count, reader->second.node->op_type(), operand), sink);
    written_bytes += bytes;
  }
}

std::vector<float> random_weight(std::string_view name, const Shape& shape, std::string_view op,
                                 std::size_t operand, std::uint64_t seed) {
  const std::int64_t count = element_count(shape);
  std::vector<float> values;
  if (count == 0) return values;
  stream_tensor(stream_of(name, seed), count, fill_for(shape, count, op, operand),
                [&](std::span<const std::byte> piece) {
                  const std::size_t before = values.size();
                  values.resize(before + piece.size() / sizeof(float));
                  std::memcpy(values.data() + before, piece.data(), piece.size());
                });
  return values;
}

}  // namespace sdip
