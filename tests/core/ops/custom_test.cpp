// Operators that files define: what their fields mean, and every way in which they are refused.
#include "core/ops/custom.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/core/ops/use_of.h"

namespace sdip {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// The worked example of docs/formats.md.
const char* const silu_definition = R"json({"operators": [{
  "domain": "com.example", "type": "Silu",
  "inputs": ["x"],
  "outputs": [{"name": "y", "type": "x", "shape": ["...x.shape"]}],
  "work": {"family": "vector", "row_length": "y.size", "read_elements": ["x.size"],
           "write_elements": "y.size", "element_cycles": 2}}]})json";

const char* const heads_definition = R"json({"operators": [{
  "domain": "com.example", "type": "HeadSoftmax", "mnemonic": "hsoftmax",
  "inputs": ["x", "mask"], "least_inputs": 1,
  "attributes": {"heads": {"type": "int"}, "keep": {"type": "ints", "default": [1, 2]}},
  "outputs": [{"name": "y", "type": "float16",
               "shape": ["x.shape[0]", "heads", "...x.shape[1:-1]", "ceil_div(x.shape[-1], heads)", "...keep[:1]"]}],
  "work": {"family": "softmax", "rows": "product(y.shape[:-1])", "row_length": "y.shape[-1]", "passes": 3,
           "read_elements": ["3 * x.size", "mask.size"], "write_elements": "y.size"}}]})json";

const char* const product_definition = R"json({"operators": [{
  "domain": "com.example", "type": "Project", "inputs": ["a", "b"],
  "outputs": [{"name": "y", "type": "a", "shape": ["a.shape[0]", "b.shape[1]"]}],
  "work": {"family": "linear", "nest": {"out_h": "a.shape[0]", "in_h": "a.shape[0]", "in_channels": "a.shape[1]",
                                        "out_channels": "b.shape[1]"}}}]})json";

std::shared_ptr<const OwnOperators> own(const std::string& text) {
  return own_operators({json::parse(text)}, {"f.json"});
}

struct Made {
  Operand output;
  Work work;
};
Made use_own(const std::string& text, std::vector<Operand> operands, const Attributes& attributes = {}) {
  const auto list = own(text);
  const Operator& op = list->list.at(0)->row;
  std::vector<const Operand*> inputs;
  for (const Operand& operand : operands) inputs.push_back(&operand);
  OperatorUse use{"n", op.type, 1, &attributes, inputs, 1, &op};
  const auto outputs = infer_use(op, use);
  return {outputs.at(0), op.work(use, outputs)};
}

std::string refusal(const std::string& text) {
  try {
    own(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "operator_invalid");
    return error.where + ": " + error.what();
  }
  return "no error";
}

/// The first definition of `text` with a field changed; a JSON pointer names it.
std::string changed(const char* text, const char* pointer, const json& value) {
  json file = json::parse(text);
  file["operators"][0][json::json_pointer(pointer)] = value;
  return file.dump();
}

TEST(custom, a_file_defines_silu_as_the_documentation_shows) {
  const Made made = use_own(silu_definition, {floats({2, 320, 64, 64})});
  EXPECT_EQ(made.output.shape, (Shape{2, 320, 64, 64}));
  EXPECT_EQ(made.output.type, ElementType::float32);
  EXPECT_EQ(made.work.family, Family::vector);
  EXPECT_EQ(made.work.row_length, 2621440);
  EXPECT_EQ(made.work.read_elements, (Ints{2621440}));
  EXPECT_EQ(made.work.write_elements, 2621440);
  EXPECT_EQ(made.work.element_cycles, 2);
  EXPECT_EQ(find_operator(own(silu_definition).get(), "com.example", "Silu") == nullptr, false);
  EXPECT_EQ(find_operator(nullptr, "com.example", "Silu"), nullptr);
}

TEST(custom, shapes_may_use_slices_attributes_and_optional_inputs) {
  const Made made = use_own(heads_definition, {floats({2, 7, 5, 65})}, {{"heads", std::int64_t{8}}});
  EXPECT_EQ(made.output.shape, (Shape{2, 8, 7, 5, 9, 1}));
  EXPECT_EQ(made.output.type, ElementType::float16);
  EXPECT_EQ(made.work.rows, 2 * 8 * 7 * 5 * 9);
  EXPECT_EQ(made.work.passes, 3);
  EXPECT_EQ(made.work.read_elements, (Ints{3 * 2 * 7 * 5 * 65}));
  const Made masked =
      use_own(heads_definition, {floats({2, 7, 5, 65}), floats({65})}, {{"heads", std::int64_t{8}}});
  EXPECT_EQ(masked.work.read_elements, (Ints{3 * 2 * 7 * 5 * 65, 65}));
}

