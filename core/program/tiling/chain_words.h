// Two products in a row on one memory, what is between them never leaving it: the words that this moves at least.
#pragma once

#include <cstdint>
#include <optional>

namespace sdip {

/// x [rows, inputs] W1 [inputs, hidden], then W2 [hidden, outputs]; what is done to each hidden element costs
/// nothing.
struct ProductChain {
  std::int64_t rows = 1, inputs = 1, hidden = 1, outputs = 1;
};

/// How the chain runs, one hidden feature after the other: x's element of it, summed up from a row of x and a
/// column of W1, times a row of W2 is added to that row of sums.
///   strips    `strip` rows of x and their sums stay, all hidden features pass; the weights of the first `held` of
///             them stay from strip to strip, the others come for each
///   features  the weights of `held` features stay, all rows pass; sums of all features before come and go
enum class ChainOrder { strips, features };
struct ChainSchedule {
  ChainOrder order = ChainOrder::strips;
  std::int64_t strip = 1, held = 0;
  std::int64_t words = 0;  // moved: x, weights, sums and results
};

/// Words of memory that a schedule takes, and that it moves. These are, with w = inputs + outputs:
///   strips    strip (w + 1) + held w + max(inputs, outputs) where weights pass
///             rows w + held w + ceil(rows / strip) (hidden - held) w
///   features  held w + w + 1
///             hidden w + t rows inputs + (2 t - 1) rows outputs, t = ceil(hidden / held)
std::int64_t chain_room(const ProductChain& chain, const ChainSchedule& schedule);
std::int64_t chain_words(const ProductChain& chain, const ChainSchedule& schedule);

/// The strip and held features that move the fewest words in either order; nothing where no schedule has room.
/// Worked example: 4096 rows of 320, 2560 and 320 in 1 Mi words: three strips of 1366 rows, the weights of 269
/// features held: 2,621,440 of x and results, 172,160 of these weights and 3 x 1,466,240 of the others, 7,192,320
/// words; one product after the other moves 25,231,360.
std::optional<ChainSchedule> least_chain(const ProductChain& chain, std::int64_t words);

/// x, weights and results once.
std::int64_t least_chain_words(const ProductChain& chain);

}  // namespace sdip
