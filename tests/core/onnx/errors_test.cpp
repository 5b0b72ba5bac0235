// Input that is no model, or no sound one: one clear error each, never a crash.
#include <random>

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

/// x [1,4,8,8] -> Conv -> Relu -> y
onnx::ModelProto small_model() {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 4, 8, 8});
  add_weight(model, "w", {8, 4, 3, 3});
  set_ints(add_node(model, "Conv", {"x", "w"}, "c"), "pads", {1, 1, 1, 1});
  add_node(model, "Relu", {"c"}, "y");
  add_output(model, "y");
  return model;
}

TEST(not_onnx, an_empty_file_and_a_text_file) {
  ImportOptions options;
  options.label = "notes.txt";
  const Error empty = error_of("", options);
  EXPECT_EQ(empty.code, "not_onnx");
  EXPECT_TRUE(mentions(empty, "notes.txt")) << empty.what();
  for (const char* text :
       {"Hello, this is a text file.\n", "{\"a\": 1}", "<html></html>", "PK\x03\x04zip", "\n\n\n\n"}) {
    const Error error = error_of(text, options);
    EXPECT_TRUE(error.code == "not_onnx" || error.code == "truncated") << text << ": " << error.code;
  }
}

TEST(not_onnx, what_is_taken_for_a_model_is_named_with_what_to_do) {
  for (const auto& [bytes, words] :
       {std::pair<std::string, std::string>{"version https://git-lfs.github.com", "git lfs pull"},
        {std::string("PK\3\4", 4) + std::string(40, 'x'), "torch.onnx.export"},
        {"<!DOCTYPE html><html>", "download"},
        {std::string("\x20\0\0\0TFL3\0\0", 10), "tf2onnx"},
        {std::string("\x1f\x8b\x08\0", 4), "unpack it"}}) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.code, "not_onnx") << words;
    EXPECT_TRUE(mentions(error, words)) << error.what();
  }
}

TEST(truncated, at_every_byte_is_an_error) {
  const std::string whole = small_model().SerializeAsString();
  import_bytes(whole);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const Error error = error_of(whole.substr(0, length));
    EXPECT_TRUE(error.code == "truncated" || error.code == "not_onnx" || error.code == "unsupported_opset")
        << length << ": " << error.code << " " << error.what();
  }
}

TEST(truncated, a_real_model_at_every_byte_is_an_error) {
  SDIP_SHARED_MODEL(whole, std::string("onnx_light/light_bvlc_alexnet.onnx"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_THROW(import_bytes(whole.substr(0, length)), Error) << length;
  }
}

TEST(damaged, any_byte_changed_is_read_or_refused_and_never_a_crash) {
  const std::string whole = small_model().SerializeAsString();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(value);
      try {
        Graph graph = import_bytes(bytes);
        rewrite(graph);
        facts_of(graph);
      } catch (const Error& error) {
        EXPECT_FALSE(error.code.empty());
      }
    }
  }
}

TEST(damaged, random_bytes_are_refused) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(1 + random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_THROW(import_bytes(bytes), Error);
  }
}

TEST(unknown_operator, names_the_node_and_the_operator) {
  onnx::ModelProto model = small_model();
  add_node(model, "FrobnicateV2", {"c"}, "z", "/net/strange");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "unknown_operator");
  EXPECT_TRUE(mentions(error, "/net/strange")) << error.what();
  EXPECT_TRUE(mentions(error, "FrobnicateV2")) << error.what();
}

TEST(graph_cycle, names_a_node_on_it) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_node(model, "Relu", {"x"}, "before");
  add_node(model, "Add", {"before", "b"}, "a", "first");
  add_node(model, "Relu", {"a"}, "b", "second");
  add_node(model, "Relu", {"b"}, "y");
  add_output(model, "y");
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "graph_cycle");
  EXPECT_TRUE(mentions(error, "first") || mentions(error, "second")) << error.what();
}

TEST(invalid_graph, values_made_twice_or_never) {
  onnx::ModelProto twice = small_model();
  add_node(twice, "Relu", {"x"}, "c", "again");
  EXPECT_EQ(error_of(twice.SerializeAsString()).code, "invalid_graph");
  onnx::ModelProto input = small_model();
  add_input(input, "x", {1});
  EXPECT_EQ(error_of(input.SerializeAsString()).code, "invalid_graph");
  onnx::ModelProto never = small_model();
  add_node(never, "Relu", {"nowhere"}, "z");
  const Error error = error_of(never.SerializeAsString());
  EXPECT_EQ(error.code, "invalid_graph");
  EXPECT_TRUE(mentions(error, "nowhere")) << error.what();
  onnx::ModelProto output = small_model();
  add_output(output, "missing");
  EXPECT_EQ(error_of(output.SerializeAsString()).code, "invalid_graph");
}

