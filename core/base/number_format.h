// The number formats a machine can hold, one row each.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sdip {

enum class NumberFormat : std::int64_t {
  fp32,
  fp16,
  bf16,
  fp8_e4m3,
  fp8_e5m2,
  int32,
  int16,
  int8,
  uint8,
  int4,
  uint4,
  q3_4,
  q7_8,
  q15_16
};

struct NumberFormatRow {
  std::string_view name;
  std::int64_t bits;
  bool floating;
};

/// Rows in the order of NumberFormat. qm_n is two's-complement fixed point: 1 sign, m integer, n fraction bits.
inline constexpr NumberFormatRow number_formats[] = {
    {"fp32", 32, true},   {"fp16", 16, true},   {"bf16", 16, true},  {"fp8_e4m3", 8, true}, {"fp8_e5m2", 8, true},
    {"int32", 32, false}, {"int16", 16, false}, {"int8", 8, false},  {"uint8", 8, false},   {"int4", 4, false},
    {"uint4", 4, false},  {"q3_4", 8, false},   {"q7_8", 16, false}, {"q15_16", 32, false},
};

constexpr std::int64_t bits_of(NumberFormat format) {
  return number_formats[static_cast<std::size_t>(format)].bits;
}

constexpr std::string_view format_text(NumberFormat format) {
  return number_formats[static_cast<std::size_t>(format)].name;
}

}  // namespace sdip
