// Do queues of a DaVinci core take what stepped ones take, and tiles move and compute what they should?
#include "core/baseline/archetypes/cube.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <random>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/units.h"
#include "tests/core/baseline/made_product.h"

namespace sdip {
namespace {

/// One instruction of a queue: what it takes from the buffer before it and leaves in the one behind it.
struct Instruction {
  std::int64_t cycles = 0;
  bool opens = true, closes = true;  // takes a piece of the buffer behind; fills it
  bool reads = true, frees = true;   // waits for a piece of the buffer before; is the last to read it
};

/// Queues in a row with a buffer of two pieces between each two, one cycle after the other. Each queue works in
/// order; it knows what is in the buffers beside it and nothing else.
std::int64_t step_queues(const std::vector<std::deque<Instruction>>& program) {
  std::vector<std::deque<Instruction>> queues = program;
  std::vector<std::int64_t> left(queues.size(), 0), taken(queues.size() + 1, 0), filled(queues.size() + 1, 0);
  std::int64_t cycle = 0;
  const auto idle = [&] {
    for (std::size_t q = 0; q < queues.size(); ++q)
      if (!queues[q].empty()) return false;
    return true;
  };
  for (; !idle(); ++cycle) {
    for (std::size_t q = 0; q < queues.size(); ++q) {
      if (queues[q].empty() || left[q] > 0) continue;
      const Instruction& next = queues[q].front();
      if (q > 0 && next.reads && filled[q] == 0) continue;
      if (q + 1 < queues.size() && next.opens) {
        if (taken[q + 1] == 2) continue;
        ++taken[q + 1];
      }
      left[q] = next.cycles;
    }
    for (std::size_t q = 0; q < queues.size(); ++q) {
      if (left[q] == 0 || --left[q] > 0) continue;
      const Instruction done = queues[q].front();
      queues[q].pop_front();
      if (q > 0 && done.frees) --filled[q], --taken[q];
      if (q + 1 < queues.size() && done.closes) ++filled[q + 1];
    }
  }
  return cycle;
}

std::int64_t step_pipeline(const CubePipeline& p) {
  const auto whole = [](double cycles) { return static_cast<std::int64_t>(cycles); };
  std::vector<std::deque<Instruction>> program(5);
  if (p.preload > 0) program[0].push_back({whole(p.preload), false, false, false, false});
  for (std::int64_t tile = 0; tile < whole(p.tiles); ++tile) {
    for (std::int64_t step = 0; step < whole(p.steps); ++step) {
      program[0].push_back({whole(p.mte2), true, true, false, false});
      program[1].push_back({whole(p.mte1)});
      program[2].push_back({whole(p.cube), step == 0, step + 1 == whole(p.steps)});  // sums stay until the last
    }
    program[3].push_back({whole(p.vector)});
    program[4].push_back({whole(p.mte3), false, false});
  }
  return step_queues(program);
}

TEST(cube, queues_with_flags_take_the_cycles_of_stepped_ones) {
  std::mt19937 random(1);
  const auto up_to = [&](int most) { return static_cast<double>(1 + random() % static_cast<unsigned>(most)); };
  for (int trial = 0; trial < 3000; ++trial) {
    CubePipeline p{.tiles = up_to(6), .steps = up_to(5), .mte2 = up_to(9), .mte1 = up_to(9), .cube = up_to(9)};
    p.vector = up_to(trial % 2 == 0 ? 9 : 40);
    p.mte3 = up_to(trial % 3 == 0 ? 40 : 9);
    p.preload = trial % 4 == 0 ? up_to(20) : 0;
    ASSERT_EQ(pipeline_cycles(p), static_cast<double>(step_pipeline(p)))
        << p.tiles << " tiles of " << p.steps << " steps: " << p.mte2 << " " << p.mte1 << " " << p.cube << " "
        << p.vector << " " << p.mte3 << " after " << p.preload;
  }
}

TEST(cube, three_queues_without_the_cube_take_the_cycles_of_stepped_ones) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 500; ++trial) {
    const auto draw = [&] { return static_cast<std::int64_t>(1 + random() % 12); };
    const std::int64_t pieces = draw(), in = draw(), work = draw(), out = draw();
    std::vector<std::deque<Instruction>> program(3);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      program[0].push_back({in, true, true, false, false});
      program[1].push_back({work});
      program[2].push_back({out, false, false});
    }
    const CubePipeline p{.tiles = static_cast<double>(pieces),
                         .mte2 = static_cast<double>(in),
                         .vector = static_cast<double>(work),
                         .mte3 = static_cast<double>(out)};
    ASSERT_EQ(pipeline_cycles(p), static_cast<double>(step_queues(program)));
  }
}

