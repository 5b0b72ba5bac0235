// Classifiers and generators of images: ViT, CLIP, ConvNeXt, MobileNet, EfficientNet, ResNeXt, Mixer, GANs.
#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// Patches by a convolution, a class token expanded over the batch, positions added.
Name patches(Writer& t, const Name& image, std::int64_t channels, std::int64_t tokens) {
  const Name x = conv(t, image, 3, channels, {.kernel = 4, .stride = 4, .pad = 0});
  const Name shape = t("Shape", {x});
  const Name front = t("Slice", {shape, t.list({0}), t.list({2}), t.list({0})});
  const Name flat = t("Reshape", {x, t.concat({front, t.list({-1})}, 0)});
  const Name rows = t.transpose(flat, {0, 2, 1});
  const Name first = t.expand(t.weight({1, 1, channels}), {t.size(image, 0), 1, channels});
  return t("Add", {t.concat({first, rows}, 1), t.weight({1, tokens + 1, channels})});
}

Name encoder(Writer& t, Name x, std::int64_t channels, int layers, const Name& mask = "") {
  for (int layer = 0; layer < layers; ++layer) {
    x = t("Add", {x, self_attention(t, layer_norm(t, x, channels), channels, 2, mask)});
    x = t("Add", {x, mlp(t, layer_norm(t, x, channels), channels, 12)});
  }
  return x;
}

void write_vit(Writer& t) {
  t.dim("batch_size", {1, 2});
  const Name x = encoder(t, patches(t, t.input("pixel_values", {"batch_size", 3, 8, 8}), 8, 4), 8, 2);
  t.output(gemm(t, t("Gather", {layer_norm(t, x, 8), t.whole(0)}, {{"axis", 1}}), 8, 10));
}

Name normalised(Writer& t, const Name& x) {
  const Name norm = t.reduce("ReduceL2", x, {-1});
  return t("Div", {x, norm});
}

/// Image and text towers; the text's last token is where ids are largest.
void write_clip(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("text_batch", {1, 3});
  t.dim("image_batch", {1, 2});
  const Name pixels = t.input("pixel_values", {"image_batch", 3, 8, 8});
  Name image = layer_norm(t, patches(t, pixels, channels, 4), channels);
  image = encoder(t, image, channels, 1);
  image = layer_norm(t, t("Gather", {image, t.whole(0)}, {{"axis", 1}}), channels);
  image = normalised(t, linear(t, image, channels, 6, false));
  const Name ids = t.ids("input_ids", {"text_batch", 5}, 31);
  Name text = t("Add", {t("Gather", {t.weight({31, channels}), ids}), t.weight({1, 5, channels})});
  const Name five = t.whole(5);
  text = encoder(t, text, channels, 1, t.opset >= 14 ? causal_mask(t, five, five) : "");
  text = layer_norm(t, text, channels);
  const Name last = t("ArgMax", {t.cast(ids, int32)}, {{"axis", -1}, {"keepdims", 0}});
  const Name rows = t("Range", {t.whole(0), t.size(ids, 0), t.whole(1)});
  const Name places = t.concat({t.unsqueeze(rows, {1}), t.unsqueeze(last, {1})}, 1);
  text = normalised(t, linear(t, t("GatherND", {text, places}), channels, 6, false));
  const Name scale = t("Exp", {t.number(2.65)});
  const Name logits = t("Mul", {t("MatMul", {text, t.transpose(image, {1, 0})}), scale});
  t.output(logits);
  t.output(t.transpose(logits, {1, 0}));
  t.output(text);
  t.output(image);
}

/// Depthwise 7 x 7, then channels last: norm, linear, gelu, linear, scale by layer.
void write_convnext(Writer& t) {
  const Name image = t.input("x", {1, 3, 16, 16});
  Name x = conv(t, image, 3, 6, {.kernel = 4, .stride = 4, .pad = 0});
  x = t.transpose(layer_norm(t, t.transpose(x, {0, 2, 3, 1}), 6, true, 1e-6), {0, 3, 1, 2});
  for (int block = 0; block < 2; ++block) {
    Name y = t.transpose(conv(t, x, 6, 6, {.kernel = 7, .pad = 3, .groups = 6}), {0, 2, 3, 1});
    y = linear(t, gelu(t, linear(t, layer_norm(t, y, 6), 6, 24)), 24, 6);
    x = t("Add", {x, t.transpose(t("Mul", {t.weight({6}), y}), {0, 3, 1, 2})});
  }
  x = t("GlobalAveragePool", {x});
  t.output(gemm(
      t, t("Flatten", {t.transpose(layer_norm(t, t.transpose(x, {0, 2, 3, 1}), 6), {0, 3, 1, 2})}, {{"axis", 1}}),
      6, 5));
}

/// Squeeze and excitation: pooled, two products of 1 x 1, a gate.
Name excited(Writer& t, const Name& x, std::int64_t channels, bool hard) {
  const Name pooled = hard ? t.reduce("ReduceMean", x, {2, 3}) : t("GlobalAveragePool", {x});
  Name y = conv(t, pooled, channels, 2, {.kernel = 1, .pad = 0});
  y = conv(t, hard ? t("Relu", {y}) : silu(t, y), 2, channels, {.kernel = 1, .pad = 0});
  return t("Mul", {x, hard ? t("HardSigmoid", {y}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}) : t("Sigmoid", {y})});
}

