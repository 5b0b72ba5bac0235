// Swin's shifted windows, YOLO, DeepLab, SAM's mask decoder, RAFT, DETR.
#include <limits>

#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// torch.roll: two slices and a Concat, by axis.
Name rolled(Writer& t, const Name& x, std::int64_t axis, std::int64_t by) {
  const std::int64_t end = std::numeric_limits<std::int64_t>::max();
  return t.concat({t.slice(x, axis, -by, end), t.slice(x, axis, 0, -by)}, axis);
}

Name relative_positions(Writer& t, std::int64_t heads) {
  Ints numbers;
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t j = 0; j < 4; ++j) numbers.push_back((i / 2 - j / 2 + 1) * 3 + i % 2 - j % 2 + 1);
  const Name flat = t("Gather", {t.weight({9, heads}), t.list(numbers)}, {{"axis", 0}});
  return t.unsqueeze(t.transpose(t.reshape(flat, {4, 4, heads}), {2, 0, 1}), {0});
}

/// Windows of 2 x 2 on 4 x 4 positions; the mask of shifted ones is a constant added over five dimensions.
Name window_attention(Writer& t, const Name& x, std::int64_t channels, bool shifted) {
  const std::int64_t heads = 2, width = channels / heads;
  Name y = shifted ? rolled(t, rolled(t, x, 1, -1), 2, -1) : x;
  const Name batch = t.size(x, 0);
  y = t.transpose(t.reshape(y, {batch, 2, 2, 2, 2, channels}), {0, 1, 3, 2, 4, 5});
  y = t.reshape(y, {t("Mul", {batch, t.whole(4)}), 4, channels});
  const Name qkv =
      t.transpose(t.reshape(linear(t, y, channels, 3 * channels), {-1, 4, 3, heads, width}), {2, 0, 3, 1, 4});
  const Name q = t("Mul", {t("Gather", {qkv, t.whole(0)}, {{"axis", 0}}), t.number(0.5)});
  const Name k = t("Gather", {qkv, t.whole(1)}, {{"axis", 0}}), v = t("Gather", {qkv, t.whole(2)}, {{"axis", 0}});
  Name scores = t("Add", {t("MatMul", {q, t.transpose(k, {0, 1, 3, 2})}), relative_positions(t, heads)});
  if (shifted) {
    std::vector<double> mask;
    for (std::int64_t i = 0; i < 64; ++i) mask.push_back((i / 16) % 2 == 1 && i % 4 == 1 ? -100 : 0);
    const Name wide = t.unsqueeze(t.unsqueeze(t.tensor({4, 4, 4}, mask), {1}), {0});
    scores = t.reshape(t("Add", {t.reshape(scores, {batch, 4, heads, 4, 4}), wide}), {-1, heads, 4, 4});
  }
  y = t.transpose(t("MatMul", {t("Softmax", {scores}, {{"axis", -1}}), v}), {0, 2, 1, 3});
  y = linear(t, t.reshape(y, {-1, 4, channels}), channels, channels);
  y = t.transpose(t.reshape(y, {batch, 2, 2, 2, 2, channels}), {0, 1, 3, 2, 4, 5});
  y = t.reshape(y, {batch, 4, 4, channels});
  return shifted ? rolled(t, rolled(t, y, 1, 1), 2, 1) : y;
}

void write_swin(Writer& t) {
  const std::int64_t channels = 6, end = std::numeric_limits<std::int64_t>::max();
  t.dim("batch", {1, 2});
  Name x = conv(t, t.input("pixel_values", {"batch", 3, 8, 8}), 3, channels, {.kernel = 2, .stride = 2, .pad = 0});
  x = layer_norm(t, t.transpose(x, {0, 2, 3, 1}), channels);
  for (const bool shifted : {false, true}) {
    x = t("Add", {x, window_attention(t, layer_norm(t, x, channels), channels, shifted)});
    x = t("Add", {x, mlp(t, layer_norm(t, x, channels), channels, 12)});
  }
  Names quarters;
  for (const std::int64_t column : {0, 1})
    for (const std::int64_t row : {0, 1})
      quarters.push_back(t.slice(t.slice(x, 1, row, end, 2), 2, column, end, 2));
  x = linear(t, layer_norm(t, t.concat(quarters, -1), 4 * channels), 4 * channels, 2 * channels, false);
  const Name flat = t.transpose(t.reshape(x, {t.size(x, 0), -1, 2 * channels}), {0, 2, 1});
  t.output(gemm(t, t("Flatten", {t("GlobalAveragePool", {flat})}, {{"axis", 1}}), 2 * channels, 5));
}

Name csp(Writer& t, const Name& x, std::int64_t in, std::int64_t out) {
  const Name y = silu(t, conv(t, x, in, out, {.kernel = 1, .pad = 0}));
  const Names halves = t.split(y, 1, {out / 2, out / 2});
  const Name inner = silu(t, conv(t, silu(t, conv(t, halves[1], out / 2, out / 2)), out / 2, out / 2));
  const Name sum = t("Add", {halves[1], inner});
  return silu(t, conv(t, t.concat({halves[0], halves[1], sum}, 1), out * 3 / 2, out, {.kernel = 1, .pad = 0}));
}

