// Heads shared by the cores of a machine.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/program/form/parse.h"
#include "core/program/tiling/draft.h"
#include "core/program/weights/weights.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::ElementsAre;

Machine parallel(std::int64_t cores) {
  Machine m;
  m.branches = Branches::parallel;
  m.fused_attention = FusedAttention::on;
  m.cores = cores;
  return m;
}

/// softmax(q x^T + bias) x of 12 heads, with a bias for every head.
onnx::ModelProto heads() {
  onnx::ModelProto model = model_of_x({1, 12, 32, 32});
  add_weight(model, "bias", {12, 32, 32});
  add_node(model, "Relu", {"x"}, "q");
  add_node(model, "MatMul", {"q", "x"}, "s");
  add_node(model, "Add", {"s", "bias"}, "t");
  add_node(model, "Softmax", {"t"}, "p");
  add_node(model, "MatMul", {"p", "x"}, "y");
  add_output(model, "y");
  return model;
}

TEST(branches, share_heads_evenly_over_as_many_cores_as_divide_them) {
  const Application application = compiled(heads(), parallel(8));
  ASSERT_THAT(mnemonics(application), ElementsAre("relu", "attention+add"));
  EXPECT_EQ(class_at(application, 0).spread_cores, 1);
  const InstructionClass& c = class_at(application, 1);
  EXPECT_EQ(c.spread_cores, 6);
  EXPECT_EQ(c.work.nest.groups, 2);
  EXPECT_EQ(c.parts.at(2).work.nest.groups, 2);
  EXPECT_EQ(c.out_elements, 2 * 32 * 32);
  EXPECT_THAT(c.fetches, ElementsAre(Fetch{Place::psram, 2 * 32 * 32, 1, false}));
  EXPECT_EQ(c.weight_elements, 12 * 32 * 32);  // PSRAM is one for all cores
}

/// The bytes of the first stage's weights, each 0.5.
std::int64_t written_bytes(const Application& application, const Machine& m) {
  const auto halves = [](const Value& value) {
    return std::vector<float>(static_cast<std::size_t>(element_count(value.operand.shape)), 0.5F);
  };
  std::int64_t bytes = 0;
  write_weight_file(application.stages.at(0), m, halves,
                    [&](std::span<const std::byte> piece) { bytes += std::ssize(piece); });
  return bytes;
}

TEST(branches, leave_the_weight_file_as_it_is_on_one_core) {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t cores : {1, 8}) {
    const Application application = compiled(heads(), parallel(cores));
    bytes.push_back(written_bytes(application, parallel(cores)));
  }
  EXPECT_THAT(bytes, ElementsAre(2 * 12 * 32 * 32, 2 * 12 * 32 * 32));
}

TEST(branches, share_products_and_what_is_fused_to_them_when_attention_is_not_fused) {
  Machine m = parallel(4);
  m.fused_attention = FusedAttention::off;
  m.fusion = Fusion::pointwise;
  const Application application = compiled(heads(), m);
  ASSERT_THAT(mnemonics(application), ElementsAre("relu", "matmul+add", "softmax", "matmul"));
  std::vector<std::int64_t> cores;
  for (std::size_t i = 0; i < 4; ++i) cores.push_back(class_at(application, i).spread_cores);
  EXPECT_THAT(cores, ElementsAre(1, 4, 1, 4));
  EXPECT_EQ(class_at(application, 1).fetches.at(0).elements, 3 * 32 * 32);
}

