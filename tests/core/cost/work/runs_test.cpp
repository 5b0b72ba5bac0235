// Products whose sums stay in the array for a run of row folds: docs/model/work.md.
#include "core/cost/work/runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include "core/base/error.h"
#include "core/cost/price/area.h"
#include "core/cost/price/energy.h"
#include "core/exec/clock/operations.h"
#include "core/machine/technology.h"
#include "tests/core/cost/random_program.h"

namespace sdip {
namespace {

/// One product; the machine's lanes are one each but for those of sums.
InstructionClass product(std::int64_t rows, std::int64_t channels, std::int64_t sums, Place b = Place::psram) {
  InstructionClass c;
  c.work.family = Family::linear;
  c.work.nest = {.out_channels = channels, .in_channels = sums, .out_h = rows, .in_h = rows};
  c.operand_a = Place::stackram;
  c.operand_b = b;
  c.mapping = cost::one_tile;
  c.out_elements = rows * channels;
  c.weight_elements_per_channel = sums;
  return c;
}

Machine machine_of(std::int64_t folds, std::int64_t registers) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.linear_lanes_m = m.linear_lanes_n = 1;
  m.linear_lanes_k = 2;
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.accumulator_format = NumberFormat::int32;
  m.psram_port_bits = 8;
  m.dsram_port_bits = m.stackram_port_bits = 8192;
  m.accumulator_folds = folds;
  m.weight_registers = registers;
  return m;
}

struct Counted {
  std::int64_t cycles, weights, writes, reads, loaded;
  friend bool operator==(const Counted&, const Counted&) = default;
};
std::ostream& operator<<(std::ostream& out, const Counted& c) {
  return out << c.cycles << " cycles, " << c.weights << " beats, " << c.writes << " written, " << c.reads
             << " read, " << c.loaded << " loaded";
}

/// By formula, which must be what stepping counts. Cycles are those of the circuit.
Counted counted(const InstructionClass& c, const Machine& m, Role role = Role::network) {
  const Busy& b = class_cost(c, m, role).busy;
  exec::Needs n;
  for (const exec::Operation& o : exec::expand(c, m, role)) n += o.needs;
  const Counted by_formula{b[Resource::compute], b[Resource::psram_read], b.accumulator_writes, b.accumulator_reads,
                           b.register_writes};
  EXPECT_EQ(by_formula, (Counted{n.compute, n[exec::Port::psram_read], n.accumulator_writes, n.accumulator_reads,
                                 n.register_writes}));
  return by_formula;
}

/// The example of the machine's definition, and of docs/model/work.md: 5 row folds, 3 sum folds, loads of 2 beats.
TEST(runs, of_five_row_folds_by_hand) {
  const InstructionClass c = product(5, 1, 6);
  EXPECT_EQ(counted(c, machine_of(0, 0)), (Counted{15, 30, 0, 0, 0}));
  EXPECT_EQ(counted(c, machine_of(4, 2)), (Counted{2 + 3 * 4 + 3 * 2, 12, 15, 10, 12}));
  EXPECT_EQ(counted(c, machine_of(4, 3)), (Counted{2 + 12 + 3, 6, 15, 10, 6}));
  EXPECT_EQ(counted(c, machine_of(4, 1)), (Counted{3 * (4 + 2) + 3 * (1 + 2), 12, 15, 10, 12}));
  EXPECT_EQ(counted(c, machine_of(5, 1)), (Counted{3 * (5 + 2), 6, 15, 10, 6}));
  EXPECT_EQ(class_cost(c, machine_of(0, 0)).cycles, 30);  // the port's
  EXPECT_EQ(class_cost(c, machine_of(4, 2)).cycles, 20);
  EXPECT_EQ(class_cost(c, machine_of(4, 3)).cycles, 17);
}

/// 2 row folds, channel folds of 2 and 1, sums of 2, 2 and 1 at each of two kernel positions.
TEST(runs, have_eight_kinds_at_most) {
  Machine m = machine_of(3, 2);
  m.conv_lanes_pixel = 1, m.conv_lanes_out = 2, m.conv_lanes_in = 2;
  InstructionClass c = product(5, 3, 5);
  c.work.family = Family::conv2d;
  c.work.nest.kernel_h = 2;
  c.work.nest.in_h = 6;
  c.weight_elements_per_channel = 10;
  // Runs of 3 and 2. Loads of 4, 4, 2 beats for two channels, 2, 2, 1 for one, at both positions; the first is
  // of 4.
  const std::int64_t two = 2 * (4 + 4 + 3) + 2 * (4 + 4 + 2), one = 2 * (3 + 3 + 3) + 2 * (2 + 2 + 2);
  EXPECT_EQ(counted(c, m), (Counted{4 + two + one, 2 * 2 * (10 + 5), 5 * 3 * 6, 5 * 3 * 5, 2 * 3 * 10}));
  c.work.element_cycles = 2;
  const std::int64_t slow = 2 * (6 + 6 + 6) + 2 * (4 + 4 + 4);
  EXPECT_EQ(counted(c, m).cycles, 4 + 2 * slow);
}

TEST(runs, wait_for_the_first_load_once_an_operation) {
  InstructionClass c = product(5, 1, 6);
  c.work.nest.groups = 3;
  EXPECT_EQ(counted(c, machine_of(4, 2)).cycles, 2 + 3 * 18);
  c.mapping.tile_channels = 1;  // three operations
  EXPECT_EQ(counted(c, machine_of(4, 2)).cycles, 3 * (2 + 18));
}

TEST(runs, load_nothing_of_wires_and_through_the_port_of_any_memory) {
  Machine m = machine_of(4, 2);
  m.weight_storage = WeightStorage::hard_coded;
  EXPECT_EQ(counted(product(5, 1, 6), m), (Counted{15, 0, 15, 10, 0}));
  m.weight_storage = WeightStorage::streamed;
  m.stackram_port_bits = 8;
  InstructionClass c = product(5, 1, 6, Place::stackram);
  c.operand_a = Place::dsram;
  EXPECT_EQ(counted(c, m), (Counted{20, 0, 15, 10, 12}));
  EXPECT_EQ(class_cost(c, m).busy[Resource::stackram_read], 12);
}

TEST(runs, leave_products_in_a_weight_memory_alone) {
  Machine m = machine_of(0, 0);
  m.in_memory_weights = InMemoryWeights::fefet;
  const InstructionClass c = product(5, 1, 6);
  const Counted without = counted(c, m);
  m.accumulator_folds = 4, m.weight_registers = 2;
  EXPECT_EQ(counted(c, m), without);
  EXPECT_GT(counted(product(5, 1, 6, Place::dsram), m).writes, 0);
}

TEST(runs, carry_only_the_partial_sums_that_the_mapping_cuts) {
  InstructionClass c = product(5, 1, 6);
  Machine m = machine_of(4, 2);
  m.dataflow = Dataflow::weight_stationary;
  EXPECT_EQ(class_cost(c, m).busy[Resource::dsram_write], 5);  // results
  c.mapping.tile_sums = 4;
  EXPECT_EQ(class_cost(c, m).busy[Resource::dsram_write], 5 + 5);
  EXPECT_EQ(class_cost(c, m).busy[Resource::dsram_read], 5);
  EXPECT_EQ(counted(c, m), (Counted{(2 + 2 * 4 + 2 * 1) + (2 + 4 + 1), 2 * 2 + 2, 10 + 5, 5, 4 + 2}));
}

std::string refusal(const Machine& m) {
  try {
    check_machine(m);
  } catch (const Error& error) {
    return error.code + " at " + error.where;
  }
  return "";
}

TEST(runs, need_both_accumulators_and_registers_and_no_inputs_that_stay) {
  Machine m;
  m.dma_port = DmaPort::own;
  m.accumulator_folds = 1;
  EXPECT_EQ(refusal(m), "value_conflict at weight_registers");
  m.weight_registers = 1;
  EXPECT_EQ(refusal(m), "");
  m.dataflow = Dataflow::input_stationary;
  EXPECT_EQ(refusal(m), "value_conflict at dataflow");
  m.accumulator_folds = 0;
  m.dataflow = Dataflow::weight_stationary;
  EXPECT_EQ(refusal(m), "value_conflict at weight_registers");
  m.weight_registers = 0;
  m.attention_parts = 2;
  EXPECT_EQ(refusal(m), "");
  m.granularity = Granularity::micro_operation;
  EXPECT_EQ(refusal(m), "value_conflict at attention_parts");
}

/// A drawn product on a drawn machine with accumulators.
struct Drawn {
  Machine m;
  InstructionClass c;
  explicit Drawn(std::uint64_t seed) {
    Dice dice(seed);
    m = random_machine(dice);
    m.granularity = Granularity::per_operator;
    m.dma_port = DmaPort::own;
    if (m.dataflow == Dataflow::input_stationary) m.dataflow = Dataflow::output_stationary;
    m.accumulator_folds = dice.between(1, 8);
    m.weight_registers = dice.between(1, 8);
    do c = random_class(dice);
    while (c.compound != Compound::single || c.work.family > Family::matmul || c.prologue_passes > 0 ||
           c.fused_operators + c.statistics_passes > 0);
  }
  Busy busy() const { return class_cost(c, m).busy; }
  /// Beats of B, whose place no other operand has.
  std::int64_t b_beats() const {
    InstructionClass alone = c;
    alone.operand_a = Place::nowhere;
    alone.fetches.clear();
    const Busy b = class_cost(alone, m).busy;
    return b[Resource::psram_read] + b[Resource::stackram_read] + b.all_dsram_reads();
  }
};

TEST(runs, of_more_accumulators_or_registers_never_take_longer_than_is_said) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Drawn d(seed);
    const Busy before = d.busy();
    const auto with = [&](std::int64_t folds, std::int64_t registers) {
      Drawn other = d;
      other.m.accumulator_folds = folds;
      other.m.weight_registers = registers;
      return other;
    };
    const std::int64_t folds = d.m.accumulator_folds, registers = d.m.weight_registers;
    Dice dice(seed);
    // A whole number of times as many.
    EXPECT_LE(with(folds * dice.between(2, 5), registers).busy()[Resource::compute], before[Resource::compute]);
    // Any more: fewer than a load's beats for each channel and sum fold.
    const Drawn more = with(folds + dice.between(1, 5), registers);
    EXPECT_LE(more.busy()[Resource::compute], before[Resource::compute] + with(65536, registers).b_beats());
    EXPECT_LE(more.b_beats(), d.b_beats());
    EXPECT_LE(more.busy().register_writes, before.register_writes);
    EXPECT_EQ(more.busy().accumulator_writes, before.accumulator_writes);
    // More registers, but the second.
    const Drawn held = with(folds, std::max<std::int64_t>(2, registers) + dice.between(1, 9));
    EXPECT_LE(held.busy()[Resource::compute],
              with(folds, std::max<std::int64_t>(2, registers)).busy()[Resource::compute]);
    EXPECT_LE(held.b_beats(), d.b_beats());
    // Never less than a cycle a fold.
    Drawn none = with(0, 0);
    EXPECT_GE(before[Resource::compute], none.busy()[Resource::compute]);
  }
}

