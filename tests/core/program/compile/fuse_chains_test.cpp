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

}  // namespace
}  // namespace sdip
