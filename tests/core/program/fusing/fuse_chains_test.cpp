// pass `fuse_chains`: which products with weights become one instruction, and what that moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/program/kinds.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;

Machine chains() {
  Machine m;
  m.fusion = Fusion::pointwise;
  m.split_products = SplitProducts::on;
  m.fused_chains = FusedChains::on;
  m.dsram_bytes = 4096;
  m.stackram_bytes = 0;
  return m;
}

/// The feed-forward of a transformer with a gate: rows of 32 features, 64 hidden ones; its input as residual.
onnx::ModelProto feed_forward() {
  onnx::ModelProto model = model_of_x({64, 32});
  add_weight(model, "w1", {32, 128});
  add_weight(model, "w2", {64, 32});
  add_node(model, "MatMul", {"x", "w1"}, "y");
  auto& split = add_node(model, "Split", {"y"}, "v");
  split.add_output("g");
  set_int(split, "axis", -1);
  add_node(model, "Sigmoid", {"g"}, "s");
  add_node(model, "Mul", {"v", "s"}, "h");
  add_node(model, "MatMul", {"h", "w2"}, "o");
  add_node(model, "Add", {"o", "x"}, "z");
  add_output(model, "z");
  return model;
}

TEST(fused_chains, a_feed_forward_with_a_gate_is_one_instruction) {
  const Application one = compiled(feed_forward(), chains());
  EXPECT_THAT(mnemonics(one), ElementsAre("strips:matmul>matmul+sigmoid+mul>matmul+add"));
  const InstructionClass& c = class_at(one, 0);
  EXPECT_FALSE(is_branch(c.parts[0]));
  EXPECT_TRUE(is_branch(c.parts[1]));
  EXPECT_TRUE(works_on_a(c.parts, 1));
  EXPECT_FALSE(works_on_a(c.parts, 2));
}

TEST(fused_chains, stay_single_where_the_option_is_off) {
  Machine m = chains();
  m.fused_chains = FusedChains::off;
  EXPECT_THAT(mnemonics(compiled(feed_forward(), m)), Each(Not(StartsWith("strips"))));
}

TEST(fused_chains, a_value_inside_that_something_else_reads_ends_the_chain) {
  onnx::ModelProto model = feed_forward();
  add_output(model, "h");
  const Application application = compiled(model, chains());
  for (const std::string& name : mnemonics(application))
    EXPECT_NE(name, "strips:matmul>matmul+sigmoid+mul>matmul+add");
}

TEST(fused_chains, a_norm_of_rows_is_a_part_and_one_over_all_rows_is_not) {
  const auto with_norm = [](std::int64_t axis) {
    onnx::ModelProto model = model_of_x({128, 32});
    add_weight(model, "w1", {32, 64});
    add_weight(model, "w2", {64, 32});
    const Shape gamma = axis == 0 ? Shape{128, 32} : Shape{32};
    add_weight(model, "gamma", gamma);
    set_int(add_node(model, "LayerNormalization", {"x", "gamma"}, "n"), "axis", axis);
    add_node(model, "MatMul", {"n", "w1"}, "y");
    add_node(model, "MatMul", {"y", "w2"}, "z");
    add_output(model, "z");
    return model;
  };
  EXPECT_THAT(mnemonics(compiled(with_norm(-1), chains())), ElementsAre("strips:layernorm>matmul>matmul"));
  EXPECT_THAT(mnemonics(compiled(with_norm(0), chains())), ElementsAre("layernorm", "strips:matmul>matmul"));
}

Machine turning_chains() {
  Machine m = chains();
  m.transposition = Transposition::dynamic_transposition;
  m.fused_attention = FusedAttention::on;
  m.dsram_bytes = 16384;
  return m;
}

