// What one tile operation needs, moves and sends to the host, where random programs do not reach.
#include "core/cost/work/circuit.h"

#include <gtest/gtest.h>

#include "core/cost/work/host.h"
#include "core/cost/work/ports.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

InstructionClass matmul_class() {
  InstructionClass c;
  c.work.family = Family::matmul;
  c.work.nest = {.out_channels = 4, .in_channels = 6, .out_h = 5, .in_h = 5};
  c.operand_a = c.operand_b = Place::dsram;
  c.mapping = cost::one_tile;
  c.out_elements = 20;
  return c;
}

TEST(busy, adds_every_resource_as_often_as_it_is_said) {
  Busy one;
  one[Resource::compute] = 1, one[Resource::dsram_read] = 2, one[Resource::dsram_write] = 3,
  one[Resource::stackram_read] = 4, one[Resource::stackram_write] = 5;
  one[Resource::psram_read] = 6;
  one.other_pairs.add(2, 7);
  Busy sum = one;
  sum.add(one, 10);
  EXPECT_EQ(sum[Resource::compute], 11);
  EXPECT_EQ(sum[Resource::dsram_read], 22);
  EXPECT_EQ(sum[Resource::dsram_write], 33);
  EXPECT_EQ(sum[Resource::stackram_read], 44);
  EXPECT_EQ(sum[Resource::stackram_write], 55);
  EXPECT_EQ(sum[Resource::psram_read], 66);
  EXPECT_EQ(sum.all_dsram_reads(), 22 + 77);
  EXPECT_EQ(sum.longest_dsram_read(), 77);
}

TEST(ports, a_pair_is_read_where_the_operand_lies_in_dsram_alone) {
  const Machine m;
  const Resolved r = resolve(InstructionClass(), m);
  for (const Place place : {Place::stackram, Place::psram, Place::dram, Place::nowhere}) {
    Busy busy;
    book_read(r, busy, place, Family::softmax, std::int64_t{5});
    EXPECT_FALSE(busy.other_pairs.any);
    EXPECT_EQ(busy[Resource::stackram_read], place == Place::stackram ? 5 : 0);
    EXPECT_EQ(busy[Resource::psram_read], place == Place::psram ? 5 : 0);
    EXPECT_EQ(busy[Resource::dsram_read], place == Place::dram ? 5 : 0);
  }
}

TEST(ports, of_a_class_with_a_pair_for_each_operator_are_read_where_its_operands_lie) {
  Machine m;
  m.operator_dsram = OperatorDsram::per_operator;
  InstructionClass c = matmul_class();
  c.operand_a = Place::stackram;
  c.pair_a = Family::softmax;
  EXPECT_FALSE(class_cost(c, m).busy.other_pairs.any);
  c.operand_a = Place::dsram;
  EXPECT_TRUE(class_cost(c, m).busy.other_pairs.any);
}

TEST(ports, an_operand_of_more_passes_than_run_apart_is_read_so_many_times_in_each) {
  cost::TilePlan plan;
  plan.passes_apart = 2;
  Fetch fetch;
  fetch.passes = 5;
  EXPECT_EQ(reads_of(fetch, plan, false), 2);
  fetch.passes = 2;
  EXPECT_EQ(reads_of(fetch, plan, false), 1);
  fetch.passes = 1;
  EXPECT_EQ(reads_of(fetch, plan, false), 0);
  EXPECT_EQ(reads_of(fetch, plan, true), 1);
}

InstructionClass softmax_class(std::int64_t rows, std::int64_t length) {
  InstructionClass c;
  c.work.family = Family::softmax;
  c.work.rows = rows, c.work.row_length = length, c.work.passes = 1;
  c.mapping = cost::one_tile;
  c.out_elements = rows * length;
  return c;
}

/// The host's cycles of all of a class in one operation of `tiles`.
std::int64_t host_cycles(const InstructionClass& c, const Machine& m, bool last, std::int64_t tiles) {
  const TileShape tile{{c.work.rows, 1, c.work.row_length, 1}, true, last, tiles};
  std::int64_t cycles = 0;
  for (const Busy& step : host_formulas<std::int64_t>(c, resolve(c, m), cost::tile_plan(c), tile))
    cycles += step[Resource::compute];
  return cycles;
}

Machine with_host() {
  Machine m;
  m.activation_format = NumberFormat::int8;
  m.host_operators = HostOperators::softmax_and_norm;
  m.host_bus_bits = 8;
  m.host_access_cycles = 1;
  m.host_result_bits = 0;
  m.host_cycles_per_element = Decimal{100};
  return m;
}

