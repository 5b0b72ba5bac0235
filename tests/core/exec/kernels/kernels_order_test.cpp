// The order of sums by hand, and the formats' rounding by all their numbers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/encode.h"
#include "core/exec/kernels/kernels.h"
#include "core/exec/kernels/kernels_rounding.h"

namespace sdip::exec {
namespace {

/// One sum of `left` x `right` from c on.
float summed(const std::vector<float>& left, const std::vector<float>& right, std::int64_t run, std::int64_t lanes,
             float c, NumberFormat format = NumberFormat::fp32) {
  const auto depth = static_cast<std::int64_t>(left.size());
  multiply({1, 1, depth, run, lanes}, format, Matrix<float>{left.data(), depth, 1},
           Matrix<float>{right.data(), 1, 1}, Sums<float>{&c, 1}, {});
  return c;
}

TEST(kernels_order, one_lane_rounds_each_product_and_sum_once) {
  const float x = 1 + 0x1p-12F;  // its square, 1 + 2^-11 + 2^-24, needs 25 bits
  EXPECT_EQ(summed({x}, {x}, 1, 1, -1), 0x1p-11F + 0x1p-24F);
  EXPECT_EQ(summed({x}, {x}, 1, 2, -1), 0x1p-11F);  // rounded before it is added
}

TEST(kernels_order, a_fold_is_a_tree_of_neighbours_and_what_has_none_goes_up) {
  // 2^24 + 1 is 2^24 in fp32, so that each order has a sum of its own.
  const float big = 0x1p24F;
  const std::vector<float> ones(6, 1.0F);
  const std::vector<float> products{big, 1, 1, 1, 1, 1};
  // ((2^24 + 1) + (1 + 1)) = 2^24 + 2, then (1 + 1) more.
  EXPECT_EQ(summed(products, ones, 6, 4, 0), big + 4);
  // One after the other each 1 is lost.
  EXPECT_EQ(summed(products, ones, 6, 1, 0), big);
  // Runs of 3: (2^24 + 1) + 1 = 2^24; then (1 + 1) + 1 = 3, which is rounded to 4 beside 2^24.
  EXPECT_EQ(summed(products, ones, 3, 4, 0), big + 4);
  // A fold of 5 and one of 1: ((2^24 + 1) + (1 + 1)) + 1 = 2^24 + 2, then + 1 = 2^24 + 2 or + 4: ties to even, + 4.
  EXPECT_EQ(summed(products, ones, 6, 5, 0), big + 4);
}

TEST(kernels_order, a_ragged_fold_is_padded_with_nothing_not_with_zeros) {
  EXPECT_TRUE(std::signbit(summed({-0.0F}, {1.0F}, 1, 4, -0.0F)));
}

TEST(kernels_order, a_nan_is_the_one_quiet_nan) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = summed({infinity}, {0.0F}, 1, 1, 1);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(nan), 0x7fc00000U);
}

TEST(kernels_order, a_sum_is_rounded_once_to_a_narrow_format) {
  EXPECT_EQ(rounded_to(rounding_of(NumberFormat::bf16), odd_sum(257, 0x1p-60)), 258);
  EXPECT_EQ(rounded_to(rounding_of(NumberFormat::bf16), 257), 256);
  EXPECT_EQ(rounded_to(rounding_of(NumberFormat::bf16), odd_sum(257, -0x1p-60)), 256);
  EXPECT_EQ(rounded_to(rounding_of(NumberFormat::bf16), odd_sum(-259, 0x1p-60)), -258);
}

TEST(kernels_order, every_float_of_16_bits_rounds_as_it_is_encoded) {
  for (const NumberFormat format :
       {NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp16_e6m9, NumberFormat::fp8_e4m3,
        NumberFormat::fp8_e5m2, NumberFormat::q3_4, NumberFormat::q7_8, NumberFormat::q15_16}) {
    const Rounding rounding = rounding_of(format);
    for (std::uint32_t high = 0; high < 65536; ++high)
      for (const std::uint32_t low : {0x0000U, 0x0001U, 0x8000U, 0xffffU}) {
        const auto x = std::bit_cast<float>(high << 16 | low);
        const float want = decoded(format, encoded(format, x));
        const auto got = static_cast<float>(rounded_to(rounding, static_cast<double>(x)));
        if (std::isnan(want)) {
          ASSERT_TRUE(std::isnan(got)) << x;
          continue;
        }
        ASSERT_EQ(got, want) << x << " in " << number_formats[static_cast<std::size_t>(format)].name;
        if (!rounding.fixed) {
          ASSERT_EQ(std::signbit(got), std::signbit(want)) << x;
        }
      }
  }
}

/// x to a multiple of `unit`, nearest, ties to even, with x exact in long double.
long double nearest_multiple(long double x, long double unit) { return std::nearbyintl(x / unit) * unit; }

TEST(kernels_order, all_pairs_of_8_bit_floats_multiply_and_add_exactly_rounded) {
  for (const NumberFormat format : {NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2}) {
    const bool e4m3 = format == NumberFormat::fp8_e4m3;
    const int fraction = e4m3 ? 3 : 2, least_exponent = e4m3 ? -6 : -14;
    const long double largest = e4m3 ? 448 : 57344;
    const auto exactly = [&](long double x) {
      const int exponent = x == 0 ? least_exponent : std::max(std::ilogb(x), least_exponent);
      return std::clamp(nearest_multiple(x, std::ldexp(1.0L, exponent - fraction)), -largest, largest);
    };
    std::vector<float> codes;
    for (std::uint32_t code = 0; code < 256; ++code)
      if (const float x = decoded(format, code); std::isfinite(x)) codes.push_back(x);
    const auto count = static_cast<std::int64_t>(codes.size());
    for (const float c : {0.0F, 1.0F, -0.09375F, 13.0F}) {
      std::vector<float> sums(codes.size() * codes.size(), c), trees = sums;
      const Matrix<float> column{codes.data(), 1, 1}, row{codes.data(), count, 1};
      multiply({count, count, 1, 1, 1}, format, column, row, Sums<float>{sums.data(), count}, {});
      multiply({count, count, 1, 1, 2}, format, column, row, Sums<float>{trees.data(), count}, {});
      for (std::size_t i = 0; i < codes.size(); ++i)
        for (std::size_t j = 0; j < codes.size(); ++j) {
          const long double product = static_cast<long double>(codes[i]) * static_cast<long double>(codes[j]);
          const auto from = static_cast<long double>(c);
          ASSERT_EQ(static_cast<long double>(sums[i * codes.size() + j]), exactly(product + from));
          ASSERT_EQ(static_cast<long double>(trees[i * codes.size() + j]), exactly(exactly(product) + from));
        }
    }
  }
}

}  // namespace
}  // namespace sdip::exec
