// Other searches for a tiling: greedy, for one that is good and cheap; tuned by sampling, for spaces or costs that
// the search of tiling.h does not know.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/program/tiling.h"

namespace sdip {

/// Divisors alone, first fit: in each of tiling_orders every loop whole but for the one whose size does not matter,
/// which is 1; while that does not fit, the largest tile becomes its loop's next smaller divisor. The order of
/// fewest words. Nothing when one by one by one by one does not fit. Worked example: 6 x 6 by 6 x 6 in 20 words,
/// results stay: rows and channels of 6 and sums of 1 take 36 + 12 words; 3 x 6 take 18 + 9; 3 x 3 take 9 + 6 and
/// fit: 2 x 36 + 2 x 36 + 36 = 180 words.
std::optional<Tiling> greedy_tiling(const Nest& nest, std::int64_t words);

/// What a mapping costs, cycles say; nothing when it does not fit.
using MappingCost = std::function<std::optional<std::int64_t>(const Mapping&)>;

/// `random` mappings first, then `guided` more: with `near_percent` of a hundred one step from one of the `keep`
/// best so far (a size to the next larger or smaller one, or two neighbouring loops exchanged), else at random.
struct TunerOptions {
  std::int64_t random = 200, guided = 1800, keep = 16, near_percent = 80;
  std::uint64_t seed = 1;
};
struct Tuned {
  Mapping mapping;
  std::int64_t cost = 0;
};

/// The cheapest mapping met; the same for the same seed. The smallest mapping is always among those tried, so that
/// nothing is found only when it does not fit. After the two-phase tuner of AKG (Zhao et al., PLDI 2021,
/// section 5.3).
std::optional<Tuned> tune(const Nest& nest, const TileSizes& sizes, const MappingCost& cost,
                          const TunerOptions& options = {});

}  // namespace sdip