TEST(custom, a_product_is_its_loop_nest) {
  const Made made = use_own(product_definition, {floats({77, 320}), weight({320, 640})});
  EXPECT_EQ(made.output.shape, (Shape{77, 640}));
  EXPECT_EQ(mac_count(made.work.nest), 77 * 320 * 640);
  EXPECT_THROW(use_own(product_definition, {floats({77, 320}), weight({321, 640})}), Error)
      << "the nest is not over its operands";
  EXPECT_THROW(
      use_own(changed(product_definition, "/work/nest/kernel_h", 3), {floats({77, 320}), weight({320, 640})}),
      Error);
}

TEST(custom, what_a_use_cannot_mean_is_an_error_of_the_node) {
  const auto code = [](const std::string& text, std::vector<Operand> operands, const Attributes& attributes = {}) {
    try {
      use_own(text, std::move(operands), attributes);
    } catch (const Error& error) {
      EXPECT_EQ(error.where, "n");
      return error.code;
    }
    return std::string("no error");
  };
  EXPECT_EQ(code(heads_definition, {floats({2, 7, 5, 65})}), "unsupported_attribute")
      << "a required attribute is absent";
  EXPECT_EQ(code(heads_definition, {floats({2, 7, 5, 65})}, {{"heads", 8.0}}), "unsupported_attribute");
  EXPECT_EQ(code(heads_definition, {floats({2, 7, 5, 65})}, {{"heads", std::int64_t{0}}}), "shape_mismatch")
      << "division by 0";
  EXPECT_EQ(code(heads_definition, {floats({2, 7, 5, 65})}, {{"heads", std::int64_t{-8}}}), "shape_mismatch");
  EXPECT_EQ(code(heads_definition, {floats({2})}, {{"heads", std::int64_t{8}}, {"other", std::int64_t{8}}}),
            "unsupported_attribute");
  EXPECT_EQ(code(silu_definition, {}), "invalid_graph");
  EXPECT_EQ(code(changed(silu_definition, "/outputs/0/shape", json::array({"x.shape[3]"})), {floats({2})}),
            "shape_mismatch");
  EXPECT_EQ(code(changed(silu_definition, "/outputs/0/shape", json::array({"x.size * x.size * 1000000000000"})),
                 {floats({99999})}),
            "shape_mismatch");
  EXPECT_EQ(
      code(changed(silu_definition, "/outputs/0/shape", json::array({"x.size * 10000000"})), {floats({1 << 30})}),
      "model_too_large");
  EXPECT_EQ(code(changed(silu_definition, "/work/row_length", 0), {floats({2})}), "shape_mismatch");
  EXPECT_EQ(code(changed(silu_definition, "/work/element_cycles", 5000), {floats({2})}), "shape_mismatch");
  EXPECT_EQ(code(changed(silu_definition, "/work/passes", 0), {floats({2})}), "shape_mismatch");
}

TEST(custom, arithmetic_rounds_division_down_and_keeps_precedence) {
  const auto value = [](const char* expression) {
    return use_own(changed(silu_definition, "/outputs/0/shape", json::array({expression})), {floats({7, 2})})
        .output.shape.at(0);
  };
  EXPECT_EQ(value("2 + 3 * 4 - 1"), 13);
  EXPECT_EQ(value("(2 + 3) * 4"), 20);
  EXPECT_EQ(value("0 - (-7 / 2)"), 4);
  EXPECT_EQ(value("ceil_div(7, 2) + min(3, 9) + max(3, 9)"), 16);
  EXPECT_EQ(value("0 - ceil_div(-7, 2)"), 3);
  EXPECT_EQ(value("x.rank * 10 + x.shape[-2]"), 27);
  EXPECT_EQ(value("product(x.shape) + product(x.shape[5:]) + x.given"), 16);
}

