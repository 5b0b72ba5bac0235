// Models that use operators of files.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/graph/serial.h"
#include "core/onnx/survey.h"
#include "core/ops/custom.h"
#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

const char* const silu = R"({"operators": [{"domain": "com.example", "type": "Silu", "inputs": ["x"],
  "outputs": [{"name": "y", "type": "x", "shape": ["...x.shape"]}],
  "work": {"family": "vector", "row_length": "y.size", "read_elements": ["x.size"], "write_elements": "y.size"}}]})";

std::string model_with_silu() {
  auto model = empty_model();
  auto* import = model.add_opset_import();
  import->set_domain("com.example");
  import->set_version(1);
  add_input(model, "x", {2, 320, 64, 64});
  add_node(model, "Silu", {"x"}, "y").set_domain("com.example");
  add_node(model, "Relu", {"y"}, "z");
  add_output(model, "z");
  return model.SerializeAsString();
}

ImportOptions with_silu() {
  ImportOptions options;
  options.own_operators = own_operators({nlohmann::json::parse(silu)}, {"silu.json"});
  return options;
}

TEST(own_operators, an_unknown_operator_is_an_error_until_a_file_defines_it) {
  EXPECT_EQ(error_of(model_with_silu()).code, "unknown_operator");
  Graph graph = import_bytes(model_with_silu(), with_silu());
  ASSERT_EQ(graph.nodes.size(), 2U);
  EXPECT_EQ(graph.nodes[0].op->domain, "com.example");
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.nodes[0].outputs[0])].operand.shape,
            (Shape{2, 320, 64, 64}));
  rewrite(graph);
  EXPECT_EQ(work_of(graph, graph.nodes[0]).write_elements, 2 * 320 * 64 * 64);
}

TEST(own_operators, a_survey_knows_them_too) {
  const std::string bytes = model_with_silu();
  const auto why = [&](const ImportOptions& options) {
    const ModelSurvey survey = survey_onnx(std::as_bytes(std::span(bytes)), options);
    EXPECT_EQ(survey.operators.at(1).type, "Silu");
    return survey.operators.at(1).unsupported;
  };
  EXPECT_EQ(why({}), "not known here");
  EXPECT_EQ(why(with_silu()), "");
}

TEST(own_operators, the_graph_keeps_the_definitions_alive) {
  const Graph graph = import_bytes(model_with_silu(), with_silu());  // the options are gone
  EXPECT_EQ(graph.nodes[0].op->type, "Silu");
  EXPECT_EQ(facts_of(graph).operator_counts.at("Silu"), 1);
}

TEST(own_operators, a_graph_with_them_is_the_same_after_a_round_trip_and_refused_without) {
  const ImportOptions options = with_silu();
  const std::string bytes = to_bytes(import_bytes(model_with_silu(), options));
  EXPECT_EQ(to_bytes(graph_of_bytes(std::as_bytes(std::span(bytes)), options.own_operators)), bytes);
  EXPECT_THROW(graph_of_bytes(std::as_bytes(std::span(bytes))), Error);
}

TEST(own_operators, their_values_cannot_be_computed) {
  const Graph graph = import_bytes(model_with_silu(), with_silu());
  const Tensor x = zero_tensor(ElementType::float32, {2, 320, 64, 64});
  try {
    compute(graph, std::span(&x, 1), [](const Value&) { return std::nullopt; });
    ADD_FAILURE() << "computed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "not_computable");
  }
}

}  // namespace
}  // namespace sdip
