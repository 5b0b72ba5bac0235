// Does a program fit at exactly the capacity that it needs, and not at one byte less?
#include <gmock/gmock.h>

#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// 10 rows of 100 by 100 x 50 in fp16, from and to DRAM.
onnx::ModelProto linear_model() {
  onnx::ModelProto model = model_of_x({10, 100});
  add_weight(model, "w", {100, 50});
  add_node(model, "MatMul", {"x", "w"}, "y", "/product");
  add_output(model, "y");
  return model;
}

TEST(dsram, holds_two_single_sums_and_two_operands_of_them_at_least) {
  Machine m;
  m.dsram_bytes = 2 * 4;  // two buffers of one sum in fp32; the operand's elements have two bytes
  const Application fits = compiled(linear_model(), m);
  ASSERT_TRUE(fits.feasible) << fits.reason;
  EXPECT_EQ(class_at(fits, 0).mapping.tile_rows, 1);
  EXPECT_LE(fits.stages[0].program.instructions[0].dsram_read_side, Bytes(8));
  --m.dsram_bytes;
  const Application over = compiled(linear_model(), m);
  EXPECT_FALSE(over.feasible);
  EXPECT_THAT(over.reason, HasSubstr("net: /product: even the smallest tile does not fit in DSRAM (7 B): 8 B"));
  m.tile_buffering = Buffering::single_buffer;
  m.dsram_bytes = 4;
  EXPECT_TRUE(compiled(linear_model(), m).feasible);
  --m.dsram_bytes;
  EXPECT_FALSE(compiled(linear_model(), m).feasible);
}

TEST(dsram, of_two_rows_holds_them_whole_rather_than_parts_of_their_sums) {
  Machine m;
  m.dsram_bytes = 2 * 100 * 2;  // two buffers of one row of 100 elements
  const Application fits = compiled(linear_model(), m);
  ASSERT_TRUE(fits.feasible) << fits.reason;
  EXPECT_EQ(class_at(fits, 0).mapping.tile_rows, 1);
  EXPECT_EQ(class_at(fits, 0).mapping.tile_sums, 100);
  EXPECT_EQ(fits.stages[0].program.instructions[0].dsram_read_side, Bytes(400));
}

TEST(psram, holds_one_weight_at_least_and_all_channels_twice_when_it_can) {
  Machine m;
  m.psram_bytes = 2;
  const Application one = compiled(linear_model(), m);
  ASSERT_TRUE(one.feasible) << one.reason;
  EXPECT_EQ(class_at(one, 0).mapping.tile_channels, 1);
  EXPECT_EQ(class_at(one, 0).mapping.tile_sums, 1);
  --m.psram_bytes;
  EXPECT_FALSE(compiled(linear_model(), m).feasible);
  m.psram_bytes = 2 * 50 * 100 * 2;
  EXPECT_EQ(class_at(compiled(linear_model(), m), 0).mapping.tile_channels, 50);
  --m.psram_bytes;
  EXPECT_LT(class_at(compiled(linear_model(), m), 0).mapping.tile_channels, 50);
}

