// Is the mapping that the compiler takes on a machine's memories the one of fewest DRAM bytes?
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/program/tiling/draft.h"
#include "core/program/tiling/tuner.h"
#include "tests/core/base/full_run.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

InstructionClass small_class(std::mt19937& rng) {
  const auto to = [&](std::uint32_t most) { return static_cast<std::int64_t>(rng() % most) + 1; };
  InstructionClass c;
  LoopNest& n = c.work.nest;
  const bool weighted = rng() % 3 != 0;
  c.work.family = weighted ? Family::conv2d : Family::matmul;
  n.out_channels = to(5), n.in_channels = to(5), n.out_h = to(6), n.batch = rng() % 4 ? 1 : 2;
  if (weighted) n.out_w = to(4), n.kernel_h = n.kernel_w = 1 + 2 * static_cast<std::int64_t>(rng() % 2);
  n.pad_top = n.pad_left = n.pad_bottom = n.pad_right = n.kernel_h / 2;
  n.in_h = n.out_h, n.in_w = n.out_w;
  c.operand_a = rng() % 4 ? Place::dram : Place::dsram;
  c.operand_b = weighted ? Place::psram : rng() % 3 ? Place::dram : Place::dsram;
  c.to_dram = rng() % 4 != 0, c.to_dsram = !c.to_dram;
  c.out_elements = compulsory(nest_of(c)).out;
  if (weighted) {
    c.weight_elements_per_channel = n.in_channels * n.kernel_h * n.kernel_w;
    c.bias_elements_per_channel = static_cast<std::int64_t>(rng() % 2);
  }
  if (rng() % 3 == 0) c.fetches.push_back({rng() % 2 ? Place::dram : Place::dsram, c.out_elements, 1, true});
  return c;
}

TileRoom small_room(std::mt19937& rng) {
  const auto bytes = [&] { return 2 + static_cast<std::int64_t>(rng() % 400); };
  TileRoom room;
  room.read_bytes = bytes(), room.write_bytes = bytes(), room.weight_bytes = bytes();
  room.buffers = 1 + static_cast<std::int64_t>(rng() % 2), room.weight_buffers = 1;
  return room;
}

/// Bits through DRAM, edge tiles as they are.
std::int64_t dram_bits(const InstructionClass& c, const TileRoom& room) {
  const Nest nest = nest_of(c);
  const Traffic t = traffic(nest, c.mapping);
  const std::int64_t times = t.b / compulsory(nest).b;
  std::int64_t bits = 0;
  if (c.operand_a == Place::dram) bits += t.a * room.activation_bits;
  if (c.operand_b == Place::dram) bits += t.b * room.activation_bits;
  if (c.operand_b == Place::psram && !room.weights_stay)
    bits += times * 8 * weight_tile_bytes(c, nest.channels(), room.form);
  return bits + (t.partials_read + t.partials_written) * room.accumulator_bits;
}

bool works_through_dram(const InstructionClass& c) {
  return c.operand_a == Place::dram || c.operand_b == Place::dram || c.to_dram ||
         std::ranges::any_of(c.fetches, [](const Fetch& f) { return f.place == Place::dram; });
}

std::optional<std::int64_t> fewest_bits(InstructionClass c, const TileRoom& room, bool whole_channels_and_sums) {
  const LoopNest& n = c.work.nest;
  const bool streams = works_through_dram(c);
  const bool cuts_channels = streams || c.operand_b == Place::psram;
  std::optional<std::int64_t> best;
  Mapping& m = c.mapping;
  for (m.tile_rows = streams ? 1 : n.out_h; m.tile_rows <= n.out_h; ++m.tile_rows)
    for (m.tile_columns = streams ? 1 : n.out_w; m.tile_columns <= n.out_w; ++m.tile_columns)
      for (m.tile_channels = cuts_channels ? 1 : n.out_channels; m.tile_channels <= n.out_channels;
           ++m.tile_channels)
        for (m.tile_sums = 1; m.tile_sums <= n.in_channels; ++m.tile_sums) {
          if (whole_channels_and_sums && (m.tile_channels < n.out_channels || m.tile_sums < n.in_channels))
            continue;
          if (!missing_bytes(c, room, 1).none()) continue;
          m.order = {Loop::rows, Loop::columns, Loop::channels, Loop::sums};
          do {
            if (!c.to_dram && traffic(nest_of(c), m).partials_written > 0) continue;
            const std::int64_t bits = dram_bits(c, room);
            best = best ? std::min(*best, bits) : bits;
          } while (std::ranges::next_permutation(m.order).found);
        }
  return best;
}

