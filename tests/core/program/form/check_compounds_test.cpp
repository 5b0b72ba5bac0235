// Compound instructions and sums that were read: what is other than their nodes is refused, with line and field.
#include <gmock/gmock.h>

#include "core/program/form/parse.h"
#include "tests/core/program/compiled.h"
#include "tests/core/program/form/round_trip.h"

namespace sdip {
namespace {

using testing::HasSubstr;

/// softmax(q k + mask) v of 4 heads, 16 queries, 8 keys of 16.
std::string attention_text(bool spread = false) {
  onnx::ModelProto model = model_of_x({4, 16, 16});
  add_input(model, "k", {4, 16, 8});
  add_input(model, "v", {4, 8, 16});
  add_input(model, "mask", {4, 16, 8});
  add_node(model, "MatMul", {"x", "k"}, "s");
  add_node(model, "Add", {"s", "mask"}, "m");
  add_node(model, "Softmax", {"m"}, "p");
  add_node(model, "MatMul", {"p", "v"}, "y");
  add_output(model, "y");
  Machine machine;
  machine.fused_attention = FusedAttention::on;
  if (spread) machine.branches = Branches::parallel;
  machine.cores = 2;
  return graph_text(compiled(model, machine).stages.at(0));
}

/// Two 3x3 convolutions and a Relu between, with a norm before the second where `norm` is.
std::string strips_text(bool norm = false) {
  onnx::ModelProto model = model_of_x({1, 4, 64, 64});
  add_weight(model, "w1", {4, 4, 3, 3});
  add_weight(model, "w2", {4, 4, 3, 3});
  set_ints(add_node(model, "Conv", {"x", "w1"}, "a"), "pads", {1, 1, 1, 1});
  add_node(model, "Relu", {"a"}, "b");
  if (norm) {
    add_weight(model, "scale", {4});
    add_weight(model, "shift", {4});
    add_node(model, "InstanceNormalization", {"b", "scale", "shift"}, "n");
  }
  set_ints(add_node(model, "Conv", {norm ? "n" : "b", "w2"}, "y"), "pads", {1, 1, 1, 1});
  add_output(model, "y");
  Machine machine;
  machine.strips = norm ? Strips::line_buffers : Strips::halo_recompute;
  machine.fusion = Fusion::norm;
  machine.norm_statistics = NormStatistics::recompute;
  machine.dsram_bytes = norm ? 16384 : 8192;
  machine.stackram_bytes = 0;
  return graph_text(compiled(model, machine).stages.at(0));
}

/// What the reader says of the text with `to` in the place of `from`, in its last line where that is.
std::string outcome_of(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.rfind(from);
  if (at == std::string::npos) return "no such text: " + from + " in " + text;
  try {
    parse_graph_text(text.replace(at, from.size(), to));
  } catch (const Error& error) {
    return error.code + ": " + error.what();
  }
  return "read";
}

TEST(compounds, of_attention_are_what_the_compiler_makes_of_their_nodes) {
  const std::string text = attention_text();
  ASSERT_THAT(text, HasSubstr("attention+add"));
  EXPECT_EQ(outcome_of(text, "attention", "attention"), "read");
  const std::pair<std::string, std::string> cases[] = {
      {outcome_of(text, "rows=64", "rows=63"), "part 1: expected rows=64, found rows=63"},
      {outcome_of(text, "elements=1024", "elements=1023"), "expected elements=1024, found elements=1023"},
      {outcome_of(text, "attention+add", "attention+mul"), "operation: expected 'attention+add', found"},
      {outcome_of(text, "fused_operators=1", "fused_operators=2"), "expected fused_operators=1, found"},
      {outcome_of(text, "nodes=0,1,2,3", "nodes=0,1,2"), "softmax(q k) v, which nothing else reads"},
      {outcome_of(text, "nodes=0,1,2,3", "spread_cores=3 nodes=0,1,2,3"), "a divisor of 4 heads"},
  };
  for (const auto& [found, expected] : cases) EXPECT_THAT(found, HasSubstr(expected)) << text;
}

TEST(compounds, of_spread_heads_are_of_one_core) {
  const std::string text = attention_text(true);
  ASSERT_THAT(text, HasSubstr("spread_cores=2"));
  EXPECT_EQ(outcome_of(text, "attention", "attention"), "read");
  EXPECT_THAT(outcome_of(text, "spread_cores=2", "spread_cores=4"), HasSubstr("graph_inconsistent"));
}

TEST(compounds, of_strips_are_what_the_compiler_makes_of_their_nodes) {
  const std::string text = strips_text();
  ASSERT_THAT(text, HasSubstr("strips:conv2d+relu>conv2d"));
  EXPECT_EQ(outcome_of(text, "strips:", "strips:"), "read");
  const std::pair<std::string, std::string> cases[] = {
      {outcome_of(text, "out=64x64", "out=63x64"), "part 1: expected out=64x64, found out=63x64"},
      {outcome_of(text, "weights_per_channel=36", "weights_per_channel=35"),
       "part 1: expected weights_per_channel"},
      {outcome_of(text, "fused_operators=1", "fused_operators=2"), "part 1: prologue_passes, fused_operators: "},
      {outcome_of(text, "strips:conv2d+relu>conv2d", "strips:conv2d>relu>conv2d"), "operation: expected 'strips:"},
      {outcome_of(text, "nodes=0,1,2", "nodes=0,2,1"), "reads the rows that the one before makes"},
      {outcome_of(text, "operand_b=psram", "operand_b=dram"), "expected operand_b=psram, found operand_b=dram"},
  };
  for (const auto& [found, expected] : cases) EXPECT_THAT(found, HasSubstr(expected)) << text;
}

TEST(compounds, that_make_sums_are_the_first_parts_of_the_strips_behind_them) {
  const std::string text = strips_text(true);
  ASSERT_THAT(text, HasSubstr("strips:conv2d+relu_sums")) << text;
  EXPECT_EQ(outcome_of(text, "strips:", "strips:"), "read");
}

TEST(sums, have_one_instruction_that_makes_them_and_it_makes_nothing_else) {
  const std::string text = strips_text(true);
  const std::size_t line = text.find("instruction 0 ");
  ASSERT_NE(text.find("_sums", line), std::string::npos) << text;
  const std::size_t at = text.find("register:%", line), end = text.find(' ', at);
  ASSERT_NE(at, std::string::npos) << text;
  const std::string sums = text.substr(at, end - at);
  EXPECT_THAT(outcome_of(text, sums, "dram:%" + sums.substr(10)),
              HasSubstr("dst: expected register, where sums lie"))
      << sums;
  EXPECT_THAT(outcome_of(text, sums, "register:%1"),
              HasSubstr("dst: expected sums of an instruction of nodes=none, and of no other"));
  const std::size_t value = text.find("value %" + sums.substr(10) + " sums");
  ASSERT_NE(value, std::string::npos) << text;
  const std::string line_of = text.substr(value, text.find('\n', value) - value + 1);
  EXPECT_THAT(outcome_of(text, line_of, line_of + "value %left sums float32[1,2]\n"),
              HasSubstr("no instruction makes the sums %"));
}

}  // namespace
}  // namespace sdip