/// The example of the declaration and of docs/model/cube.md.
TEST(cube, the_worked_example_takes_45_cycles) {
  const CubePipeline p{.tiles = 3, .steps = 2, .mte2 = 4, .mte1 = 3, .cube = 5, .vector = 6, .mte3 = 2};
  EXPECT_EQ(pipeline_cycles(p), 45);
  EXPECT_EQ(step_pipeline(p), 45);
  EXPECT_EQ(busiest_queue(p), CubeBound::cube);
}

TEST(cube, the_limit_of_many_tiles_is_the_slowest_queue_alone) {
  CubePipeline p{.tiles = 1e6, .steps = 4, .mte2 = 5, .mte1 = 3, .cube = 10, .vector = 20, .mte3 = 30};
  EXPECT_NEAR(pipeline_cycles(p) / p.tiles, 40, 1e-3);
  p.mte3 = 70;
  EXPECT_NEAR(pipeline_cycles(p) / p.tiles, 70, 1e-3);
  EXPECT_EQ(busiest_queue(p), CubeBound::mte3);
  p.tiles = p.steps = 1;
  EXPECT_EQ(pipeline_cycles(p), 5 + 3 + 10 + 20 + 70) << "one tile: everything in turn";
}

/// Round figures: 4 x 4 x 4, a byte an element.
CubeMachine small_machine() {
  return {.clock_hz = 1e9,
          .cores = 1,
          .cube_rows = 4,
          .cube_columns = 4,
          .cube_depth = 4,
          .vector_lanes = 8,
          .l0a_bytes = 256,
          .l0b_bytes = 256,
          .l0c_bytes = 1024,
          .l1_bytes = 4096,
          .ub_bytes = 2048,
          .gm_to_core_bytes_per_cycle = 8,
          .l1_to_l0a_bytes_per_cycle = 32,
          .l1_to_l0b_bytes_per_cycle = 16,
          .l0c_to_ub_bytes_per_cycle = 16,
          .core_to_gm_bytes_per_cycle = 4,
          .l2_bytes = 1e6,
          .dram_bytes_per_s = 1e12,
          .bytes_per_element = 1};
}

Layer windowed(std::int64_t channels, std::int64_t filters, std::int64_t out, std::int64_t kernel,
               std::int64_t stride, std::int64_t groups = 1) {
  Layer layer;
  layer.work.family = Family::conv2d;
  const std::int64_t in = (out - 1) * stride + kernel;
  layer.work.nest = {.groups = groups,
                     .out_channels = filters / groups,
                     .in_channels = channels / groups,
                     .out_h = out,
                     .out_w = out,
                     .in_h = in,
                     .in_w = in,
                     .kernel_h = kernel,
                     .kernel_w = kernel,
                     .stride_h = stride,
                     .stride_w = stride};
  layer.a_elements = channels * in * in;
  layer.weight_elements = channels / groups * filters * kernel * kernel;
  layer.output_elements = filters * out * out;
  layer.weighted = true;
  return layer;
}

/// Distinct pixels under the kernel of neighbouring outputs, one by one, times channels.
std::int64_t pixels_needed(const Layer& layer, std::int64_t first, std::int64_t rows) {
  const LoopNest& n = layer.work.nest;
  std::set<std::array<std::int64_t, 3>> pixels;
  for (std::int64_t row = first; row < std::min(first + rows, n.batch * n.out_h * n.out_w); ++row)
    for (std::int64_t i = 0; i < n.kernel_h; ++i)
      for (std::int64_t j = 0; j < n.kernel_w; ++j)
        pixels.insert({row / (n.out_h * n.out_w), row / n.out_w % n.out_h * n.stride_h + i * n.dilation_h,
                       row % n.out_w * n.stride_w + j * n.dilation_w});
  return static_cast<std::int64_t>(pixels.size()) * n.in_channels;
}

