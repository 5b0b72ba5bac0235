// sdip run: what a model's programs compute, beside what its graph says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "tests/server/running.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

TEST(run, in_the_models_own_format_differs_by_rounding_alone_and_is_the_same_twice) {
  const std::vector<std::string> command{"run",   "tiny-sd-text",       "--seed", "3",
                                         "--set", "weight_format=fp32", "--set",  "activation_format=fp32"};
  const Ended first = run_sdip(command), second = run_sdip(command);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("last_hidden_state"));
  EXPECT_THAT(first.out, HasSubstr(" 0.0 %"));
  EXPECT_EQ(first.out, second.out);
}

TEST(run, other_seeds_give_other_outputs) {
  EXPECT_NE(run_sdip({"run", "tiny-sd-text", "--seed", "3"}).out,
            run_sdip({"run", "tiny-sd-text", "--seed", "4"}).out);
}

TEST(run, refuses_what_is_too_large_and_says_how_large_it_may_be) {
  const Ended ended = run_sdip({"run", "sd15-unet"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("sdip run takes at most 4,294,967,296 operations and 4.00 GiB"));
}

TEST(run, alone_gives_the_bits_that_it_gives_beside_the_graph_on_any_number_of_threads) {
  const std::vector<std::string> command{"run",   "tiny-sd-unet",           "--set", "weight_format=fp32",
                                         "--set", "activation_format=fp32", "--set", "accumulator_format=fp32"};
  const auto digests = [&](std::vector<std::string> more) {
    more.insert(more.begin(), command.begin(), command.end());
    const Ended ended = run_on_essay(more);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const std::regex digest("[0-9a-f]{16}");
    return std::vector<std::string>(std::sregex_token_iterator(ended.out.begin(), ended.out.end(), digest), {});
  };
  const std::vector<std::string> beside = digests({"--threads", "1"});
  EXPECT_EQ(beside.size(), 1u);
  EXPECT_EQ(digests({"--alone", "--threads", "1"}), beside);
  EXPECT_EQ(digests({"--alone", "--threads", "3"}), beside);
}

TEST(run, alone_needs_formats_without_scales) {
  const Ended ended = run_sdip({"run", "tiny-sd-unet", "--alone", "--set", "activation_format=int8"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("expected formats of activations without scales"));
}

TEST(run, takes_given_inputs_of_the_right_size) {
  const TemporaryFolder folder;
  write_file(folder / "ids", std::string(77 * 8, '\0'));
  EXPECT_EQ(run_sdip({"run", "tiny-sd-text", "--input", "input_ids=" + (folder / "ids")}).exit_code, 0);
  write_file(folder / "ids", "short");
  EXPECT_THAT(run_sdip({"run", "tiny-sd-text", "--input", "input_ids=" + (folder / "ids")}).err,
              HasSubstr("the file has 5 bytes"));
  EXPECT_THAT(run_sdip({"run", "tiny-sd-text", "--input", "nothing=x"}).err, HasSubstr("NAME=FILE"));
}

/// 8-bit codes have no NaN: the machine's result is a number where the graph's is none.
TEST(run, not_a_number_beside_a_number_is_infinitely_far_off) {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += std::string("\0\0\xc0\x7f", 4);
  write_file(folder / "nan", bytes);
  const Ended ended = run_sdip({"run", "tiny-sd-vae-decoder", "--set", "activation_format=int8", "--set",
                                "weight_format=int8", "--input", "latent_sample=" + (folder / "nan")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr(" inf "));
}

TEST(run, a_seed_is_a_whole_number_that_json_keeps) {
  for (const char* seed :
       {"-1", "99999999999999999999999", "9007199254740992", "18446744073709551615", "1.5", "0x10", ""}) {
    for (const char* command : {"run", "validate", "accuracy", "sweep", "best", "screen"}) {
      const Ended ended = run_sdip({command, "tiny-sd-text", "--seed", seed});
      EXPECT_EQ(ended.exit_code, 2) << command << " " << seed;
      EXPECT_THAT(ended.err, HasSubstr("expected a whole number of 0 to 9007199254740991"))
          << command << " " << seed;
    }
  }
  EXPECT_EQ(run_sdip({"run", "tiny-sd-text", "--seed", "9007199254740991"}).exit_code, 0);
}

TEST(sweep_arguments, a_time_is_a_number) {
  for (const char* seconds : {"nan", "NAN", "NaN", "-1"})
    EXPECT_EQ(run_sdip({"sweep", "tiny-sd", "--axis", "cores=1", "--accuracy-seconds", seconds}).exit_code, 2)
        << seconds;
}

}  // namespace
}  // namespace sdip::test
