// FlexAttention of ai.onnx.preview becomes its own nodes with its subgraphs' between them.
#include <functional>

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

/// q [1,4,3,8] over k and v [1,2,5,8]: two heads of q share a key. score_mod adds the model's own `bias`.
onnx::ModelProto flex_model(const std::string& type_of_score_mod) {
  onnx::ModelProto model = empty_model();
  auto* import = model.add_opset_import();
  import->set_domain("ai.onnx.preview");
  import->set_version(1);
  add_input(model, "q", {1, 4, 3, 8});
  for (const char* name : {"k", "v"}) add_input(model, name, {1, 2, 5, 8});
  add_weight(model, "bias", {3, 5});
  auto& node = add_node(model, "FlexAttention", {"q", "k", "v"}, "y", "/flex");
  node.set_domain("ai.onnx.preview");
  auto* attribute = node.add_attribute();
  attribute->set_name("score_mod");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto& body = *attribute->mutable_g();
  body.set_name("score_mod");
  body.add_input()->set_name("scores");
  auto* add = body.add_node();
  add->set_op_type(type_of_score_mod);
  add->set_name(type_of_score_mod);
  add->add_input("scores");
  if (type_of_score_mod == "Add") add->add_input("bias");
  add->add_output("changed");
  body.add_output()->set_name("changed");
  add_output(model, "y");
  return model;
}

TEST(flex_attention, is_its_nodes_with_those_of_score_mod_between) {
  const Graph graph = import_model(flex_model("Add"));
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"/flex/Reshape_1", "/flex/Scores", "/flex/Reshape_2", "/flex/score_mod/Add",
                                      "/flex/Softmax", "/flex/Reshape_3", "/flex/MatMul", "/flex/Reshape_4"}));
  const Value& y = graph.values[static_cast<std::size_t>(graph.outputs.at(0))];
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.operand.shape, (Shape{1, 4, 3, 8}));
}

TEST(flex_attention, refuses_what_it_cannot_be) {
  EXPECT_EQ(error_of(flex_model("Shape").SerializeAsString()).code, "shape_mismatch");
  EXPECT_EQ(error_of(flex_model("Nothing").SerializeAsString()).code, "unknown_operator");
  const auto changed = [](const std::function<void(onnx::NodeProto&)>& change) {
    onnx::ModelProto model = flex_model("Add");
    change(*model.mutable_graph()->mutable_node(0));
    return error_of(model.SerializeAsString()).code;
  };
  EXPECT_EQ(changed([](auto& node) { node.set_input(1, "q"); }), "shape_mismatch");  // heads of k and v differ
  EXPECT_EQ(changed([](auto& node) { node.mutable_input()->RemoveLast(); }), "invalid_graph");
  EXPECT_EQ(changed([](auto& node) { set_int(node, "softmax_precision", 7); }), "unsupported_attribute");
  EXPECT_EQ(changed([](auto& node) { set_int(node, "masked", 1); }), "unsupported_attribute");
  EXPECT_EQ(changed([](auto& node) { node.mutable_attribute(0)->mutable_g()->clear_output(); }), "invalid_graph");
}

TEST(flex_attention, refuses_an_input_that_its_function_was_not_given) {
  onnx::ModelProto model = flex_model("Add");
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.mutable_attribute()->Clear();
  auto& function = *model.add_functions();
  function.set_domain("local");
  function.set_name("attend");
  for (const char* name : {"q", "k", "v"}) function.add_input(name);
  function.add_output("y");
  function.add_node()->CopyFrom(node);
  for (const auto& import : model.opset_import()) function.add_opset_import()->CopyFrom(import);
  auto* import = model.add_opset_import();
  import->set_domain("local");
  import->set_version(1);
  node.set_domain("local");
  node.set_op_type("attend");
  EXPECT_EQ(import_model(model).nodes.back().name, "/flex/flex/Reshape_4");
  node.mutable_input()->RemoveLast();
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "invalid_graph");
}

}  // namespace
}  // namespace sdip
