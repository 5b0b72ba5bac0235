// Branches, loops, scans and functions become the nodes they stand for, where what decides is known.
#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  return names;
}

const Shape& output_shape(const Graph& graph, std::size_t i = 0) {
  return graph.values[static_cast<std::size_t>(graph.outputs.at(i))].operand.shape;
}

onnx::NodeProto& add_to(onnx::GraphProto& graph, const std::string& type, const std::vector<std::string>& inputs,
                        const std::string& output) {
  auto* node = graph.add_node();
  node->set_op_type(type);
  node->set_name(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

onnx::GraphProto& subgraph(onnx::NodeProto& node, const std::string& name) {
  auto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::GRAPH);
  attribute->mutable_g()->set_name(name);
  return *attribute->mutable_g();
}

void add_scalar(onnx::ModelProto& model, const std::string& name, int type, std::int64_t value) {
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  if (type == 7) {
    tensor->add_int64_data(value);
  } else {
    tensor->add_int32_data(static_cast<std::int32_t>(value));
  }
}

/// y = x [4] doubled, or x joined to itself when it has more than `limit` elements.
onnx::ModelProto model_with_branches(std::int64_t limit) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_scalar(model, "limit", 7, limit);
  add_node(model, "Size", {"x"}, "size");
  add_node(model, "Greater", {"size", "limit"}, "large");
  auto& node = add_node(model, "If", {"large"}, "y", "/choose");
  auto& then_branch = subgraph(node, "then_branch");
  set_int(add_to(then_branch, "Concat", {"x", "x"}, "joined"), "axis", 0);
  then_branch.add_output()->set_name("joined");
  auto& else_branch = subgraph(node, "else_branch");
  add_to(else_branch, "Add", {"x", "x"}, "doubled");
  else_branch.add_output()->set_name("doubled");
  add_output(model, "y");
  return model;
}

TEST(branches, are_taken_as_the_values_of_shape_chains_say) {
  const Graph joined = import_model(model_with_branches(3)), doubled = import_model(model_with_branches(4));
  EXPECT_EQ(names_of(joined), std::vector<std::string>{"/choose/then/Concat"});
  EXPECT_EQ(output_shape(joined), Shape{8});
  EXPECT_EQ(names_of(doubled), std::vector<std::string>{"/choose/else/Add"});
  EXPECT_EQ(joined.values[static_cast<std::size_t>(joined.outputs[0])].name, "y");
  EXPECT_EQ(joined.imported.branches, 1);
  EXPECT_EQ(joined.imported.folded_nodes, 2);  // Size, Greater
}

TEST(branches, that_depend_on_an_input_are_an_error_until_its_value_is_given) {
  onnx::ModelProto model = model_with_branches(3);
  add_input(model, "large_too", {}, 9);
  model.mutable_graph()->mutable_node(2)->set_input(0, "large_too");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "input_needed");
  EXPECT_EQ(error.where, "model: large_too");
  EXPECT_TRUE(mentions(error, "/choose") && mentions(error, "large_too")) << error.what();
  ImportOptions options;
  options.values["large_too"] = {ElementType::boolean, {}, {1}, {}};
  const Graph graph = import_model(model, options);
  EXPECT_EQ(output_shape(graph), Shape{8});
  EXPECT_EQ(graph.inputs.size(), 1u);
}

TEST(branches, not_taken_may_hold_operators_that_are_not_known) {
  onnx::ModelProto model = model_with_branches(4);
  model.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type("Frob");
  EXPECT_EQ(import_model(model).nodes.size(), 1u);
  onnx::ModelProto taken = model_with_branches(3);
  taken.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_op_type("Frob");
  EXPECT_EQ(error_of(taken.SerializeAsString()).code, "unknown_operator");
}

/// Each iteration: a = a + b, and a is stacked; goes on while i < last.
onnx::ModelProto model_with_loop(const std::string& trips, std::int64_t last) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 3});
  add_input(model, "b", {2, 3});
  add_scalar(model, "three", 7, 3);
  add_scalar(model, "yes", 9, 1);
  add_scalar(model, "last", 7, last);
  auto& node = add_node(model, "Loop", {trips, "yes", "x"}, "y", "/loop");
  node.add_output("stack");
  auto& body = subgraph(node, "body");
  for (const char* name : {"i", "go", "a"}) body.add_input()->set_name(name);
  add_to(body, "Add", {"a", "b"}, "next");
  add_to(body, "Less", {"i", "last"}, "go_on");
  for (const char* name : {"go_on", "next", "next"}) body.add_output()->set_name(name);
  add_output(model, "y");
  add_output(model, "stack");
  return model;
}

