// Do systolic machines take the cycles of an array that is stepped, and move what their tiles need?
#include "core/baseline/archetypes/systolic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.h"
#include "core/base/units.h"
#include "tests/core/baseline/made_product.h"

namespace sdip {
namespace {

using enum SystolicDataflow;

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> values = std::vector<std::int64_t>(static_cast<std::size_t>(rows * columns));
  /// Nothing beyond the edges: what a partial fold is filled up with.
  std::int64_t at(std::int64_t r, std::int64_t c) const {
    return r < rows && c < columns ? values[place(r, c)] : 0;
  }
  void add(std::int64_t r, std::int64_t c, std::int64_t value) {
    if (r < rows && c < columns) values[place(r, c)] += value;
  }
  std::size_t place(std::int64_t r, std::int64_t c) const { return static_cast<std::size_t>(r * columns + c); }
};

Matrix random_matrix(std::int64_t rows, std::int64_t columns, std::mt19937& random) {
  Matrix m{rows, columns};
  for (std::int64_t& value : m.values) value = static_cast<std::int64_t>(random() % 19) - 9;
  return m;
}

Matrix product_by_definition(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns};
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.columns; ++j)
      for (std::int64_t k = 0; k < a.columns; ++k) c.add(i, j, a.at(i, k) * b.at(k, j));
  return c;
}

struct Stepped {
  Matrix result;
  std::int64_t cycles = 0;
};

/// Sums stay. Row r of `a` enters from the left r cycles late, column c of `b` from above c cycles late; a fold is
/// done when the far corner has met all its terms.
Stepped step_output_stationary(const Matrix& a, const Matrix& b, std::int64_t rows, std::int64_t columns) {
  Stepped run{Matrix{a.rows, b.columns}, 0};
  for (std::int64_t i = 0; i < a.rows; i += rows) {
    for (std::int64_t j = 0; j < b.columns; j += columns) {
      Matrix from_left{rows, columns}, from_above{rows, columns}, sums{rows, columns}, met{rows, columns};
      Matrix is_term{rows, columns};
      for (std::int64_t t = 0; met.at(rows - 1, columns - 1) < a.columns; ++t, ++run.cycles) {
        for (std::int64_t r = rows; r-- > 0;) {  // against the flow: neighbours still hold the last cycle's values
          for (std::int64_t c = columns; c-- > 0;) {
            const std::int64_t k = t - r;
            const std::size_t here = sums.place(r, c);
            from_left.values[here] = c > 0 ? from_left.at(r, c - 1) : (k >= 0 ? a.at(i + r, k) : 0);
            is_term.values[here] = c > 0 ? is_term.at(r, c - 1) : (k >= 0 && k < a.columns ? 1 : 0);
            from_above.values[here] = r > 0 ? from_above.at(r - 1, c) : (t >= c ? b.at(t - c, j + c) : 0);
            sums.values[here] += from_left.values[here] * from_above.values[here];
            met.values[here] += is_term.values[here];
          }
        }
      }
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) run.result.add(i + r, j + c, sums.at(r, c));
    }
  }
  return run;
}

/// Weights stay. They come from above, the last row's first, and are taken where they belong into a second
/// register, all rows of a column at once. Rows of `a` enter from the left, term r of them r cycles late; the first
/// row of a fold has each multiplier take up the weight that waits. Sums move down and leave below.
class WeightStationaryArray {
 public:
  WeightStationaryArray(const Matrix& a, const Matrix& b, std::int64_t rows, std::int64_t columns)
      : a_(a), b_(b), rows_(rows), columns_(columns), cells_(static_cast<std::size_t>(rows * columns)) {}

  Stepped run(bool double_buffered) {
    const std::int64_t term_folds = ceil_div(a_.columns, rows_), all = term_folds * ceil_div(b_.columns, columns_);
    const std::int64_t alone = a_.rows + 2 * rows_ + columns_ - 2;
    Stepped run{Matrix{a_.rows, b_.columns}, 0};
    for (std::int64_t f = 0; f < all; ++f) {
      const Fold last = folds_.empty() ? Fold{} : folds_.back();
      Fold fold{.terms = f % term_folds * rows_, .columns = f / term_folds * columns_, .load = 0, .start = 0};
      if (f > 0) fold.load = double_buffered ? last.start : last.load + alone;
      fold.start = std::max(fold.load + rows_, f > 0 ? last.start + a_.rows : 0);
      folds_.push_back(fold);
    }
    const std::int64_t to_leave = ceil_div(b_.columns, columns_) * term_folds * a_.rows;
    for (std::int64_t left = 0; left < to_leave; ++run.cycles) left += step(run.cycles, run.result);
    return run;
  }