/// x + attention of x to c, two heads of 32 features, between its projections. `order` of the queries' Transpose.
onnx::ModelProto attention_block(std::vector<std::int64_t> order = {0, 2, 1, 3}, bool masked = false) {
  onnx::ModelProto model = model_of_x({2, 256, 64});
  add_input(model, "c", {2, 8, 64});
  for (const char* w : {"wq", "wk", "wv", "wo"}) add_weight(model, w, {64, 64});
  add_ints(model, "by_head", {2, -1, 2, 32});
  add_ints(model, "in_rows", {2, 256, 64});
  const auto by_heads = [&](const std::string& from, const std::string& w, const std::string& to,
                            const std::vector<std::int64_t>& perm) {
    add_node(model, "MatMul", {from, w}, to + "_rows");
    add_node(model, "Reshape", {to + "_rows", "by_head"}, to + "_heads");
    set_ints(add_node(model, "Transpose", {to + "_heads"}, to), "perm", perm);
  };
  by_heads("x", "wq", "q", order);
  by_heads("c", "wk", "k", {0, 2, 3, 1});
  by_heads("c", "wv", "v", {0, 2, 1, 3});
  add_node(model, "MatMul", {"q", "k"}, "s");
  if (masked) {
    add_input(model, "m", {256, 8});
    add_node(model, "Add", {"s", "m"}, "sm");
  }
  add_node(model, "Softmax", {masked ? "sm" : "s"}, "p");
  add_node(model, "MatMul", {"p", "v"}, "o");
  set_ints(add_node(model, "Transpose", {"o"}, "o_rows"), "perm", {0, 2, 1, 3});
  add_node(model, "Reshape", {"o_rows", "in_rows"}, "r");
  add_node(model, "MatMul", {"r", "wo"}, "y");
  add_node(model, "Add", {"y", "x"}, "z");
  add_output(model, "z");
  return model;
}

TEST(fused_chains, have_an_attention_between_its_projections_and_the_residual_on_chip) {
  const Application one = compiled(attention_block(), turning_chains());
  EXPECT_THAT(mnemonics(one), ElementsAre("matmul", "matmul", "strips:matmul>matmul>softmax>matmul>matmul+add"));
  const InstructionClass& c = class_at(one, 2);
  const LoopNest& scores = c.parts[1].work.nest;
  EXPECT_EQ(std::tuple(scores.batch, scores.groups, scores.out_h, scores.in_channels, scores.out_channels),
            std::tuple(2, 2, 256, 32, 8));
  EXPECT_EQ(c.parts[2].work.family, Family::softmax);
  EXPECT_EQ(c.parts[0].work.nest.batch, 2) << "its frames, too, come one after the other";
  EXPECT_EQ(c.parts[0].work.nest.out_h, 256);
  EXPECT_EQ(c.parts[4].a_beside, 1);
  EXPECT_EQ(std::ssize(one.stages[0].program.instructions[2].sources), 3) << "x, keys and values";
}

TEST(fused_chains, have_no_attention_whose_queries_are_copied_or_seen_otherwise_or_that_has_a_mask) {
  const auto attends_in_chain = [](const onnx::ModelProto& model, const Machine& m) {
    const Application application = compiled(model, m);
    return std::ranges::any_of(mnemonics(application), [](const std::string& name) {
      return name.starts_with("strips") && name.find("softmax") != std::string::npos;
    });
  };
  Machine copies = turning_chains();
  copies.transposition = Transposition::explicit_instruction;
  EXPECT_TRUE(attends_in_chain(attention_block(), turning_chains()));
  EXPECT_FALSE(attends_in_chain(attention_block(), copies));
  EXPECT_FALSE(attends_in_chain(attention_block({0, 2, 1, 3}, true), turning_chains()));
}

TEST(fused_chains, read_beside_what_any_part_before_made) {
  onnx::ModelProto model = model_of_x({64, 32});
  for (const char* w : {"w1", "w2", "w3"}) add_weight(model, w, {32, 32});
  add_node(model, "MatMul", {"x", "w1"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "MatMul", {"b", "w2"}, "c");
  add_node(model, "Add", {"c", "x"}, "d");
  add_node(model, "MatMul", {"d", "w3"}, "e");
  add_node(model, "Add", {"e", "b"}, "f");
  add_output(model, "f");
  const Application one = compiled(model, chains());
  ASSERT_THAT(mnemonics(one), ElementsAre("strips:matmul+relu>matmul+add>matmul+add"));
  const InstructionClass& c = class_at(one, 0);
  EXPECT_EQ(c.parts[1].a_beside, 1);
  EXPECT_EQ(c.parts[2].rows_beside, 1);
  EXPECT_EQ(std::ssize(one.stages[0].program.instructions[0].sources), 1);
}

}  // namespace
}  // namespace sdip
