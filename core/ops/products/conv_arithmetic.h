// Sums of products under sliding windows, in plain loops. Internal to its room.
#pragma once

#include <vector>

#include "core/ops/windows/window.h"

namespace sdip {

/// The operands of a convolution: input [N,C,...], weight [M,C/groups,...], and the window between them.
struct Convolution {
  Window window;
  std::int64_t batch = 1, groups = 1, in_channels = 1, out_channels = 1;  // in all groups together
};

/// Sums [N,M,...] of `x` and `w`, each plus its channel's `bias` (none when empty). Padding counts as 0.
/// x = [1,2,3], w = [1,10], pads 1 and 0: 10, 21, 32. `stop` is asked at each position of the window.
std::vector<double> convolved(const Convolution& conv, const std::vector<double>& x, const std::vector<double>& w,
                              const std::vector<double>& bias, const Stop* stop);

/// The other way round: every input [N,C,...] is spread over the window it stands for, weight [C,M/groups,...].
/// `window.in` is the size of the result, `window.out` that of `x`. x = [1,2], w = [1,10,100], stride 2:
/// 1, 10, 102, 20, 200.
std::vector<double> spread_out(const Convolution& conv, const std::vector<double>& x, const std::vector<double>& w,
                               const std::vector<double>& bias, const Stop* stop);

}  // namespace sdip
