// Do micro-kernels take the cycles of units that are stepped, and do processors move what their caches cannot hold?
#include "core/baseline/archetypes/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <random>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/baseline/archetypes/parts.h"
#include "core/baseline/device_machines.h"
#include "core/baseline/device_run.h"
#include "tests/core/baseline/made_product.h"

namespace sdip {
namespace {

using Numbers = std::vector<std::vector<std::int64_t>>;

/// Zeros beyond the edges: lanes that a partial register leaves idle.
std::int64_t number_at(const Numbers& m, std::int64_t r, std::int64_t c) {
  if (r >= static_cast<std::int64_t>(m.size()) || c >= static_cast<std::int64_t>(m[0].size())) return 0;
  return m[static_cast<std::size_t>(r)][static_cast<std::size_t>(c)];
}

Numbers random_numbers(std::int64_t rows, std::int64_t columns, std::mt19937& random) {
  Numbers m(static_cast<std::size_t>(rows), std::vector<std::int64_t>(static_cast<std::size_t>(columns)));
  for (auto& row : m)
    for (std::int64_t& value : row) value = static_cast<std::int64_t>(random() % 19) - 9;
  return m;
}

/// The units of a core at one micro-kernel: `tile` registers of sums at (row, column) of the product, terms from
/// `first` to before `end`. Loads are taken in order by units that are free; a multiply starts, in order, when a
/// unit is free, all loads of its step are done and its register of sums is.
class SteppedKernel {
 public:
  SteppedKernel(const Numbers& a, const Numbers& b, Numbers& sums, const CpuMultiplier& m)
      : a_(a), b_(b), sums_(sums), m_(m) {}

  std::int64_t run(const CpuTile& tile, std::int64_t row, std::int64_t column, std::int64_t first,
                   std::int64_t end) {
    const std::int64_t steps = ceil_div(end - first, m_.terms), each = tile.rows * tile.columns;
    std::vector<std::int64_t> load_free(count_of(m_.loads_per_cycle)), multiply_free(count_of(m_.per_cycle));
    std::vector<std::int64_t> sum_done(count_of(each)), load_done;
    std::int64_t multiplied = 0, done = 0;
    for (std::int64_t cycle = 0; multiplied < steps * each; ++cycle) {
      for (std::int64_t& unit : load_free)
        if (unit <= cycle && load_done.size() < count_of(steps * (tile.rows + tile.columns)))
          load_done.push_back(unit = cycle + m_.load_cycles);
      for (std::int64_t& unit : multiply_free) {
        if (unit > cycle || multiplied == steps * each) continue;
        const std::int64_t step = multiplied / each, at = multiplied % each;
        const std::size_t last_load = count_of((step + 1) * (tile.rows + tile.columns)) - 1;
        if (last_load >= load_done.size() || load_done[last_load] > cycle || sum_done[count_of(at)] > cycle) break;
        unit = cycle + m_.start_cycles;
        done = sum_done[count_of(at)] = cycle + m_.latency_cycles;
        multiply(row + at / tile.columns * m_.rows, column + at % tile.columns * m_.columns,
                 first + step * m_.terms, end);
        ++multiplied;
      }
    }
    return done;
  }

 private:
  static std::size_t count_of(std::int64_t count) { return static_cast<std::size_t>(count); }
  void multiply(std::int64_t row, std::int64_t column, std::int64_t term, std::int64_t end) {
    for (std::int64_t r = row; r < row + m_.rows && r < std::ssize(sums_); ++r)
      for (std::int64_t c = column; c < column + m_.columns && c < std::ssize(sums_[0]); ++c)
        for (std::int64_t k = term; k < std::min(term + m_.terms, end); ++k)
          sums_[count_of(r)][count_of(c)] += number_at(a_, r, k) * number_at(b_, k, c);
  }

