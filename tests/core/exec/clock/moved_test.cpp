// What the datapath moves, byte for byte, beside what the clock charges: random programs on random machines.
#include <gmock/gmock.h>

#include "core/exec/clock/charges.h"
#include "core/exec/clock/step.h"
#include "core/program/kinds.h"
#include "tests/core/exec/clock/moved.h"

namespace sdip {
namespace {

using testing::HasSubstr;

using AllTransfers = std::vector<InstructionTransfers>;

/// A random program, with what it was drawn for.
struct DrawnProgram {
  MadeNetwork network;
  Machine machine;
  Application application;
  bool mappings = false;
};
std::optional<DrawnProgram> drawn_program(std::uint64_t seed) {
  Draw draw(seed);
  DrawnProgram d{random_network(draw, draw.between(4, 40)), {}, {}};
  d.machine = random_machine(draw);
  if (draw.one_in(3)) d.machine.cores = draw.between(2, 4);
  d.application = compiled_on(d.machine, d.network, Role::network);
  if (!d.application.feasible) return std::nullopt;
  if (draw.one_in(2)) {
    draw_mappings(draw, d.application.stages[0], d.machine);
    d.mappings = true;
  }
  return d;
}

/// How often each stream moved something through DRAM in a tile operation, and tiles of A came in part.
struct SeenStreams {
  std::int64_t instructions = 0, compared = 0, parts_of_a = 0, weights = 0, spread = 0, groups = 0, whole = 0;
  std::map<Stream, std::int64_t> operations{};
  void count(const InstructionClass& c, const InstructionTransfers& moved) {
    ++instructions;
    whole += !moved.by_tiles && !moved.at_once && !moved.reads_less && !moved.reads_more;
    if (!moved.by_tiles) return;
    ++compared;
    spread += c.spread_cores > 1;
    groups += weight_parts(c) > 1;
    std::int64_t most = 0;
    for (const TileTransfers& t : moved.operations) {
      for (std::size_t s = 0; s < streams; ++s)
        operations[static_cast<Stream>(s)] += t.bits[s][static_cast<std::size_t>(Through::dram)] > 0;
      const std::int64_t a = t(Stream::a, Through::dram);
      parts_of_a += a > 0 && a < most;
      most = std::max(most, a);
      weights += t.weight_elements > 0;
    }
  }
};

TEST(moved, random_programs_move_what_they_are_charged_and_the_clock_counts_the_same_with_it) {
  SeenStreams seen;
  std::int64_t stepped = 0;
  for (std::uint64_t seed = 0; seed < pair_count(300); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::optional<DrawnProgram> d = drawn_program(seed + 900000);
    if (!d) continue;
    const CompiledStage& stage = d->application.stages[0];
    const AllTransfers moved = transfers_of(stage, d->machine, d->network);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      EXPECT_EQ(difference_of(stage, d->machine, i, moved[i]), "") << stage.program.instructions[i].mnemonic;
      seen.count(class_of_instruction(stage, i), moved[i]);
    }
    if (d->mappings || moved.empty()) continue;  // their buffers are not those of the program
    ++stepped;
    const StepCounts charged = step(stage, d->machine, Decimal{100}, 1, 2);
    const StepCounts counted = step(stage, d->machine, Decimal{100}, 1, 2, moved);
    EXPECT_EQ(counted.passes, charged.passes);
    EXPECT_EQ(counted.streams[1].dram_bytes(), charged.streams[1].dram_bytes());
  }
  EXPECT_GT(stepped, 80);
  EXPECT_GT(seen.compared, seen.instructions * 3 / 4);
  EXPECT_GT(seen.parts_of_a, 300);
  EXPECT_GT(seen.weights, 3000);
  EXPECT_GT(seen.spread, 3);
  EXPECT_GT(seen.groups, 30);
  EXPECT_GT(seen.whole, seen.instructions / 10);
  for (const Stream stream : {Stream::a, Stream::b, Stream::values, Stream::others, Stream::partials_in,
                              Stream::partials_out, Stream::results})
    EXPECT_GT(seen.operations[stream], 50) << static_cast<int>(stream);
}

TEST(moved, a_bit_more_or_less_in_any_stream_is_a_failure) {
  std::map<Stream, int> tampered;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const std::optional<DrawnProgram> d = drawn_program(seed + 900000);
    if (!d) continue;
    const CompiledStage& stage = d->application.stages[0];
    AllTransfers moved = transfers_of(stage, d->machine, d->network);
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const InstructionClass& c = class_of_instruction(stage, i);
      const bool results_alone = moved[i].at_once || (!moved[i].by_tiles && is_nest(c.work.family));
      if (results_alone || c.compound == Compound::strips || moved[i].operations.empty()) continue;
      for (std::size_t s = 0; s < streams; ++s) {
        std::int64_t& bits = moved[i].operations.back().bits[s][static_cast<std::size_t>(Through::dram)];
        if (bits == 0) continue;
        ++tampered[static_cast<Stream>(s)];
        for (const int more : {8, -8}) {
          const bool allowed = more > 0 ? moved[i].reads_more : moved[i].reads_less;
          if (static_cast<Stream>(s) == Stream::others && allowed) continue;
          bits += more;
          EXPECT_THAT(difference_of(stage, d->machine, i, moved[i]), HasSubstr("execution_failed"));
          bits -= more;
        }
      }
      moved[i].operations.pop_back();
      EXPECT_THAT(difference_of(stage, d->machine, i, moved[i]), HasSubstr("tile operations"));
    }
  }
  EXPECT_GE(tampered.size(), 5U);
}

}  // namespace
}  // namespace sdip
