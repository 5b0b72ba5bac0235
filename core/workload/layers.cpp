// Layers as chains of ONNX nodes.
#include "core/workload/layers.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/index.h"

namespace sdip::workload {
namespace {

Shape broadcast(const Shape& a, const Shape& b) {
  Shape shape = a.size() >= b.size() ? a : b;
  const Shape& other = a.size() >= b.size() ? b : a;
  for (std::size_t i = 0; i < other.size(); ++i) {
    std::int64_t& extent = shape[shape.size() - other.size() + i];
    check(extent == other[i] || extent == 1 || other[i] == 1, "shapes broadcast");
    extent = std::max(extent, other[i]);
  }
  return shape;
}

Value with_scalar(Draft& draft, std::string_view op, const Value& x, float scalar) {
  return node(draft, op, {x.name, float_scalar(draft, scalar)}, x.shape);
}

std::int64_t windows(std::int64_t extent, const ConvSizes& sizes) {
  return (extent + 2 * sizes.padding - sizes.kernel) / sizes.stride + 1;
}

}  // namespace

Value add(Draft& draft, const Value& a, const Value& b) {
  return node(draft, "Add", {a.name, b.name}, broadcast(a.shape, b.shape));
}

Value mul(Draft& draft, const Value& a, const Value& b) {
  return node(draft, "Mul", {a.name, b.name}, broadcast(a.shape, b.shape));
}

Value reshape(Draft& draft, const Value& x, Shape shape) {
  const std::string target = int64_constant(draft, shape);
  return node(draft, "Reshape", {x.name, target}, std::move(shape));
}

Value transpose(Draft& draft, const Value& x, const Shape& order) {
  Shape shape;
  shape.reserve(order.size());
  for (const std::int64_t axis : order) shape.push_back(x.shape[at(axis)]);
  return node(draft, "Transpose", {x.name}, std::move(shape), {{"perm", order}});
}

Value unsqueeze(Draft& draft, const Value& x, std::int64_t axis) {
  Shape shape = x.shape;
  shape.insert(shape.begin() + axis, 1);
  return node(draft, "Unsqueeze", {x.name, int64_constant(draft, {axis})}, std::move(shape));
}

Value concat(Draft& draft, const Value& a, const Value& b, std::int64_t axis) {
  Shape shape = a.shape;
  shape[at(axis)] += b.shape[at(axis)];
  return node(draft, "Concat", {a.name, b.name}, std::move(shape), {{"axis", axis}});
}

std::vector<Value> split(Draft& draft, const Value& x, std::int64_t axis, std::int64_t parts) {
  Shape shape = x.shape;
  std::int64_t& extent = shape[at(axis)];
  check(extent % parts == 0, "parts are equal");
  extent /= parts;
  const std::string sizes = int64_constant(draft, Shape(as_size(parts), extent));
  const std::vector<Shape> shapes(as_size(parts), shape);
  return node_with_outputs(draft, "Split", {x.name, sizes}, shapes, {{"axis", axis}});
}

Value conv(Draft& draft, std::string_view module, const Value& x, const ConvSizes& sizes) {
  const Module within(draft, module);
  check(x.shape.size() == 4 && x.shape[1] % sizes.groups == 0, "a convolution reads [B,C,H,W]");
  const std::string w =
      weight(draft, "weight", {sizes.channels, x.shape[1] / sizes.groups, sizes.kernel, sizes.kernel});
  Shape shape{x.shape[0], sizes.channels, windows(x.shape[2], sizes), windows(x.shape[3], sizes)};
  const std::int64_t p = sizes.padding;
  const Attributes attributes = {{"dilations", Shape{1, 1}},
                                 {"group", sizes.groups},
                                 {"kernel_shape", Shape{sizes.kernel, sizes.kernel}},
                                 {"pads", Shape{p, p, p, p}},
                                 {"strides", Shape{sizes.stride, sizes.stride}}};
  if (!sizes.bias) return node(draft, "Conv", {x.name, w}, std::move(shape), attributes);
  const std::string b = weight(draft, "bias", {sizes.channels});
  return node(draft, "Conv", {x.name, w, b}, std::move(shape), attributes);
}

Value linear(Draft& draft, std::string_view module, const Value& x, std::int64_t features, bool bias) {
  const Module within(draft, module);
  const std::int64_t depth = x.shape.back();
  Shape shape = x.shape;
  shape.back() = features;
  if (x.shape.size() == 2 && bias) {
    const std::string w = weight(draft, "weight", {features, depth});
    const std::string b = weight(draft, "bias", {features});
    return node(draft, "Gemm", {x.name, w, b}, std::move(shape),
                {{"alpha", 1.0F}, {"beta", 1.0F}, {"transB", std::int64_t{1}}});
  }
  const std::string w = weight(draft, "weight", {depth, features});
  Value y = node(draft, "MatMul", {x.name, w}, std::move(shape));
  if (!bias) return y;
  const std::string b = weight(draft, "bias", {features});
  return node(draft, "Add", {b, y.name}, std::move(y.shape));
}

Value embedding(Draft& draft, std::string_view module, const Value& indices, const Shape& table) {
  const Module within(draft, module);
  Shape shape = indices.shape;
  shape.push_back(table[1]);
  return node(draft, "Gather", {weight(draft, "weight", table), indices.name}, std::move(shape));
}

Value group_norm(Draft& draft, std::string_view module, const Value& x, std::int64_t groups, float epsilon) {
  const Module within(draft, module);
  const std::int64_t channels = x.shape[1];
  check(x.shape.size() == 4 && channels % groups == 0, "a group holds whole channels");
  const std::vector<float> ones(as_size(groups), 1.0F);
  const std::vector<float> zeros(as_size(groups), 0.0F);
  const Value grouped = reshape(draft, x, {x.shape[0], groups, channels / groups * x.shape[2] * x.shape[3]});
  const Value normal =
      node(draft, "InstanceNormalization",
           {grouped.name, float_constant(draft, {groups}, ones), float_constant(draft, {groups}, zeros)},
           grouped.shape, {{"epsilon", epsilon}});
  const Value whole = reshape(draft, normal, x.shape);
  const Value scaled = node(draft, "Mul", {whole.name, weight(draft, "weight", {channels, 1, 1})}, x.shape);
  return node(draft, "Add", {scaled.name, weight(draft, "bias", {channels, 1, 1})}, x.shape);
}

Value layer_norm(Draft& draft, std::string_view module, const Value& x, float epsilon) {
  const Module within(draft, module);
  const std::string gamma = weight(draft, "weight", {x.shape.back()});
  const std::string beta = weight(draft, "bias", {x.shape.back()});
  return node(draft, "LayerNormalization", {x.name, gamma, beta}, x.shape,
              {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}});
}

