// A `.graph` text written by hand is costed; one that contradicts itself is refused, with line and reason.
#include "core/program/form/parse.h"

#include <gmock/gmock.h>

#include "tests/core/program/compiled.h"
#include "tests/core/program/form/round_trip.h"

namespace sdip {
namespace {

using testing::HasSubstr;

/// The example of docs/formats.md: y = silu(x W0) W1 + x.
const std::string written_example = R"(sdip graph 2
stage "two layers" network
machine weight_format=int8 activation_format=int8
graph "two layers"
inputs %x
outputs %y
value %x input float32[4,16]
value %w0 weight float32[16,32]
value %w1 weight float32[32,16]
node 0 %h = MatMul(%x,%w0)
node 1 %s = sdip.Silu(%h)
node 2 %p = MatMul(%s,%w1)
node 3 %y = Add(%p,%x)
# x comes from DRAM; the residual is read there again.
instruction 0 matmul+silu dram:%x psram@0 dsram:%s 64 512 nodes=0,1 weights=%w0
instruction 1 matmul+add dsram:%s psram@512 dram:%y 128 512 more=dram:%x nodes=2,3 weights=%w1
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = written_example;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// "CODE: WHERE: message", or "read".
std::string outcome_of(const std::string& text) {
  try {
    parse_graph_text(text);
  } catch (const Error& error) {
    return error.code + ": " + error.where + ": " + error.what();
  }
  return "read";
}

TEST(parse, a_program_written_by_hand_has_the_classes_that_its_operators_say) {
  const CompiledStage stage = parse_graph_text(written_example);
  EXPECT_EQ(stage.name, "two layers");
  ASSERT_EQ(stage.program.instructions.size(), 2U);
  const auto& c = stage.program.classes.at(1);
  EXPECT_EQ(c.work.family, Family::linear);
  EXPECT_EQ(mac_count(c.work.nest), 4 * 32 * 16);
  EXPECT_EQ(c.operand_a, Place::dsram);
  EXPECT_EQ(c.fused_operators, 1);
  ASSERT_EQ(c.fetches.size(), 1U);
  EXPECT_EQ(c.fetches[0], (Fetch{Place::dram, 64, 1, true}));
  EXPECT_EQ(stage.program.weight_bytes, Bytes(1024));
  EXPECT_EQ(stage.program.input_bytes, Bytes(64));
  EXPECT_EQ(stage.program.output_bytes, Bytes(64));
  Machine machine;
  machine.weight_format = machine.activation_format = NumberFormat::int8;
  expect_round_trip(stage, machine);
  Application application;
  application.stages = {stage};
  const Report report = estimate(application, machine);
  EXPECT_TRUE(report.outcome.feasible) << report.outcome.reason;
  EXPECT_EQ(report.stages.at(0).macs, Macs(2 * 4 * 32 * 16));
  EXPECT_EQ(report.stages.at(0).dram_weights, Bytes(1024)) << "they fit in PSRAM, but nothing says that they stay";
}

TEST(parse, a_compiled_program_and_the_same_by_hand_cost_the_same) {
  auto model = model_of_x({4, 16});
  add_weight(model, "w0", {16, 32});
  add_weight(model, "w1", {32, 16});
  add_node(model, "MatMul", {"x", "w0"}, "h");
  add_node(model, "Relu", {"h"}, "s");
  add_node(model, "MatMul", {"s", "w1"}, "y");
  add_output(model, "y");
  Machine machine;
  machine.fusion = Fusion::pointwise;
  const Application application = compiled(model, machine);
  expect_round_trip(application.stages.at(0), machine);
}

TEST(parse, errors_name_line_field_and_what_was_expected) {
  EXPECT_EQ(outcome_of(written_example), "read");
  const std::pair<std::string, std::string> cases[] = {
      {outcome_of(""), "graph_inconsistent: line 0: line 0: expected instructions"},
      {outcome_of(changed("graph 2", "graph 7")), "graph_version: line 1: a .graph text of version 7, expected 2"},
      {outcome_of(changed(" network", " web")), "graph_text_invalid: line 2: line 2, column 20: expected a role"},
      {outcome_of(changed("=int8", "=int9")), "graph_text_invalid: line 3: "},
      {outcome_of(changed("inputs", "input")),
       "graph_inconsistent: line 5: line 5: expected the line 'inputs ...'"},
      {outcome_of(changed("[4,16]", "[4,-1]")), "expected a size, 0 to 9223372036854775807, found '-1]'"},
      {outcome_of(changed("node 1", "node 3")), "expected the node's number in order, 1 to 1, found '3 %s"},
      {outcome_of(changed("sdip.Silu", "sdip.Sulu")), "expected an operator that is known, found 'sdip.Sulu"},
      {outcome_of(changed("(%x,%w0)", "(%x,%w1)")), "graph_inconsistent: line 10: "},
      {outcome_of(changed("64 512 nodes", "65 512 nodes")),
       "graph_inconsistent: line 15: line 15: src1_size src2_size: expected 64 512, what their values take"},
      {outcome_of(changed("psram@512", "psram@500")), "the region at 500 is expected at 512"},
      {outcome_of(changed("128 512", "128 511")), "src2_size: its weights take 512 B, found 511"},
      {outcome_of(changed("matmul+silu", "matmul+relu")), "operation: its nodes are "},
      {outcome_of(changed("nodes=2,3", "nodes=2,4")), "expected a node, 0 to 3, found '4'"},
      {outcome_of(changed("1 matmul+add dsram", "1 matmul+add stackram")), "operand %4 is not in stackram"},
      {outcome_of(changed("nodes=0,1", "nodes=0,1 tile_rows=5")), "tile_rows: expected 1 to 4, found 5"},
      {outcome_of(changed("nodes=0,1", "nodes=0,1 out=5x1")), "the sizes of its work are other than"},
      {outcome_of(changed("nodes=0,1", "nodes=0,1 held=1")), "no such field: 'held'"},
      {outcome_of(changed("nodes=0,1", "nodes=0,1 nodes=0")), "expected each field once, not 'nodes' again"},
      {outcome_of(changed("nodes=0,1", "nodes=0,1 occupancy=0,0,0 name=\"x")), "expected a closing quote"},
      {outcome_of(changed("dram:%x psram@0", "dram:%y psram@0")), "operand %6 is not in dram"},
      {outcome_of(changed("more=dram:%x", "more=dram:%x,dram:%x")), "read"},
      {outcome_of(changed("weights=%w0", "weights=%w1")), "weights: expected %1, what its nodes read"},
      {outcome_of(changed("outputs %y", "outputs %p")), "no instruction makes output"},
  };
  for (const auto& [found, expected] : cases) EXPECT_THAT(found, HasSubstr(expected));
}

TEST(parse, a_machine_of_other_formats_or_smaller_memories_does_not_take_the_program) {
  const CompiledStage stage = parse_graph_text(written_example);
  Machine machine;
  try {
    require_like(stage, machine);
    ADD_FAILURE() << "a machine of fp16 took a program of int8";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "program_mismatch");
    EXPECT_STREQ(
        error.what(),
        "the program of 'two layers' is for weight_format=int8 activation_format=int8, the machine has fp16, fp16");
  }
  machine.weight_format = machine.activation_format = NumberFormat::int8;
  require_like(stage, machine);
  EXPECT_EQ(misfit(stage, machine), std::nullopt);
  machine.dsram_bytes = 127;
  EXPECT_EQ(misfit(stage, machine), "0: needs 128 B of DSRAM, which has 127");
  machine.dsram_bytes = 128 + 64;
  EXPECT_EQ(misfit(stage, machine), std::nullopt);
  machine.psram_bytes = 511;
  EXPECT_EQ(misfit(stage, machine), "0: needs 512 B of PSRAM beside pinned weights, which has 511");
}

TEST(parse, a_part_in_series_says_which_one_it_is) {
  std::string text = written_example;
  text.replace(text.find(" network\n"), 9, " network part=1 parts=3 dram_thousandths=250\n");
  const CompiledStage stage = parse_graph_text(text);
  EXPECT_EQ(stage.part.index, 1);
  EXPECT_EQ(stage.part.count, 3);
  EXPECT_EQ(stage.dram_thousandths, 250);
  text.replace(text.find(" part=1"), 7, " part=1 part=2");
  EXPECT_THROW(parse_graph_text(text), Error);
}

TEST(parse, a_tile_of_sums_takes_psram_for_its_weights_alone) {
  std::string text = written_example;
  for (const char* weights : {"weights=%w0", "weights=%w1"})
    text.replace(text.find(weights), 11, std::string(weights) + " tile_sums=4 tiles=0,0,128,512");
  const CompiledStage stage = parse_graph_text(text);
  Machine machine;
  machine.weight_format = machine.activation_format = NumberFormat::int8;
  machine.psram_bytes = 128;  // 4 x 32 of w0, 4 x 16 of w1
  EXPECT_EQ(misfit(stage, machine), std::nullopt);
  machine.psram_bytes = 127;
  EXPECT_EQ(misfit(stage, machine), "0: needs 128 B of PSRAM beside pinned weights, which has 127");
}

TEST(parse, a_tile_of_sums_has_room_for_the_partial_ones_beside_it) {
  const auto with_room = [](const std::string& bytes) {  // 4 x 32 sums of 4 bytes, between tiles of 4 of 16
    return outcome_of(changed("weights=%w0", "weights=%w0 tile_sums=4 tiles=0,0,128," + bytes));
  };
  EXPECT_EQ(with_room("512"), "read");
  EXPECT_THAT(with_room("511"), HasSubstr("tiles: expected at least 512 B of result tiles for the partial sums of "
                                          "tile_sums=4, found 511"));
  EXPECT_EQ(outcome_of(changed("weights=%w0", "weights=%w0 tile_sums=16")), "read");
}

TEST(parse, a_tile_of_channels_is_of_one_group_or_of_whole_groups) {
  const auto tiled = [](const std::string& mapping) {
    return "sdip graph 2\nstage \"s\" network\nmachine\ngraph \"g\"\ninputs %x\noutputs %y\n"
           "value %x input float32[1,12,4,4]\nvalue %w weight float32[24,4,1,1]\n"
           "node 0 %y = Conv(%x,%w) attributes={\"group\"=3}\n"
           "instruction 0 conv2d dram:%x psram@0 dram:%y 384 192 nodes=0 weights=%w tile_channels=" +
           mapping + "\n";
  };
  for (const char* whole : {"4", "5", "8", "16", "24"}) EXPECT_EQ(outcome_of(tiled(whole)), "read") << whole;
  for (const char* torn : {"9", "12", "23"})
    EXPECT_THAT(
        outcome_of(tiled(torn)),
        HasSubstr("tile_channels: expected channels of one group, at most 8, or whole groups of as many, found "))
        << torn;
  const CompiledStage stage = parse_graph_text(tiled("4"));
  expect_round_trip(stage, machine_like(stage.needs));
}

TEST(words, what_fits_takes_two_words_and_what_does_not_goes_on) {
  CompiledStage stage = parse_graph_text(changed("weight_format=int8", "weight_format=fp8_e4m3"));
  EXPECT_EQ(stage.program.instructions[0].words, 2);
  EXPECT_EQ(stage.program.instructions[1].words, 3) << "an operand of what is fused";
  EXPECT_EQ(imem_bytes(stage.program), Bytes(5 * 32));
  stage = parse_graph_text(written_example);
  EXPECT_EQ(stage.program.instructions[0].words, 3) << "the scale of its weights";
}

}  // namespace
}  // namespace sdip
