// The compressor of `.weight`: nothing is lost, and nothing is believed.
#include "core/program/weights/packed.h"

#include <gtest/gtest.h>

#include <random>

namespace sdip {
namespace {

std::vector<std::byte> bytes_of(const std::vector<int>& numbers) {
  std::vector<std::byte> bytes;
  for (const int n : numbers) bytes.push_back(static_cast<std::byte>(n));
  return bytes;
}

std::vector<std::byte> random_bytes(std::mt19937_64& engine, std::size_t count, unsigned kinds) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(engine() % kinds));
  return bytes;
}

TEST(packed, bytes_come_back) {
  std::mt19937_64 engine(1);
  for (const std::size_t number_bytes : {1U, 2U, 4U})
    for (const std::size_t count : {0U, 1U, 2U, 3U, 5U, 7U, 8U, 1000U, 100001U})
      for (const unsigned kinds : {1U, 3U, 256U}) {
        const auto bytes = random_bytes(engine, count, kinds);
        const auto small = packed(bytes, number_bytes);
        EXPECT_EQ(unpacked(small, count, number_bytes), bytes);
        auto padded = small;
        padded.resize(padded.size() + 5);
        EXPECT_EQ(unpacked(padded, count, number_bytes), bytes);
      }
}

TEST(packed, bytes_of_the_same_place_in_their_numbers_stand_together) {
  EXPECT_EQ(packed(bytes_of({1, 2, 3, 4, 5}), 2), packed(bytes_of({1, 3, 2, 4, 5}), 1));
}

TEST(packed, zeros_take_almost_nothing) {
  EXPECT_LT(packed(std::vector<std::byte>(1 << 20), 2).size(), std::size_t{1} << 11);
}

TEST(packed, what_is_no_stream_of_as_many_bytes_is_refused) {
  std::mt19937_64 engine(2);
  const auto bytes = random_bytes(engine, 500, 5);
  const auto small = packed(bytes, 1);
  EXPECT_EQ(unpacked(small, 499, 1), std::nullopt);
  EXPECT_EQ(unpacked(small, 501, 1), std::nullopt);
  EXPECT_EQ(unpacked(std::span(small).first(small.size() - 1), 500, 1), std::nullopt);
  EXPECT_EQ(unpacked({}, 500, 1), std::nullopt);
  auto behind = small;
  behind.push_back(std::byte{1});
  EXPECT_EQ(unpacked(behind, 500, 1), std::nullopt);
  for (int i = 0; i < 2000; ++i) {
    const auto hostile = random_bytes(engine, 1 + engine() % 64, 256);
    const auto out = unpacked(hostile, 100, 2);
    EXPECT_EQ(out.value_or(std::vector<std::byte>(100)).size(), 100U);
  }
}

}  // namespace
}  // namespace sdip
