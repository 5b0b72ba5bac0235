// Questions of rewrites to a graph, and the changes that they make.
#include "core/graph/rewrite/pattern.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/ops/fold.h"
#include "core/ops/use.h"

namespace sdip {
namespace {

/// The part of their paths that the names share, in whole parts: "/a/b/Mul", "/a/b/c/Add" share "/a/b".
std::string shared_path(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::string_view shared = node_at(graph, nodes[0]).name;
  shared = shared.substr(0, std::min(shared.rfind('/'), shared.size()));
  for (NodeId id : nodes) {
    const std::string_view name = node_at(graph, id).name;
    const auto follows = [&] {
      return name.starts_with(shared) && name.size() > shared.size() && name[shared.size()] == '/';
    };
    while (!shared.empty() && !follows()) shared = shared.substr(0, std::min(shared.rfind('/'), shared.size() - 1));
  }
  return std::string(shared);
}

/// "/a/b/Mul_1", a pattern's last node, becomes "/a/b/Silu_1"; a name that is no path stays.
std::string fused_name(const Graph& graph, const std::vector<NodeId>& pattern, std::string_view type) {
  const std::string& last = node_at(graph, pattern.back()).name;
  const std::string path = shared_path(graph, pattern);
  if (path.empty()) return last;
  const std::size_t mark = last.rfind('_');
  const bool numbered = mark != std::string::npos && last.rfind('/') < mark && mark + 1 < last.size() &&
                        last.find_first_not_of("0123456789", mark + 1) == std::string::npos;
  return path + "/" + std::string(type) + (numbered ? last.substr(mark) : "");
}

}  // namespace

const Value& value_at(const Graph& graph, ValueId id) { return graph.values[id]; }
Value& value_at(Graph& graph, ValueId id) { return graph.values[id]; }
const Node& node_at(const Graph& graph, NodeId id) { return graph.nodes[id]; }

bool is_node(const Graph& graph, NodeId id, std::string_view type) {
  return id != none && node_at(graph, id).op->domain.empty() && node_at(graph, id).op->type == type;
}

NodeId made_by(const Graph& graph, ValueId id, std::string_view type) {
  if (id == none) return none;
  const NodeId producer = value_at(graph, id).producer;
  return is_node(graph, producer, type) && node_at(graph, producer).outputs[0] == id ? producer : none;
}

bool is_graph_output(const Graph& graph, ValueId id) {
  return std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
}

NodeId only_consumer(const Graph& graph, NodeId id) {
  const ValueId out = node_at(graph, id).outputs[0];
  if (out == none || is_graph_output(graph, out)) return none;
  const auto& consumers = value_at(graph, out).consumers;
  return consumers.size() == 1 ? consumers[0] : none;
}

bool is_weight(const Graph& graph, ValueId id) {
  return id != none && value_at(graph, id).kind == ValueKind::weight;
}

std::vector<std::size_t> reduced_axes(const Graph& graph, NodeId reduction) {
  const NodeUse use = use_of(graph, node_at(graph, reduction));
  const std::size_t rank = use.inputs[0]->shape.size();
  std::vector<std::int64_t> axes = ints_attribute(use.use, "axes", {});
  if (use.inputs.size() > 1 && use.inputs[1] != nullptr) {
    if (!use.inputs[1]->value) return {};
    axes = ints_of_input(use.use, 1);
  }
  if (int_attribute(use.use, "keepdims", 1) == 0) return {};
  if (axes.empty() && int_attribute(use.use, "noop_with_empty_axes", 0) == 0) {
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  return axes_within(use.use, axes, rank);
}

std::int64_t trailing_axis(const std::vector<std::size_t>& axes, std::size_t rank) {
  const bool trailing = !axes.empty() && axes.back() + 1 == rank && axes.back() - axes.front() + 1 == axes.size();
  return trailing ? static_cast<std::int64_t>(axes.front()) : -1;
}

NodeId only_user(const Graph& graph, ValueId id) {
  if (id == none || is_graph_output(graph, id)) return none;
  const auto& consumers = value_at(graph, id).consumers;
  return consumers.size() == 1 ? consumers[0] : none;
}

ValueId add_value(Graph& graph, std::string name, ValueKind kind, ElementType type, Shape shape) {
  Value value;
  value.name = std::move(name);
  value.kind = kind;
  value.operand.type = type;
  value.operand.shape = std::move(shape);
  value.operand.weight = kind == ValueKind::weight;
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size() - 1);
}

ValueId add_constant(Graph& graph, const std::string& name, Tensor tensor) {
  const ValueId id = add_value(graph, name, ValueKind::weight, tensor.type, tensor.shape);
  graph.values[id].operand.value = std::move(tensor);
  return id;
}

std::int64_t rewrite_each(Graph& graph, Made where, bool (*at)(Graph&, NodeId, std::vector<Node>& made)) {
  std::vector<Node> made;
  const std::int64_t count = count_each(graph, [&](NodeId n) { return at(graph, n, made); });
  if (made.empty()) return count;
  graph.nodes.insert(where == Made::before ? graph.nodes.begin() : graph.nodes.end(),
                     std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
  sort_nodes(graph);  // what is new may stand behind its use
  return count;
}

bool is_one_per_channel(const Graph& graph, ValueId id, const Shape& shape) {
  if (!is_weight(graph, id)) return false;
  Shape own = value_at(graph, id).operand.shape;
  if (own.size() > shape.size()) return false;
  own.insert(own.begin(), shape.size() - own.size(), 1);
  Shape wanted(shape.size(), 1);
  wanted[1] = shape[1];
  return own == wanted;
}

ValueId other_input(const Graph& graph, NodeId node, ValueId id) {
  const auto& inputs = node_at(graph, node).inputs;
  if (inputs.size() != 2 || (inputs[0] == id) == (inputs[1] == id)) return none;
  return inputs[0] == id ? inputs[1] : inputs[0];
}

bool is_filled(const Graph& graph, ValueId id, double number) {
  if (id == none || value_at(graph, id).kind != ValueKind::weight) return false;
  const Operand& operand = value_at(graph, id).operand;
  if (operand.fill) return *operand.fill == number;
  if (!operand.value) return false;
  const auto same = [&](auto x) { return static_cast<double>(x) == number; };
  const Tensor& value = *operand.value;
  return std::all_of(value.ints.begin(), value.ints.end(), same) &&
         std::all_of(value.floats.begin(), value.floats.end(), same);
}

std::optional<double> number_in(const Graph& graph, ValueId id) {
  if (id == none || value_at(graph, id).kind != ValueKind::weight) return std::nullopt;
  return scalar_of(value_at(graph, id).operand);
}

std::optional<Scaled> scaled(const Graph& graph, NodeId node) {
  const auto& inputs = node_at(graph, node).inputs;
  if (inputs.size() != 2) return std::nullopt;
  if (const auto number = number_in(graph, inputs[1])) return Scaled{inputs[0], *number};
  if (const auto number = number_in(graph, inputs[0])) return Scaled{inputs[1], *number};
  return std::nullopt;
}

void replace_last(Graph& graph, const std::vector<NodeId>& pattern, std::string_view domain, std::string_view type,
                  std::vector<ValueId> inputs, Attributes attributes) {
  const Operator* op = find_operator(domain, type);
  check(op != nullptr, "replace_last: no such operator");
  std::string name = fused_name(graph, pattern, type);
  Node& last = graph.nodes[pattern.back()];
  last.name = std::move(name);
  last.op = op;
  last.opset = replacement_opset;
  last.inputs = std::move(inputs);
  last.attributes = std::move(attributes);
}

void bypass(Graph& graph, NodeId id, ValueId instead) {
  const ValueId out = node_at(graph, id).outputs[0];
  check(!is_graph_output(graph, out), "bypass: the node makes an output of the graph");
  for (NodeId consumer : value_at(graph, out).consumers) {
    for (ValueId& input : graph.nodes[consumer].inputs) {
      if (input == out) input = instead;
    }
  }
  auto& moved = value_at(graph, out).consumers;
  auto& uses = value_at(graph, instead).consumers;
  std::erase(uses, id);  // the node is dead
  uses.insert(uses.end(), moved.begin(), moved.end());
  std::sort(uses.begin(), uses.end());
  moved.clear();
}

}  // namespace sdip