 private:
  struct Fold {
    std::int64_t terms = 0, columns = 0, load = 0, start = 0;  // first of each; cycles
  };
  struct Operand {
    std::int64_t value = 0, row = -1;  // no row: nothing
    std::size_t fold = 0;
  };
  struct Cell {
    Operand operand;
    std::int64_t weight = 0, waiting = 0, sum = 0;
  };
  Cell& cell(std::int64_t r, std::int64_t c) { return cells_[static_cast<std::size_t>(r * columns_ + c)]; }

  Operand entering(std::int64_t r, std::int64_t cycle) const {
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      const std::int64_t row = cycle - r - folds_[f].start;
      if (row >= 0 && row < a_.rows) return {a_.at(row, folds_[f].terms + r), row, f};
    }
    return {};
  }

  /// How many last sums of rows left.
  std::int64_t step(std::int64_t cycle, Matrix& result) {
    std::int64_t left = 0;
    for (std::int64_t r = rows_; r-- > 0;) {
      for (std::int64_t c = columns_; c-- > 0;) {
        Cell& here = cell(r, c);
        here.operand = c > 0 ? cell(r, c - 1).operand : entering(r, cycle);
        if (here.operand.row == 0) here.weight = here.waiting;
        here.sum = (r > 0 ? cell(r - 1, c).sum : 0) + here.operand.value * here.weight;
        for (const Fold& fold : folds_)
          if (cycle == fold.load + c + rows_ - 1) here.waiting = b_.at(fold.terms + r, fold.columns + c);
        if (r < rows_ - 1 || here.operand.row < 0) continue;
        result.add(here.operand.row, folds_[here.operand.fold].columns + c, here.sum);
        left += c == columns_ - 1 ? 1 : 0;
      }
    }
    return left;
  }

  const Matrix &a_, &b_;
  std::int64_t rows_, columns_;
  std::vector<Cell> cells_;
  std::vector<Fold> folds_;
};

TEST(systolic, compute_cycles_are_those_of_a_stepped_array) {
  std::mt19937 random(1);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  for (int trial = 0; trial < 200; ++trial) {
    const std::int64_t rows = up_to(5), columns = up_to(5);
    const Matrix a = random_matrix(up_to(12), up_to(12), random), b = random_matrix(a.columns, up_to(12), random);
    const MatrixProduct product{1, a.rows, b.columns, a.columns};
    const Matrix expected = product_by_definition(a, b);

    const Stepped sums_stay = step_output_stationary(a, b, rows, columns);
    EXPECT_EQ(sums_stay.result.values, expected.values);
    EXPECT_EQ(compute_cycles(product, {rows, columns, output_stationary}), sums_stay.cycles);

    const Stepped weights_stay = WeightStationaryArray(a, b, rows, columns).run(false);
    EXPECT_EQ(weights_stay.result.values, expected.values);
    EXPECT_EQ(compute_cycles(product, {rows, columns, weight_stationary}), weights_stay.cycles);

    const Stepped behind = WeightStationaryArray(a, b, rows, columns).run(true);
    EXPECT_EQ(behind.result.values, expected.values);
    const std::int64_t folds = ceil_div(a.columns, rows) * ceil_div(b.columns, columns);
    EXPECT_EQ(streamed_cycles(folds, a.rows, {rows, columns, weight_stationary}), behind.cycles);
  }
}

TEST(systolic, the_worked_example_takes_14_10_and_10_cycles) {
  const MatrixProduct product{1, 3, 2, 3};
  EXPECT_EQ(compute_cycles(product, {2, 2, weight_stationary}), 14);
  EXPECT_EQ(compute_cycles(product, {2, 2, output_stationary}), 10);
  EXPECT_EQ(streamed_cycles(2, 3, {2, 2, weight_stationary}), 10);
}