TEST(choose_mapping, moves_the_fewest_bytes_of_all_mappings_and_orders) {
  std::mt19937 rng(12);
  std::int64_t cut = 0;
  for (int i = 0; i < 500; ++i) {
    InstructionClass c = small_class(rng);
    TileRoom room = small_room(rng);
    room.weights_stay = i % 4 == 0;
    const auto whole = fewest_bits(c, room, true);  // multiples of 32, which these sizes are not
    const auto best = whole ? whole : fewest_bits(c, room, false);
    const auto chosen = choose_mapping(c, room);
    ASSERT_EQ(chosen.has_value(), best.has_value()) << i;
    if (!chosen) continue;
    c.mapping = *chosen;
    cut += chosen->tile_sums < c.work.nest.in_channels;
    ASSERT_TRUE(missing_bytes(c, room, 1).none()) << i;
    const bool parts = !c.fetches.empty() && c.fetches[0].place == Place::dram;  // which are rounded up
    ASSERT_TRUE(parts || dram_bits(c, room) <= *best) << i;
    ASSERT_TRUE(whole || dram_bits(c, room) >= *best) << i;
  }
  EXPECT_GT(cut, 20);
}

/// The class of a layer of some hundred channels and rows.
InstructionClass large_class(std::mt19937& rng) {
  InstructionClass c = small_class(rng);
  LoopNest& n = c.work.nest;
  const auto to = [&](std::uint32_t most) { return static_cast<std::int64_t>(rng() % most) + 1; };
  n.out_channels = to(600), n.in_channels = to(600), n.out_h = n.in_h = to(200), n.out_w = n.in_w = to(40);
  if (c.operand_b != Place::psram) n.out_w = n.in_w = 1;
  c.out_elements = compulsory(nest_of(c)).out;
  for (Fetch& fetch : c.fetches) fetch.elements = c.out_elements;
  c.weight_elements_per_channel = c.operand_b == Place::psram ? n.in_channels * n.kernel_h * n.kernel_w : 0;
  return c;
}

TileRoom large_room(std::mt19937& rng) {
  const auto bytes = [&] { return std::int64_t{256} << rng() % 12; };
  TileRoom room;
  room.read_bytes = bytes(), room.write_bytes = bytes(), room.weight_bytes = bytes();
  return room;
}

/// The reference machine of docs/model/tiling.md: 128 x 128 multipliers, a port of 128 words, DRAM of 64 bytes a
/// cycle.
std::int64_t cycles_on_reference(const InstructionClass& c, const TileRoom& room) {
  const LoopNest& n = c.work.nest;
  const std::int64_t out_bits = c.to_dram ? compulsory(nest_of(c)).out * room.activation_bits : 0;
  const std::int64_t sums_tiles = ceil_div(n.in_channels, c.mapping.tile_sums);
  const std::int64_t a_fold = std::max(n.kernel_h * n.kernel_w * n.in_channels, 128 * (2 * sums_tiles - 1));
  return std::max(ceil_div(dram_bits(c, room) + out_bits, 512),
                  reference_folds(nest_of(c), c.mapping, 128) * a_fold);
}

TEST(tile_search, other_than_exact_moves_no_fewer_bytes_and_finds_a_mapping_whenever_there_is_one) {
  std::mt19937 rng(5);
  std::int64_t more = 0;
  for (int i = 0; i < 160; ++i) {
    InstructionClass c = i % 2 ? small_class(rng) : large_class(rng);
    TileRoom room = i % 2 ? small_room(rng) : large_room(rng);
    const auto best = choose_mapping(c, room);
    for (const TileSearch search : {TileSearch::greedy, TileSearch::sampled}) {
      room.search = search;
      const auto found = choose_mapping(c, room);
      ASSERT_EQ(found.has_value(), best.has_value()) << i;
      EXPECT_EQ(found, choose_mapping(c, room)) << i;
      if (!found) continue;
      c.mapping = *best;
      const std::int64_t fewest = dram_bits(c, room);
      c.mapping = *found;
      ASSERT_TRUE(is_valid(nest_of(c), c.mapping)) << i;
      EXPECT_TRUE(missing_bytes(c, room, 1).none()) << i;
      EXPECT_GE(dram_bits(c, room), fewest) << i;
      more += dram_bits(c, room) > fewest;
    }
    room.search = TileSearch::exact;
  }
  EXPECT_GT(more, 15);
}

