// part_views: what is read where its bytes lie, and what stays a copy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

Machine in_place() {
  Machine m;
  m.part_views = PartViews::on;
  return m;
}

/// x [2, 6, 64] softened and cut along `axis` into two, each turned to its exponentials.
onnx::ModelProto cut_softmax(std::int64_t axis, const std::vector<std::int64_t>& sizes, bool returned = false) {
  onnx::ModelProto model = model_of_x({2, 6, 64});
  add_node(model, "Softmax", {"x"}, "y");
  auto& split = add_node(model, "Split", {"y"}, "y0");
  split.add_output("y1");
  set_ints(split, "split", sizes);
  set_int(split, "axis", axis);
  model.mutable_opset_import(0)->set_version(11);
  for (const char* i : {"0", "1"}) {
    add_node(model, "Exp", {std::string("y") + i}, std::string("z") + i);
    add_output(model, std::string("z") + i);
  }
  if (returned) add_output(model, "y1");
  return model;
}

/// Two convolutions of x, joined by channels, and a third of both.
onnx::ModelProto joined_maps(bool twice = false) {
  onnx::ModelProto model = model_of_x({1, 4, 8, 8});
  add_weight(model, "w1", {4, 4, 1, 1});
  add_weight(model, "w2", {8, 4, 1, 1});
  add_weight(model, "w3", {4, 12, 1, 1});
  add_node(model, "Conv", {"x", "w1"}, "a");
  add_node(model, "Conv", {"x", "w2"}, "b");
  set_int(add_node(model, "Concat", {"a", "b"}, "c"), "axis", 1);
  add_node(model, "Conv", {"c", "w3"}, "y");
  add_output(model, "y");
  if (twice) {
    set_int(add_node(model, "Concat", {"b", "a"}, "d"), "axis", 1);
    add_node(model, "Conv", {"d", "w3"}, "z");
    add_output(model, "z");
  }
  return model;
}

Machine small() {
  Machine m = in_place();
  m.dsram_bytes = 1024;
  return m;
}

TEST(part_views, of_a_split_in_whole_words_make_no_copy) {
  EXPECT_THAT(mnemonics(compiled(cut_softmax(1, {2, 4}), in_place())), ElementsAre("softmax", "exp", "exp"));
  EXPECT_THAT(mnemonics(compiled(cut_softmax(1, {2, 4}), Machine())),
              ElementsAre("softmax", "copy", "copy", "exp", "exp"));
}

TEST(part_views, that_begin_amid_words_or_are_returned_are_copied) {
  const auto copies = ElementsAre("softmax", "copy", "copy", "exp", "exp");
  EXPECT_THAT(mnemonics(compiled(cut_softmax(2, {32, 32}), in_place())), copies);
  EXPECT_THAT(mnemonics(compiled(cut_softmax(1, {2, 4}, true), in_place())), copies);
}

TEST(part_views, join_in_dram_what_is_too_large_for_dsram_alone) {
  EXPECT_THAT(mnemonics(compiled(joined_maps(), in_place())), ElementsAre("conv2d", "conv2d", "copy", "conv2d"));
  const Application small_one = compiled(joined_maps(), small());
  EXPECT_THAT(mnemonics(small_one), ElementsAre("conv2d", "conv2d", "conv2d"));
  const Program& program = small_one.stages[0].program;
  const PlacedOperand& whole = program.instructions[2].sources[0];
  EXPECT_EQ(whole.place, Place::dram);
  EXPECT_EQ(whole.address, program.instructions[0].dram_address) << "that of its first part";
}

/// Its scale would be the Concat's, though the other part may be a hundred times as large.
TEST(part_views, do_not_join_a_part) {
  onnx::ModelProto model = model_of_x({64, 64});
  add_weight(model, "w", {64, 64});
  add_node(model, "MatMul", {"x", "w"}, "h");
  auto& split = add_node(model, "Split", {"h"}, "p");
  split.add_output("q");
  set_ints(split, "split", {32, 32});
  set_int(split, "axis", 0);
  model.mutable_opset_import(0)->set_version(11);
  add_node(model, "Tanh", {"x"}, "t");
  set_int(add_node(model, "Concat", {"t", "p"}, "c"), "axis", 0);
  for (const auto& [from, to] : {std::pair{"c", "y"}, {"q", "z"}}) {
    add_node(model, "Exp", {from}, to);
    add_output(model, to);
  }
  EXPECT_THAT(mnemonics(compiled(model, small())), testing::Contains("copy"));
}

/// Twenty thousand views one behind the other, between products and in front of a Split: no pass goes down them
/// call by call, or all of them for each.
TEST(part_views, of_many_views_one_behind_the_other_take_no_stack) {
  constexpr int many = 20000;
  onnx::ModelProto model = model_of_x({64, 64});
  for (const char* w : {"w1", "w2", "w3"}) add_weight(model, w, {64, 64});
  add_node(model, "MatMul", {"x", "w1"}, "v0");
  for (int i = 0; i < many; ++i)
    set_ints(add_node(model, "Transpose", {"v" + std::to_string(i)}, "v" + std::to_string(i + 1)), "perm", {1, 0});
  const std::string last = "v" + std::to_string(many);
  add_node(model, "MatMul", {last, "w2"}, "y");
  auto& split = add_node(model, "Split", {last}, "p");
  split.add_output("q");
  set_int(split, "axis", 0);
  model.mutable_opset_import(0)->set_version(11);
  for (const auto& [from, to] : {std::pair{"p", "a"}, {"q", "b"}, {"y", "c"}}) {
    add_node(model, "Exp", {from}, to);
    add_output(model, to);
  }
  Machine m = in_place();
  m.fused_chains = FusedChains::on;
  m.transposition = Transposition::dynamic_transposition;
  const Application application = compiled(model, m);
  EXPECT_TRUE(application.feasible) << application.reason;
  EXPECT_GT(application.stages[0].graph->nodes.size(), static_cast<std::size_t>(many));
}

/// A thousand parts of one value, read in place.
TEST(part_views, of_a_thousand_parts_cost_no_more_than_their_bytes) {
  constexpr int many = 1000;
  onnx::ModelProto model = model_of_x({many, 64});
  add_node(model, "Softmax", {"x"}, "y");
  auto& split = add_node(model, "Split", {"y"}, "p0");
  for (int i = 1; i < many; ++i) split.add_output("p" + std::to_string(i));
  set_int(split, "axis", 0);
  model.mutable_opset_import(0)->set_version(11);
  for (int i = 0; i < many; ++i) {
    add_node(model, "Exp", {"p" + std::to_string(i)}, "z" + std::to_string(i));
    add_output(model, "z" + std::to_string(i));
  }
  const Application application = compiled(model, in_place());
  EXPECT_TRUE(application.feasible) << application.reason;
  EXPECT_EQ(application.stages[0].program.instructions.size(), std::size_t{many + 1});
}

TEST(part_views, join_a_value_once) {
  EXPECT_THAT(mnemonics(compiled(joined_maps(true), small())),
              ElementsAre("conv2d", "conv2d", "conv2d", "copy", "conv2d"));
}

}  // namespace
}  // namespace sdip
