// Other searches for a tiling: greedy, for one that is good and cheap; tuned by sampling, for spaces or costs that
// the search of tiling.h does not know. Internal to its room.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/program/tiling/tiling.h"

namespace sdip {

/// The cost of a mapping, least first: what is searched for, or 0 where that is the price; its price; and, as in
/// the search of tiling.h, its folds and by how much its tiles of results are too small.
struct Asked {
  std::int64_t goal = 0, price = 0, folds = 0, shortfall = 0;
  friend auto operator<=>(const Asked&, const Asked&) = default;
};
/// Nothing when the mapping does not fit.
using MappingCost = std::function<std::optional<Asked>(const Mapping&)>;
struct Tuned {
  Mapping mapping;
  Asked cost;
};

/// Divisors alone, first fit: in each of tiling_orders every loop whole but for the one whose size does not matter
/// to the price, which is as small as it can be; while that does not fit, the largest tile that may be split
/// becomes its loop's next smaller divisor (a multiple of the granule, at last the granule). A mapping that fits
/// then takes the divisor of the loop left small that costs least. Returns the cheapest order; nothing when none
/// comes to fit. Worked example: 6 x 6 by 6 x 6 in 20 words, results stay: rows and channels of 6 and sums of 1
/// take 36 + 12 words; 3 x 6 take 18 + 9; 3 x 3 take 9 + 6 and fit: 2 x 36 + 2 x 36 + 36 = 180 words.
std::optional<Tuned> greedy_mapping(const Nest& nest, const TileSizes& sizes, const MappingCost& cost);

/// The same on one memory of `words`, single-buffered, by words moved.
std::optional<Tiling> greedy_tiling(const Nest& nest, std::int64_t words);

/// `random` mappings first, then `guided` more: with `near_percent` of a hundred one step from one of the `keep`
/// best so far (a size to the next larger or smaller one, or two neighbouring loops exchanged), else at random.
struct TunerOptions {
  std::int64_t random = 200, guided = 1800, keep = 16, near_percent = 80;
  std::uint64_t seed = 1;
};
/// The cheapest mapping met; the same for the same seed. The smallest mapping is always among those tried, so that
/// nothing is found only when it does not fit, and the whole one. After the two-phase tuner of AKG (Zhao et al.,
/// PLDI 2021, section 5.3).
std::optional<Tuned> tune(const Nest& nest, const TileSizes& sizes, const MappingCost& cost,
                          const TunerOptions& options = {});

}  // namespace sdip
