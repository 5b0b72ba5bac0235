// Codes many at a time are the codes one at a time.
#include "core/base/code_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/base/code_vectors.h"
#include "core/base/encode.h"

namespace sdip {
namespace {

constexpr NumberFormat whole_bytes[] = {NumberFormat::fp32,     NumberFormat::fp16,     NumberFormat::bf16,
                                        NumberFormat::int8,     NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2,
                                        NumberFormat::int32,    NumberFormat::int16,    NumberFormat::uint8,
                                        NumberFormat::q3_4,     NumberFormat::q7_8,     NumberFormat::q15_16,
                                        NumberFormat::fp16_e6m9};

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

std::vector<Vectors> vectors_here() {
  std::vector<Vectors> here;
  for (const Vectors vectors : {Vectors::portable, Vectors::avx2, Vectors::avx512})
    if (vectors <= widest_vectors()) here.push_back(vectors);
  return here;
}

TEST(code_runs, stand_for_the_numbers_of_each_code) {
  for (const NumberFormat format : whole_bytes) {
    const auto bytes = static_cast<std::size_t>(bits_of(format) / 8);
    const std::size_t count = std::size_t{1} << std::min<std::int64_t>(16, bits_of(format));
    std::vector<std::uint32_t> codes(count);
    std::mt19937 engine(1);
    for (std::size_t i = 0; i < count; ++i)
      codes[i] = bytes == 4 ? static_cast<std::uint32_t>(engine()) : static_cast<std::uint32_t>(i);
    std::vector<std::byte> packed(count * bytes);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(packed.data() + i * bytes, &codes[i], bytes);
    std::vector<float> numbers(count);
    const std::int64_t zero = format == NumberFormat::uint8 ? 77 : 0;
    for (const float scale : {0.37F, 0x1.2345p-140F, 0x1.9p125F})
      for (const Vectors vectors : vectors_here()) {
        decode_run(format, {scale, zero}, packed.data(), numbers, vectors);
        for (std::size_t i = 0; i < count; ++i)
          ASSERT_EQ(bits(numbers[i]), bits(decoded(format, codes[i], scale, zero))) << i;
      }
  }
}

/// Numbers of each kind: ends, all bits, what 16 bits hold and the floats beside, ties and the floats beside.
std::vector<float> all_kinds(float scale) {
  std::vector<float> numbers{0,
                             -0.0F,
                             INFINITY,
                             -INFINITY,
                             NAN,
                             -NAN,
                             0.5F,
                             1.5F,
                             2.5F,
                             -0.5F,
                             1e30F,
                             -1e30F,
                             448,
                             464,
                             0x1p-149F,
                             -1e-40F,
                             0x1p-126F,
                             0x1.fffffep127F,
                             std::bit_cast<float>(0x7f800001U)};
  const auto add_beside = [&](float x) {
    for (const float y : {x, std::nextafter(x, INFINITY), std::nextafter(x, -INFINITY)}) numbers.push_back(y);
  };
  for (std::uint32_t code = 0; code < 0x10000; ++code) {
    numbers.push_back(decoded(NumberFormat::fp16, code));
    numbers.push_back(std::bit_cast<float>(code << 16));
  }
  for (int half = -600; half <= 600; ++half) add_beside(static_cast<float>(half) * 0.5F * scale);
  std::mt19937 engine(2);
  for (int i = 0; i < 20000; ++i) {
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(engine())));
    numbers.push_back(static_cast<float>(static_cast<int>(engine() % 100001) - 50000) * 1e-3F);
    add_beside(static_cast<float>(static_cast<int>(engine() % 140001) - 70000) * 0.5F * scale);
  }
  return numbers;
}