/// Row-wise work of some operands.
InstructionClass rowwise_class(std::mt19937& rng) {
  const auto to = [&](std::uint32_t most) { return static_cast<std::int64_t>(rng() % most) + 1; };
  InstructionClass c;
  c.work.family = rng() % 2 ? Family::vector : Family::softmax;
  c.work.rows = to(40), c.work.row_length = to(rng() % 2 ? 300 : 20), c.work.passes = to(3);
  c.out_elements = c.work.rows * c.work.row_length;
  for (std::int64_t i = to(3); i > 0; --i) {
    const bool full = rng() % 3 != 0;
    c.fetches.push_back({rng() % 3 ? Place::dram : Place::dsram, full ? c.out_elements : to(100), to(3), full});
  }
  c.to_dram = rng() % 3 != 0, c.to_dsram = !c.to_dram;
  return c;
}

void draw_formats(std::mt19937& rng, InstructionClass& c, TileRoom& room) {
  room.burst_bytes = rng() % 2 ? 1 : 1 + static_cast<std::int64_t>(rng() % 64);
  room.activation_bits = std::int64_t{4} << rng() % 3;
  room.accumulator_bits = room.activation_bits * 2;
  room.form.bits = room.form.vector_bits = std::int64_t{4} << rng() % 3;
  room.buffers = 1 + static_cast<std::int64_t>(rng() % 2);
  room.weight_buffers = 1 + static_cast<std::int64_t>(rng() % 2);
  if (rng() % 6 == 0) room.form.skipping = true, room.form.density_hundredths = 50;
  if (rng() % 6 == 0) room.form.compression_hundredths = 150;
  if (!room.form.skipping && rng() % 4 == 0) {
    room.form.scale_group = 1 + static_cast<std::int64_t>(rng() % 8);
    room.form.scale_group_bits = std::int64_t{8} << rng() % 3;
  }
  if (rng() % 6 == 0) c.weight_elements = 1 + static_cast<std::int64_t>(rng() % 40);
}

TEST(choose_mapping, counts_bursts_as_the_worked_example_says) {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest.out_channels = 7;
  c.operand_a = Place::dsram, c.operand_b = Place::psram, c.to_dsram = true;
  c.out_elements = 7, c.weight_elements_per_channel = 1;
  TileRoom room;
  room.weight_bytes = 6, room.form.bits = room.form.vector_bits = 8, room.burst_bytes = 2;
  c.mapping = {1, 1, 3, 1, rows_outermost};
  EXPECT_EQ(dram_bytes(c, room), 10);
  c.mapping = choose_mapping(c, room).value();
  EXPECT_EQ(c.mapping.tile_channels, 2);
  EXPECT_EQ(dram_bytes(c, room), 8);
}

TEST(choose_mapping, never_moves_more_bytes_for_having_more_room) {
  std::mt19937 rng(21);
  std::int64_t fewer = 0, found_now = 0;
  for (int i = 0; i < 6000; ++i) {
    InstructionClass c = i % 3 == 0 ? rowwise_class(rng) : i % 12 == 1 ? large_class(rng) : small_class(rng);
    TileRoom room = i % 12 == 1 ? large_room(rng) : small_room(rng);
    draw_formats(rng, c, room);
    std::optional<std::int64_t> before;
    for (int steps = 0; steps < 6; ++steps) {
      const auto found = choose_mapping(c, room);
      ASSERT_TRUE(found || !before) << i;
      if (found) {
        c.mapping = *found;
        const std::int64_t bytes = dram_bytes(c, room);
        if (before) {
          ASSERT_LE(bytes, *before) << i << " step " << steps;
          fewer += bytes < *before;
        }
        found_now += !before;
        before = bytes;
      }
      for (std::int64_t* more : {&room.read_bytes, &room.write_bytes, &room.weight_bytes})
        if (rng() % 2) *more += 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(*more));
    }
  }
  EXPECT_GT(fewer, 1500);
  EXPECT_GT(found_now, 4000);
}

