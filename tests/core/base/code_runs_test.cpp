// Codes many at a time are the codes one at a time.
#include "core/base/code_runs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/base/encode.h"

namespace sdip {
namespace {

constexpr NumberFormat whole_bytes[] = {NumberFormat::fp32,  NumberFormat::fp16,     NumberFormat::bf16,
                                        NumberFormat::int8,  NumberFormat::fp8_e4m3, NumberFormat::fp8_e5m2,
                                        NumberFormat::int32, NumberFormat::int16,    NumberFormat::uint8,
                                        NumberFormat::q3_4,  NumberFormat::q7_8,     NumberFormat::q15_16};

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

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
    decode_run(format, {0.37F, zero}, packed.data(), numbers);
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(bits(numbers[i]), bits(decoded(format, codes[i], 0.37F, zero))) << i;
  }
}

TEST(code_runs, are_the_codes_of_each_number) {
  std::mt19937 engine(2);
  std::vector<float> numbers{0,    -0.0F, INFINITY, -INFINITY, NAN,    -NAN, 0.5F,
                             1.5F, 2.5F,  -0.5F,    1e30F,     -1e30F, 448,  464};
  for (int i = 0; i < 200000; ++i) {
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(engine())));
    numbers.push_back(static_cast<float>(static_cast<int>(engine() % 4001) - 2000) * 0.125F);  // ties
    numbers.push_back(static_cast<float>(static_cast<int>(engine() % 100001) - 50000) * 1e-3F);
  }
  for (const NumberFormat format : whole_bytes) {
    const auto bytes = static_cast<std::size_t>(bits_of(format) / 8);
    std::vector<std::byte> codes(numbers.size() * bytes);
    for (const float scale : {1.0F, 0.25F, 0.37F}) {
      const std::int64_t zero = format == NumberFormat::uint8 && scale < 1 ? 130 : 0;
      encode_run(format, {scale, zero}, false, numbers, codes.data());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::uint32_t code = 0;
        std::memcpy(&code, codes.data() + i * bytes, bytes);
        ASSERT_EQ(code, encoded(format, numbers[i], scale, zero)) << i << " " << numbers[i];
      }
    }
  }
}

TEST(code_runs, infinities_are_kept_where_a_format_has_them) {
  for (const NumberFormat format :
       {NumberFormat::fp32, NumberFormat::fp16, NumberFormat::bf16, NumberFormat::fp8_e5m2})
    for (const float x : {INFINITY, -INFINITY}) EXPECT_EQ(decoded(format, encoded_kept(format, x, 1, true)), x);
  EXPECT_EQ(decoded(NumberFormat::fp16, encoded_kept(NumberFormat::fp16, INFINITY, 1, false)), 65504);
  EXPECT_EQ(decoded(NumberFormat::fp8_e4m3, encoded_kept(NumberFormat::fp8_e4m3, INFINITY, 1, true)), 448);
  EXPECT_EQ(decoded(NumberFormat::int8, encoded_kept(NumberFormat::int8, INFINITY, 1, true)), 127);
}

}  // namespace
}  // namespace sdip
