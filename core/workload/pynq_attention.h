// The single-head attention that students built on a PYNQ-Z2. Internal to its room.
#pragma once

#include "core/workload/draft.h"

namespace sdip::workload {

/// x int32 [B,4,4], a vector of four a token, -> output uint8 [B,4,4], one a token (docs/model/published.md says
/// how it follows from the published text).
void write_pynq_attention(Draft& draft, const Sizes& sizes);

}  // namespace sdip::workload
