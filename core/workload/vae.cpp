// The VAE: residual blocks at halving or doubling resolution, one attention in the middle.
#include "core/workload/vae.h"

#include "core/base/index.h"
#include "core/workload/residual_block.h"

namespace sdip::workload {
namespace {

constexpr std::int64_t latent_channels = 4;
constexpr std::int64_t picture_channels = 3;
constexpr float norm_epsilon = 1e-6F;

Value block(Draft& draft, std::string_view module, const Value& x, std::int64_t channels, const VaeConfig& config) {
  return residual_block(draft, module, x, channels, config.norm_groups, norm_epsilon, nullptr);
}

/// Attention of all pixels to all pixels, one head, and the residual.
Value attend_to_pixels(Draft& draft, const Value& x, const VaeConfig& config) {
  const Module within(draft, "attentions.0");
  const std::int64_t channels = x.shape[1], pixels = x.shape[2] * x.shape[3];
  Value y = group_norm(draft, "group_norm", x, config.norm_groups, norm_epsilon);
  y = transpose(draft, reshape(draft, y, {x.shape[0], channels, pixels}), {0, 2, 1});
  const Value q = linear(draft, "to_q", y, channels);
  const Value k = linear(draft, "to_k", y, channels);
  const Value v = linear(draft, "to_v", y, channels);
  y = linear(draft, "to_out.0", attention(draft, q, k, v, 1, ScoreScale::multiply, nullptr), channels);
  return add(draft, reshape(draft, transpose(draft, y, {0, 2, 1}), x.shape), x);
}

Value middle(Draft& draft, Value x, const VaeConfig& config) {
  const Module within(draft, "mid_block");
  const std::int64_t channels = config.channels.back();
  x = block(draft, "resnets.0", x, channels, config);
  x = attend_to_pixels(draft, x, config);
  return block(draft, "resnets.1", x, channels, config);
}

/// Halves height and width; pads below and to the right only, so the exporter writes a Pad of its own.
Value downsample(Draft& draft, const Value& x) {
  const Module within(draft, "downsamplers.0");
  const Shape shape{x.shape[0], x.shape[1], x.shape[2] + 1, x.shape[3] + 1};
  const Value padded = node(draft, "Pad", {x.name, int64_constant(draft, {0, 0, 0, 0, 0, 0, 1, 1})}, shape,
                            {{"mode", std::string_view("constant")}});
  return conv(draft, "conv", padded, {.channels = x.shape[1], .kernel = 3, .stride = 2});
}

Value finish(Draft& draft, const Value& x, std::int64_t channels, const VaeConfig& config) {
  const Value y = silu(draft, "conv_act", group_norm(draft, "conv_norm_out", x, config.norm_groups, norm_epsilon));
  return conv(draft, "conv_out", y, {.channels = channels, .kernel = 3, .padding = 1});
}

Value encode(Draft& draft, const Value& picture, const VaeConfig& config) {
  const Module within(draft, "encoder");
  Value x = conv(draft, "conv_in", picture, {.channels = config.channels.front(), .kernel = 3, .padding = 1});
  for (std::size_t i = 0; i < config.channels.size(); ++i) {
    const Module level(draft, numbered("down_blocks", i));
    for (std::int64_t j = 0; j < config.blocks_per_level; ++j) {
      x = block(draft, numbered("resnets", as_size(j)), x, config.channels[i], config);
    }
    if (i + 1 < config.channels.size()) x = downsample(draft, x);
  }
  return finish(draft, middle(draft, x, config), 2 * latent_channels, config);
}

Value decode(Draft& draft, const Value& latent, const VaeConfig& config) {
  const Module within(draft, "decoder");
  Value x = conv(draft, "conv_in", latent, {.channels = config.channels.back(), .kernel = 3, .padding = 1});
  x = middle(draft, x, config);
  for (std::size_t i = 0; i < config.channels.size(); ++i) {
    const Module level(draft, numbered("up_blocks", i));
    const std::size_t from_finest = config.channels.size() - 1 - i;
    for (std::int64_t j = 0; j <= config.blocks_per_level; ++j) {
      x = block(draft, numbered("resnets", as_size(j)), x, config.channels[from_finest], config);
    }
    if (from_finest > 0) x = upsample(draft, "upsamplers.0", x);
  }
  return finish(draft, x, picture_channels, config);
}

}  // namespace

void write_vae_encoder(Draft& draft, const Sizes& sizes, const VaeConfig& config) {
  const Value picture =
      float_input(draft, "sample", {sizes.batch, picture_channels, sizes.height_px, sizes.width_px});
  const Value moments = encode(draft, picture, config);
  output(draft, "latent_parameters",
         conv(draft, "quant_conv", moments, {.channels = 2 * latent_channels, .kernel = 1}));
}

void write_vae_decoder(Draft& draft, const Sizes& sizes, const VaeConfig& config) {
  const Value latent =
      float_input(draft, "latent_sample", {sizes.batch, latent_channels, sizes.height_px / 8, sizes.width_px / 8});
  const Value x = conv(draft, "post_quant_conv", latent, {.channels = latent_channels, .kernel = 1});
  output(draft, "sample", decode(draft, x, config));
}

}  // namespace sdip::workload