/// Six row folds: runs of 4 and 2 end later than 3 and 3, by less than a load.
TEST(runs, of_a_few_more_row_folds_may_take_longer) {
  Machine m = machine_of(3, 2);
  m.linear_lanes_k = 3;
  const InstructionClass c = product(6, 1, 9);
  EXPECT_EQ(counted(c, m).cycles, 3 + 3 * (3 + 3));
  m.accumulator_folds = 4;
  EXPECT_EQ(counted(c, m).cycles, 3 + 3 * (4 + 3));
  m.accumulator_folds = 6;
  EXPECT_EQ(counted(c, m).cycles, 3 + 3 * 6);
}

/// For any numbers: at most b - 1 more for each channel and sum fold.
TEST(runs, of_any_more_row_folds_take_less_than_a_load_longer) {
  for (std::int64_t rows = 1; rows <= 24; ++rows)
    for (std::int64_t load = 1; load <= 7; ++load)
      for (std::int64_t registers = 1; registers <= 3; ++registers) {
        const auto cycles = [&](std::int64_t folds) {
          Machine m = machine_of(folds, registers);
          m.linear_lanes_k = load;
          return class_cost(product(rows, 1, 3 * load), m).busy[Resource::compute];
        };
        for (std::int64_t folds = 1; folds < 12; ++folds)
          for (std::int64_t more = folds + 1; more <= 12; ++more) {
            const bool never = registers != 2 || more % folds == 0;
            EXPECT_LE(cycles(more), cycles(folds) + (never ? 0 : 3 * (load - 1)))
                << rows << " rows, loads of " << load << ", " << registers << " registers, " << folds << " to "
                << more;
          }
      }
}

