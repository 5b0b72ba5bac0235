// The table of exported graphs.
#include "tests/exports/book.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

namespace sdip::exports {
namespace {

/// Those that are also there in 16 bits, as converters make them of a graph in 32.
const std::set<std::string_view> in_half = {
    "llama-op14-torchscript",
    "gemma-op21-dynamo",
    "bert-op17-ort",
    "vit-op20-dynamo",
    "convnext-op18-dynamo",
    "unet-op14",
    "flux-op17",
    "conformer-op14",
    "lstm-op17",
    "whisper-encoder-op14",
    "swin-op17",
    "raft-op16",
    "tf-unet-op15",
    "gnn-op18-dynamo",
    "encoder-optimised-op17",
};

void halve(onnx::TensorProto& proto) {
  if (proto.data_type() != onnx::TensorProto::FLOAT) return;
  Tensor tensor = zero_tensor(ElementType::float16, {proto.dims().begin(), proto.dims().end()});
  for (std::size_t i = 0; i < tensor.floats.size(); ++i) {
    float x = 0;
    if (proto.has_raw_data())
      std::memcpy(&x, proto.raw_data().data() + 4 * i, 4);
    else
      x = proto.float_data(static_cast<int>(i));
    if (x != 0 && std::fabs(x) < 6e-8F) x = 6e-8F;  // what a norm adds stays more than nothing
    tensor.floats[i] = rounded(ElementType::float16, std::clamp(x, -65504.0F, 65504.0F));
  }
  proto = generate::proto_of(tensor, proto.name(), true);
}

/// But for scales of Resize, which are float32 in every graph.
void halve(onnx::GraphProto& graph) {
  std::set<std::string> scales;
  for (const auto& node : graph.node())
    if (node.op_type() == "Resize" && node.input_size() > 2) scales.insert(node.input(2));
  for (auto& tensor : *graph.mutable_initializer())
    if (!scales.contains(tensor.name())) halve(tensor);
  for (auto* infos : {graph.mutable_input(), graph.mutable_output()})
    for (auto& info : *infos) {
      if (!info.has_type()) continue;
      auto* type = info.mutable_type()->mutable_tensor_type();
      if (type->elem_type() == onnx::TensorProto::FLOAT) type->set_elem_type(onnx::TensorProto::FLOAT16);
    }
  for (auto& node : *graph.mutable_node()) {
    if (node.op_type() == "ConstantOfShape" && node.attribute_size() == 0)
      *node.add_attribute() =
          generate::Given("value", generate::proto_of(zero_tensor(ElementType::float32, {1}), "", true)).proto;
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t() && !scales.contains(node.output(0))) halve(*attribute.mutable_t());
      if (attribute.has_g()) halve(*attribute.mutable_g());
      const bool type = attribute.name() == "to" || attribute.name() == "dtype";
      if (type && attribute.i() == onnx::TensorProto::FLOAT) attribute.set_i(onnx::TensorProto::FLOAT16);
    }
  }
}

}  // namespace

const std::vector<Export>& exports() {
  static const std::vector<Export> all = [] {
    std::vector<Export> rows;
    for (const auto part :
         {language_exports(), decoder_exports(), image_exports(), window_exports(), diffusion_exports(),
          sound_exports(), geometry_exports(), quantised_exports(), optimised_exports(), tensorflow_exports()})
      for (const Export& row : part) {
        rows.push_back(row);
        if (!in_half.contains(row.name)) continue;
        rows.push_back(row);
        rows.back().half = true;
      }
    return rows;
  }();
  return all;
}

std::string name_of(const Export& row) { return std::string(row.name) + (row.half ? "-fp16" : ""); }

Generated made(const Export& row, std::uint64_t seed) {
  Writer writer(row.opset, row.manner, seed);
  row.write(writer);
  Generated given = writer.finish();
  if (row.half) halve(*given.model.mutable_graph());
  return given;
}

}  // namespace sdip::exports
