// What a model's file says of itself, also of one that cannot be imported; and what is refused, all at once.
#include "core/onnx/survey.h"

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

/// x [batch,4,8,x[3]] -> Conv, two Frobs, Gelu of opset 17, an If with a Relu in it.
onnx::ModelProto strange_model() {
  onnx::ModelProto model = empty_model();
  model.set_producer_name("by hand");
  add_input(model, "x", {1, 4, 8, 8});
  auto* shape = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch");
  shape->mutable_dim(3)->clear_value();
  add_weight(model, "w", {8, 4, 3, 3});
  add_node(model, "Conv", {"x", "w"}, "c");
  add_node(model, "Frob", {"c"}, "d", "/first");
  add_node(model, "Frob", {"d"}, "e", "/second");
  add_node(model, "Silu", {"e"}, "f").set_domain("com.example");
  auto* attribute = add_node(model, "If", {"f"}, "y").add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  auto* node = attribute->mutable_g()->add_node();
  node->set_op_type("Relu");
  node->add_input("x");
  node->add_output("z");
  add_output(model, "y");
  return model;
}

ModelSurvey survey_of(const onnx::ModelProto& model) {
  const std::string bytes = model.SerializeAsString();
  return survey_onnx(std::as_bytes(std::span(bytes)));
}

TEST(survey, of_a_model_that_cannot_be_imported) {
  const ModelSurvey survey = survey_of(strange_model());
  EXPECT_EQ(survey.ir_version, 8);
  EXPECT_EQ(survey.opset, 17);
  EXPECT_EQ(survey.producer, "by hand");
  EXPECT_EQ(survey.nodes, 6);
  EXPECT_EQ(survey.subgraphs, 1);
  EXPECT_EQ(survey.initializers, 1);
  ASSERT_EQ(survey.inputs.size(), 1u);
  EXPECT_EQ(survey.inputs[0].dims, (std::vector<std::string>{"batch", "4", "8", "x[3]"}));
  EXPECT_EQ(survey.free_dimensions, (std::vector<std::string>{"batch", "x[3]"}));
  std::map<std::string, const SurveyedOperator*> found;
  for (const SurveyedOperator& row : survey.operators) found[row.type] = &row;
  EXPECT_EQ(found.size(), 5u);
  EXPECT_EQ(found.at("Frob")->nodes, 2);
  EXPECT_EQ(found.at("Frob")->first_node, "/first");
  EXPECT_EQ(found.at("Frob")->unsupported, "not known here");
  EXPECT_EQ(found.at("Silu")->unsupported, "domain 'com.example' is not imported");
  for (const char* type : {"Conv", "If", "Relu"}) EXPECT_EQ(found.at(type)->unsupported, "") << type;
}

TEST(survey, counts_functions_and_their_calls) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  auto* function = model.add_functions();
  function->set_domain("local");
  function->set_name("twice");
  function->add_opset_import()->set_version(17);
  auto* node = function->add_node();
  node->set_op_type("Add");
  add_node(model, "twice", {"x"}, "y").set_domain("local");
  add_node(model, "twice", {"y"}, "z").set_domain("local");
  const ModelSurvey survey = survey_of(model);
  ASSERT_EQ(survey.functions.size(), 1u);
  EXPECT_EQ(survey.functions[0].calls, 2);
  EXPECT_EQ(survey.functions[0].nodes, 1);
  EXPECT_EQ(survey.operators.size(), 1u);
}

TEST(survey, lists_files_of_external_data_and_opens_none) {
  onnx::ModelProto model = strange_model();
  auto* tensor = model.mutable_graph()->mutable_initializer(0);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = tensor->add_external_data();
  entry->set_key("location");
  entry->set_value("/etc/passwd");
  EXPECT_EQ(survey_of(model).external_files, std::vector<std::string>{"/etc/passwd"});
}

TEST(survey, of_a_model_that_imports_finds_nothing_unsupported) {
  SDIP_SHARED_MODEL(bytes, std::string("exports/diffusers0214_sd15_unet_op14_dyn_b2.onnx"));
  const ModelSurvey survey = survey_onnx(std::as_bytes(std::span(bytes)));
  for (const SurveyedOperator& row : survey.operators) EXPECT_EQ(row.unsupported, "") << row.type;
  EXPECT_EQ(survey.free_dimensions, (std::vector<std::string>{"batch", "channels", "height", "width", "sequence"}));
}

TEST(refusal, lists_every_operator_and_every_dimension_at_once) {
  onnx::ModelProto model = strange_model();
  model.mutable_graph()->mutable_node(3)->clear_domain();
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "unknown_operator");
  const std::string what = error.what();
  for (const char* part :
       {"Frob (not known here; 2 nodes, first '/first')", "Silu (not known here; 1 node", "have no size: x[3]"}) {
    EXPECT_NE(what.find(part), std::string::npos) << part << " in: " << what;
  }
}

TEST(given_values, must_fit_an_input) {
  onnx::ModelProto model = empty_model();
  add_input(model, "shape", {2}, 7);
  add_input(model, "x", {6});
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_param("rank");
  add_node(model, "Reshape", {"x", "shape"}, "y");
  add_output(model, "y");
  ImportOptions options;
  options.values["shape"] = {ElementType::int64, {2}, {3, 2}, {}};
  const Graph graph = import_model(model, options);
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs[0])].operand.shape, (Shape{3, 2}));
  const auto refused = [&](const std::string& name, const Tensor& value) {
    ImportOptions other;
    other.values[name] = value;
    return error_of(model.SerializeAsString(), other).code;
  };
  EXPECT_EQ(refused("shape", {ElementType::int32, {2}, {3, 2}, {}}), "shape_mismatch");
  EXPECT_EQ(refused("shape", {ElementType::int64, {1, 2}, {3, 2}, {}}), "shape_mismatch");
  EXPECT_EQ(refused("shape", {ElementType::int64, {2}, {3}, {}}), "shape_mismatch");
  EXPECT_EQ(refused("shapes", {ElementType::int64, {2}, {3, 2}, {}}), "unknown_input");
  options.dims["rank"] = 3;
  EXPECT_EQ(error_of(model.SerializeAsString(), options).code, "value_conflict");
}

}  // namespace
}  // namespace sdip
