// The scales of quantised weights.
#include "core/program/weights/weight_scales.h"

#include <algorithm>
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
