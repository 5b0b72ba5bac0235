// A classifier on integers, written as onnxruntime's own quantiser does: QLinearConv with the norm folded in and
// the activation in the range of its result.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "tests/agree/models.h"
#include "tests/core/onnx/evaluated.h"

namespace sdip::agree {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

struct Range {
  double least = 0, most = 0;
};

/// Scale and zero point of a tensor of uint8.
struct Codes {
  float scale = 1;
  int zero = 0;
};

class Quantiser {
 public:
  Quantiser(const onnx::ModelProto& model, const Tensor& input) : model_(model) {
    for (const auto& tensor : model.graph().initializer()) tensors_[tensor.name()] = &tensor;
    for (const auto& node : model.graph().node()) {
      if (node.op_type() == "Constant") tensors_[node.output(0)] = &node.attribute(0).t();
      for (const auto& name : node.input()) readers_[name].push_back(&node);
    }
    calibrate(input);
    out_ = empty_model(17);
  }

  onnx::ModelProto run() {
    const auto& graph = model_.graph();
    *out_.mutable_graph()->add_input() = graph.input(0);
    const std::string& x = graph.input(0).name();
    quantise(x, codes(x));
    for (const auto& node : graph.node()) {
      if (done_.contains(&node)) continue;
      const std::string& op = node.op_type();
      if (op == "Conv")
        convolve(node);
      else if (op == "Add")
        add(node);
      else if (op == "MaxPool")
        keep(node);
      else if (op == "GlobalAveragePool")
        average(node);
      else if (op == "Gemm")
        multiply(node);
      else if (op != "Flatten" && op != "Constant")
        throw Error("unsupported", node.name(), op + " on integers");
    }
    return std::move(out_);
  }

 private:
  /// The range of every value, from one run of the model as it is.
  void calibrate(const Tensor& input) {
    const std::string bytes = model_.SerializeAsString();
    Graph graph = import_bytes(bytes);
    graph.outputs.clear();
    for (std::size_t v = 0; v < graph.values.size(); ++v)
      if (graph.values[v].kind != ValueKind::weight) graph.outputs.push_back(static_cast<ValueId>(v));
    const std::vector<Tensor> inputs{input}, all = compute(graph, inputs, stored_tensors(bytes));
    for (std::size_t i = 0; i < all.size(); ++i) {
      Range& range = ranges_[graph.values[static_cast<std::size_t>(graph.outputs[i])].name];
      for (const double x : all[i].floats) range = {std::min(range.least, x), std::max(range.most, x)};
    }
  }

  Codes codes(const std::string& value) const {
    const Range& range = ranges_.at(value);
    const auto scale = static_cast<float>(std::max(range.most - range.least, 1e-6) / 255);
    return {scale, static_cast<int>(std::nearbyint(-range.least / static_cast<double>(scale)))};
  }

  const NodeProto* only_reader(const std::string& value, std::initializer_list<std::string_view> ops) const {
    const auto found = readers_.find(value);
    if (found == readers_.end() || found->second.size() != 1) return nullptr;
    const NodeProto* node = found->second[0];
    return std::ranges::count(ops, node->op_type()) != 0 ? node : nullptr;
  }

  TensorProto& constant(const std::string& name, int type, const Shape& shape) {
    TensorProto& tensor = *out_.mutable_graph()->add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(type);
    for (const std::int64_t size : shape) tensor.add_dims(size);
    return tensor;
  }

  void say(const std::string& value, Codes of) {
    codes_[value] = of;
    constant(value + "_scale", TensorProto::FLOAT, {}).add_float_data(of.scale);
    constant(value + "_zero", TensorProto::UINT8, {}).add_int32_data(of.zero);
  }

  void quantise(const std::string& value, Codes of) {
    say(value, of);
    add_node(out_, "QuantizeLinear", {value, value + "_scale", value + "_zero"}, value + "_codes");
  }

  std::string dequantised(const std::string& value, const std::string& reader) {
    const std::string name = value + "_in_" + reader;
    add_node(out_, "DequantizeLinear", {value + "_codes", value + "_scale", value + "_zero"}, name);
    return name;
  }

  /// What the convolution's result becomes: behind its norm and its activation.
  void convolve(const NodeProto& node) {
    std::vector<float> weights = floats_of(*tensors_.at(node.input(1)));
    const auto channels = static_cast<std::size_t>(tensors_.at(node.input(1))->dims(0));
    std::vector<double> bias(channels, 0.0);
    std::string result = node.output(0);
    if (const NodeProto* norm = only_reader(result, {"BatchNormalization"})) {
      fold(*norm, weights, bias);
      result = norm->output(0);
      done_.insert(norm);
    }
    if (const NodeProto* activation = only_reader(result, {"Relu", "Clip"})) {
      result = activation->output(0);  // uint8 from 0 on, or from 0 to 6, cuts as they do
      done_.insert(activation);
    }
    const std::string& x = node.input(0);
    say(result, codes(result));
    const float scale = put_weights(node.output(0), weights, *tensors_.at(node.input(1)));
    TensorProto& sums =
        constant(node.output(0) + "_bias", TensorProto::INT32, {static_cast<std::int64_t>(channels)});
    const double unit = static_cast<double>(codes_.at(x).scale) * static_cast<double>(scale);
    for (const double b : bias) sums.add_int32_data(static_cast<std::int32_t>(std::nearbyint(b / unit)));
    const std::string w = node.output(0) + "_weight";
    NodeProto& product = add_node(out_, "QLinearConv",
                                  {x + "_codes", x + "_scale", x + "_zero", w, w + "_scale", w + "_zero",
                                   result + "_scale", result + "_zero", node.output(0) + "_bias"},
                                  result + "_codes");
    *product.mutable_attribute() = node.attribute();
  }

