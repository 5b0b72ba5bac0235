// The sizes of the Stable Diffusion models, as their published configurations state them. Internal to its room.
#pragma once

#include "core/workload/text_encoder.h"
#include "core/workload/unet.h"
#include "core/workload/vae.h"

namespace sdip::workload {

// Sources: config.json of runwayml/stable-diffusion-v1-5, stabilityai/stable-diffusion-2-1,
// stabilityai/stable-diffusion-xl-base-1.0 and nota-ai/bk-sdm-base on Hugging Face.

// heads: 8 at every level in SD 1; 64 channels each in SD 2 and SDXL.
inline constexpr UnetLevel sd1_levels[] = {{320, 1, 8}, {640, 1, 8}, {1280, 1, 8}, {1280, 0, 8}};
inline constexpr UnetLevel sd2_levels[] = {{320, 1, 5}, {640, 1, 10}, {1280, 1, 20}, {1280, 0, 20}};
inline constexpr UnetLevel sdxl_levels[] = {{320, 0, 5}, {640, 2, 10}, {1280, 10, 20}};
inline constexpr UnetLevel tiny_levels[] = {{16, 1, 2}, {32, 1, 2}, {32, 0, 2}};

inline constexpr UnetConfig sd1_unet{.levels = sd1_levels,
                                     .blocks_per_level = 2,
                                     .middle_transformer_blocks = 1,
                                     .context_channels = 768,
                                     .norm_groups = 32,
                                     .linear_projection = false,
                                     .pooled_channels = 0};
inline constexpr UnetConfig sd2_unet{.levels = sd2_levels,
                                     .blocks_per_level = 2,
                                     .middle_transformer_blocks = 1,
                                     .context_channels = 1024,
                                     .norm_groups = 32,
                                     .linear_projection = true,
                                     .pooled_channels = 0};
inline constexpr UnetConfig sdxl_unet{.levels = sdxl_levels,
                                      .blocks_per_level = 2,
                                      .middle_transformer_blocks = 10,
                                      .context_channels = 2048,
                                      .norm_groups = 32,
                                      .linear_projection = true,
                                      .pooled_channels = 1280};
// BK-SDM-Base (Kim et al., arXiv:2305.15798): a residual block and its transformer less at each level; the middle
// stays (without it the count is BK-SDM-Small's).
inline constexpr UnetConfig bksdm_base_unet{.levels = sd1_levels,
                                            .blocks_per_level = 1,
                                            .middle_transformer_blocks = 1,
                                            .context_channels = 768,
                                            .norm_groups = 32,
                                            .linear_projection = false,
                                            .pooled_channels = 0};
// Ours, for tests.
inline constexpr UnetConfig tiny_unet{.levels = tiny_levels,
                                      .blocks_per_level = 1,
                                      .middle_transformer_blocks = 1,
                                      .context_channels = 32,
                                      .norm_groups = 8,
                                      .linear_projection = false,
                                      .pooled_channels = 0};

inline constexpr std::int64_t sd_vae_channels[] = {128, 256, 512, 512};
inline constexpr std::int64_t tiny_vae_channels[] = {8, 16, 16, 16};
inline constexpr VaeConfig sd_vae{.channels = sd_vae_channels, .blocks_per_level = 2, .norm_groups = 32};
inline constexpr VaeConfig tiny_vae{.channels = tiny_vae_channels, .blocks_per_level = 1, .norm_groups = 4};

// CLIP ViT-L/14; OpenCLIP ViT-H/14 without its last layer; OpenCLIP ViT-bigG/14. SDXL reads the last layer but one.
inline constexpr TextEncoderConfig clip_l{.vocabulary = 49408,
                                          .width = 768,
                                          .layers = 12,
                                          .heads = 12,
                                          .quick_gelu = true,
                                          .hidden_output = 0,
                                          .pooled_channels = 0};
inline constexpr TextEncoderConfig clip_l_for_sdxl{.vocabulary = 49408,
                                                   .width = 768,
                                                   .layers = 12,
                                                   .heads = 12,
                                                   .quick_gelu = true,
                                                   .hidden_output = 11,
                                                   .pooled_channels = 0};
inline constexpr TextEncoderConfig clip_h{.vocabulary = 49408,
                                          .width = 1024,
                                          .layers = 23,
                                          .heads = 16,
                                          .quick_gelu = false,
                                          .hidden_output = 0,
                                          .pooled_channels = 0};
inline constexpr TextEncoderConfig clip_big_g{.vocabulary = 49408,
                                              .width = 1280,
                                              .layers = 32,
                                              .heads = 20,
                                              .quick_gelu = false,
                                              .hidden_output = 31,
                                              .pooled_channels = 1280};
inline constexpr TextEncoderConfig tiny_clip{.vocabulary = 1000,
                                             .width = 32,
                                             .layers = 2,
                                             .heads = 2,
                                             .quick_gelu = true,
                                             .hidden_output = 0,
                                             .pooled_channels = 0};

}  // namespace sdip::workload
