// What is recognised in real exported graphs, exactly, against the reference's counts (models.md section 5).
#include <ostream>

#include "tests/core/onnx/build.h"

namespace sdip {
namespace {

struct Recognised {
  std::string file;
  std::string counts;  // "groupnorm 61, silu 47", those above 0
  std::string left;
  std::map<std::string, std::int64_t> dims = {};
};

[[maybe_unused]] void PrintTo(const Recognised& model, std::ostream* out) { *out << model.file; }

std::vector<Recognised> recognised() {
  return {
      {"kj_sd1_clip_op14_dyn",
       "no_op 13, layernorm 25, quick_gelu 12, scores 12, linear 48, attention 12, residual_add 24",
       "",
       {{"batch", 1}, {"seq", 77}}},
      {"kj_sd1_unet_op14",
       "layernorm 48, groupnorm 61, gelu 16, silu 47, scores 32, linear 152, reshape_merged 22, attention 32, "
       "geglu 16, upsample_nearest_2x 3, residual_add 72, skip_concat 12",
       ""},
      {"kj_sd1_vae_decoder_op11",
       "groupnorm 30, silu 29, scores 1, linear 2, attention 1, upsample_nearest_2x 3, residual_add 13", ""},
      {"compvis_sd14_unet512_op14",
       "no_op 114, einsum 64, layernorm 48, groupnorm 61, gelu 16, silu 47, scores 32, linear 184, reshape_merged "
       "22, attention 32, geglu 16, timestep_embedding 1, upsample_nearest_2x 3, residual_add 72, skip_concat 12",
       ""},
      {"compvis_sd14_vae_encoder_op14", "groupnorm 22, silu 21, scores 1, attention 1, residual_add 9", ""},
      {"diffusers0214_sd15_unet_op14_dyn_b2",
       "no_op 121, layernorm 48, groupnorm 61, gelu 16, silu 47, scores 32, linear 184, reshape_merged 22, "
       "attention 32, geglu 16, timestep_embedding 1, upsample_nearest_2x 3, residual_add 72, skip_concat 12",
       "",
       {{"batch", 2}, {"channels", 4}, {"height", 64}, {"width", 64}, {"sequence", 77}}},
      {"diffusers0214_sd15_unet_sdpa_op17",
       "no_op 89, groupnorm 61, gelu 16, silu 47, scores 32, linear 184, reshape_merged 22, attention 32, geglu "
       "16, timestep_embedding 1, upsample_nearest_2x 3, residual_add 72, skip_concat 12",
       ""},
      {"diffusers0214_sdxl_unet1024_sdpa_op14",
       "no_op 302, layernorm 210, groupnorm 46, gelu 70, silu 38, scores 140, linear 743, reshape_merged 18, "
       "attention 140, geglu 70, timestep_embedding 2, upsample_nearest_2x 2, residual_add 227, skip_concat 9",
       ""},
      {"diffusers031_sd3medium_512_op17",
       "no_op 29, einsum 1, gelu 47, silu 3, scores 24, linear 340, attention 24, adaln_modulate 96, "
       "timestep_embedding 1, unpatchify 1, residual_add 94",
       ""},
      {"dit_xl2_256_op14",
       "no_op 1, einsum 1, layernorm 57, gelu 28, silu 2, scores 28, linear 144, attention 28, adaln_modulate 57, "
       "timestep_embedding 1, unpatchify 1, residual_add 56",
       ""},
      {"openai_clip_vitl14_text_op14",
       "no_op 65, layernorm 25, quick_gelu 12, scores 12, linear 49, attention 12, residual_add 24", ""},
      {"hf46_bert_base_op14_dyn",
       "layernorm 25, gelu 12, scores 12, linear 73, reshape_merged 1, attention 12, residual_add 24",
       "",
       {{"batch", 1}, {"seq", 128}}},
      {"tv_resnet50_op14", "linear 1, residual_add 12", ""},
      {"tv_swin_t_op14",
       "no_op 75, layernorm 29, gelu 12, scores 12, linear 52, reshape_merged 5, attention 12, residual_add 24",
       ""},
  };
}

class patterns : public testing::TestWithParam<Recognised> {};

TEST_P(patterns, of_real_exports_are_found_and_nothing_stays_decomposed) {
  const Recognised& want = GetParam();
  SDIP_SHARED_MODEL(bytes, "exports/" + want.file + ".onnx");
  ImportOptions options;
  options.dims = want.dims;
  Graph graph = import_bytes(bytes, options);
  std::string counts, left;
  const auto add = [](std::string& text, const std::string& name, std::int64_t count) {
    if (count != 0) text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  };
  for (const auto& [name, count] : rewrite(graph)) add(counts, name, count);
  for (const Decomposed& each : decomposed(graph)) add(left, each.pattern, each.count);
  EXPECT_EQ(counts, want.counts);
  EXPECT_EQ(left, want.left);
}

INSTANTIATE_TEST_SUITE_P(all, patterns, testing::ValuesIn(recognised()),
                         [](const auto& model) { return model.param.file; });

}  // namespace
}  // namespace sdip