bool cuts_columns_or_sums(const InstructionClass& c, const Mapping& m) {
  return m.tile_columns < c.work.nest.out_w || m.tile_sums < c.work.nest.in_channels;
}

/// What greedy_mapping finds with whole columns and sums, by this file's own bytes or cycles; nothing when nothing.
std::optional<std::int64_t> greedy_asked_unsplit(InstructionClass c, const TileRoom& room) {
  const bool streams = works_through_dram(c);
  TileSizes sizes;
  sizes.split_columns = sizes.split_sums = false;
  sizes.split_rows = streams, sizes.split_channels = streams || c.operand_b == Place::psram;
  sizes.channel_granule = 32;
  const auto found = greedy_mapping(nest_of(c), sizes, [&](const Mapping& m) -> std::optional<Asked> {
    c.mapping = m;
    if (!missing_bytes(c, room, room.weight_buffers).none()) return std::nullopt;
    if (!c.to_dram && traffic(nest_of(c), m).partials_written > 0) return std::nullopt;
    return Asked{room.goal == TileGoal::bytes ? dram_bits(c, room) : cycles_on_reference(c, room)};
  });
  return found ? std::optional(found->cost.goal) : std::nullopt;
}

TEST(tile_search, by_greed_cuts_columns_and_sums_only_for_less_of_what_is_asked_or_where_nothing_fits_whole) {
  std::mt19937 rng(7);
  std::int64_t whole = 0, cut_for_less = 0, cut_to_fit = 0;
  for (int i = 0; i < 2000; ++i) {
    InstructionClass c = i % 2 ? small_class(rng) : large_class(rng);
    TileRoom room = i % 2 ? small_room(rng) : large_room(rng);
    room.search = TileSearch::greedy;
    room.goal = i % 4 < 2 ? TileGoal::bytes : TileGoal::cycles;
    room.weight_buffers = 1;
    const auto found = choose_mapping(c, room);
    if (!found) continue;
    c.mapping = *found;
    const std::int64_t asked = room.goal == TileGoal::bytes ? dram_bits(c, room) : cycles_on_reference(c, room);
    const auto unsplit = greedy_asked_unsplit(c, room);
    if (!cuts_columns_or_sums(c, *found)) {
      EXPECT_TRUE(!unsplit || asked <= *unsplit) << i;
      ++whole;
    } else {
      EXPECT_TRUE(!unsplit || asked < *unsplit) << i;
      ++(unsplit ? cut_for_less : cut_to_fit);
    }
  }
  EXPECT_GT(whole, 500);
  EXPECT_GT(cut_for_less, 20);
  EXPECT_GT(cut_to_fit, 20);
}

/// In so small layers 2000 samples meet all that is best.
TEST(tile_search, by_samples_cuts_columns_and_sums_only_for_fewer_bytes_or_where_nothing_fits_whole) {
  std::mt19937 rng(9);
  std::int64_t whole_kept = 0, cut = 0;
  for (int i = 0; i < 150; ++i) {
    InstructionClass c = small_class(rng);
    TileRoom room = small_room(rng);
    room.search = TileSearch::sampled;
    const auto found = choose_mapping(c, room);
    if (!found) continue;
    std::optional<std::int64_t> unsplit;
    const bool streams = works_through_dram(c);
    const LoopNest& n = c.work.nest;
    for (std::int64_t rows = streams ? 1 : n.out_h; rows <= n.out_h; ++rows) {
      c.mapping = {
          rows, n.out_w, n.out_channels, n.in_channels, {Loop::rows, Loop::columns, Loop::channels, Loop::sums}};
      do {
        if (!missing_bytes(c, room, 1).none()) break;
        const std::int64_t bits = dram_bits(c, room);
        unsplit = unsplit ? std::min(*unsplit, bits) : bits;
      } while (std::ranges::next_permutation(c.mapping.order).found);
    }
    c.mapping = *found;
    const bool cuts = cuts_columns_or_sums(c, *found);
    if (unsplit) {
      EXPECT_LE(dram_bits(c, room), *unsplit) << i;
      EXPECT_FALSE(cuts && dram_bits(c, room) == *unsplit) << i;
    }
    (cuts ? cut : whole_kept) += 1;
  }
  EXPECT_GT(whole_kept, 30);
  EXPECT_GT(cut, 10);
}

