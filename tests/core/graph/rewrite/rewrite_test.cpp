// Each rewriting pass: finds its pattern as exporters write it, and leaves alone what only looks like it.
#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

/// A graph of one input x and output y, rewritten.
struct Rewritten {
  Graph graph;
  std::map<std::string, std::int64_t> counts;

  std::vector<std::string> types() const {
    std::vector<std::string> found;
    for (const Node& node : graph.nodes) found.emplace_back(node.op->type);
    return found;
  }
};

Rewritten rewritten(onnx::ModelProto& model) {
  add_output(model, "y");
  Rewritten result{import_model(model), {}};
  const RewriteCounts counts = rewrite(result.graph);
  result.counts = {counts.begin(), counts.end()};
  return result;
}

using Types = std::vector<std::string>;

onnx::ModelProto groupnorm_model(float scale) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 6, 4, 4});
  add_ints(model, "grouped", {0, 3, -1});
  add_floats(model, "ones", {3}, {scale, scale, scale});
  add_floats(model, "zeros", {3}, {0, 0, 0});
  add_weight(model, "gamma", {6, 1, 1});
  add_weight(model, "beta", {6, 1, 1});
  add_node(model, "Reshape", {"x", "grouped"}, "r", "/block/norm/Reshape");
  add_node(model, "Shape", {"x"}, "shape", "/block/norm/Shape");
  add_node(model, "InstanceNormalization", {"r", "ones", "zeros"}, "i", "/block/norm/InstanceNormalization");
  add_node(model, "Reshape", {"i", "shape"}, "b", "/block/norm/Reshape_1");
  add_node(model, "Mul", {"b", "gamma"}, "m", "/block/norm/Mul");
  return model;
}

TEST(groupnorm, is_found_and_named_after_the_path_its_nodes_share) {
  onnx::ModelProto model = groupnorm_model(1);
  add_node(model, "Add", {"m", "beta"}, "y", "/block/norm/Add");
  const Rewritten result = rewritten(model);
  ASSERT_EQ(result.types(), Types{"GroupNorm"});
  const Node& node = result.graph.nodes[0];
  EXPECT_EQ(node.name, "/block/norm/GroupNorm");
  EXPECT_EQ(std::get<std::int64_t>(node.attributes.at("num_groups")), 3);
  EXPECT_EQ(result.graph.values[static_cast<std::size_t>(node.outputs[0])].name, "y");
  EXPECT_EQ(facts_of(result.graph).parameters, 12);
}

TEST(groupnorm, is_left_alone_when_it_scales_groups_or_shows_what_is_inside) {
  onnx::ModelProto scaled = groupnorm_model(2);
  add_node(scaled, "Add", {"m", "beta"}, "y");
  EXPECT_EQ(rewritten(scaled).counts["groupnorm"], 0);
  onnx::ModelProto shown = groupnorm_model(1);
  add_node(shown, "Add", {"m", "beta"}, "y");
  add_output(shown, "i");
  EXPECT_EQ(rewritten(shown).counts["groupnorm"], 0);
  onnx::ModelProto used = groupnorm_model(1);
  add_node(used, "Add", {"m", "beta"}, "a");
  add_node(used, "Add", {"a", "m"}, "y");
  EXPECT_EQ(rewritten(used).types(), (Types{"GroupNorm", "Add", "Add"}));
}

onnx::ModelProto layernorm_model(float power) {
  onnx::ModelProto model = empty_model(14);
  add_input(model, "x", {1, 7, 16});
  add_floats(model, "two", {}, {power});
  add_floats(model, "eps", {}, {1e-5f});
  set_ints(add_node(model, "ReduceMean", {"x"}, "mean"), "axes", {-1});
  add_node(model, "Sub", {"x", "mean"}, "d");
  add_node(model, "Pow", {"d", "two"}, "p");
  set_ints(add_node(model, "ReduceMean", {"p"}, "v"), "axes", {-1});
  add_node(model, "Add", {"v", "eps"}, "e");
  add_node(model, "Sqrt", {"e"}, "s");
  return model;
}

