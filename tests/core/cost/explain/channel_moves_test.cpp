// Are the transfers of an instruction those that the executor makes, one after the other?
#include "core/cost/explain/channel_moves.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "core/exec/clock/operations.h"
#include "tests/core/cost/explain/evaluate_filled.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// A transfer: bytes in DRAM, bytes as PSRAM has them, copies, whether it is of weights, whether it leaves.
using Kind = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool>;
using Times = std::map<Kind, std::int64_t>;

Kind kind_of(const Move& m) { return {m.bytes, m.unpacked_bytes, m.copies, m.weights, m.out}; }

Times times_of(const std::vector<Move>& moves) {
  Times times;
  for (const Move& move : moves) times[kind_of(move)] += move.times;
  return times;
}

/// What the executor's operations of an instruction move.
struct Moved {
  Times all;
  std::multiset<Kind> first_loads, last_stores;
  std::int64_t first_cycles = 0, last_cycles = 0;
  bool last_loads = false;
};

Moved moved_by(const InstructionClass& c, const Machine& m, Role role, std::int64_t copies) {
  Moved moved;
  const bool fetches = !exec::weights_wired(m, role) && !c.pinned;
  const auto weights = [&](std::int64_t bytes, bool as_they_stand, std::int64_t cores) {
    if (fetches && bytes > 0)
      ++moved.all[{as_they_stand ? bytes : exec::packed_bytes(bytes, m), bytes, cores, true, false}];
  };
  weights(exec::held_psram_bytes(c, m), c.compound != Compound::strips, 1);
  const exec::Operation none;
  const exec::Operation* before = &none;
  const std::vector<exec::Operation> operations = exec::expand(c, m, role);
  for (const exec::Operation& o : operations) {
    std::multiset<Kind> loads;
    const auto load = [&](bool is_new, std::int64_t bytes) {
      if (is_new && bytes > 0) loads.insert({bytes, bytes, copies, false, false});
    };
    if (o.weight_tile != before->weight_tile) weights(o.weight_psram_bytes, false, c.spread_cores);
    load(o.a_tile != before->a_tile, o.a_bytes);
    load(o.b_tile != before->b_tile, o.b_bytes);
    load(true, o.other_bytes);
    load(true, o.partial_bytes);
    std::multiset<Kind> stores;
    if (o.out_bytes > 0) stores.insert({o.out_bytes, o.out_bytes, copies, false, true});
    for (const Kind& kind : loads) ++moved.all[kind];
    for (const Kind& kind : stores) ++moved.all[kind];
    if (before == &none) moved.first_loads = loads;
    moved.last_loads = !loads.empty();
    moved.last_stores = stores;
    before = &o;
  }
  moved.first_cycles = operations.front().cycles();
  moved.last_cycles = operations.back().cycles();
  return moved;
}

std::multiset<Kind> kinds_of(const std::vector<Move>& moves) {
  std::multiset<Kind> kinds;
  for (const Move& move : moves) kinds.insert(kind_of(move));
  return kinds;
}

/// Cycles and bytes of the channel, transfer by transfer.
void expect_charged(const ChannelMoves& moves, const Machine& m, const TimelineRules& rules) {
  std::int64_t cycles = 0, bytes = 0;
  for (const auto& [kind, times] : times_of(moves.moves)) {
    const auto& [stored, unpacked, copies, weights, out] = kind;
    const std::int64_t whole = copies * ceil_div(stored, m.dram_burst_bytes) * m.dram_burst_bytes;
    std::int64_t one = rules.rate.time_for(Bytes(whole)).value;
    if (weights && m.weight_compression.hundredths > 100)
      one = std::max(one, ceil_div(copies * unpacked, m.decompressor_bytes_per_cycle));
    cycles += times * one;
    bytes += times * whole;
  }
  EXPECT_EQ(channel_cycles<std::int64_t>(moves.moves, rules), cycles);
  const Filled said = channel_cycles<Filled>(moves.moves, rules), said_bytes = channel_bytes(moves.moves, rules);
  EXPECT_EQ(said.value(), cycles);
  EXPECT_EQ(evaluate_filled(said.text()), cycles) << said.text();
  EXPECT_EQ(said_bytes.value(), bytes);
  EXPECT_EQ(evaluate_filled(said_bytes.text()), bytes) << said_bytes.text();
}

/// Draws a program; false once something differs.
bool agree(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Dice dice(seed);
  Machine m = random_machine(dice);
  const Program program = random_program(dice, m);
  const Role role = dice.one_of({Role::network, Role::core, Role::text_encoder});
  m.hard_coded_part = dice.one_of({HardCodedPart::all, HardCodedPart::core});
  const std::int64_t cores = dice.between(1, 4);
  const TimelineRules rules = timeline_rules(m, Decimal{dice.between(1, 100)}, cores, program.pinned_bytes, role);
  for (const InstructionClass& c : program.classes) {
    const ClassCost cost = class_cost(c, m, role);
    const ChannelMoves moves = channel_moves(cost, c.pinned, rules);
    const Moved moved = moved_by(c, m, role, cores * cost.cores);
    EXPECT_EQ(times_of(moves.moves), moved.all);
    EXPECT_EQ(kinds_of(moves.first_loads), moved.first_loads);
    EXPECT_EQ(kinds_of(moves.last_stores), moved.last_stores);
    EXPECT_EQ(moves.first_cycles, moved.first_cycles);
    EXPECT_EQ(moves.last_cycles, moved.last_cycles);
    EXPECT_EQ(moves.last_loads, moved.last_loads);
    expect_charged(moves, m, rules);
  }
  return !testing::Test::HasFailure();
}

TEST(channel_moves, are_those_of_the_executor_on_drawn_programs) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed)
    if (!agree(seed)) return;
}

/// The worked example of channel_moves.h.
TEST(channel_moves, tiles_of_a_and_weights_are_counted_over_the_loops) {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest.out_h = c.work.nest.in_h = 5;
  c.work.nest.in_channels = c.work.nest.out_channels = c.weight_elements_per_channel = 4;
  c.out_elements = 20;
  c.operand_a = Place::dram;
  c.operand_b = Place::psram;
  c.mapping = {2, 1, 2, 4, channels_outermost};
  const Machine m;
  TimelineRules rules;
  rules.psram_bytes = 1 << 20;
  const ChannelMoves moves = channel_moves(class_cost(c, m), false, rules);
  std::vector<std::pair<std::string_view, std::int64_t>> told;
  for (const Move& move : moves.moves) told.emplace_back(move.what, move.times);
  const std::vector<std::pair<std::string_view, std::int64_t>> expected{
      {"weights", 2}, {"operand A", 2}, {"operand A, new rows", 2}, {"operand A, new rows", 2}};
  EXPECT_EQ(told, expected);
  EXPECT_EQ(times_of(moves.moves), (Times{{{16, 16, 1, true, false}, 2},
                                          {{2 * 4 * 2, 2 * 4 * 2, 1, false, false}, 4},
                                          {{1 * 4 * 2, 1 * 4 * 2, 1, false, false}, 2}}));
}

}  // namespace
}  // namespace sdip
