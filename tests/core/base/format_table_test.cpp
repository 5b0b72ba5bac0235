// Every number format against a table of its numbers (format_oracle.h) and exact whole-number arithmetic.
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "core/base/encode.h"
#include "tests/core/base/format_oracle.h"

namespace sdip {
namespace {

constexpr NumberFormat floating[] = {NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp8_e4m3,
                                     NumberFormat::fp8_e5m2};
constexpr NumberFormat integers[] = {NumberFormat::int4, NumberFormat::uint4, NumberFormat::int8,
                                     NumberFormat::uint8};
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Every float next to x, and x, of both signs; encoded as the table says. Returns how many.
int expect_neighbourhood(NumberFormat format, const FormatOracle& oracle, float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  int count = 0;
  for (const std::uint32_t near : {bits == 0 ? 0 : bits - 1, bits, bits + 1}) {
    const auto one = std::bit_cast<float>(near);
    if (!std::isfinite(one)) continue;
    for (const float signed_one : {one, -one}) {
      EXPECT_EQ(encoded(format, signed_one), oracle.nearest(static_cast<double>(signed_one)))
          << std::hexfloat << signed_one;
      ++count;
    }
  }
  return count;
}

TEST(format_table, every_code_stands_for_the_number_of_its_definition_and_reads_back) {
  for (const NumberFormat format : floating) {
    SCOPED_TRACE(static_cast<int>(format));
    const FormatOracle oracle = oracle_of(format);
    ASSERT_EQ(oracle.sign * 2, 1U << bits_of(format));
    for (std::uint32_t code = 0; code < oracle.sign; ++code) {
      const float x = decoded(format, code), minus = decoded(format, code + oracle.sign);
      if (code < oracle.numbers.size()) {
        ASSERT_EQ(static_cast<double>(x), oracle.numbers[code]) << code;
        ASSERT_EQ(std::bit_cast<std::uint32_t>(minus), std::bit_cast<std::uint32_t>(-x)) << code;
        ASSERT_EQ(encoded(format, x), code);
        ASSERT_EQ(encoded(format, minus), code + oracle.sign);
      } else {
        const bool infinite = code == oracle.numbers.size() && format != NumberFormat::fp8_e4m3;
        ASSERT_EQ(infinite ? std::isinf(x) : std::isnan(x), true) << code;
      }
    }
  }
}

TEST(format_table, numbers_at_next_to_and_half_way_between_all_codes_are_rounded_as_the_table_says) {
  for (const NumberFormat format : floating) {
    SCOPED_TRACE(static_cast<int>(format));
    const FormatOracle oracle = oracle_of(format);
    std::int64_t count = 0;
    for (std::size_t code = 0; code < oracle.numbers.size(); ++code) {
      count += expect_neighbourhood(format, oracle, static_cast<float>(oracle.numbers[code]));
      if (code + 1 == oracle.numbers.size()) break;
      const double middle = (oracle.numbers[code] + oracle.numbers[code + 1]) / 2;
      ASSERT_EQ(static_cast<double>(static_cast<float>(middle)), middle);  // so that a tie is one
      count += expect_neighbourhood(format, oracle, static_cast<float>(middle));
    }
    EXPECT_GE(count, static_cast<std::int64_t>(oracle.numbers.size()) * 12 - 16);
  }
}

TEST(format_table, floats_anywhere_are_rounded_as_the_table_says) {
  std::mt19937 random(5);
  for (const NumberFormat format : floating) {
    const FormatOracle oracle = oracle_of(format);
    for (int i = 0; i < 200'000; ++i) {
      const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
      if (std::isnan(x)) continue;
      ASSERT_EQ(encoded(format, x), oracle.nearest(static_cast<double>(x))) << std::hexfloat << x;
    }
    EXPECT_EQ(encoded(format, infinity), oracle.numbers.size() - 1);
    EXPECT_EQ(encoded(format, -infinity), oracle.sign + oracle.numbers.size() - 1);
    EXPECT_TRUE(std::isnan(decoded(format, encoded(format, std::numeric_limits<float>::quiet_NaN()))));
  }
}

/// The numbers of an 8-bit float as whole multiples of 2^-`places`.
std::vector<std::uint64_t> whole_numbers(const FormatOracle& oracle, int places) {
  std::vector<std::uint64_t> whole;
  for (const double x : oracle.numbers)
    whole.push_back(static_cast<std::uint64_t>(x * FormatOracle::power(places)));
  return whole;
}

/// The code of the multiple `x` of 2^-places: the nearest of the table by comparing whole numbers alone.
std::uint32_t nearest_whole(const std::vector<std::uint64_t>& numbers, std::uint64_t x) {
  std::uint32_t best = 0;
  const auto away = [&](std::uint32_t code) { return x > numbers[code] ? x - numbers[code] : numbers[code] - x; };
  for (std::uint32_t code = 1; code < numbers.size(); ++code)
    if (away(code) < away(best) || (away(code) == away(best) && code % 2 == 0)) best = code;
  return best;
}

TEST(format_table, all_pairs_of_8_bit_floats_add_and_multiply_as_whole_numbers_do) {
  for (const NumberFormat format : {NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2}) {
    SCOPED_TRACE(static_cast<int>(format));
    const int places = format == NumberFormat::fp8_e4m3 ? 9 : 16;  // its smallest number is 2^-places
    const FormatOracle oracle = oracle_of(format);
    const std::vector<std::uint64_t> sums = whole_numbers(oracle, places);
    std::vector<std::uint64_t> products;  // of two numbers, in units of 2^-(2 places): below 2^64
    for (const std::uint64_t x : sums) products.push_back(x << places);
    for (std::uint32_t a = 0; a < sums.size(); ++a)
      for (std::uint32_t b = 0; b < sums.size(); ++b) {
        const float x = decoded(format, a), y = decoded(format, b);
        ASSERT_EQ(encoded(format, x + y), nearest_whole(sums, sums[a] + sums[b])) << a << " + " << b;
        const std::uint32_t difference = nearest_whole(sums, a < b ? sums[b] - sums[a] : sums[a] - sums[b]);
        ASSERT_EQ(encoded(format, x - y), a < b ? difference + oracle.sign : difference) << a << " - " << b;
        const std::uint32_t product = nearest_whole(products, sums[a] * sums[b]);
        ASSERT_EQ(encoded(format, x * y), product) << a << " * " << b;
        ASSERT_EQ(encoded(format, -x * y), product + oracle.sign) << a << " * " << b;
      }
  }
}

TEST(format_table, every_code_of_small_integers_is_its_distance_from_zero_in_scales) {
  for (const NumberFormat format : integers) {
    SCOPED_TRACE(static_cast<int>(format));
    const std::int64_t codes = std::int64_t{1} << bits_of(format);
    const bool without_sign = needs_zero_point(format);
    for (const float scale : {1.0F, 0.25F, 0.1F, 3e-5F, 7e4F})
      for (std::int64_t zero = 0; zero < (without_sign ? codes : 1); ++zero)
        for (std::int64_t code = 0; code < codes; ++code) {
          const std::int64_t number = (without_sign || code < codes / 2 ? code : code - codes) - zero;
          const float x = decoded(format, static_cast<std::uint32_t>(code), scale, zero);
          ASSERT_EQ(x, static_cast<float>(static_cast<double>(number) * static_cast<double>(scale)));
          ASSERT_EQ(encoded(format, x, scale, zero), static_cast<std::uint32_t>(code));
        }
  }
}

/// The code of x / scale + zero, clamped, found without dividing: the whole number k with x nearest to k scale, by
/// comparing 2 x with (2 k + 1) scale, both exact in double, up and down from 0.
std::int64_t stepped(std::int64_t least, std::int64_t most, std::int64_t zero, float x, float scale) {
  const auto twice = [&](std::int64_t k) { return static_cast<double>(k) * static_cast<double>(scale); };
  const double doubled = 2 * static_cast<double>(x);
  std::int64_t k = 0;
  while (k + zero < most && (doubled > twice(2 * k + 1) || (doubled == twice(2 * k + 1) && k % 2 != 0))) ++k;
  while (k + zero > least && (doubled < twice(2 * k - 1) || (doubled == twice(2 * k - 1) && k % 2 != 0))) --k;
  return std::clamp(k + zero, least, most);
}

TEST(format_table, integers_are_rounded_as_steps_of_a_scale_and_saturate) {
  std::mt19937 random(6);
  for (const NumberFormat format : integers) {
    SCOPED_TRACE(static_cast<int>(format));
    const std::int64_t codes = std::int64_t{1} << bits_of(format);
    const bool without_sign = needs_zero_point(format);
    const std::int64_t least = without_sign ? 0 : -codes / 2, most = least + codes - 1;
    for (const float scale : {1.0F, 0.5F, 0.1F, 1.0F / 127, 3e-5F})
      for (int i = 0; i < 2000; ++i) {
        // Half steps and the floats beside them, and anything to twice what the format holds.
        const float reach = static_cast<float>(2 * codes) * scale;
        float x = static_cast<float>(static_cast<double>(random()) / 4294967295.0 * 2 - 1) * reach;
        if (i % 2 == 0) x = (static_cast<float>(static_cast<std::int64_t>(x / scale)) + 0.5F) * scale;
        if (i % 4 == 0) x = std::nextafterf(x, i % 8 == 0 ? infinity : -infinity);
        const std::int64_t zero = without_sign ? static_cast<std::int64_t>(random() % 16) : 0;
        const auto want = static_cast<std::uint32_t>(stepped(least, most, zero, x, scale) & (codes - 1));
        ASSERT_EQ(encoded(format, x, scale, zero), want) << std::hexfloat << x << " " << scale << " " << zero;
      }
  }
}

TEST(format_table, fixed_point_is_an_integer_over_a_power_of_two) {
  struct Row {
    NumberFormat format;
    std::int64_t bits, fraction;
  };
  for (const Row& row : {Row{NumberFormat::q3_4, 8, 4}, Row{NumberFormat::q7_8, 16, 8}}) {
    const std::int64_t half = std::int64_t{1} << (row.bits - 1);
    const double step = FormatOracle::power(-static_cast<int>(row.fraction));
    for (std::int64_t k = -half; k < half; ++k) {
      const auto code = static_cast<std::uint32_t>(k & (2 * half - 1));
      const auto x = static_cast<float>(static_cast<double>(k) * step);
      ASSERT_EQ(decoded(row.format, code, 123.0F), x);  // a scale says nothing here
      ASSERT_EQ(encoded(row.format, x, 123.0F), code);
      const auto middle = x + static_cast<float>(step / 2);
      const std::int64_t even = std::min(k % 2 == 0 ? k : k + 1, half - 1);
      ASSERT_EQ(encoded(row.format, middle), static_cast<std::uint32_t>(even & (2 * half - 1))) << k;
    }
    EXPECT_EQ(encoded(row.format, 1e9F), static_cast<std::uint32_t>(half - 1));
    EXPECT_EQ(encoded(row.format, -1e9F), static_cast<std::uint32_t>(half));
    EXPECT_EQ(encoded(row.format, infinity), static_cast<std::uint32_t>(half - 1));
    EXPECT_EQ(encoded(row.format, std::numeric_limits<float>::quiet_NaN()), 0U);
  }
}

TEST(format_table, all_codes_of_int16_and_single_precision_come_back) {
  for (std::uint32_t code = 0; code < 65536; ++code)
    ASSERT_EQ(encoded(NumberFormat::int16, decoded(NumberFormat::int16, code, 0.1F), 0.1F), code);
  std::mt19937 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const auto bits = static_cast<std::uint32_t>(random());
    if (std::isnan(std::bit_cast<float>(bits))) continue;
    ASSERT_EQ(encoded(NumberFormat::fp32, decoded(NumberFormat::fp32, bits)), bits);
  }
}

}  // namespace
}  // namespace sdip
