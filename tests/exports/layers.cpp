// Layers of networks as exporters take them apart.
#include "tests/exports/layers.h"

#include <cmath>

namespace sdip::exports {

using enum ElementType;

Name linear(Writer& t, const Name& x, std::int64_t in, std::int64_t out, bool bias) {
  const double most = 1 / std::sqrt(static_cast<double>(in));
  const Name y = t("MatMul", {x, t.weight({in, out}, most)});
  if (!bias) return y;
  const Name b = t.weight({out}, most);
  return t.manner == Manner::torchscript ? t("Add", {b, y}) : t("Add", {y, b});
}

Name gemm(Writer& t, const Name& x, std::int64_t in, std::int64_t out) {
  const double most = 1 / std::sqrt(static_cast<double>(in));
  return t("Gemm", {x, t.weight({out, in}, most), t.weight({out}, most)},
           {{"alpha", 1.0}, {"beta", 1.0}, {"transB", 1}});
}

Name layer_norm(Writer& t, const Name& x, std::int64_t channels, bool affine, double epsilon) {
  if (t.opset >= 17) {
    const Name scale = affine ? t.weight_in({channels}, {0.5, 1.5})
                              : t.tensor({channels}, std::vector<double>(static_cast<std::size_t>(channels), 1));
    Names inputs{x, scale};
    if (affine) inputs.push_back(t.weight({channels}));
    return t("LayerNormalization", inputs, {{"axis", -1}, {"epsilon", epsilon}});
  }
  const Name centred = t("Sub", {x, t.reduce("ReduceMean", x, {-1})});
  const Name squares = t("Pow", {centred, t.number(2)});
  const Name variance = t.reduce("ReduceMean", squares, {-1});
  const Name y = t("Div", {centred, t("Sqrt", {t("Add", {variance, t.number(epsilon)})})});
  if (!affine) return y;
  return t("Add", {t("Mul", {y, t.weight_in({channels}, {0.5, 1.5})}), t.weight({channels})});
}

Name rms_norm(Writer& t, const Name& x, std::int64_t channels, bool plus_one) {
  const Name wide = t.manner == Manner::torchscript ? t.cast(x, float32) : x;
  const Name variance = t.reduce("ReduceMean", t("Pow", {wide, t.number(2)}), {-1});
  const Name root = t("Sqrt", {t("Add", {variance, t.number(1e-6)})});
  Name y;
  if (t.manner == Manner::dynamo)
    y = t("Mul", {wide, t("Reciprocal", {root})});
  else
    y = t("Mul", {wide, t("Div", {t.number(1), root})});
  const Name weight = t.weight_in({channels}, {0.5, 1.5});
  if (plus_one) return t("Mul", {y, t("Add", {weight, t.number(1)})});
  return t("Mul", {weight, t.manner == Manner::torchscript ? t.cast(y, float32) : y});
}

Name gelu(Writer& t, const Name& x) {
  if (t.opset >= 20) return t("Gelu", {x}, {{"approximate", "none"}});
  const Name erf = t("Erf", {t("Div", {x, t.number(1.4142135381698608)})});
  return t("Mul", {t("Mul", {x, t("Add", {erf, t.number(1)})}), t.number(0.5)});
}

Name gelu_tanh(Writer& t, const Name& x) {
  if (t.opset >= 20) return t("Gelu", {x}, {{"approximate", "tanh"}});
  const Name cube = t("Mul", {t.number(0.044715), t("Pow", {x, t.number(3)})});
  const Name inner = t("Mul", {t.number(0.7978845608028654), t("Add", {x, cube})});
  return t("Mul", {t("Mul", {t.number(0.5), x}), t("Add", {t.number(1), t("Tanh", {inner})})});
}

Name silu(Writer& t, const Name& x) { return t("Mul", {x, t("Sigmoid", {x})}); }

Name hard_swish(Writer& t, const Name& x) {
  if (t.opset >= 14) return t("HardSwish", {x});
  return t("Mul", {x, t("HardSigmoid", {x}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})});
}

Name group_norm(Writer& t, const Name& x, std::int64_t groups, std::int64_t channels) {
  const auto ones = [](std::int64_t n, double value) {
    return std::vector<double>(static_cast<std::size_t>(n), value);
  };
  const Name scale = t.tensor({groups}, ones(groups, 1)), bias = t.tensor({groups}, ones(groups, 0));
  const Name sizes = t("Shape", {x});
  const Name parts = t("Reshape", {x, t.list({0, groups, -1})});
  const Name normed = t("InstanceNormalization", {parts, scale, bias}, {{"epsilon", 1e-5}});
  const Name back = t("Reshape", {normed, sizes});
  return t("Add", {t("Mul", {back, t.weight_in({channels, 1, 1}, {0.5, 1.5})}), t.weight({channels, 1, 1})});
}

Name batch_norm(Writer& t, const Name& x, std::int64_t channels) {
  return t("BatchNormalization",
           {x, t.weight_in({channels}, {0.5, 1.5}), t.weight({channels}), t.weight({channels}),
            t.weight_in({channels}, {0.5, 1.5})},
           {{"epsilon", 1e-5}, {"momentum", 0.9}});
}