void write_mobilenet(Writer& t) {
  t.dim("N", {1, 2});
  Name x = hard_swish(t, conv(t, t.input("input", {"N", 3, 12, 12}), 3, 4, {.stride = 2}));
  Name y = hard_swish(t, conv(t, x, 4, 12, {.kernel = 1, .pad = 0}));
  y = hard_swish(t, conv(t, y, 12, 12, {.kernel = 5, .pad = 2, .groups = 12}));
  x = t("Add", {conv(t, excited(t, y, 12, true), 12, 4, {.kernel = 1, .pad = 0}), x});
  y = t.clip(batch_norm(t, conv(t, x, 4, 8, {.kernel = 1, .pad = 0, .bias = false}), 8), 0, 6);
  y = t.clip(batch_norm(t, conv(t, y, 8, 8, {.stride = 2, .groups = 8, .bias = false}), 8), 0, 6);
  y = t("Flatten", {t("GlobalAveragePool", {y})}, {{"axis", 1}});
  t.output(gemm(t, hard_swish(t, gemm(t, y, 8, 10)), 10, 4));
}

void write_efficientnet(Writer& t) {
  Name x = silu(
      t, conv(t, t.pad(t.input("x", {1, 3, 11, 11}), {0, 0, 0, 0, 0, 0, 1, 1}), 3, 4, {.stride = 2, .pad = 0}));
  Name y = silu(t, conv(t, x, 4, 12, {.kernel = 1, .pad = 0}));
  y = silu(t, conv(t, y, 12, 12, {.kernel = 3, .groups = 12}));
  x = t("Add", {conv(t, excited(t, y, 12, false), 12, 4, {.kernel = 1, .pad = 0}), x});
  y = silu(t, conv(t, x, 4, 9, {.kernel = 1, .pad = 0}));
  const Name pooled = t.reduce("ReduceMean", y, {2, 3}, false);
  t.output(gemm(t, pooled, 9, 7));
}

void write_resnext(Writer& t) {
  Name x =
      t("Relu",
        {batch_norm(
            t, conv(t, t.input("data", {2, 3, 12, 12}), 3, 8, {.kernel = 7, .stride = 2, .pad = 3, .bias = false}),
            8)});
  x = t("MaxPool", {x},
        {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}, {"ceil_mode", 0}});
  for (const bool down : {true, false}) {
    const std::int64_t in = down ? 8 : 12;
    Name y = t("Relu", {batch_norm(t, conv(t, x, in, 12, {.kernel = 1, .pad = 0, .bias = false}), 12)});
    y = t("Relu", {batch_norm(t, conv(t, y, 12, 12, {.groups = 4, .bias = false}), 12)});
    y = excited(t, batch_norm(t, conv(t, y, 12, 12, {.kernel = 1, .pad = 0, .bias = false}), 12), 12, false);
    if (down) x = batch_norm(t, conv(t, x, 8, 12, {.kernel = 1, .pad = 0, .bias = false}), 12);
    x = t("Relu", {t("Add", {y, x})});
  }
  x = t("AveragePool", {x},
        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{1, 1}}, {"ceil_mode", 0}, {"count_include_pad", 1}});
  t.output(t("Softmax", {gemm(t, t.reshape(x, {t.size(x, 0), -1}), 12, 5)}, {{"axis", 1}}));
}

/// Tokens mixed between two transpositions.
void write_mixer(Writer& t) {
  t.dim("batch", {1, 3});
  Name x = conv(t, t.input("x", {"batch", 3, 12, 12}), 3, 8, {.kernel = 4, .stride = 4, .pad = 0});
  x = t.transpose(t.reshape(x, {t.size(x, 0), 8, 9}), {0, 2, 1});
  for (int block = 0; block < 2; ++block) {
    const Name y = t.transpose(layer_norm(t, x, 8), {0, 2, 1});
    x = t("Add", {x, t.transpose(mlp(t, y, 9, 5), {0, 2, 1})});
    x = t("Add", {x, mlp(t, layer_norm(t, x, 8), 8, 14)});
  }
  t.output(linear(t, t.reduce("ReduceMean", layer_norm(t, x, 8), {1}, false), 8, 6));
}

/// Sub-pixels: convolutions with tanh, then depth to space, as DepthToSpace and as Reshape, Transpose, Reshape.
void write_espcn(Writer& t) {
  t.dim("height", {5, 6});
  t.dim("width", {4, 7});
  const Name image = t.input("image", {1, 1, "height", "width"});
  Name x = t("Tanh", {conv(t, image, 1, 6, {.kernel = 5, .pad = 2})});
  x = t("Tanh", {conv(t, x, 6, 5)});
  const Name y = conv(t, x, 5, 9);
  t.output(t("DepthToSpace", {y}, {{"blocksize", 3}, {"mode", "CRD"}}));
  const Name h = t.size(y, 2), w = t.size(y, 3), three = t.whole(3);
  const Name parts = t.reshape(y, {t.size(y, 0), 1, 3, 3, h, w});
  const Name turned = t.transpose(parts, {0, 1, 4, 2, 5, 3});
  t.output(t.reshape(turned, {t.size(y, 0), 1, t("Mul", {h, three}), t("Mul", {w, three})}));
}