/// Boxes are expectations over 4 bins (Softmax and a convolution of 0, 1, 2, 3), then corners, then strides.
Name boxes(Writer& t, const Name& x, const Name& anchors, const Name& strides) {
  const Name parts = t.transpose(t.reshape(x, {0, 4, 4, -1}), {0, 2, 1, 3});
  const Name shares = t("Softmax", {parts}, {{"axis", 1}});
  const Name bins = t("Conv", {shares, t.tensor({1, 4, 1, 1}, {0, 1, 2, 3})}, {{"kernel_shape", Ints{1, 1}}});
  const Name distances = t.reshape(bins, {0, 4, -1});
  const Name low = t("Sub", {anchors, t.slice(distances, 1, 0, 2)}),
             high = t("Add", {anchors, t.slice(distances, 1, 2, 4)});
  const Name centre = t("Div", {t("Add", {low, high}), t.number(2)});
  return t("Mul", {t.concat({centre, t("Sub", {high, low})}, 1), strides});
}

void write_yolo(Writer& t) {
  t.dim("batch", {1, 2});
  Name x = silu(t, conv(t, t.input("images", {"batch", 3, 16, 16}), 3, 4, {.stride = 2}));
  const Name p3 = csp(t, silu(t, conv(t, x, 4, 8, {.stride = 2})), 8, 8);
  Name p4 = silu(t, conv(t, p3, 8, 8, {.stride = 2}));
  Names pooled{p4};
  for (int i = 0; i < 3; ++i)
    pooled.push_back(t("MaxPool", {pooled.back()},
                       {{"kernel_shape", Ints{5, 5}},
                        {"pads", Ints{2, 2, 2, 2}},
                        {"strides", Ints{1, 1}},
                        {"ceil_mode", 0},
                        {"dilations", Ints{1, 1}}}));
  p4 = silu(t, conv(t, t.concat(pooled, 1), 32, 8, {.kernel = 1, .pad = 0}));
  const Name up = t.resize(p4, t.tensor({4}, {1, 1, 2, 2}), "",
                           {{"coordinate_transformation_mode", "asymmetric"},
                            {"cubic_coeff_a", -0.75},
                            {"mode", "nearest"},
                            {"nearest_mode", "floor"}});
  const Name n3 = csp(t, t.concat({up, p3}, 1), 16, 8);
  const Name n4 = csp(t, t.concat({silu(t, conv(t, n3, 8, 8, {.stride = 2})), p4}, 1), 16, 8);
  Names heads;
  for (const Name& level : {n3, n4}) {
    const Name box = conv(t, silu(t, conv(t, level, 8, 8)), 8, 16, {.kernel = 1, .pad = 0});
    const Name kind = conv(t, silu(t, conv(t, level, 8, 8)), 8, 3, {.kernel = 1, .pad = 0});
    heads.push_back(t.reshape(t.concat({box, kind}, 1), {t.size(level, 0), 19, -1}));
  }
  const Names parts = t.split(t.concat(heads, 2), 1, {16, 3});
  std::vector<double> anchors, strides;
  for (const std::int64_t axis : {0, 1}) {
    for (std::int64_t i = 0; i < 16; ++i) anchors.push_back(0.5 + static_cast<double>(axis == 0 ? i % 4 : i / 4));
    for (std::int64_t i = 0; i < 4; ++i) anchors.push_back(0.5 + static_cast<double>(axis == 0 ? i % 2 : i / 2));
  }
  for (std::int64_t i = 0; i < 20; ++i) strides.push_back(i < 16 ? 4 : 8);
  const Name box = boxes(t, parts[0], t.tensor({1, 2, 20}, anchors), t.tensor({1, 20}, strides));
  t.output(t.concat({box, t("Sigmoid", {parts[1]})}, 1));
}

/// Dilated branches, an image-wide one, and a resize to the size of the input, computed.
void write_deeplab(Writer& t) {
  t.dim("h", {9, 12});
  t.dim("w", {8, 11});
  const Name image = t.input("input", {1, 3, "h", "w"});
  const Name sizes = t("Slice", {t("Shape", {image}), t.list({2}), t.list({4}), t.list({0})});
  Name x = t("Relu", {batch_norm(t, conv(t, image, 3, 6, {.stride = 2, .bias = false}), 6)});
  const auto resized = [&](const Name& y, const Name& to) {
    const Name shape = t.concat({t("Slice", {t("Shape", {y}), t.list({0}), t.list({2}), t.list({0})}), to}, 0);
    return t.resize(
        y, "", t.cast(shape, int64),
        {{"coordinate_transformation_mode", "pytorch_half_pixel"}, {"mode", "linear"}, {"nearest_mode", "floor"}});
  };
  Names branches{t("Relu", {conv(t, x, 6, 4, {.kernel = 1, .pad = 0})})};
  for (const std::int64_t rate : {2, 3})
    branches.push_back(t("Relu", {conv(t, x, 6, 4, {.pad = rate, .dilation = rate})}));
  const Name pooled = t("Relu", {conv(t, t("GlobalAveragePool", {x}), 6, 4, {.kernel = 1, .pad = 0})});
  branches.push_back(resized(pooled, t("Slice", {t("Shape", {x}), t.list({2}), t.list({4}), t.list({0})})));
  x = t("Relu", {conv(t, t.concat(branches, 1), 16, 6, {.kernel = 1, .pad = 0})});
  x = resized(conv(t, x, 6, 4, {.kernel = 1, .pad = 0}), sizes);
  t.output(x);
  t.output(t("ArgMax", {x}, {{"axis", 1}, {"keepdims", 0}}));
}

