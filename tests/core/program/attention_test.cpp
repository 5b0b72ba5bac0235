// Attention as one instruction: what joins, what does not, and the tiles chosen.
#include "core/program/tiling/attention_tiles.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using testing::Not;

Machine fusing() {
  Machine m;
  m.fused_attention = FusedAttention::on;
  m.transposition = Transposition::dynamic_transposition;
  return m;
}

/// softmax(q k + ...) v of 2 x 8 heads, 64 queries, 32 keys of 16; `between` adds what stands before the softmax,
/// from "s" to the value it returns.
template <class Between>
onnx::ModelProto attention(Between&& between) {
  onnx::ModelProto model = model_of_x({2, 8, 64, 16});
  add_input(model, "c", {2, 8, 16, 32});
  add_input(model, "d", {2, 8, 32, 16});
  add_node(model, "Relu", {"x"}, "q");
  add_node(model, "Neg", {"c"}, "k");
  add_node(model, "Neg", {"d"}, "v");
  add_node(model, "MatMul", {"q", "k"}, "s");
  add_node(model, "Softmax", {between(model)}, "p");
  add_node(model, "MatMul", {"p", "v"}, "y");
  add_output(model, "y");
  return model;
}

onnx::ModelProto plain() {
  return attention([](onnx::ModelProto&) { return std::string("s"); });
}

TEST(fused_attention, is_one_instruction_that_reads_queries_keys_and_values) {
  const Application application = compiled(plain(), fusing());
  EXPECT_THAT(mnemonics(application), ElementsAre("relu", "neg", "neg", "attention"));
  EXPECT_THAT(sources_at(application, 3), ElementsAre(Place::stackram, Place::stackram, Place::dsram));
  const InstructionClass& c = class_at(application, 3);
  EXPECT_EQ(c.out_elements, 2 * 8 * 64 * 16);
  const AttentionSizes sizes = attention_sizes(c);
  EXPECT_THAT((std::vector{sizes.heads, sizes.rows, sizes.keys, sizes.depth, sizes.values}),
              ElementsAre(16, 64, 32, 16, 16));
  const Instruction& instruction = application.stages[0].program.instructions[3];
  EXPECT_THAT(instruction.nodes, ElementsAre(3, 4, 5));
  EXPECT_EQ(instruction.stackram.value, 2 * 8 * 2 * (64 * 16 + 16 * 32));
}

TEST(fused_attention, is_off_unless_asked_for) {
  EXPECT_THAT(mnemonics(compiled(plain(), Machine{})),
              ElementsAre("relu", "neg", "neg", "matmul", "softmax", "matmul"));
}

TEST(fused_attention, takes_masks_with_operands_of_their_own_in_and_a_constant_one_is_held) {
  const auto model = attention([](onnx::ModelProto& m) {
    add_weight(m, "causal", {64, 32});
    add_input(m, "bias", {2, 8, 64, 32});
    add_node(m, "Add", {"s", "causal"}, "s1");
    add_node(m, "Add", {"bias", "s1"}, "s2");
    return std::string("s2");
  });
  const Application application = compiled(model, fusing());
  EXPECT_THAT(mnemonics(application), ElementsAre("relu", "neg", "neg", "attention+add+add"));
  const InstructionClass& c = class_at(application, 3);
  EXPECT_EQ(c.fused_operators, 2);
  EXPECT_EQ(c.weight_elements, 64 * 32);
  EXPECT_THAT(c.fetches,
              ElementsAre(Fetch{Place::psram, 16 * 64 * 32, 1, true}, Fetch{Place::dram, 16 * 64 * 32, 1, true}));
}

TEST(fused_attention, sees_through_views_but_not_through_a_transposition_of_the_scores) {
  const auto viewed = attention([](onnx::ModelProto& m) {
    add_ints(m, "shape", {16, 64, 32});
    add_node(m, "Reshape", {"s", "shape"}, "s1");
    add_ints(m, "back", {2, 8, 64, 32});
    add_node(m, "Reshape", {"s1", "back"}, "s2");
    return std::string("s2");
  });
  EXPECT_THAT(mnemonics(compiled(viewed, fusing())), testing::Contains("attention"));
  onnx::ModelProto turned = model_of_x({8, 32, 32});
  add_node(turned, "Relu", {"x"}, "q");
  add_node(turned, "MatMul", {"q", "x"}, "s");
  set_ints(add_node(turned, "Transpose", {"s"}, "t"), "perm", {0, 2, 1});
  add_node(turned, "Softmax", {"t"}, "p");
  add_node(turned, "MatMul", {"p", "x"}, "y");
  add_output(turned, "y");
  EXPECT_THAT(mnemonics(compiled(turned, fusing())), Not(testing::Contains("attention")));
}

TEST(fused_attention, leaves_scores_and_probabilities_alone_that_something_else_reads) {
  for (const char* seen : {"s", "p"}) {
    onnx::ModelProto model = plain();
    add_node(model, "Tanh", {seen}, "z");
    add_output(model, "z");
    EXPECT_THAT(mnemonics(compiled(model, fusing())), testing::Contains("softmax")) << seen;
    onnx::ModelProto shown = plain();
    add_output(shown, seen);
    EXPECT_THAT(mnemonics(compiled(shown, fusing())), testing::Contains("softmax")) << seen;
  }
}

