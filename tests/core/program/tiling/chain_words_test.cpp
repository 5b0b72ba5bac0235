// Two products in a row on one memory, beside schedules that are stepped word by word.
#include "core/program/tiling/chain_words.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <tuple>

#include "core/base/units.h"
#include "core/program/tiling/tiling.h"
#include "tests/core/base/full_run.h"

namespace sdip {
namespace {

/// A memory of words by name that counts what comes and goes, and the most that it held.
struct CountedMemory {
  std::set<std::tuple<char, std::int64_t, std::int64_t>> words;
  std::int64_t moved = 0, most = 0;

  void bring(char what, std::int64_t a, std::int64_t b) {
    if (words.contains({what, a, b})) return;
    ++moved;
    make(what, a, b);
  }
  void make(char what, std::int64_t a, std::int64_t b) {
    words.insert({what, a, b});
    most = std::max(most, std::ssize(words));
  }
  void drop(char what, std::int64_t a, std::int64_t b) { words.erase({what, a, b}); }
  void leave(char what, std::int64_t a, std::int64_t b) {
    ++moved;
    drop(what, a, b);
  }
  bool has(char what, std::int64_t a, std::int64_t b) const { return words.contains({what, a, b}); }
};

struct Stepped {
  std::int64_t words = 0, room = 0;
};

Stepped step_strips(const ProductChain& c, const ChainSchedule& s) {
  CountedMemory memory;
  for (std::int64_t first = 0; first < c.rows; first += s.strip) {
    const std::int64_t end = std::min(c.rows, first + s.strip);
    for (std::int64_t r = first; r < end; ++r) {
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.bring('x', r, i);
      for (std::int64_t o = 0; o < c.outputs; ++o) memory.make('s', r, o);
    }
    for (std::int64_t h = 0; h < c.hidden; ++h) {
      const bool held = h < s.held;
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.bring('v', i, h);
      for (std::int64_t r = first; r < end; ++r) memory.make('h', r, h);
      for (std::int64_t i = 0; i < c.inputs && !held; ++i) memory.drop('v', i, h);
      for (std::int64_t o = 0; o < c.outputs; ++o) memory.bring('w', h, o);
      for (std::int64_t r = first; r < end; ++r) memory.drop('h', r, h);
      for (std::int64_t o = 0; o < c.outputs && !held; ++o) memory.drop('w', h, o);
    }
    for (std::int64_t r = first; r < end; ++r) {
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.drop('x', r, i);
      for (std::int64_t o = 0; o < c.outputs; ++o) memory.leave('s', r, o);
    }
  }
  return {memory.moved, memory.most};
}

Stepped step_features(const ProductChain& c, const ChainSchedule& s) {
  CountedMemory memory;
  for (std::int64_t first = 0; first < c.hidden; first += s.held) {
    const std::int64_t end = std::min(c.hidden, first + s.held);
    for (std::int64_t h = first; h < end; ++h) {
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.bring('v', i, h);
      for (std::int64_t o = 0; o < c.outputs; ++o) memory.bring('w', h, o);
    }
    for (std::int64_t r = 0; r < c.rows; ++r) {
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.bring('x', r, i);
      for (std::int64_t o = 0; o < c.outputs; ++o) first == 0 ? memory.make('s', r, o) : memory.bring('s', r, o);
      for (std::int64_t h = first; h < end; ++h) {
        memory.make('h', r, h);
        memory.drop('h', r, h);
      }
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.drop('x', r, i);
      for (std::int64_t o = 0; o < c.outputs; ++o) memory.leave('s', r, o);
    }
    for (std::int64_t h = first; h < end; ++h) {
      for (std::int64_t i = 0; i < c.inputs; ++i) memory.drop('v', i, h);
      for (std::int64_t o = 0; o < c.outputs; ++o) memory.drop('w', h, o);
    }
  }
  return {memory.moved, memory.most};
}

ProductChain drawn_chain(std::mt19937& rng) {
  const auto up_to = [&](std::uint32_t most) { return 1 + static_cast<std::int64_t>(rng() % most); };
  return {up_to(9), up_to(5), up_to(9), up_to(5)};
}

TEST(chain_words, and_room_are_those_of_schedules_that_are_stepped) {
  std::mt19937 rng(1);
  for (int turn = 0; turn < (full_run() ? 400 : 100); ++turn) {
    const ProductChain c = drawn_chain(rng);
    for (std::int64_t strip = 1; strip <= c.rows; ++strip)
      for (std::int64_t held = 0; held <= c.hidden; ++held) {
        const ChainSchedule s{ChainOrder::strips, strip, held, 0};
        const Stepped stepped = step_strips(c, s);
        ASSERT_EQ(chain_words(c, s), stepped.words);
        ASSERT_GE(chain_room(c, s), stepped.room);
        ASSERT_LE(chain_room(c, s), stepped.room + std::max(c.inputs, c.outputs))
            << "held ones need no passing room";
      }
    for (std::int64_t held = 1; held <= c.hidden; ++held) {
      const ChainSchedule s{ChainOrder::features, 1, held, 0};
      const Stepped stepped = step_features(c, s);
      ASSERT_EQ(chain_words(c, s), stepped.words);
      ASSERT_EQ(chain_room(c, s), stepped.room);
    }
  }
}

TEST(chain_words, are_the_least_of_all_strips_and_held_features_and_fewer_with_more_room) {
  std::mt19937 rng(2);
  for (int turn = 0; turn < 400; ++turn) {
    const ProductChain c = drawn_chain(rng);
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (std::int64_t words = 1; words < 220; words += 7) {
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const ChainOrder order : {ChainOrder::strips, ChainOrder::features})
        for (std::int64_t strip = 1; strip <= c.rows; ++strip)
          for (std::int64_t held = order == ChainOrder::strips ? 0 : 1; held <= c.hidden; ++held)
            if (const ChainSchedule s{order, strip, held, 0}; chain_room(c, s) <= words)
              least = std::min(least, chain_words(c, s));
      const auto found = least_chain(c, words);
      ASSERT_EQ(found.has_value(), least < std::numeric_limits<std::int64_t>::max()) << words;
      if (!found) continue;
      ASSERT_EQ(found->words, least) << words;
      ASSERT_LE(chain_room(c, *found), words);
      ASSERT_GE(found->words, least_chain_words(c));
      ASSERT_LE(found->words, before);
      before = found->words;
    }
    EXPECT_EQ(before, least_chain_words(c));
  }
}

/// AccelForge's fused mapper FFM moves 7,536,640 words (peers.md, last section, handed to this project as a
/// reference).
TEST(chain_words, of_a_feed_forward_are_fewer_than_another_mapper_s) {
  const ProductChain chain{4096, 320, 2560, 320};
  const auto found = least_chain(chain, 1 << 20);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->words, 7'192'320);
  EXPECT_EQ(found->strip, 1366);
  EXPECT_EQ(found->held, 269);
  const auto product = [](std::int64_t rows, std::int64_t sums, std::int64_t channels) {
    Nest nest;
    nest.loops.out_h = nest.loops.in_h = rows, nest.loops.in_channels = sums, nest.loops.out_channels = channels;
    nest.weighted = true;
    return best_tiling(nest, 1 << 20)->price;
  };
  EXPECT_EQ(product(4096, 320, 2560) + product(4096, 2560, 320), 25'231'360);
}

}  // namespace
}  // namespace sdip
