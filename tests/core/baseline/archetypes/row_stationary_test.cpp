// Does an array stepped cycle by cycle, its sets laid out element by element, take and move what the model says?
#include "core/baseline/archetypes/row_stationary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/core/baseline/made_product.h"

namespace sdip {
namespace {

/// Where the elements of all sets lie: (row, column) of the array for (set, kernel row, row of results). Folds are
/// stacked below each other, sets beside each other and then in the next rows.
std::vector<std::pair<std::int64_t, std::int64_t>> places_of(const RowStationaryLayer& l,
                                                             const RowStationaryMapping& m,
                                                             const RowStationaryMachine& machine) {
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  const std::int64_t width = std::min(m.strip, machine.columns);
  std::int64_t top = 0, left = 0;
  for (std::int64_t set = 0; set < m.channel_sets * m.filter_sets; ++set) {
    if (left + width > machine.columns) {
      left = 0;
      top += l.kernel_rows * ((m.strip + machine.columns - 1) / machine.columns);
    }
    for (std::int64_t row = 0; row < l.kernel_rows; ++row)
      for (std::int64_t j = 0; j < m.strip; ++j)
        places.emplace_back(top + (j / machine.columns) * l.kernel_rows + row, left + j % machine.columns);
    left += width;
  }
  return places;
}

struct SteppedPasses {
  std::int64_t passes = 0, cycles = 0, array_cycles = 0;
  std::int64_t dram_inputs = 0, dram_weights = 0, buffer_words = 0;
  bool right = true;
};

/// A layer with values, and its results so far.
struct Values {
  RowStationaryLayer l;
  std::vector<std::int64_t> results;
  std::int64_t input(std::int64_t image, std::int64_t channel, std::int64_t row, std::int64_t column) const {
    return (image * 7 + channel * 5 + row * 3 + column * 11) % 13 - 6;
  }
  std::int64_t weight(std::int64_t filter, std::int64_t channel, std::int64_t row, std::int64_t column) const {
    return (filter * 3 + channel * 7 + row * 5 + column * 2) % 11 - 5;
  }
  std::int64_t& result(std::int64_t image, std::int64_t filter, std::int64_t row, std::int64_t column) {
    return results[static_cast<std::size_t>(((image * l.filters + filter) * l.rows + row) * l.columns + column)];
  }
};

/// What one pass is about.
struct OnePass {
  std::int64_t row = 0, rows = 0, image = 0, images = 0, filter = 0, channel = 0;
};

/// The multiplications of one element: a row of the kernel by a row of the inputs, for all images, filters and
/// channels of its registers. Returns its cycles; those beyond the layer's end do nothing.
std::int64_t step_element(Values& v, const RowStationaryMapping& m, const OnePass& pass, std::int64_t kernel_row,
                          std::int64_t j, std::int64_t filter, std::int64_t channel) {
  const RowStationaryLayer& l = v.l;
  std::int64_t cycles = 0;
  for (std::int64_t image = 0; image < pass.images; ++image)
    for (std::int64_t column = 0; column < l.columns; ++column)
      for (std::int64_t s = 0; s < l.kernel_columns; ++s)
        for (std::int64_t p = 0; p < m.filters; ++p)
          for (std::int64_t q = 0; q < m.channels; ++q) {
            ++cycles;
            if (filter + p >= l.filters || channel + q >= l.channels) continue;
            const std::int64_t row = (pass.row + j) * l.row_stride + kernel_row;
            v.result(pass.image + image, filter + p, pass.row + j, column) +=
                v.weight(filter + p, channel + q, kernel_row, s) *
                v.input(pass.image + image, channel + q, row, column * l.column_stride + s);
          }
  return cycles;
}

/// Weights first; then inputs, sums and multiplications, a cycle at a time, until all are done. Elements wait for
/// the first window of every row.
std::int64_t step_buses(const RowStationaryMachine& machine, std::int64_t weights, std::int64_t first,
                        std::int64_t inputs, std::int64_t sums, std::int64_t multiplications) {
  std::int64_t cycles = 0, arrived = 0, moved = 0, done = 0;
  for (; weights > 0; weights -= machine.weight_bus) ++cycles;
  while (arrived < inputs || moved < sums || done < multiplications) {
    ++cycles;
    if (arrived >= first) ++done;
    arrived += machine.input_bus;
    moved += machine.sum_bus;
  }
  return cycles;
}

void step_pass(Values& v, const RowStationaryMapping& m, const RowStationaryMachine& machine, const OnePass& pass,
               SteppedPasses& stepped) {
  const RowStationaryLayer& l = v.l;
  std::set<std::pair<std::int64_t, std::int64_t>> rows_reached;  // (channel, row of inputs): one multicast each
  std::int64_t multiplications = 0, weights = 0, real_rows = 0;
  for (std::int64_t r = 0; r < m.channel_sets; ++r)
    for (std::int64_t t = 0; t < m.filter_sets; ++t)
      for (std::int64_t kernel_row = 0; kernel_row < l.kernel_rows; ++kernel_row) {
        weights += l.kernel_columns * m.filters * m.channels;  // one multicast to the elements of a row
        for (std::int64_t j = 0; j < pass.rows; ++j) {
          const std::int64_t filter = pass.filter + t * m.filters, channel = pass.channel + r * m.channels;
          const std::int64_t took = step_element(v, m, pass, kernel_row, j, filter, channel);
          multiplications = std::max(multiplications, took);
          for (std::int64_t q = 0; q < m.channels; ++q)
            rows_reached.emplace(channel + q, j * l.row_stride + kernel_row);
        }
      }
  for (const auto& [channel, row] : rows_reached) real_rows += channel < l.channels ? 1 : 0;
  std::set<std::int64_t> columns_reached;
  for (std::int64_t column = 0; column < l.columns; ++column)
    for (std::int64_t s = 0; s < l.kernel_columns; ++s) columns_reached.insert(column * l.column_stride + s);
  const auto width = static_cast<std::int64_t>(columns_reached.size());
  const auto reached = static_cast<std::int64_t>(rows_reached.size());
  const std::int64_t sums = pass.images * pass.rows * l.columns * m.filters * m.filter_sets;
  ++stepped.passes;
  stepped.array_cycles += multiplications;
  stepped.cycles += step_buses(machine, weights, reached * l.kernel_columns, pass.images * reached * width, sums,
                               multiplications);
  const std::int64_t filters = std::min(m.filters * m.filter_sets, l.filters - pass.filter);
  stepped.buffer_words += pass.images * (real_rows * width + 2 * pass.rows * l.columns * filters);
  stepped.dram_weights +=
      filters * l.kernel_rows * l.kernel_columns * std::min(m.channels * m.channel_sets, l.channels - pass.channel);
  if (pass.filter % m.held_filters == 0) stepped.dram_inputs += pass.images * real_rows * width;
}

SteppedPasses step_layer(const RowStationaryLayer& l, const RowStationaryMapping& m,
                         const RowStationaryMachine& machine) {
  Values v{l, std::vector<std::int64_t>(static_cast<std::size_t>(l.images * l.filters * l.rows * l.columns))};
  SteppedPasses stepped;
  OnePass pass;
  for (pass.row = 0; pass.row < l.rows; pass.row += m.strip)
    for (pass.image = 0; pass.image < l.images; pass.image += m.images)
      for (std::int64_t held = 0; held < l.filters; held += m.held_filters)
        for (pass.channel = 0; pass.channel < l.channels; pass.channel += m.channels * m.channel_sets)
          for (pass.filter = held; pass.filter < std::min(l.filters, held + m.held_filters);
               pass.filter += m.filters * m.filter_sets) {
            pass.rows = std::min(m.strip, l.rows - pass.row);
            pass.images = std::min(m.images, l.images - pass.image);
            step_pass(v, m, machine, pass, stepped);
          }
  for (std::int64_t image = 0; image < l.images; ++image)
    for (std::int64_t filter = 0; filter < l.filters; ++filter)
      for (std::int64_t row = 0; row < l.rows; ++row)
        for (std::int64_t column = 0; column < l.columns; ++column) {
          std::int64_t sum = 0;
          for (std::int64_t c = 0; c < l.channels; ++c)
            for (std::int64_t y = 0; y < l.kernel_rows; ++y)
              for (std::int64_t x = 0; x < l.kernel_columns; ++x)
                sum += v.weight(filter, c, y, x) *
                       v.input(image, c, row * l.row_stride + y, column * l.column_stride + x);
          stepped.right &= sum == v.result(image, filter, row, column);
        }
  return stepped;
}

RowStationaryMachine small_array() {
  RowStationaryMachine m;
  m.rows = 6, m.columns = 5;
  m.input_words = 6, m.weight_words = 24, m.sum_words = 4;
  m.buffer_words = 400;
  m.weight_bus = 3, m.sum_bus = 2;
  return m;
}

std::int64_t drawn(std::mt19937& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

RowStationaryLayer drawn_layer(std::mt19937& random) {
  RowStationaryLayer l;
  l.images = drawn(random, 1, 3), l.channels = drawn(random, 1, 7), l.filters = drawn(random, 1, 9);
  l.rows = drawn(random, 1, 9), l.columns = drawn(random, 1, 6);
  l.kernel_rows = drawn(random, 1, 4), l.kernel_columns = drawn(random, 1, 3);
  l.row_stride = drawn(random, 1, 2), l.column_stride = drawn(random, 1, 2);
  return l;
}

/// Any mapping that the array has room for, good or bad.
RowStationaryMapping drawn_mapping(std::mt19937& random, const RowStationaryLayer& l,
                                   const RowStationaryMachine& machine) {
  RowStationaryMapping m;
  do m.strip = drawn(random, 1, l.rows);
  while (sets_in_array(l.kernel_rows, m.strip, machine) < 1);
  const std::int64_t sets = sets_in_array(l.kernel_rows, m.strip, machine);
  m.images = drawn(random, 1, l.images);
  m.filters = drawn(random, 1, std::min(machine.sum_words, l.filters));
  m.channels = drawn(random, 1, std::min(l.channels, machine.input_words / l.kernel_columns));
  m.channel_sets = drawn(random, 1, sets);
  m.filter_sets = drawn(random, 1, sets / m.channel_sets);
  m.held_filters = m.filters * m.filter_sets * drawn(random, 1, 3);
  return m;
}

TEST(row_stationary, takes_and_moves_what_a_stepped_array_does) {
  std::mt19937 random(24);
  const RowStationaryMachine machine = small_array();
  for (int turn = 0; turn < 300; ++turn) {
    const RowStationaryLayer l = drawn_layer(random);
    const RowStationaryMapping m = drawn_mapping(random, l, machine);
    const SteppedPasses stepped = step_layer(l, m, machine);
    const RowStationaryCost cost = cost_of(l, m, machine);
    EXPECT_TRUE(stepped.right) << turn;
    EXPECT_EQ(cost.passes, static_cast<double>(stepped.passes)) << turn;
    EXPECT_EQ(cost.cycles, static_cast<double>(stepped.cycles)) << turn;
    EXPECT_EQ(cost.array_cycles, static_cast<double>(stepped.array_cycles)) << turn;
    EXPECT_EQ(cost.buffer_words, static_cast<double>(stepped.buffer_words)) << turn;
    EXPECT_EQ(cost.input_words, static_cast<double>(stepped.dram_inputs)) << turn;
    EXPECT_EQ(cost.weight_words, static_cast<double>(stepped.dram_weights)) << turn;
    EXPECT_EQ(cost.output_words, static_cast<double>(l.images * l.filters * l.rows * l.columns)) << turn;
  }
}

TEST(row_stationary, lays_its_sets_out_side_by_side_within_the_array) {
  std::mt19937 random(7);
  const RowStationaryMachine machine = small_array();
  for (int turn = 0; turn < 300; ++turn) {
    const RowStationaryLayer l = drawn_layer(random);
    const RowStationaryMapping m = drawn_mapping(random, l, machine);
    const auto places = places_of(l, m, machine);
    EXPECT_EQ(active_elements(l, m), static_cast<std::int64_t>(places.size()));
    EXPECT_EQ(std::set(places.begin(), places.end()).size(), places.size()) << "no element twice";
    for (const auto& [row, column] : places) {
      EXPECT_LT(row, machine.rows);
      EXPECT_LT(column, machine.columns);
    }
  }
}

/// The example of sets_in_array.
TEST(row_stationary, folds_a_set_that_is_wider_than_the_array) {
  const RowStationaryMachine eyeriss;
  EXPECT_EQ(sets_in_array(5, 27, eyeriss), 1);
  EXPECT_EQ(sets_in_array(5, 29, eyeriss), 0) << "three parts of five rows are too many";
  EXPECT_EQ(sets_in_array(3, 13, eyeriss), 4);
  EXPECT_EQ(sets_in_array(11, 7, eyeriss), 2);
}

/// Least bound, or loads, of all mappings there are, tried one by one.
double least_bound(const RowStationaryLayer& l, const RowStationaryMachine& machine) {
  double least = std::numeric_limits<double>::infinity();
  RowStationaryMapping m;
  const std::int64_t q_most = std::min(l.channels, machine.input_words / l.kernel_columns);
  for (m.strip = 1; m.strip <= l.rows; ++m.strip)
    for (m.images = 1; m.images <= l.images; ++m.images)
      for (m.channels = 1; m.channels <= q_most; ++m.channels)
        for (m.filters = 1; m.filters <= std::min(machine.sum_words, l.filters); ++m.filters) {
          if (m.filters * m.channels * l.kernel_columns > machine.weight_words) break;
          if ((m.filters & (m.filters - 1)) != 0 && m.filters != l.filters) continue;
          const std::int64_t sets = sets_in_array(l.kernel_rows, m.strip, machine);
          for (m.channel_sets = 1; m.channel_sets <= sets; ++m.channel_sets)
            for (m.filter_sets = 1; m.filter_sets * m.channel_sets <= sets; ++m.filter_sets) {
              const std::int64_t held =
                  ((m.strip - 1) * std::min(l.row_stride, l.kernel_rows) + l.kernel_rows) *
                  ((l.columns - 1) * std::min(l.column_stride, l.kernel_columns) + l.kernel_columns) * m.channels *
                  m.channel_sets;
              const std::int64_t at_once = m.filters * m.filter_sets;
              const std::int64_t fit =
                  (machine.buffer_words - m.images * held) / (m.images * m.strip * l.columns) / at_once;
              if (fit < 1 || machine.buffer_words < m.images * held) continue;
              m.held_filters = at_once * fit;
              const RowStationaryCost cost = cost_of(l, m, machine);
              const double loads = (cost.input_words + cost.weight_words) * machine.bytes_per_element /
                                   machine.dram_bytes_per_s * machine.clock_hz;
              least = std::min(least, std::max(cost.bound_cycles, loads));
            }
        }
  return least;
}

TEST(row_stationary, chooses_no_mapping_worse_than_all_tried_one_by_one) {
  std::mt19937 random(3);
  RowStationaryMachine machine = small_array();
  for (int turn = 0; turn < 60; ++turn) {
    machine.dram_bytes_per_s = turn % 2 == 0 ? 1e8 : 2e9;
    const RowStationaryLayer l = drawn_layer(random);
    const auto m = row_stationary_mapping(l, machine);
    ASSERT_EQ(m.has_value(), least_bound(l, machine) < std::numeric_limits<double>::infinity()) << turn;
    if (!m) continue;
    const RowStationaryCost cost = cost_of(l, *m, machine);
    const double loads = (cost.input_words + cost.weight_words) * machine.bytes_per_element /
                         machine.dram_bytes_per_s * machine.clock_hz;
    EXPECT_LE(std::max(cost.bound_cycles, loads), least_bound(l, machine) * (1 + 1e-12)) << turn;
  }
}

TEST(row_stationary, takes_a_kernel_that_is_too_large_as_several) {
  const RowStationaryMachine eyeriss;
  const RowStationaryLayer folded = folded_kernel(
      {.channels = 3, .filters = 8, .rows = 16, .columns = 16, .kernel_rows = 16, .kernel_columns = 16}, eyeriss);
  EXPECT_EQ(folded.kernel_rows, 8);
  EXPECT_EQ(folded.kernel_columns, 8);
  EXPECT_EQ(folded.channels, 3 * 4);
  EXPECT_TRUE(row_stationary_mapping(folded, eyeriss));
}

TEST(row_stationary, products_take_at_least_their_multiplications_and_bytes) {
  const RowStationaryMachine eyeriss;
  const std::vector<Layer> layers = {made_product({1, 4096, 320, 320}, true), made_product({1, 77, 768, 768}, true),
                                     made_product({16, 1024, 1024, 80}, false),
                                     made_product({1, 1, 1000, 2048}, true)};
  const std::vector<LayerTime> times = times_of(layers, eyeriss);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_GE(times[i].compute_s * 168 * eyeriss.clock_hz, static_cast<double>(macs_of(layers[i]))) << i;
    EXPECT_GE(times[i].dram_bytes, 2 * static_cast<double>(layers[i].a_elements + layers[i].b_elements +
                                                           layers[i].weight_elements + layers[i].output_elements))
        << i;
    EXPECT_GE(times[i].seconds, times[i].compute_s + times[i].on_chip_s) << i;
    EXPECT_GE(times[i].seconds * eyeriss.dram_bytes_per_s, times[i].dram_bytes * (1 - 1e-12)) << i;
  }
  EXPECT_NEAR(times[3].dram_bytes, 2.0 * (2048 * 1000 + 2048 + 1000), 2.0 * 12 * 2048)
      << "a vector by a matrix reads each weight once";
}

TEST(row_stationary, zeros_that_are_coded_save_bytes_of_activations_alone) {
  RowStationaryMachine eyeriss;
  const std::vector<Layer> layers = {made_product({1, 256, 64, 64}, true)};
  const double plain = times_of(layers, eyeriss)[0].dram_bytes;
  eyeriss.activation_compression = 2;
  const double coded = times_of(layers, eyeriss)[0].dram_bytes;
  EXPECT_LT(coded, plain);
  EXPECT_GT(coded, plain / 2) << "weights are not coded";
}

TEST(row_stationary, of_any_size_are_mapped_soon) {
  RowStationaryMachine huge;
  huge.rows = huge.columns = huge.input_words = huge.weight_words = huge.sum_words = 100'000;
  huge.buffer_words = 1'000'000'000'000;
  EXPECT_FALSE(is_row_stationary(huge)) << "more than mappings are sought for";
  huge.rows = huge.columns = 256;
  huge.input_words = huge.weight_words = huge.sum_words = 4096;
  ASSERT_TRUE(is_row_stationary(huge));
  RowStationaryMachine tiny;
  tiny.rows = tiny.columns = tiny.input_words = tiny.weight_words = tiny.sum_words = 1;
  tiny.buffer_words = 1;
  EXPECT_FALSE(is_row_stationary(tiny)) << "nowhere to hold an input and a sum";
  tiny.buffer_words = 2;
  ASSERT_TRUE(is_row_stationary(tiny));
  Layer wide = made_product({1, 1, 16, 16}, true);
  wide.work.family = Family::conv2d;
  wide.work.nest.out_h = 64, wide.work.nest.out_w = 4096;
  wide.work.nest.kernel_h = wide.work.nest.kernel_w = 3;
  for (const RowStationaryMachine& machine : {huge, tiny}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_GT(times_of(std::vector{wide, made_product({1, 4096, 320, 320}, true)}, machine)[0].seconds, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  }
}

}  // namespace
}  // namespace sdip
