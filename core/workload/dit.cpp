// DiT-XL/2: patches, 28 blocks modulated by time and class, and back to a picture.
#include "core/workload/dit.h"

#include <array>

#include "core/workload/layers.h"

namespace sdip::workload {
namespace {

constexpr std::int64_t width = 1152, blocks = 28, heads = 16, patch_px = 2;
constexpr std::int64_t latent_channels = 4, out_channels = 8, frequencies = 128, classes = 1001;

/// LayerNormalization without parameters of its own: the exporter writes ones.
Value plain_norm(Draft& draft, std::string_view module, const Value& x) {
  const Module within(draft, module);
  const std::vector<float> ones(width, 1.0F);
  return node(draft, "LayerNormalization", {x.name, float_constant(draft, {width}, ones)}, x.shape,
              {{"axis", std::int64_t{-1}}, {"epsilon", 1e-6F}});
}

/// norm(x) * (1 + scale) + shift, one scale and shift for all tokens.
Value modulated(Draft& draft, std::string_view norm, const Value& x, const Value& shift, const Value& scale) {
  const Value normal = plain_norm(draft, norm, x);
  const Value spread = unsqueeze(draft, scale, 1);
  const Value factor = node(draft, "Add", {spread.name, float_scalar(draft, 1.0F)}, spread.shape);
  return add(draft, mul(draft, normal, factor), unsqueeze(draft, shift, 1));
}

std::vector<Value> modulation(Draft& draft, const Value& condition, std::int64_t parts) {
  const auto all = [&] {
    const Module within(draft, "adaLN_modulation");
    return linear(draft, "1", silu(draft, "0", condition), parts * width);
  }();
  return split(draft, all, 1, parts);
}

Value self_attention(Draft& draft, const Value& x) {
  const Module within(draft, "attn");
  const std::int64_t batch = x.shape[0], tokens = x.shape[1], depth = width / heads;
  Value qkv = reshape(draft, linear(draft, "qkv", x, 3 * width), {batch, tokens, 3, heads, depth});
  qkv = transpose(draft, qkv, {2, 0, 3, 1, 4});
  std::array<Value, 3> parts;
  const std::string axis = int64_constant(draft, {0});
  const std::vector<Value> thirds = split(draft, qkv, 0, 3);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i] = node(draft, "Squeeze", {thirds[i].name, axis}, {batch, heads, tokens, depth});
  }
  const Value turned = transpose(draft, parts[1], {0, 1, 3, 2});
  const Value mixed = attention_by_head(draft, parts[0], turned, parts[2], ScoreScale::multiply, nullptr);
  return linear(draft, "proj", reshape(draft, transpose(draft, mixed, {0, 2, 1, 3}), {batch, tokens, width}),
                width);
}

Value mlp(Draft& draft, const Value& x) {
  const Module within(draft, "mlp");
  const Value hidden = linear(draft, "fc1", x, 4 * width);
  const auto activated = [&] {
    const Module activation(draft, "act");
    return gelu_tanh(draft, hidden);
  }();
  return linear(draft, "fc2", activated, width);
}

Value block(Draft& draft, std::int64_t number, Value x, const Value& condition) {
  const Module within(draft, "blocks." + std::to_string(number));
  const std::vector<Value> part = modulation(draft, condition, 6);
  const Value attended = self_attention(draft, modulated(draft, "norm1", x, part[0], part[1]));
  x = add(draft, x, mul(draft, unsqueeze(draft, part[2], 1), attended));
  const Value fed = mlp(draft, modulated(draft, "norm2", x, part[3], part[4]));
  return add(draft, x, mul(draft, unsqueeze(draft, part[5], 1), fed));
}

Value embed_patches(Draft& draft, const Value& latent) {
  const auto patches = [&] {
    const Module within(draft, "x_embedder");
    const Value grid = conv(draft, "proj", latent, {.channels = width, .kernel = patch_px, .stride = patch_px});
    return transpose(draft, reshape(draft, grid, {grid.shape[0], width, grid.shape[2] * grid.shape[3]}), {0, 2, 1});
  }();
  Shape table{1, patches.shape[1], width};
  std::string positions = weight(draft, "pos_embed", table);
  return add(draft, patches, {std::move(positions), std::move(table)});
}

Value condition_on(Draft& draft, const Value& timestep, const Value& label) {
  const auto time = [&] {
    const Module within(draft, "t_embedder");
    const Value waves = sinusoids(draft, timestep, label.shape[0], frequencies);
    return linear(draft, "mlp.2", silu(draft, "mlp.1", linear(draft, "mlp.0", waves, width)), width);
  }();
  return add(draft, time, embedding(draft, "y_embedder/embedding_table", label, {classes, width}));
}

/// Patches in a row to a picture: [B,N,2*2*C] -> [B,C,2*rows,2*columns].
Value unpatchify(Draft& draft, const Value& x, std::int64_t rows, std::int64_t columns) {
  Value y = reshape(draft, x, {x.shape[0], rows, columns, patch_px, patch_px, out_channels});
  y = transpose(draft, y, {0, 5, 1, 3, 2, 4});
  return reshape(draft, y, {x.shape[0], out_channels, rows * patch_px, columns * patch_px});
}

}  // namespace

void write_dit_xl2(Draft& draft, const Sizes& sizes) {
  const std::int64_t height = sizes.height_px / 8, across = sizes.width_px / 8;
  const Value latent = float_input(draft, "x", {sizes.batch, latent_channels, height, across});
  const Value timestep = float_input(draft, "t", {1});
  const Value label = int64_input(draft, "y", {sizes.batch});
  Value x = embed_patches(draft, latent);
  const Value condition = condition_on(draft, timestep, label);
  for (std::int64_t i = 0; i < blocks; ++i) x = block(draft, i, x, condition);
  {
    const Module within(draft, "final_layer");
    const std::vector<Value> part = modulation(draft, condition, 2);
    x = modulated(draft, "norm_final", x, part[0], part[1]);
    x = linear(draft, "linear", x, patch_px * patch_px * out_channels);
  }
  output(draft, "out", unpatchify(draft, x, height / patch_px, across / patch_px));
}

}  // namespace sdip::workload
