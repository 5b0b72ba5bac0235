// Numbers that types hold: every half and every fp8 number, all places between two of them, and wrapping integers.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "core/base/element_codes.h"
#include "core/base/encode.h"
#include "core/base/tensor.h"

namespace sdip {
namespace {

using enum ElementType;

struct Pair {
  ElementType type;
  NumberFormat format;
  int bits;
  double largest;
};
constexpr Pair pairs[] = {{float16, NumberFormat::fp16, 16, 65504},
                          {bfloat16, NumberFormat::bf16, 16, 0x1.FEp127},
                          {float8e4m3fn, NumberFormat::fp8_e4m3, 8, 448},
                          {float8e5m2, NumberFormat::fp8_e5m2, 8, 57344}};

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(rounded, leaves_every_number_of_a_type_as_it_is) {
  for (const Pair& pair : pairs) {
    for (std::uint32_t code = 0; code < 1U << pair.bits; ++code) {
      const auto x = static_cast<double>(decoded(pair.format, code));
      EXPECT_TRUE(same(rounded(pair.type, x), x)) << element_type_text(pair.type) << " code " << code;
    }
  }
}

/// Between two neighbours: what is nearer, and in the middle the one whose last bit is 0. The encoder, which works
/// on bits, must find the same; it saturates.
TEST(rounded, takes_the_nearest_ties_to_even_as_the_encoder_does) {
  for (const Pair& pair : pairs) {
    for (std::uint32_t code = 0; code + 1 < 1U << (pair.bits - 1); ++code) {
      const float low = decoded(pair.format, code), high = decoded(pair.format, code + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const float middle = low + (high - low) / 2;
      for (float x : {std::nextafter(middle, low), middle, std::nextafter(middle, high)}) {
        for (float y : {x, -x}) {
          const auto expected = static_cast<double>(decoded(pair.format, encoded(pair.format, y)));
          ASSERT_TRUE(same(rounded(pair.type, static_cast<double>(y), true), expected))
              << element_type_text(pair.type) << " " << y;
        }
      }
      EXPECT_EQ(rounded(pair.type, static_cast<double>(middle)), static_cast<double>(code % 2 == 0 ? low : high));
    }
  }
}

TEST(rounded, beyond_the_largest_is_infinity_or_not_a_number_or_the_largest) {
  EXPECT_EQ(rounded(float16, 65519.9), 65504);
  EXPECT_EQ(rounded(float16, 65520), HUGE_VAL);
  EXPECT_EQ(rounded(float16, -1e30), -HUGE_VAL);
  EXPECT_EQ(rounded(bfloat16, 3.4e38), HUGE_VAL);
  EXPECT_EQ(rounded(float32, 1e39), HUGE_VAL);
  EXPECT_EQ(rounded(float32, 1e39, true), 0x1.FFFFFEp127);
  EXPECT_EQ(rounded(float8e4m3fn, 464), 448);  // the middle to 480, which would be NaN's code; 448 is even
  EXPECT_TRUE(std::isnan(rounded(float8e4m3fn, 465)));
  EXPECT_EQ(rounded(float8e5m2, 61439), 57344);
  EXPECT_EQ(rounded(float8e5m2, 61440), HUGE_VAL);
  EXPECT_TRUE(std::isnan(rounded(float8e4m3fnuz, HUGE_VAL)));
  EXPECT_TRUE(std::isnan(rounded(float8e5m2fnuz, -1e9)));
  for (ElementType type : {float16, bfloat16, float8e4m3fn, float8e5m2, float8e4m3fnuz, float8e5m2fnuz, float32}) {
    EXPECT_TRUE(std::isnan(rounded(type, std::nan(""))));
    EXPECT_TRUE(std::isfinite(rounded(type, HUGE_VAL, true))) << element_type_text(type);
    EXPECT_EQ(rounded(type, -HUGE_VAL, true), -rounded(type, HUGE_VAL, true));
  }
}

/// ONNX's "Float stored in 8 bits": fnuz has a bias one higher, the code of -0 is its only NaN.
double fnuz_value(int code, int fraction_bits, int bias) {
  const int field = (code & 127) >> fraction_bits, fraction = code & ((1 << fraction_bits) - 1);
  const int significand = field == 0 ? fraction : fraction + (1 << fraction_bits);
  return (code > 127 ? -1 : 1) * std::ldexp(significand, std::max(field, 1) - bias - fraction_bits);
}

TEST(rounded, to_fnuz_types_has_no_negative_zero) {
  for (const auto& [type, fraction_bits, bias] :
       {std::tuple{float8e4m3fnuz, 3, 8}, std::tuple{float8e5m2fnuz, 2, 16}}) {
    for (int code = 0; code < 256; ++code) {
      if (code == 128) continue;
      const double x = fnuz_value(code, fraction_bits, bias);
      EXPECT_TRUE(same(rounded(type, x), x)) << element_type_text(type) << " code " << code;
    }
    for (int code = 0; code < 127; ++code) {
      const double low = fnuz_value(code, fraction_bits, bias), high = fnuz_value(code + 1, fraction_bits, bias);
      EXPECT_EQ(rounded(type, (low + high) / 2), code % 2 == 0 ? low : high);
      EXPECT_EQ(rounded(type, low + (high - low) * 0.49), low);
      EXPECT_EQ(rounded(type, low + (high - low) * 0.51), high);
    }
    EXPECT_FALSE(std::signbit(rounded(type, -0.0)));
    EXPECT_FALSE(std::signbit(rounded(type, -1e-30)));
  }
}

TEST(rounded, to_float4_is_one_of_eight_magnitudes) {
  const double values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(rounded(float4e2m1, values[i]), values[i]);
    EXPECT_EQ(rounded(float4e2m1, -(values[i] + values[i + 1]) / 2), -values[i + i % 2]);
  }
  EXPECT_EQ(rounded(float4e2m1, 1e9), 6);
  EXPECT_EQ(rounded(float4e2m1, -HUGE_VAL), -6);
  EXPECT_EQ(rounded(float4e2m1, std::nan("")), 6);
}

TEST(rounded, to_float8e8m0_is_a_power_of_two) {
  for (int power = -127; power <= 127; ++power)
    EXPECT_EQ(rounded(float8e8m0, std::ldexp(1.0, power)), std::ldexp(1.0, power));
  EXPECT_EQ(rounded(float8e8m0, 1.49), 1);
  EXPECT_EQ(rounded(float8e8m0, 1.5), 2);
  EXPECT_EQ(rounded(float8e8m0, -3), 4);  // a size alone
  EXPECT_EQ(rounded(float8e8m0, 0, true), 0x1p-127);
  EXPECT_EQ(rounded(float8e8m0, HUGE_VAL, true), 0x1p127);
  for (const double x : {0.0, 1e-40, 0x1.8p127, HUGE_VAL, std::nan("")})
    EXPECT_TRUE(std::isnan(rounded(float8e8m0, x))) << x;
  EXPECT_EQ(zero_tensor(float8e8m0, {1}).floats[0], 0x1p-127);
}

TEST(element_codes, are_of_every_number_of_every_narrow_float) {
  for (ElementType type :
       {float16, bfloat16, float8e4m3fn, float8e4m3fnuz, float8e5m2, float8e5m2fnuz, float4e2m1, float8e8m0}) {
    for (std::int64_t code = 0; code < std::int64_t{1} << bits_of(type); ++code) {
      const double x = float_of_code(type, code);
      if (std::isnan(x)) {
        EXPECT_TRUE(std::isnan(float_of_code(type, code_of_float(type, x)))) << element_type_text(type) << code;
      } else {
        EXPECT_EQ(code_of_float(type, x), code) << element_type_text(type);
        EXPECT_EQ(rounded(type, x), x) << element_type_text(type) << code;
      }
    }
  }
  EXPECT_EQ(code_of_float(float32, -1.5), 0xbfc00000);
  EXPECT_EQ(code_of_float(float64, 1), 0x3ff0000000000000);
  EXPECT_EQ(float_of_code(float32, 0xbfc00000), -1.5);
}

TEST(element_codes, share_a_byte_lowest_first) {
  for (const std::size_t i : {0U, 1U, 2U, 3U}) {
    EXPECT_EQ(code_in_byte(0b11100100, 2, i), static_cast<std::int64_t>(i));
    EXPECT_EQ(code_in_byte(0xa5, 4, i), i % 2 == 0 ? 5 : 10);
  }
}

TEST(rounded, to_float32_is_what_the_machine_does) {
  std::uint64_t state = 1;
  for (int i = 0; i < 100'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double x = std::bit_cast<double>(state);
    if (!std::isfinite(x)) continue;
    EXPECT_TRUE(same(rounded(float32, x), static_cast<double>(static_cast<float>(x)))) << x;
    EXPECT_EQ(rounded(float64, x), x);
  }
}

TEST(wrapped, keeps_the_low_bits_as_the_type_reads_them) {
  for (std::int64_t x = -70'000; x <= 70'000; ++x) {
    EXPECT_EQ(wrapped(int8, x), static_cast<std::int8_t>(x & 255));
    EXPECT_EQ(wrapped(uint8, x), x & 255);
    EXPECT_EQ(wrapped(int16, x), static_cast<std::int16_t>(x & 65535));
    EXPECT_EQ(wrapped(uint16, x), x & 65535);
    EXPECT_EQ(wrapped(uint4, x), x & 15);
    EXPECT_EQ(wrapped(int4, x), (x & 15) < 8 ? x & 15 : (x & 15) - 16);
    EXPECT_EQ(wrapped(uint2, x), x & 3);
    EXPECT_EQ(wrapped(int2, x), (x & 3) < 2 ? x & 3 : (x & 3) - 4);
    EXPECT_EQ(wrapped(boolean, x), x == 0 ? 0 : 1);
  }
  EXPECT_EQ(wrapped(int32, std::int64_t{1} << 31), -(std::int64_t{1} << 31));
  EXPECT_EQ(wrapped(uint32, -1), 4294967295);
  EXPECT_EQ(wrapped(int64, INT64_MIN), INT64_MIN);
  EXPECT_EQ(wrapped(uint64, -1), -1);
}

}  // namespace
}  // namespace sdip