/// Tokens and an image attend to each other; masks are hypernetworks' products with the enlarged image.
void write_sam(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("num_points", {1, 3});
  const Name embeddings = t.input("image_embeddings", {1, channels, 4, 4});
  const Name coords = t.input("point_coords", {1, "num_points", 2}, {0, 16});
  const Name labels = t.input("point_labels", {1, "num_points"}, {-1, 1});
  Name at =
      t("Sub", {t("Mul", {t("Div", {t("Add", {coords, t.number(0.5)}), t.number(16)}), t.number(2)}), t.number(1)});
  at = t("Mul", {t("MatMul", {at, t.weight({2, channels / 2}, 1)}), t.number(6.2831855)});
  Name points = t.concat({t("Sin", {at}), t("Cos", {at})}, -1);
  const Name wide = t.expand(t.unsqueeze(labels, {-1}), {1, t.size(coords, 1), channels});
  for (const double label : {-1.0, 0.0, 1.0}) {
    const Name is = t.cast(t("Equal", {wide, t.number(label)}), float32);
    const Name isnt = t("Sub", {t.number(1), is});
    points = label < 0 ? t("Mul", {points, isnt}) : points;
    points = t("Add", {points, t("Mul", {t.weight({1, channels}), is})});
  }
  Name tokens = t.concat({t.unsqueeze(t.weight({3, channels}), {0}), points}, 1);
  const Name image =
      t.transpose(t.reshape(t("Add", {embeddings, t.weight({1, channels, 1, 1})}), {1, channels, 16}), {0, 2, 1});
  const auto cross = [&](const Name& q, const Name& kv) {
    const auto heads = [&](const Name& y) {
      return t.transpose(t.reshape(linear(t, y, channels, channels), {0, -1, 2, 4}), {0, 2, 1, 3});
    };
    const Name y = attention(t, heads(q), heads(kv), heads(kv), 4);
    return linear(t, t.reshape(t.transpose(y, {0, 2, 1, 3}), {1, -1, channels}), channels, channels);
  };
  tokens = layer_norm(t, t("Add", {tokens, cross(tokens, tokens)}), channels);
  tokens = layer_norm(t, t("Add", {tokens, cross(tokens, image)}), channels);
  tokens = layer_norm(t, t("Add", {tokens, mlp(t, tokens, channels, 12)}), channels);
  const Name seen = layer_norm(t, t("Add", {image, cross(image, tokens)}), channels);
  const Name grid = t.reshape(t.transpose(seen, {0, 2, 1}), {1, channels, 4, 4});
  const Name large = gelu(t, t("ConvTranspose", {grid, t.weight({channels, 4, 2, 2}), t.weight({4})},
                               {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
  Names kernels;
  for (const std::int64_t mask : {1, 2})
    kernels.push_back(
        linear(t, t("Relu", {linear(t, t("Gather", {tokens, t.whole(mask)}, {{"axis", 1}}), channels, channels)}),
               channels, 4));
  const Name stacked = t.concat({t.unsqueeze(kernels[0], {1}), t.unsqueeze(kernels[1], {1})}, 1);
  const Name masks = t.reshape(t("MatMul", {stacked, t.reshape(large, {1, 4, 64})}), {1, -1, 8, 8});
  t.output(t.resize(masks, "", t.list({1, 2, 16, 16}),
                    {{"mode", "linear"}, {"coordinate_transformation_mode", "pytorch_half_pixel"}}));
  t.output(linear(t, t("Gather", {tokens, t.whole(0)}, {{"axis", 1}}), channels, 2));
}

constexpr Export window_exports_table[] = {
    {"swin-op12", 12, Manner::torchscript, write_swin},
    {"swin-op17", 17, Manner::torchscript, write_swin},
    {"swin-op18-dynamo", 18, Manner::dynamo, write_swin},
    {"yolo-op12", 12, Manner::torchscript, write_yolo},
    {"yolo-op19-dynamo", 19, Manner::dynamo, write_yolo},
    {"deeplab-op11", 11, Manner::torchscript, write_deeplab},
    {"deeplab-op16", 16, Manner::torchscript, write_deeplab},
    {"sam-op16", 16, Manner::torchscript, write_sam},
    {"sam-op20-dynamo", 20, Manner::dynamo, write_sam},
};

}  // namespace

std::span<const Export> window_exports() { return window_exports_table; }

}  // namespace sdip::exports