TEST(cube, the_engine_brings_each_pixel_of_a_tile_once) {
  std::mt19937 random(3);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  CubeMachine m = small_machine();
  for (int trial = 0; trial < 300; ++trial) {
    const std::int64_t stride = up_to(2), kernel = stride - 1 + up_to(3);  // every pixel is under some kernel
    const Layer layer = windowed(32, 8, 3 + up_to(6), kernel, stride);
    const std::int64_t width = layer.work.nest.out_w;
    const std::int64_t rows = trial % 2 == 0 ? width * up_to(width) : up_to(width - 1);
    const auto expanded = static_cast<double>(rows * 32 * kernel * kernel);
    EXPECT_EQ(cube_row_elements(layer, rows, m),
              std::min(expanded, static_cast<double>(pixels_needed(layer, 0, rows))))
        << rows << " of " << width << ", kernel " << kernel << ", stride " << stride;
    m.im2col_by_engine = false;
    EXPECT_EQ(cube_row_elements(layer, rows, m), expanded);
    m.im2col_by_engine = true;
  }
  EXPECT_EQ(cube_row_elements(windowed(32, 8, 4, 3, 1), 1'000'000, m), 62500.0 * 6 * 6 * 32) << "images";
}

TEST(cube, channels_are_padded_and_narrow_groups_gathered) {
  CubeMachine m = small_machine();
  m.bytes_per_element = 2;
  m.cube_rows = m.cube_columns = m.cube_depth = 16;
  const MatrixProduct first = cube_product_of(windowed(3, 64, 8, 7, 2), m);
  EXPECT_EQ(first.terms, 16 * 49) << "3 channels as 16";
  EXPECT_EQ(first.columns, 64);
  const MatrixProduct depthwise = cube_product_of(windowed(32, 32, 8, 3, 1, 32), m);
  EXPECT_EQ(depthwise.count, 2);
  EXPECT_EQ(depthwise.columns, 16);
  EXPECT_EQ(depthwise.terms, 16 * 9);
  EXPECT_EQ(cube_product_of(made_product({3, 5, 7, 9}, false), m).terms, 9) << "no tensor of channels";
}

/// Every instruction of the busiest core, counted tile by tile: what MTE2 brings, what the cube multiplies.
struct Counted {
  double brought = 0, multiplied = 0, written = 0;
  int panels = 0;
};

Counted count_tiles(const MatrixProduct& p, const CubeTiling& t) {
  Counted counted;
  const std::int64_t rows = ceil_div(p.rows, t.row_parts), columns = ceil_div(p.columns, t.column_parts);
  const auto add = [](double& sum, std::int64_t a, std::int64_t b) { sum += static_cast<double>(a * b); };
  for (std::int64_t product = 0; product < ceil_div(p.count, t.count_parts); ++product) {
    if (t.held == CubeHeld::rows)
      for (std::int64_t row = 0; row < rows; row += t.rows, ++counted.panels) add(counted.brought, t.rows, p.terms);
    if (t.held == CubeHeld::columns)
      for (std::int64_t column = 0; column < columns; column += t.columns, ++counted.panels)
        add(counted.brought, t.columns, p.terms);
    for (std::int64_t row = 0; row < rows; row += t.rows)
      for (std::int64_t column = 0; column < columns; column += t.columns) {
        add(counted.written, t.rows, t.columns);
        for (std::int64_t term = 0; term < p.terms; term += t.terms) {
          const std::int64_t terms = std::min(t.terms, p.terms - term);
          if (t.held != CubeHeld::rows) add(counted.brought, t.rows, terms);
          if (t.held != CubeHeld::columns) add(counted.brought, t.columns, terms);
          add(counted.multiplied, t.rows * t.columns, t.terms);
        }
      }
  }
  return counted;
}

TEST(cube, a_kernel_brings_multiplies_and_writes_what_its_tiles_need) {
  std::mt19937 random(4);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  CubeMachine m = small_machine();
  m.gm_to_core_bytes_per_cycle = m.core_to_gm_bytes_per_cycle = 1;  // cycles are elements
  for (int trial = 0; trial < 500; ++trial) {
    const MatrixProduct product{up_to(3), up_to(60), up_to(60), up_to(60)};
    const CubeTiling t{.count_parts = up_to(2),
                       .row_parts = up_to(3),
                       .column_parts = up_to(3),
                       .rows = 4 * up_to(4),
                       .columns = 4 * up_to(4),
                       .terms = 4 * up_to(4),
                       .held = static_cast<CubeHeld>(random() % 3)};
    const CubePipeline p = product_pipeline(made_product(product, true), t, {}, m);
    const Counted counted = count_tiles(product, t);
    EXPECT_EQ(p.tiles * p.steps * p.cube * 64, counted.multiplied);
    EXPECT_EQ(p.tiles * p.mte3, counted.written);
    // One panel comes before the first step, and one ahead with each panel, also with the last; cycles are whole.
    const double busy = p.preload + p.tiles * p.steps * p.mte2, ahead = counted.panels > 1 ? p.preload : 0;
    EXPECT_GE(busy, counted.brought + ahead - 1e-6);
    EXPECT_LT(busy, counted.brought + ahead + p.tiles * p.steps + 1e-6);
  }
}