TEST(code_runs, are_the_codes_of_each_number) {
  for (const float scale : {0.25F, 0.37F, 0x1p-130F}) {
    const std::vector<float> numbers = all_kinds(scale);
    for (const NumberFormat format : whole_bytes) {
      const auto bytes = static_cast<std::size_t>(bits_of(format) / 8);
      const std::int64_t zero = format == NumberFormat::uint8 && scale > 0.3F ? 130 : 0;
      std::vector<std::byte> expected(numbers.size() * bytes), codes(expected.size());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        const std::uint32_t code = encoded(format, numbers[i], scale, zero);
        std::memcpy(expected.data() + i * bytes, &code, bytes);
      }
      for (const Vectors vectors : vectors_here()) {
        encode_run(format, {scale, zero}, false, numbers, codes.data(), vectors);
        const auto [here, there] = std::ranges::mismatch(codes, expected);
        const auto i = static_cast<std::size_t>(here - codes.begin()) / bytes;
        ASSERT_TRUE(here == codes.end()) << format_text(format) << " of " << numbers[i] << " by " << scale;
      }
    }
  }
}

TEST(code_runs, near_the_middle_of_two_codes_the_quotient_decides) {
  const std::vector<float> numbers(64, 0.35F);  // 3.49999989 steps of 0.1F; times its inverse 3.5
  EXPECT_EQ(0.35F * (1 / 0.1F), 3.5F);
  std::vector<std::byte> codes(numbers.size());
  encode_run(NumberFormat::int8, 0.1F, false, numbers, codes.data());
  EXPECT_EQ(codes, std::vector<std::byte>(numbers.size(), std::byte{3}));
}

TEST(code_runs, of_any_length_write_no_byte_behind_the_last) {
  for (std::size_t count = 0; count < 150; ++count)
    for (const NumberFormat format : {NumberFormat::int8, NumberFormat::int16, NumberFormat::fp16})
      for (const Vectors vectors : vectors_here()) {
        const auto bytes = static_cast<std::size_t>(bits_of(format) / 8);
        const std::vector<float> numbers(count, -3);
        std::vector<std::byte> codes(count * bytes + 1, std::byte{99});
        encode_run(format, 1, false, numbers, codes.data(), vectors);
        EXPECT_EQ(codes.back(), std::byte{99});
        std::vector<float> back(count + 1, 7);
        decode_run(format, 1, codes.data(), std::span(back).first(count), vectors);
        EXPECT_EQ(std::ranges::count(back, -3.0F), static_cast<std::ptrdiff_t>(count));
        EXPECT_EQ(back.back(), 7);
      }
}

TEST(code_runs, a_range_holds_all_numbers_and_zero_and_tells_what_is_not_finite) {
  std::vector<float> numbers(53, 2);
  for (std::size_t at = 0; at < numbers.size(); ++at)
    for (const Vectors vectors : vectors_here())
      for (const float x : {-5.0F, 9.0F, INFINITY, -INFINITY, NAN}) {
        numbers[at] = x;
        const FloatRange range = range_of(numbers, vectors);
        EXPECT_EQ(range.finite, std::isfinite(x));
        if (std::isfinite(x)) {
          EXPECT_EQ(range.least, std::min(x, 0.0F));
          EXPECT_EQ(range.most, std::max(x, 2.0F));
        }
        numbers[at] = 2;
      }
}

TEST(code_runs, infinities_are_kept_where_a_format_has_them) {
  for (const NumberFormat format : {NumberFormat::fp32, NumberFormat::fp16, NumberFormat::bf16,
                                    NumberFormat::fp16_e6m9, NumberFormat::fp8_e5m2})
    for (const float x : {INFINITY, -INFINITY}) EXPECT_EQ(decoded(format, encoded_kept(format, x, 1, true)), x);
  EXPECT_EQ(decoded(NumberFormat::fp16, encoded_kept(NumberFormat::fp16, INFINITY, 1, false)), 65504);
  EXPECT_EQ(decoded(NumberFormat::fp8_e4m3, encoded_kept(NumberFormat::fp8_e4m3, INFINITY, 1, true)), 448);
  EXPECT_EQ(decoded(NumberFormat::int8, encoded_kept(NumberFormat::int8, INFINITY, 1, true)), 127);
}

}  // namespace
}  // namespace sdip