  void fold(const NodeProto& norm, std::vector<float>& weights, std::vector<double>& bias) const {
    const auto vector = [&](int i) { return floats_of(*tensors_.at(norm.input(i))); };
    const std::vector<float> gamma = vector(1), beta = vector(2), mean = vector(3), variance = vector(4);
    double epsilon = 1e-5;
    for (const auto& attribute : norm.attribute())
      if (attribute.name() == "epsilon") epsilon = static_cast<double>(attribute.f());
    const std::size_t each = weights.size() / bias.size();
    for (std::size_t c = 0; c < bias.size(); ++c) {
      const double factor = static_cast<double>(gamma[c]) / std::sqrt(static_cast<double>(variance[c]) + epsilon);
      for (std::size_t i = c * each; i < (c + 1) * each; ++i)
        weights[i] = static_cast<float>(static_cast<double>(weights[i]) * factor);
      bias[c] = static_cast<double>(beta[c]) - static_cast<double>(mean[c]) * factor;
    }
  }

  /// int8, one scale.
  float put_weights(const std::string& of, const std::vector<float>& weights, const TensorProto& shaped) {
    float most = 0;
    for (const float w : weights) most = std::max(most, std::fabs(w));
    const float scale = most / 127;
    TensorProto& codes = constant(of + "_weight", TensorProto::INT8, {shaped.dims().begin(), shaped.dims().end()});
    std::string raw;
    for (const float w : weights)
      raw.push_back(static_cast<char>(static_cast<std::int8_t>(std::nearbyint(w / scale))));
    codes.set_raw_data(raw);
    constant(of + "_weight_scale", TensorProto::FLOAT, {}).add_float_data(scale);
    constant(of + "_weight_zero", TensorProto::INT8, {}).add_int32_data(0);
    return scale;
  }

  void add(const NodeProto& node) {
    const std::string sum = node.output(0), a = dequantised(node.input(0), sum + "_a"),
                      b = dequantised(node.input(1), sum + "_b");
    add_node(out_, "Add", {a, b}, sum);
    std::string result = sum;
    if (const NodeProto* relu = only_reader(sum, {"Relu"})) {
      result = relu->output(0);
      add_node(out_, "Relu", {sum}, result);
      done_.insert(relu);
    }
    quantise(result, codes(result));
  }

  /// Passes codes on as it does numbers.
  void keep(const NodeProto& node) {
    say(node.output(0), codes_.at(node.input(0)));
    *add_node(out_, node.op_type(), {node.input(0) + "_codes"}, node.output(0) + "_codes").mutable_attribute() =
        node.attribute();
  }

  /// The mean of codes: their sum as an integer, times a scale, as codes.
  void average(const NodeProto& node) {
    const std::string &x = node.input(0), mean = node.output(0);
    set_int(add_node(out_, "Cast", {x + "_codes"}, x + "_wide"), "to", TensorProto::INT32);
    TensorProto& axes = constant(mean + "_axes", TensorProto::INT64, {2});
    axes.add_int64_data(2);
    axes.add_int64_data(3);
    set_int(add_node(out_, "ReduceSum", {x + "_wide", mean + "_axes"}, mean + "_sum"), "keepdims", 0);
    set_int(add_node(out_, "Cast", {mean + "_sum"}, mean), "to", TensorProto::FLOAT);
    quantise(mean, {7.0F, 0});  // sums of a few codes of 0 to 255 as codes again
  }

  /// x W^T + b as int32 sums; of the averages' flattened codes.
  void multiply(const NodeProto& node) {
    const std::string x = flattened(node.input(0));
    const TensorProto& weight = *tensors_.at(node.input(1));
    put_weights(node.output(0), floats_of(weight), weight);
    const std::string name = node.output(0), turned = name + "_turned";
    set_ints(add_node(out_, "Transpose", {name + "_weight"}, turned), "perm", {1, 0});
    TensorProto& bias = constant(name + "_bias", TensorProto::INT32, {weight.dims(0)});
    for (const float b : floats_of(*tensors_.at(node.input(2))))
      bias.add_int32_data(static_cast<std::int32_t>(std::nearbyint(b * 1000)));
    add_node(out_, "MatMulInteger", {x + "_codes", turned, x + "_zero"}, name + "_sum");
    add_node(out_, "Add", {name + "_sum", name + "_bias"}, name);
    add_output(out_, name);
    out_.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
        TensorProto::INT32);
  }

  std::string flattened(const std::string& value) const {
    for (const auto& node : model_.graph().node())
      if (node.op_type() == "Flatten" && node.output(0) == value) return node.input(0);
    return value;
  }

  const onnx::ModelProto& model_;
  onnx::ModelProto out_;
  std::map<std::string, const TensorProto*> tensors_;
  std::map<std::string, std::vector<const NodeProto*>> readers_;
  std::map<std::string, Range> ranges_;
  std::map<std::string, Codes> codes_;
  std::set<const NodeProto*> done_;
};

}  // namespace

onnx::ModelProto quantised(const onnx::ModelProto& model, const Tensor& input) {
  return Quantiser(model, input).run();
}

}  // namespace sdip::agree
