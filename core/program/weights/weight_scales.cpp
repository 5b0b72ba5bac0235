// The scales of quantised weights.
#include "core/program/weights/weight_scales.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/encode.h"
#include "core/graph/attributes.h"

namespace sdip {
namespace {

constexpr std::string_view convolutions[] = {"Conv", "QuantizedConv", "DeformConv"};
constexpr std::string_view products[] = {"MatMul", "Gemm", "Linear", "LinearBatch", "Scores", "QuantizedMatMul"};

WeightScale with_zero(float scale, double least) {
  const auto zero = std::clamp(std::nearbyint(-least / static_cast<double>(scale)), 0.0, 255.0);
  return {scale, static_cast<std::uint8_t>(zero)};
}

}  // namespace

WeightChannels weight_channels(const Node& node, const LoopNest& nest, const Shape& shape) {
  const std::int64_t count = nest.groups * nest.out_channels, elements = element_count(shape);
  const bool conv = std::ranges::find(convolutions, node.op->type) != std::end(convolutions);
  if (!conv && std::ranges::find(products, node.op->type) == std::end(products)) return {};
  if (shape.empty() || count <= 0 || elements <= 0 || nest.in_channels <= 0) return {};
  const bool rows = conv || is_set(node, "trans_b") || is_set(node, "transB");
  if (rows) {
    const std::int64_t block = elements / count;
    if (shape[0] != count || block % nest.in_channels != 0) return {};
    return {count, block, 1, block / nest.in_channels};
  }
  const std::int64_t matrix = shape.size() < 2 ? elements : shape.back() * shape[shape.size() - 2];
  if (elements / matrix * shape.back() != count || matrix / shape.back() != nest.in_channels) return {};
  return {count, matrix, shape.back(), shape.back()};
}

WeightScale weight_scale(NumberFormat format, double least, double most) {
  if (!needs_scale(format)) return {};
  const bool shifted = needs_zero_point(format);
  const double reach =
      shifted ? std::max(most, 0.0) - std::min(least, 0.0) : std::max(std::fabs(least), std::fabs(most));
  const auto step = static_cast<float>(reach / static_cast<double>(largest_code(format)));
  const float scale = reach == 0 ? 1.0F : std::max(step, std::numeric_limits<float>::denorm_min());
  return shifted ? with_zero(scale, std::min(least, 0.0)) : WeightScale(scale);
}

namespace {

/// The exponent of the largest element.
int largest_exponent(NumberFormat format) {
  switch (format) {
    case NumberFormat::mxfp8:
      return 8;
    case NumberFormat::mxfp8_e5m2:
      return 15;
    case NumberFormat::mxfp6_e3m2:
      return 4;
    case NumberFormat::mxfp6:
    case NumberFormat::mxfp4:
      return 2;
    default:
      return 0;
  }
}

constexpr int power_bias = 127;
constexpr float largest_fp4 = 6, largest_fp8 = 448;

}  // namespace

WeightScale block_scale(NumberFormat format, double reach, float tensor) {
  switch (row_of(format).scale) {
    case BlockScale::power_of_two: {
      const int exponent = reach == 0 ? -power_bias : std::ilogb(reach) - largest_exponent(format);
      return static_cast<float>(std::ldexp(1.0, std::clamp(exponent, -power_bias, power_bias)));
    }
    case BlockScale::e4m3: {
      const double own = reach / static_cast<double>(largest_fp4) / static_cast<double>(tensor);
      return scale_of_code(format, std::max(1U, encoded(NumberFormat::fp8_e4m3, static_cast<float>(own))), tensor);
    }
    default:
      return reach == 0 ? 1.0F : std::max(static_cast<float>(reach), std::numeric_limits<float>::denorm_min());
  }
}

float tensor_scale(NumberFormat format, double reach) {
  if (!is_block_format(format) || row_of(format).scale != BlockScale::e4m3 || reach == 0) return 1;
  const auto scale = static_cast<float>(reach / static_cast<double>(largest_fp4 * largest_fp8));
  return std::max(scale, std::numeric_limits<float>::min());
}

std::int64_t bits_of_group_scale(NumberFormat format) {
  return is_block_format(format) ? row_of(format).scale_bits : 32;
}

std::uint32_t code_of_scale(NumberFormat format, float scale, float tensor) {
  if (!is_block_format(format) || row_of(format).scale == BlockScale::fp32)
    return std::bit_cast<std::uint32_t>(scale);
  if (row_of(format).scale == BlockScale::power_of_two)
    return static_cast<std::uint32_t>(std::ilogb(scale) + power_bias);
  return encoded(NumberFormat::fp8_e4m3, scale / tensor);
}

float scale_of_code(NumberFormat format, std::uint32_t code, float tensor) {
  if (!is_block_format(format) || row_of(format).scale == BlockScale::fp32) return std::bit_cast<float>(code);
  if (row_of(format).scale == BlockScale::power_of_two)
    return code == 255 ? std::numeric_limits<float>::quiet_NaN()
                       : static_cast<float>(std::ldexp(1.0, static_cast<int>(code) - power_bias));
  return static_cast<float>(static_cast<double>(decoded(NumberFormat::fp8_e4m3, code)) *
                            static_cast<double>(tensor));
}

std::optional<WeightScale> whole_scale(NumberFormat format, std::int64_t least, std::int64_t most) {
  const std::int64_t largest = largest_code(format);
  if (needs_zero_point(format)) {
    if (std::max<std::int64_t>(most, 0) > largest + std::min<std::int64_t>(least, 0)) return std::nullopt;
    return with_zero(1, static_cast<double>(std::min<std::int64_t>(least, 0)));
  }
  if (least < -largest - 1 || most > largest) return std::nullopt;
  return WeightScale(1);
}

}  // namespace sdip
