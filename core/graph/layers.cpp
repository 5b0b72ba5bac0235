// Nodes of equal work, counted.
#include "core/graph/layers.h"

#include <algorithm>
#include <map>

#include "core/base/exact.h"

namespace sdip {
namespace {

bool is_nest(Family family) {
  return family == Family::conv2d || family == Family::linear || family == Family::matmul;
}

std::string size_text(std::int64_t height, std::int64_t width) { return fmt::format("{}x{}", height, width); }

std::string conv_text(const LoopNest& nest) {
  std::string text = fmt::format("{} to {} channels, {}", nest.in_channels * nest.groups,
                                 nest.out_channels * nest.groups, size_text(nest.kernel_h, nest.kernel_w));
  if (nest.stride_h != 1 || nest.stride_w != 1) text += ", stride " + size_text(nest.stride_h, nest.stride_w);
  if (nest.dilation_h != 1 || nest.dilation_w != 1)
    text += ", dilation " + size_text(nest.dilation_h, nest.dilation_w);
  if (nest.groups > 1) text += fmt::format(", {} groups", nest.groups);
  text += ", of " + size_text(nest.out_h, nest.out_w);
  return nest.batch > 1 ? fmt::format("{}, batch {}", text, nest.batch) : text;
}

std::string product_text(const LoopNest& nest) {
  const std::int64_t rows = nest.batch * nest.out_h * nest.out_w;
  const std::int64_t times = nest.groups;
  return size_text(rows, nest.in_channels) + " by " + size_text(nest.in_channels, nest.out_channels) +
         (times > 1 ? fmt::format(", {} times", times) : "");
}

}  // namespace

std::vector<LayerClass> layer_classes(const Graph& graph) {
  std::map<std::pair<std::string_view, Work>, LayerClass> classes;
  for (const Node& node : graph.nodes) {
    Work work = work_of(graph, node);
    if (work.family == Family::view || work.family == Family::constant) continue;
    LayerClass& one = classes[{node.op->type, work}];
    if (++one.nodes > 1) continue;
    one.type = node.op->type;
    one.first = node.name;
    if (is_nest(work.family))
      one.macs = mac_count(work.nest);
    else
      one.elements = exact_product(work.rows, work.row_length);
    one.work = std::move(work);
  }
  std::vector<LayerClass> list;
  list.reserve(classes.size());
  for (auto& [key, one] : classes) list.push_back(std::move(one));
  std::stable_sort(list.begin(), list.end(), [](const LayerClass& a, const LayerClass& b) {
    const std::int64_t macs = exact_product(a.macs, a.nodes), other = exact_product(b.macs, b.nodes);
    if (macs != other) return macs > other;
    return exact_product(a.elements, a.nodes) > exact_product(b.elements, b.nodes);
  });
  return list;
}

std::string work_text(const Work& work) {
  if (work.family == Family::conv2d) return conv_text(work.nest);
  if (is_nest(work.family)) return product_text(work.nest);
  return size_text(work.rows, work.row_length) + (work.passes > 1 ? fmt::format(", {} passes", work.passes) : "");
}

}  // namespace sdip