/// 3 x 3 of 320 x 64 x 64 with weights of 0.9 MB in 5 MiB: nothing comes twice in many ways, and most of them
/// shatter.
TEST(tile_search, folds_a_layer_of_sd15_as_well_as_the_exact_search_where_bytes_are_the_same) {
  InstructionClass c;
  LoopNest& n = c.work.nest;
  c.work.family = Family::conv2d;
  n.in_channels = n.out_channels = 320, n.in_h = n.in_w = n.out_h = n.out_w = 64;
  n.kernel_h = n.kernel_w = 3, n.pad_top = n.pad_left = n.pad_bottom = n.pad_right = 1;
  c.operand_a = Place::dram, c.operand_b = Place::psram, c.to_dram = true, c.to_dsram = false;
  c.out_elements = compulsory(nest_of(c)).out;
  c.weight_elements_per_channel = 320 * 9;
  TileRoom room;
  room.weight_bytes = 5 << 20, room.read_bytes = room.write_bytes = 3 << 19;
  const auto exact = choose_mapping(c, room);
  ASSERT_TRUE(exact);
  c.mapping = *exact;
  const std::int64_t bits = dram_bits(c, room), folds = reference_folds(nest_of(c), *exact, 128);
  for (const TileSearch search : {TileSearch::greedy, TileSearch::sampled}) {
    room.search = search;
    const auto found = choose_mapping(c, room);
    ASSERT_TRUE(found);
    c.mapping = *found;
    EXPECT_FALSE(cuts_columns_or_sums(c, *found));
    EXPECT_EQ(dram_bits(c, room), bits);
    EXPECT_EQ(reference_folds(nest_of(c), *found, 128), folds);
  }
}

TEST(tile_goal, cycles_takes_no_more_of_them_than_bytes_by_the_same_search) {
  std::mt19937 rng(6);
  std::int64_t fewer = 0;
  for (int i = 0; i < 160; ++i) {
    InstructionClass c = i % 2 ? small_class(rng) : large_class(rng);
    TileRoom room = i % 2 ? small_room(rng) : large_room(rng);
    for (const TileSearch search : {TileSearch::exact, TileSearch::greedy, TileSearch::sampled}) {
      room.search = search;
      room.goal = TileGoal::bytes;
      const auto bytes = choose_mapping(c, room);
      room.goal = TileGoal::cycles;
      const auto cycles = choose_mapping(c, room);
      ASSERT_EQ(bytes.has_value(), cycles.has_value()) << i;
      if (!bytes) continue;
      c.mapping = *bytes;
      const std::int64_t by_bytes = cycles_on_reference(c, room);
      c.mapping = *cycles;
      EXPECT_TRUE(missing_bytes(c, room, 1).none()) << i;
      EXPECT_LE(cycles_on_reference(c, room), by_bytes) << i;
      fewer += cycles_on_reference(c, room) < by_bytes;
    }
  }
  EXPECT_GT(fewer, 10);
}

TEST(tile_goal, cycles_takes_no_more_of_them_for_having_more_room) {
  std::mt19937 rng(2026);
  std::int64_t fewer = 0, steps = 0;
  const int classes = full_run() ? 1200 : 400;
  for (int i = 0; i < classes; ++i) {
    InstructionClass c = i % 2 ? small_class(rng) : large_class(rng);
    TileRoom room = i % 2 ? small_room(rng) : large_room(rng);
    room.goal = TileGoal::cycles;
    room.weight_buffers = 1 + static_cast<std::int64_t>(rng() % 2);
    std::optional<std::int64_t> before;
    for (int step = 0; step < 6; ++step) {
      if (const auto found = choose_mapping(c, room)) {
        c.mapping = *found;
        const std::int64_t cycles = cycles_on_reference(c, room);
        if (before) {
          ASSERT_LE(cycles, *before) << i << " step " << step;
          fewer += cycles < *before;
          ++steps;
        }
        before = cycles;
      }
      for (std::int64_t* more : {&room.read_bytes, &room.write_bytes, &room.weight_bytes})
        if (rng() % 2) *more += 1 + static_cast<std::int64_t>(rng() % static_cast<std::uint64_t>(*more));
    }
  }
  EXPECT_GT(steps, classes * 5 / 2);
  EXPECT_GT(fewer, classes / 3);
}