/// A depthwise convolution of 12 channels with a bias, what is multiplied channel by channel, and what is added.
onnx::ModelProto depthwise(std::int64_t groups = 12) {
  onnx::ModelProto model = model_of_x({1, 12, 10, 10});
  add_weight(model, "w", {12, 12 / groups, 3, 3});
  add_weight(model, "b", {12});
  add_weight(model, "scale", {12, 1, 1});
  add_weight(model, "plane", {1, 1, 10, 10});
  onnx::NodeProto& conv = add_node(model, "Conv", {"x", "w", "b"}, "c");
  set_ints(conv, "pads", {1, 1, 1, 1});
  set_int(conv, "group", groups);
  add_node(model, "Mul", {"c", "scale"}, "s");
  add_node(model, "Add", {"s", "plane"}, "t");
  add_node(model, "Add", {"t", "x"}, "y");
  add_output(model, "y");
  return model;
}

Machine fused(std::int64_t cores) {
  Machine m = parallel(cores);
  m.fusion = Fusion::pointwise;
  return m;
}

TEST(branches, share_groups_of_convolutions_their_weights_and_what_is_fused_to_them) {
  const Application application = compiled(depthwise(), fused(8));
  ASSERT_THAT(mnemonics(application), ElementsAre("conv2d+mul+add+add"));
  const InstructionClass& c = class_at(application, 0);
  EXPECT_EQ(c.spread_cores, 6);
  EXPECT_EQ(weight_parts(c), 6);
  EXPECT_EQ(c.work.nest.groups, 2);
  EXPECT_EQ(c.out_elements, 200);
  EXPECT_EQ(c.weight_elements_per_channel, 9);
  EXPECT_EQ(c.bias_elements_per_channel, 1);
  EXPECT_EQ(c.weight_elements, 12 + 100) << "held once for all cores";
  std::vector<std::int64_t> elements;
  for (const Fetch& fetch : c.fetches) elements.push_back(fetch.elements);
  EXPECT_THAT(elements, ElementsAre(2, 200, 200)) << "scales of its channels, the plane for each, its part of x";
}

TEST(branches, share_a_weight_matrix_a_group_and_none_that_one_input_is_multiplied_by) {
  const auto cores_of = [](const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& w) {
    onnx::ModelProto model = model_of_x(x);
    add_weight(model, "w", w);
    add_node(model, "MatMul", {"x", "w"}, "y");
    add_output(model, "y");
    return class_at(compiled(model, parallel(8)), 0).spread_cores;
  };
  EXPECT_EQ(cores_of({12, 5, 6}, {12, 6, 4}), 6);
  EXPECT_EQ(cores_of({2, 12, 5, 6}, {12, 6, 4}), 6) << "two frames share the matrix of a group";
  EXPECT_EQ(cores_of({12, 2, 5, 6}, {12, 1, 6, 4}), 1) << "two groups read the same matrix";
  EXPECT_EQ(cores_of({5, 6}, {12, 6, 4}), 1) << "all matrices are multiplied by the same";
}

TEST(branches, fetch_all_groups_weights_once_tile_by_tile) {
  for (const std::int64_t compression : {100, 300}) {
    std::vector<std::int64_t> written, said;
    for (const std::int64_t cores : {1, 8}) {
      Machine m = fused(cores);
      m.weight_compression = Decimal{compression};
      const Application application = compiled(depthwise(), m);
      written.push_back(written_bytes(application, m));
      said.push_back(application.stages[0].program.weight_bytes.value);
    }
    EXPECT_THAT(written, ElementsAre(2 * (12 * 10 + 112), 2 * (12 * 10 + 112))) << compression;
    EXPECT_EQ(said, written);
  }
}

