// What the executor makes of small built-in models against what onnxruntime made of the same files, kept in
// tests/golden/onnxruntime (tests/agree/agree.mjs --golden).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/agree/models.h"

namespace sdip::agree {
namespace {

nlohmann::json golden_of(const Row& row) {
  std::ifstream file(std::string(SDIP_SOURCE_DIR) + "/tests/golden/onnxruntime/" + name_of(row) + ".json");
  EXPECT_TRUE(file) << "no golden of " << name_of(row) << "; node tests/agree/agree.mjs --golden writes it";
  return nlohmann::json::parse(file);
}

/// The largest difference from every so manieth element over the largest magnitude of these.
double distance(const Tensor& found, const nlohmann::json& wanted) {
  EXPECT_EQ(element_type_text(found.type), wanted.at("type").get<std::string>());
  EXPECT_EQ(found.shape, wanted.at("shape").get<Shape>());
  const auto every = wanted.at("every").get<std::size_t>();
  const auto numbers = wanted.at("data").get<std::vector<double>>();
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double x =
        found.floats.empty() ? static_cast<double>(found.ints.at(i * every)) : found.floats.at(i * every);
    EXPECT_FALSE(std::isnan(x));
    apart = std::max(apart, std::fabs(x - numbers[i]));
    largest = std::max(largest, std::fabs(numbers[i]));
  }
  EXPECT_GT(largest, 0);
  return apart / largest;
}

TEST(agreement, small_built_in_models_are_as_onnxruntime_has_them_integers_exactly) {
  int compared = 0;
  for (const Row& row : rows()) {
    if (!row.stored) continue;
    SCOPED_TRACE(name_of(row));
    const nlohmann::json golden = golden_of(row);
    const std::vector<Tensor> found = executed(row, made(row, testing::TempDir()));
    ASSERT_EQ(found.size(), golden.at("outputs").size());
    for (std::size_t i = 0; i < found.size(); ++i)
      EXPECT_LE(distance(found[i], golden["outputs"][i]), row.tolerance);
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(agreement, every_built_in_model_is_compared_in_its_own_numbers) {
  for (const ModelRow& model : built_in_models()) {
    const auto own = [&](const Row& row) {
      return row.model == model.name && (row.form == Form::fp32 || row.form == Form::uint8);
    };
    EXPECT_TRUE(std::ranges::any_of(rows(), own)) << model.name;
  }
}

TEST(agreement, a_half_model_is_half_throughout_but_for_the_scales_of_resize) {
  onnx::ModelProto model = with_weights("tiny-sd-unet", {});
  make_half(model);
  int halves = 0, floats = 0;
  for (const auto& tensor : model.graph().initializer()) {
    halves += tensor.data_type() == onnx::TensorProto::FLOAT16;
    floats += tensor.data_type() == onnx::TensorProto::FLOAT;
  }
  EXPECT_GT(halves, 100);
  EXPECT_EQ(floats, 0);
}

TEST(agreement, integers_of_a_quantised_model_are_many) {
  for (const Row& row : rows()) {
    if (row.form != Form::int8 || !row.stored) continue;
    const std::vector<Tensor> found = executed(row, made(row, testing::TempDir()));
    std::vector<std::int64_t> numbers = found.at(0).ints;
    std::ranges::sort(numbers);
    EXPECT_GT(std::unique(numbers.begin(), numbers.end()) - numbers.begin(), 200);
  }
}

}  // namespace
}  // namespace sdip::agree