TEST(fused_attention, needs_a_softmax_along_the_keys) {
  onnx::ModelProto model = model_of_x({8, 32, 32});
  add_node(model, "MatMul", {"x", "x"}, "s");
  set_int(add_node(model, "Softmax", {"s"}, "p"), "axis", 1);
  add_node(model, "MatMul", {"p", "x"}, "y");
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, fusing())), ElementsAre("matmul", "softmax", "matmul"));
}

TEST(fused_attention, of_two_whose_results_are_scores_takes_the_first) {
  onnx::ModelProto model = model_of_x({8, 32, 32});
  add_node(model, "MatMul", {"x", "x"}, "s");
  add_node(model, "Softmax", {"s"}, "p");
  add_node(model, "MatMul", {"p", "x"}, "t");
  add_node(model, "Softmax", {"t"}, "r");
  add_node(model, "MatMul", {"r", "x"}, "y");
  add_output(model, "y");
  EXPECT_THAT(mnemonics(compiled(model, fusing())), ElementsAre("attention", "softmax", "matmul"));
}

/// One head with every operand in DRAM, its results too.
InstructionClass streamed(const AttentionSizes& s) {
  InstructionClass c;
  c.compound = Compound::attention;
  c.work.family = Family::matmul;
  c.work.nest.groups = s.heads;
  c.work.nest.out_h = c.work.nest.in_h = s.rows;
  c.work.nest.out_channels = s.keys;
  c.work.nest.in_channels = s.depth;
  c.parts.resize(3);
  c.parts[2].work = c.work;
  c.parts[2].work.nest.in_channels = s.keys;
  c.parts[2].work.nest.out_channels = s.values;
  c.operand_b = c.parts[2].operand_b = Place::dram;
  c.operand_a = Place::dsram;
  return c;
}

TileRoom room_of(std::int64_t read, std::int64_t write) {
  TileRoom room;
  room.read_bytes = read;
  room.write_bytes = write;
  room.buffers = 1;
  room.activation_bits = 8;
  room.accumulator_bits = 32;
  return room;
}

std::vector<std::int64_t> tile_of(const InstructionClass& c, const TileRoom& room) {
  const auto mapping = choose_attention(c, room, room.weight_bytes);
  if (!mapping) return {};
  return {mapping->tile_rows, mapping->tile_channels};
}

TEST(attention_tiles, keep_all_keys_when_they_fit_and_all_rows_when_they_do_not) {
  const InstructionClass c = streamed({1, 300, 300, 64, 64});
  EXPECT_THAT(tile_of(c, room_of(38'400, 109'200)), ElementsAre(100, 300));
  EXPECT_THAT(tile_of(c, room_of(38'399, 109'200)), ElementsAre(300, 100));
}

TEST(attention_tiles, are_infeasible_only_when_one_query_by_one_key_does_not_fit) {
  const InstructionClass c = streamed({2, 50, 70, 8, 12});
  const std::int64_t read = 8 + 12, write = 1 + 4 * (12 + 2);
  EXPECT_THAT(tile_of(c, room_of(read, write)), ElementsAre(1, 1));
  EXPECT_THAT(tile_of(c, room_of(read - 1, write)), ElementsAre());
  EXPECT_THAT(tile_of(c, room_of(read, write - 1)), ElementsAre());
}

/// The best by trying all tiles.
std::vector<std::int64_t> best_of_all(InstructionClass c, const TileRoom& room) {
  const AttentionSizes s = attention_sizes(c);
  std::vector<std::int64_t> best, best_tile;
  for (std::int64_t rows = 1; rows <= s.rows; ++rows)
    for (std::int64_t keys = 1; keys <= s.keys; ++keys) {
      c.mapping = {rows, 1, keys, s.depth, rows_outermost};
      const TileBuffers buffers = attention_buffers(c, room);
      if (buffers.read_bytes > room.read_bytes || buffers.write_bytes > room.write_bytes) continue;
      const std::vector cost{dram_bytes(c, room), attention_folds(c), rows, keys};
      if (!best.empty() && best <= cost) continue;
      best = cost;
      best_tile = {rows, keys};
    }
  return best_tile;
}

TEST(attention_tiles, are_the_best_of_all_there_are) {
  std::mt19937_64 engine(7);
  const auto between = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(most - least + 1));
  };
  std::int64_t tiled = 0;
  for (int i = 0; i < 100; ++i) {
    SCOPED_TRACE(i);
    const std::int64_t most = between(0, 2) == 0 ? 420 : 40;
    InstructionClass c =
        streamed({between(1, 3), between(1, most), between(1, most), between(1, 200), between(1, 200)});
    for (Place* place : {&c.operand_a, &c.operand_b, &c.parts[2].operand_b})
      *place = between(0, 1) == 0 ? Place::dram : Place::dsram;
    c.to_dram = between(0, 1) == 0;
    c.to_dsram = !c.to_dram;
    if (between(0, 2) == 0) c.fetches = {{Place::dram, between(1, 5000), 1, between(0, 1) == 0}};
    TileRoom room = room_of(between(100, 60'000), between(500, 90'000));
    room.buffers = between(1, 2);
    const std::vector<std::int64_t> tile = tile_of(c, room);
    EXPECT_EQ(tile, best_of_all(c, room));
    tiled += !tile.empty() && tile[1] < attention_sizes(c).keys;
  }
  EXPECT_GE(tiled, 10);
}

}  // namespace
}  // namespace sdip
