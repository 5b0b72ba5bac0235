// The shift quantiser is the published circuit's on every float there is, and where it is not what one would expect
// is counted.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "core/ops/elementwise/shift_quantize.h"
#include "tests/core/base/full_run.h"
#include "tests/core/base/made_section.h"
#include "tests/core/ops/elementwise/all_floats.h"

namespace sdip {
namespace {

std::uint8_t quantised_float(float x) { return shift_quantised(std::bit_cast<std::uint32_t>(x)); }

TEST(shift_quantize, the_example_of_its_header) {
  EXPECT_EQ(quantised_float(0.7109375F), 182);
  EXPECT_EQ(quantised_float(0.003F), 0);
  EXPECT_EQ(quantised_float(1.5F), 255);
  EXPECT_EQ(quantised_float(2), 0);
  EXPECT_EQ(quantised_float(-0.5F), 128);
}

TEST(shift_quantize, both_ends_of_every_case_of_the_circuit) {
  EXPECT_EQ(quantised_float(std::nextafter(0x1p-8F, 0.0F)), 0);
  for (int shift = 0; shift < 8; ++shift) {
    const float least = std::ldexp(1.0F, shift - 8), most = std::nextafter(2 * least, 0.0F);
    EXPECT_EQ(quantised_float(least), 1 << shift);
    EXPECT_EQ(quantised_float(most), (2 << shift) - 1);
  }
  EXPECT_EQ(quantised_float(1), 255);
  EXPECT_EQ(quantised_float(std::nextafter(2.0F, 0.0F)), 255);
  for (const float x : {0.0F, -0.0F, 2.0F, std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                        std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::denorm_min()})
    EXPECT_EQ(quantised_float(x), 0) << x;
}

/// The sum over every `stride`th float, in as many threads as there are processors.
SeenFloats look_at_floats(std::uint32_t stride) {
  constexpr std::uint64_t floats = std::uint64_t{1} << 32, parts = 8;
  std::array<SeenFloats, parts> seen;
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < parts; ++i)
    threads.emplace_back(
        [&seen, i, stride] { seen[i] = look_at(floats / parts * i, floats / parts / stride, stride); });
  for (std::thread& thread : threads) thread.join();
  SeenFloats all;
  for (const SeenFloats& part : seen) all += part;
  return all;
}

TEST(shift_quantize, floats_are_as_the_circuit_s_cases_and_as_arithmetic_say) {
  const SeenFloats all = look_at_floats(full_run() ? 1 : 17);  // all 4294967296 take ten seconds
  EXPECT_EQ(all.differ_from_cases, 0);
  EXPECT_EQ(all.differ_from_arithmetic, 0);
  EXPECT_EQ(all.other, 0);
  if (!full_run()) return;
  const auto row = [](const char* where, std::int64_t count, const char* example) {
    return "| " + std::string(where) + " | " + std::to_string(count) + " | " + example + " |\n";
  };
  expect_made_section(
      "model/published.md", "shift quantiser", "tests/core/ops/elementwise/shift_quantize_test.cpp",
      "| not as 256 x, rounded, within 0 and 255 | floats | example: it, plainly |\n| --- | --- | --- |\n" +
          row("the sign is ignored", all.sign_ignored, "-0.5: 128, 0") +
          row("0 from 2 upwards, infinity too", all.zero_from_2_upwards, "2: 0, 255") +
          row("cut, not rounded, below 1", all.cut, "0.0068359375 = 1.75 / 256: 1, 2"));
}

}  // namespace
}  // namespace sdip
