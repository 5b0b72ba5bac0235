// The number formats a machine can hold, one row each.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/index.h"

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
  q15_16,
  fp16_e6m9,
  // of blocks: weights' alone
  mxint8,
  mxfp8,
  mxfp8_e5m2,
  mxfp6,
  mxfp6_e3m2,
  mxfp4,
  nvfp4,
  nf4,
  msfp16,
  msfp12
};

/// The format of the scale of a block of weights: a power of two (E8M0 of OCP MX), an fp8_e4m3 or an fp32.
enum class BlockScale : std::uint8_t { power_of_two, e4m3, fp32 };

struct NumberFormatRow {
  std::string_view name;
  std::int64_t bits;
  bool floating;
  std::int64_t block = 0, scale_bits = 0;  // of a block format: elements that share a scale, and its bits
  BlockScale scale = BlockScale::power_of_two;
};

/// Rows in the order of NumberFormat. qm_n is two's-complement fixed point: 1 sign, m integer, n fraction bits.
/// fp16_e6m9: MN-Core's half. For block formats `bits` are those of an element: mx...: OCP Microscaling Formats
/// (MX) 1.0; nvfp4: NVIDIA's; nf4: QLoRA's (arXiv:2305.14314); msfp...: Microsoft's (Rouhani et al., NeurIPS 2020).
inline constexpr NumberFormatRow number_formats[] = {
    {"fp32", 32, true},
    {"fp16", 16, true},
    {"bf16", 16, true},
    {"fp8_e4m3", 8, true},
    {"fp8_e5m2", 8, true},
    {"int32", 32, false},
    {"int16", 16, false},
    {"int8", 8, false},
    {"uint8", 8, false},
    {"int4", 4, false},
    {"uint4", 4, false},
    {"q3_4", 8, false},
    {"q7_8", 16, false},
    {"q15_16", 32, false},
    {"fp16_e6m9", 16, true},
    {"mxint8", 8, true, 32, 8},
    {"mxfp8", 8, true, 32, 8},
    {"mxfp8_e5m2", 8, true, 32, 8},
    {"mxfp6", 6, true, 32, 8},
    {"mxfp6_e3m2", 6, true, 32, 8},
    {"mxfp4", 4, true, 32, 8},
    {"nvfp4", 4, true, 16, 8, BlockScale::e4m3},
    {"nf4", 4, true, 64, 32, BlockScale::fp32},
    {"msfp16", 8, true, 16, 8},
    {"msfp12", 4, true, 16, 8},
};

/// Formats before the first of blocks: those that activations and sums may have.
inline constexpr std::size_t plain_format_count = at(NumberFormat::fp16_e6m9) + 1;

constexpr const NumberFormatRow& row_of(NumberFormat format) { return number_formats[at(format)]; }
constexpr std::int64_t bits_of(NumberFormat format) { return row_of(format).bits; }
constexpr std::string_view format_text(NumberFormat format) { return row_of(format).name; }
constexpr bool is_floating(NumberFormat format) { return row_of(format).floating; }
constexpr bool is_block_format(NumberFormat format) { return row_of(format).block > 0; }

/// The format of numbers that stand beside weights and that no product multiplies by: biases, gains, tables. It is
/// fp16 beside block formats, else the weights' own.
constexpr NumberFormat vector_format(NumberFormat format) {
  return is_block_format(format) ? NumberFormat::fp16 : format;
}

}  // namespace sdip
