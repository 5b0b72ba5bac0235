// Input made to hurt: each kind is refused with a stable code, saying what is wrong and where.
#include <functional>

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

/// x [1,4] -> Gemm with w [4,4] -> Relu -> y
onnx::ModelProto gemm_model() {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  add_weight(model, "w", {4, 4});
  set_int(add_node(model, "Gemm", {"x", "w"}, "c", "/gemm"), "transB", 1);
  add_node(model, "Relu", {"c"}, "y", "/relu");
  add_output(model, "y");
  return model;
}

using Change = std::function<void(onnx::ModelProto&)>;

void expect_refused(const char* code, const std::string& says, const Change& change) {
  onnx::ModelProto model = gemm_model();
  change(model);
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, code) << says;
  EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << "'" << says << "' in: " << error.what();
  EXPECT_EQ(error.where.rfind("model", 0), 0u) << error.where;
}

onnx::AttributeProto& first_attribute(onnx::ModelProto& model) {
  return *model.mutable_graph()->mutable_node(0)->mutable_attribute(0);
}
onnx::TensorProto& weight(onnx::ModelProto& model) { return *model.mutable_graph()->mutable_initializer(0); }

void add_external(onnx::TensorProto& tensor, const std::string& offset, const std::string& length) {
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] :
       {std::pair<std::string, std::string>{"location", "w.bin"}, {"offset", offset}, {"length", length}}) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

onnx::GraphProto& add_branch(onnx::ModelProto& model) {
  auto& node = add_node(model, "If", {"cond"}, "z", "/if");
  auto* attribute = node.add_attribute();
  attribute->set_name("then_branch");
  attribute->set_type(onnx::AttributeProto::GRAPH);
  return *attribute->mutable_g();
}

TEST(attributes, of_a_wrong_kind_or_twice) {
  expect_refused("invalid_graph", "attribute 'transB' is of kind 7",
                 [](auto& model) { first_attribute(model).set_type(onnx::AttributeProto::INTS); });
  expect_refused("invalid_graph", "transB", [](auto& model) { first_attribute(model).add_floats(1); });
  expect_refused("invalid_graph", "transB", [](auto& model) { first_attribute(model).clear_type(); });
  expect_refused("unsupported_attribute", "must be an integer", [](auto& model) {
    first_attribute(model).set_type(onnx::AttributeProto::STRING);
    first_attribute(model).clear_i();
  });
  expect_refused("invalid_graph", "stands twice", [](auto& model) {
    *model.mutable_graph()->mutable_node(0)->add_attribute() = first_attribute(model);
  });
  expect_refused("unsupported_attribute", "kind 5", [](auto& model) {  // a subgraph where none belongs
    first_attribute(model).clear_i();
    first_attribute(model).set_type(onnx::AttributeProto::GRAPH);
    first_attribute(model).mutable_g()->set_name("g");
  });
  expect_refused("invalid_graph", "no attribute of a function", [](auto& model) {
    first_attribute(model).clear_i();
    first_attribute(model).set_ref_attr_name("outer");
  });
}

