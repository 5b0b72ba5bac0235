// Machines of tiles: how products are cut, what is exchanged, what goes through DRAM.
#include "core/baseline/archetypes/tiles.h"

#include <gtest/gtest.h>
#include "tests/core/baseline/made_product.h"

namespace sdip {
namespace {

TiledMachine four_tiles() {
  return {.tiles = 4, .clock_hz = 1, .tile_bytes = 1e6, .exchange_bytes_per_s = 0, .bytes_per_element = 1};
}

Layer product_layer(std::int64_t rows, std::int64_t columns, std::int64_t terms) {
  return made_product({1, rows, columns, terms}, false);
}

/// The worked example of tiles.h.
TEST(tiles, cut_a_product_where_least_is_exchanged) {
  TiledMachine m = four_tiles();
  const std::vector<Layer> layers = {product_layer(8, 8, 8)};
  EXPECT_DOUBLE_EQ(times_of(layers, m)[0].seconds, 128);
  m.exchange_bytes_per_s = 1;
  const TileCut cut = tile_cut({1, 8, 8, 8}, m);
  EXPECT_EQ(cut.rows, 2);
  EXPECT_EQ(cut.columns, 2);
  EXPECT_DOUBLE_EQ(times_of(layers, m)[0].on_chip_s, 4 * 64);
}

TEST(tiles, by_the_hundred_thousand_are_dealt_out_at_once) {
  TiledMachine m = four_tiles();
  m.tiles = 100'000;
  m.exchange_bytes_per_s = 1e12;
  EXPECT_GT(times_of(std::vector{product_layer(std::int64_t{1} << 40, 320, 2880)}, m)[0].seconds, 0);
  EXPECT_EQ(tile_cut({1, 10, 1, 1}, {.tiles = 7, .clock_hz = 1}).rows, 5) << "seven parts are not all filled";
}

TEST(tiles, that_are_left_over_idle) {
  const TiledMachine m = four_tiles();
  // 5 rows on 4 tiles: the slowest has two of them.
  EXPECT_DOUBLE_EQ(times_of(std::vector{product_layer(5, 1, 10)}, m)[0].compute_s, 20);
}

TEST(tiles, keep_what_fits_and_send_the_rest_to_dram_once) {
  TiledMachine m = four_tiles();
  m.dram_bytes_per_s = 10;
  Layer layer = product_layer(8, 8, 8);
  EXPECT_DOUBLE_EQ(times_of(std::vector{layer}, m)[0].dram_bytes, 0);
  m.tile_bytes = 8;  // 32 of 192 bytes
  EXPECT_DOUBLE_EQ(times_of(std::vector{layer}, m)[0].dram_bytes, 160);
  EXPECT_DOUBLE_EQ(times_of(std::vector{layer}, m)[0].memory_s, 16);
  m.tile_bytes = 1e6;
  layer.weight_elements = 64;
  EXPECT_DOUBLE_EQ(times_of(std::vector{layer}, m)[0].dram_bytes, 64) << "weights come once a pass";
}

TEST(tiles, more_of_everything_is_never_slower) {
  const std::vector<Layer> layers = {product_layer(77, 40, 320), product_layer(4096, 320, 320)};
  TiledMachine m = {.tiles = 60,
                    .macs_per_cycle = 32,
                    .clock_hz = 1e9,
                    .tile_bytes = 65536,
                    .exchange_bytes_per_s = 1e12,
                    .dram_bytes_per_s = 1e11};
  const auto total = [&](const TiledMachine& machine) {
    double seconds = 0;
    for (const LayerTime& time : times_of(layers, machine)) seconds += time.seconds;
    return seconds;
  };
  const double base = total(m);
  for (double TiledMachine::*figure :
       {&TiledMachine::macs_per_cycle, &TiledMachine::clock_hz, &TiledMachine::tile_bytes,
        &TiledMachine::exchange_bytes_per_s, &TiledMachine::dram_bytes_per_s}) {
    TiledMachine more = m;
    more.*figure *= 2;
    EXPECT_LE(total(more), base);
  }
}

}  // namespace
}  // namespace sdip
