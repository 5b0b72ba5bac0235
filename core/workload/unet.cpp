// The U-Net: down through the levels, a middle, up again with the skips joined on.
#include "core/workload/unet.h"

#include "core/workload/residual_block.h"

namespace sdip::workload {
namespace {

constexpr std::int64_t latent_channels = 4;
constexpr std::int64_t time_id_channels = 256;  // diffusers: addition_time_embed_dim of SDXL

Value time_mlp(Draft& draft, std::string_view module, const Value& x, std::int64_t channels) {
  const Module within(draft, module);
  const Value hidden = silu(draft, "act", linear(draft, "linear_1", x, channels));
  return linear(draft, "linear_2", hidden, channels);
}

/// The conditions that SDXL adds to the time embedding: the pooled text, and picture size and crop as sinusoids.
Value added_embedding(Draft& draft, const UnetConfig& config, std::int64_t batch, std::int64_t channels) {
  const Value pooled = float_input(draft, "text_embeds", {batch, config.pooled_channels});
  const Value ids = float_input(draft, "time_ids", {batch, 6});
  const auto encoded = [&] {
    const Module within(draft, "add_time_proj");
    const Value waves = sinusoids(draft, reshape(draft, ids, {batch * 6, 1}), batch * 6, time_id_channels / 2);
    return reshape(draft, waves, {batch, 6 * time_id_channels});
  }();
  return time_mlp(draft, "add_embedding", concat(draft, pooled, encoded, 1), channels);
}

Value time_embedding(Draft& draft, const UnetConfig& config, std::int64_t batch) {
  const std::int64_t width = config.levels.front().channels;
  const Value timestep = float_input(draft, "timestep", {1});
  const auto waves = [&] {
    const Module within(draft, "time_proj");
    return sinusoids(draft, timestep, batch, width / 2);
  }();
  Value embedding = time_mlp(draft, "time_embedding", waves, 4 * width);
  if (config.pooled_channels == 0) return embedding;
  return add(draft, embedding, added_embedding(draft, config, batch, 4 * width));
}

/// Attention of x to `context` (or to itself), and the residual.
Value attend(Draft& draft, std::string_view module, const Value& x, const Value& context, std::int64_t heads) {
  const Module within(draft, module);
  const std::int64_t width = x.shape.back();
  const Value q = linear(draft, "to_q", x, width, false);
  const Value k = linear(draft, "to_k", context, width, false);
  const Value v = linear(draft, "to_v", context, width, false);
  return linear(draft, "to_out.0", attention(draft, q, k, v, heads, ScoreScale::multiply, nullptr), width);
}

/// GELU(gate) * x, out of one projection of twice the width.
Value geglu(Draft& draft, const Value& x, std::int64_t width) {
  const Module within(draft, "net.0");
  const std::vector<Value> halves = split(draft, linear(draft, "proj", x, 2 * width), 2, 2);
  return mul(draft, halves[0], gelu(draft, halves[1]));
}

Value transformer_block(Draft& draft, std::int64_t number, Value x, const Value& context, std::int64_t heads) {
  const Module within(draft, numbered("transformer_blocks", number));
  const Value self_input = layer_norm(draft, "norm1", x, 1e-5F);
  x = add(draft, attend(draft, "attn1", self_input, self_input, heads), x);
  x = add(draft, attend(draft, "attn2", layer_norm(draft, "norm2", x, 1e-5F), context, heads), x);
  const Value normal = layer_norm(draft, "norm3", x, 1e-5F);
  const auto fed = [&] {
    const Module forward(draft, "ff");
    return linear(draft, "net.2", geglu(draft, normal, 4 * x.shape.back()), x.shape.back());
  }();
  return add(draft, fed, x);
}

Value transformer(Draft& draft, std::string_view module, const Value& x, const Value& context, std::int64_t blocks,
                  std::int64_t heads, const UnetConfig& config) {
  const Module within(draft, module);
  const std::int64_t channels = x.shape[1];
  const ConvSizes one{.channels = channels, .kernel = 1};
  Value y = group_norm(draft, "norm", x, config.norm_groups, 1e-6F);
  if (!config.linear_projection) y = conv(draft, "proj_in", y, one);
  y = transpose(draft, y, {0, 2, 3, 1});
  y = reshape(draft, y, {x.shape[0], x.shape[2] * x.shape[3], channels});
  if (config.linear_projection) y = linear(draft, "proj_in", y, channels);
  for (std::int64_t i = 0; i < blocks; ++i) y = transformer_block(draft, i, y, context, heads);
  if (config.linear_projection) y = linear(draft, "proj_out", y, channels);
  y = reshape(draft, y, {x.shape[0], x.shape[2], x.shape[3], channels});
  y = transpose(draft, y, {0, 3, 1, 2});
  if (!config.linear_projection) y = conv(draft, "proj_out", y, one);
  return add(draft, y, x);
}

/// The values that every block needs besides its input.
struct Conditions {
  const UnetConfig& config;
  Value time;
  Value context;
};

/// A residual block and the transformer after it, if the level has any.
Value stage(Draft& draft, const Value& x, const UnetLevel& level, std::int64_t number, const Conditions& given) {
  Value y = residual_block(draft, numbered("resnets", number), x, level.channels, given.config.norm_groups, 1e-5F,
                           &given.time);
  if (level.transformer_blocks == 0) return y;
  return transformer(draft, numbered("attentions", number), y, given.context, level.transformer_blocks, level.heads,
                     given.config);
}

Value go_down(Draft& draft, Value x, const Conditions& given, std::vector<Value>& skips) {
  std::int64_t depth = 0;
  for (const UnetLevel& level : given.config.levels) {
    const Module within(draft, numbered("down_blocks", depth++));
    for (std::int64_t i = 0; i < given.config.blocks_per_level; ++i) {
      x = stage(draft, x, level, i, given);
      skips.push_back(x);
    }
    if (&level == &given.config.levels.back()) continue;
    const Module sampler(draft, "downsamplers.0");
    x = conv(draft, "conv", x, {.channels = level.channels, .kernel = 3, .stride = 2, .padding = 1});
    skips.push_back(x);
  }
  return x;
}

Value middle(Draft& draft, Value x, const Conditions& given) {
  const Module within(draft, "mid_block");
  const UnetLevel& level = given.config.levels.back();
  const std::int64_t groups = given.config.norm_groups;
  x = residual_block(draft, "resnets.0", x, level.channels, groups, 1e-5F, &given.time);
  x = transformer(draft, "attentions.0", x, given.context, given.config.middle_transformer_blocks, level.heads,
                  given.config);
  return residual_block(draft, "resnets.1", x, level.channels, groups, 1e-5F, &given.time);
}

Value go_up(Draft& draft, Value x, const Conditions& given, std::vector<Value>& skips) {
  const std::span<const UnetLevel> levels = given.config.levels;
  for (std::size_t i = levels.size(); i-- > 0;) {
    const Module within(draft, numbered("up_blocks", static_cast<std::int64_t>(levels.size() - 1 - i)));
    for (std::int64_t j = 0; j <= given.config.blocks_per_level; ++j) {
      x = concat(draft, x, skips.back(), 1);
      skips.pop_back();
      x = stage(draft, x, levels[i], j, given);
    }
    if (i > 0) x = upsample(draft, "upsamplers.0", x);
  }
  return x;
}

}  // namespace

void write_unet(Draft& draft, const Sizes& sizes, const UnetConfig& config) {
  const Value sample =
      float_input(draft, "sample", {sizes.batch, latent_channels, sizes.height_px / 8, sizes.width_px / 8});
  const Value time = time_embedding(draft, config, sizes.batch);
  const Value context =
      float_input(draft, "encoder_hidden_states", {sizes.batch, sizes.tokens, config.context_channels});
  // Every residual block activates the time embedding; the exporter merges these equal nodes into one.
  const Conditions given{config, silu(draft, "nonlinearity", time), context};
  const std::int64_t width = config.levels.front().channels;
  Value x = conv(draft, "conv_in", sample, {.channels = width, .kernel = 3, .padding = 1});
  std::vector<Value> skips{x};
  x = go_down(draft, x, given, skips);
  x = middle(draft, x, given);
  x = go_up(draft, x, given, skips);
  x = silu(draft, "conv_act", group_norm(draft, "conv_norm_out", x, config.norm_groups, 1e-5F));
  x = conv(draft, "conv_out", x, {.channels = latent_channels, .kernel = 3, .padding = 1});
  output(draft, "out_sample", x);
}

}  // namespace sdip::workload