TEST(limits, of_attributes_their_bytes_and_of_dimensions) {
  expect_refused("limit_exceeded", "attributes of one node", [](auto& model) {
    for (int i = 0; i < 100; ++i) *model.mutable_graph()->mutable_node(0)->add_attribute() = first_attribute(model);
  });
  expect_refused("limit_exceeded", "an attribute of more than",
                 [](auto& model) { first_attribute(model).set_s(std::string(2 << 20, 's')); });
  expect_refused("limit_exceeded", "dimensions", [](auto& model) {
    for (int i = 0; i < 100'000; ++i) weight(model).add_dims(1);
  });
  ImportOptions options;
  options.most_names = 5;
  EXPECT_EQ(error_of(gemm_model().SerializeAsString(), options).code, "limit_exceeded");
  options = {};
  options.most_messages = 5;
  EXPECT_EQ(error_of(gemm_model().SerializeAsString(), options).code, "limit_exceeded");
  options = {};
  options.most_structure_bytes = 20;
  EXPECT_EQ(error_of(gemm_model().SerializeAsString(), options).code, "limit_exceeded");
}

TEST(limits, of_constant_folding_in_all) {
  onnx::ModelProto model = gemm_model();
  for (int i = 0; i < 8; ++i) add_node(model, "Shape", {"x"}, "shape" + std::to_string(i));
  ImportOptions options;
  options.most_folded_elements_in_all = 16;  // 8 shapes of 2 sizes
  EXPECT_EQ(import_model(model, options).imported.folded_elements, 16);
  options.most_folded_elements_in_all = 15;
  EXPECT_EQ(error_of(model.SerializeAsString(), options).code, "limit_exceeded");
}

TEST(names, with_control_characters_or_twice) {
  for (const char* name : {"a\nb", "a\x7f", "\x1b[31mred"}) {
    expect_refused("invalid_graph", "control character",
                   [&](auto& model) { model.mutable_graph()->mutable_node(0)->set_name(name); });
  }
  expect_refused("invalid_graph", "'c', which is made elsewhere",
                 [](auto& model) { model.mutable_graph()->mutable_node(1)->set_output(0, "c"); });
  expect_refused("invalid_graph", "'x' is made twice", [](auto& model) { add_input(model, "x", {1}); });
  expect_refused("invalid_graph", "'w' is made twice", [](auto& model) { add_weight(model, "w", {1}); });
  expect_refused("invalid_graph", "has no name", [](auto& model) { weight(model).set_name(""); });
}

TEST(cycles, through_subgraphs) {
  expect_refused("graph_cycle", "/if", [](auto& model) {
    add_input(model, "cond", {}, 9);
    auto* node = add_branch(model).add_node();  // in the branch of the node that makes z
    node->set_op_type("Relu");
    node->add_input("z");
    node->add_output("inside");
  });
  expect_refused("graph_cycle", "needs its own result", [](auto& model) {
    add_input(model, "cond", {}, 9);
    auto& branch = add_branch(model);
    for (const auto& [name, from, to] : {std::tuple{"first", "b", "a"}, {"second", "a", "b"}}) {
      auto* node = branch.add_node();
      node->set_op_type("Relu");
      node->set_name(name);
      node->add_input(from);
      node->add_output(to);
    }
  });
}

TEST(undefined, in_a_subgraph_is_refused_whether_taken_or_not) {
  expect_refused("invalid_graph", "'nowhere' is used, but made by no node", [](auto& model) {
    add_input(model, "cond", {}, 9);
    auto* node = add_branch(model).add_node();
    node->set_op_type("Relu");
    node->add_input("nowhere");
    node->add_output("inside");
  });
}

TEST(tensors, whose_data_do_not_fit_their_shape) {
  expect_refused("invalid_graph", "data of another size", [](auto& model) { weight(model).set_raw_data("123"); });
  expect_refused("invalid_graph", "data of another size", [](auto& model) {  // too large to be kept
    weight(model).set_dims(0, 4096);
    weight(model).set_raw_data(std::string(4096 * 16 - 1, 'x'));
  });
  expect_refused("invalid_graph", "data of another size", [](auto& model) {
    weight(model).set_dims(0, 4096);
    for (int i = 0; i < 4 * 4096 - 1; ++i) weight(model).add_float_data(1);
  });
  expect_refused("invalid_graph", "in two fields", [](auto& model) {
    weight(model).set_raw_data(std::string(64, 'x'));
    weight(model).add_float_data(1);
  });
  expect_refused("invalid_graph", "element type 99", [](auto& model) { weight(model).set_data_type(99); });
  expect_refused("invalid_graph", "external data, and data in the model", [](auto& model) {
    weight(model).set_raw_data(std::string(64, 'x'));
    add_external(weight(model), "0", "64");
  });
}

TEST(external_data, with_negative_huge_or_overlapping_ranges) {
  for (const char* offset : {"-1", "1e3", "", "9223372036854775808", "9223372036854775807"}) {
    expect_refused("invalid_graph", "external data",
                   [&](auto& model) { add_external(weight(model), offset, "64"); });
  }
  expect_refused("invalid_graph", "but its shape needs 64",
                 [](auto& model) { add_external(weight(model), "0", "63"); });
  expect_refused("invalid_graph", "no location",
                 [](auto& model) { weight(model).set_data_location(onnx::TensorProto::EXTERNAL); });
  expect_refused("invalid_graph", "two of 'offset'", [](auto& model) {
    add_external(weight(model), "0", "64");
    *weight(model).add_external_data() = weight(model).external_data(1);
  });
  const auto two = [](const char* second) {
    return [=](onnx::ModelProto& model) {
      add_external(weight(model), "0", "64");
      add_external(add_weight(model, "v", {4, 4}), second, "64");
    };
  };
  expect_refused("invalid_graph", "'w' and 'v' overlap", two("60"));
  onnx::ModelProto tied = gemm_model();
  two("0")(tied);  // the very same bytes: tied weights
  import_model(tied);
  onnx::ModelProto beside = gemm_model();
  two("64")(beside);
  import_model(beside);
}

/// A field of the graph's first initializer, as bytes that no writer of messages would make.
std::string with_raw_field(const std::string& field) {
  const std::string tensor = std::string("\x08\x04\x08\x04\x10\x01\x42\x01w", 9) + field;
  const std::string graph = std::string("\x2a", 1) + static_cast<char>(tensor.size()) + tensor;
  return std::string("\x08\x08\x42\x02\x10\x11\x3a", 7) + static_cast<char>(graph.size()) + graph;
}

TEST(wire, fields_that_are_truncated_wrongly_packed_or_of_another_type) {
  EXPECT_EQ(error_of(with_raw_field("")).code, "invalid_graph");  // sound, but for the outputs it does not have
  EXPECT_EQ(error_of(with_raw_field(std::string("\x22\x03\x01\x02\x03", 5))).code, "truncated");  // float_data
  EXPECT_EQ(error_of(with_raw_field(std::string("\x3a\x02\x01\x80", 4))).code, "truncated");      // int64_data
  EXPECT_EQ(error_of(with_raw_field("\x0a\x0b" + std::string(10, '\xff') + "\x01")).code, "truncated");  // dims
  EXPECT_EQ(error_of(with_raw_field(std::string("\x4d\x01\x02\x03\x04", 5))).code, "not_onnx");          // raw_data
  EXPECT_EQ(error_of(with_raw_field(std::string("\x10\x01", 2))).code, "not_onnx");  // data_type twice
}

TEST(versions, say_what_is_accepted) {
  expect_refused("unsupported_ir_version", "IR version 14, expected 3 to 13",
                 [](auto& model) { model.set_ir_version(14); });
  expect_refused("unsupported_ir_version", "IR version 0", [](auto& model) { model.clear_ir_version(); });
  expect_refused("unsupported_opset", "expected 7 to 27",
                 [](auto& model) { model.mutable_opset_import(0)->set_version(28); });
  expect_refused("unsupported_opset", "of com.microsoft, expected 1", [](auto& model) {
    model.add_opset_import()->set_domain("com.microsoft");
    model.mutable_opset_import(1)->set_version(2);
  });
  expect_refused("unknown_operator", "domain 'com.example' is not imported",
                 [](auto& model) { model.mutable_graph()->mutable_node(1)->set_domain("com.example"); });
}

TEST(operators, of_our_own_rewrites_cannot_be_named_by_a_file) {
  expect_refused("unknown_operator", "sdip::Silu", [](auto& model) {
    model.add_opset_import()->set_domain("sdip");
    model.mutable_opset_import(1)->set_version(1);
    model.mutable_graph()->mutable_node(1)->set_op_type("Silu");
    model.mutable_graph()->mutable_node(1)->set_domain("sdip");
  });
}

}  // namespace
}  // namespace sdip
