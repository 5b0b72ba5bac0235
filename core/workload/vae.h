// The variational autoencoder of Stable Diffusion: picture to latent and back. Internal to its room.
#pragma once

#include <span>

#include "core/workload/draft.h"

namespace sdip::workload {

struct VaeConfig {
  std::span<const std::int64_t> channels;  ///< of each level, the picture's first; each level but the last halves
  std::int64_t blocks_per_level;           ///< in the encoder; one more in the decoder
  std::int64_t norm_groups;
};

/// sample [B,3,H,W] -> latent_parameters [B,8,H/8,W/8]: means, then logarithms of variances.
void write_vae_encoder(Draft& draft, const Sizes& sizes, const VaeConfig& config);

/// latent_sample [B,4,H/8,W/8] -> sample [B,3,H,W].
void write_vae_decoder(Draft& draft, const Sizes& sizes, const VaeConfig& config);

}  // namespace sdip::workload