Value batch_norm(Draft& draft, std::string_view module, const Value& x) {
  const Module within(draft, module);
  const Shape shape{x.shape[1]};
  const std::string gamma = weight(draft, "weight", shape);
  const std::string beta = weight(draft, "bias", shape);
  const std::string mean = weight(draft, "running_mean", shape);
  const std::string variance = weight(draft, "running_var", shape);
  return node(draft, "BatchNormalization", {x.name, gamma, beta, mean, variance}, x.shape,
              {{"epsilon", 1e-5F}, {"momentum", 0.9F}});
}

Value silu(Draft& draft, std::string_view module, const Value& x) {
  const Module within(draft, module);
  return mul(draft, x, node(draft, "Sigmoid", {x.name}, x.shape));
}

Value quick_gelu(Draft& draft, std::string_view module, const Value& x) {
  const Module within(draft, module);
  const Value steep = with_scalar(draft, "Mul", x, 1.702F);
  return mul(draft, x, node(draft, "Sigmoid", {steep.name}, x.shape));
}

Value gelu(Draft& draft, const Value& x) {
  const Value scaled = with_scalar(draft, "Div", x, 1.41421356F);
  const Value erf = node(draft, "Erf", {scaled.name}, x.shape);
  const Value product = mul(draft, x, with_scalar(draft, "Add", erf, 1.0F));
  return with_scalar(draft, "Mul", product, 0.5F);
}

