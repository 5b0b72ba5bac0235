// Models changed field by field: still sound to protobuf, and nearly sound to ONNX.
#include <onnx/onnx_pb.h>

#include <cmath>
#include <limits>

#include "core/ops/operator.h"
#include "tests/fuzz/target.h"

namespace sdip::fuzz {
namespace {

constexpr std::int64_t numbers[] = {-1,
                                    0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    7,
                                    8,
                                    16,
                                    64,
                                    127,
                                    -2,
                                    -3,
                                    1 << 16,
                                    std::int64_t{1} << 31,
                                    std::int64_t{1} << 40,
                                    std::int64_t{1} << 53,
                                    std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()};
constexpr int types[] = {1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 21, 22, 23, 0, 99};

template <class Row, std::size_t n>
Row one_of(const Row (&rows)[n], Random& random) {
  return rows[below(random, n)];
}

template <class List>
auto* any(List* list, Random& random) {
  return list->empty() ? nullptr
                       : list->Mutable(static_cast<int>(below(random, static_cast<std::size_t>(list->size()))));
}

/// The graph, or one of its subgraphs.
onnx::GraphProto& any_graph(onnx::GraphProto& graph, Random& random) {
  for (auto& node : *graph.mutable_node()) {
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g() && below(random, 3) == 0) return any_graph(*attribute.mutable_g(), random);
    }
  }
  return graph;
}

std::string any_name(onnx::GraphProto& graph, Random& random) {
  if (below(random, 16) == 0) return "";
  if (const auto* node = any(graph.mutable_node(), random); node != nullptr && below(random, 2) == 0) {
    if (node->output_size() > 0) return node->output(0);
  }
  if (const auto* tensor = any(graph.mutable_initializer(), random); tensor != nullptr && below(random, 2) == 0) {
    return tensor->name();
  }
  const auto* input = any(graph.mutable_input(), random);
  return input == nullptr ? "x" : input->name();
}

void change_tensor(onnx::TensorProto& tensor, Random& random) {
  switch (below(random, 5)) {
    case 0:
      tensor.set_data_type(one_of(types, random));
      break;
    case 1:
      if (tensor.dims_size() > 0) {
        tensor.set_dims(static_cast<int>(below(random, static_cast<std::size_t>(tensor.dims_size()))),
                        one_of(numbers, random));
      }
      break;
    case 2:
      tensor.add_dims(one_of(numbers, random));
      break;
    case 3:
      tensor.mutable_raw_data()->resize(below(random, 64));
      break;
    default:
      for (auto& value : *tensor.mutable_int64_data()) {
        if (below(random, 2) == 0) value = one_of(numbers, random);
      }
  }
}

void change_attribute(onnx::AttributeProto& attribute, Random& random) {
  switch (below(random, 8)) {
    case 0:
      attribute.set_type(static_cast<onnx::AttributeProto::AttributeType>(below(random, 11)));
      break;
    case 1:
      attribute.set_i(one_of(numbers, random));
      break;
    case 2:
      attribute.add_ints(one_of(numbers, random));
      break;
    case 3:
      if (attribute.ints_size() > 0) attribute.mutable_ints()->RemoveLast();
      break;
    case 4:
      attribute.set_f(below(random, 2) == 0 ? std::nanf("") : 1e30F);
      break;
    case 5:
      if (attribute.has_t()) change_tensor(*attribute.mutable_t(), random);
      break;
    case 6:
      attribute.set_name(below(random, 2) == 0 ? "axis" : "axes");
      break;
    default:
      for (auto& value : *attribute.mutable_ints()) value = one_of(numbers, random);
  }
}

/// The node moves into the branch of an If, or into the body of a Loop.
void nest(onnx::GraphProto& graph, Random& random) {
  auto* node = any(graph.mutable_node(), random);
  if (node == nullptr || node->output_size() == 0) return;
  onnx::NodeProto outer;
  const bool loop = below(random, 2) == 0;
  outer.set_op_type(loop ? "Loop" : "If");
  outer.add_input(any_name(graph, random));
  if (loop) {
    outer.add_input("");
    outer.add_input(any_name(graph, random));
  }
  outer.add_output(node->output(0));
  for (const char* name : {loop ? "body" : "then_branch", "else_branch"}) {
    auto* attribute = outer.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    auto* inside = attribute->mutable_g();
    *inside->add_node() = *node;
    if (loop) {
      for (const char* input : {"i", "go", "state"}) inside->add_input()->set_name(input);
      inside->add_output()->set_name("go");
    }
    inside->add_output()->set_name(node->output(0));
    if (loop) break;
  }
  *node = outer;
}

