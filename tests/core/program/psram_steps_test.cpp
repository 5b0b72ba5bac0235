// For which capacities of PSRAM does the compiler say that it would decide the same, and would it?
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>

#include "core/program/form/parse.h"
#include "core/program/tiling/draft.h"
#include "core/program/tiling/mapping_cache.h"
#include "tests/core/program/built_in.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/nest_class.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

constexpr std::int64_t no_end = CapacityRange().most;

TEST(asked_capacity, is_the_same_for_all_that_would_have_answered_so) {
  const AskedCapacity hundred(100);
  EXPECT_TRUE(hundred.holds(60));
  EXPECT_FALSE(hundred.holds(130));
  EXPECT_EQ(hundred.same(), (CapacityRange{60, 129}));
  EXPECT_EQ(hundred.most_units(20, 7, 16, 4), 8);
  EXPECT_EQ(hundred.same(), (CapacityRange{76, 103}));
}

TEST(asked_capacity, of_units_is_as_wide_as_their_answer_whatever_the_numbers) {
  GraphDice dice(5);
  for (int i = 0; i < 20'000; ++i) {
    const std::int64_t size = dice.between(0, 60), fixed = dice.between(0, 20), each = dice.between(0, 9);
    const std::int64_t enough = dice.between(0, 12), granule = dice.between(1, 5);
    const auto units_of = [&](std::int64_t capacity) {
      return AskedCapacity(capacity).most_units(fixed, each, enough, granule);
    };
    const AskedCapacity asked(size);
    const std::int64_t units = asked.most_units(fixed, each, enough, granule);
    ASSERT_TRUE(asked.same().holds(size));
    for (std::int64_t other = 0; other < 200; ++other)
      ASSERT_EQ(units_of(other) == units, asked.same().holds(other)) << i << " at " << other;
  }
}

InstructionClass small_linear() { return linear_class(1, 8, 64); }
TileRoom room_for_weights(std::int64_t bytes) {
  TileRoom room;
  room.read_bytes = room.write_bytes = 1 << 20;
  room.weight_bytes = bytes;
  return room;
}

TEST(mapping_step, ends_where_the_next_granule_fits) {
  const MappingStep whole = mapping_step(small_linear(), room_for_weights(2048));
  EXPECT_EQ(whole.mapping->tile_channels, 64);
  EXPECT_EQ(whole.weight_room, (CapacityRange{2048, no_end}));
  const MappingStep half = mapping_step(small_linear(), room_for_weights(2047));
  EXPECT_EQ(half.mapping->tile_channels, 32);
  EXPECT_EQ(half.weight_room, (CapacityRange{1024, 2047}));
}

TEST(mapping_step, holds_what_a_search_finds_up_to_where_the_next_begins) {
  InstructionClass c = small_linear();
  c.work.nest.in_channels = c.weight_elements_per_channel = 320;
  c.work.nest.out_channels = c.out_elements = 640;
  int steps = 0;
  for (std::int64_t room = 1; room <= 1 << 20; ++steps) {
    const MappingStep step = mapping_step(c, room_for_weights(room));
    const std::int64_t most = std::min<std::int64_t>(step.weight_room.most, 1 << 21);
    for (const std::int64_t bytes : {room, std::min(room + 1, most), most})
      ASSERT_EQ(choose_mapping(c, room_for_weights(bytes)), step.mapping) << room << " to " << bytes;
    room = most + 1;
  }
  EXPECT_GT(steps, 3);
}

/// All of it, but for the range itself.
void expect_same(const Application& a, const Application& b) {
  ASSERT_EQ(a.feasible, b.feasible);
  EXPECT_EQ(a.reason, b.reason);
  ASSERT_EQ(a.stages.size(), b.stages.size());
  for (std::size_t s = 0; s < a.stages.size(); ++s) {
    const CompiledStage &x = a.stages[s], &y = b.stages[s];
    ASSERT_EQ(x.program.classes, y.program.classes);
    ASSERT_EQ(x.program.instructions.size(), y.program.instructions.size());
    EXPECT_EQ(x.dram_thousandths, y.dram_thousandths);
    EXPECT_EQ(x.needs, y.needs);
    if (a.feasible) {
      ASSERT_TRUE(write_graph_binary(x) == write_graph_binary(y));
    }
  }
}

