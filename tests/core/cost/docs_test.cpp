// Does docs/model.md list the metrics that the engine has, and its own sections?
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

#include "core/cost/estimate.h"
#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

TEST(docs, the_metric_table_is_that_of_the_rows) {
  std::string text = "| metric | unit | better | | |\n| --- | --- | --- | --- | --- |\n";
  for (const MetricRow& row : metrics()) {
    const char* better = row.better == Better::higher ? "higher" : row.better == Better::lower ? "lower" : "";
    text += "| `" + std::string(row.name) + "` | " + std::string(row.unit) + " | " + better + " | " +
            std::string(row.en) + " | " + std::string(row.ja) + " |\n";
  }
  expect_made_section("model.md", "metrics", "core/cost/metrics.def", text);
}

TEST(docs, the_contents_of_the_model_name_its_sections) {
  std::ifstream file(SDIP_SOURCE_DIR "/docs/model.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto plain = [](std::string said) {
    std::ranges::transform(said, said.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::ranges::replace(said, '\n', ' ');
    return said;
  };
  const std::size_t from = text.find("Contents: "), to = text.find("\n## ");
  ASSERT_LT(from, to);
  const std::string contents = plain(text.substr(from, to - from));
  std::size_t sections = 0;
  const std::regex heading("\n## (?:([0-9]+b?)\\. )?([^\n]*)");
  for (std::sregex_iterator at(text.begin(), text.end(), heading), end; at != end; ++at, ++sections) {
    const std::string name = ((*at)[1].matched ? (*at)[1].str() + " " : "") + (*at)[2].str();
    EXPECT_NE(contents.find(plain(name)), std::string::npos) << name;
  }
  EXPECT_GT(sections, 30U);
}

}  // namespace
}  // namespace sdip
