// Two products in a row on one memory.
#include "core/program/tiling/chain_words.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/units.h"

namespace sdip {
namespace {

std::int64_t weights_of_feature(const ProductChain& c) { return c.inputs + c.outputs; }

/// The weights that fit beside so many words.
std::int64_t features_held(const ProductChain& c, std::int64_t words, std::int64_t taken) {
  return std::clamp<std::int64_t>((words - taken) / weights_of_feature(c), 0, c.hidden);
}

}  // namespace

std::int64_t chain_room(const ProductChain& c, const ChainSchedule& s) {
  const std::int64_t w = weights_of_feature(c);
  if (s.order == ChainOrder::features) return s.held * w + w + 1;
  return s.strip * (w + 1) + s.held * w + (s.held < c.hidden ? std::max(c.inputs, c.outputs) : 0);
}

std::int64_t chain_words(const ProductChain& c, const ChainSchedule& s) {
  const std::int64_t w = weights_of_feature(c);
  if (s.order == ChainOrder::strips)
    return c.rows * w + s.held * w + ceil_div(c.rows, s.strip) * (c.hidden - s.held) * w;
  const std::int64_t tiles = ceil_div(c.hidden, s.held);
  return c.hidden * w + tiles * c.rows * c.inputs + (2 * tiles - 1) * c.rows * c.outputs;
}

std::optional<ChainSchedule> least_chain(const ProductChain& c, std::int64_t words) {
  check(c.rows >= 1 && c.inputs >= 1 && c.hidden >= 1 && c.outputs >= 1, "least_chain: sizes of at least 1");
  std::optional<ChainSchedule> best;
  const auto offer = [&](ChainSchedule s) {
    if (chain_room(c, s) > words) return;
    s.words = chain_words(c, s);
    if (!best || s.words < best->words) best = s;
  };
  const std::int64_t w = weights_of_feature(c), passing = std::max(c.inputs, c.outputs);
  for (std::int64_t strips = 1; strips <= c.rows;) {
    const std::int64_t strip = ceil_div(c.rows, strips);
    offer({ChainOrder::strips, strip, c.hidden, 0});
    offer({ChainOrder::strips, strip, features_held(c, words, strip * (w + 1) + passing), 0});
    strips = strip == 1 ? c.rows + 1 : ceil_div(c.rows, strip - 1);  // the next that makes strips smaller
  }
  if (const std::int64_t held = features_held(c, words, w + 1); held > 0) {
    const std::int64_t tiles = ceil_div(c.hidden, held);
    offer({ChainOrder::features, 1, ceil_div(c.hidden, tiles), 0});
  }
  return best;
}

std::int64_t least_chain_words(const ProductChain& c) { return (c.rows + c.hidden) * weights_of_feature(c); }

}  // namespace sdip