TEST(layernorm, is_found_with_and_without_gamma_and_beta) {
  onnx::ModelProto plain = layernorm_model(2);
  add_node(plain, "Div", {"d", "s"}, "y");
  const Rewritten bare = rewritten(plain);
  ASSERT_EQ(bare.types(), Types{"LayerNormalization"});
  EXPECT_EQ(bare.graph.nodes[0].inputs.size(), 1u);
  EXPECT_EQ(std::get<std::int64_t>(bare.graph.nodes[0].attributes.at("axis")), 2);
  EXPECT_NEAR(std::get<double>(bare.graph.nodes[0].attributes.at("epsilon")), 1e-5, 1e-12);
  onnx::ModelProto affine = layernorm_model(2);
  add_weight(affine, "gamma", {16});
  add_weight(affine, "beta", {16});
  add_node(affine, "Div", {"d", "s"}, "n");
  add_node(affine, "Mul", {"n", "gamma"}, "m");
  add_node(affine, "Add", {"beta", "m"}, "y");
  const Rewritten full = rewritten(affine);
  ASSERT_EQ(full.types(), Types{"LayerNormalization"});
  EXPECT_EQ(full.graph.nodes[0].inputs.size(), 3u);
}

TEST(layernorm, of_another_power_or_with_a_modulating_activation_keeps_what_it_is_not) {
  onnx::ModelProto cubic = layernorm_model(3);
  add_node(cubic, "Div", {"d", "s"}, "y");
  EXPECT_EQ(rewritten(cubic).counts["layernorm"], 0);
  onnx::ModelProto modulated = layernorm_model(2);
  add_input(modulated, "scale", {16});
  add_node(modulated, "Div", {"d", "s"}, "n");
  add_node(modulated, "Mul", {"n", "scale"}, "y");
  EXPECT_EQ(rewritten(modulated).types(), (Types{"LayerNormalization", "Mul"}));
}

TEST(silu, is_a_sigmoid_times_its_own_operand_only) {
  onnx::ModelProto silu = empty_model();
  add_input(silu, "x", {4});
  add_node(silu, "Sigmoid", {"x"}, "s", "/act/Sigmoid_3");
  add_node(silu, "Mul", {"s", "x"}, "y", "/act/Mul_3");
  const Rewritten found = rewritten(silu);
  ASSERT_EQ(found.types(), Types{"Silu"});
  EXPECT_EQ(found.graph.nodes[0].name, "/act/Silu_3");
  onnx::ModelProto gate = empty_model();
  add_input(gate, "x", {4});
  add_input(gate, "other", {4});
  add_node(gate, "Sigmoid", {"x"}, "s");
  add_node(gate, "Mul", {"other", "s"}, "y");
  EXPECT_EQ(rewritten(gate).types(), (Types{"Sigmoid", "Mul"}));
}

TEST(quick_gelu, scales_inside_the_sigmoid) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_floats(model, "c", {}, {1.702f});
  add_node(model, "Mul", {"x", "c"}, "t");
  add_node(model, "Sigmoid", {"t"}, "s");
  add_node(model, "Mul", {"x", "s"}, "y");
  const Rewritten found = rewritten(model);
  ASSERT_EQ(found.types(), Types{"QuickGelu"});
  EXPECT_NEAR(std::get<double>(found.graph.nodes[0].attributes.at("alpha")), 1.702, 1e-6);
}

onnx::ModelProto erf_model(float root) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {4});
  add_floats(model, "root", {}, {root});
  add_floats(model, "one", {}, {1});
  add_floats(model, "half", {}, {0.5f});
  add_node(model, "Div", {"x", "root"}, "d");
  add_node(model, "Erf", {"d"}, "e");
  add_node(model, "Add", {"e", "one"}, "a");
  return model;
}

TEST(gelu, by_erf_with_the_half_at_either_factor) {
  onnx::ModelProto last = erf_model(1.41421354f);
  add_node(last, "Mul", {"x", "a"}, "m");
  add_node(last, "Mul", {"m", "half"}, "y");
  EXPECT_EQ(rewritten(last).types(), Types{"Gelu"});
  onnx::ModelProto first = erf_model(1.41421354f);
  add_node(first, "Mul", {"x", "half"}, "h");
  add_node(first, "Mul", {"h", "a"}, "y");
  EXPECT_EQ(rewritten(first).types(), Types{"Gelu"});
  onnx::ModelProto other = erf_model(1.5f);
  add_node(other, "Mul", {"x", "a"}, "m");
  add_node(other, "Mul", {"m", "half"}, "y");
  EXPECT_EQ(rewritten(other).counts["gelu"], 0);
}

