// The published analysis as the program prints it, and as docs/model/published.md shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "server/io/json_in.h"
#include "tests/core/base/made_section.h"
#include "tests/server/running.h"

namespace sdip {
namespace {

using test::run_sdip;
using testing::HasSubstr;

std::string printed(const std::string& format) {
  const test::Ended ended = run_sdip({"npu-analysis", "--format", format});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.out;
}

TEST(npu_analysis_command, the_documentation_has_its_table) {
  expect_made_section("model/published.md", "npu_analysis", "sdip npu-analysis", printed("markdown"));
}

TEST(npu_analysis_command, prints_the_same_rows_in_every_form) {
  const Json json = Json::parse(printed("json"));
  ASSERT_FALSE(json["figures"].empty());
  EXPECT_THAT(json["source"].get<std::string>(), HasSubstr("https://"));
  const std::string csv = printed("csv");
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')), json["figures"].size() + 1);
  EXPECT_THAT(csv, HasSubstr("U-Net,largest batch product,B,160 MB,167772160,false,167772160,1"));
  EXPECT_THAT(csv, HasSubstr("VAE encoder,operations,,,,false,1116658466816,,not published,"));
  const std::string text = printed("text");
  EXPECT_THAT(text, HasSubstr("84,934,656"));
  EXPECT_THAT(text, HasSubstr("not reproduced"));
  EXPECT_EQ(run_sdip({"npu-analysis"}).out, text);
}

TEST(npu_analysis_command, another_form_is_wrong_usage) {
  EXPECT_EQ(run_sdip({"npu-analysis", "--format", "xml"}).exit_code, 2);
}

}  // namespace
}  // namespace sdip
