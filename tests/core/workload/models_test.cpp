// The built-in models have the published sizes, and refuse what they cannot be.
#include "core/workload/workload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "tests/core/workload/written_model.h"

namespace sdip {
namespace {

using test::macs_of;
using test::parameters_of;
using test::written;

TEST(models, parameters_in_the_file_are_those_in_the_table) {
  for (const ModelRow& row : built_in_models()) {
    EXPECT_EQ(parameters_of(written(row.name)), row.parameters) << row.name;
  }
}

TEST(models, parameters_are_the_published_ones) {
  // AUTOMATIC1111's log and the configurations of diffusers; torchvision's model table; BERT's and DiT's own
  // counts.
  const std::pair<const char*, std::int64_t> published[] = {
      {"sd15-text", 123060480},       {"sd15-vae-encoder", 34163664}, {"sd15-unet", 859520964},
      {"sd15-vae-decoder", 49490199}, {"sd21-text", 340387840},       {"sd21-unet", 865910724},
      {"sd21-768-unet", 865910724},   {"sdxl-text", 123060480},       {"sdxl-text-2", 694659840},
      {"sdxl-unet", 2567463684},      {"bksdm-base-unet", 579384964}, {"resnet50", 25557032},
      {"mobilenetv2", 3504872},       {"bert-base", 109482240},       {"dit-xl2", 675129632}};
  for (const auto& [name, parameters] : published) EXPECT_EQ(parameters_of(written(name)), parameters) << name;
}

TEST(models, the_tiny_pipeline_has_a_few_hundred_thousand_parameters) {
  std::int64_t parameters = 0;
  for (const char* part : {"tiny-sd-text", "tiny-sd-vae-encoder", "tiny-sd-unet", "tiny-sd-vae-decoder"}) {
    parameters += find_model(part)->parameters;
  }
  EXPECT_GT(parameters, 200'000);
  EXPECT_LT(parameters, 900'000);
}

struct PublishedMacs {
  const char* name;
  std::int64_t image_px;
  double weighted_g;
  double attention_g;
  double total_g;
};

// Counted from the configurations of diffusers and, independently, from graphs that PyTorch exported; in 1e9,
// rounded.
constexpr PublishedMacs published_macs[] = {
    {"sd15-unet", 512, 338.61, 63.03, 401.637},
    {"sd15-unet", 768, 759.99, 314.06, 1074.06},
    {"sd15-vae-decoder", 512, 1240.08, 17.18, 1257.259},
    {"sd15-vae-encoder", 512, 541.15, 17.18, 558.329},
    {"sd15-text", 0, 6.54, 0.11, 6.649},
    {"sd21-unet", 512, 339.10, 63.03, 402.129},
    {"sd21-768-unet", 768, 760.49, 314.06, 1074.553},
    {"sd21-text", 0, 22.28, 0.28, 22.564},
    {"sdxl-unet", 1024, 2988.66, 391.96, 3380.618},
    {"sdxl-unet", 512, 766.86, 27.53, 794.39},
    {"sdxl-vae-decoder", 1024, 4960.32, 274.88, 5235.196},
    {"sdxl-text-2", 0, 48.45, 0.49, 48.93},
    {"dit-xl2", 256, 114.35, 4.27, 118.621},
    {"dit-xl2", 512, 456.9, 67.65, 524.538},
};

TEST(models, macs_are_the_published_ones) {
  for (const PublishedMacs& row : published_macs) {
    ModelOptions options;
    options.image_height_px = options.image_width_px = row.image_px;
    const auto macs = macs_of(written(row.name, options));
    EXPECT_NEAR(static_cast<double>(macs.total()) * 1e-9, row.total_g, 0.0051) << row.name << row.image_px;
    EXPECT_NEAR(static_cast<double>(macs.weighted) * 1e-9, row.weighted_g, 0.06) << row.name << row.image_px;
    EXPECT_NEAR(static_cast<double>(macs.attention) * 1e-9, row.attention_g, 0.06) << row.name << row.image_px;
  }
}

TEST(models, macs_of_the_classifiers_follow_from_their_layers) {
  EXPECT_EQ(macs_of(written("resnet50")).total(), 4'089'184'256);   // torchvision: 4.09 G
  EXPECT_EQ(macs_of(written("mobilenetv2")).total(), 300'774'272);  // torchvision: 0.30 G
  // 12 layers of 4 d^2 + 8 d^2 for each of 128 tokens, 2 * 128 d for its attention, and the pooler's d^2.
  const std::int64_t d = 768;
  const auto bert = macs_of(written("bert-base"));
  EXPECT_EQ(bert.weighted, 12 * 128 * 12 * d * d + d * d);
  EXPECT_EQ(bert.attention, 12 * 128 * 2 * 128 * d);
}

TEST(models, twice_the_batch_is_twice_the_macs_and_the_same_parameters) {
  for (const ModelRow& row : built_in_models()) {
    ModelOptions options;
    options.batch = 2;
    const auto one = macs_of(written(row.name));
    const auto model = written(row.name, options);
    const auto two = macs_of(model);
    EXPECT_EQ(two.weighted, 2 * one.weighted) << row.name;
    EXPECT_EQ(two.attention, 2 * one.attention) << row.name;
    EXPECT_EQ(parameters_of(model), row.parameters) << row.name;
  }
}

TEST(models, a_picture_may_be_oblong) {
  for (const char* name : {"sd15-unet", "sd15-vae-encoder", "sd15-vae-decoder", "tiny-sd-unet", "sdxl-unet",
                           "dit-xl2", "resnet50", "mobilenetv2"}) {
    ModelOptions wide, tall;
    wide.image_width_px = tall.image_height_px = 640;
    wide.image_height_px = tall.image_width_px = 384;
    const auto macs = macs_of(written(name, wide));
    EXPECT_EQ(macs.total(), macs_of(written(name, tall)).total()) << name;
    EXPECT_NE(macs.total(), macs_of(written(name)).total()) << name;
  }
}

TEST(models, bert_takes_the_tokens_it_is_given) {
  ModelOptions options;
  options.tokens = 384;
  EXPECT_EQ(written("bert-base", options).graph().input(0).type().tensor_type().shape().dim(1).dim_value(), 384);
  EXPECT_EQ(parameters_of(written("bert-base", options)), 109'482'240);
}

TEST(models, a_text_encoder_does_not_see_the_picture) {
  ModelOptions options;
  options.image_height_px = options.image_width_px = 768;
  EXPECT_EQ(write_model("sd15-text", options), write_model("sd15-text", {}));
}

TEST(models, names_are_unique_and_found) {
  std::set<std::string_view> names;
  for (const ModelRow& row : built_in_models()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_model(row.name), &row);
  }
  for (const PipelineRow& row : built_in_pipelines()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_pipeline(row.name), &row);
  }
  EXPECT_EQ(find_model("sd15"), nullptr);
  EXPECT_EQ(find_pipeline("sd15-unet"), nullptr);
}

TEST(models, a_kind_has_the_name_of_its_enumerator) {
  EXPECT_EQ(name_of(ModelKind::text_encoder), "text_encoder");
  EXPECT_EQ(name_of(find_model("sd15-unet")->kind), "unet");
  EXPECT_EQ(name_of(find_model("dit-xl2")->kind), "transformer");
}

TEST(models, a_pipelines_parts_exist_and_are_of_their_kind) {
  for (const PipelineRow& row : built_in_pipelines()) {
    const std::pair<std::string_view, ModelKind> parts[] = {{row.text_encoder, ModelKind::text_encoder},
                                                            {row.vae_encoder, ModelKind::vae_encoder},
                                                            {row.unet, ModelKind::unet},
                                                            {row.vae_decoder, ModelKind::vae_decoder}};
    for (const auto& [name, kind] : parts) {
      ASSERT_NE(find_model(name), nullptr) << row.name << " " << name;
      EXPECT_EQ(find_model(name)->kind, kind) << name;
    }
    EXPECT_EQ(find_model(row.unet)->native_image_px, row.native_image_px);
    EXPECT_EQ(find_model(row.vae_decoder)->native_image_px, row.native_image_px);
  }
  EXPECT_EQ(find_pipeline("sdxl")->text_encoder_2, "sdxl-text-2");
}

std::string code_of(std::string_view name, const ModelOptions& options) {
  try {
    write_model(name, options);
  } catch (const Error& error) {
    return error.code;
  }
  return "none";
}

ModelOptions image(std::int64_t height_px, std::int64_t width_px) {
  ModelOptions options;
  options.image_height_px = height_px;
  options.image_width_px = width_px;
  return options;
}

TEST(models, what_a_model_cannot_be_is_refused) {
  EXPECT_EQ(code_of("sd16-unet", {}), "unknown_model");
  EXPECT_EQ(code_of("", {}), "unknown_model");
  ModelOptions options;
  for (const std::int64_t batch : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1025}}) {
    options.batch = batch;
    EXPECT_EQ(code_of("resnet50", options), "value_out_of_range") << batch;
  }
  EXPECT_EQ(code_of("sd15-unet", image(512, 544)), "value_out_of_range");
  EXPECT_EQ(code_of("sd15-unet", image(512, 576)), "none");
  EXPECT_EQ(code_of("sdxl-unet", image(544, 512)), "none");
  EXPECT_EQ(code_of("sd15-vae-encoder", image(8, 12)), "value_out_of_range");
  EXPECT_EQ(code_of("sd15-vae-decoder", image(-64, 64)), "value_out_of_range");
  EXPECT_EQ(code_of("sd15-vae-decoder", image(8200, 64)), "value_out_of_range");
  EXPECT_EQ(code_of("resnet50", image(31, 32)), "value_out_of_range");
  EXPECT_EQ(code_of("bert-base", image(64, 64)), "value_out_of_range");
  options.batch = 1;
  options.tokens = 513;
  EXPECT_EQ(code_of("bert-base", options), "value_out_of_range");
  EXPECT_EQ(code_of("sd15-text", options), "value_out_of_range");
  EXPECT_EQ(code_of("resnet50", options), "value_out_of_range");
}

TEST(models, an_error_names_the_option_and_what_was_expected) {
  try {
    write_model("sd15-unet", image(500, 512));
    FAIL() << "500 is not a multiple of 64";
  } catch (const Error& error) {
    EXPECT_EQ(error.where, "/image_height_px");
    EXPECT_STREQ(error.what(), "sd15-unet: image_height_px is 500, expected 64 to 8192, a multiple of 64");
  }
}

}  // namespace
}  // namespace sdip