/// Four cores' tiles, and what is held once, must fit where one core's would; and what is said of other rooms
/// holds.
TEST(branches, divide_the_room_of_weights_among_the_cores_and_say_for_which_rooms) {
  InstructionClass c;
  c.work.family = Family::conv2d;
  c.work.nest = {.groups = 3, .out_channels = 40, .in_channels = 7, .out_h = 12, .out_w = 5, .in_h = 12, .in_w = 5};
  c.operand_a = Place::dram;
  c.operand_b = Place::psram;
  c.to_dsram = false;
  c.to_dram = true;
  c.weight_elements_per_channel = 7;
  c.bias_elements_per_channel = 1;
  c.weight_elements = 9;
  c.out_elements = 3 * 40 * 12 * 5;
  TileRoom room;
  room.read_bytes = room.write_bytes = 700;
  room.form.bits = room.form.vector_bits = 8;
  std::int64_t mapped = 0, changes = 0;
  CapacityRange known{1, 0};
  std::optional<Mapping> before;
  for (room.weight_bytes = 1; room.weight_bytes < 9000; room.weight_bytes += 13) {
    c.spread_cores = 4;
    const MappingStep step = mapping_step(c, room);
    ASSERT_LE(step.weight_room.least, room.weight_bytes);
    ASSERT_GE(step.weight_room.most, room.weight_bytes);
    if (known.holds(room.weight_bytes)) {
      EXPECT_EQ(step.mapping, before) << room.weight_bytes;
    }
    changes += step.mapping != before;
    known = step.weight_room;
    before = step.mapping;
    TileRoom one = room;
    one.weight_bytes = 9 + (room.weight_bytes - 9) / 4;
    c.spread_cores = 1;
    if (room.weight_bytes <= 12) continue;  // nothing for a core's tile
    EXPECT_EQ(step.mapping, choose_mapping(c, one)) << room.weight_bytes;
    mapped += step.mapping.has_value();
  }
  EXPECT_GT(mapped, 500);
  EXPECT_GT(changes, 3);
}

/// What reading says of a program whose last six cores are said to be others.
std::string refusal_of(std::string text, const char* other) {
  const std::string six = "spread_cores=6";
  const std::size_t at = text.rfind(six);
  if (at == std::string::npos) return "no six cores";
  try {
    parse_graph_text(text.replace(at, six.size(), other));
  } catch (const Error& error) {
    return error.what();
  }
  return "was read";
}

TEST(branches, of_groups_are_read_back_and_must_be_those_of_their_convolution) {
  const std::string text = graph_text(compiled(depthwise(), fused(8)).stages.at(0));
  EXPECT_EQ(graph_text(parse_graph_text(text)), text);
  for (const char* other : {"spread_cores=3", "spread_cores=12"})
    EXPECT_THAT(refusal_of(text, other), testing::HasSubstr("share its 12 groups")) << other;
}

/// A linear of 12 channels and what is fused to it: a bias, a plane of constants, the same for all channels,
/// itself.
onnx::ModelProto linear(std::int64_t channels = 12) {
  onnx::ModelProto model = model_of_x({1, 5, 6});
  add_weight(model, "w", {6, channels});
  add_weight(model, "b", {channels});
  add_weight(model, "rows", {5, 1});
  add_node(model, "MatMul", {"x", "w"}, "p");
  add_node(model, "Add", {"p", "b"}, "c");
  add_node(model, "Mul", {"c", "rows"}, "y");
  add_output(model, "y");
  return model;
}

Machine by_channels(std::int64_t cores) {
  Machine m = fused(cores);
  m.branches = Branches::channels;
  return m;
}

TEST(branches, of_one_input_share_the_output_channels_of_their_product) {
  const InstructionClass c = class_at(compiled(linear(), by_channels(8)), 0);
  EXPECT_EQ(c.spread_cores, 6);
  EXPECT_EQ(weight_parts(c), 6);
  EXPECT_EQ(c.work.nest.out_channels, 2);
  EXPECT_EQ(c.work.nest.in_channels, 6) << "each core reads all that the product reads";
  EXPECT_EQ(c.weight_elements_per_channel, 6);
  EXPECT_EQ(c.out_elements, 2 * 5);
  std::vector<std::int64_t> elements;
  for (const Fetch& fetch : c.fetches) elements.push_back(fetch.elements);
  EXPECT_THAT(elements, ElementsAre(2 * 5, 5))
      << "a bias beside each of its results, a row's number for all channels";
  EXPECT_EQ(class_at(compiled(linear(), fused(8)), 0).spread_cores, 1) << "groups alone";
  EXPECT_EQ(class_at(compiled(linear(13), by_channels(8)), 0).spread_cores, 1) << "no number divides them";
}

