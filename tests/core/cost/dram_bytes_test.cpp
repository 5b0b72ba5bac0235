// Does the compiler count the DRAM bytes of an instruction as the estimate does, to the byte?
#include <gtest/gtest.h>

#include "core/cost/explain/channel_moves.h"
#include "core/program/form/form.h"
#include "core/program/tiling/draft.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// By the transfers that the estimate charges, of one core.
std::int64_t estimated(const InstructionClass& c, const Machine& m) {
  std::int64_t bytes = 0;
  for (const Move& move :
       channel_moves(class_cost(c, m), false, timeline_rules(m, Decimal{100}, 1, Bytes(0))).moves)
    bytes += move.times * ceil_div(move.bytes, m.dram_burst_bytes) * m.dram_burst_bytes;
  return bytes;
}

TEST(dram_bytes, of_the_compiler_are_those_of_the_estimate) {
  std::int64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    Dice dice(seed);
    Machine m = random_machine(dice);
    const Program program = random_program(dice, m);
    for (const InstructionClass& c : program.classes) {
      if (c.formats) continue;
      const TileRoom room = room_for(c, m, weight_place(m, Role::network));
      EXPECT_EQ(dram_bytes(c, room), estimated(c, m)) << "seed " << seed;
      ++compared;
    }
  }
  EXPECT_GT(compared, 3000);
}

}  // namespace
}  // namespace sdip
