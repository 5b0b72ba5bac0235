// Nodes to a tree of modules.
#include "core/graph/tree.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/exact.h"
#include "core/graph/facts.h"

namespace sdip {
namespace {

/// "/a/b/Conv": a, b, Conv.
std::vector<std::string_view> path_of(const Node& node) {
  const std::string_view name = node.name;
  const char separator = name.find('/') != std::string_view::npos ? '/' : '.';
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= name.size();) {
    const bool last = parts.size() + 1 == most_tree_depth;
    const std::size_t end = last ? name.size() : std::min(name.find(separator, from), name.size());
    if (end > from) parts.push_back(name.substr(from, end - from));
    from = end + 1;
  }
  if (parts.empty()) parts.push_back(name);
  if (parts.size() < 2) parts.insert(parts.begin(), node.op->type);
  return parts;
}

/// Elements of the parameters that each node is the first to read, in whatever shape; a weight made of them counts
/// as they do.
std::vector<std::int64_t> parameters_by_node(const Graph& graph, const std::vector<Family>& families) {
  const std::vector<char> counted = parameter_values(graph);
  List<std::int64_t> by_value(graph.values.size(), 0), by_node(graph.nodes.size(), 0);
  for (std::size_t v = 0; v < by_value.size(); ++v)
    if (counted[v] != 0) by_value[v] = element_count(graph.values[v].operand.shape);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    std::int64_t held = 0;
    for (const ValueId id : node.inputs) {
      if (id == none) continue;
      held = exact_sum(held, by_value[id]);
      by_value[id] = 0;
    }
    const auto out = std::ranges::find_if(node.outputs, [](ValueId id) { return id != none; });
    const bool passes_on = families[n] == Family::constant || families[n] == Family::view;
    const bool read = out != node.outputs.end() && !graph.values[*out].consumers.empty();
    if (passes_on && read)
      by_value[*out] = exact_sum(by_value[*out], held);
    else
      by_node[n] = held;
  }
  return by_node;
}

void add(LayerTree& level, const LayerTree& leaf) {
  level.nodes += leaf.nodes;
  level.parameters = exact_sum(level.parameters, leaf.parameters);
  level.macs = exact_sum(level.macs, leaf.macs);
  level.elements = exact_sum(level.elements, leaf.elements);
}

LayerTree leaf_of(const Node& node, const Work& work, std::int64_t parameters) {
  LayerTree leaf;
  leaf.type = node.op->type;
  leaf.nodes = 1;
  leaf.parameters = parameters;
  const bool nest = work.family == Family::conv2d || work.family == Family::linear || work.family == Family::matmul;
  if (nest)
    leaf.macs = mac_count(work.nest);
  else if (work.family != Family::view && work.family != Family::constant)
    leaf.elements = exact_product(work.rows, work.row_length);
  return leaf;
}

/// Modules while they grow: flat, parents before children.
struct Growing {
  struct Module {
    LayerTree tree;
    std::unordered_map<std::string_view, std::size_t> modules;
    std::vector<std::size_t> children;
  };
  std::vector<Module> modules = std::vector<Module>(1);
  std::size_t most_modules = 0;

  void add_leaf(const std::vector<std::string_view>& path, LayerTree leaf) {
    std::size_t place = 0;
    add(modules[0].tree, leaf);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      if (modules.size() >= most_modules && !modules[place].modules.contains(path[i])) break;
      const auto [found, fresh] = modules[place].modules.emplace(path[i], modules.size());
      const std::size_t next = found->second;
      if (fresh) {
        modules[place].children.push_back(next);
        modules.emplace_back();
        modules.back().tree.name = path[i];
      }
      place = next;
      add(modules[place].tree, leaf);
    }
    leaf.name = path.back();
    modules[place].children.push_back(modules.size());
    modules.emplace_back();
    modules.back().tree = std::move(leaf);
  }

  LayerTree nested(std::size_t place) {
    Module& module = modules[place];
    LayerTree tree = std::move(module.tree);
    for (const std::size_t child : module.children) tree.children.push_back(nested(child));
    if (place != 0 && tree.children.size() == 1) {
      LayerTree only = std::move(tree.children[0]);
      only.name = tree.name + "/" + only.name;
      return only;
    }
    return tree;
  }
};

}  // namespace

LayerTree layer_tree(const Graph& graph) {
  std::vector<Work> works;
  std::vector<Family> families;
  for (const Node& node : graph.nodes) {
    works.push_back(work_of(graph, node));
    families.push_back(works.back().family);
  }
  const std::vector<std::int64_t> parameters = parameters_by_node(graph, families);
  Growing growing;
  growing.most_modules = most_levels_a_node * graph.nodes.size();
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const bool idle = families[n] == Family::view || families[n] == Family::constant;
    if (idle && parameters[n] == 0) continue;
    growing.add_leaf(path_of(graph.nodes[n]), leaf_of(graph.nodes[n], works[n], parameters[n]));
  }
  LayerTree tree = growing.nested(0);
  tree.name = graph.name;
  return tree;
}

void cut_tree(LayerTree& tree, const TreeLimits& limits) {
  std::vector<LayerTree*> level = {&tree};
  std::int64_t left = limits.total;
  for (std::int64_t depth = 0; !level.empty(); ++depth) {
    std::vector<LayerTree*> next;
    for (LayerTree* one : level) {
      const auto have = static_cast<std::int64_t>(one->children.size());
      const std::int64_t keep = depth >= limits.depth ? 0 : std::min({have, limits.children, left});
      left -= keep;
      one->omitted_children = have - keep;
      one->children.resize(as_size(keep));
      for (LayerTree& child : one->children) next.push_back(&child);
    }
    level = std::move(next);
  }
}

}  // namespace sdip
