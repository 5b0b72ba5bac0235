// sdip accuracy: figures by layer, step and stage; what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/json_in.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

Json accuracy_of(const std::vector<std::string>& options) {
  std::vector<std::string> command{"accuracy", "--json"};
  command.insert(command.end(), options.begin(), options.end());
  const Ended ended = run_sdip(command);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.exit_code == 0 ? parse_json(ended.out) : Json();
}

TEST(accuracy_command, follows_a_tiny_pipeline_through_its_stages_step_by_step) {
  const Json report = accuracy_of({"tiny-sd", "--preset", "edge", "--steps", "2", "--samples", "1"});
  EXPECT_EQ(report["weights"], "random");
  ASSERT_EQ(report["stages"].size(), 3U);
  const Json& core = report["stages"][1];
  ASSERT_EQ(core["steps"].size(), 2U);
  EXPECT_EQ(core["steps"][0]["t"], 500);
  EXPECT_EQ(core["steps"][1]["sqnr_db"], core["output"]["sqnr_db"]);
  EXPECT_GT(core["layers"].size(), 100U);
  EXPECT_EQ(report["sqnr_db"], report["stages"][2]["output"]["sqnr_db"]);
  EXPECT_GT(report["sqnr_db"].get<double>(), 5);
  EXPECT_LT(report["sqnr_db"].get<double>(), 40);
}

TEST(accuracy_command, takes_each_sampler_and_gives_both_computations_the_same_noise) {
  for (const char* sampler : {"ddpm", "euler"}) {
    const Json report = accuracy_of({"tiny-sd", "--steps", "2", "--sampler", sampler, "--set", "weight_format=fp32",
                                     "--set", "activation_format=fp32"});
    EXPECT_GT(report["sqnr_db"].get<double>(), 90) << sampler;
  }
}

TEST(accuracy_command, of_a_text_encoder_in_8_bits_is_better_than_its_mask_once_let_it_be) {
  EXPECT_GT(accuracy_of({"tiny-sd-text", "--preset", "edge"})["sqnr_db"].get<double>(), 25);
  const double by_error =
      accuracy_of({"tiny-sd-text", "--preset", "edge", "--calibration", "mse"})["sqnr_db"].get<double>();
  EXPECT_GT(by_error, 20);
}

TEST(accuracy_command, prints_tables_and_the_same_ones_twice) {
  const std::vector<std::string> command{"accuracy", "tiny-sd-text", "--preset", "edge", "--worst", "2"};
  const Ended first = run_sdip(command);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("random weights and inputs, seed 0, minmax"));
  EXPECT_THAT(first.out, HasSubstr("Results with the least signal to noise of tiny-sd-text:"));
  EXPECT_EQ(first.out, run_sdip(command).out);
}

TEST(accuracy_command, refuses_what_is_too_large_or_no_method) {
  const Ended large = run_sdip({"accuracy", "sd15-unet"});
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.err, HasSubstr("limit_exceeded"));
  EXPECT_THAT(run_sdip({"accuracy", "tiny-sd-text", "--calibration", "best"}).err,
              HasSubstr("value_invalid: --calibration"));
  EXPECT_THAT(run_sdip({"accuracy", "tiny-sd-text", "--percentile", "40"}).err,
              HasSubstr("value_out_of_range: --percentile"));
  EXPECT_THAT(run_sdip({"accuracy", "tiny-sd-text", "--set", "core_weights=per_core"}).err,
              HasSubstr("value_conflict"));
}

}  // namespace
}  // namespace sdip::test
