// Numbers as codes of a number format, many at a time.
#include "core/base/code_runs.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/code_vectors.h"
#include "core/base/encode.h"
#include "core/base/error.h"

namespace sdip {
namespace {

/// The number of each code of a floating format of 8 or 16 bits: made once.
const float* numbers_of_codes(NumberFormat format) {
  const auto made = [](NumberFormat of) {
    std::vector<float> numbers(std::size_t{1} << bits_of(of));
    for (std::size_t code = 0; code < numbers.size(); ++code)
      numbers[code] = decoded(of, static_cast<std::uint32_t>(code));
    return numbers;
  };
  static const std::vector<float> fp16 = made(NumberFormat::fp16), bf16 = made(NumberFormat::bf16),
                                  e4m3 = made(NumberFormat::fp8_e4m3), e5m2 = made(NumberFormat::fp8_e5m2),
                                  e6m9 = made(NumberFormat::fp16_e6m9);
  if (format == NumberFormat::fp16) return fp16.data();
  if (format == NumberFormat::bf16) return bf16.data();
  if (format == NumberFormat::fp16_e6m9) return e6m9.data();
  return format == NumberFormat::fp8_e4m3 ? e4m3.data() : e5m2.data();
}

template <class Code>
Code code_at(const std::byte* codes, std::size_t i) {
  Code code;
  std::memcpy(&code, codes + i * sizeof(Code), sizeof(Code));
  return code;
}

template <class Code>
void look_up(const float* table, const std::byte* codes, std::span<float> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = table[code_at<Code>(codes, i)];
}

/// Wide codes, each a product in double that is then rounded to float.
void scale_up(double step, std::int64_t zero, const std::byte* codes, std::span<float> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(static_cast<double>(code_at<std::int32_t>(codes, i) - zero) * step);
}

/// The size of one step of a fixed-point format.
double unit_of(NumberFormat format) { return static_cast<double>(decoded(format, 1)); }

}  // namespace

std::uint32_t encoded_kept(NumberFormat format, float x, const CodeStep& step, bool infinities) {
  const std::uint32_t code = encoded(format, x, step.scale, step.zero);
  if (!infinities || !std::isinf(x) || format == NumberFormat::fp32 || format == NumberFormat::fp8_e4m3 ||
      !is_floating(format))
    return code;
  return code + 1;  // infinity stands behind the largest number
}

void encode_run(NumberFormat format, const CodeStep& step, bool infinities, std::span<const float> numbers,
                std::byte* codes, Vectors vectors) {
  if (numbers.empty()) return;
  if (format == NumberFormat::fp32) {
    std::memcpy(codes, numbers.data(), numbers.size_bytes());
    return;
  }
  const std::int64_t bits = bits_of(format);
  check(bits >= 8 && !is_block_format(format), "codes of whole bytes, each with its own scale");
  if (is_floating(format))
    return encode_floats(float_layout(format), infinities, bits / 8, numbers, codes, vectors);
  const bool divide = needs_scale(format);
  const auto zero = static_cast<double>(step.zero), largest = static_cast<double>(largest_code(format));
  const double least = needs_zero_point(format) ? 0.0 : -largest - 1.0;
  const double unit = divide ? static_cast<double>(step.scale) : 1.0 / unit_of(format);
  encode_steps({unit, divide, step.zero, least - zero, largest - zero}, bits / 8, numbers, codes, vectors);
}

void decode_run(NumberFormat format, const CodeStep& step, const std::byte* codes, std::span<float> numbers,
                Vectors vectors) {
  if (numbers.empty()) return;
  if (format == NumberFormat::fp32) {
    std::memcpy(numbers.data(), codes, numbers.size_bytes());
    return;
  }
  const std::int64_t bits = bits_of(format);
  check(bits >= 8, "codes of whole bytes");
  if (is_floating(format)) {
    if (bits == 8) return look_up<std::uint8_t>(numbers_of_codes(format), codes, numbers);
    return look_up<std::uint16_t>(numbers_of_codes(format), codes, numbers);
  }
  const float unit = needs_scale(format) ? step.scale : static_cast<float>(unit_of(format));
  if (bits == 32) return scale_up(static_cast<double>(unit), step.zero, codes, numbers);
  decode_steps(unit, step.zero, !needs_zero_point(format), bits / 8, codes, numbers, vectors);
}

}  // namespace sdip