TEST(tile_goal, balanced_takes_no_more_cycles_than_bytes_for_at_most_a_hundredth_more_of_these) {
  std::mt19937 rng(16);
  std::int64_t fewer = 0, for_more_bytes = 0;
  for (int i = 0; i < 400; ++i) {
    InstructionClass c = i % 4 == 0 ? small_class(rng) : large_class(rng);
    TileRoom room = i % 4 == 0 ? small_room(rng) : large_room(rng);
    room.search = i % 10 == 0 ? TileSearch::greedy : i % 10 == 1 ? TileSearch::sampled : TileSearch::exact;
    const auto of_goal = [&](TileGoal goal) {
      room.goal = goal;
      const auto mapping = choose_mapping(c, room);
      if (mapping) c.mapping = *mapping;
      return mapping;
    };
    const bool found = of_goal(TileGoal::bytes).has_value();
    const std::int64_t bytes = dram_bytes(c, room), by_bytes = cycles_on_reference(c, room);
    ASSERT_EQ(of_goal(TileGoal::balanced).has_value(), found) << i;
    if (!found) continue;
    EXPECT_TRUE(missing_bytes(c, room, 1).none()) << i;
    EXPECT_LE(100 * dram_bytes(c, room), 101 * bytes) << i;
    EXPECT_LE(cycles_on_reference(c, room), by_bytes) << i;
    fewer += cycles_on_reference(c, room) < by_bytes;
    for_more_bytes += dram_bytes(c, room) > bytes;
  }
  EXPECT_GT(fewer, 20);
  EXPECT_GT(for_more_bytes, 2);
}

/// SD 1.5's second layer of the feed-forward at 16 x 16 on preset edge: fewest bytes are those of sums in ten
/// parts, which DSRAM's port reads and writes for each.
TEST(tile_goal, balanced_does_not_cut_sums_of_which_nothing_leaves_the_chip) {
  InstructionClass c = linear_class(512, 5120, 1280);
  c.operand_a = Place::dram, c.to_dram = true, c.to_dsram = false;
  TileRoom room;
  room.read_bytes = room.write_bytes = room.weight_bytes = 2 << 20;
  room.activation_bits = 8, room.form.bits = 8;
  c.mapping = *choose_mapping(c, room);
  const std::int64_t bytes = dram_bytes(c, room), cycles = cycles_on_reference(c, room);
  room.goal = TileGoal::balanced;
  c.mapping = *choose_mapping(c, room);
  EXPECT_EQ(dram_bytes(c, room), bytes);
  EXPECT_LT(7 * cycles_on_reference(c, room), cycles);
}

/// On chip as a whole, nothing moves whatever the tiles: an array of 128 x 128 takes tiles of 128 channels as well
/// as larger ones, and the smallest wins; a weight memory takes every row again for each.
TEST(choose_mapping, of_a_memory_that_multiplies_takes_each_row_for_as_few_tiles_of_channels_as_fit) {
  const InstructionClass c = linear_class(77, 64, 768);
  TileRoom room;
  room.read_bytes = room.write_bytes = 1 << 20;
  EXPECT_EQ(choose_mapping(c, room)->tile_channels, 128);
  room.weights_multiply = true;
  EXPECT_EQ(choose_mapping(c, room)->tile_channels, 768);
  EXPECT_EQ(choose_mapping(c, room)->tile_sums, 64);
  std::mt19937 rng(7);
  for (int i = 0; i < 200; ++i) {
    InstructionClass small = small_class(rng);
    TileRoom memory = small_room(rng);
    memory.weight_bytes = 0;
    const auto on_lanes = choose_mapping(small, memory);
    memory.weights_multiply = true;
    const auto in_memory = choose_mapping(small, memory);
    ASSERT_EQ(in_memory.has_value(), on_lanes.has_value());
    if (!in_memory || small.operand_b != Place::psram) continue;
    const Nest nest = nest_of(small);
    const ReferenceLanes row{1, nest.channels()};
    EXPECT_LE(reference_folds(nest, *in_memory, row), reference_folds(nest, *on_lanes, row));
    InstructionClass a = small, b = small;
    a.mapping = *in_memory, b.mapping = *on_lanes;
    memory.weights_stay = true;  // they are not counted
    EXPECT_EQ(dram_bits(a, memory), dram_bits(b, memory)) << "bytes come first";
  }
}

}  // namespace
}  // namespace sdip
