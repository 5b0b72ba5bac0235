// The search for the tiling of a nest: tile sizes and loop order that move the least, given the room on chip.
//
// Five of the 24 orders suffice, whatever the sizes (traffic.h; a test compares with all orders):
//   results stay    rows, columns, channels, sums   out + channels x A(rows, columns) + rows columns x B
//   weights stay    channels, sums, columns, rows   (2 sums - 1) out + channels x A(slid, columns) + B
//                   channels, sums, rows, columns   (2 sums - 1) out + channels x A(rows, slid) + B
//   inputs stay     sums, columns, rows, channels   (2 sums - 1) out + A(slid, columns) + rows columns x B
//                   sums, rows, columns, channels   (2 sums - 1) out + A(rows, slid) + rows columns x B
// where rows, columns, channels, sums stand for numbers of tiles, A(rows, columns) for the windows of all tiles,
// and "slid" for a line buffer, which loads no position twice. For if two loops may change places without a word
// more, either order will do: within each case the loops left out follow from the innermost one.
//
// Sizes: words depend on a size through its number of tiles alone (and on rows and columns through boundaries near
// the input's edge, where windows are clipped), and room grows with the size. So of the sizes that give the same
// number of tiles the smallest is as good as any: about 2 sqrt(n) sizes of a loop of n. One size in each order does
// not change words at all and is as small as it can be (sums where results stay, rows or columns where weights
// stay, channels where inputs stay); one more is the largest that fits, in closed form. Two loops over sizes
// remain; a pair is left when its words with that last size whole are no fewer than the best so far. Numbers of
// tiles fall and rooms grow with sizes, so that what is too dear or finds no room is an end of each loop.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/program/capacity.h"
#include "core/program/traffic.h"

