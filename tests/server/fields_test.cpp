// What is said of the figures of a stage and of an instruction, beside an analysis that has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

Json record_of(const Json& fields, const std::string& name) {
  for (const Json& one : fields.at("records"))
    if (one.at("name") == name) return one.at("fields");
  return {};
}

std::string unit_by_key(const std::string& key) {
  const std::map<std::string, std::string> units = {
      {"_bytes", "B"}, {"_cycles", "cycles"}, {"_cycle", "cycles"}, {"_j", "J"}};
  if (key.ends_with("_per_cycle")) return "B/cycle";
  for (const auto& [ending, unit] : units)
    if (key.ends_with(ending)) return unit;
  return key.ends_with("macs") ? "MAC" : "";
}

void expect_described(const Json& fields, const Json& figures) {
  ASSERT_GT(fields.size(), 20U);
  std::set<std::string> keys, en, ja;
  for (const Json& field : fields) {
    const std::string key = field.at("name");
    EXPECT_TRUE(figures.contains(key)) << key;
    EXPECT_EQ(field.at("unit"), unit_by_key(key)) << key;
    EXPECT_TRUE(keys.insert(key).second) << key;
    EXPECT_TRUE(en.insert(field.at("doc").at("en")).second) << key;
    EXPECT_TRUE(ja.insert(field.at("doc").at("ja")).second) << key;
  }
  const std::set<std::string> apart = {
      "index", "name", "op", "output_shape", "frame_energy_j", "frame_energy_parts_j", "instructions"};
  for (const auto& [key, value] : figures.items()) EXPECT_TRUE(keys.contains(key) || apart.contains(key)) << key;
}

TEST(fields, each_figure_of_an_analysis_has_a_name_in_both_languages_and_the_unit_of_its_key) {
  const Site site;
  const Json fields = site.get("/api/v1/fields").json();
  const Json stage = Json::parse(run_sdip({"analyze", "tiny-sd", "--layers", "--json"}).out).at("stages").at(0);
  expect_described(record_of(fields, "StageReport"), stage);
  expect_described(record_of(fields, "InstructionCost"), stage.at("instructions").at(0));
}

TEST(fields, a_row_of_a_comparison_has_each_a_name_and_no_other_and_values_are_named_or_metrics) {
  const Site site;
  const Json fields = site.get("/api/v1/fields").json(), metrics = site.get("/api/v1/metrics").json();
  const Json rows = Json::parse(run_sdip({"compare", "tiny-sd", "--baselines", "a100", "--json"}).out).at("rows");
  std::set<std::string> named, written, said, had;
  for (const Json& field : record_of(fields, "ComparisonRow")) named.insert(field.at("name"));
  for (const auto& [key, value] : rows.at(0).items()) written.insert(key);
  EXPECT_EQ(named, written);
  for (const Json& value : record_of(fields, "ComparedValues")) said.insert(value.at("name"));
  for (const Json& row : rows)
    for (const auto& [key, value] : row.at("values").items()) had.insert(key);
  for (const Json& metric : metrics.at("metrics")) had.erase(metric.at("name"));
  EXPECT_EQ(said, had);
}

TEST(fields, the_table_of_stages_has_a_row_for_each_number) {
  const Site site;
  const std::string table = run_sdip({"analyze", "tiny-sd"}).out;
  const Json stage = Json::parse(run_sdip({"analyze", "tiny-sd", "--json"}).out).at("stages").at(0);
  for (const Json& field : record_of(site.get("/api/v1/fields").json(), "StageReport")) {
    if (stage.at(field.at("name").get<std::string>()).is_number()) {
      EXPECT_THAT(table, HasSubstr("\n  " + field.at("doc").at("en").get<std::string>() + " "));
    }
  }
}

}  // namespace
}  // namespace sdip::test
