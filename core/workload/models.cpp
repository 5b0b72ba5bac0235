// The tables of built-in models and pipelines, and writing a model by its name.
#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/workload/bert.h"
#include "core/workload/classifiers.h"
#include "core/workload/dit.h"
#include "core/workload/pynq_attention.h"
#include "core/workload/stable_diffusion.h"
#include "core/workload/workload.h"

namespace sdip {
namespace {

using workload::Draft;
using workload::Sizes;

template <auto write, const auto& config>
void build(Draft& draft, const Sizes& sizes) {
  write(draft, sizes, config);
}

using enum ModelKind;
using namespace workload;

// clang-format off
// name, title, kind, parameters, native image and its multiple (px), native tokens, builder
constexpr ModelRow model_rows[] = {
    {"sd15-text", "Stable Diffusion 1.5 text encoder (CLIP ViT-L/14)", text_encoder, 123'060'480, 0, 0, 77, build<write_text_encoder, clip_l>},
    {"sd15-vae-encoder", "Stable Diffusion 1.5 VAE encoder", vae_encoder, 34'163'664, 512, 8, 0, build<write_vae_encoder, sd_vae>},
    {"sd15-unet", "Stable Diffusion 1.5 U-Net", unet, 859'520'964, 512, 64, 77, build<write_unet, sd1_unet>},
    {"sd15-vae-decoder", "Stable Diffusion 1.5 VAE decoder", vae_decoder, 49'490'199, 512, 8, 0, build<write_vae_decoder, sd_vae>},
    {"sd21-text", "Stable Diffusion 2.1 text encoder (OpenCLIP ViT-H/14, 23 layers)", text_encoder, 340'387'840, 0, 0, 77, build<write_text_encoder, clip_h>},
    {"sd21-vae-encoder", "Stable Diffusion 2.1 base VAE encoder", vae_encoder, 34'163'664, 512, 8, 0, build<write_vae_encoder, sd_vae>},
    {"sd21-unet", "Stable Diffusion 2.1 base U-Net", unet, 865'910'724, 512, 64, 77, build<write_unet, sd2_unet>},
    {"sd21-vae-decoder", "Stable Diffusion 2.1 base VAE decoder", vae_decoder, 49'490'199, 512, 8, 0, build<write_vae_decoder, sd_vae>},
    {"sd21-768-text", "Stable Diffusion 2.1 (768) text encoder (OpenCLIP ViT-H/14, 23 layers)", text_encoder, 340'387'840, 0, 0, 77, build<write_text_encoder, clip_h>},
    {"sd21-768-vae-encoder", "Stable Diffusion 2.1 (768) VAE encoder", vae_encoder, 34'163'664, 768, 8, 0, build<write_vae_encoder, sd_vae>},
    {"sd21-768-unet", "Stable Diffusion 2.1 (768) U-Net", unet, 865'910'724, 768, 64, 77, build<write_unet, sd2_unet>},
    {"sd21-768-vae-decoder", "Stable Diffusion 2.1 (768) VAE decoder", vae_decoder, 49'490'199, 768, 8, 0, build<write_vae_decoder, sd_vae>},
    {"sdxl-text", "SDXL text encoder (CLIP ViT-L/14)", text_encoder, 123'060'480, 0, 0, 77, build<write_text_encoder, clip_l_for_sdxl>},
    {"sdxl-text-2", "SDXL second text encoder (OpenCLIP ViT-bigG/14)", text_encoder, 694'659'840, 0, 0, 77, build<write_text_encoder, clip_big_g>},
    {"sdxl-vae-encoder", "SDXL VAE encoder", vae_encoder, 34'163'664, 1024, 8, 0, build<write_vae_encoder, sd_vae>},
    {"sdxl-unet", "SDXL U-Net", unet, 2'567'463'684, 1024, 32, 77, build<write_unet, sdxl_unet>},
    {"sdxl-vae-decoder", "SDXL VAE decoder", vae_decoder, 49'490'199, 1024, 8, 0, build<write_vae_decoder, sd_vae>},
    {"bksdm-base-unet", "BK-SDM-Base U-Net, distilled from SD 1", unet, 579'384'964, 512, 64, 77, build<write_unet, bksdm_base_unet>},
    {"tiny-sd-text", "Tiny Stable Diffusion text encoder, for tests", text_encoder, 59'936, 0, 0, 77, build<write_text_encoder, tiny_clip>},
    {"tiny-sd-vae-encoder", "Tiny Stable Diffusion VAE encoder, for tests", vae_encoder, 31'528, 64, 8, 0, build<write_vae_encoder, tiny_vae>},
    {"tiny-sd-unet", "Tiny Stable Diffusion U-Net, for tests", unet, 376'132, 64, 32, 77, build<write_unet, tiny_unet>},
    {"tiny-sd-vae-decoder", "Tiny Stable Diffusion VAE decoder, for tests", vae_decoder, 49'687, 64, 8, 0, build<write_vae_decoder, tiny_vae>},
    {"resnet50", "ResNet-50", classifier, 25'557'032, 224, 1, 0, write_resnet50},
    {"mobilenetv2", "MobileNetV2", classifier, 3'504'872, 224, 1, 0, write_mobilenetv2},
    {"bert-base", "BERT-base uncased, with pooler", language, 109'482'240, 0, 0, 128, write_bert_base},
    {"dit-xl2", "DiT-XL/2", transformer, 675'129'632, 256, 16, 0, write_dit_xl2},
    {"pynq-attention", "Single-head attention of an accelerator on a PYNQ-Z2", transformer, 48, 0, 0, 4, write_pynq_attention},
};

constexpr PipelineRow pipeline_rows[] = {
    {"sd15", "Stable Diffusion 1.5", "sd15-text", "", "sd15-vae-encoder", "sd15-unet", "sd15-vae-decoder", 512},
    {"sd21", "Stable Diffusion 2.1 base", "sd21-text", "", "sd21-vae-encoder", "sd21-unet", "sd21-vae-decoder", 512},
    {"sd21-768", "Stable Diffusion 2.1", "sd21-768-text", "", "sd21-768-vae-encoder", "sd21-768-unet", "sd21-768-vae-decoder", 768},
    {"sdxl", "SDXL", "sdxl-text", "sdxl-text-2", "sdxl-vae-encoder", "sdxl-unet", "sdxl-vae-decoder", 1024},
    {"bksdm-base", "BK-SDM-Base", "sd15-text", "", "sd15-vae-encoder", "bksdm-base-unet", "sd15-vae-decoder", 512},
    {"tiny-sd", "Tiny Stable Diffusion, for tests", "tiny-sd-text", "", "tiny-sd-vae-encoder", "tiny-sd-unet", "tiny-sd-vae-decoder", 64},
};
// clang-format on

constexpr std::string_view kind_names[] = {"text_encoder", "vae_encoder", "unet",       "vae_decoder",
                                           "classifier",   "language",    "transformer"};

constexpr std::int64_t batch_most = 1024;
constexpr std::int64_t image_px_most = 8192;
constexpr std::int64_t bert_tokens_most = 512;

[[noreturn]] void out_of_range(const ModelRow& row, const char* what, std::int64_t value,
                               const std::string& expected) {
  throw Error("value_out_of_range", std::string("/") + what,
              fmt::format("{}: {} is {}, expected {}", row.name, what, value, expected));
}

std::int64_t image_side(const ModelRow& row, const char* what, std::int64_t value_px) {
  // A text encoder belongs to a pipeline with a picture, but does not see it; BERT has nothing to do with one.
  if (row.native_image_px == 0) {
    if (row.kind != text_encoder && value_px != 0)
      out_of_range(row, what, value_px, "0: this model reads no image");
    return 0;
  }
  if (value_px == 0) return row.native_image_px;
  const std::int64_t multiple = row.image_multiple_px;
  const std::int64_t least = row.kind == classifier ? 32 : multiple;
  if (value_px < least || value_px > image_px_most || value_px % multiple != 0) {
    const std::string steps = multiple == 1 ? "" : ", a multiple of " + std::to_string(multiple);
    out_of_range(row, what, value_px, fmt::format("{} to {}{}", least, image_px_most, steps));
  }
  return value_px;
}

std::int64_t token_count(const ModelRow& row, std::int64_t tokens) {
  if (tokens == 0) return row.native_tokens;
  if (row.kind == language) {
    if (tokens < 1 || tokens > bert_tokens_most) {
      out_of_range(row, "tokens", tokens, "1 to " + std::to_string(bert_tokens_most));
    }
  } else if (tokens != row.native_tokens) {
    out_of_range(row, "tokens", tokens,
                 row.native_tokens == 0 ? "0: this model reads no text" : std::to_string(row.native_tokens));
  }
  return tokens;
}

}  // namespace

std::string_view name_of(ModelKind kind) { return kind_names[at(kind)]; }

std::span<const ModelRow> built_in_models() { return model_rows; }

const ModelRow* find_model(std::string_view name) {
  const auto* row = std::ranges::find(model_rows, name, &ModelRow::name);
  return row == std::end(model_rows) ? nullptr : row;
}

std::span<const PipelineRow> built_in_pipelines() { return pipeline_rows; }

const PipelineRow* find_pipeline(std::string_view name) {
  const auto* row = std::ranges::find(pipeline_rows, name, &PipelineRow::name);
  return row == std::end(pipeline_rows) ? nullptr : row;
}

std::string write_model(std::string_view name, const ModelOptions& options) {
  const ModelRow* row = find_model(name);
  if (row == nullptr) {
    throw Error("unknown_model", std::string(name), fmt::format("there is no built-in model \"{}\"", name));
  }
  if (options.batch < 1 || options.batch > batch_most) {
    out_of_range(*row, "batch", options.batch, "1 to " + std::to_string(batch_most));
  }
  const Sizes sizes{.batch = options.batch,
                    .height_px = image_side(*row, "image_height_px", options.image_height_px),
                    .width_px = image_side(*row, "image_width_px", options.image_width_px),
                    .tokens = token_count(*row, options.tokens)};
  Draft draft(row->name);
  row->build(draft, sizes);
  return draft.model.SerializeAsString();
}

}  // namespace sdip