/// reference/peers.md, part A, table 2a: cycles that SCALE-Sim prints without stalls.
TEST(systolic, compute_cycles_are_those_of_scale_sim_and_the_one_that_it_does_not_count) {
  struct Row {
    MatrixProduct product;
    std::int64_t of_128, of_32;
  };
  const std::vector<Row> rows = {{{1, 4096, 320, 2880}, 308981, 3765759},  {{1, 1024, 640, 5760}, 316349, 3726079},
                                 {{1, 256, 1280, 11520}, 574199, 3706239}, {{1, 4096, 320, 320}, 40301, 488959},
                                 {{1, 4096, 2560, 320}, 268679, 3911679},  {{1, 4096, 4096, 40}, 143295, 1671167},
                                 {{1, 64, 1280, 11520}, 401399, 926559}};
  for (const Row& row : rows) {
    EXPECT_EQ(compute_cycles(row.product, {128, 128, weight_stationary}), row.of_128 + 1);
    EXPECT_EQ(compute_cycles(row.product, {32, 32, output_stationary}), row.of_32 + 1);
  }
}

SystolicMachine simple_machine() {
  return {.clock_hz = 1e9,
          .array = {4, 4, weight_stationary},
          .buffer_bytes = 1e6,
          .vector_operations_per_s = 1e9,
          .dram_bytes_per_s = 1e9,
          .bytes_per_element = 1};
}

Layer product_layer(const MatrixProduct& p) { return made_product(p, true); }

LayerTime time_of(const Layer& layer, const SystolicMachine& machine) {
  return times_of(std::vector{layer}, machine).at(0);
}

TEST(systolic, folds_and_rows_are_dealt_out_to_arrays) {
  SystolicMachine machine = simple_machine();
  const MatrixProduct product{1, 100, 8, 12};  // 2 folds of columns, 3 of terms
  EXPECT_EQ(product_cycles(product, machine), streamed_cycles(6, 100, machine.array));
  machine.arrays = 2;
  EXPECT_EQ(product_cycles(product, machine), streamed_cycles(3, 100, machine.array));
  machine.arrays = 4;  // two of columns, two parts of the rows
  EXPECT_EQ(product_cycles(product, machine), streamed_cycles(3, 50, machine.array));
  machine.double_buffered_weights = false;
  EXPECT_EQ(product_cycles(product, machine), 3 * (50 + 8 + 4 - 2));
  machine.array.dataflow = output_stationary;  // 25 x 2 folds of sums, 13 for the busiest
  EXPECT_EQ(product_cycles(product, machine), 13 * (12 + 4 + 4 - 2));
}

TEST(systolic, weights_are_loaded_again_for_each_so_many_rows_as_the_accumulators_hold) {
  SystolicMachine machine = simple_machine();
  machine.accumulator_bytes = 4 * 4 * 25;  // 25 rows of 4 sums of 4 bytes
  EXPECT_EQ(product_cycles({1, 100, 4, 8}, machine), streamed_cycles(4 * 2, 25, machine.array));
  machine.accumulator_bytes -= 1;  // 24 rows: five turns of 20
  EXPECT_EQ(product_cycles({1, 100, 4, 8}, machine), streamed_cycles(5 * 2, 20, machine.array));
}

TEST(systolic, a_layer_that_fits_moves_each_operand_once) {
  SystolicMachine machine = simple_machine();
  const Layer layer = product_layer({1, 100, 50, 30});
  machine.buffer_bytes = 3000 + 1500 + 5000;
  EXPECT_EQ(systolic_dram_bytes(layer, machine), 9500);
  machine.buffer_bytes -= 1;  // rows or columns alone fit half of it
  EXPECT_EQ(systolic_dram_bytes(layer, machine), 9500);
}

