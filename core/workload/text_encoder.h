// The text encoders of Stable Diffusion: CLIP's text transformer in three sizes. Internal to its room.
#pragma once

#include "core/workload/draft.h"

namespace sdip::workload {

struct TextEncoderConfig {
  std::int64_t vocabulary;
  std::int64_t width;
  std::int64_t layers;
  std::int64_t heads;
  bool quick_gelu;               ///< or the exact GELU
  std::int64_t hidden_output;    ///< state after so many layers as an output more; 0: none
  std::int64_t pooled_channels;  ///< projected state of the end token as an output more; 0: none
};

/// input_ids int64 [B,N] -> last_hidden_state [B,N,C] (hidden_states.K [B,N,C], text_embeds [B,P]).
void write_text_encoder(Draft& draft, const Sizes& sizes, const TextEncoderConfig& config);

}  // namespace sdip::workload
