// Blocks that share a scale, and MN-Core's half, against lists of their elements made by doubling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "core/base/encode.h"
#include "tests/core/base/block_elements.h"

namespace sdip {
namespace {

using enum NumberFormat;
constexpr NumberFormat blocks[] = {mxint8, mxfp8, mxfp8_e5m2, mxfp6, mxfp6_e3m2, mxfp4, nvfp4, nf4, msfp16, msfp12};

TEST(block_formats, store_an_element_and_a_part_of_a_scale) {
  const auto stored = [](NumberFormat f) {
    return static_cast<double>(bits_of(f)) +
           static_cast<double>(row_of(f).scale_bits) / static_cast<double>(row_of(f).block);
  };
  EXPECT_EQ(stored(mxint8), 8.25);  // OCP MX 1.0, table 1: 32 elements, a scale of 8 bits
  EXPECT_EQ(stored(mxfp8), 8.25);
  EXPECT_EQ(stored(mxfp6), 6.25);
  EXPECT_EQ(stored(mxfp4), 4.25);
  EXPECT_EQ(stored(nvfp4), 4.5);
  EXPECT_EQ(stored(nf4), 4.5);  // QLoRA: 0.5 bits a parameter without double quantisation
  EXPECT_EQ(stored(msfp16), 8.5);
  EXPECT_EQ(stored(msfp12), 4.5);
  for (const NumberFormat f : blocks) EXPECT_TRUE(is_block_format(f) && vector_format(f) == fp16);
  EXPECT_FALSE(is_block_format(fp16_e6m9));
}

TEST(block_formats, largest_and_smallest_elements_are_those_of_the_specifications) {
  const auto largest = [](NumberFormat f) { return decoded(f, encoded(f, 1e30F)); };
  EXPECT_EQ(largest(mxfp8), 448);
  EXPECT_EQ(largest(mxfp8_e5m2), 57344);
  EXPECT_EQ(largest(mxfp6), 7.5F);
  EXPECT_EQ(largest(mxfp6_e3m2), 28);
  EXPECT_EQ(largest(mxfp4), 6);
  EXPECT_EQ(largest(nvfp4), 6);
  EXPECT_EQ(largest(mxint8), 127.0F / 64);  // 1 63/64
  EXPECT_EQ(largest(msfp12), 7.0F / 4);
  EXPECT_EQ(largest(nf4), 1);
  EXPECT_EQ(decoded(mxfp6, 1), 0.125F);
  EXPECT_EQ(decoded(mxfp6_e3m2, 1), 0.0625F);
  EXPECT_EQ(decoded(mxfp4, 1), 0.5F);
  EXPECT_EQ(decoded(mxint8, 0x80), -2);  // read, never written
  std::vector<float> fp4;
  for (std::uint32_t code = 0; code < 8; ++code) fp4.push_back(decoded(mxfp4, code));
  EXPECT_EQ(fp4, (std::vector<float>{0, 0.5F, 1, 1.5F, 2, 3, 4, 6}));
}

TEST(block_formats, take_the_nearest_element_and_of_two_the_even_one) {
  for (const NumberFormat f : blocks) {
    const std::vector<double> elements = elements_of(f);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const auto x = static_cast<float>(elements[i]);
      EXPECT_EQ(decoded(f, encoded(f, x)), x) << format_text(f);
      EXPECT_EQ(decoded(f, encoded(f, 4 * x, 4), 4), 4 * x) << format_text(f);
    }
    std::mt19937 random(7);
    std::uniform_real_distribution<float> within(-1.2F, 1.2F);
    for (int i = 0; i < 20000; ++i) {
      const float scale = std::ldexp(1.0F, static_cast<int>(random() % 40) - 20);
      const float x = within(random) * static_cast<float>(elements.back()) * scale;
      const double want = nearest_element(f, static_cast<double>(x) / static_cast<double>(scale));
      ASSERT_EQ(static_cast<double>(decoded(f, encoded(f, x, scale), scale)), want * static_cast<double>(scale))
          << format_text(f) << " " << x;
    }
    if (f == nf4) continue;  // its steps differ: no middle is a number
    for (std::size_t i = 0; i + 1 < elements.size(); ++i) {
      const double middle = (elements[i] + elements[i + 1]) / 2;
      ASSERT_EQ(static_cast<double>(decoded(f, encoded(f, static_cast<float>(middle)))),
                nearest_element(f, middle));
    }
  }
}

TEST(mn_core_half, has_a_sign_six_bits_of_exponent_and_nine_of_fraction) {
  EXPECT_EQ(encoded(fp16_e6m9, 1), 0x3e00U);  // MN-Core 2 Developer Manual
  EXPECT_EQ(decoded(fp16_e6m9, 0x3e01), 1 + 1.0F / 512);
  EXPECT_EQ(decoded(fp16_e6m9, 0x7dff), std::ldexp(1023.0F, 22));
  EXPECT_EQ(encoded(fp16_e6m9, -1e30F), 0xfdffU) << "kept within the format";
  EXPECT_EQ(decoded(fp16_e6m9, 1), std::ldexp(1.0F, -39)) << "2^-30 / 2^9";
  EXPECT_TRUE(std::isnan(decoded(fp16_e6m9, encoded(fp16_e6m9, std::nanf("")))));
  for (std::uint32_t code = 0; code <= 0x7dff; ++code) {
    const float x = decoded(fp16_e6m9, code), next = decoded(fp16_e6m9, code + 1);
    ASSERT_EQ(encoded(fp16_e6m9, x), code);
    if (code == 0x7dff) break;
    const float middle = x + (next - x) / 2;
    ASSERT_EQ(encoded(fp16_e6m9, middle), code + code % 2);
    ASSERT_EQ(encoded(fp16_e6m9, std::nextafter(middle, 0.0F)), code);
    ASSERT_EQ(encoded(fp16_e6m9, std::nextafter(middle, 1e30F)), code + 1);
  }
}

}  // namespace
}  // namespace sdip