namespace {

Name windowed(Writer& t, const Name& x, std::int64_t in, std::int64_t out, const Window& w,
              std::size_t dimensions) {
  Shape shape{out, in / w.groups};
  shape.insert(shape.end(), dimensions, w.kernel);
  const double fan = static_cast<double>(element_count(shape) / out);
  Names inputs{x, t.weight(shape, 1 / std::sqrt(fan))};
  if (w.bias) inputs.push_back(t.weight({out}, 1 / std::sqrt(fan)));
  return t("Conv", inputs,
           {{"dilations", Ints(dimensions, w.dilation)},
            {"group", w.groups},
            {"kernel_shape", Ints(dimensions, w.kernel)},
            {"pads", Ints(2 * dimensions, w.pad)},
            {"strides", Ints(dimensions, w.stride)}});
}

}  // namespace

Name conv(Writer& t, const Name& x, std::int64_t in, std::int64_t out, const Window& w) {
  return windowed(t, x, in, out, w, 2);
}

Name conv1d(Writer& t, const Name& x, std::int64_t in, std::int64_t out, const Window& w) {
  return windowed(t, x, in, out, w, 1);
}

Name split_heads(Writer& t, const Name& x, const Part& batch, const Part& tokens, std::int64_t heads,
                 std::int64_t width) {
  return t.transpose(t.reshape(x, {batch, tokens, heads, width}), {0, 2, 1, 3});
}

Name join_heads(Writer& t, const Name& x, const Part& batch, const Part& tokens, std::int64_t channels) {
  return t.reshape(t.transpose(x, {0, 2, 1, 3}), {batch, tokens, channels});
}

Name attention(Writer& t, const Name& q, const Name& k, const Name& v, std::int64_t width, const Name& mask) {
  Name scores;
  const Name turned = t.transpose(k, {0, 1, 3, 2});
  if (t.manner == Manner::torchscript && t.opset >= 14) {  // the scale from the shape, its root on both sides
    const Name shape = t("Shape", {q});
    const Name last = t("Slice", {shape, t.list({-1}), t.list({9223372036854775807})});
    const Name root = t("Sqrt", {t.cast(last, float32)});
    const Name scale = t("Sqrt", {t("Div", {t.tensor({1}, {1}), t.cast(root, float32)})});
    scores = t("MatMul", {t("Mul", {q, scale}), t("Mul", {turned, scale})});
  } else if (t.manner == Manner::torchscript) {
    scores = t("Div", {t("MatMul", {q, turned}), t.number(std::sqrt(static_cast<double>(width)))});
  } else {
    const double scale = 1 / std::sqrt(std::sqrt(static_cast<double>(width)));
    scores = t("MatMul", {t("Mul", {q, t.number(scale)}), t("Mul", {turned, t.number(scale)})});
  }
  if (!mask.empty()) scores = t("Add", {scores, mask});
  return t("MatMul", {t("Softmax", {scores}, {{"axis", -1}}), v});
}

Name self_attention(Writer& t, const Name& x, std::int64_t channels, std::int64_t heads, const Name& mask) {
  const Name batch = t.size(x, 0), tokens = t.size(x, 1);
  const std::int64_t width = channels / heads;
  const Name q = split_heads(t, linear(t, x, channels, channels), batch, tokens, heads, width);
  const Name k = split_heads(t, linear(t, x, channels, channels), batch, tokens, heads, width);
  const Name v = split_heads(t, linear(t, x, channels, channels), batch, tokens, heads, width);
  return linear(t, join_heads(t, attention(t, q, k, v, width, mask), batch, tokens, channels), channels, channels);
}

Name mlp(Writer& t, const Name& x, std::int64_t channels, std::int64_t hidden) {
  return linear(t, gelu(t, linear(t, x, channels, hidden)), hidden, channels);
}

std::pair<Name, Name> rotary(Writer& t, const Name& positions, std::int64_t width) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < width / 2; ++i)
    frequencies.push_back(std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width)));
  const Name inverse = t.tensor({1, width / 2, 1}, frequencies);
  const Name wide = t.expand(inverse, {t.size(positions, 0), width / 2, 1});
  const Name row = t.cast(t.unsqueeze(positions, {1}), float32);
  const Name angles = t.transpose(t("MatMul", {t.cast(wide, float32), row}), {0, 2, 1});
  const Name both = t.concat({angles, angles}, -1);
  const Name one = t.number(1);
  return {t.unsqueeze(t("Mul", {t("Cos", {both}), one}), {1}), t.unsqueeze(t("Mul", {t("Sin", {both}), one}), {1})};
}

Name rotated(Writer& t, const Name& x, const std::pair<Name, Name>& rotary, std::int64_t width) {
  const Name first = t.slice(x, 3, 0, width / 2), second = t.slice(x, 3, width / 2, 9223372036854775807);
  const Name turned = t.concat({t("Neg", {second}), first}, -1);
  return t("Add", {t("Mul", {x, rotary.first}), t("Mul", {turned, rotary.second})});
}

Name causal_mask(Writer& t, const Name& tokens, const Name& keys, ElementType type) {
  const double least = type == float16 ? -65504 : -3.4028234663852886e38;
  const Name filled = t("ConstantOfShape", {t.shape({tokens, keys})},
                        {{"value", generate::proto_of(
                                       [&] {
                                         Tensor one = zero_tensor(type, {1});
                                         one.floats[0] = least;
                                         return one;
                                       }(),
                                       "", true)}});
  const Name past = t("Sub", {keys, tokens});
  const Name above = t("Trilu", {filled, t("Add", {past, t.whole(1)})}, {{"upper", 1}});
  return t.unsqueeze(t.unsqueeze(above, {0}), {1});
}

}  // namespace sdip::exports
