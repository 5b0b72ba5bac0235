// FlexAttention of ai.onnx.preview: attention whose scores and probabilities subgraphs change. Q [1,8,64,40], K and
// V [1,2,77,40]: Scores (4 heads' rows one after the other for each K), score_mod's nodes, Softmax, prob_mod's,
// MatMul.
#include <cmath>

#include "core/base/error.h"
#include "core/onnx/bodies/subgraph.h"
#include "core/ops/body.h"

namespace sdip {
namespace {

struct Flex {
  const NodeCall& call;
  Attributes attributes;  // but for the subgraphs

  const Operand& operand(ValueId id) const { return call.reading.graph.values[id].operand; }
  ValueId made(const char* domain, const char* type, std::vector<ValueId> inputs, Attributes with, int number = 0) {
    Node part;
    part.name = path_of(call.name, type + (number == 0 ? std::string() : "_" + std::to_string(number)));
    part.op = find_operator(domain, type);
    part.opset = replacement_opset;
    part.inputs = std::move(inputs);
    part.attributes = std::move(with);
    return add_node(call.reading, std::move(part));
  }
  ValueId reshaped(ValueId x, const Shape& shape, int number) {
    if (operand(x).shape == shape) return x;
    Tensor sizes{ElementType::int64, {std::ssize(shape)}, shape, {}};
    const ValueId to =
        add_constant(call.reading, path_of(call.name, "shape_" + std::to_string(number)), std::move(sizes));
    return made("", "Reshape", {x, to}, {}, number);
  }
  ValueId cast(ValueId x, ElementType type, int number) {
    return operand(x).type == type ? x : made("", "Cast", {x}, {{"to", onnx_number_of(type)}}, number);
  }
};

/// Q, K and V, which must be there and of rank 4.
std::vector<ValueId> operands_of(Flex& flex) {
  std::vector<ValueId> ids;
  for (int i = 0; i < 3; ++i) {
    ids.push_back(flex.call.input(i));
    if (ids.back() == none || flex.call.node.input_size() > 3)
      flex.call.refuse("invalid_graph", "must have three inputs, Q, K and V");
    const Operand& in = flex.operand(ids.back());
    if (in.shape.size() != 4 || !is_floating(in.type) || in.type != flex.operand(ids[0]).type)
      flex.call.refuse("shape_mismatch", "Q, K and V must be floats of one type and of rank 4");
  }
  const Shape &q = flex.operand(ids[0]).shape, &k = flex.operand(ids[1]).shape, &v = flex.operand(ids[2]).shape;
  if (k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3] || k[1] < 1 || q[1] % k[1] != 0)
    flex.call.refuse("shape_mismatch", "Q, K and V do not fit");
  return ids;
}

/// The scores or probabilities as a subgraph changes them; themselves where there is none.
ValueId modified(Flex& flex, const char* attribute, ValueId x) {
  bool given = false;
  for (const auto& each : flex.call.node.attribute()) given = given || each.name() == attribute;
  if (!given) return x;
  const onnx::GraphProto& graph = subgraph_of(flex.call, attribute);
  if (graph.input_size() != 1 || graph.output_size() != 1)
    flex.call.refuse("invalid_graph", std::string(attribute) + " must have one input and one output");
  const ValueId y = read_subgraph(flex.call, graph, path_of(flex.call.name, attribute), {x})[0];
  if (flex.operand(y).shape != flex.operand(x).shape || flex.operand(y).type != flex.operand(x).type)
    flex.call.refuse("shape_mismatch", std::string(attribute) + " gives another shape or type than it takes");
  return y;
}

/// The type of scores and probabilities: float64 for float64, else float32, unless said.
ElementType precision_of(const Flex& flex, ElementType type) {
  const auto found = flex.attributes.find("softmax_precision");
  if (found == flex.attributes.end())
    return type == ElementType::float64 ? ElementType::float64 : ElementType::float32;
  const auto* given = std::get_if<std::int64_t>(&found->second);
  if (given == nullptr || (*given != 1 && *given != 10 && *given != 11 && *given != 16))
    flex.call.refuse("unsupported_attribute", "softmax_precision must be a float type");
  return *element_type_of_onnx(*given);
}

double scale_of(const Flex& flex, std::int64_t depth) {
  const auto found = flex.attributes.find("scale");
  if (found == flex.attributes.end()) return 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(depth, 1)));
  const auto* given = std::get_if<double>(&found->second);
  if (given == nullptr) flex.call.refuse("unsupported_attribute", "attribute 'scale' must be a float");
  return *given;
}

}  // namespace

void read_flex_attention(const NodeCall& call) {
  check_attribute_names(call, "prob_mod scale score_mod softmax_precision");
  onnx::NodeProto plain;
  for (const auto& attribute : call.node.attribute()) {
    if (attribute.name() == "scale" || attribute.name() == "softmax_precision") *plain.add_attribute() = attribute;
  }
  Flex flex{call, read_attributes(plain, call.name, call.place.attributes, call.reading.options)};
  const std::size_t first_made = call.reading.graph.values.size();
  const auto ids = operands_of(flex);
  const Shape q = flex.operand(ids[0]).shape, k = flex.operand(ids[1]).shape, v = flex.operand(ids[2]).shape;
  const ElementType type = flex.operand(ids[0]).type;
  const ElementType precise = precision_of(flex, type);
  const Shape scores = {q[0], q[1], q[2], k[2]}, by_key = {q[0], k[1], q[1] / k[1] * q[2], k[2]};
  ValueId x = flex.reshaped(ids[0], {q[0], k[1], by_key[2], q[3]}, 1);
  x = flex.made("sdip", "Scores", {x, ids[1]}, {{"scale", scale_of(flex, q[3])}, {"trans_b", std::int64_t{1}}});
  x = flex.cast(flex.reshaped(x, scores, 2), precise, 1);
  x = modified(flex, "score_mod", x);
  x = flex.made("", "Softmax", {x}, {{"axis", std::int64_t{-1}}});
  x = flex.reshaped(modified(flex, "prob_mod", x), by_key, 3);
  x = flex.made("", "MatMul", {x, flex.cast(ids[2], precise, 2)}, {});
  x = flex.cast(flex.reshaped(x, {q[0], q[1], q[2], v[3]}, 4), type, 3);
  deliver(call, {x}, first_made);
}

}  // namespace sdip
