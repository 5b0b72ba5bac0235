// The U-Net of Stable Diffusion and its kin. Internal to its room.
#pragma once

#include <span>

#include "core/workload/draft.h"

namespace sdip::workload {

/// One resolution of a U-Net, finest first.
struct UnetLevel {
  std::int64_t channels;
  std::int64_t transformer_blocks;  ///< after each residual block; 0: none
  std::int64_t heads;
};

struct UnetConfig {
  std::span<const UnetLevel> levels;
  std::int64_t blocks_per_level;  ///< going down; one more going up
  std::int64_t middle_transformer_blocks;
  std::int64_t context_channels;
  std::int64_t norm_groups;
  bool linear_projection;        ///< into and out of the transformer: MatMul, or a 1x1 convolution
  std::int64_t pooled_channels;  ///< of the second text encoder's summary, an input with six sizes; 0: none
};

/// sample [B,4,H/8,W/8], timestep [1], encoder_hidden_states [B,77,C] (text_embeds [B,P], time_ids [B,6]) ->
/// out_sample.
void write_unet(Draft& draft, const Sizes& sizes, const UnetConfig& config);

}  // namespace sdip::workload