TEST(gelu, by_tanh_with_a_power_or_products) {
  for (const bool power : {true, false}) {
    onnx::ModelProto model = empty_model();
    add_input(model, "x", {4});
    add_floats(model, "three", {}, {3});
    add_floats(model, "c", {}, {0.044715f});
    add_floats(model, "r", {}, {0.7978845608f});
    add_floats(model, "one", {}, {1});
    add_floats(model, "half", {}, {0.5f});
    if (power) {
      add_node(model, "Pow", {"x", "three"}, "cube");
    } else {
      add_node(model, "Mul", {"x", "x"}, "square");
      add_node(model, "Mul", {"x", "square"}, "cube");
    }
    add_node(model, "Mul", {"c", "cube"}, "term");
    add_node(model, "Add", {"x", "term"}, "sum");
    add_node(model, "Mul", {"r", "sum"}, "scaled");
    add_node(model, "Tanh", {"scaled"}, "t");
    add_node(model, "Add", {"one", "t"}, "a");
    add_node(model, "Mul", {"half", "x"}, "h");
    add_node(model, "Mul", {"h", "a"}, "y");
    const Rewritten found = rewritten(model);
    ASSERT_EQ(found.types(), Types{"Gelu"}) << power;
    EXPECT_EQ(std::get<std::string>(found.graph.nodes[0].attributes.at("approximate")), "tanh");
  }
}

TEST(linear, takes_a_bias_that_stands_first_and_leaves_other_sums) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 7, 16});
  add_weight(model, "w", {16, 8});
  add_weight(model, "b", {8});
  add_node(model, "MatMul", {"x", "w"}, "p");
  add_node(model, "Add", {"b", "p"}, "y");
  const Rewritten found = rewritten(model);
  ASSERT_EQ(found.types(), Types{"Linear"});
  EXPECT_EQ(found.graph.nodes[0].inputs.size(), 3u);
  EXPECT_EQ(facts_of(found.graph).macs_linear, 7 * 16 * 8);
  onnx::ModelProto residual = empty_model();
  add_input(residual, "x", {1, 7, 8});
  add_weight(residual, "w", {8, 8});
  add_node(residual, "MatMul", {"x", "w"}, "p");
  add_node(residual, "Add", {"p", "x"}, "y");
  EXPECT_EQ(rewritten(residual).types(), (Types{"Linear", "Add"}));
}

TEST(linear, keeps_the_transposition_of_gemm_and_refuses_its_scales) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3, 16});
  add_weight(model, "w", {8, 16});
  add_weight(model, "b", {8});
  set_int(add_node(model, "Gemm", {"x", "w", "b"}, "y"), "transB", 1);
  const Rewritten found = rewritten(model);
  ASSERT_EQ(found.types(), Types{"Linear"});
  EXPECT_EQ(std::get<std::int64_t>(found.graph.nodes[0].attributes.at("trans_b")), 1);
  onnx::ModelProto scaled = empty_model();
  add_input(scaled, "x", {3, 16});
  add_weight(scaled, "w", {16, 8});
  auto* alpha = add_node(scaled, "Gemm", {"x", "w"}, "y").add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(onnx::AttributeProto::FLOAT);
  alpha->set_f(0.5f);
  EXPECT_EQ(rewritten(scaled).types(), Types{"Gemm"});
}

TEST(matmul, of_two_activations_stays) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {8, 8});
  add_node(model, "MatMul", {"x", "x"}, "y");
  EXPECT_EQ(rewritten(model).types(), Types{"MatMul"});
}

TEST(batchnorm, after_a_convolution_makes_other_weights) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 4, 8, 8});
  add_weight(model, "w", {6, 4, 3, 3});
  for (const char* name : {"scale", "beta", "mean", "var"}) add_weight(model, name, {6});
  add_node(model, "Conv", {"x", "w"}, "c");
  add_node(model, "BatchNormalization", {"c", "scale", "beta", "mean", "var"}, "y");
  const Rewritten found = rewritten(model);
  EXPECT_EQ(found.types(), (Types{"FoldedWeight", "FoldedBias", "Conv"}));
  EXPECT_EQ(facts_of(found.graph).parameters, 6 * 4 * 9 + 2 * 6);
  EXPECT_EQ(work_of(found.graph, found.graph.nodes[0]).family, Family::constant);
  EXPECT_EQ(work_of(found.graph, found.graph.nodes[2]).family, Family::conv2d);
}