TEST(host, cuts_each_step_of_an_operation_where_all_of_them_together_last_2_to_the_58) {
  constexpr std::int64_t most = (std::int64_t{1} << 58) / 3;  // no whole number
  constexpr std::int64_t elements = std::int64_t{1} << 40;
  Machine m = with_host();
  m.host_access_cycles = std::int64_t{1} << 20;
  InstructionClass c = softmax_class(1, elements);
  const Fetch operand{.place = Place::dsram, .per_fold = true};
  c.fetches = {operand};
  EXPECT_EQ(host_cycles(c, m, false, 3), most + elements) << "operands, and the host's work";
  c.fetches = {operand, operand};
  EXPECT_EQ(host_cycles(c, m, false, 3), most + elements) << "together";
  c.fetches.clear();
  EXPECT_EQ(host_cycles(c, m, true, 3), elements + most) << "the host's work, and results";
  c.to_dsram = false;
  c.work.row_length = std::int64_t{1} << 57;
  EXPECT_EQ(host_cycles(c, m, false, 3), most) << "the host's work";
  // The operation after next is one of three, too.
  c = softmax_class(3, elements);
  c.mapping = {1, 1, elements, 1};
  c.to_dsram = false;
  m.host_cycles_per_element = Decimal{100LL << 20};
  EXPECT_EQ(class_cost(c, m).busy[Resource::compute], 3 * most);
}

TEST(host, is_sent_no_scalars) {
  const Machine m = with_host();
  InstructionClass c = softmax_class(2, 5);
  const std::int64_t without = host_cycles(c, m, true, 1);
  EXPECT_EQ(without, 10 + 10);
  c.fetches = {{.place = Place::scalar, .elements = 4}, {.place = Place::nowhere, .elements = 4}};
  EXPECT_EQ(host_cycles(c, m, true, 1), without);
  c.fetches.push_back({.place = Place::stackram, .elements = 4});
  EXPECT_EQ(host_cycles(c, m, true, 1), without + 4);
}

TEST(host, has_no_part_of_a_compound) {
  InstructionClass c = softmax_class(2, 5);
  EXPECT_TRUE(on_host(c, with_host().host_operators));
  for (const Compound compound : {Compound::attention, Compound::strips}) {
    c.compound = compound;
    EXPECT_FALSE(on_host(c, with_host().host_operators));
  }
}

TEST(streams, are_said_of_whatever_passes_through_dram_and_of_nothing_else) {
  EXPECT_FALSE(class_cost(matmul_class(), Machine()).streams_activations);
  InstructionClass a = matmul_class(), b = matmul_class(), out = matmul_class(), beside = matmul_class();
  a.operand_a = Place::dram;
  b.operand_b = Place::dram;
  out.to_dram = true;
  beside.fetches = {{.place = Place::dram, .elements = 1}};
  for (const InstructionClass& c : {a, b, out, beside}) EXPECT_TRUE(class_cost(c, Machine()).streams_activations);
  for (std::int64_t TileCost::*bytes :
       {&TileCost::b_bytes, &TileCost::split_in_bytes, &TileCost::partial_in_bytes, &TileCost::out_bytes}) {
    ClassCost cost;
    cost.windows.push_back({});
    EXPECT_FALSE(moves_activations(cost));
    cost.shapes.emplace_back().*bytes = 1;
    EXPECT_TRUE(moves_activations(cost));
  }
  ClassCost cost;
  cost.windows.push_back({1, 0});
  EXPECT_TRUE(moves_activations(cost));
}

TEST(streams, of_an_attention_are_those_of_its_operands) {
  InstructionClass c = matmul_class();
  c.compound = Compound::attention;
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].operand_b = Place::dsram;
  c.mapping = {5, 1, 4, 6, rows_outermost};
  EXPECT_FALSE(class_cost(c, Machine()).streams_activations);
  c.operand_a = Place::dram;
  EXPECT_TRUE(class_cost(c, Machine()).streams_activations);
}