Value gelu_tanh(Draft& draft, const Value& x) {
  const Value half = with_scalar(draft, "Mul", x, 0.5F);
  const Value cube = mul(draft, mul(draft, x, x), x);
  const Value inner = add(draft, x, with_scalar(draft, "Mul", cube, 0.044715F));
  const Value scaled = with_scalar(draft, "Mul", inner, 0.79788456F);  // sqrt(2 / pi)
  const Value tanh = node(draft, "Tanh", {scaled.name}, x.shape);
  return mul(draft, half, with_scalar(draft, "Add", tanh, 1.0F));
}

Value attention(Draft& draft, const Value& q, const Value& k, const Value& v, std::int64_t heads, ScoreScale scale,
                const Value* mask) {
  if (heads == 1) {
    const Value turned = transpose(draft, k, {0, 2, 1});
    return attention_by_head(draft, q, turned, v, scale, mask);
  }
  const std::int64_t batch = q.shape[0], rows = q.shape[1], width = q.shape[2], keys = k.shape[1];
  check(width % heads == 0, "a head holds whole channels");
  const std::int64_t depth = width / heads;
  const Value q_heads = transpose(draft, reshape(draft, q, {batch, rows, heads, depth}), {0, 2, 1, 3});
  const Value k_heads = transpose(draft, reshape(draft, k, {batch, keys, heads, depth}), {0, 2, 3, 1});
  const Value v_heads = transpose(draft, reshape(draft, v, {batch, keys, heads, depth}), {0, 2, 1, 3});
  const Value mixed = attention_by_head(draft, q_heads, k_heads, v_heads, scale, mask);
  return reshape(draft, transpose(draft, mixed, {0, 2, 1, 3}), {batch, rows, width});
}

Value attention_by_head(Draft& draft, const Value& q, const Value& k, const Value& v, ScoreScale scale,
                        const Value* mask) {
  Shape shape = q.shape;
  shape.back() = k.shape.back();
  const Value products = node(draft, "MatMul", {q.name, k.name}, std::move(shape));
  const double root = std::sqrt(static_cast<double>(q.shape.back()));
  Value scores = scale == ScoreScale::divide ? with_scalar(draft, "Div", products, static_cast<float>(root))
                                             : with_scalar(draft, "Mul", products, static_cast<float>(1.0 / root));
  if (mask != nullptr) scores = add(draft, scores, *mask);
  const Value shares = node(draft, "Softmax", {scores.name}, scores.shape, {{"axis", std::int64_t{-1}}});
  return node(draft, "MatMul", {shares.name, v.name}, q.shape);
}

Value sinusoids(Draft& draft, const Value& x, std::int64_t rows, std::int64_t half) {
  // One row of frequencies for each row of the result: a scalar timestep then needs no Expand to the batch.
  const std::int64_t table_rows = x.shape.size() == 1 ? rows : 1;
  std::vector<float> frequencies;
  frequencies.reserve(as_size(table_rows * half));
  for (std::int64_t i = 0; i < table_rows * half; ++i) {
    const double exponent = static_cast<double>(i % half) / static_cast<double>(half);
    frequencies.push_back(static_cast<float>(std::exp(-std::log(10000.0) * exponent)));
  }
  const std::string table = float_constant(draft, {table_rows, half}, frequencies);
  const Value angles = node(draft, "Mul", {x.name, table}, {rows, half});
  const Value cosines = node(draft, "Cos", {angles.name}, angles.shape);
  const Value sines = node(draft, "Sin", {angles.name}, angles.shape);
  return concat(draft, cosines, sines, 1);
}

}  // namespace sdip::workload