TEST(batchnorm, that_uses_the_batchs_statistics_stays) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {1, 4, 8, 8});
  add_weight(model, "w", {6, 4, 3, 3});
  for (const char* name : {"scale", "beta", "mean", "var"}) add_weight(model, name, {6});
  add_node(model, "Conv", {"x", "w"}, "c");
  set_int(add_node(model, "BatchNormalization", {"c", "scale", "beta", "mean", "var"}, "y"), "training_mode", 1);
  EXPECT_EQ(rewritten(model).types(), (Types{"Conv", "BatchNormalization"}));
}

TEST(no_ops, are_dropped_and_what_they_fed_takes_their_input) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 3});
  add_floats(model, "one", {}, {1});
  add_floats(model, "zero", {3}, {0, 0, 0});
  add_ints(model, "same", {2, 3});
  add_node(model, "Identity", {"x"}, "a");
  set_int(add_node(model, "Cast", {"a"}, "b"), "to", 1);
  add_node(model, "Div", {"b", "one"}, "c");
  add_node(model, "Add", {"zero", "c"}, "d");
  add_node(model, "Expand", {"d", "same"}, "e");
  add_node(model, "Relu", {"e"}, "y");
  const Rewritten found = rewritten(model);
  EXPECT_EQ(found.counts.at("no_op"), 5);
  ASSERT_EQ(found.types(), Types{"Relu"});
  EXPECT_EQ(found.graph.nodes[0].inputs[0], found.graph.inputs[0]);
}

TEST(no_ops, that_broadcast_divide_one_or_make_an_output_stay) {
  onnx::ModelProto wider = empty_model();
  add_input(wider, "x", {3});
  add_floats(wider, "ones", {2, 3}, {1, 1, 1, 1, 1, 1});
  add_node(wider, "Mul", {"x", "ones"}, "y");
  EXPECT_EQ(rewritten(wider).types(), Types{"Mul"});
  onnx::ModelProto inverse = empty_model();
  add_input(inverse, "x", {3});
  add_floats(inverse, "one", {}, {1});
  add_node(inverse, "Div", {"one", "x"}, "i");
  add_node(inverse, "Relu", {"i"}, "y");
  EXPECT_EQ(rewritten(inverse).types(), (Types{"Div", "Relu"}));
  onnx::ModelProto output = empty_model();
  add_input(output, "x", {3});
  add_node(output, "Identity", {"x"}, "y");
  EXPECT_EQ(rewritten(output).types(), Types{"Identity"});
  onnx::ModelProto backwards = empty_model();
  add_input(backwards, "x", {3});
  add_ints(backwards, "start", {-1});
  add_ints(backwards, "end", {INT64_MIN});
  add_ints(backwards, "axis", {0});
  add_node(backwards, "Slice", {"x", "start", "end", "axis", "start"}, "s");
  add_node(backwards, "Relu", {"s"}, "y");
  EXPECT_EQ(rewritten(backwards).types(), (Types{"Slice", "Relu"}));
}

TEST(reshapes, in_a_row_become_one) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {2, 12});
  add_ints(model, "first", {2, 3, 4});
  add_ints(model, "axes", {0});
  add_ints(model, "last", {6, -1});
  add_node(model, "Reshape", {"x", "first"}, "a");
  add_node(model, "Unsqueeze", {"a", "axes"}, "b");
  add_node(model, "Reshape", {"b", "last"}, "c");
  add_node(model, "Relu", {"c"}, "y");
  const Rewritten found = rewritten(model);
  EXPECT_EQ(found.counts.at("reshape_merged"), 2);
  ASSERT_EQ(found.types(), (Types{"Reshape", "Relu"}));
  EXPECT_EQ(found.graph.nodes[0].inputs[0], found.graph.inputs[0]);
  EXPECT_EQ(found.graph.values[static_cast<std::size_t>(found.graph.nodes[0].outputs[0])].operand.shape,
            (Shape{6, 4}));
}

TEST(names, that_stand_twice_get_a_number) {
  onnx::ModelProto model = empty_model();
  add_input(model, "x", {3});
  add_node(model, "Relu", {"x"}, "a", "same");
  add_node(model, "Neg", {"a"}, "y", "same");
  const Rewritten found = rewritten(model);
  EXPECT_EQ(found.graph.nodes[0].name, "same");
  EXPECT_EQ(found.graph.nodes[1].name, "same#2");
}

}  // namespace
}  // namespace sdip
