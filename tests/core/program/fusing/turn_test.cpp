// Which transposes join the instruction that makes their operand, and what that one then is.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/program/tiling/draft.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/form/round_trip.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Machine turning() {
  Machine m;
  m.transposition = Transposition::static_transposition;
  return m;
}

void add_transpose(onnx::ModelProto& model, const char* x, const char* y, const std::vector<std::int64_t>& order) {
  set_ints(add_node(model, "Transpose", {x}, y), "perm", order);
}

void add_reshape(onnx::ModelProto& model, const char* x, const char* y, const std::vector<std::int64_t>& shape) {
  const std::string name = std::string(y) + "_shape";
  add_ints(model, name, shape);
  add_node(model, "Reshape", {x, name}, y);
}

/// y = the heads of x W, in the given order of [64, 8, 40].
onnx::ModelProto heads_model(const std::vector<std::int64_t>& order) {
  onnx::ModelProto model = model_of_x({64, 320});
  add_weight(model, "w", {320, 320});
  add_node(model, "MatMul", {"x", "w"}, "p");
  add_reshape(model, "p", "split", {64, 8, 40});
  add_transpose(model, "split", "y", order);
  return model;
}

TEST(turn, the_heads_of_a_linear_are_written_where_the_turned_value_has_them) {
  onnx::ModelProto model = heads_model({1, 0, 2});
  add_output(model, "y");
  const Application application = compiled(model, turning());
  EXPECT_THAT(mnemonics(application), ElementsAre("matmul+transpose"));
  EXPECT_EQ(class_at(application, 0).turned_run, 40);
  EXPECT_EQ(class_at(application, 0).fused_operators, 0) << "no circuit computes it";
  const Instruction& linear = application.stages[0].program.instructions[0];
  EXPECT_EQ(application.stages[0].graph->values.at(static_cast<std::size_t>(linear.destination)).name, "y");
  EXPECT_THAT(mnemonics(compiled(model, Machine())), ElementsAre("matmul", "transpose"));
  expect_round_trip(application.stages[0], turning());
}

TEST(turn, a_transpose_whose_short_runs_cost_more_than_it_saves_stays) {
  onnx::ModelProto model = heads_model({2, 1, 0});
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, turning())), ElementsAre("matmul", "transpose"));
  Machine small = turning();
  small.dsram_bytes = 4096;  // a Transpose alone writes and reads 40 KiB of DRAM
  EXPECT_THAT(mnemonics(compiled(model, small)), ElementsAre("matmul", "transpose"));
}

/// Whether a graph of a convolution of [1, 4, 6, 5] and what `add` puts behind its result "c" keeps its Transpose.
template <class Add>
std::vector<std::string> behind_conv(Add add, Machine machine = turning()) {
  onnx::ModelProto model = model_of_x({1, 4, 6, 5});
  add_weight(model, "w", {4, 4, 1, 1});
  add_node(model, "Conv", {"x", "w"}, "c");
  add(model);
  add_output(model, "y");
  return mnemonics(compiled(model, machine));
}

TEST(turn, a_transpose_of_what_others_read_too_stays) {
  EXPECT_THAT(behind_conv([](auto& model) {
                add_transpose(model, "c", "t", {0, 2, 1, 3});
                add_node(model, "Relu", {"c"}, "r");
                add_reshape(model, "r", "s", {1, 6, 4, 5});
                add_node(model, "Add", {"t", "s"}, "y");
              }),
              ElementsAre("conv2d", "transpose", "relu", "add"));
  EXPECT_THAT(behind_conv([](auto& model) {
                add_transpose(model, "c", "y", {0, 2, 1, 3});
                add_output(model, "c");
              }),
              ElementsAre("conv2d", "transpose"));
}

TEST(turn, a_transpose_of_an_input_stays_and_one_of_a_weight_is_made_at_compile_time) {
  onnx::ModelProto model = model_of_x({6, 5});
  add_transpose(model, "x", "t", {1, 0});
  add_weight(model, "w", {4, 6});
  add_transpose(model, "w", "u", {1, 0});
  add_node(model, "MatMul", {"t", "u"}, "y");
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, turning())), ElementsAre("transpose", "matmul"));
}

TEST(turn, a_second_transpose_stays) {
  EXPECT_THAT(behind_conv([](auto& model) {
                add_transpose(model, "c", "t", {0, 2, 1, 3});
                add_transpose(model, "t", "y", {0, 2, 3, 1});
              }),
              ElementsAre("conv2d+transpose", "transpose"));
}

