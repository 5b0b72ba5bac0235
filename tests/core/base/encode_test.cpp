// Number formats: every short code, and the numbers between them.
#include "core/base/encode.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace sdip {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Every code but infinities and NaN decodes to a number that encodes to it.
void expect_round_trip(NumberFormat format, std::int64_t finite) {
  std::int64_t seen = 0;
  for (std::uint32_t code = 0; code < 1U << bits_of(format); ++code) {
    const float x = decoded(format, code);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(decoded(format, encoded(format, x)))) << code;
    } else if (!std::isinf(x)) {
      ++seen;
      ASSERT_EQ(encoded(format, x), code);
    }
  }
  EXPECT_EQ(seen, finite);
}

/// Between neighbouring positive codes the nearer one is taken, and of two equally near the even one.
void expect_nearest(NumberFormat format, std::uint32_t largest) {
  for (std::uint32_t code = 0; code < largest; ++code) {
    const float below = decoded(format, code), above = decoded(format, code + 1);
    const float middle = below / 2 + above / 2;
    ASSERT_EQ(encoded(format, middle), code + (code & 1)) << code;
    ASSERT_EQ(encoded(format, std::nextafterf(middle, 0.0F)), code) << code;
    ASSERT_EQ(encoded(format, std::nextafterf(middle, infinity)), code + 1) << code;
  }
}

TEST(encode, every_code_of_16_and_8_bits_reads_back_as_itself) {
  expect_round_trip(NumberFormat::fp16, 65536 - 2 * 1024);
  expect_round_trip(NumberFormat::bf16, 65536 - 2 * 128);
  expect_round_trip(NumberFormat::fp8_e4m3, 256 - 2);
  expect_round_trip(NumberFormat::fp8_e5m2, 256 - 2 * 4);
  for (const auto format : {NumberFormat::int16, NumberFormat::int8, NumberFormat::uint8, NumberFormat::int4,
                            NumberFormat::uint4, NumberFormat::q3_4, NumberFormat::q7_8})
    expect_round_trip(format, std::int64_t{1} << bits_of(format));
}

TEST(encode, floats_are_rounded_to_the_nearest_and_ties_to_even) {
  expect_nearest(NumberFormat::fp16, 0x7bff);
  expect_nearest(NumberFormat::fp8_e4m3, 0x7e);
  expect_nearest(NumberFormat::fp8_e5m2, 0x7b);
  EXPECT_EQ(encoded(NumberFormat::bf16, std::bit_cast<float>(0x3f808000U)), 0x3f80U);
  EXPECT_EQ(encoded(NumberFormat::bf16, std::bit_cast<float>(0x3f818000U)), 0x3f82U);
  EXPECT_EQ(encoded(NumberFormat::bf16, std::bit_cast<float>(0x3f808001U)), 0x3f81U);
}

TEST(encode, known_numbers_have_their_known_bits) {
  EXPECT_EQ(encoded(NumberFormat::fp16, 1.0F), 0x3c00U);
  EXPECT_EQ(encoded(NumberFormat::fp16, -2.0F), 0xc000U);
  EXPECT_EQ(encoded(NumberFormat::fp16, 0x1p-24F), 1U);
  EXPECT_EQ(encoded(NumberFormat::bf16, -1.0F), 0xbf80U);
  EXPECT_EQ(encoded(NumberFormat::fp8_e4m3, 1.0F), 0x38U);
  EXPECT_EQ(encoded(NumberFormat::fp8_e5m2, 1.0F), 0x3cU);
  EXPECT_EQ(encoded(NumberFormat::fp32, 1.0F), 0x3f800000U);
  EXPECT_EQ(encoded(NumberFormat::fp16, -0.0F), 0x8000U);
}

TEST(encode, what_is_too_large_becomes_the_largest_finite_number) {
  for (const float x : {1e38F, infinity}) {
    EXPECT_EQ(decoded(NumberFormat::fp16, encoded(NumberFormat::fp16, x)), 65504.0F);
    EXPECT_EQ(decoded(NumberFormat::fp8_e4m3, encoded(NumberFormat::fp8_e4m3, -x)), -448.0F);
    EXPECT_EQ(decoded(NumberFormat::fp8_e5m2, encoded(NumberFormat::fp8_e5m2, x)), 57344.0F);
  }
  EXPECT_EQ(encoded(NumberFormat::bf16, infinity), 0x7f7fU);
  EXPECT_EQ(encoded(NumberFormat::bf16, std::numeric_limits<float>::max()), 0x7f7fU);
  EXPECT_EQ(encoded(NumberFormat::int8, 1000.0F), 127U);
  EXPECT_EQ(encoded(NumberFormat::int8, -1000.0F), 128U);
  EXPECT_EQ(encoded(NumberFormat::uint8, -1.0F), 0U);
  EXPECT_EQ(encoded(NumberFormat::int32, 3e9F), 0x7fffffffU);
  EXPECT_EQ(encoded(NumberFormat::q3_4, 9.0F), 0x7fU);
}

TEST(encode, integers_are_a_scale_apart_and_fixed_point_a_power_of_two) {
  EXPECT_EQ(encoded(NumberFormat::int8, 0.5F, 0.25F), 2U);
  EXPECT_EQ(encoded(NumberFormat::int8, 0.625F, 0.25F), 2U);  // 2.5: to the even 2
  EXPECT_EQ(encoded(NumberFormat::int8, 0.875F, 0.25F), 4U);  // 3.5: to the even 4
  EXPECT_EQ(encoded(NumberFormat::int4, -0.75F, 0.25F), 13U);
  EXPECT_EQ(decoded(NumberFormat::int4, 13U, 0.25F), -0.75F);
  EXPECT_EQ(encoded(NumberFormat::q7_8, 1.5F), 0x180U);
  EXPECT_EQ(encoded(NumberFormat::q15_16, -1.0F), 0xffff0000U);
  EXPECT_TRUE(needs_scale(NumberFormat::int4));
  EXPECT_FALSE(needs_scale(NumberFormat::q3_4));
  EXPECT_FALSE(needs_scale(NumberFormat::fp8_e4m3));
}

TEST(encode, four_bit_codes_stand_two_a_byte_the_first_one_low) {
  std::vector<std::byte> bytes;
  const ByteSink sink = [&](std::span<const std::byte> piece) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  };
  BitPacker packer(sink);
  for (const std::uint32_t code : {1U, 2U, 15U}) packer.put(code, 4);
  packer.put(0x04030201, 32);
  packer.pad_to(8);
  packer.put(0xabcd, 16);
  packer.finish();
  std::vector<int> numbers;
  for (const std::byte b : bytes) numbers.push_back(static_cast<int>(b));
  EXPECT_EQ(numbers, (std::vector<int>{0x21, 0x1f, 0x20, 0x30, 0x40, 0, 0, 0, 0xcd, 0xab}));
}

}  // namespace
}  // namespace sdip
