// Diffusion: U-Net, VAE decoder, DiT, SD 3's and Flux's joint attention, VQ.
#include <cmath>

#include "tests/exports/book.h"
#include "tests/exports/layers.h"

namespace sdip::exports {
namespace {

using enum ElementType;

/// cos and sin of a time step, as diffusers has them, the order flipped.
Name time_embedding(Writer& t, const Name& time, std::int64_t width, std::int64_t channels) {
  std::vector<double> frequencies;
  for (std::int64_t i = 0; i < width / 2; ++i)
    frequencies.push_back(std::exp(-9.21 * static_cast<double>(i) / static_cast<double>(width / 2)));
  const Name angles = t("Mul", {t.cast(t.unsqueeze(time, {1}), float32), t.tensor({1, width / 2}, frequencies)});
  const Name both = t.concat({t("Sin", {angles}), t("Cos", {angles})}, -1);
  const Name flipped =
      t.concat({t.slice(both, 1, width / 2, 9223372036854775807), t.slice(both, 1, 0, width / 2)}, -1);
  return gemm(t, silu(t, gemm(t, flipped, width, channels)), channels, channels);
}

Name residual(Writer& t, const Name& x, const Name& time, std::int64_t in, std::int64_t out) {
  Name y = conv(t, silu(t, group_norm(t, x, 2, in)), in, out);
  if (!time.empty()) y = t("Add", {y, t.unsqueeze(t.unsqueeze(gemm(t, silu(t, time), 8, out), {2}), {3})});
  y = conv(t, silu(t, group_norm(t, y, 2, out)), out, out);
  const Name skip = in == out ? x : conv(t, x, in, out, {.kernel = 1, .pad = 0});
  return t("Div", {t("Add", {skip, y}), t.number(1)});
}

Name cross_attention(Writer& t, const Name& x, const Name& context, std::int64_t channels, std::int64_t inner) {
  const std::int64_t width = channels / 2;
  const Name batch = t.size(x, 0);
  const auto heads = [&](const Name& y, std::int64_t in) {
    return t.transpose(t.reshape(linear(t, y, in, channels, false), {batch, -1, 2, width}), {0, 2, 1, 3});
  };
  const Name y = attention(t, heads(x, channels), heads(context, inner), heads(context, inner), width);
  return linear(t, t.reshape(t.transpose(y, {0, 2, 1, 3}), {batch, -1, channels}), channels, channels);
}

Name transformer(Writer& t, const Name& x, const Name& context, std::int64_t channels) {
  const Name batch = t.size(x, 0), h = t.size(x, 2), w = t.size(x, 3);
  Name y = conv(t, group_norm(t, x, 2, channels), channels, channels, {.kernel = 1, .pad = 0});
  y = t.reshape(t.transpose(y, {0, 2, 3, 1}), {batch, t("Mul", {h, w}), channels});
  const Name normed = layer_norm(t, y, channels);
  y = t("Add", {cross_attention(t, normed, normed, channels, channels), y});
  y = t("Add", {cross_attention(t, layer_norm(t, y, channels), context, channels, 6), y});
  const Names gated = t.split(linear(t, layer_norm(t, y, channels), channels, 24), -1, {12, 12});
  y = t("Add", {linear(t, t("Mul", {gated[0], gelu(t, gated[1])}), 12, channels), y});
  y = t.transpose(t.reshape(y, {batch, h, w, channels}), {0, 3, 1, 2});
  return t("Add", {conv(t, y, channels, channels, {.kernel = 1, .pad = 0}), x});
}

void write_unet(Writer& t) {
  t.dim("batch", {1, 2});
  t.dim("height", {4, 6});
  const Name sample = t.input("sample", {"batch", 4, "height", 4});
  const Name step = t.input("timestep", {}, {0, 999}, int64);
  const Name context = t.input("encoder_hidden_states", {"batch", 5, 6});
  const Name time = time_embedding(t, t.expand(t.unsqueeze(step, {0}), {t.size(sample, 0)}), 8, 8);
  const Name x0 = conv(t, sample, 4, 4);
  const Name x1 = transformer(t, residual(t, x0, time, 4, 4), context, 4);
  const Name x2 = conv(t, x1, 4, 4, {.stride = 2});
  const Name x3 = residual(t, x2, time, 4, 8);
  Name y = residual(t, transformer(t, residual(t, x3, time, 8, 8), context, 8), time, 8, 8);
  y = residual(t, t.concat({y, x3}, 1), time, 16, 8);
  const Name wide =
      t.resize(y, t.tensor({4}, {1, 1, 2, 2}), "",
               {{"coordinate_transformation_mode", "asymmetric"}, {"mode", "nearest"}, {"nearest_mode", "floor"}});
  y = residual(t, t.concat({conv(t, wide, 8, 8), x1}, 1), time, 12, 4);
  y = transformer(t, residual(t, t.concat({y, x0}, 1), time, 8, 4), context, 4);
  t.output(conv(t, silu(t, group_norm(t, y, 2, 4)), 4, 4));
}

void write_vae_decoder(Writer& t) {
  const Name latent = t("Div", {t.input("latent_sample", {1, 4, 4, 4}), t.number(0.18215)});
  Name x = residual(t, conv(t, conv(t, latent, 4, 4, {.kernel = 1, .pad = 0}), 4, 8), "", 8, 8);
  const Name rows = t.transpose(t.reshape(group_norm(t, x, 2, 8), {1, 8, 16}), {0, 2, 1});
  const Name q = linear(t, rows, 8, 8), k = linear(t, rows, 8, 8), v = linear(t, rows, 8, 8);
  const Name shares =
      t("Softmax", {t("Mul", {t("MatMul", {q, t.transpose(k, {0, 2, 1})}), t.number(0.35)})}, {{"axis", -1}});
  const Name seen = linear(t, t("MatMul", {shares, v}), 8, 8);
  x = t("Add", {t.reshape(t.transpose(seen, {0, 2, 1}), {1, 8, 4, 4}), x});
  x = residual(t, x, "", 8, 8);
  x = t.resize(x, t.tensor({4}, {1, 1, 2, 2}), "",
               {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}});
  x = residual(t, conv(t, x, 8, 8), "", 8, 4);
  x = conv(t, silu(t, group_norm(t, x, 2, 4)), 4, 3);
  t.output(t.clip(t("Add", {t("Div", {x, t.number(2)}), t.number(0.5)}), 0, 1));
}

Name modulated(Writer& t, const Name& x, const Name& shift, const Name& scale, std::int64_t channels) {
  const Name wide = t("Add", {t.unsqueeze(scale, {1}), t.number(1)});
  return t("Add", {t("Mul", {layer_norm(t, x, channels, false, 1e-6), wide}), t.unsqueeze(shift, {1})});
}

Names modulation(Writer& t, const Name& condition, std::int64_t channels, std::size_t parts) {
  const Name all = gemm(t, silu(t, condition), channels, channels * static_cast<std::int64_t>(parts));
  return t.split(all, 1, Ints(parts, channels));
}

/// Patches in, class and time as conditions, patches out by an einsum over six dimensions.
void write_dit(Writer& t) {
  const std::int64_t channels = 8;
  t.dim("N", {1, 2});
  const Name x0 = t.input("x", {"N", 4, 4, 4});
  const Name time = time_embedding(t, t.input("t", {"N"}, {0, 999}, int64), 8, channels);
  const Name condition = t("Add", {time, t("Gather", {t.weight({6, channels}), t.ids("y", {"N"}, 6)})});
  Name x = conv(t, x0, 4, channels, {.kernel = 2, .stride = 2, .pad = 0});
  x = t("Add", {t.transpose(t.reshape(x, {t.size(x, 0), channels, -1}), {0, 2, 1}), t.weight({1, 4, channels})});
  for (int block = 0; block < 2; ++block) {
    const Names m = modulation(t, condition, channels, 6);
    const Name y = self_attention(t, modulated(t, x, m[0], m[1], channels), channels, 2);
    x = t("Add", {x, t("Mul", {t.unsqueeze(m[2], {1}), y})});
    const Name z = modulated(t, x, m[3], m[4], channels);
    const Name inner = linear(t, gelu_tanh(t, linear(t, z, channels, 16)), 16, channels);
    x = t("Add", {x, t("Mul", {t.unsqueeze(m[5], {1}), inner})});
  }
  const Names m = modulation(t, condition, channels, 2);
  x = linear(t, modulated(t, x, m[0], m[1], channels), channels, 32);
  x = t("Einsum", {t.reshape(x, {t.size(x, 0), 2, 2, 2, 2, 8})}, {{"equation", "nhwpqc->nchpwq"}});
  t.output(t.reshape(x, {t.size(x, 0), 8, 4, 4}));
}

struct Stream {
  Name x;
  std::int64_t tokens;
};

/// q, k, v of one stream, q and k normalised by RMS over a head.
Names projections(Writer& t, const Name& x, std::int64_t channels, std::int64_t heads, bool fused) {
  const std::int64_t width = channels / heads;
  const Names rows = fused ? t.split(linear(t, x, channels, 3 * channels), -1, {channels, channels, channels})
                           : Names{linear(t, x, channels, channels), linear(t, x, channels, channels),
                                   linear(t, x, channels, channels)};
  Names found;
  for (const Name& row : rows)
    found.push_back(t.transpose(t.reshape(row, {t.size(x, 0), -1, heads, width}), {0, 2, 1, 3}));
  return {rms_norm(t, found[0], width), rms_norm(t, found[1], width), found[2]};
}

/// Pairs turned by matrices of 2 x 2, as Flux's apply_rope: x is taken as [.., width / 2, 1, 2].
Name turned(Writer& t, const Name& x, const Name& cosines, std::int64_t tokens, std::int64_t heads,
            std::int64_t width) {
  const Name pairs = t.reshape(x, {-1, heads, tokens, width / 2, 1, 2});
  const Name first = t("Mul", {t("Gather", {cosines, t.whole(0)}, {{"axis", -1}}),
                               t("Gather", {pairs, t.whole(0)}, {{"axis", -1}})});
  const Name second = t("Mul", {t("Gather", {cosines, t.whole(1)}, {{"axis", -1}}),
                                t("Gather", {pairs, t.whole(1)}, {{"axis", -1}})});
  return t.reshape(t("Add", {first, second}), {-1, heads, tokens, width});
}

Name rope_matrices(Writer& t, const Name& ids, std::int64_t tokens, std::int64_t width) {
  Names axes;
  for (const std::int64_t axis : {0, 1}) {
    const Name positions = t.cast(t("Gather", {ids, t.whole(axis)}, {{"axis", 1}}), float64);
    const Name frequencies =
        t.tensor({width / 4}, std::vector<double>(static_cast<std::size_t>(width / 4), 0.25), float64);
    const Name angles = t("Einsum", {positions, frequencies}, {{"equation", "n,d->nd"}});
    const Name c = t("Cos", {angles}), s = t("Sin", {angles});
    Names stacked;
    for (const Name& one : {c, t("Neg", {s}), s, c}) stacked.push_back(t.unsqueeze(one, {-1}));
    axes.push_back(t.cast(t.reshape(t.concat(stacked, -1), {tokens, width / 4, 2, 2}), float32));
  }
  return t.unsqueeze(t.unsqueeze(t.concat(axes, 1), {0}), {0});
}

/// Double and single stream blocks: text and image attend together.
void write_flux(Writer& t) {
  const std::int64_t channels = 16, heads = 2, width = 8, image_tokens = 4, text_tokens = 3, tokens = 7;
  t.dim("batch", {1, 2});
  Name image = linear(t, t.input("hidden_states", {"batch", image_tokens, 6}), 6, channels);
  Name text = linear(t, t.input("encoder_hidden_states", {"batch", text_tokens, 5}), 5, channels);
  const Name step = t("Mul", {t.input("timestep", {"batch"}, {0, 1}), t.number(1000)});
  Name condition = time_embedding(t, step, 8, channels);
  condition =
      t("Add", {condition, gemm(t, silu(t, gemm(t, t.input("pooled_projections", {"batch", 5}), 5, channels)),
                                channels, channels)});
  const Name ids =
      t.concat({t.input("txt_ids", {text_tokens, 2}, {0, 3}), t.input("img_ids", {image_tokens, 2}, {0, 3})}, 0);
  const Name rope = rope_matrices(t, ids, tokens, width);
  const auto joint = [&](const Names& p) {
    const Name y = attention(t, turned(t, p[0], rope, tokens, heads, width),
                             turned(t, p[1], rope, tokens, heads, width), p[2], width);
    return t.reshape(t.transpose(y, {0, 2, 1, 3}), {-1, tokens, channels});
  };
  const Names mi = modulation(t, condition, channels, 6), mt = modulation(t, condition, channels, 6);
  const Names pi = projections(t, modulated(t, image, mi[0], mi[1], channels), channels, heads, false);
  const Names pt = projections(t, modulated(t, text, mt[0], mt[1], channels), channels, heads, false);
  const Name y = joint({t.concat({pt[0], pi[0]}, 2), t.concat({pt[1], pi[1]}, 2), t.concat({pt[2], pi[2]}, 2)});
  const auto finished = [&](const Name& x, const Name& seen, const Names& m) {
    const Name sum = t("Add", {x, t("Mul", {t.unsqueeze(m[2], {1}), linear(t, seen, channels, channels)})});
    const Name inner = gelu_tanh(t, linear(t, modulated(t, sum, m[3], m[4], channels), channels, 24));
    return t("Add", {sum, t("Mul", {t.unsqueeze(m[5], {1}), linear(t, inner, 24, channels)})});
  };
  text = finished(text, t.slice(y, 1, 0, text_tokens), mt);
  image = finished(image, t.slice(y, 1, text_tokens, 9223372036854775807), mi);
  Name x = t.concat({text, image}, 1);
  const Names m = modulation(t, condition, channels, 3);
  const Name normed = modulated(t, x, m[0], m[1], channels);
  const Name inner = gelu_tanh(t, linear(t, normed, channels, 20));
  const Name both = t.concat({joint(projections(t, normed, channels, heads, true)), inner}, 2);
  x = t("Add", {x, t("Mul", {t.unsqueeze(m[2], {1}), linear(t, both, channels + 20, channels)})});
  const Names last = modulation(t, condition, channels, 2);
  t.output(linear(t, modulated(t, t.slice(x, 1, text_tokens, tokens), last[1], last[0], channels), channels, 6));
}

/// SD 3: tokens of both streams joined for attention, the context's stream ends there.
void write_sd3(Writer& t) {
  const std::int64_t channels = 8;
  const Name latent = t.input("hidden_states", {2, 4, 4, 4});
  Name x = conv(t, latent, 4, channels, {.kernel = 2, .stride = 2, .pad = 0});
  x = t("Add",
        {t.transpose(t("Flatten", {t.reshape(x, {2 * channels, 4})}, {{"axis", 1}}), {1, 0}), t.weight({4, 1})});
  x = t.transpose(t.reshape(x, {4, 2, channels}), {1, 0, 2});
  const Name context = linear(t, t.input("encoder_hidden_states", {2, 3, 5}), 5, channels);
  const Name condition = time_embedding(t, t.input("timestep", {2}, {0, 999}), 8, channels);
  const Names mx = modulation(t, condition, channels, 6), mc = modulation(t, condition, channels, 2);
  const Names px = projections(t, modulated(t, x, mx[0], mx[1], channels), channels, 2, true);
  const Names pc = projections(t, modulated(t, context, mc[1], mc[0], channels), channels, 2, false);
  Names joined;
  for (std::size_t i = 0; i < 3; ++i) joined.push_back(t.concat({px[i], pc[i]}, 2));
  const Name all =
      t.reshape(t.transpose(attention(t, joined[0], joined[1], joined[2], 4), {0, 2, 1, 3}), {2, -1, channels});
  const Names parts = t.split(all, 1, {4, 3});
  x = t("Add", {x, t("Mul", {t.unsqueeze(mx[2], {1}), linear(t, parts[0], channels, channels)})});
  const Name inner = gelu_tanh(t, linear(t, modulated(t, x, mx[3], mx[4], channels), channels, 16));
  x = t("Add", {x, t("Mul", {t.unsqueeze(mx[5], {1}), linear(t, inner, 16, channels)})});
  t.output(x);
  t.output(parts[1]);
}

/// The nearest code of each position: distances from squares and a product, ArgMin, a table, the codes back.
void write_vq(Writer& t) {
  const Name x =
      conv(t, t("Relu", {conv(t, t.input("x", {2, 3, 8, 8}), 3, 6, {.stride = 2})}), 6, 4, {.kernel = 1, .pad = 0});
  const Name rows = t.reshape(t.transpose(x, {0, 2, 3, 1}), {-1, 4});
  const Name table = t.weight({7, 4}, 1);
  const Name squares = t.reduce("ReduceSum", t("Pow", {rows, t.number(2)}), {1});
  const Name codes = t.reduce("ReduceSum", t("Pow", {table, t.number(2)}), {1}, false);
  const Name product = t("MatMul", {rows, t.transpose(table, {1, 0})});
  const Name apart = t("Sub", {t("Add", {squares, codes}), t("Mul", {product, t.number(2)})});
  const Name nearest = t("ArgMin", {apart}, {{"axis", 1}, {"keepdims", 0}});
  const Name found = t("Gather", {table, nearest});
  const Name back = t.transpose(t.reshape(found, {2, 4, 4, 4}), {0, 3, 1, 2});
  t.output(t("Sigmoid", {t("ConvTranspose", {back, t.weight({4, 3, 4, 4}), t.weight({3})},
                           {{"kernel_shape", Ints{4, 4}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}})}));
  t.output(t.reshape(nearest, {2, 4, 4}));
}

constexpr Export diffusion_exports_table[] = {
    {"unet-op14", 14, Manner::torchscript, write_unet},
    {"unet-op18-dynamo", 18, Manner::dynamo, write_unet},
    {"vae-decoder-op11", 11, Manner::torchscript, write_vae_decoder},
    {"vae-decoder-op18-dynamo", 18, Manner::dynamo, write_vae_decoder},
    {"dit-op17", 17, Manner::torchscript, write_dit},
    {"dit-op20-dynamo", 20, Manner::dynamo, write_dit},
    {"flux-op17", 17, Manner::torchscript, write_flux},
    {"flux-op20-dynamo", 20, Manner::dynamo, write_flux},
    {"sd3-op17", 17, Manner::torchscript, write_sd3},
    {"sd3-op19-ort", 19, Manner::onnxruntime, write_sd3},
    {"vq-op13", 13, Manner::torchscript, write_vq},
};

}  // namespace

std::span<const Export> diffusion_exports() { return diffusion_exports_table; }

}  // namespace sdip::exports