TEST(cube, tiles_fit_at_capacity_and_not_one_byte_below) {
  const CubeTiling t{.rows = 8, .columns = 8, .terms = 8};
  const Layer layer = made_product({1, 64, 64, 64}, true);
  CubeMachine m = small_machine();
  m.l0a_bytes = m.l0b_bytes = 2 * 8 * 8;
  m.l0c_bytes = 2 * 8 * 8 * 4;
  m.l1_bytes = 2 * 16 * 8;
  m.ub_bytes = 2 * 8 * 8;
  EXPECT_TRUE(cube_tile_fits(layer, t, {}, m));
  EXPECT_FALSE(cube_tile_fits(layer, t, {.elements = 64}, m)) << "a joined operand needs as much of UB again";
  for (double CubeMachine::*buffer : {&CubeMachine::l0a_bytes, &CubeMachine::l0b_bytes, &CubeMachine::l0c_bytes,
                                      &CubeMachine::l1_bytes, &CubeMachine::ub_bytes}) {
    CubeMachine less = m;
    less.*buffer -= 1;
    EXPECT_FALSE(cube_tile_fits(layer, t, {}, less));
  }
  CubeTiling held = t;
  held.held = CubeHeld::rows;  // two panels of 8 rows of 64 terms, two slices of columns
  m.l1_bytes = 2 * 8 * 64 + 2 * 8 * 8;
  EXPECT_TRUE(cube_tile_fits(layer, held, {}, m));
  m.l1_bytes -= 1;
  EXPECT_FALSE(cube_tile_fits(layer, held, {}, m));
  held.rows = 64;  // one panel is all there is
  m.l0a_bytes = m.l0b_bytes = m.l0c_bytes = m.ub_bytes = 1e6;
  m.l1_bytes = 64 * 64 + 2 * 8 * 8;
  EXPECT_TRUE(cube_tile_fits(layer, held, {}, m));
}

/// Over every size of tile and every cut.
double least_of_all(const Layer& layer, const CubeMachine& m) {
  const MatrixProduct p = cube_product_of(layer, m);
  double least = std::numeric_limits<double>::max();
  CubeTiling t;
  for (t.row_parts = 1; t.row_parts <= m.cores; ++t.row_parts)
    for (t.column_parts = 1; t.row_parts * t.column_parts <= m.cores; ++t.column_parts)
      for (t.rows = 4; t.rows <= p.rows + 3; t.rows += 4)
        for (t.columns = 4; t.columns <= p.columns + 3; t.columns += 4)
          for (t.terms = 4; t.terms <= p.terms + 3; t.terms += 4)
            for (const CubeHeld held : {CubeHeld::nothing, CubeHeld::rows, CubeHeld::columns}) {
              t.held = held;
              if (cube_tile_fits(layer, t, {}, m))
                least = std::min(least, pipeline_cycles(product_pipeline(layer, t, {}, m)));
            }
  return least;
}

TEST(cube, the_search_finds_nearly_the_best_of_all_tiles) {
  std::mt19937 random(5);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  CubeMachine m = small_machine();
  double sum = 0, worst = 0;
  constexpr int trials = 60;
  for (int trial = 0; trial < trials; ++trial) {
    m.cores = up_to(4);
    m.sync_cycles = trial % 2 == 0 ? 0 : 5;
    m.gm_to_core_bytes_per_cycle = static_cast<double>(2 * up_to(16));
    const Layer layer = made_product({1, up_to(70), up_to(70), up_to(70)}, true);
    const double above = product_kernel(layer, {}, m).cycles / least_of_all(layer, m) - 1;
    EXPECT_GE(above, 0);
    sum += above;
    worst = std::max(worst, above);
  }
  RecordProperty("mean_above", std::to_string(sum / trials));
  std::cout << "above the best of all tiles: mean " << 100 * sum / trials << " %, worst " << 100 * worst << " %\n";
  EXPECT_LE(sum / trials, 0.03);
  EXPECT_LE(worst, 0.2);
}