Workload workload_of(GraphDice& dice) {
  Workload workload;
  auto graph = std::make_shared<const Graph>(random_graph(dice));
  const Role role = dice.one_in(2) ? Role::network : dice.one_in(2) ? Role::decoder : Role::core;
  workload.stages.push_back({role, "net", std::move(graph), {}});
  return workload;
}

/// Compilations of random networks, and of the same at capacities of the ranges that they give; how many differ
/// from what is next to their range.
struct Ranges {
  int feasible = 0, wide = 0, ends = 0, differ_beyond = 0;
};
Ranges compile_within_ranges(std::uint64_t first, std::uint64_t last) {
  Ranges seen;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    GraphDice dice(seed);
    const Workload workload = workload_of(dice);
    Machine machine = random_compile_machine(dice);
    machine.psram_pinned_bytes = dice.one_in(4) ? dice.between(1, 2000) : 0;
    machine.psram_bytes = machine.psram_pinned_bytes + dice.between(1, dice.one_in(3)   ? 150
                                                                       : dice.one_in(2) ? 700
                                                                                        : 4000);
    CompileOptions options;
    options.say_needed_bytes = dice.one_in(8);
    const Application application = compile(workload, machine, options);
    const CapacityRange range = application.psram_bytes;
    EXPECT_TRUE(range.holds(machine.psram_bytes));
    EXPECT_GT(range.least, machine.psram_pinned_bytes);
    options.mappings = nullptr;
    const auto at = [&](std::int64_t psram_bytes) {
      Machine other = machine;
      other.psram_bytes = psram_bytes;
      return compile(workload, other, options);
    };
    const std::int64_t most = std::min(range.most, machine.psram_bytes + 100'000);
    expect_same(application, at(machine.psram_bytes));
    for (const std::int64_t bytes : {range.least, most, dice.between(range.least, most)})
      expect_same(application, at(bytes));
    if (testing::Test::HasFatalFailure()) return seen;
    if (!application.feasible) continue;
    ++seen.feasible;
    seen.wide += range.most > range.least;
    if (range.most == no_end) continue;
    ++seen.ends;
    const Application beyond = at(range.most + 1);
    seen.differ_beyond +=
        !beyond.feasible || write_graph_binary(beyond.stages[0]) != write_graph_binary(application.stages[0]);
  }
  return seen;
}

TEST(psram_steps, are_ranges_in_which_every_capacity_gives_the_same_program) {
  const Ranges seen = compile_within_ranges(1, 260);
  EXPECT_GT(seen.feasible, 60);
  EXPECT_GT(seen.wide, seen.feasible * 9 / 10);
  EXPECT_GT(seen.differ_beyond, 12);
  std::cout << seen.feasible << " programs, " << seen.wide << " for more than one capacity, " << seen.ends
            << " with an end, " << seen.differ_beyond << " different beyond it\n";
}

TEST(psram_steps, of_a_diffusion_model_are_few) {
  const auto& all = built_in_workloads();
  const auto unet = std::ranges::find(all, "tiny-sd-unet", &Workload::name);
  ASSERT_NE(unet, all.end());
  const CapacityRange from_to{std::int64_t{1} << 16, std::int64_t{1} << 24};
  CompileOptions options;
  options.mappings = std::make_shared<MappingCache>();
  int steps = 0;
  Machine machine;
  for (machine.psram_bytes = from_to.least; machine.psram_bytes <= from_to.most; ++steps) {
    const Application application = compile(*unet, machine, options);
    ASSERT_TRUE(application.feasible && application.psram_bytes.most > machine.psram_bytes);
    if (application.psram_bytes.most >= from_to.most) break;
    machine.psram_bytes = application.psram_bytes.most + 1;
  }
  EXPECT_GE(steps, 2);
  EXPECT_LE(steps, 20);
  std::cout << steps + 1 << " programs from 64 KiB to 16 MiB\n";
}

}  // namespace
}  // namespace sdip