Name conv_transpose(Writer& t, const Name& x, std::int64_t in, std::int64_t out, std::int64_t stride,
                    std::int64_t pad, std::int64_t more = 0) {
  AttributeList attributes{{"dilations", Ints{1, 1}},
                           {"group", 1},
                           {"kernel_shape", Ints{4, 4}},
                           {"pads", Ints(4, pad)},
                           {"strides", Ints{stride, stride}}};
  if (more > 0) attributes.emplace_back("output_padding", Ints{more, more});
  return t("ConvTranspose", {x, t.weight({in, out, 4, 4}), t.weight({out})}, attributes);
}

void write_dcgan(Writer& t) {
  t.dim("batch", {1, 2});
  Name x = t.input("z", {"batch", 6, 1, 1});
  x = t("Relu", {batch_norm(t, conv_transpose(t, x, 6, 8, 1, 0), 8)});
  x = t("LeakyRelu", {batch_norm(t, conv_transpose(t, x, 8, 4, 2, 1, 1), 4)}, {{"alpha", 0.2}});
  t.output(t("Tanh", {conv_transpose(t, x, 4, 3, 2, 1)}));
}

/// The weights are modulated by a style, demodulated, and grouped by the batch: a convolution by an activation.
void write_stylegan(Writer& t) {
  const std::int64_t in = 4, out = 6;
  Name w = t.input("z", {2, 5});
  const Name mean = t.reduce("ReduceMean", t("Mul", {w, w}), {1});
  w = t("Mul", {w, t("Reciprocal", {t("Sqrt", {t("Add", {mean, t.number(1e-8)})})})});
  w = t("LeakyRelu", {gemm(t, w, 5, 5)}, {{"alpha", 0.2}});
  const Name x = t.expand(t.weight({1, in, 5, 5}), {2, in, 5, 5});
  const Name styles = t("Add", {gemm(t, w, 5, in), t.number(1)});
  const Name kernel = t("Mul", {t.weight({1, out, in, 3, 3}), t.reshape(styles, {2, 1, in, 1, 1})});
  const Name power = t.reduce("ReduceSum", t("Mul", {kernel, kernel}), {2, 3, 4});
  const Name scaled = t("Mul", {kernel, t("Div", {t.number(1), t("Sqrt", {t("Add", {power, t.number(1e-8)})})})});
  const Name y = t("Conv", {t.reshape(x, {1, 2 * in, 5, 5}), t.reshape(scaled, {2 * out, in, 3, 3})},
                   {{"group", 2}, {"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}});
  const Name noisy = t("Add", {t.reshape(y, {2, out, 5, 5}), t("Mul", {t.weight({1, 1, 5, 5}), t.number(0.1)})});
  const Name act =
      t("Mul", {t("LeakyRelu", {t("Add", {noisy, t.weight({1, out, 1, 1})})}, {{"alpha", 0.2}}), t.number(1.414)});
  const Name wide = t.resize(act, t.tensor({4}, {1, 1, 2, 2}), "",
                             {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}});
  t.output(conv(t, wide, out, 3, {.kernel = 1, .pad = 0}));
}

constexpr Export image_exports_table[] = {
    {"vit-op13", 13, Manner::torchscript, write_vit},
    {"vit-op20-dynamo", 20, Manner::dynamo, write_vit},
    {"clip-op14", 14, Manner::torchscript, write_clip},
    {"clip-op18-dynamo", 18, Manner::dynamo, write_clip},
    {"convnext-op11", 11, Manner::torchscript, write_convnext},
    {"convnext-op18-dynamo", 18, Manner::dynamo, write_convnext},
    {"mobilenetv3-op11", 11, Manner::torchscript, write_mobilenet},
    {"mobilenetv3-op17", 17, Manner::torchscript, write_mobilenet},
    {"efficientnet-op12", 12, Manner::torchscript, write_efficientnet},
    {"efficientnet-op18-dynamo", 18, Manner::dynamo, write_efficientnet},
    {"seresnext-op11", 11, Manner::torchscript, write_resnext},
    {"mixer-op16", 16, Manner::torchscript, write_mixer},
    {"espcn-op13", 13, Manner::torchscript, write_espcn},
    {"espcn-op19-dynamo", 19, Manner::dynamo, write_espcn},
    {"dcgan-op11", 11, Manner::torchscript, write_dcgan},
    {"stylegan-op16", 16, Manner::torchscript, write_stylegan},
    {"stylegan-op18-dynamo", 18, Manner::dynamo, write_stylegan},
};

}  // namespace

std::span<const Export> image_exports() { return image_exports_table; }

}  // namespace sdip::exports
