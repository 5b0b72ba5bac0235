// Types, shapes and small values of a whole graph, node by node; composites become what they stand for.
#include <algorithm>
#include <limits>
#include <string>

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/graph/rewrite/passes.h"
#include "core/graph/rewrite/pattern.h"
#include "core/ops/body.h"
#include "core/ops/fold.h"

namespace sdip {
namespace {

/// Whether it may be made at compile time; an input without elements is known then, too.
bool all_weights(const Graph& graph, const Node& node) {
  return !node.op->random && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
    return id == none || graph.values[id].kind == ValueKind::weight ||
           element_count(graph.values[id].operand.shape) == 0;
  });
}

/// The nodes of a composite's body in its place, its results under the names of the composite's outputs.
void append_body(Graph& graph, const Node& node) {
  const NodeUse use = use_of(graph, node);
  check_use(*node.op, use.use);
  Body body = node.op->expand(use.use);
  std::vector<ValueId> ids = node.inputs;
  for (Tensor& constant : body.constants)
    ids.push_back(add_constant(graph, fmt::format("{}/constant_{}", node.name, ids.size()), std::move(constant)));
  std::vector<ValueId> outputs(ids.size(), none);  // by body value: the composite's output it is
  for (const BodyNode& part : body.nodes) outputs.resize(outputs.size() + as_size(part.outputs), none);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == none) continue;
    if (i >= body.results.size() || body.results[i] < 0) {
      throw Error("unsupported_attribute", node.name,
                  fmt::format("node '{}' ({}): output {} is not computed here", node.name, node.op->type, i));
    }
    outputs.at(at(body.results[i])) = node.outputs[i];
  }
  int count = 0;
  for (BodyNode& part : body.nodes) {
    Node made;
    made.name = fmt::format("{}/{}_{}", node.name, part.type, count++);
    made.op = find_operator(part.domain, part.type);
    check(made.op != nullptr, "append_body: no such operator");
    made.opset = replacement_opset;
    made.attributes = std::move(part.attributes);
    for (int input : part.inputs) made.inputs.push_back(input < 0 ? none : ids.at(as_size(input)));
    for (int i = 0; i < part.outputs; ++i) {
      ValueId id = outputs.at(ids.size());
      const std::string name = made.name + (i == 0 ? "" : "." + std::to_string(i));
      if (id == none) id = add_value(graph, name, ValueKind::activation, ElementType::float32, {});
      ids.push_back(id);
      made.outputs.push_back(id);
    }
    append_node(graph, std::move(made));
  }
}

/// Multiply-accumulates or elements that computing a use takes.
std::int64_t folding_work(const Operator& op, const OperatorUse& use, std::span<const Operand> outputs) {
  std::int64_t elements = 1;
  for (const Operand& output : outputs) elements += element_count(output.shape);
  for (const Operand* operand : use.inputs) elements += operand == nullptr ? 0 : element_count(operand->shape);
  if (op.work == nullptr) return elements;
  try {
    const Work work = op.work(use, outputs);
    const bool products =
        work.family == Family::conv2d || work.family == Family::linear || work.family == Family::matmul;
    return std::max(elements, products ? mac_count(work.nest) : work.row_length);
  } catch (const Error&) {
    return std::numeric_limits<std::int64_t>::max();  // more than can be counted
  }
}

/// The outputs; their values, too, where those of all inputs are known and computing them takes little.
std::vector<Operand> infer_or_fold(Graph& graph, const NodeUse& use, const Operator& op) {
  constexpr std::int64_t nothing = -1;
  std::vector<Operand> outputs = infer_use(op, use.use, nothing);
  const bool known = std::all_of(use.inputs.begin(), use.inputs.end(),
                                 [](const Operand* in) { return in == nullptr || in->value.has_value(); });
  const bool done =
      std::all_of(outputs.begin(), outputs.end(), [](const Operand& out) { return out.value.has_value(); });
  if (!known || done || op.compute == nullptr || op.random) return outputs;
  const auto large = [](const Operand& out) { return element_count(out.shape) > most_folded_elements; };
  if (std::any_of(outputs.begin(), outputs.end(), large)) return outputs;
  const std::int64_t work = folding_work(op, use.use, outputs);
  if (work > most_folding_work) return outputs;
  graph.imported.folded_elements += work;
  return infer_use(op, use.use);
}