/// The worked example of docs/model/energy.md, and each row in area and energy.
TEST(runs, are_paid_in_flip_flops) {
  Machine m = machine_of(16, 2);
  m.technology_node = TechnologyNode::n7;
  m.weight_format = m.activation_format = NumberFormat::fp16;
  m.accumulator_format = NumberFormat::fp32;
  m.linear_lanes_m = 16, m.linear_lanes_n = 32, m.linear_lanes_k = 16;
  Machine without = m;
  without.accumulator_folds = without.weight_registers = 0;
  const auto linear = [](const Machine& on) { return core_area(on, widest_formats(on)).linear; };
  const double bits = 16.0 * 16 * 32 * 32 + 2.0 * 32 * 16 * 16;
  EXPECT_NEAR(linear(m) - linear(without), bits * 6 * 0.075 * 1e-6, 1e-12);
  EXPECT_NEAR(linear(m) - linear(without), 0.1253, 0.0001);
  const EnergyPrices prices = energy_prices(m, Role::network, FloorPlan{});
  EXPECT_NEAR(prices.accumulator_access,
              32 * 0.004 * 0.33 * 1e-12 * std::sqrt(static_cast<double>(m.accumulator_folds)), 1e-18);
  EXPECT_NEAR(prices.register_write, 16 * 0.004 * 0.33 * 1e-12 * std::sqrt(2.0), 1e-18);
  EXPECT_EQ(energy_prices(without, Role::network, FloorPlan{}).accumulator_access, 0);
  const InstructionClass c = product(64, 32, 64);
  const Busy b = class_cost(c, m).busy;
  const auto mac_j = [&](const Machine& on) {
    return core_energy(core_events(c, class_cost(c, on), on),
                       energy_prices(on, Role::network, FloorPlan{}))[EnergyPart::mac];
  };
  EXPECT_NEAR(mac_j(m) - mac_j(without),
              static_cast<double>(b.accumulator_writes + b.accumulator_reads) * prices.accumulator_access +
                  static_cast<double>(b.register_writes) * prices.register_write,
              1e-18);
}

}  // namespace
}  // namespace sdip