TEST(branches, share_output_channels_of_convolutions_of_one_group_and_groups_of_the_others) {
  for (const std::int64_t groups : {1, 3, 12}) {
    const Application application = compiled(depthwise(groups), by_channels(4));
    const InstructionClass& c = class_at(application, 0);
    EXPECT_EQ(c.spread_cores, groups == 3 ? 3 : 4) << groups;
    EXPECT_EQ(c.work.nest.groups * c.work.nest.out_channels * c.spread_cores, 12);
    EXPECT_EQ(c.work.nest.in_channels, 12 / groups);
    const std::string text = graph_text(application.stages.at(0));
    EXPECT_EQ(graph_text(parse_graph_text(text)), text);
  }
}

TEST(branches, of_channels_are_fetched_once_tile_by_tile) {
  for (const std::int64_t compression : {100, 300}) {
    Machine m = by_channels(8);
    m.weight_compression = Decimal{compression};
    const Application application = compiled(linear(), m);
    const std::int64_t bytes = written_bytes(application, m);
    EXPECT_EQ(bytes, application.stages[0].program.weight_bytes.value);
    EXPECT_EQ(bytes, 2 * (12 * 7 + 5)) << compression;
  }
}

TEST(branches, of_channels_must_be_those_of_their_product) {
  const std::string text = graph_text(compiled(linear(), by_channels(8)).stages.at(0));
  EXPECT_THAT(refusal_of(text, "spread_cores=3"), testing::HasSubstr("share its 12 output channels"));
}

/// Weights that are multiplied where they lie; a nest that is not its operator's.
TEST(branches, of_channels_stay_on_one_core_where_no_core_could_have_its_part_alone) {
  Machine m = by_channels(4);
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.in_memory_weights = InMemoryWeights::fefet;
  EXPECT_EQ(class_at(compiled(linear(), m), 0).spread_cores, 1);
  onnx::ModelProto volume = model_of_x({1, 4, 3, 3, 3});
  add_weight(volume, "w", {4, 4, 1, 1, 1});
  add_node(volume, "Conv", {"x", "w"}, "y");
  add_output(volume, "y");
  EXPECT_EQ(class_at(compiled(volume, by_channels(4)), 0).spread_cores, 1) << "over three axes";
}

TEST(branches, leave_grouped_weights_on_one_core_where_none_divides_them_or_they_multiply_in_place) {
  EXPECT_EQ(class_at(compiled(depthwise(1), fused(8)), 0).spread_cores, 1);
  EXPECT_EQ(class_at(compiled(depthwise(3), fused(2)), 0).spread_cores, 1);
  Machine m = fused(8);
  m.weight_format = m.activation_format = NumberFormat::int8;
  m.in_memory_weights = InMemoryWeights::fefet;
  EXPECT_EQ(class_at(compiled(depthwise(), m), 0).spread_cores, 1);
}

TEST(branches, stay_on_one_core_where_each_has_a_frame_of_its_own_and_unless_asked_for) {
  EXPECT_EQ(class_at(compiled(heads(), parallel(8), Role::decoder), 1).spread_cores, 1);
  Machine m = parallel(8);
  m.branches = Branches::serial;
  EXPECT_EQ(class_at(compiled(heads(), m), 1).spread_cores, 1);
}

TEST(branches, make_the_number_of_cores_part_of_what_decides_a_program) {
  EXPECT_NE(compile_key(parallel(4)), compile_key(parallel(8)));
  Machine four = parallel(4), eight = parallel(8);
  four.branches = eight.branches = Branches::serial;
  EXPECT_EQ(compile_key(four), compile_key(eight));
}

}  // namespace
}  // namespace sdip