namespace sdip {

/// The five orders, as above.
inline constexpr std::array<LoopOrder, 5> tiling_orders{{
    {Loop::rows, Loop::columns, Loop::channels, Loop::sums},
    {Loop::channels, Loop::sums, Loop::columns, Loop::rows},
    {Loop::channels, Loop::sums, Loop::rows, Loop::columns},
    {Loop::sums, Loop::columns, Loop::rows, Loop::channels},
    {Loop::sums, Loop::rows, Loop::columns, Loop::channels},
}};

/// The prices that a tiling pays and the rooms that it may occupy, each in one unit of the caller's. A whole
/// mapping (one operation) pays least; `accept` of best_tiling decides whether it fits, since it is not
/// double-buffered.
struct TileTerms {
  std::int64_t a_price = 0;                        // of loading a word of A; 0 where it lies on chip
  std::int64_t b_price = 0;                        // of loading all of B once
  std::int64_t out_price = 0, partials_price = 0;  // of all results, of all partial sums one way
  std::array<AskedCapacity, 3> capacity{};         // of the memories that tiles lie in
  std::size_t a_memory = 0, b_memory = 0, out_memory = 0;
  std::int64_t a_room = 0, b_room = 0, b_channel_room = 0;  // of a word of a tile; of a channel's bias and scales
  std::int64_t out_room = 0, sums_room = 0;  // of a word of a result tile: sums in one tile, in several
  std::size_t beside_memory = 0;
  std::int64_t beside_room = 0;    // of operands of fused operators, for each word of a result tile
  bool partials_leave = true;      // false: orders in which partial sums leave the chip are none
  std::int64_t price_a_cycle = 1;  // what the reference machine's DRAM moves in a cycle
};

/// The array that folds are counted on.
struct ReferenceLanes {
  std::int64_t rows, channels;
  constexpr ReferenceLanes(std::int64_t r, std::int64_t c) : rows(r), channels(c) {}
  constexpr ReferenceLanes(std::int64_t lanes) : ReferenceLanes(lanes, lanes) {}  // NOLINT: square
};

/// Bytes that the reference machine's DRAM moves in a cycle: 128 bits at twice the core's clock, two transfers a
/// clock.
inline constexpr std::int64_t reference_dram_bytes = 64;

/// Channels and sums of a tile come in these, so that folds of most machines come out even.
inline constexpr std::int64_t even_channels = 32, even_sums = 32;

constexpr std::int64_t element_bytes(std::int64_t elements, std::int64_t bits) {
  return ceil_div(elements * bits, 8);
}

/// Which sizes are tried, and what decides between mappings that pay the same.
struct TileSizes {
  bool split_rows = true, split_columns = true, split_channels = true, split_sums = true;
  std::int64_t channel_granule = 1, sum_granule = 1;  // sizes are multiples of it, or whole
  ReferenceLanes reference_lanes = 128;
  std::int64_t least_results = 0;  // tiles of fewer results lose against larger ones
};

/// `first`: of its price the one that was found first; what decides between these begins with it.
struct Tiling {
  Mapping mapping;
  std::int64_t price = 0, folds = 0;
  Mapping first{};
};

/// Whether a mapping fits exactly, where rooms of TileTerms are rounded. Must not refuse less room.
using Accept = std::function<bool(const Mapping&)>;

/// The mapping of least price; of those with equal price, among canonical sizes, that of fewest folds, then (with
/// least_results) of least shortfall, then of smallest rows, columns, channels, sums, then of the first order.
/// Canonical: the smallest size of each number of tiles, and multiples of reference_lanes. Nothing when none fits
/// whose price is less than `below`.
std::optional<Tiling> best_tiling(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                                  const Accept& accept,
                                  std::int64_t below = std::numeric_limits<std::int64_t>::max());

/// The room that tiles of a mapping take in each memory as best_tiling and fewest_bytes round it. In less room
/// these find the mapping only if it is of one operation, for which they ask `accept` alone. There are none for
/// nests of several groups of weights.
std::optional<std::array<std::int64_t, 3>> rounded_rooms(const Nest& nest, const TileTerms& terms,
                                                         const Mapping& mapping);

/// The price that every mapping pays: each operand and the results once.
std::int64_t least_price(const Nest& nest, const TileTerms& terms);

/// The price that a mapping pays, by traffic.h. Requires is_valid.
std::int64_t price_of(const Nest& nest, const TileTerms& terms, const Mapping& mapping);

/// Cycles of a mapping of this price on the reference machine: the slowest of its array of lanes x lanes, which
/// takes a fold's products one of its sums a cycle; of its results' port, `lanes` words wide, over which each fold
/// writes lanes rows, and for each further tile of sums reads and writes them; and of DRAM. Worked example: 256
/// rows of 256 sums by 256 channels are 4 folds of 256 cycles; sums in 4 tiles take the port 4 x 128 x (2 x 4 - 1).
std::int64_t reference_cycles(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                              const Mapping& mapping);

/// The mapping of fewest reference cycles, then of least price, fewest folds, least shortfall and smallest sizes,
/// among `start` and canonical sizes with the largest tiles of sums that fit, of at most that price. Requires a
/// start of least price: where DRAM is what it waits for nothing is better.
Tiling fewest_cycles(const Nest& nest, const TileTerms& terms, const TileSizes& sizes, const Accept& accept,
                     const Tiling& start, std::int64_t most_price = std::numeric_limits<std::int64_t>::max());

/// The bytes that a mapping moves through DRAM as they are counted, every transfer rounded up: at least `fixed`,
/// and a byte for each `price_a_byte` of its price; and at least `fixed` and what its operands and results move,
/// whose transfers are of so many bits an element (0: they lie on chip).
struct ExactBytes {
  std::function<std::int64_t(const Mapping&)> of;
  std::int64_t fixed = 0, price_a_byte = 1;
  std::int64_t burst_bytes = 1, a_bits = 0, out_bits = 0, sums_bits = 0;
  std::function<std::int64_t(std::int64_t channels, std::int64_t sums)> b_once{};  // in tiles of these; or nothing
};

/// The mapping of fewest bytes among those that fit, of equals that of fewest folds, then of smallest sizes, where
/// that is less than `below`. Sizes are whole or, of each number of tiles, the smallest in each of the granules,
/// the finest first: the same whatever the capacities, so that more room never means more bytes.
std::optional<Mapping> fewest_bytes(const Nest& nest, const TileTerms& terms, const TileSizes& sizes,
                                    std::span<const std::int64_t> granules, const Accept& accept,
                                    const ExactBytes& exact, std::int64_t below);

/// The mapping with the largest of these tiles of channels, at most its own, that makes as many tiles.
Mapping with_tried_channels(const Nest& nest, std::span<const std::int64_t> granules, Mapping mapping);

/// The same as best_tiling on a machine of one memory of `words`, single-buffered, fewest words first. Nothing
/// exactly when tiles of one by one by one by one do not fit.
std::optional<Tiling> best_tiling(const Nest& nest, std::int64_t words, const TileSizes& sizes = {});
TileTerms one_memory_terms(const Nest& nest, std::int64_t words);

/// Folds on an array of rows by channels; sums take as many whatever the tiles.
std::int64_t reference_folds(const Nest& nest, const Mapping& mapping, ReferenceLanes lanes);

/// A tile size, how many tiles it makes, and, of rows and columns, the positions that all tiles read and one holds.
struct TileSize {
  std::int64_t tile = 1, count = 1, read = 1, held = 1;
};
/// Sizes of a loop of `size` that matter to the price, ascending.
std::vector<TileSize> sizes_of_loop(std::int64_t size, std::int64_t granule, bool split);
std::vector<TileSize> sizes_of_axis(const NestAxis& axis, bool split);

/// Multiplications of the nest that meet an input and not padding; of kernels longer than 4096, of that many
/// positions.
std::int64_t useful_macs(const Nest& nest);

/// G / sqrt(R room), as below.
double products_over_root(const Nest& nest, double room);

/// Words that no mapping goes below with `words` of memory: what must move once, and 2 G / sqrt(R words) - 2 words
/// for G useful multiplications of which R use one input at most with one filter (Smith et al. 2017,
/// arXiv:1702.02017; with R Chen et al., HPCA 2020). Products with padding need no input and are not in G. A whole
/// number, rounded up.
std::int64_t least_words(const Nest& nest, std::int64_t words);

}  // namespace sdip
