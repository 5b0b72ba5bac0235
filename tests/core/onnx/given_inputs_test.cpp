// Inputs that are given as text, first dimensions that are 1, and what is said of inputs that are needed.
#include <gtest/gtest.h>

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

void name_dimension(onnx::ModelProto& model, int input, int axis, const std::string& name) {
  model.mutable_graph()
      ->mutable_input(input)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(axis)
      ->set_dim_param(name);
}

Shape output_shape_of(const Graph& graph) {
  return graph.values[static_cast<std::size_t>(graph.outputs[0])].operand.shape;
}

TEST(given_inputs, a_text_becomes_a_constant_of_the_inputs_type_and_binds_its_dimensions) {
  onnx::ModelProto model = empty_model();
  add_input(model, "shape", {2}, 7);
  add_input(model, "x", {6});
  name_dimension(model, 0, 0, "rank");
  add_node(model, "Reshape", {"x", "shape"}, "y");
  add_output(model, "y");
  const std::string bytes = model.SerializeAsString();
  ImportOptions options;
  options.given["shape"] = "[3,2]";
  const Graph graph = import_bytes(bytes, options);
  EXPECT_EQ(output_shape_of(graph), (Shape{3, 2}));
  EXPECT_EQ(graph.inputs.size(), 1U);
  const auto refused = [&](const std::string& name, const std::string& text) {
    ImportOptions other;
    other.given[name] = text;
    return error_of(bytes, other);
  };
  EXPECT_EQ(refused("shape", "[[3,2]]").code, "shape_mismatch");
  EXPECT_EQ(refused("shape", "[3.5,2]").code, "value_invalid");
  EXPECT_EQ(refused("shapes", "[3,2]").code, "unknown_input");
  EXPECT_TRUE(mentions(refused("shapes", "[3,2]"), "the inputs are: shape, x"));
  options.dims["rank"] = 3;
  EXPECT_EQ(error_of(bytes, options).code, "value_conflict");
  options.dims.clear();
  options.values["shape"] = {ElementType::int64, {2}, {3, 2}, {}};
  EXPECT_EQ(error_of(bytes, options).code, "value_conflict");
}

TEST(given_inputs, a_shape_that_depends_on_an_input_names_it) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {6});
  add_input(model, "wanted", {2}, 7);
  add_ints(model, "one", {1});
  add_node(model, "Mul", {"wanted", "one"}, "shape");
  add_node(model, "Reshape", {"x", "shape"}, "y");
  add_output(model, "y");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "input_needed");
  EXPECT_EQ(error.where, "model: wanted");
  EXPECT_TRUE(mentions(error, "depends on the input 'wanted' int64[2]: give it a value")) << error.what();
}

TEST(given_inputs, what_depends_on_data_alone_is_no_input_to_be_given) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 2048});
  add_node(model, "NonZero", {"x"}, "y");
  add_output(model, "y");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "shape_unknown");
  EXPECT_TRUE(mentions(error, "the data of the input 'x' float32[1,2048]")) << error.what();
}

TEST(first_dimensions, are_1_where_they_stand_first_alone) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 3});
  add_input(model, "t", {2});
  name_dimension(model, 0, 0, "N");
  name_dimension(model, 1, 0, "N");
  add_node(model, "Relu", {"x"}, "y");
  add_output(model, "y");
  EXPECT_EQ(output_shape_of(import_model(model)), (Shape{1, 3}));
  ImportOptions options;
  options.dims["N"] = 4;
  EXPECT_EQ(output_shape_of(import_model(model, options)), (Shape{4, 3}));
  name_dimension(model, 0, 1, "L");
  name_dimension(model, 1, 0, "L");  // positions: a length, and no batch
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "unbound_dimension");
  EXPECT_TRUE(mentions(error, "have no size: L")) << error.what();
}

}  // namespace
}  // namespace sdip
