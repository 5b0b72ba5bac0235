// Rows of reductions, softmax and norms.
#include <algorithm>

#include "tests/generate/rows/rows.h"

namespace sdip::generate {
namespace {

using Made = std::vector<int>;

Made reduce(Making& m, const Row& row, ElementType type) {
  int x = m.any(type, 0, 5);
  const std::string name = row.type;
  if (name.starts_with("ReduceLogSum") && name != "ReduceLogSumExp" && !m.draw.one_in(4)) x = m.op("Abs", {x});
  const auto rank = std::ssize(m.shape(x));
  std::vector<std::int64_t> axes;
  for (std::int64_t i = 0; i < rank; ++i)
    if (maybe(m)) axes.push_back(m.opset >= 11 && m.draw.one_in(4) ? i - rank : i);
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("keepdims", m.draw.between(0, 1));
  const bool as_input = m.opset >= 18 || (name == "ReduceSum" && m.opset >= 13);
  if (as_input && m.draw.one_in(5)) attributes.emplace_back("noop_with_empty_axes", m.draw.between(0, 1));
  if (axes.empty()) return put(m, row, {x}, attributes);
  if (as_input) return put(m, row, {x, m.ints(axes)}, attributes);
  attributes.emplace_back("axes", axes);
  return put(m, row, {x}, attributes);
}

Made arg(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const auto rank = std::ssize(m.shape(x));
  const std::int64_t axis = axis_of(m, rank);
  AttributeList attributes{{"axis", axis}};
  if (m.shape(x)[static_cast<std::size_t>((axis + rank) % rank)] == 0) return {m.op("Identity", {x})};
  if (maybe(m)) attributes.emplace_back("keepdims", m.draw.between(0, 1));
  if (m.opset >= 12 && m.draw.one_in(3)) attributes.emplace_back("select_last_index", m.draw.between(0, 1));
  return put(m, row, {x}, attributes);
}

Made softmax(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 5);
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("axis", axis_of(m, std::ssize(m.shape(x))));
  return put(m, row, {x}, attributes);
}

Made batch_norm(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 2, 5);
  const std::int64_t channels = m.shape(x)[1];
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("epsilon", 0.01);
  return put(m, row,
             {x, m.weight(type, {channels}), m.weight(type, {channels}), m.weight(type, {channels}),
              m.weight(type, {channels}, {0.5, 1.5})},
             attributes);
}

Made layer_norm(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  const Shape s = m.shape(x);
  const auto rank = std::ssize(s);
  const std::int64_t axis = m.draw.one_in(3) ? axis_of(m, rank) : -1;
  const Shape scale(s.begin() + (axis + rank) % rank, s.end());
  AttributeList attributes;
  if (axis != -1 || maybe(m)) attributes.emplace_back("axis", axis);
  if (maybe(m)) attributes.emplace_back("epsilon", 0.01);
  Made operands{x, m.weight(type, scale)};
  const bool full = std::string_view(row.type) == "LayerNormalization";
  if (full && maybe(m)) operands.push_back(m.weight(type, scale));
  return put(m, row, operands, attributes, full && m.draw.one_in(6) ? static_cast<int>(m.draw.between(2, 3)) : 1);
}

Made instance_norm(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 3, 5);
  const std::int64_t channels = m.shape(x)[1];
  AttributeList attributes;
  if (maybe(m)) attributes.emplace_back("epsilon", 0.01);
  return put(m, row, {x, m.weight(type, {channels}), m.weight(type, {channels})}, attributes);
}

Made group_norm(Making& m, const Row& row, ElementType type) {
  const std::int64_t groups = m.draw.between(1, 3), channels = groups * m.draw.between(1, 3);
  Shape s = m.any_shape(3, 4);
  s[1] = channels;
  const int x = m.like(type, s);
  const std::int64_t affine = m.opset >= 21 ? channels : groups;
  return put(m, row, {x, m.weight(type, {affine}), m.weight(type, {affine})},
             {{"num_groups", groups}, {"epsilon", 0.01}});
}

Made lp_norm(Making& m, const Row& row, ElementType type) {
  const int x = m.any(type, 1, 4);
  return put(m, row, {x}, {{"axis", axis_of(m, std::ssize(m.shape(x)))}, {"p", m.draw.between(1, 2)}});
}

Made mean_variance(Making& m, const Row& row, ElementType type) {
  AttributeList attributes;
  if (maybe(m))
    attributes.emplace_back(
        "axes", m.draw.of(std::vector<std::vector<std::int64_t>>{{0, 2, 3}, {1}, {2, 3}, {0, 1, 2, 3}}));
  return put(m, row, {m.any(type, 4, 4)}, attributes);
}

Made determinant(Making& m, const Row& row, ElementType type) {
  Shape s = m.any_shape(2, 3);
  s.back() = s[s.size() - 2] = m.draw.between(1, 4);
  return put(m, row, {m.like(type, s)});
}

constexpr Row reduction_table[] = {
    {"", "ArgMax", numbers, arg},
    {"", "ArgMin", numbers, arg},
    {"", "BatchNormalization", common_floats, batch_norm},
    {"", "Det", common_floats, determinant},
    {"", "GroupNormalization", common_floats, group_norm},
    {"", "Hardmax", floats, softmax},
    {"", "InstanceNormalization", common_floats, instance_norm},
    {"", "LayerNormalization", floats, layer_norm},
    {"", "LogSoftmax", floats, softmax},
    {"", "LpNormalization", common_floats, lp_norm},
    {"", "MeanVarianceNormalization", floats, mean_variance},
    {"", "RMSNormalization", floats, layer_norm},
    {"", "ReduceL1", numbers, reduce},
    {"", "ReduceL2", numbers, reduce},
    {"", "ReduceLogSum", numbers, reduce},
    {"", "ReduceLogSumExp", numbers, reduce},
    {"", "ReduceMax", numbers, reduce},
    {"", "ReduceMean", numbers, reduce},
    {"", "ReduceMin", numbers, reduce},
    {"", "ReduceProd", numbers, reduce},
    {"", "ReduceSum", numbers, reduce},
    {"", "ReduceSumSquare", numbers, reduce},
    {"", "Softmax", floats, softmax},
};

}  // namespace

std::span<const Row> reduction_rows() { return reduction_table; }

}  // namespace sdip::generate