bool has_used_mask(const Node& node) {
  return node.op->type == "Dropout" && node.op->domain.empty() && node.outputs.size() > 1 &&
         node.outputs[1] != none;
}

/// A Dropout's mask, which keeps everything, as a constant of its own: Dropout itself is a view, which has no place
/// for a second result.
void append_mask(Graph& graph, const Node& dropout) {
  const Operand mask = infer_use(*dropout.op, use_of(graph, dropout).use, 0).at(1);
  Node made;
  made.name = dropout.name + "/mask";
  made.op = find_operator("", "ConstantOfShape");
  made.opset = replacement_opset;
  Tensor one = zero_tensor(mask.type, {1});
  if (is_floating(mask.type))
    one.floats = {1};
  else
    one.ints = {1};
  made.attributes = {{"value", std::move(one)}};
  const std::int64_t rank = std::ssize(mask.shape);
  made.inputs = {add_constant(graph, made.name + "/shape", {ElementType::int64, {rank}, mask.shape, {}})};
  made.outputs = {dropout.outputs[1]};
  append_node(graph, std::move(made));
}

/// Drops operands that inference alone looks at: what a CastLike is like, the ratio of a Dropout that drops
/// nothing. A constant that is cast or kept is then a constant, whatever stood beside it.
void drop_unread(Node& node, const std::vector<Operand>& outputs) {
  if (!node.op->domain.empty()) return;
  if (node.op->type == "CastLike") {
    node.op = find_operator("", "Cast");
    node.attributes["to"] = onnx_number_of(outputs[0].type);
  } else if (node.op->type != "Dropout") {
    return;
  }
  node.inputs.resize(1);
}

}  // namespace

void spread_weights(Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (!all_weights(graph, node)) continue;
    for (const ValueId id : node.outputs) {
      if (id == none) continue;
      graph.values[id].kind = ValueKind::weight;
      graph.values[id].operand.weight = true;
    }
  }
}

void append_node(Graph& graph, Node node) {
  if (has_used_mask(node)) {
    append_mask(graph, node);
    node.outputs.resize(1);
    if (node.outputs[0] == none) return;
  }
  if (node.op->expand != nullptr) {
    graph.imported.composites += 1;
    append_body(graph, node);
    return;
  }
  for (const ValueId id : node.inputs)
    if (id != none) know_if_empty(graph.values[id].operand);
  std::vector<Operand> outputs = infer_or_fold(graph, use_of(graph, node), *node.op);
  drop_unread(node, outputs);
  const bool weights = all_weights(graph, node);
  const bool parameters = std::any_of(node.inputs.begin(), node.inputs.end(),
                                      [&](ValueId id) { return id != none && graph.values[id].parameter; });
  bool known = true;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (node.outputs[i] == none) continue;
    Value& value = graph.values[node.outputs[i]];
    value.operand = std::move(outputs[i]);
    if (value.operand.value) graph.imported.folded_elements += element_count(value.operand.shape);
    value.operand.weight = weights || value.operand.value.has_value();
    value.kind = value.operand.weight ? ValueKind::weight : ValueKind::activation;
    value.parameter = parameters && may_be_parameter(value.operand.type);
    known = known && value.operand.value && !value.parameter;
  }
  if (known) {
    graph.imported.folded_nodes += 1;
  } else {
    graph.nodes.push_back(std::move(node));
  }
}

void infer(Graph& graph) {
  for (Value& value : graph.values) {
    value.operand.weight = value.kind == ValueKind::weight;
    value.parameter = value.initializer && may_be_parameter(value.operand.type);
  }
  std::vector<Node> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  graph.nodes.reserve(nodes.size());
  for (Node& node : nodes) append_node(graph, std::move(node));
  link(graph);
}

}  // namespace sdip