TEST(limit_exceeded, sizes_ranks_names_nodes_and_tensors) {
  onnx::ModelProto size = small_model();
  size.mutable_graph()->mutable_initializer(0)->set_dims(0, (std::int64_t{1} << 40) + 1);
  EXPECT_EQ(error_of(size.SerializeAsString()).code, "limit_exceeded");
  onnx::ModelProto negative = small_model();
  negative.mutable_graph()->mutable_initializer(0)->set_dims(0, -1);
  EXPECT_EQ(error_of(negative.SerializeAsString()).code, "invalid_graph");
  onnx::ModelProto product = small_model();
  for (int i = 0; i < 4; ++i) product.mutable_graph()->mutable_initializer(0)->set_dims(i, std::int64_t{1} << 39);
  EXPECT_EQ(error_of(product.SerializeAsString()).code, "model_too_large");
  onnx::ModelProto rank = small_model();
  for (int i = 0; i < 20; ++i) rank.mutable_graph()->mutable_initializer(0)->add_dims(1);
  EXPECT_EQ(error_of(rank.SerializeAsString()).code, "limit_exceeded");
  onnx::ModelProto name = small_model();
  name.mutable_graph()->mutable_node(0)->set_name(std::string(5000, 'n'));
  EXPECT_EQ(error_of(name.SerializeAsString()).code, "limit_exceeded");
  ImportOptions options;
  options.most_nodes = 1;
  EXPECT_EQ(error_of(small_model().SerializeAsString(), options).code, "limit_exceeded");
  options = {};
  options.most_tensors = 0;
  EXPECT_EQ(error_of(small_model().SerializeAsString(), options).code, "limit_exceeded");
  options = {};
  options.most_nesting = 2;
  EXPECT_EQ(error_of(small_model().SerializeAsString(), options).code, "limit_exceeded");
}

TEST(not_onnx, groups_bad_text_and_messages_longer_than_their_holder) {
  const std::string whole = small_model().SerializeAsString();
  EXPECT_EQ(error_of(whole + "\x1b\x1c").code, "not_onnx");                  // a group: field 3, start and end
  EXPECT_EQ(error_of(whole + std::string("\x3a\x00", 2)).code, "not_onnx");  // a second graph would be merged
  EXPECT_EQ(error_of(whole + std::string("\x12\x02\xff\xfe", 4)).code, "not_onnx");  // producer: not UTF-8
  EXPECT_EQ(error_of(std::string("\x3a\x04\x0a\x7f", 4) + std::string(200, 'x')).code, "not_onnx");
}

TEST(unsupported_opset, too_old_too_new_or_missing) {
  for (int opset : {1, 6, 28, 99}) {
    onnx::ModelProto model = small_model();
    model.mutable_opset_import(0)->set_version(opset);
    EXPECT_EQ(error_of(model.SerializeAsString()).code, "unsupported_opset") << opset;
  }
  onnx::ModelProto model = small_model();
  model.clear_opset_import();
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "unsupported_opset");
}

TEST(unbound_dimension, lists_all_of_them_and_binds_by_name) {
  onnx::ModelProto model = small_model();
  auto* shape = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(0)->set_dim_param("batch");
  shape->mutable_dim(2)->set_dim_param("height");
  shape->mutable_dim(3)->clear_value();
  const Error error = error_of(model.SerializeAsString());
  EXPECT_EQ(error.code, "unbound_dimension");
  EXPECT_TRUE(mentions(error, "have no size: height, x[3]")) << error.what();  // a batch is 1
  ImportOptions options;
  options.dims = {{"batch", 2}, {"height", 16}, {"x[3]", 32}};
  const Graph graph = import_model(model, options);
  EXPECT_EQ(graph.values[static_cast<std::size_t>(graph.outputs[0])].operand.shape, (Shape{2, 8, 16, 32}));
  options.dims["widht"] = 4;
  EXPECT_EQ(error_of(model.SerializeAsString(), options).code, "unknown_dimension");
}

TEST(external_data, is_noted_as_text_and_never_opened) {
  onnx::ModelProto model = small_model();
  auto* tensor = model.mutable_graph()->mutable_initializer(0);
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const char* value) {
    tensor->add_external_data()->set_key(key);
    tensor->mutable_external_data(tensor->external_data_size() - 1)->set_value(value);
  };
  entry("location", "../../etc/passwd");
  entry("offset", "4096");
  entry("length", "1152");
  const Graph graph = import_model(model);
  for (const Value& value : graph.values) {
    if (value.name != "w") continue;
    EXPECT_EQ(value.bytes->file, "../../etc/passwd");
    EXPECT_EQ(value.bytes->offset, 4096);
    EXPECT_EQ(value.bytes->length, 1152);
  }
  entry("offset", "minus one");
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "invalid_graph");
}

TEST(outputs, of_the_graph_are_limited) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 4});
  add_node(model, "Relu", {"x"}, "y");
  for (int i = 0; i < 4096; ++i) add_output(model, "y");
  EXPECT_NO_THROW(import_model(model));
  add_output(model, "y");
  EXPECT_EQ(error_of(model.SerializeAsString()).code, "limit_exceeded");
}

}  // namespace
}  // namespace sdip