/// The node becomes the body of a function, and a call of it.
void outline(onnx::ModelProto& model, Random& random) {
  auto* node = any(model.mutable_graph()->mutable_node(), random);
  if (node == nullptr) return;
  auto* function = model.add_functions();
  function->set_name("f" + std::to_string(below(random, 3)));
  *function->mutable_opset_import() = model.opset_import();
  *function->add_node() = *node;
  *function->mutable_input() = node->input();
  *function->mutable_output() = node->output();
  if (below(random, 4) == 0) function->mutable_node(0)->set_op_type(function->name());  // calls itself
  for (auto& attribute : *function->mutable_node(0)->mutable_attribute()) {
    if (below(random, 2) == 0) continue;
    function->add_attribute(attribute.name());
    attribute.set_ref_attr_name(attribute.name());
  }
  node->set_op_type(function->name());
}

void change_node(onnx::GraphProto& graph, Random& random) {
  auto* node = any(graph.mutable_node(), random);
  if (node == nullptr) return;
  const auto rows = operators();
  switch (below(random, 7)) {
    case 0: {
      const Operator& op = rows[below(random, rows.size())];
      node->set_op_type(std::string(op.type));
      node->set_domain(std::string(op.domain));
      break;
    }
    case 1:
      if (auto* other = any(graph.mutable_node(), random)) node->mutable_op_type()->swap(*other->mutable_op_type());
      break;
    case 2:
      if (node->input_size() > 0) {
        node->set_input(static_cast<int>(below(random, static_cast<std::size_t>(node->input_size()))),
                        any_name(graph, random));
      }
      break;
    case 3:
      if (below(random, 2) == 0 || node->input_size() == 0) {
        node->add_input(any_name(graph, random));
      } else {
        node->mutable_input()->RemoveLast();
      }
      break;
    case 4:
      if (auto* attribute = any(node->mutable_attribute(), random)) change_attribute(*attribute, random);
      break;
    case 5:
      if (node->attribute_size() > 0) node->mutable_attribute()->RemoveLast();
      break;
    default: {
      auto* attribute = node->add_attribute();
      attribute->set_name(below(random, 2) == 0 ? "axis" : "keepdims");
      attribute->set_type(onnx::AttributeProto::INT);
      attribute->set_i(one_of(numbers, random));
    }
  }
}

void change_input(onnx::GraphProto& graph, Random& random) {
  auto* input = any(graph.mutable_input(), random);
  if (input == nullptr) return;
  auto* type = input->mutable_type()->mutable_tensor_type();
  if (below(random, 3) == 0) {
    type->set_elem_type(one_of(types, random));
  } else if (auto* dimension = any(type->mutable_shape()->mutable_dim(), random)) {
    dimension->set_dim_value(one_of(numbers, random));
  }
}

void change(onnx::ModelProto& model, Random& random) {
  auto& graph = any_graph(*model.mutable_graph(), random);
  switch (below(random, 10)) {
    case 0:
      if (auto* tensor = any(graph.mutable_initializer(), random)) change_tensor(*tensor, random);
      break;
    case 1:
      change_input(graph, random);
      break;
    case 2:
      if (auto* node = any(graph.mutable_node(), random); node != nullptr && graph.node_size() < 100) {
        onnx::NodeProto copy = *node;
        for (auto& output : *copy.mutable_output()) output += below(random, 8) == 0 ? "" : "+";
        *graph.add_node() = copy;
      }
      break;
    case 3:
      if (graph.node_size() > 1) {
        graph.mutable_node()->DeleteSubrange(
            static_cast<int>(below(random, static_cast<std::size_t>(graph.node_size()))), 1);
      }
      break;
    case 4:
      nest(graph, random);
      break;
    case 5:
      if (model.functions_size() < 8) outline(model, random);
      break;
    case 6:
      if (model.opset_import_size() > 0) {
        model.mutable_opset_import(0)->set_version(static_cast<std::int64_t>(6 + below(random, 20)));
      }
      break;
    default:
      change_node(graph, random);
  }
}

}  // namespace

std::string changed_model(const std::string& input, Random& random) {
  onnx::ModelProto model;
  if (!model.ParseFromString(input) || !model.has_graph()) return changed_bytes(input, random);
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) change(model, random);
  return model.SerializeAsString();
}

}  // namespace sdip::fuzz
