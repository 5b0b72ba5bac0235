// Compiled again for larger memories: does a program move no more wherever its values lie where they lay?
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "core/program/form/form.h"
#include "core/program/tiling/draft.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

/// In a steady pass of one core.
std::int64_t moved_bytes(const CompiledStage& stage, const Machine& m) {
  std::int64_t bytes = 0;
  for (const Instruction& i : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(i.instruction_class)];
    TileRoom room = room_for(c, m, weight_place(m, stage.role));
    if (c.pinned) room.weight_bytes = 0;
    bytes += dram_bytes(c, room);
  }
  return bytes;
}

/// What an instruction does and where its operands and results lie, its tiles apart.
bool is_same_but_for_tiles(InstructionClass a, const InstructionClass& b) {
  a.mapping = b.mapping;
  a.pinned = b.pinned;
  return a == b;
}

bool lies_as_before(const CompiledStage& a, const CompiledStage& b) {
  const auto class_of = [](const CompiledStage& stage) {
    return [&stage](const Instruction& i) {
      return stage.program.classes[static_cast<std::size_t>(i.instruction_class)];
    };
  };
  return std::ranges::equal(a.program.instructions, b.program.instructions, is_same_but_for_tiles, class_of(a),
                            class_of(b));
}

/// Whether tiles were chosen without knowing that weights stay: their bytes then depend on the tiles.
bool stays_unforeseen(const CompiledStage& stage, const Machine& m) {
  return std::ranges::any_of(stage.program.classes, [&](const InstructionClass& c) {
    const WeightForm form = weight_form(c, m);
    return c.pinned && (form.by_tile() || form.bits % 8 != 0);
  });
}

/// Small memories, each apart, for tiles chosen by their bytes.
Machine small_machine(GraphDice& dice) {
  Machine machine = random_compile_machine(dice);
  machine.tile_search = TileSearch::exact, machine.tile_goal = TileGoal::bytes;
  machine.strips = Strips::off;
  machine.activation_memory = ActivationMemory::separate;  // one memory's gaps depend on what lies around them
  machine.dram_burst_bytes = dice.between(1, 64);
  machine.psram_bytes = dice.between(100, 4000), machine.dsram_bytes = dice.between(100, 2000);
  machine.stackram_bytes = dice.between(0, 4000);
  machine.psram_pinned_bytes = dice.one_in(3) ? dice.between(1, machine.psram_bytes - 1) : 0;
  return machine;
}

std::optional<CompiledStage> compiled(const Workload& workload, const Machine& machine) {
  CompileOptions options;
  options.say_needed_bytes = false;
  Application application = compile(workload, machine, options);
  if (!application.feasible) return std::nullopt;
  return std::move(application.stages[0]);
}

/// Cycles on the reference machine, one core.
std::int64_t taken_cycles(const CompiledStage& stage, const Machine& m) {
  std::int64_t cycles = 0;
  for (const Instruction& i : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(i.instruction_class)];
    TileRoom room = room_for(c, m, weight_place(m, stage.role));
    if (c.pinned) room.weight_bytes = 0;
    cycles += reference_cycles(c, room);
  }
  return cycles;
}

/// What of a program is never more than of the one before, but for so many hundredths, on machines made for it.
struct Measure {
  std::int64_t (*of)(const CompiledStage&, const Machine&);
  std::int64_t more_hundredths = 0;
  void (*prepare)(Machine&) = [](Machine&) {};
};

/// A program never takes more than the one before: `more` makes the machine larger, `counts` says whether the
/// program may be compared with the one for less. Returns how many were compared.
template <class More, class Counts>
std::int64_t expect_no_more(const Measure& measure, std::uint64_t seeds, const More& more, const Counts& counts) {
  std::int64_t compared = 0, fewer = 0, elsewhere = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    GraphDice dice(seed);
    Workload workload;
    workload.stages.push_back({Role::network, "net", std::make_shared<const Graph>(random_graph(dice)), {}});
    Machine machine = small_machine(dice);
    measure.prepare(machine);
    std::optional<CompiledStage> before;
    std::int64_t last = 0;
    for (int step = 0; step < 8; ++step) {
      std::optional<CompiledStage> now = compiled(workload, machine);
      const std::int64_t taken = now ? measure.of(*now, machine) : 0;
      EXPECT_TRUE(now || !before) << "seed " << seed << " step " << step;
      if (before && now && !stays_unforeseen(*now, machine) && counts(*before, *now, machine)) {
        EXPECT_LE(taken, last + last * measure.more_hundredths / 100) << "seed " << seed << " step " << step;
        fewer += taken < last;
        elsewhere += !lies_as_before(*before, *now);
        ++compared;
      }
      last = taken;
      before = std::move(now);
      more(dice, machine);
    }
  }
  std::printf("%ld compared, %ld of fewer, %ld with values elsewhere\n", static_cast<long>(compared),
              static_cast<long>(fewer), static_cast<long>(elsewhere));
  EXPECT_GT(compared, 500);
  EXPECT_GT(fewer, 100);
  return compared;
}

void more_dsram_and_psram(GraphDice& dice, Machine& machine) {
  for (std::int64_t* bytes : {&machine.psram_bytes, &machine.dsram_bytes})
    if (dice.one_in(2)) *bytes += dice.between(1, *bytes / 2 + 1);
}

bool makes_nothing_again(const CompiledStage&, const CompiledStage&, const Machine& machine) {
  return machine.skip_handling != SkipHandling::recompute;
}

TEST(compiled_again, for_larger_dsram_and_psram_moves_no_more_without_exception) {
  expect_no_more({moved_bytes}, 500, more_dsram_and_psram, makes_nothing_again);
}

/// Mappings are searched for by bytes before transfers are rounded up, which of so small networks is a hundredth.
TEST(compiled_again, for_larger_dsram_and_psram_takes_no_more_reference_cycles) {
  const auto by_cycles = [](Machine& machine) {
    machine.tile_goal = TileGoal::cycles;
    machine.dram_burst_bytes = 1;
  };
  EXPECT_GT(expect_no_more({taken_cycles, 2, by_cycles}, 400, more_dsram_and_psram, makes_nothing_again), 1000);
}

TEST(compiled_again, for_larger_memories_moves_no_more_where_values_lie_as_before) {
  expect_no_more(
      {moved_bytes}, 600,
      [](GraphDice& dice, Machine& machine) {
        for (std::int64_t* bytes : {&machine.psram_bytes, &machine.dsram_bytes, &machine.stackram_bytes})
          if (dice.one_in(2)) *bytes += dice.between(1, *bytes / 2 + 1);
      },
      [](const CompiledStage& before, const CompiledStage& now, const Machine&) {
        return lies_as_before(before, now);
      });
}

}  // namespace
}  // namespace sdip