TEST(loops, are_unrolled_and_their_scan_outputs_stacked) {
  const Graph graph = import_model(model_with_loop("three", 100));
  EXPECT_EQ(names_of(graph),
            (std::vector<std::string>{"/loop/iteration_0/Add", "/loop/iteration_1/Add", "/loop/iteration_2/Add",
                                      "/loop/stack_0/Unsqueeze_0", "/loop/stack_0/Unsqueeze_1",
                                      "/loop/stack_0/Unsqueeze_2", "/loop/stack_0/Concat"}));
  EXPECT_EQ(output_shape(graph, 0), (Shape{2, 3}));
  EXPECT_EQ(output_shape(graph, 1), (Shape{3, 2, 3}));
  EXPECT_EQ(graph.imported.loop_iterations, 3);
}

TEST(loops, end_when_their_condition_is_known_to_be_false) {
  EXPECT_EQ(import_model(model_with_loop("", 1)).imported.loop_iterations, 2);       // i = 1: not below 1
  EXPECT_EQ(import_model(model_with_loop("three", 0)).imported.loop_iterations, 1);  // whichever comes first
}

TEST(loops, that_never_end_or_that_cannot_be_decided_are_refused) {
  ImportOptions few;
  few.most_nodes = 1000;
  const Error endless = error_of(model_with_loop("", std::int64_t{1} << 60).SerializeAsString(), few);
  EXPECT_EQ(endless.code, "limit_exceeded");
  EXPECT_TRUE(mentions(endless, "/loop")) << endless.what();
  onnx::ModelProto unknown = model_with_loop("n", 9);
  add_input(unknown, "n", {}, 7);
  const Error undecided = error_of(unknown.SerializeAsString());
  EXPECT_EQ(undecided.code, "input_needed");
  EXPECT_TRUE(mentions(undecided, "'n'")) << undecided.what();
  ImportOptions options;
  options.values["n"] = {ElementType::int64, {}, {2}, {}};
  EXPECT_EQ(import_model(unknown, options).imported.loop_iterations, 2);
}

TEST(loops, without_iterations_stack_nothing_of_the_declared_shape) {
  onnx::ModelProto model = model_with_loop("none", 9);
  add_scalar(model, "none", 7, 0);
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "shape_unknown");
  auto* body = model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto* type = body->mutable_output(2)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  for (std::int64_t size : {2, 3}) type->mutable_shape()->add_dim()->set_dim_value(size);
  EXPECT_EQ(output_shape(import_model(model), 1), (Shape{0, 2, 3}));
}

/// Sums of x [4, steps] along its second axis, and all partial ones.
onnx::ModelProto model_with_scan(std::int64_t steps) {
  onnx::ModelProto model = empty_model();
  add_input(model, "sum", {4});
  add_input(model, "x", {4, steps});
  auto& node = add_node(model, "Scan", {"sum", "x"}, "last", "/scan");
  node.add_output("all");
  set_int(node, "num_scan_inputs", 1);
  set_ints(node, "scan_input_axes", {1});
  set_ints(node, "scan_output_axes", {-1});
  auto& body = subgraph(node, "body");
  for (const char* name : {"s", "slice"}) body.add_input()->set_name(name);
  add_to(body, "Add", {"s", "slice"}, "t");
  for (const char* name : {"t", "t"}) body.add_output()->set_name(name);
  add_output(model, "last");
  add_output(model, "all");
  return model;
}

TEST(scans, of_nothing_leave_their_states_and_stack_nothing) {
  const Graph graph = import_model(model_with_scan(0));
  EXPECT_EQ(graph.outputs[0], graph.inputs[0]);
  EXPECT_EQ(output_shape(graph, 1), (Shape{4, 0}));
  EXPECT_TRUE(graph.nodes.empty());
}

TEST(scans, slice_their_inputs_and_stack_their_results) {
  const Graph graph = import_model(model_with_scan(3));
  EXPECT_EQ(output_shape(graph, 0), Shape{4});
  EXPECT_EQ(output_shape(graph, 1), (Shape{4, 3}));
  EXPECT_EQ(graph.imported.loop_iterations, 3);
  EXPECT_EQ(facts_of(graph).operator_counts.at("Gather"), 3);
}

onnx::FunctionProto& add_function(onnx::ModelProto& model, const std::string& name,
                                  const std::vector<std::string>& inputs, const std::string& output,
                                  std::int64_t opset) {
  auto* function = model.add_functions();
  function->set_domain("local");
  function->set_name(name);
  for (const std::string& input : inputs) function->add_input(input);
  function->add_output(output);
  function->add_opset_import()->set_version(opset);
  return *function;
}

onnx::NodeProto& add_to(onnx::FunctionProto& function, const std::string& type,
                        const std::vector<std::string>& inputs, const std::string& output) {
  auto* node = function.add_node();
  node->set_op_type(type);
  node->set_name(type);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return *node;
}