TEST(custom, a_wrong_expression_is_refused_with_file_field_and_position) {
  const auto refused = [](const char* expression) {
    return refusal(changed(silu_definition, "/outputs/0/shape", json::array({expression})));
  };
  EXPECT_THAT(refused("x.shape[0] + + 1"), HasSubstr("f.json#/operators/0/outputs/0/shape/0: "));
  EXPECT_THAT(refused("x.shape[0] + + 1"), HasSubstr("character 14: expected a name"));
  EXPECT_THAT(refused("z.size"), HasSubstr("'z' is no tensor, attribute or function"));
  EXPECT_THAT(refused("y.size"), HasSubstr("'y' is no tensor")) << "the output's own size is not known yet";
  EXPECT_THAT(refused("pow(2, 3)"), HasSubstr("no function 'pow'"));
  EXPECT_THAT(refused("9223372036854775808"), HasSubstr("above 2^63"));
  EXPECT_THAT(refused("1 2"), HasSubstr("expected an operator or the end"));
  EXPECT_THAT(refused("x.colour"), HasSubstr("expected shape, rank, size or given"));
  EXPECT_THAT(refused(std::string(300, '1').c_str()), HasSubstr("longer than 256"));
  EXPECT_THAT(refused((std::string(100, '(') + "1" + std::string(100, ')')).c_str()), HasSubstr("nested too deep"));
  EXPECT_THAT(refused("...x"), HasSubstr("expected .shape"));
  EXPECT_THAT(refused(""), HasSubstr("expected a name"));
}

TEST(custom, a_wrong_file_is_refused_with_its_field) {
  EXPECT_THAT(refusal(changed(silu_definition, "/colour", 1)), HasSubstr("/operators/0/colour: no such field"));
  EXPECT_THAT(refusal(changed(silu_definition, "/domain", "")), HasSubstr("no error"))
      << "a type that ONNX may have one day";
  EXPECT_THAT(refusal(changed(silu_definition, "/domain", "sdip")), HasSubstr("kept for what rewrites make"));
  EXPECT_THAT(refusal(changed(silu_definition, "/type", "=cmd|x")), HasSubstr("/type: expected a name"));
  EXPECT_THAT(refusal(changed(silu_definition, "/inputs", json::array())), HasSubstr("/inputs: expected 1 to 16"));
  EXPECT_THAT(refusal(changed(silu_definition, "/inputs/0", "float32")), HasSubstr("is taken"));
  EXPECT_THAT(refusal(changed(silu_definition, "/least_inputs", 2)), HasSubstr("expected 1 to 1"));
  EXPECT_THAT(refusal(changed(silu_definition, "/outputs/0/type", "float33")),
              HasSubstr("expected an element type"));
  EXPECT_THAT(refusal(changed(silu_definition, "/outputs/1", json::object())), HasSubstr("an array of one output"));
  EXPECT_THAT(refusal(changed(silu_definition, "/work/family", "view")),
              HasSubstr("/work/family: expected vector"));
  EXPECT_THAT(refusal(changed(silu_definition, "/work/nest", json::object())),
              HasSubstr("/work/nest: no such field"));
  EXPECT_THAT(refusal(changed(silu_definition, "/work/read_elements", json::array())),
              HasSubstr("one expression for each input"));
  EXPECT_THAT(refusal(changed(product_definition, "/work/nest/depth", 1)),
              HasSubstr("no such field of a loop nest"));
  EXPECT_THAT(refusal(changed(heads_definition, "/attributes/heads/type", "tensor")),
              HasSubstr("expected int, float"));
  EXPECT_THAT(refusal(changed(heads_definition, "/attributes/heads/default", "8")),
              HasSubstr("a value of kind int"));
  EXPECT_THAT(refusal("[]"), HasSubstr("expected a JSON object"));
}

TEST(custom, a_built_in_operator_cannot_be_defined_again_nor_one_twice) {
  json file = json::parse(silu_definition);
  file["operators"][0]["domain"] = "ai.onnx";
  file["operators"][0]["type"] = "Relu";
  EXPECT_THAT(refusal(file.dump()), HasSubstr("'Relu' is built in"));
  json twice = json::parse(silu_definition);
  twice["operators"].push_back(twice["operators"][0]);
  EXPECT_THAT(refusal(twice.dump()), HasSubstr("defined twice"));
}

TEST(custom, the_kept_json_defines_the_same_again) {
  const auto first = own(heads_definition);
  const auto again = own_operators({json{{"operators", json::parse(first->json)}}}, {"again"});
  EXPECT_EQ(again->json, first->json);
}

}  // namespace
}  // namespace sdip