TEST(formats, of_a_layer_are_those_that_its_instruction_is_costed_in) {
  Machine m, narrow;
  m.dsram_port_bits = narrow.dsram_port_bits = 8;
  narrow.weight_format = narrow.activation_format = NumberFormat::int8;
  InstructionClass c = matmul_class();
  const ClassCost wide = class_cost(c, m), whole = class_cost(c, narrow);
  c.formats = {NumberFormat::int8, NumberFormat::int8, NumberFormat::int8};
  const ClassCost own = class_cost(c, m);
  EXPECT_EQ(own.busy[Resource::dsram_read], whole.busy[Resource::dsram_read]);
  EXPECT_EQ(own.busy[Resource::dsram_write], whole.busy[Resource::dsram_write]);
  EXPECT_NE(own.busy[Resource::dsram_read], wide.busy[Resource::dsram_read]);
  c.formats->results = NumberFormat::fp32;
  EXPECT_EQ(class_cost(c, m).busy[Resource::dsram_write], 4 * own.busy[Resource::dsram_write]);
}

void add_numbers(const Busy& busy, std::vector<std::int64_t>& all) {
  all.insert(all.end(), {busy[Resource::compute], busy[Resource::dsram_read], busy[Resource::dsram_write],
                         busy[Resource::stackram_read], busy[Resource::stackram_write], busy[Resource::psram_read],
                         busy.other_pairs.any});
  all.insert(all.end(), busy.other_pairs.beats.begin(), busy.other_pairs.beats.end());
}

std::vector<std::int64_t> numbers_of(const ClassCost& cost) {
  std::vector<std::int64_t> all = {cost.operations,
                                   cost.cycles,
                                   cost.macs,
                                   cost.lane_operations,
                                   cost.spent_macs,
                                   cost.memory_cycles,
                                   static_cast<std::int64_t>(cost.conversions),
                                   cost.on_host,
                                   cost.cores,
                                   cost.link_in_cycles,
                                   cost.link_out_cycles,
                                   static_cast<std::int64_t>(cost.circuit),
                                   cost.weighted,
                                   cost.streams_activations,
                                   cost.held_weight_bytes};
  all.push_back(static_cast<std::int64_t>(cost.owned.to_ullong()));
  add_numbers(cost.busy, all);
  for (const TileCost& t : cost.shapes) {
    add_numbers(t.busy, all);
    all.insert(all.end(), {t.cycles, t.times, t.micro_operations, t.b_bytes, t.weight_bytes, t.weight_stored_bytes,
                           t.split_in_bytes, t.partial_in_bytes, t.out_bytes});
  }
  for (const WindowBytes& window : cost.windows) all.insert(all.end(), {window.all, window.fresh});
  return all;
}

TEST(class_cost, made_anew_of_another_machines_is_the_machines_own) {
  std::size_t changed = 0, all = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Dice dice(seed);
    Machine first = random_machine(dice);
    const Program program = random_program(dice, first);
    Machine second = first;
    for (const ParameterRow& row : parameters())
      if (!changes_program(row) && row.name != "cores")
        row.write(second, dice.between(row.least, std::min(row.most, row.least + 200)));
    ASSERT_EQ(compile_key(first), compile_key(second));
    const Role role = dice.one_of({Role::network, Role::core, Role::decoder});
    for (InstructionClass c : program.classes) {
      if (dice.one_in(4)) c.formats = Formats{NumberFormat::int4, NumberFormat::fp16, NumberFormat::fp16};
      if (c.formats && first.sparsity != Sparsity::dense) c.formats->density_hundredths = dice.between(1, 100);
      ClassCost cost = class_cost(c, first, role);
      const std::vector<std::int64_t> before = numbers_of(cost);
      cost_anew(c, resolve(c, second, role), cost);
      ASSERT_EQ(numbers_of(cost), numbers_of(class_cost(c, second, role))) << "seed " << seed;
      changed += numbers_of(cost) != before;
      ++all;
      cost_anew(c, resolve(c, first, role), cost);
      ASSERT_EQ(numbers_of(cost), before) << "seed " << seed;
    }
  }
  EXPECT_GT(changed, all / 2);
}

TEST(steps, that_last_longer_than_any_stage_may_are_cut_and_not_wrapped) {
  constexpr std::int64_t most = std::int64_t{1} << 58;
  Busy busy;
  busy[Resource::psram_read] = most - 1;
  Steps steps;
  for (int step = 0; step < 100; ++step) steps.add_step(busy);
  EXPECT_EQ(steps.cycles, most);
  EXPECT_LT(steps.busy[Resource::psram_read], most);
  TileCost tile;
  tile.cycles = tile.times = std::int64_t{1} << 40;
  ClassCost cost;
  for (int shape = 0; shape < 100; ++shape) add_operation(tile, cost);
  EXPECT_EQ(cost.cycles, most);
}

}  // namespace
}  // namespace sdip
