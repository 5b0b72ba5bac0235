// The `.weight` file: which bytes stand where, and what cannot be written.
#include "core/program/weights/weights.h"

#include <gmock/gmock.h>

#include <gtest/gtest.h>
#include <array>
#include <bit>

#include "core/program/weights/weight_scales.h"
#include "tests/core/program/compiled.h"

namespace sdip {
namespace {

using testing::HasSubstr;

struct Written {
  std::vector<int> bytes;
  WeightScales scales;
  ReachedRatio ratio;
  std::string text;
  Program program;
};

std::vector<float> absent(const Value& value) { throw Error("weights_absent", value.name, "no such file"); }

Written written(const onnx::ModelProto& model, const Machine& machine, const WeightSource& source = absent,
                bool rewritten = false) {
  Graph graph = import_model(model);
  if (rewritten) rewrite(graph);
  const CompiledStage stage = compiled(graph, machine).stages.at(0);
  Written w;
  w.program = stage.program;
  const WrittenWeights ended = write_weight_file(stage, machine, source, [&](std::span<const std::byte> piece) {
    for (const std::byte b : piece) w.bytes.push_back(static_cast<int>(b));
  });
  w.scales = ended.scales;
  w.ratio = ended.ratio;
  w.text = graph_text(stage, w.scales);
  return w;
}

std::string code_of(const onnx::ModelProto& model, const Machine& machine, const WeightSource& source = absent) {
  try {
    written(model, machine, source);
  } catch (const Error& error) {
    return error.code;
  }
  return "none";
}

/// x [1,2,2,2] convolved 1 x 1 into two channels: weights 1, -2 and 0.5, 127; bias 1, -1.
onnx::ModelProto small_conv() {
  auto model = model_of_x({1, 2, 2, 2});
  add_floats(model, "w", {2, 2, 1, 1}, {1, -2, 0.5F, 127});
  add_floats(model, "b", {2}, {1, -1});
  add_node(model, "Conv", {"x", "w", "b"}, "y");
  add_output(model, "y");
  return model;
}

Machine machine_with(NumberFormat format) {
  Machine machine;
  machine.weight_format = format;
  return machine;
}

TEST(weight_file, a_nest_has_its_weight_and_then_its_bias) {
  const Written w = written(small_conv(), machine_with(NumberFormat::fp16));
  EXPECT_EQ(w.bytes, (std::vector<int>{0x00, 0x3c, 0x00, 0xc0, 0x00, 0x38, 0xf0, 0x57, 0x00, 0x3c, 0x00, 0xbc}));
  EXPECT_EQ(w.text.find("scale="), std::string::npos);
}

TEST(weight_file, quantised_tensors_have_a_scale_each_in_the_program) {
  const Written w = written(small_conv(), machine_with(NumberFormat::int8));
  EXPECT_EQ(w.bytes, (std::vector<int>{1, 254, 0, 127, 127, 129}));
  ASSERT_EQ(w.scales.at(0).size(), 2U);
  EXPECT_EQ(w.scales[0][0], 1.0F);
  EXPECT_EQ(w.scales[0][1], 1.0F / 127.0F);
  EXPECT_THAT(w.text, HasSubstr(" scale=1,0.007874016 "));
}

TEST(weight_file, scales_of_channels_stand_behind_the_bias) {
  Machine machine = machine_with(NumberFormat::int8);
  machine.scale_granularity = ScaleGranularity::channel;
  const Written w = written(small_conv(), machine);
  ASSERT_EQ(w.bytes.size(), 14U);  // 4 weights, 2 biases, 2 scales in fp32
  EXPECT_EQ(std::vector<int>(w.bytes.begin(), w.bytes.begin() + 4), (std::vector<int>{64, 129, 0, 127}));
  EXPECT_EQ(std::vector<int>(w.bytes.begin() + 10, w.bytes.end()), (std::vector<int>{0, 0, 0x80, 0x3f}));
  EXPECT_THAT(w.text, HasSubstr(" scale=channels,0.007874016 "));
}

/// 1 and -2 in steps of 2^(1 - 2): 2 and -4, codes 4 and 14; 0.5 and 127 in steps of 2^(6 - 2): 0 and, at most, 6.
TEST(weight_file, blocks_stand_as_elements_halves_of_biases_and_scales) {
  const Written w = written(small_conv(), machine_with(NumberFormat::mxfp4));
  EXPECT_EQ(w.bytes, (std::vector<int>{0xe4, 0x70, 0x00, 0x3c, 0x00, 0xbc, 127 - 1, 127 + 4}));
  EXPECT_EQ(w.text.find("scale="), std::string::npos);
  EXPECT_EQ(w.program.stored_weight_bytes, Bytes(8));
}

/// The tensor's scale is 127 / 2688; the blocks' 2 / 6 and 127 / 6 in units of it are 7.055, nearest 7, and 448.
TEST(weight_file, blocks_of_nvfp4_have_scales_in_units_of_the_tensor_s_in_the_program) {
  const Written w = written(small_conv(), machine_with(NumberFormat::nvfp4));
  ASSERT_EQ(w.bytes.size(), 8U);
  EXPECT_EQ(w.bytes[6], 0x4e) << "7 = 1.75 x 4: exponent 9, fraction 6";
  EXPECT_EQ(w.bytes[7], 0x7e);
  ASSERT_EQ(w.scales.at(0).size(), 2U);
  EXPECT_EQ(w.scales[0][0], WeightScale(127.0F / 2688));
  EXPECT_EQ(w.scales[0][1], WeightScale(1)) << "the biases are halves";
}

TEST(weight_file, groups_have_their_scales_behind_the_bias) {
  Machine machine = machine_with(NumberFormat::int8);
  machine.scale_granularity = ScaleGranularity::group_32;
  const Written w = written(small_conv(), machine);
  ASSERT_EQ(w.bytes.size(), 14U);  // 4 weights, 2 biases, 2 scales in fp32
  EXPECT_EQ(std::vector<int>(w.bytes.begin(), w.bytes.begin() + 4), (std::vector<int>{64, 129, 0, 127}));
  EXPECT_EQ(std::vector<int>(w.bytes.begin() + 10, w.bytes.end()), (std::vector<int>{0, 0, 0x80, 0x3f}));
  EXPECT_THAT(w.text, HasSubstr(" scale=channels,0.007874016 "));
}

TEST(weight_file, channels_of_a_linear_layer_are_the_columns_of_its_weight) {
  Machine machine = machine_with(NumberFormat::int8);
  machine.scale_granularity = ScaleGranularity::channel;
  auto model = model_of_x({3, 2});
  add_floats(model, "w", {2, 2}, {127, 1, 127, 127});
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  EXPECT_EQ(written(model, machine).bytes,
            (std::vector<int>{127, 1, 127, 127, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}));
}

TEST(weight_file, a_lookup_table_begins_in_its_region_and_goes_on_at_the_end) {
  onnx::ModelProto model = empty_model();
  add_input(model, "ids", {1}, 7);
  add_floats(model, "table", {3, 2}, {1, 2, 3, 4, 5, 6});
  add_floats(model, "w", {2, 1}, {7, 8});
  add_node(model, "Gather", {"table", "ids"}, "rows");
  add_node(model, "MatMul", {"rows", "w"}, "y");
  add_output(model, "y");
  const Written w = written(model, machine_with(NumberFormat::q3_4));
  EXPECT_EQ(w.bytes, (std::vector<int>{16, 32, 112, 127, 48, 64, 80, 96}));
  EXPECT_EQ(w.program.stored_weight_bytes, Bytes(8));
}

TEST(weight_file, instructions_with_the_same_weights_share_the_bytes) {
  auto model = model_of_x({2, 2});
  add_floats(model, "w", {2, 2}, {1, 2, 3, 4});
  add_node(model, "MatMul", {"x", "w"}, "h");
  add_node(model, "MatMul", {"h", "w"}, "y");
  add_output(model, "y");
  const Written w = written(model, machine_with(NumberFormat::int8));
  EXPECT_EQ(w.bytes.size(), 4U);
  EXPECT_EQ(w.scales.at(0), w.scales.at(1));
}

TEST(weight_file, values_come_from_the_source_in_order_and_must_be_as_many_as_the_shape_says) {
  auto model = model_of_x({1, 64});
  auto& weight = add_weight(model, "w", {64, 32});
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto* location = weight.add_external_data();
  location->set_key("location");
  location->set_value("weights");
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  const Machine machine = machine_with(NumberFormat::fp32);
  const Written w = written(model, machine, [](const Value&) { return std::vector<float>(2048, 1.0F); });
  EXPECT_EQ(std::ssize(w.bytes), w.program.stored_weight_bytes.value);
  EXPECT_EQ(w.bytes.back(), 0x3f);
  EXPECT_EQ(code_of(model, machine), "weights_absent");
  EXPECT_EQ(code_of(model, machine, [](const Value&) { return std::vector<float>(7); }), "weights_absent");
  const auto not_a_number = [](const Value&) { return std::vector<float>(2048, std::nanf("")); };
  EXPECT_EQ(code_of(model, machine, not_a_number), "none");
  EXPECT_EQ(code_of(model, machine_with(NumberFormat::int8), not_a_number), "value_invalid");
}

TEST(weight_file, a_batch_norm_is_folded_into_the_convolution_before_it) {
  auto model = model_of_x({1, 1, 2, 2});
  add_floats(model, "w", {2, 1, 1, 1}, {3, 5});
  add_floats(model, "scale", {2}, {2, 4});
  add_floats(model, "beta", {2}, {5, 6});
  add_floats(model, "mean", {2}, {1, 2});
  add_floats(model, "var", {2}, {3, 0});
  add_node(model, "Conv", {"x", "w"}, "h");
  auto& norm = add_node(model, "BatchNormalization", {"h", "scale", "beta", "mean", "var"}, "y");
  auto* epsilon = norm.add_attribute();
  epsilon->set_name("epsilon");
  epsilon->set_type(onnx::AttributeProto::FLOAT);
  epsilon->set_f(1);
  add_output(model, "y");
  // s = 2 / sqrt(4) = 1 and 4 / sqrt(1) = 4: W' = 3, 20; b' = 5 - 1, 6 - 8.
  const Written w = written(model, machine_with(NumberFormat::int8), absent, true);
  EXPECT_EQ(w.bytes, (std::vector<int>{19, 127, 127, 192}));
  EXPECT_EQ(w.scales.at(0), (InstructionScales{20.0F / 127.0F, 4.0F / 127.0F}));
}

TEST(weight_file, negative_weights_of_an_unsigned_format_have_a_zero_point) {
  // w from -2 to 127: a step of 129/255, 0 at code 4; b from -1 to 1: a step of an fp32 above 2/255, so that
  // 0 is just below code 127.5.
  const Written w = written(small_conv(), machine_with(NumberFormat::uint8));
  EXPECT_EQ(w.bytes, (std::vector<int>{6, 0, 5, 255, 254, 0}));
  ASSERT_EQ(w.scales.at(0).size(), 2U);
  EXPECT_EQ(w.scales[0][0], (WeightScale{129.0F / 255.0F, 4}));
  EXPECT_EQ(w.scales[0][1], (WeightScale{2.0F / 255.0F, 127}));
  EXPECT_THAT(w.text, HasSubstr(" scale=0.5058824:4,0.007843138:127 "));
}

TEST(weight_file, zero_points_of_channels_stand_behind_their_scales) {
  Machine machine = machine_with(NumberFormat::uint8);
  machine.scale_granularity = ScaleGranularity::channel;
  const Written w = written(small_conv(), machine);
  ASSERT_EQ(w.bytes.size(), 16U);  // 4 weights, 2 biases, 2 scales in fp32 with a code each
  EXPECT_EQ(std::vector<int>(w.bytes.begin(), w.bytes.begin() + 4), (std::vector<int>{255, 0, 1, 255}));
  EXPECT_EQ(w.bytes[10], 170);  // -2 to 1 in steps of 3/255
  EXPECT_EQ(w.bytes[15], 0);
}

TEST(weight_file, sparse_weights_have_slots_then_bias_then_a_bit_an_element) {
  Machine machine = machine_with(NumberFormat::fp16);
  machine.sparsity = Sparsity::skipping;
  machine.weight_density = Decimal{50};
  // Two of 1, -2 and 0.5, 127 stay, one of each channel.
  EXPECT_EQ(written(small_conv(), machine).bytes,
            (std::vector<int>{0x00, 0xc0, 0xf0, 0x57, 0x00, 0x3c, 0x00, 0xbc, 0b1010}));
  machine.sparsity = Sparsity::gating;  // zeros are stored
  EXPECT_EQ(written(small_conv(), machine).bytes,
            (std::vector<int>{0x00, 0x00, 0x00, 0xc0, 0x00, 0x00, 0xf0, 0x57, 0x00, 0x3c, 0x00, 0xbc}));
}

TEST(weight_file, weights_of_a_pattern_stand_group_by_group_with_their_places_behind) {
  auto model = model_of_x({1, 5});
  add_floats(model, "w", {5, 1}, {3, -1, 2, 0.5, 1});
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  Machine machine = machine_with(NumberFormat::q3_4);
  machine.sparsity = Sparsity::skipping;
  machine.weight_density = Decimal{50};
  machine.sparsity_group = 4;
  // 3 and 2 of 3 -1 2 0.5 stay, at places 0 and 2; the last group keeps its one weight.
  EXPECT_EQ(written(model, machine).bytes, (std::vector<int>{48, 32, 16, 0b001000}));
  machine.sparsity = Sparsity::gating;
  EXPECT_EQ(written(model, machine).bytes, (std::vector<int>{48, 0, 32, 0, 16}));
}

TEST(weight_file, groups_are_of_input_channels_at_one_kernel_position) {
  auto model = model_of_x({1, 2, 1, 2});
  add_floats(model, "w", {1, 2, 1, 2}, {1, 3, 2, -0.5});
  add_node(model, "Conv", {"x", "w"}, "y");
  add_output(model, "y");
  Machine machine = machine_with(NumberFormat::q3_4);
  machine.sparsity = Sparsity::skipping;
  machine.weight_density = Decimal{50};
  machine.sparsity_group = 2;
  // First position: 1 of the first channel, 2 of the second; second position: 3, -0.5.
  EXPECT_EQ(written(model, machine).bytes, (std::vector<int>{32, 48, 0b01}));
  machine.sparsity = Sparsity::gating;
  EXPECT_EQ(written(model, machine).bytes, (std::vector<int>{0, 48, 32, 0}));
}

TEST(weight_file, a_sparser_weight_than_the_density_leaves_slots_empty) {
  auto model = model_of_x({1, 4});
  add_floats(model, "w", {4, 1}, {0, 0, 3, 0});
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  Machine machine = machine_with(NumberFormat::q3_4);
  machine.sparsity = Sparsity::skipping;
  machine.weight_density = Decimal{50};
  // Two slots: 3 and, of equals the first, a 0.
  EXPECT_EQ(written(model, machine).bytes, (std::vector<int>{0, 48, 0b0101}));
}

TEST(weight_file, a_compression_ratio_is_a_claim_that_the_weights_must_keep) {
  auto model = model_of_x({1, 64});
  add_floats(model, "w", {64, 64}, std::vector<float>(64 * 64));
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  Machine machine = machine_with(NumberFormat::int8);
  machine.weight_compression = Decimal{300};
  const Written w = written(model, machine, [](const Value&) {
    std::vector<float> four;
    for (int i = 0; i < 64 * 64; ++i) four.push_back(static_cast<float>((i * 7 + i / 64 * 5) % 4));
    return four;
  });
  EXPECT_EQ(std::ssize(w.bytes), (64 * 64 * 100 + 299) / 300);
  EXPECT_GE(w.ratio.least, 3.0);
  EXPECT_EQ(w.ratio.least_name, "w");
  const WeightSource any = [](const Value&) {
    std::uint64_t state = 1;
    std::vector<float> floats;
    for (int i = 0; i < 64 * 64; ++i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      floats.push_back(static_cast<float>(state >> 40) * 0x1p-23F - 1);
    }
    return floats;
  };
  try {
    written(model, machine, any);
    ADD_FAILURE() << "expected a refusal";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "not_compressible");
    EXPECT_EQ(error.where, "w");
    EXPECT_THAT(error.what(), HasSubstr("expected weight_compression=3.00"));
  }
}

TEST(weight_file, whole_numbers_are_held_exactly_or_refused) {
  EXPECT_EQ(whole_scale(NumberFormat::int8, -128, 127), WeightScale(1));
  EXPECT_EQ(whole_scale(NumberFormat::int8, -129, 0), std::nullopt);
  EXPECT_EQ(whole_scale(NumberFormat::uint8, -128, 127), (WeightScale{1, 128}));
  EXPECT_EQ(whole_scale(NumberFormat::uint8, -128, 128), std::nullopt);
  EXPECT_EQ(whole_scale(NumberFormat::uint4, 0, 15), (WeightScale{1, 0}));
}

TEST(weight_file, of_hard_coded_weights_is_what_the_rom_holds) {
  Machine rom;
  rom.weight_storage = WeightStorage::hard_coded;
  EXPECT_EQ(written(small_conv(), rom).bytes, written(small_conv(), Machine()).bytes);
}

TEST(weight_file, a_weight_that_follows_from_the_model_s_is_computed_for_it) {
  auto model = model_of_x({1, 2});
  add_floats(model, "w", {3, 2}, std::vector<float>(6, 0));
  for (int i = 0; i < 6; ++i)
    model.mutable_graph()->mutable_initializer(0)->set_float_data(i, static_cast<float>(i));
  add_node(model, "Transpose", {"w"}, "t");  // [[0, 2, 4], [1, 3, 5]]
  add_node(model, "Neg", {"t"}, "n");
  add_node(model, "MatMul", {"x", "n"}, "y");
  add_output(model, "y");
  Machine machine = machine_with(NumberFormat::int8);
  const Written w = written(model, machine);
  ASSERT_EQ(w.bytes.size(), 6U);
  const float scale = 5.0F / 127;
  for (std::size_t i = 0; i < 6; ++i) {
    const float expected = -static_cast<float>(std::vector<int>{0, 2, 4, 1, 3, 5}[i]);
    EXPECT_NEAR(static_cast<float>(static_cast<signed char>(w.bytes[i])) * scale, expected, scale / 2);
  }
}

TEST(weight_file, thin_factors_of_a_weight_multiply_to_it) {
  auto model = model_of_x({1, 3});
  add_floats(model, "w", {3, 4}, {1, 2, 3, 4, 2, 4, 6, 8, 3, 6, 9, 12});  // rank 1
  add_node(model, "MatMul", {"x", "w"}, "y");
  add_output(model, "y");
  Machine machine = machine_with(NumberFormat::fp32);
  machine.low_rank = LowRank::on;
  const Written w = written(model, machine);
  ASSERT_EQ(w.bytes.size(), 4U * (3 + 4));
  const auto element = [&](std::size_t i) {
    std::array<unsigned char, 4> bytes{};
    for (std::size_t b = 0; b < 4; ++b) bytes[b] = static_cast<unsigned char>(w.bytes[4 * i + b]);
    return std::bit_cast<float>(bytes);
  };
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t n = 0; n < 4; ++n)
      EXPECT_NEAR(element(k) * element(3 + n), static_cast<float>((k + 1) * (n + 1)), 1e-4F);
}

}  // namespace
}  // namespace sdip
