// The residual block and the resampling layers that the U-Nets and the VAEs share. Internal to its room.
#pragma once

#include "core/workload/layers.h"

namespace sdip::workload {

/// x + conv(silu(norm(conv(silu(norm(x))) [+ time]))), x through a 1x1 convolution where the channels change.
/// `time`: the activated time embedding [B, E], or nullptr.
Value residual_block(Draft& draft, std::string_view module, const Value& x, std::int64_t channels,
                     std::int64_t groups, float epsilon, const Value* time);

/// Nearest neighbour, twice the height and width, then a 3x3 convolution.
Value upsample(Draft& draft, std::string_view module, const Value& x);

}  // namespace sdip::workload