TEST(systolic, what_does_not_fit_is_read_again_as_seldom_as_three_orders_allow) {
  SystolicMachine machine = simple_machine();
  const Layer layer = product_layer({1, 100, 100, 1000});   // operands of 100,000 each, results of 10,000
  machine.buffer_bytes = 100'000;                           // half of one operand, or sums of 12,500 results
  EXPECT_EQ(systolic_dram_bytes(layer, machine), 210'000);  // all sums held
  machine.buffer_bytes = 50'000;                            // 6,250 sums: rows or columns twice
  EXPECT_EQ(systolic_dram_bytes(layer, machine), 310'000);
  const Layer wide = product_layer({1, 1000, 1000, 10});  // operands of 10,000, results of 1,000,000
  machine.buffer_bytes = 10'000;                          // half of one operand: the other is read twice
  EXPECT_EQ(systolic_dram_bytes(wide, machine), 1'030'000);
}

TEST(systolic, attention_scores_leave_the_chip_unless_they_are_fused) {
  SystolicMachine machine = simple_machine();
  Layer scores = product_layer({2, 100, 100, 10});
  scores.weighted = false;
  scores.b_elements = std::exchange(scores.weight_elements, 0);
  scores.joint = Joint::scores;
  Layer softmax;
  softmax.work.family = Family::softmax;
  softmax.a_elements = softmax.output_elements = 20'000;
  softmax.joint = Joint::softmax;
  Layer mixed = scores;
  std::swap(mixed.a_elements, mixed.output_elements);
  mixed.joint = Joint::mixed;
  EXPECT_EQ(systolic_dram_bytes(scores, machine), 2'000 + 2'000 + 20'000);
  EXPECT_EQ(systolic_dram_bytes(softmax, machine), 40'000);
  EXPECT_EQ(systolic_dram_bytes(mixed, machine), 20'000 + 2'000 + 2'000);
  machine.fused_attention = true;
  EXPECT_EQ(systolic_dram_bytes(scores, machine), 4'000);
  EXPECT_EQ(systolic_dram_bytes(softmax, machine), 0);
  EXPECT_EQ(systolic_dram_bytes(mixed, machine), 4'000);
}

TEST(systolic, a_fused_layer_moves_its_other_operands_alone_and_is_not_launched) {
  SystolicMachine machine = simple_machine();
  machine.launch_s = 1e-6;
  Layer add;
  add.work.family = Family::vector;
  add.work.rows = 10;
  add.work.row_length = 100;
  add.a_elements = add.other_elements = add.output_elements = 1000;
  add.weight_elements = 5;
  const LayerTime alone = time_of(add, machine);
  EXPECT_EQ(alone.dram_bytes, 3005);
  EXPECT_DOUBLE_EQ(alone.vector_s, 1000e-9);
  EXPECT_DOUBLE_EQ(alone.seconds, 1e-6 + 3005e-9);
  add.joint = Joint::fused;
  const LayerTime fused = time_of(add, machine);
  EXPECT_EQ(fused.dram_bytes, 1005);
  EXPECT_DOUBLE_EQ(fused.seconds, 1005e-9);
}

TEST(systolic, more_of_a_machine_is_never_slower) {
  std::mt19937 random(2);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  for (int trial = 0; trial < 500; ++trial) {
    const Layer layer = product_layer({up_to(3), up_to(500), up_to(300), up_to(300)});
    SystolicMachine machine = simple_machine();
    machine.array = {up_to(64), up_to(64), trial % 2 == 0 ? weight_stationary : output_stationary};
    machine.arrays = up_to(4);
    machine.buffer_bytes = static_cast<double>(up_to(200'000) + 1000);
    machine.accumulator_bytes = static_cast<double>(up_to(20'000));
    machine.double_buffered_weights = trial % 3 != 0;
    const LayerTime before = time_of(layer, machine);
    const double each_once = static_cast<double>(layer.a_elements + layer.weight_elements + layer.output_elements);
    EXPECT_GE(before.dram_bytes, each_once);
    EXPECT_GE(before.compute_s * machine.clock_hz * static_cast<double>(machine.arrays * machine.array.rows) *
                  static_cast<double>(machine.array.columns),
              static_cast<double>(macs_of(layer)));
    const auto never_slower = [&](SystolicMachine better) {
      const LayerTime after = time_of(layer, better);
      EXPECT_LE(after.seconds, before.seconds);
      EXPECT_LE(after.dram_bytes, before.dram_bytes);
    };
    SystolicMachine better = machine;
    ++better.arrays;
    never_slower(better);
    better = machine;
    better.buffer_bytes *= 1.5;
    never_slower(better);
    better = machine;
    better.dram_bytes_per_s *= 1.5;
    never_slower(better);
    better = machine;
    better.double_buffered_weights = true;
    never_slower(better);
  }
}

TEST(systolic, a_machine_without_figures_is_a_bug) {
  EXPECT_THROW(times_of(std::vector<Layer>{}, SystolicMachine{}), Bug);
}

}  // namespace
}  // namespace sdip
