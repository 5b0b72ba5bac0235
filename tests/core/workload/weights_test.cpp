// Random weights are the right length, repeatable, and independent of what is not theirs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "core/base/error.h"
#include "core/workload/workload.h"
#include "tests/core/workload/written_model.h"

namespace sdip {
namespace {

std::vector<float> weights_of(const std::string& model, std::uint64_t seed) {
  std::vector<float> values;
  write_weights(model, seed, [&](std::span<const std::byte> piece) {
    ASSERT_EQ(piece.size() % sizeof(float), 0U);
    const std::size_t before = values.size();
    values.resize(before + piece.size() / sizeof(float));
    std::memcpy(values.data() + before, piece.data(), piece.size());
  });
  return values;
}

/// The values of each external tensor, by its offset and length.
std::map<std::string, std::vector<float>> by_tensor(const std::string& model, std::uint64_t seed) {
  const std::vector<float> values = weights_of(model, seed);
  std::map<std::string, std::vector<float>> tensors;
  const onnx::ModelProto read = test::read_model(model);
  for (const auto& tensor : read.graph().initializer()) {
    if (tensor.data_location() != onnx::TensorProto::EXTERNAL) continue;
    const auto first = values.begin() + std::stoll(tensor.external_data(1).value()) / 4;
    tensors[tensor.name()] = {first, first + std::stoll(tensor.external_data(2).value()) / 4};
  }
  return tensors;
}

TEST(weights, fill_the_file_that_the_model_names) {
  for (const char* name : {"tiny-sd-text", "tiny-sd-vae-encoder", "tiny-sd-unet", "tiny-sd-vae-decoder"}) {
    EXPECT_EQ(static_cast<std::int64_t>(weights_of(write_model(name, {}), 1).size()), find_model(name)->parameters);
  }
  // MobileNetV2 has two running values for each of the 17,056 channels of its BatchNormalizations.
  EXPECT_EQ(weights_of(write_model("mobilenetv2", {}), 1).size(), 3'504'872U + 2 * 17'056U);
}

TEST(weights, are_the_same_for_the_same_seed_and_others_for_another) {
  const std::string model = write_model("tiny-sd-unet", {});
  EXPECT_EQ(weights_of(model, 7), weights_of(model, 7));
  const auto one = by_tensor(model, 7), other = by_tensor(model, 8);
  for (const auto& [name, values] : one) EXPECT_NE(values, other.at(name)) << name;
}

TEST(weights, do_not_depend_on_batch_or_picture) {
  ModelOptions options;
  options.batch = 2;
  options.image_height_px = 32;
  options.image_width_px = 96;
  EXPECT_EQ(weights_of(write_model("tiny-sd-unet", {}), 3), weights_of(write_model("tiny-sd-unet", options), 3));
}

TEST(weights, differ_from_tensor_to_tensor) {
  const auto tensors = by_tensor(write_model("tiny-sd-text", {}), 1);
  EXPECT_NE(tensors.at("text_model.encoder.layers.0.self_attn.q_proj.weight"),
            tensors.at("text_model.encoder.layers.1.self_attn.q_proj.weight"));
}

TEST(weights, are_these_on_every_computer) {
  // Worked out apart from this program, from the formula: FNV-1a of the name, SplitMix64, 24 bits of each half.
  const auto tensors = by_tensor(write_model("tiny-sd-unet", {}), 42);
  const std::vector<float>& values = tensors.at("conv_in.weight");
  EXPECT_EQ(values[0], -0x1.49908p-7F);
  EXPECT_EQ(values[1], 0x1.1531acp-6F);
  EXPECT_EQ(values.back(), 0x1.7b4eccp-4F);
}

TEST(weights, of_a_layer_lie_within_one_over_the_root_of_its_fan_in) {
  const auto tensors = by_tensor(write_model("tiny-sd-unet", {}), 5);
  const std::vector<float>& values = tensors.at("conv_in.weight");  // [16,4,3,3]
  const float bound = 1.0F / 6.0F;
  double sum = 0, squares = 0;
  float most = 0;
  for (const float value : values) {
    most = std::max(most, std::abs(value));
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_LE(most, bound);
  EXPECT_GT(most, 0.98F * bound);
  EXPECT_NEAR(sum / count, 0.0, 0.02);
  EXPECT_NEAR(squares / count, bound * bound / 3, 0.002);
}

TEST(weights, of_norms_are_near_the_identity) {
  const auto tensors = by_tensor(write_model("mobilenetv2", {}), 5);
  for (const auto& [leaf, centre] :
       {std::pair{"weight", 1.0F}, {"bias", 0.0F}, {"running_mean", 0.0F}, {"running_var", 1.0F}}) {
    for (const float value : tensors.at(std::string("features.0.1.") + leaf))
      EXPECT_NEAR(value, centre, 0.1001F) << leaf;
  }
  const auto unet = by_tensor(write_model("tiny-sd-unet", {}), 5);
  for (const float value : unet.at("conv_norm_out.weight")) EXPECT_NEAR(value, 1.0F, 0.1001F);
}

TEST(weights, are_refused_for_what_is_no_built_in_model) {
  const auto code_of = [](const std::string& model) {
    try {
      write_weights(model, 1, [](std::span<const std::byte>) {});
    } catch (const Error& error) {
      return error.code;
    }
    return std::string("none");
  };
  EXPECT_EQ(code_of("not onnx"), "not_a_built_in_model");
  auto model = test::written("tiny-sd-text");
  model.mutable_graph()->mutable_initializer(0)->mutable_external_data(1)->set_value("4");
  EXPECT_EQ(code_of(model.SerializeAsString()), "not_a_built_in_model");
  model = test::written("tiny-sd-text");
  model.mutable_graph()->mutable_initializer(0)->set_dims(0, -3);
  EXPECT_EQ(code_of(model.SerializeAsString()), "not_a_built_in_model");
}

TEST(weights, one_alone_is_as_in_the_file_when_name_shape_and_reader_are) {
  const auto tensors = by_tensor(test::written("tiny-sd-unet").SerializeAsString(), 5);
  EXPECT_EQ(random_weight("conv_in.weight", {16, 4, 3, 3}, "Conv", 1, 5), tensors.at("conv_in.weight"));
  EXPECT_NE(random_weight("conv_in.weight", {16, 4, 3, 3}, "Conv", 1, 6), tensors.at("conv_in.weight"));
  const std::string linear = "time_embedding.linear_1.weight";
  EXPECT_EQ(random_weight(linear, {64, 16}, "Gemm", 1, 5), tensors.at(linear));
  EXPECT_NE(random_weight(linear, {64, 16}, "MatMul", 1, 5), tensors.at(linear));
  EXPECT_EQ(random_weight("w", {0, 3}, "Conv", 1, 5).size(), 0U);
}

}  // namespace
}  // namespace sdip
