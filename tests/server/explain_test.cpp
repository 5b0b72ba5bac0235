// Is the explanation of SD 1.5 on the essay's machine what it was, and does every line of it add up?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "server/cli/text/explain_text.h"
#include "server/json/explain_json.h"
#include "server/studies/analysis.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/explain/evaluate_filled.h"
#include "tests/server/running.h"
#include "tests/server/schema_check.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

const std::string golden = std::string(SDIP_SOURCE_DIR) + "/tests/golden/explain_sd15_essay.txt";

std::string explained_sd15() {
  const Catalog catalog;
  const Analysis analysis = analyze(catalog, "sd15", find_preset("essay")->machine);
  std::ostringstream out;
  print_explanation(out, analysis, explain(analysis.application, analysis.machine, usual_explained_layers), false);
  return out.str();
}

std::string text_of(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// "1,234" as 1234.
std::int64_t count_in(std::string text) {
  std::erase(text, ',');
  return std::stoll(text);
}

/// A figure of the text, and the numbers below it.
struct Line {
  std::string what, numbers;
  std::int64_t value = 0;
};
std::vector<Line> lines_of(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream stream(text);
  bool numbers = false;
  for (std::string line; std::getline(stream, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == 6 && line.find(" = ") != std::string::npos) {
      const std::size_t equals = line.find(" = ");
      lines.push_back({line.substr(6, equals - 6), "", count_in(line.substr(equals + 3))});
      numbers = false;
    } else if (indent == 10 && line.substr(10).starts_with("= ")) {
      lines.back().numbers = line.substr(12);
      numbers = true;
    } else if (indent == 12 && numbers) {
      lines.back().numbers += " " + line.substr(12);
    } else {
      numbers = false;
    }
  }
  return lines;
}

/// The page draws what a stage's JSON says: it must be what the explanation's figures rest on.
TEST(explain, answers_as_its_schema_says_with_registers_in_the_arrays_too) {
  const Site site;
  const Answer answer = site.post("/api/v1/explanations", R"({"model": "tiny-sd", "layers": 5, "machine":
      {"accumulator_folds": 4, "weight_registers": 2}})");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json document = Json::parse(run_sdip({"openapi"}).out);
  EXPECT_THAT(misfits(answer.json(), document["components"]["schemas"]["Explanation"], document),
              testing::IsEmpty());
  EXPECT_THAT(answer.body, testing::HasSubstr("accumulator_writes"));
}

TEST(explain, roofs_of_a_stage_are_those_that_its_layers_are_explained_by_on_every_preset) {
  const Catalog catalog;
  std::int64_t compared = 0;
  for (const Preset& preset : presets()) {
    SCOPED_TRACE(std::string(preset.name));
    const Analysis analysis = analyze(catalog, "tiny-sd", preset.machine);
    if (!analysis.report.outcome.feasible) continue;
    const Explanation explanation = explain(analysis.application, analysis.machine, 0);
    const OrderedJson stages = analysis_json(analysis, false).at("stages");
    ASSERT_EQ(stages.size(), explanation.stages.size());
    for (std::size_t s = 0; s < stages.size(); ++s) {
      const StageExplanation& e = explanation.stages[s];
      EXPECT_EQ(stages[s].at("active_cores"), e.active_cores);
      EXPECT_EQ(stages[s].at("dram_bytes_per_cycle"), e.rate.bytes_per_cycle());
      std::int64_t roof = 0, highest = 0;
      for (const OrderedJson& one : stages[s].at("mac_roofs"))
        roof = std::max(roof, one.at("macs_per_cycle").get<std::int64_t>());
      for (const LayerNeeds& layer : explanation.layers) {
        if (layer.stage != s || layer.array_macs == 0) continue;
        ++compared;
        highest = std::max(highest, layer.array_macs);
      }
      EXPECT_EQ(roof, highest);
    }
  }
  EXPECT_GT(compared, 500);
}

/// With memories that hold a network.
TEST(explain, a_processor_s_accesses_are_the_roof_of_the_pynq_preset) {
  const Catalog catalog;
  Machine machine = find_preset("pynq-attention")->machine;
  machine.psram_bytes = machine.dsram_bytes = machine.stackram_bytes = machine.imem_bytes = std::int64_t{1} << 26;
  machine.technology_node = TechnologyNode::n28;
  const Analysis analysis = analyze(catalog, "tiny-sd", machine);
  ASSERT_NE(analysis.report.stages.size(), 0) << analysis.report.outcome.reason;
  const OrderedJson stages = analysis_json(analysis, false).at("stages");
  const auto core = std::ranges::find(stages, "core", [](const OrderedJson& stage) { return stage.at("role"); });
  ASSERT_NE(core, stages.end());
  EXPECT_LE(core->at("dram_bytes_per_cycle").get<double>(), 1.0 / 79);
}

TEST(explain_text, of_sd15_on_the_essays_machine_is_the_golden) {
  const std::string text = explained_sd15();
  if (const char* update = std::getenv("SDIP_UPDATE_DOCS"); update && std::string(update) == "1")
    std::ofstream(golden) << text;
  EXPECT_EQ(text, text_of(golden)) << "SDIP_UPDATE_DOCS=1 writes it";
}

TEST(explain_text, its_worst_layer_stands_in_the_documentation) {
  const std::string text = text_of(golden);
  const std::size_t begin = text.find("\n1. ") + 1, end = text.find("\n\n2. ") + 1;
  std::istringstream layer(text.substr(begin, end - begin));
  std::string indented;
  for (std::string line; std::getline(layer, line);) indented += "    " + line + "\n";
  expect_made_section("model/explanation.md", "explanation", "sdip analyze sd15 --preset essay --explain",
                      "\n" + indented + "\n");
}

TEST(explain_text, every_line_of_the_golden_adds_up_as_a_reader_would_add_it) {
  const std::vector<Line> lines = lines_of(text_of(golden));
  std::size_t worked_out = 0;
  for (const Line& line : lines) {
    if (line.numbers.empty()) continue;
    EXPECT_EQ(evaluate_filled(line.numbers), line.value) << line.what;
    ++worked_out;
  }
  EXPECT_GT(worked_out, 50U);
  for (const Line& line : lines) EXPECT_TRUE(!line.numbers.empty() || line.what.starts_with("stall_")) << line.what;
}

TEST(explain_text, fits_a_page_of_100_columns) {
  std::istringstream stream(text_of(golden));
  for (std::string line; std::getline(stream, line);) EXPECT_LE(line.size(), 100U) << line;
}

TEST(explain_text, breaks_lines_between_words_and_indents_what_follows) {
  EXPECT_EQ(broken_text("a + bb", 4, 2), "a +\n  bb");
  EXPECT_EQ(broken_text("a + bb", 6, 2), "a + bb");
  EXPECT_EQ(broken_text("toolong word", 4, 1), "toolong\n word");
}

TEST(explain, the_command_prints_text_or_json_with_single_changes) {
  const Ended text = run_sdip({"analyze", "tiny-sd-vae-decoder", "--explain", "2"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_THAT(text.out, testing::HasSubstr("Cheapest single change"));
  const Ended json = run_sdip({"analyze", "tiny-sd-vae-decoder", "--explain", "2", "--json"});
  const Json object = Json::parse(json.out);
  EXPECT_EQ(object["worst"].size(), 2U);
  EXPECT_GT(object["sensitivities"]["changes"].size(), 50U);
  EXPECT_EQ(run_sdip({"analyze", "tiny-sd", "--explain", "0"}).exit_code, 1);
}

}  // namespace
}  // namespace sdip::test
