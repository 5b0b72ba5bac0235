// Numbers as the bits of a number format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/number_format.h"

namespace sdip {

/// The bits of `x`, in the lowest bits_of(format). Floating formats: nearest, ties to even; beyond the largest
/// finite number that number, infinities too; a NaN stays one (quiet, its sign kept). fp8_e4m3 is that of the Open
/// Compute Project, without infinities, at most 448; fp32 is taken as it is. intN and uintN: x / scale, rounded to
/// nearest, ties to even, plus `zero`, clamped to the format, NaN `zero`; two's complement. qm_n: the same of
/// x * 2^n, whatever the scale, without zero. Block formats: the element nearest to x / scale, ties to the even
/// code, within the largest; NaN, but of fp8 elements, 0. Requires scale > 0.
std::uint32_t encoded(NumberFormat format, float x, float scale = 1.0F, std::int64_t zero = 0);

/// The number that bits stand for; of integers less zero, times scale; of block formats the element times scale.
/// Reads a code. What fp32 cannot hold (int32, q15_16) is rounded.
float decoded(NumberFormat format, std::uint32_t bits, float scale = 1.0F, std::int64_t zero = 0);

/// Largest positive number of an integer format (127 of int8); of a fixed-point one in units of its last place.
/// Requires a format that is not floating.
std::int64_t largest_code(NumberFormat format);

/// True for intN and uintN, which need a scale; fixed-point formats do not.
bool needs_scale(NumberFormat format);

/// True where a program may say a scale of a tensor: that of needs_scale, and that of nvfp4, which the scales of
/// its blocks are in units of.
bool has_tensor_scale(NumberFormat format);

/// True for uintN, whose numbers below 0 need a zero point: the code that stands for 0.
bool needs_zero_point(NumberFormat format);

/// Takes a piece of a file, in order.
using ByteSink = std::function<void(std::span<const std::byte>)>;

/// Codes one after the other, lowest bit first: of two 4-bit codes the first is the low nibble, longer ones are
/// little-endian. Pieces go to the sink as they fill up.
class BitPacker {
 public:
  explicit BitPacker(const ByteSink& sink) : sink_(sink) {}
  /// Requires bits <= 32 and no bits of `code` above them.
  void put(std::uint32_t code, std::int64_t bits);
  /// Zero bits until `bytes` are written in all. Requires that there are not more yet.
  void pad_to(std::int64_t bytes);
  /// Zero bits up to a whole byte; then hands over what is left.
  void finish();
  std::int64_t bytes() const { return bytes_; }

 private:
  void push(std::byte byte);

  const ByteSink& sink_;
  std::vector<std::byte> piece_;
  std::uint64_t open_ = 0;
  std::int64_t open_bits_ = 0, bytes_ = 0;
};

}  // namespace sdip
