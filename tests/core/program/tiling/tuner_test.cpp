// Are the greedy and sampled searches no better than the exact one and not much worse?
#include "core/program/tiling/tuner.h"

#include <gtest/gtest.h>

#include <random>

namespace sdip {
namespace {

Nest product(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t heads = 1) {
  Nest nest;
  nest.loops.out_h = nest.loops.in_h = m, nest.loops.out_channels = n, nest.loops.in_channels = k;
  nest.loops.groups = heads;
  nest.weighted = heads == 1;
  return nest;
}

Nest convolution(std::int64_t in, std::int64_t out, std::int64_t size) {
  Nest nest = product(size, out, in);
  LoopNest& n = nest.loops;
  n.out_w = n.in_w = size;
  n.kernel_h = n.kernel_w = 3;
  n.pad_top = n.pad_left = n.pad_bottom = n.pad_right = 1;
  return nest;
}

MappingCost words_in(const Nest& nest, std::int64_t words) {
  return [&nest, words](const Mapping& m) -> std::optional<Asked> {
    if (tile_words(nest, m).all() > words) return std::nullopt;
    return Asked{0, traffic(nest, m).words()};
  };
}

TEST(greedy, of_the_worked_example_is_three_by_three) {
  const auto found = greedy_tiling(product(6, 6, 6), 20);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mapping.tile_rows, 3);
  EXPECT_EQ(found->mapping.tile_channels, 3);
  EXPECT_EQ(found->price, 180);
  EXPECT_TRUE(greedy_tiling(product(6, 6, 6), 3));
  EXPECT_FALSE(greedy_tiling(product(6, 6, 6), 2));
}

/// 16 rows of 4 sums by 4 channels: with all weights on chip, 16 words and 8 for each row of a tile, nothing comes
/// twice whatever the rows; 4 of them fill a fold.
TEST(greedy, takes_of_the_loop_that_does_not_matter_to_the_words_the_size_that_folds_best) {
  const Nest nest = product(16, 4, 4);
  const auto in = [&](std::int64_t words) {
    return greedy_mapping(nest, {}, [&](const Mapping& m) -> std::optional<Asked> {
      if (tile_words(nest, m).all() > words) return std::nullopt;
      return Asked{0, traffic(nest, m).words(), reference_folds(nest, m, 4)};
    });
  };
  for (const auto& [words, rows, folds] : {std::tuple{24, 1, 16}, std::tuple{31, 1, 16}, std::tuple{32, 2, 8},
                                           std::tuple{48, 4, 4}, std::tuple{79, 4, 4}}) {
    const auto found = in(words);
    ASSERT_TRUE(found) << words;
    EXPECT_EQ(found->cost.price, 64 + 16 + 64) << words;
    EXPECT_EQ(found->cost.folds, folds) << words;
    EXPECT_EQ(found->mapping.tile_rows, rows) << words;
  }
}

/// Layers of SD 1.5. Measured: greedy at most 1.60 times the best, 2000 samples 1.66 times.
constexpr double stated_ratio = 2;

TEST(other_searches, are_never_better_than_the_best_and_within_twice_of_it) {
  const Nest layers[] = {convolution(320, 320, 64),  convolution(640, 640, 32), convolution(1280, 1280, 16),
                         product(4096, 2560, 320),   product(4096, 320, 1280),  product(4096, 4096, 40, 8),
                         convolution(128, 128, 512), product(77, 3072, 768)};
  for (const Nest& nest : layers) {
    for (std::int64_t words = 1 << 16; words <= 1 << 20; words *= 4) {
      const auto best = best_tiling(nest, words);
      const auto greedy = greedy_tiling(nest, words);
      const auto tuned = tune(nest, TileSizes(), words_in(nest, words));
      ASSERT_TRUE(best && greedy && tuned);
      EXPECT_GE(greedy->price, best->price);
      EXPECT_GE(tuned->cost.price, best->price);
      EXPECT_LE(static_cast<double>(greedy->price), stated_ratio * static_cast<double>(best->price)) << words;
      EXPECT_LE(static_cast<double>(tuned->cost.price), stated_ratio * static_cast<double>(best->price)) << words;
      EXPECT_LE(tile_words(nest, greedy->mapping).all(), words);
      EXPECT_EQ(traffic(nest, tuned->mapping).words(), tuned->cost.price);
    }
  }
}

TEST(tuner, finds_the_same_for_the_same_seed_and_nothing_only_when_the_smallest_does_not_fit) {
  const Nest nest = convolution(64, 64, 28);
  TunerOptions options;
  options.seed = 5;
  const auto a = tune(nest, TileSizes(), words_in(nest, 5000), options);
  const auto b = tune(nest, TileSizes(), words_in(nest, 5000), options);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->mapping, b->mapping);
  EXPECT_TRUE(tune(nest, TileSizes(), words_in(nest, 19)));
  EXPECT_FALSE(tune(nest, TileSizes(), words_in(nest, 18)));
}

TEST(tuner, gets_no_worse_with_guidance) {
  const Nest nest = product(512, 768, 768);
  TunerOptions blind, guided;
  blind.guided = 0;
  const auto first = tune(nest, TileSizes(), words_in(nest, 20'000), blind);
  const auto then = tune(nest, TileSizes(), words_in(nest, 20'000), guided);
  ASSERT_TRUE(first && then);
  EXPECT_LE(then->cost, first->cost);
}

}  // namespace
}  // namespace sdip