/// outer(a) = inner(a) + a; inner(a; axis = 1) = softmax of a along axis, which it refers to.
onnx::ModelProto model_with_functions() {
  onnx::ModelProto model = empty_model();
  model.add_opset_import()->set_domain("local");
  model.mutable_opset_import(1)->set_version(1);
  add_input(model, "x", {2, 3});
  auto& inner = add_function(model, "inner", {"a", "absent"}, "b", 13);
  inner.add_attribute("axis");
  auto* axis = add_to(inner, "Softmax", {"a"}, "b").add_attribute();
  axis->set_name("axis");
  axis->set_ref_attr_name("dim");
  axis->set_type(onnx::AttributeProto::INT);
  inner.add_attribute("dim");
  auto& outer = add_function(model, "outer", {"a"}, "c", 13);
  outer.add_opset_import()->set_domain("local");
  auto& call = add_to(outer, "inner", {"a"}, "b");
  call.set_domain("local");
  set_int(call, "dim", 0);
  add_to(outer, "Add", {"b", "a"}, "c");
  add_node(model, "outer", {"x"}, "y", "/call").set_domain("local");
  add_output(model, "y");
  return model;
}

TEST(functions, are_inlined_with_the_attributes_of_the_call_and_opsets_of_their_own) {
  const Graph graph = import_model(model_with_functions());
  EXPECT_EQ(names_of(graph), (std::vector<std::string>{"/call/inner/Softmax", "/call/Add"}));
  EXPECT_EQ(std::get<std::int64_t>(graph.nodes[0].attributes.at("axis")), 0);
  EXPECT_EQ(graph.nodes[0].opset, 13);
  EXPECT_EQ(graph.opset, 17);
  EXPECT_EQ(graph.imported.functions, 2);
}

TEST(functions, give_their_nodes_names_of_their_own) {
  onnx::ModelProto model = model_with_functions();
  add_to(*model.mutable_functions(1), "Add", {"b", "b"}, "d");
  model.mutable_functions(1)->set_output(0, "d");
  add_node(model, "outer", {"y"}, "z", "/call").set_domain("local");
  add_output(model, "z");
  std::vector<std::string> names = names_of(import_model(model));
  EXPECT_EQ(names, (std::vector<std::string>{"/call/inner/Softmax", "/call/Add#2", "/call#2/inner/Softmax",
                                             "/call#2/Add#2"}));  // both first ones reach no output
}

TEST(functions, that_call_themselves_are_refused) {
  onnx::ModelProto model = model_with_functions();
  auto& call = add_to(*model.mutable_functions(0), "outer", {"a"}, "loop");
  call.set_domain("local");
  model.mutable_functions(0)->add_opset_import()->set_domain("local");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "invalid_graph");
  EXPECT_TRUE(mentions(error, "calls itself")) << error.what();
}

TEST(functions, whose_inputs_or_outputs_have_no_name_are_refused) {
  for (const bool output : {true, false}) {
    onnx::ModelProto model = model_with_functions();
    (output ? model.mutable_functions(1)->add_output() : model.mutable_functions(1)->add_input())->clear();
    const Error error = error_of(model.SerializeAsString());
    EXPECT_EQ(error.code, "invalid_graph");
    EXPECT_TRUE(mentions(error, "has no name")) << error.what();
  }
}

TEST(functions, that_double_at_each_level_stop_at_the_limit) {
  onnx::ModelProto model = model_with_functions();
  for (int level = 0; level < 30; ++level) {
    auto& function = add_function(model, "f" + std::to_string(level), {"a"}, "c", 13);
    function.add_opset_import()->set_domain("local");
    const std::string next = level == 29 ? "inner" : "f" + std::to_string(level + 1);
    add_to(function, next, {"a"}, "b").set_domain("local");
    add_to(function, next, {"b"}, "c").set_domain("local");
  }
  model.mutable_graph()->mutable_node(0)->set_op_type("f0");
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "limit_exceeded");
}

TEST(functions, do_not_see_values_outside_them) {
  onnx::ModelProto model = model_with_functions();
  add_to(*model.mutable_functions(1), "Relu", {"x"}, "d");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "invalid_graph");
  EXPECT_TRUE(mentions(error, "'x'")) << error.what();
}

TEST(functions, are_told_apart_by_their_overload) {
  onnx::ModelProto model = model_with_functions();
  // overload is field 13 of a function, 8 of a node: newer than the messages of this build.
  auto& other = add_function(model, "outer", {"a"}, "c", 13);
  other.GetReflection()->MutableUnknownFields(&other)->AddLengthDelimited(13, "abs");
  add_to(other, "Abs", {"a"}, "c");
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.GetReflection()->MutableUnknownFields(&node)->AddLengthDelimited(8, "abs");
  EXPECT_EQ(names_of(import_model(model)), std::vector<std::string>{"/call/Abs"});
}

}  // namespace
}  // namespace sdip
