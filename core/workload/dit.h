// DiT-XL/2: the diffusion transformer for ImageNet classes (Peebles and Xie, arXiv:2212.09748). Internal to its
// room.
#pragma once

#include "core/workload/draft.h"

namespace sdip::workload {

/// x [B,4,H/8,W/8], t [1], y int64 [B] (the class; 1000 is none) -> out [B,8,H/8,W/8]: noise, then its variance.
void write_dit_xl2(Draft& draft, const Sizes& sizes);

}  // namespace sdip::workload