TEST(turn, what_is_fused_before_comes_along_and_what_is_fused_behind_keeps_the_transpose) {
  Machine fusing = turning();
  fusing.fusion = Fusion::pointwise;
  EXPECT_THAT(behind_conv(
                  [](auto& model) {
                    add_node(model, "Relu", {"c"}, "r");
                    add_transpose(model, "r", "y", {0, 2, 1, 3});
                  },
                  fusing),
              ElementsAre("conv2d+relu+transpose"));
  EXPECT_THAT(behind_conv(
                  [](auto& model) {
                    add_transpose(model, "c", "t", {0, 2, 1, 3});
                    add_node(model, "Relu", {"t"}, "y");
                  },
                  fusing),
              ElementsAre("conv2d", "transpose+relu"));
}

TEST(turn, strips_and_other_reorderings_are_left_as_they_are) {
  EXPECT_THAT(
      behind_conv([](auto& model) { set_int(add_node(model, "DepthToSpace", {"c"}, "y"), "blocksize", 2); }),
      ElementsAre("conv2d", "transpose"));
  Machine strips = turning();
  strips.strips = Strips::line_buffers;
  strips.dsram_bytes = 64 * 1024;
  onnx::ModelProto model = model_of_x({1, 16, 128, 64});
  add_weight(model, "w", {16, 16, 3, 3});
  set_ints(add_node(model, "Conv", {"x", "w"}, "a"), "pads", {1, 1, 1, 1});
  set_ints(add_node(model, "Conv", {"a", "w"}, "b"), "pads", {1, 1, 1, 1});
  add_transpose(model, "b", "y", {0, 2, 1, 3});
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, strips)), ElementsAre("strips:conv2d>conv2d", "transpose"));
}

TEST(turn, the_rows_of_a_fused_attention_leave_turned) {
  onnx::ModelProto model = empty_model();
  for (const char* name : {"q", "v"}) add_input(model, name, {1, 8, 64, 40});
  add_input(model, "kt", {1, 8, 40, 64});
  add_node(model, "MatMul", {"q", "kt"}, "s");
  set_int(add_node(model, "Softmax", {"s"}, "p"), "axis", -1);
  add_node(model, "MatMul", {"p", "v"}, "o");
  add_transpose(model, "o", "y", {0, 2, 1, 3});
  add_output(model, "y");
  Machine machine = turning();
  machine.fused_attention = FusedAttention::on;
  const Application application = compiled(model, machine);
  EXPECT_THAT(mnemonics(application), ElementsAre("attention+transpose"));
  EXPECT_EQ(class_at(application, 0).turned_run, 40);
  expect_round_trip(application.stages[0], machine);
}

TEST(turn, the_larger_part_of_a_split_comes_back_from_its_text) {
  onnx::ModelProto model = model_of_x({2, 8, 6});
  add_node(model, "Relu", {"x"}, "r");
  add_ints(model, "sizes", {2, 6});
  auto& split = add_node(model, "Split", {"r", "sizes"}, "a");
  split.add_output("b");
  set_int(split, "axis", 1);
  add_transpose(model, "b", "y", {1, 0, 2});
  add_output(model, "a");
  add_output(model, "y");
  const Application application = compiled(model, turning());
  EXPECT_THAT(mnemonics(application), ElementsAre("relu", "copy", "copy+transpose"));
  EXPECT_EQ(class_at(application, 2).turned_run, 6);
  expect_round_trip(application.stages[0], turning());
}

TEST(turn, a_result_that_is_written_turned_takes_no_operand_s_place) {
  Draft draft;
  const DraftOperand operand{0, {Place::nowhere, 12, 1, true}, true};
  draft.operands = {operand};
  EXPECT_TRUE(may_replace(draft, operand));
  draft.turned_run = 3;
  EXPECT_FALSE(may_replace(draft, operand));
}

TEST(turn, a_text_with_other_runs_than_its_nodes_leave_is_refused) {
  onnx::ModelProto model = heads_model({1, 0, 2});
  add_output(model, "y");
  std::string text = graph_text(compiled(model, turning()).stages[0]);
  const std::size_t at = text.find(" nodes=");
  ASSERT_NE(at, std::string::npos);
  text.insert(at, " turned_run=320");
  try {
    parse_graph_text(text);
    ADD_FAILURE() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "graph_inconsistent");
    EXPECT_THAT(error.what(), HasSubstr("turned_run: its nodes leave 40, found 320"));
  }
}

}  // namespace
}  // namespace sdip