  const Numbers &a_, &b_;
  Numbers& sums_;
  const CpuMultiplier& m_;
};

Numbers product_by_definition(const Numbers& a, const Numbers& b) {
  Numbers c(a.size(), std::vector<std::int64_t>(b[0].size()));
  for (std::size_t i = 0; i < c.size(); ++i)
    for (std::size_t j = 0; j < c[i].size(); ++j)
      for (std::size_t k = 0; k < b.size(); ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random(seed) {}
  std::int64_t up_to(std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; }
  std::mt19937 random;
};

CpuMultiplier random_multiplier(Draw& draw) {
  CpuMultiplier m{draw.up_to(3), draw.up_to(4), draw.up_to(4)};
  if (draw.up_to(2) == 1) {
    m.per_cycle = draw.up_to(3);
  } else {
    m.per_cycle = 1;
    m.start_cycles = draw.up_to(16);
  }
  m.latency_cycles = draw.up_to(20);
  if (draw.up_to(2) == 1) {
    m.loads_per_cycle = draw.up_to(3);
  } else {
    m.loads_per_cycle = 1;
    m.load_cycles = draw.up_to(8);
  }
  m.registers = 2 + draw.up_to(14);
  return m;
}

TEST(cpu, kernel_cycles_are_those_of_stepped_units) {
  Draw draw(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const CpuMultiplier m = random_multiplier(draw);
    const CpuTile tile{draw.up_to(6), draw.up_to(5)};
    const std::int64_t terms = draw.up_to(60);
    const Numbers a = random_numbers(tile.rows * m.rows, terms, draw.random);
    const Numbers b = random_numbers(terms, tile.columns * m.columns, draw.random);
    Numbers sums(a.size(), std::vector<std::int64_t>(b[0].size()));
    const std::int64_t cycles = SteppedKernel(a, b, sums, m).run(tile, 0, 0, 0, terms);
    EXPECT_EQ(sums, product_by_definition(a, b));
    EXPECT_EQ(kernel_cycles(tile, ceil_div(terms, m.terms), m), cycles)
        << tile.rows << " x " << tile.columns << ", " << terms << " terms, " << m.per_cycle << " in "
        << m.start_cycles << ", latency " << m.latency_cycles << ", loads " << m.loads_per_cycle << " in "
        << m.load_cycles;
  }
}

TEST(cpu, the_worked_examples_take_their_cycles) {
  CpuMultiplier m;
  EXPECT_EQ(kernel_cycles({2, 2}, 3, m), 15);
  // 14 x 2 registers of AVX-512, 256 terms: 28 multiplies a step in 14 cycles, after 8 cycles of loads; 4 of
  // latency.
  EXPECT_EQ(kernel_cycles({14, 2}, 256, m), 8 + 256 * 14 - 1 + 4);
  // AMX in bf16, 2 x 2 tiles, 10 steps: 4 loads of 8 cycles, then 16 cycles for each multiply.
  const CpuMultiplier amx{16, 16, 32, 1, 16, 52, 8, 1, 8};
  EXPECT_EQ(kernel_cycles({2, 2}, 10, amx), 32 + 39 * 16 + 52);
  EXPECT_EQ(macs_per_cycle(m), 32);
  EXPECT_EQ(macs_per_cycle(amx), 512);
}

TEST(cpu, tiles_fill_the_registers) {
  const auto tiles = cpu_tiles(CpuMultiplier{});
  ASSERT_EQ(tiles.size(), 15U);
  EXPECT_EQ(tiles[0].rows, 30);
  EXPECT_EQ(tiles[1].rows, 14);
  EXPECT_EQ(tiles[14].rows, 1);
  for (const CpuTile& tile : tiles) EXPECT_LE(tile.rows * tile.columns + tile.columns + 1, 32);
}

CpuMachine small_machine() {
  return {.clock_hz = 1e9,
          .l1_bytes = 4096,
          .l2_bytes = 65536,
          .l2_bytes_per_cycle = 1e6,
          .l3_bytes_per_cycle = 1e6,
          .l3_bytes = 1e6,
          .dram_bytes_per_s = 1e9};
}

/// All tiles of a product, by blocks of terms; sums of a tile leave one register a cycle after each block, and
/// those of the last block come back as fast as loads do.
TEST(cpu, product_cycles_are_those_of_stepped_tiles) {
  Draw draw(2);
  for (int trial = 0; trial < 150; ++trial) {
    CpuMachine machine = small_machine();
    machine.multiplier = random_multiplier(draw);
    machine.l1_bytes = static_cast<double>(draw.up_to(2000));
    const CpuMultiplier& m = machine.multiplier;
    const MatrixProduct p{1, draw.up_to(30), draw.up_to(30), draw.up_to(40)};
    const CpuTile tile{draw.up_to(4), draw.up_to(3)};
    const Numbers a = random_numbers(p.rows, p.terms, draw.random),
                  b = random_numbers(p.terms, p.columns, draw.random);
    Numbers sums(a.size(), std::vector<std::int64_t>(b[0].size()));
    const std::int64_t block = cpu_blocks(p, tile, machine).terms;
    double cycles = 0;
    for (std::int64_t k = 0; k < p.terms; k += block)
      for (std::int64_t c = 0; c < p.columns; c += tile.columns * m.columns)
        for (std::int64_t r = 0; r < p.rows; r += tile.rows * m.rows) {
          const CpuTile here{std::min(tile.rows, ceil_div(p.rows - r, m.rows)),
                             std::min(tile.columns, ceil_div(p.columns - c, m.columns))};
          cycles +=
              static_cast<double>(SteppedKernel(a, b, sums, m).run(here, r, c, k, std::min(p.terms, k + block)));
          const double registers = static_cast<double>(here.rows * here.columns * m.load_cycles);
          cycles += registers + (k > 0 ? registers / static_cast<double>(m.loads_per_cycle) : 0);
        }
    EXPECT_EQ(sums, product_by_definition(a, b));
    EXPECT_NEAR(cpu_product_cycles(p, tile, {}, machine), cycles, 1e-12 * cycles);
  }
}

TEST(cpu, the_worked_product_takes_537792_cycles) {
  CpuMachine machine = small_machine();
  machine.l1_bytes = 48 * 1024;
  const MatrixProduct p{1, 256, 256, 256};
  EXPECT_EQ(cpu_blocks(p, {14, 2}, machine).terms, 128);
  EXPECT_EQ(kernel_cycles({14, 2}, 128, machine.multiplier), 1803);
  EXPECT_EQ(kernel_cycles({4, 2}, 128, machine.multiplier), 518);
  EXPECT_EQ(cpu_product_cycles(p, {14, 2}, {}, machine), 8 * (18 * 3676 + 1056));
  EXPECT_EQ(cpu_product_cycles(p, {14, 2}, {}, machine), 537'792);
}

TEST(cpu, parts_of_a_product_are_whole_tiles_and_the_largest_counts) {
  CpuMachine machine = small_machine();
  machine.l1_bytes = 1e6;
  const double tile = static_cast<double>(kernel_cycles({4, 2}, 50, machine.multiplier)) + 8;
  const MatrixProduct p{3, 40, 96, 50};  // 10 x 3 tiles of 4 rows and 32 columns
  EXPECT_DOUBLE_EQ(cpu_product_cycles(p, {4, 2}, {}, machine), 3 * 30 * tile);
  EXPECT_DOUBLE_EQ(cpu_product_cycles(p, {4, 2}, {2, 1, 1}, machine), 2 * 30 * tile);
  EXPECT_DOUBLE_EQ(cpu_product_cycles(p, {4, 2}, {1, 4, 1}, machine), 3 * 9 * tile);
  EXPECT_DOUBLE_EQ(cpu_product_cycles(p, {4, 2}, {3, 5, 3}, machine), 2 * tile);
}

TEST(cpu, parts_that_are_tried_are_all_filled) {
  EXPECT_THAT(filled_parts(10, 4), testing::ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(filled_parts(10, 100), testing::ElementsAre(1, 2, 3, 4, 5, 10));
  EXPECT_THAT(filled_parts(1, 8), testing::ElementsAre(1));
}

TEST(cpu, blocks_fill_the_caches) {
  CpuMachine machine = small_machine();
  machine.l1_bytes = 49152;
  machine.l2_bytes = 2 << 20;
  machine.l3_bytes = 32 << 20;
  // 7/8 of L1 over 14 + 32 lines of 4 bytes: 233 terms at most, 1000 in 5 parts of 200.
  const CpuBlocks blocks = cpu_blocks({1, 1000, 1000, 1000}, {14, 2}, machine);
  EXPECT_EQ(blocks.terms, 200);
  EXPECT_EQ(blocks.rows, (7 * (2 << 20) / 8 / 800 - 32) / 14 * 14);
  EXPECT_EQ(blocks.columns, 7 * (32 << 20) / 8 / 800 / 32 * 32);
}

TEST(cpu, a_product_that_l3_holds_moves_its_weights_alone_and_else_each_operand_as_seldom_as_three_orders_allow) {
  CpuMachine machine = small_machine();
  const CpuTile tile{14, 2};
  const Layer fits = made_product({1, 100, 100, 100}, true);
  EXPECT_EQ(time_of(fits, tile, {}, machine, false).dram_bytes, 4e4);
  EXPECT_EQ(time_of(fits, tile, {}, machine, true).dram_bytes, 0);
  const Layer wide = made_product({1, 1000, 100, 1000}, true);  // rows of 4 MB, columns and results of 400 kB
  EXPECT_EQ(time_of(wide, tile, {}, machine, false).dram_bytes, 4e6 + 4e5 + 4e5);
  machine.l3_bytes = 4e5;  // half of the columns at once
  EXPECT_EQ(time_of(wide, tile, {}, machine, false).dram_bytes, 2 * 4e6 + 4e5 + 4e5);
  const Layer large = made_product({1, 1000, 1000, 10}, true);  // operands of 40 kB, results of 4 MB
  EXPECT_EQ(time_of(large, tile, {}, machine, false).dram_bytes, 4e4 + 4e4 + 4e6);
}

TEST(cpu, multiplies_wait_for_columns_from_dram_and_run_beside_all_else) {
  CpuMachine machine = small_machine();
  const Layer fits = made_product({1, 100, 100, 100}, true);
  const LayerTime time = time_of(fits, {14, 2}, {}, machine, false);
  EXPECT_DOUBLE_EQ(time.seconds, 4e4 / 1e9 + time.compute_s);
  const Layer wide = made_product({1, 1000, 100, 1000}, true);
  EXPECT_DOUBLE_EQ(time_of(wide, {14, 2}, {}, machine, false).seconds, (4e5 + (4e6 + 4e5)) / 1e9)
      << "rows and results";
}

TEST(cpu, weights_stay_where_the_whole_network_fits_l3) {
  CpuMachine machine = small_machine();
  std::vector<Layer> layers = {made_product({1, 100, 100, 100}, true)};
  EXPECT_EQ(times_of(layers, machine).at(0).dram_bytes, 0);
  layers[0].times = 30;  // as many different weights: 1.2 MB
  EXPECT_EQ(times_of(layers, machine).at(0).dram_bytes, 4e4);
  layers[0].times = 1;
  machine.keeps_weights = false;
  EXPECT_EQ(times_of(layers, machine).at(0).dram_bytes, 4e4);
}

TEST(cpu, groups_of_cores_read_what_they_share_each_for_themselves) {
  CpuMachine machine = small_machine();
  machine.cores = 8;
  machine.l3_groups = 4;
  const Layer layer = made_product({1, 112, 64, 100}, true);
  EXPECT_EQ(time_of(layer, {14, 2}, {1, 8, 1}, machine, false).dram_bytes, 4 * 4 * 6400) << "rows over four groups";
  EXPECT_EQ(time_of(layer, {14, 2}, {1, 2, 1}, machine, false).dram_bytes, 4 * 6400) << "one group";
}

Layer vector_layer(Family family, std::int64_t rows, std::int64_t length) {
  Layer layer;
  layer.work.family = family;
  layer.work.rows = rows;
  layer.work.row_length = length;
  layer.a_elements = layer.output_elements = rows * length;
  return layer;
}

TEST(cpu, vector_work_takes_its_instructions_or_its_bytes) {
  CpuMachine machine = small_machine();
  const std::vector<Layer> softmax = {vector_layer(Family::softmax, 100, 320)};
  EXPECT_DOUBLE_EQ(times_of(softmax, machine).at(0).vector_s, 32000.0 * 16 / (16 * 2) * 1e-9);
  const std::vector<Layer> large = {vector_layer(Family::vector, 1000, 1000)};
  EXPECT_DOUBLE_EQ(times_of(large, machine).at(0).memory_s, 8e6 / 1e9);
  machine.launch_s = 1;
  machine.cores = 4;
  std::vector<Layer> fused = large;
  fused[0].joint = Joint::fused;
  fused[0].other_elements = 1'000'000;
  EXPECT_EQ(times_of(fused, machine).at(0).dram_bytes, 4e6);
  EXPECT_EQ(times_of(fused, machine).at(0).overhead_s, 0);
  machine.eager = true;
  EXPECT_EQ(times_of(fused, machine).at(0).dram_bytes, 12e6);
  EXPECT_EQ(times_of(fused, machine).at(0).overhead_s, 1);
}

TEST(cpu, a_small_layer_stays_on_one_core) {
  CpuMachine machine = small_machine();
  machine.cores = 8;
  machine.join_s = 1e-3;
  machine.dram_bytes_per_s = 1e11;
  EXPECT_EQ(times_of(std::vector{made_product({1, 10, 10, 10}, true)}, machine).at(0).overhead_s, 0);
  EXPECT_EQ(times_of(std::vector{vector_layer(Family::vector, 10, 10)}, machine).at(0).overhead_s, 0);
  EXPECT_EQ(times_of(std::vector{made_product({1, 1000, 1000, 1000}, true)}, machine).at(0).overhead_s, 1e-3);
}

TEST(cpu, a_convolution_of_each_channel_alone_multiplies_across_channels) {
  CpuMachine machine = small_machine();
  Layer layer;
  layer.work.family = Family::conv2d;
  layer.work.nest = {.groups = 40, .out_h = 10, .out_w = 10, .in_h = 10, .in_w = 10, .kernel_h = 3, .kernel_w = 3};
  layer.a_elements = layer.output_elements = 4000;
  layer.weight_elements = 360;
  layer.weighted = true;
  EXPECT_DOUBLE_EQ(times_of(std::vector{layer}, machine).at(0).compute_s, 3 * 9 * 100 * 0.5 * 1e-9);
}

CpuMachine random_machine(Draw& draw) {
  CpuMachine machine = small_machine();
  machine.cores = draw.up_to(12);
  machine.l1_bytes = static_cast<double>(512 + draw.up_to(50'000));
  machine.l2_bytes = machine.l1_bytes * static_cast<double>(draw.up_to(32));
  machine.l3_bytes = machine.l2_bytes * static_cast<double>(draw.up_to(32));
  machine.l3_groups = draw.up_to(3);
  machine.l2_bytes_per_cycle = static_cast<double>(draw.up_to(64));
  machine.l3_bytes_per_cycle = static_cast<double>(draw.up_to(32));
  machine.core_dram_bytes_per_s = draw.up_to(2) == 1 ? 0.3e9 : 0;
  machine.join_s = 1e-7 * static_cast<double>(draw.up_to(100));
  machine.keeps_weights = draw.up_to(2) == 1;
  if (draw.up_to(3) == 1) machine.multiplier = {16, 16, 16, 1, 16, 52, 8, 1, 8};
  return machine;
}

Layer random_layer(Draw& draw) {
  if (draw.up_to(4) == 1)
    return vector_layer(draw.up_to(2) == 1 ? Family::softmax : Family::vector, draw.up_to(500), draw.up_to(500));
  return made_product({draw.up_to(3), draw.up_to(500), draw.up_to(300), draw.up_to(400)}, draw.up_to(2) == 1);
}

TEST(cpu, nothing_is_faster_than_peak_and_bandwidth_and_more_of_a_machine_is_never_slower) {
  Draw draw(3);
  for (int trial = 0; trial < 300; ++trial) {
    const CpuMachine machine = random_machine(draw);
    const std::vector<Layer> layers = {random_layer(draw)};
    const Layer& layer = layers[0];
    const LayerTime before = times_of(layers, machine).at(0);
    const double peak = macs_per_cycle(machine.multiplier) * static_cast<double>(machine.cores) * machine.clock_hz;
    EXPECT_GE(before.seconds * peak, static_cast<double>(macs_of(layer)));
    EXPECT_GE(before.seconds * machine.dram_bytes_per_s * 1.000001, before.dram_bytes);
    const double weights = 4 * static_cast<double>(layer.weight_elements);
    const double all =
        weights + 4 * static_cast<double>(layer.a_elements + layer.b_elements + layer.output_elements);
    EXPECT_GE(before.dram_bytes, all > machine.l3_bytes ? all : machine.keeps_weights ? 0 : weights);
    const auto never_slower = [&](const CpuMachine& better) {
      EXPECT_LE(times_of(layers, better).at(0).seconds, before.seconds * (1 + 1e-12)) << trial;
    };
    CpuMachine better = machine;
    ++better.cores;
    never_slower(better);
    better = machine;
    better.clock_hz *= 1.5;
    never_slower(better);
    better = machine;
    better.dram_bytes_per_s *= 1.5;
    never_slower(better);
    better = machine;
    better.l2_bytes_per_cycle *= 1.5;
    never_slower(better);
    better = machine;
    better.l3_bytes_per_cycle *= 1.5;
    never_slower(better);
    better = machine;
    better.join_s = 0;
    never_slower(better);
  }
}

/// A device of four cores at 1 GHz with AVX-512 and `change` made to it.
Device own_device(const std::function<void(nlohmann::json&)>& change = [](nlohmann::json&) {}) {
  using nlohmann::json;
  const auto figure = [](const char* key, double value) {
    return json{{"key", key}, {"value", value}, {"unit", ""}, {"source", "a page"}, {"confidence", "primary"}};
  };
  const auto field = [](const char* name, double value, const char* unit) {
    return json{{"name", name}, {"value", value}, {"unit", unit}, {"source", "a page"}, {"confidence", "primary"}};
  };
  json device = {{"id", "own"},
                 {"name", "Own"},
                 {"archetype", "cpu"},
                 {"native_format", "fp32"},
                 {"peak", field("peak", 0.256, "TFLOP/s")},
                 {"dram_bandwidth", field("DRAM", 100, "GB/s")},
                 {"figures",
                  {figure("cores", 4), figure("clock_mhz", 1000), figure("simd_bits", 512),
                   figure("fma_per_cycle", 2), figure("l1_kib", 48), figure("l2_kib", 1024), figure("l3_mib", 32),
                   figure("l2_bytes_per_cycle", 64), figure("l3_bytes_per_cycle", 32)}},
                 {"fields", json::array()},
                 {"measured", json::array()},
                 {"notes", json::array()}};
  change(device);
  return read_device(device.dump(), "own.json");
}

TEST(cpu, a_device_is_a_processor_of_its_figures) {
  EXPECT_EQ(lacking_figure(own_device()), "");
  const std::vector<Layer> layers = {made_product({1, 1024, 1024, 1024}, true)};
  const double seconds = times_on(own_device(), layers, false).at(0).seconds;
  EXPECT_GT(seconds, 2.0 * 1024 * 1024 * 1024 / 0.256e12);
  EXPECT_LT(seconds, 2.2 * 1024 * 1024 * 1024 / 0.256e12);
  const auto in = [&](const char* format, double peak) {
    return times_on(own_device([&](nlohmann::json& d) {
                      d["native_format"] = format;
                      d["peak"]["value"] = peak;
                    }),
                    layers, false)
        .at(0)
        .seconds;
  };
  EXPECT_NEAR(seconds / in("bf16", 0.512), 2, 0.1);
  EXPECT_NEAR(seconds / in("int8", 1.024), 4, 0.3);
}

TEST(cpu, a_device_that_the_model_has_not_is_bounded) {
  const auto lacking = [](std::size_t figure, double value) {
    return lacking_figure(own_device([&](nlohmann::json& d) { d["figures"][figure]["value"] = value; }));
  };
  EXPECT_EQ(lacking(0, 2000), "a core that the model has") << "cores";
  EXPECT_EQ(lacking(2, 100), "a core that the model has") << "bits";
  EXPECT_EQ(lacking(3, 9), "a core that the model has") << "multiplies a cycle";
  EXPECT_EQ(lacking(0, 5), "a peak as high as its structure's");
  EXPECT_EQ(lacking(2, 256), "");
  EXPECT_EQ(lacking_figure(own_device([](nlohmann::json& d) { d["figures"].erase(8); })), "l3_bytes_per_cycle");
}

TEST(cpu, devices_of_this_program_have_what_the_model_reads) {
  int processors = 0;
  for (const Device& device : devices()) {
    if (device.archetype != Archetype::cpu) continue;
    ++processors;
    EXPECT_EQ(lacking_figure(device), "") << device.id;
  }
  EXPECT_GE(processors, 5);
}

TEST(cpu, a_machine_without_figures_is_a_bug) {
  EXPECT_THROW(times_of(std::vector<Layer>{}, CpuMachine{}), Bug);
  EXPECT_THROW(kernel_cycles({1, 1}, 0, CpuMultiplier{}), Bug);
}

}  // namespace
}  // namespace sdip