Layer elementwise(std::int64_t elements, std::int64_t others, Joint joint) {
  Layer layer;
  layer.work.rows = 1;
  layer.work.row_length = elements;
  layer.a_elements = layer.output_elements = elements;
  layer.other_elements = others;
  layer.joint = joint;
  return layer;
}

double seconds_of(const std::vector<Layer>& layers, const CubeMachine& m) {
  double sum = 0;
  for (const LayerTime& time : times_of(layers, m)) sum += time.seconds;
  return sum;
}

TEST(cube, what_joins_a_product_runs_beside_the_cube_and_never_sees_memory) {
  CubeMachine m = small_machine();
  m.l0c_to_ub_bytes_per_cycle = 64;
  m.l2_bytes = 1;
  const Layer product = made_product({1, 64, 64, 256}, true), relu = elementwise(4096, 0, Joint::fused);
  const std::vector<Layer> both = {product, relu};
  const auto fused = times_of(both, m);
  EXPECT_EQ(fused[1].seconds, 0);
  EXPECT_EQ(fused[1].dram_bytes, 0);
  EXPECT_EQ(fused[0].dram_bytes, times_of(std::vector{product}, m)[0].dram_bytes);
  EXPECT_LT(fused[0].seconds - seconds_of({product}, m), 0.05 * fused[0].seconds) << "the cube hides it";
  m.fused = false;
  const auto apart = times_of(both, m);
  EXPECT_EQ(apart[1].dram_bytes, 2 * 4096);
  EXPECT_GE(apart[1].seconds, 4096 / 4 / 1e9) << "written by MTE3";
  m.fused = true;
  // The other operand of a sum comes from memory all the same.
  EXPECT_EQ(times_of(std::vector{product, elementwise(4096, 4096, Joint::fused)}, m)[0].dram_bytes,
            fused[0].dram_bytes + 4096);
}

TEST(cube, fused_layers_join_results_of_their_size_and_what_finds_none_is_a_kernel) {
  const CubeMachine m = small_machine();
  Layer product = made_product({1, 16, 16, 16}, true);
  Layer relu = elementwise(256, 0, Joint::fused);
  relu.times = 4;
  product.times = 1;
  const LayerTime alone = times_of(std::vector{elementwise(256, 0, Joint::alone)}, m)[0];
  EXPECT_DOUBLE_EQ(times_of(std::vector{product, relu}, m)[1].seconds, 0.75 * alone.seconds) << "one of four";
  product.times = 4;
  EXPECT_EQ(times_of(std::vector{product, relu}, m)[1].seconds, 0);
  EXPECT_EQ(times_of(std::vector{relu, product}, m)[0].seconds, 0) << "alike ones stand where the first was";
  relu.a_elements = 128;
  EXPECT_EQ(times_of(std::vector{product, relu}, m)[1].seconds, 0) << "a half of the result";
  relu.a_elements = 255;
  EXPECT_DOUBLE_EQ(times_of(std::vector{product, relu}, m)[1].seconds, times_of(std::vector{relu}, m)[0].seconds);
  relu.work.family = Family::transpose;
  EXPECT_EQ(times_of(std::vector{product, relu}, m)[1].seconds, 0) << "the engines turn it on the way";
}

TEST(cube, im2col_by_the_engine_brings_the_input_once) {
  CubeMachine m = small_machine();
  m.bytes_per_element = 2;
  m.l0a_bytes = m.l0b_bytes = 4096;
  m.l0c_bytes = m.ub_bytes = 16384;
  m.l1_bytes = 65536;
  m.l2_bytes = 1;
  const Layer layer = windowed(16, 16, 16, 3, 1);
  const CubeLayerTime engine = cube_times(std::vector{layer}, m)[0];
  m.im2col_by_engine = false;
  const CubeLayerTime explicitly = cube_times(std::vector{layer}, m)[0];
  EXPECT_EQ(engine.kernels, 1);
  EXPECT_EQ(explicitly.kernels, 2);
  EXPECT_GT(explicitly.time.seconds, 2 * engine.time.seconds);
  // Read once (18 x 18 pixels), written nine times as large, and read again; weights and results.
  EXPECT_EQ(explicitly.time.dram_bytes, 2 * (18 * 18 * 16 + 2 * 256 * 144 + 16 * 144 + 256 * 16));
  EXPECT_LE(engine.time.dram_bytes, 2 * (2 * 18 * 18 * 16 + 16 * 144 + 256 * 16));
  EXPECT_EQ(cube_times(std::vector{windowed(16, 16, 16, 1, 1)}, m)[0].kernels, 1) << "nothing to expand";
}

