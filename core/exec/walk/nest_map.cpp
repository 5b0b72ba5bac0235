// Where the elements of a nest's operands and result stand.
#include "core/exec/walk/nest_map.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/attributes.h"
#include "core/ops/values.h"

namespace sdip::exec {
namespace {

NestMap conv_map(const LoopNest& nest) {
  NestMap m;
  m.nest = nest;
  const std::int64_t plane = nest.in_h * nest.in_w, kernel = nest.kernel_h * nest.kernel_w;
  m.a_frame = nest.groups * nest.in_channels * plane;
  m.a_k = plane, m.a_y = nest.in_w, m.a_x = 1;
  m.b_n = nest.in_channels * kernel, m.b_k = kernel, m.b_h = nest.kernel_w, m.b_w = 1;
  m.out_n = nest.out_h * nest.out_w;
  m.out_group = nest.out_channels * m.out_n;
  m.out_frame = nest.groups * m.out_group;
  m.out_p = nest.out_w, m.out_q = 1;
  for (std::int64_t g = 0; g < nest.groups; ++g) {
    m.a_group.push_back(g * nest.in_channels * plane);
    m.b_group.push_back(g * nest.out_channels * m.b_n);
  }
  return m;
}

Shape leading(const Shape& shape) {
  return Shape(shape.begin(), shape.end() - std::min<std::ptrdiff_t>(2, std::ssize(shape)));
}

NestMap product_map(const LoopNest& nest, const Node& node, const Shape& a, const Shape& b) {
  NestMap m;
  m.nest = nest;
  const bool turned_a = a.size() > 1 && is_set(node, "transA");
  const bool turned_b = b.size() > 1 && (is_set(node, "transB") || is_set(node, "trans_b"));
  const std::int64_t rows = nest.out_h, channels = nest.out_channels, depth = nest.in_channels;
  m.a_y = turned_a ? 1 : depth, m.a_k = turned_a ? rows : 1;
  m.b_n = turned_b ? depth : 1, m.b_k = turned_b ? 1 : channels;
  m.out_p = channels, m.out_n = 1, m.out_group = rows * channels;
  if (nest.groups == 1) {
    m.a_group = m.b_group = {0};
    return m;
  }
  const Shape batch_a = leading(a), batch_b = leading(b);
  Shape out(std::max(batch_a.size(), batch_b.size()), 1);
  for (const Shape* batch : {&batch_a, &batch_b})
    for (std::size_t i = 0; i < batch->size(); ++i) {
      std::int64_t& size = out[out.size() - batch->size() + i];
      if ((*batch)[i] != 1) size = (*batch)[i];
    }
  check(element_count(out) == nest.groups * nest.batch, "the products of a nest are those of its operands");
  // The matrices of the operands that meet each matrix of the result.
  const BroadcastIndex of_a = broadcast_index(batch_a, out), of_b = broadcast_index(batch_b, out);
  const auto groups = at(nest.groups);
  for (std::size_t g = 0; g < groups; ++g) {
    m.a_group.push_back(static_cast<std::int64_t>(of_a[g]) * rows * depth);
    m.b_group.push_back(static_cast<std::int64_t>(of_b[g]) * depth * channels);
  }
  if (nest.batch > 1)
    m.a_frame = static_cast<std::int64_t>(of_a[groups]) * rows * depth;  // frames repeat the weights of all groups
  m.out_frame = nest.groups * m.out_group;
  return m;
}

}  // namespace

std::optional<NestMap> nest_map(const Graph& graph, const Node& node) {
  const std::string_view type = node.op->type;
  if (node.inputs.size() < 2 || node.inputs[0] == none || node.inputs[1] == none) return std::nullopt;
  const Operand& a = graph.values[node.inputs[0]].operand;
  const Operand& b = graph.values[node.inputs[1]].operand;
  const LoopNest nest = work_of(graph, node).nest;
  if (type == "Conv" || type == "QuantizedConv") {
    if (a.shape.size() > 4) return std::nullopt;
    return conv_map(nest);
  }
  for (const char* product : {"MatMul", "Gemm", "Linear", "LinearBatch", "Scores", "QuantizedMatMul"})
    if (type == product) return product_map(nest, node, a.shape, b.shape);
  return std::nullopt;
}

}  // namespace sdip::exec
