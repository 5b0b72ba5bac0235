// The words of tilings as the program prints them and docs/model/tiling.md shows them, and mappings said by a user.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "server/io/json_in.h"
#include "tests/core/base/made_section.h"
#include "tests/server/running.h"

namespace sdip {
namespace {

using test::run_sdip;
using testing::HasSubstr;

TEST(tiling_command, the_documentation_has_its_table) {
  const test::Ended ended = run_sdip({"tiling", "--format", "markdown"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  expect_made_section("model/tiling.md", "tiling", "sdip tiling", ended.out);
}

TEST(tiling_command, prints_every_layer_at_every_size_and_none_below_its_bound) {
  const test::Ended ended = run_sdip({"tiling", "resnet50", "--format", "json"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json layers = Json::parse(ended.out)["layers"];
  std::int64_t count = 0;
  for (const Json& layer : layers) {
    count += layer["times"].get<std::int64_t>();
    ASSERT_EQ(layer["at"].size(), 9U);
    std::int64_t before = std::numeric_limits<std::int64_t>::max();
    for (const Json& at : layer["at"]) {
      const auto moved = at["moved_words"].get<std::int64_t>();
      EXPECT_GE(moved, at["bound_words"].get<std::int64_t>()) << layer["layer"];
      EXPECT_LE(moved, before) << layer["layer"];
      const bool all_once = at["words"] >= layer["compulsory_from_words"];
      EXPECT_EQ(moved == layer["compulsory_words"].get<std::int64_t>(), all_once) << layer["layer"];
      before = moved;
    }
  }
  EXPECT_EQ(count, 54);  // 53 convolutions and a linear layer
}

TEST(tiling_command, says_what_a_machine_moves_beside_its_bound) {
  const test::Ended ended = run_sdip({"tiling", "tiny-sd-unet", "--format", "json", "--preset", "edge"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  const Json layers = Json::parse(ended.out)["layers"];
  EXPECT_GT(layers.size(), 10U);
  for (const Json& layer : layers)
    EXPECT_GE(layer["machine"]["bytes"].get<std::int64_t>(), layer["machine"]["bound_bytes"].get<std::int64_t>());
  EXPECT_EQ(run_sdip({"tiling", "tiny-sd-unet", "--words", "0"}).exit_code, 1);
}

TEST(tiling_command, prints_no_line_of_more_than_100_columns) {
  const test::Ended ended = run_sdip({"tiling", "--preset", "edge"});
  ASSERT_EQ(ended.exit_code, 0) << ended.err;
  std::istringstream lines(ended.out);
  std::int64_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_GT(count, 400);
}

TEST(tiling_command, takes_the_weights_of_other_parts_from_dram_when_one_part_s_are_wired) {
  const auto bytes_of = [](const std::string& model, const std::string& part) {
    const test::Ended ended = run_sdip({"tiling", model, "--format", "json", "--preset", "essay", "--set",
                                        "weight_storage=hard_coded", "--set", "hard_coded_part=" + part});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    std::map<std::string, std::int64_t> bytes;
    const Json layers = Json::parse(ended.out)["layers"];
    for (const Json& layer : layers)
      bytes[layer["model"].get<std::string>()] += layer["machine"]["bytes"].get<std::int64_t>();
    return bytes;
  };
  auto all = bytes_of("tiny-sd", "all"), core = bytes_of("tiny-sd", "core");
  EXPECT_EQ(all["tiny-sd-unet"], core["tiny-sd-unet"]);
  EXPECT_LT(all["tiny-sd-vae-decoder"], core["tiny-sd-vae-decoder"]);
}

TEST(compile_command, takes_the_mappings_that_it_shows) {
  const test::Ended shown = run_sdip({"compile", "tiny-sd-unet", "--show-mapping"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("\"tiny-sd-unet:/conv_in/Conv\" rows="));
  const std::string file = testing::TempDir() + "mappings.txt";
  std::ofstream(file) << shown.out;
  const test::Ended again = run_sdip({"compile", "tiny-sd-unet", "--mapping", file});
  EXPECT_EQ(again.out, run_sdip({"compile", "tiny-sd-unet"}).out);
  std::ofstream(file) << "\"*\" rows=1\n";
  const test::Ended refused = run_sdip({"compile", "tiny-sd-unet", "--mapping", file});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("mapping_invalid"));
  EXPECT_THAT(refused.err, HasSubstr("mappings.txt:1: field 3: channels= is missing"));
}

}  // namespace
}  // namespace sdip