TEST(cube, activations_stay_in_l2_where_they_fit_and_weights_do_not) {
  CubeMachine m = small_machine();
  const Layer layer = made_product({1, 64, 32, 16}, true);
  m.l2_bytes = 64 * 16 + 64 * 32;
  EXPECT_EQ(product_kernel(layer, {}, m).dram_bytes, 32 * 16);
  m.l2_bytes -= 1;
  EXPECT_EQ(product_kernel(layer, {}, m).dram_bytes, 32 * 16 + 64 * 16 + 64 * 32);
  EXPECT_EQ(vector_kernel(elementwise(100, 50, Joint::alone), {}, m).dram_bytes, 0);
  m.l2_bytes = 249;
  EXPECT_EQ(vector_kernel(elementwise(100, 50, Joint::alone), {}, m).dram_bytes, 250);
}

TEST(cube, more_of_a_machine_is_never_slower) {
  std::mt19937 random(6);
  const auto up_to = [&](std::int64_t most) { return 1 + static_cast<std::int64_t>(random()) % most; };
  for (int trial = 0; trial < 60; ++trial) {
    CubeMachine m = small_machine();
    m.cores = up_to(6);
    m.sync_cycles = up_to(20);
    m.l2_bytes = static_cast<double>(up_to(20'000));
    m.dram_bytes_per_s = 1e9 * static_cast<double>(up_to(40));
    const std::vector<Layer> layers = {made_product({up_to(3), up_to(200), up_to(200), up_to(200)}, trial % 2 == 0),
                                       windowed(16 * up_to(2), 8 * up_to(4), 4 + up_to(10), 3, up_to(2)),
                                       elementwise(up_to(5000), up_to(5000), Joint::alone)};
    const double before = seconds_of(layers, m);
    for (double CubeMachine::*figure :
         {&CubeMachine::clock_hz, &CubeMachine::gm_to_core_bytes_per_cycle, &CubeMachine::l1_to_l0a_bytes_per_cycle,
          &CubeMachine::l1_to_l0b_bytes_per_cycle, &CubeMachine::l0c_to_ub_bytes_per_cycle,
          &CubeMachine::core_to_gm_bytes_per_cycle, &CubeMachine::dram_bytes_per_s, &CubeMachine::l2_bytes}) {
      CubeMachine more = m;
      more.*figure *= 2;
      EXPECT_LE(seconds_of(layers, more), before);
    }
    CubeMachine more = m;
    more.cores *= 2;
    EXPECT_LE(seconds_of(layers, more), 1.001 * before);
    more = m;
    more.sync_cycles += 10;
    EXPECT_GE(seconds_of(layers, more), before);
    more = m;
    more.im2col_by_engine = false;
    EXPECT_GE(seconds_of(layers, more), before);
  }
}

TEST(cube, products_of_nothing_take_a_launch) {
  CubeMachine m = small_machine();
  m.launch_s = 1e-6;
  for (const MatrixProduct& p : {MatrixProduct{1, 0, 4, 4}, MatrixProduct{1, 4, 4, 0}, MatrixProduct{0, 4, 4, 4}})
    EXPECT_EQ(times_of(std::vector{made_product(p, true)}, m)[0].seconds, 1e-6);
  EXPECT_EQ(times_of(std::vector{windowed(0, 0, 4, 3, 1)}, m)[0].seconds, 1e-6);
}

TEST(cube, machines_that_hold_no_cube_are_refused) {
  CubeMachine m = small_machine();
  EXPECT_TRUE(holds_a_cube(m));
  m.l0c_bytes = 2 * 4 * 4 * 4 - 1;
  EXPECT_FALSE(holds_a_cube(m));
  EXPECT_THROW(times_of(std::vector{made_product({1, 4, 4, 4}, true)}, m), std::exception);
  m = small_machine();
  m.l1_to_l0b_bytes_per_cycle = 0;
  EXPECT_THROW(times_of(std::vector{made_product({1, 4, 4, 4}, true)}, m), std::exception);
}

}  // namespace
}  // namespace sdip
