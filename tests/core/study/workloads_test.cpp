// Are built-in models read as what a machine runs of them?
#include "core/study/workloads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace sdip {
namespace {

using testing::ElementsAre;

std::vector<std::string> stages_of(const std::string& name, const Machine& machine) {
  std::vector<std::string> stages;
  const auto workload = built_in_workloads()(name, machine);
  for (const Stage& stage : workload->stages)
    stages.push_back(std::string(role_text(stage.role)) + " " + stage.name);
  return stages;
}

std::int64_t batch_of(const NetworkPart& part, Guidance guidance) {
  Machine machine;
  machine.batch = 3;
  machine.guidance = guidance;
  return pass_sizes(part, machine).batch;
}

TEST(workloads, of_a_pipeline_have_an_encoder_for_images_alone_and_hoisted_context_before_the_step) {
  Machine machine;
  EXPECT_THAT(stages_of("tiny-sd", machine),
              ElementsAre("text_encoder tiny-sd-text", "core tiny-sd-unet", "decoder tiny-sd-vae-decoder"));
  machine.mode = Mode::image_to_image;
  machine.hoisted_context = true;
  EXPECT_THAT(stages_of("tiny-sd", machine),
              ElementsAre("text_encoder tiny-sd-text", "encoder tiny-sd-vae-encoder",
                          "text_encoder tiny-sd-unet/context", "core tiny-sd-unet", "decoder tiny-sd-vae-decoder"));
}

TEST(workloads, of_a_model_are_one_stage_a_noise_predictor_being_a_core) {
  EXPECT_THAT(stages_of("tiny-sd-unet", Machine()), ElementsAre("core tiny-sd-unet"));
  EXPECT_THAT(stages_of("tiny-sd-text", Machine()), ElementsAre("network tiny-sd-text"));
  EXPECT_THROW(built_in_workloads()("tiny", Machine()), Error);
}

TEST(workloads, hold_both_halves_of_guidance_where_it_is_a_batch_and_both_prompts_whenever_there_is_guidance) {
  const NetworkPart text{Role::text_encoder, "tiny-sd-text"}, step{Role::core, "tiny-sd-unet"};
  EXPECT_EQ(batch_of(text, Guidance::off), 3);
  EXPECT_EQ(batch_of(text, Guidance::two_passes), 6);
  EXPECT_EQ(batch_of(step, Guidance::batch), 6);
  EXPECT_EQ(batch_of(step, Guidance::two_passes), 3);
  EXPECT_EQ(batch_of({Role::decoder, "tiny-sd-vae-decoder"}, Guidance::batch), 3);
}

TEST(workloads, are_the_same_for_machines_of_one_workload_key_alone) {
  const Workloads workloads = built_in_workloads();
  Machine machine;
  const auto first = workloads("tiny-sd", machine);
  machine.cores = 7;
  machine.weight_format = NumberFormat::int8;
  EXPECT_EQ(workloads("tiny-sd", machine), first);
  machine.sampler = Sampler::euler;
  EXPECT_NE(workloads("tiny-sd", machine), first);
}

}  // namespace
}  // namespace sdip
