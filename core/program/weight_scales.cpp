// The scales of quantised weights.
#include "core/program/weight_scales.h"

#include <algorithm>
#include <limits>

#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/graph/attributes.h"

namespace sdip {

WeightChannels weight_channels(const Node& node, const InstructionClass& c, const Shape& shape) {
  const LoopNest& nest = c.work.nest;
  const std::int64_t count = nest.groups * nest.out_channels, elements = element_count(shape);
  const bool rows = c.work.family == Family::conv2d || is_set(node, "trans_b") || is_set(node, "transB");
  const bool known = node.op->type != "Einsum" && !shape.empty() && count > 0 && elements > 0;
  if (known && rows && shape[0] == count) return {count, elements / count, 1};
  const std::int64_t matrix = shape.size() < 2 ? elements : shape.back() * shape[shape.size() - 2];
  if (known && !rows && elements / matrix * shape.back() == count) return {count, matrix, shape.back()};
  throw Error("not_modelled", node.name,
              "scale_granularity=channel: no rule says which elements of its weight " + shape_text(shape) +
                  " belong to an output channel");
}

float weight_scale(NumberFormat format, double largest) {
  if (!needs_scale(format) || largest == 0) return 1.0F;
  const auto scale = static_cast<float>(largest / static_cast<double>(largest_code(format)));
  return std::max(scale, std::numeric_limits<float>::denorm_min());
}

}  // namespace sdip