TEST(resident_weights, fit_at_their_size_and_one_byte_less_is_infeasible) {
  Machine m;
  m.weight_storage = WeightStorage::resident;
  m.psram_bytes = 100 * 50 * 2;
  const Application fits = compiled(linear_model(), m);
  ASSERT_TRUE(fits.feasible) << fits.reason;
  EXPECT_TRUE(class_at(fits, 0).pinned);
  EXPECT_EQ(fits.stages[0].program.pinned_bytes, Bytes(10'000));
  --m.psram_bytes;
  EXPECT_THAT(compiled(linear_model(), m).reason,
              HasSubstr("resident weights need 10000 B of PSRAM, which has 9999"));
}

/// Two products with 10,000 and 2,000 bytes of weights in fp16.
onnx::ModelProto two_products() {
  onnx::ModelProto model = model_of_x({10, 100});
  add_weight(model, "w", {100, 50});
  add_weight(model, "v", {50, 20});
  add_node(model, "MatMul", {"x", "w"}, "h", "/first");
  add_node(model, "MatMul", {"h", "v"}, "y", "/second");
  add_output(model, "y");
  return model;
}

TEST(pinned_weights, are_whole_instructions_that_fit) {
  Machine m;
  m.psram_bytes = 11'000;  // not all of them
  m.psram_pinned_bytes = 10'000;
  const Application first = compiled(two_products(), m);
  EXPECT_TRUE(class_at(first, 0).pinned);
  EXPECT_FALSE(class_at(first, 1).pinned);
  --m.psram_pinned_bytes;
  const Application second = compiled(two_products(), m);
  EXPECT_FALSE(class_at(second, 0).pinned);
  EXPECT_TRUE(class_at(second, 1).pinned);
  EXPECT_EQ(second.stages[0].program.pinned_bytes, Bytes(2'000));
}

TEST(streamed_weights, stay_when_all_of_them_fit) {
  Machine m;
  m.psram_bytes = 12'000;
  EXPECT_EQ(compiled(two_products(), m).stages[0].program.pinned_bytes, Bytes(12'000));
  --m.psram_bytes;
  EXPECT_EQ(compiled(two_products(), m).stages[0].program.pinned_bytes, Bytes(0));
}

/// a = relu(x), b = relu(a), y = b + a: a is read from DSRAM next, and from STACKRAM after that.
onnx::ModelProto skip_model() {
  onnx::ModelProto model = model_of_x({1, 64});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Add", {"b", "a"}, "y");
  add_output(model, "y");
  return model;
}

TEST(stackram, holds_a_skip_at_its_size_and_spills_it_at_one_byte_less) {
  Machine m;
  m.stackram_bytes = 128;
  const Application held = compiled(skip_model(), m);
  EXPECT_THAT(sources_at(held, 1), ElementsAre(Place::dsram));
  EXPECT_THAT(sources_at(held, 2), ElementsAre(Place::dsram, Place::stackram));
  EXPECT_TRUE(class_at(held, 0).push);
  EXPECT_FALSE(class_at(held, 0).to_dram);
  EXPECT_TRUE(held.stages[0].program.instructions[2].sources[1].pop);
  EXPECT_EQ(held.stages[0].program.instructions[1].stackram, Bytes(128));
  --m.stackram_bytes;
  const Application spilled = compiled(skip_model(), m);
  ASSERT_TRUE(spilled.feasible);
  EXPECT_THAT(sources_at(spilled, 1), ElementsAre(Place::dsram));
  EXPECT_THAT(sources_at(spilled, 2), ElementsAre(Place::dsram, Place::dram));
  EXPECT_TRUE(class_at(spilled, 0).to_dram);
  EXPECT_FALSE(class_at(spilled, 0).push);
}

TEST(dsram, holds_a_whole_value_at_its_size_and_sends_it_to_dram_at_one_byte_less) {
  onnx::ModelProto model = model_of_x({1, 4096});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Relu", {"b"}, "y");
  add_output(model, "y");
  Machine m;
  m.dsram_bytes = 8192;
  EXPECT_THAT(sources_at(compiled(model, m), 2), ElementsAre(Place::dsram));
  --m.dsram_bytes;
  EXPECT_THAT(sources_at(compiled(model, m), 2), ElementsAre(Place::dram));
}

TEST(unified_memory, lends_stackram_s_room_to_values_of_dsram) {
  onnx::ModelProto model = model_of_x({1, 4096});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Relu", {"b"}, "y");
  add_output(model, "y");
  Machine m;
  m.dsram_bytes = 4096;
  m.stackram_bytes = 65536;
  EXPECT_THAT(sources_at(compiled(model, m), 1), ElementsAre(Place::dram));
  m.activation_memory = ActivationMemory::unified;
  EXPECT_THAT(sources_at(compiled(model, m), 1), ElementsAre(Place::dsram));
}

/// Three values of 128 bytes wait at once: a until the end, b and c in between.
onnx::ModelProto three_skips() {
  onnx::ModelProto model = model_of_x({1, 64});
  add_node(model, "Relu", {"x"}, "a");
  add_node(model, "Relu", {"a"}, "b");
  add_node(model, "Relu", {"b"}, "c");
  add_node(model, "Relu", {"c"}, "d");
  add_node(model, "Add", {"d", "c"}, "e");
  add_node(model, "Add", {"e", "b"}, "f");
  add_node(model, "Add", {"f", "a"}, "y");
  add_output(model, "y");
  return model;
}

TEST(stackram, spills_the_value_whose_next_use_is_farthest) {
  Machine m;
  m.stackram_bytes = 3 * 128;
  EXPECT_THAT(sources_at(compiled(three_skips(), m), 6), ElementsAre(Place::dsram, Place::stackram));
  --m.stackram_bytes;
  const Application application = compiled(three_skips(), m);
  EXPECT_THAT(sources_at(application, 4), ElementsAre(Place::dsram, Place::stackram));
  EXPECT_THAT(sources_at(application, 5), ElementsAre(Place::dsram, Place::stackram));
  EXPECT_THAT(sources_at(application, 6), ElementsAre(Place::dsram, Place::dram));
}

TEST(stackram, of_no_bytes_spills_everything_and_still_runs) {
  Machine m;
  m.stackram_bytes = 0;
  const Application application = compiled(three_skips(), m);
  ASSERT_TRUE(application.feasible) << application.reason;
  for (const Instruction& i : application.stages[0].program.instructions) EXPECT_EQ(i.stackram, Bytes(0));
}

TEST(stackram, an_allocator_reuses_what_a_stack_cannot_free_yet) {
  onnx::ModelProto model = model_of_x({1, 64});
  add_node(model, "Relu", {"x"}, "a");  // dies first, but lies lowest
  add_node(model, "Relu", {"a"}, "b");  // waits until the end
  add_node(model, "Add", {"b", "a"}, "c");
  add_node(model, "Relu", {"c"}, "d");
  add_node(model, "Sub", {"d", "c"}, "e");
  add_node(model, "Add", {"e", "b"}, "y");
  add_output(model, "y");
  Machine m;
  const auto peak = [&] {
    Bytes most(0);
    const Application application = compiled(model, m);
    for (const Instruction& i : application.stages[0].program.instructions) most = std::max(most, i.stackram);
    return most;
  };
  m.stack_discipline = StackDiscipline::allocator;
  const Bytes allocated = peak();
  m.stack_discipline = StackDiscipline::stack;
  EXPECT_EQ(allocated, Bytes(2 * 128));
  EXPECT_GE(peak(), allocated);
}

TEST(work, beyond_2_to_the_50_operations_an_instruction_is_refused_with_a_reason) {
  const std::int64_t side = std::int64_t{1} << 20;
  onnx::ModelProto model = model_of_x({side, side});
  add_weight(model, "w", {side, side});
  add_node(model, "MatMul", {"x", "w"}, "y", "/huge");
  add_output(model, "y");
  EXPECT_THAT(compiled(model, Machine{}).reason, HasSubstr("/huge: more than 2^50"));
}

}  // namespace
}  // namespace sdip
