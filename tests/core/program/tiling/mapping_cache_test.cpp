// Does a kept mapping equal one that is searched for, whatever was asked before, and by threads at once?
#include "core/program/tiling/mapping_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/core/program/built_in.h"
#include "tests/core/program/nest_class.h"

namespace sdip {
namespace {

InstructionClass linear_through_dram(std::int64_t rows, std::int64_t channels) {
  InstructionClass c = linear_class(rows, channels, channels);
  c.operand_a = Place::dram;
  c.to_dram = true, c.to_dsram = false;
  return c;
}

TileRoom room_of(std::int64_t bytes) {
  TileRoom room;
  room.read_bytes = room.write_bytes = room.weight_bytes = bytes;
  return room;
}

TEST(mapping_cache, searches_once_for_a_class_in_a_room) {
  MappingCache cache;
  const InstructionClass c = linear_through_dram(100, 200);
  EXPECT_EQ(cache.step_of(c, room_of(5000)).mapping, choose_mapping(c, room_of(5000)));
  EXPECT_EQ(cache.step_of(c, room_of(5000)).mapping, choose_mapping(c, room_of(5000)));
  EXPECT_EQ(cache.counts().searched, 1U);
  TileRoom greedy = room_of(5000);
  greedy.search = TileSearch::greedy;
  EXPECT_EQ(cache.step_of(c, greedy).mapping, choose_mapping(c, greedy));
  EXPECT_FALSE(cache.step_of(c, room_of(1)).mapping);
  EXPECT_FALSE(cache.step_of(c, room_of(1)).mapping);
  EXPECT_EQ(cache.counts().searched, 3U);
  EXPECT_EQ(cache.counts().asked, 5U);
}

TEST(mapping_cache, gives_a_class_that_is_whole_on_chip_one_mapping_in_every_room) {
  MappingCache cache;
  InstructionClass c = linear_through_dram(100, 200);
  c.operand_a = Place::dsram, c.to_dram = false, c.to_dsram = true;
  TileRoom room = room_of(5000);
  room.weight_bytes = 1 << 20;  // all of them: no sums are cut
  const auto first = cache.step_of(c, room).mapping;
  room.read_bytes = 7;
  EXPECT_EQ(cache.step_of(c, room).mapping, first);
  EXPECT_EQ(choose_mapping(c, room), first);
  EXPECT_EQ(cache.counts().searched, 1U);
}

/// Sums that are cut have buffers in DSRAM, and are where these have room: what was found in less is not for more.
TEST(mapping_cache, of_a_class_that_is_whole_on_chip_does_not_say_for_more_room_what_less_had) {
  std::size_t with_buffers = 0;
  for (const std::int64_t rows : {16, 300, 2048})
    for (const std::int64_t channels : {64, 320, 512}) {
      InstructionClass c = linear_through_dram(rows, channels);
      c.operand_a = Place::dsram, c.to_dram = false, c.to_dsram = true;
      for (const std::int64_t weights : {500, 4000, 30'000})
        for (const std::vector<std::int64_t>& sizes :
             {std::vector<std::int64_t>{0, 1000, 60'000, 1 << 22}, {1 << 22, 60'000, 1000, 0}}) {
          MappingCache cache;
          for (const std::int64_t bytes : sizes) {
            TileRoom room = room_of(bytes);
            room.weight_bytes = weights;
            const auto found = cache.step_of(c, room).mapping;
            EXPECT_EQ(found, choose_mapping(c, room)) << rows << " " << channels << " " << weights << " " << bytes;
            with_buffers += found && found->tile_sums < channels;
          }
        }
    }
  EXPECT_GT(with_buffers, 5U);
}

TEST(mapping_cache, keeps_no_more_than_it_may) {
  MappingCache cache(8);
  for (std::int64_t rows = 1; rows < 50; ++rows) {
    const InstructionClass c = linear_through_dram(rows, 64);
    EXPECT_EQ(cache.step_of(c, room_of(3000)).mapping, choose_mapping(c, room_of(3000)));
    EXPECT_LE(cache.counts().kept, 8U);
  }
}

TEST(mapping_cache, gives_threads_the_same) {
  MappingCache cache(16);
  const auto ask = [&] {
    for (int round = 0; round < 20; ++round)
      for (std::int64_t rows = 1; rows < 25; ++rows)
        EXPECT_EQ(cache.step_of(linear_through_dram(rows, 96), room_of(900)).mapping,
                  choose_mapping(linear_through_dram(rows, 96), room_of(900)));
  };
  std::thread other(ask);
  ask();
  other.join();
}

TEST(mapping_cache, shared_by_compilations_of_other_machines_leaves_programs_as_they_are) {
  CompileOptions shared;
  shared.mappings = std::make_shared<MappingCache>();
  std::size_t searched = 0;
  const Workload& workload = *std::ranges::find(built_in_workloads(), "tiny-sd-unet", &Workload::name);
  for (const bool again : {false, true}) {
    for (const std::int64_t bytes : {16'384, 40'000, 1 << 20})
      for (const Fusion fusion : {Fusion::no_fusion, Fusion::norm}) {
        Machine m;
        m.dsram_bytes = bytes;
        m.fusion = fusion;
        const Application with = compile(workload, m, shared), without = compile(workload, m);
        ASSERT_EQ(with.feasible, without.feasible) << with.reason;
        EXPECT_EQ(graph_text(with.stages[0]), graph_text(without.stages[0]));
      }
    if (again) {
      EXPECT_EQ(shared.mappings->counts().searched, searched);  // all were there
    }
    searched = shared.mappings->counts().searched;
  }
  EXPECT_LT(searched, shared.mappings->counts().asked / 4);
}

}  // namespace
}  // namespace sdip
