// Can a user list the figures of the technology table, fix one and sweep one, on the command line and over HTTP?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/machine/technology.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

Json parsed(const std::vector<std::string>& arguments) {
  const Ended ended = run_sdip(arguments);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return Json::parse(ended.out);
}

void expect_refused(const std::vector<std::string>& arguments, const std::string& line) {
  const Ended ended = run_sdip(arguments);
  EXPECT_EQ(ended.exit_code, 1) << ended.out;
  EXPECT_THAT(ended.err, HasSubstr(line));
}

double part_named(const Json& parts, const std::string& part) {
  for (const Json& one : parts)
    if (one["part"] == part) return one["value"];
  return 0;
}

TEST(technology, is_listed_whole_and_by_node) {
  const Json all = parsed({"technology", "--json"})["technology"];
  ASSERT_EQ(all.size(), technology_rows().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const TechnologyRow& row = technology_rows()[i];
    EXPECT_EQ(all[i]["name"], row.name);
    EXPECT_EQ(all[i]["value"], row.value);
    EXPECT_EQ(all[i]["least"], row.least);
    EXPECT_EQ(all[i]["most"], row.most);
    EXPECT_EQ(all[i]["unit"], row.unit);
    EXPECT_EQ(all[i]["confidence"], confidence_text(row.confidence));
    EXPECT_EQ(all[i]["source"], row.source);
  }
  const std::string n16 = run_sdip({"technology", "--node", "n16"}).out;
  for (const char* row : {"n16.fo4", "n7.multiply.int8", "n45.multiply.int8", "dram.ddr4", "4 .. 20", "assumption"})
    EXPECT_THAT(n16, HasSubstr(row));
  for (const char* row : {"n28.fo4", "fpga"}) EXPECT_THAT(n16, testing::Not(HasSubstr(row)));
  expect_refused({"technology", "--node", "n6"},
                 "sdip: value_invalid: --node: technology_node = n6: expected one of");
}

TEST(technology, of_one_s_own_is_set_on_the_command_line_and_in_a_machine_s_file) {
  const Json before = parsed({"analyze", "tiny-sd", "--preset", "edge", "--json"});
  const Json after =
      parsed({"analyze", "tiny-sd", "--preset", "edge", "--set", "technology.dram.lpddr4=16", "--json"});
  EXPECT_DOUBLE_EQ(part_named(after["energy_j"], "dram_weights"),
                   2 * part_named(before["energy_j"], "dram_weights"));
  EXPECT_EQ(after["machine"]["technology"], Json({{"dram.lpddr4", 16.0}}));
  EXPECT_THAT(after["notes"].dump(), HasSubstr("1 technology figure is the user's: dram.lpddr4 = 16 pJ/bit (8)."));
  EXPECT_FALSE(before["machine"].contains("technology"));

  const TemporaryFolder folder;
  write_file(folder / "machine.json", after["machine"].dump());
  EXPECT_EQ(parsed({"analyze", "tiny-sd", "--machine", folder / "machine.json", "--json"}), after);

  const std::string at = "sdip: unknown_parameter: --set technology.dram.lpddr9: ";
  expect_refused({"analyze", "tiny-sd", "--set", "technology.dram.lpddr9=1"}, at);
  expect_refused({"analyze", "tiny-sd", "--set", "technology.dram.lpddr9=1"},
                 "did you mean technology.dram.lpddr4");
  for (const auto& [value, code] : {std::pair("0", "value_out_of_range"), {"x", "value_invalid"}})
    expect_refused({"analyze", "tiny-sd", "--set", std::string("technology.dram.lpddr4=") + value},
                   std::string("sdip: ") + code + ": --set technology.dram.lpddr4: technology.dram.lpddr4 = " +
                       value + ": expected a number from 0.008 to 8000");
}

TEST(technology, of_one_s_own_is_an_axis_of_a_stored_sweep) {
  const Site site;
  const std::string id = site.sweep(
      R"({"model": "tiny-sd", "preset": "edge", "machine": {"technology": {"n7.leakage": 66}}, "axes": [
          {"parameter": "technology.dram.lpddr4", "values": [4, 8, 12.5]}, {"parameter": "cores", "values": [1, 2]}]})");
  const std::string sweep = "/api/v1/sweeps/" + id;
  EXPECT_EQ(site.get(sweep).json()["spec"]["machine"]["technology"], Json({{"n7.leakage", 66.0}}));
  const Json point = site.get(sweep + "/points/4").json();
  EXPECT_EQ(point["machine"]["technology"], Json({{"dram.lpddr4", 12.5}, {"n7.leakage", 66.0}}));
  const Json columns =
      site.get(sweep + "/columns?fields=technology.dram.lpddr4,energy_j_per_frame").json()["columns"];
  EXPECT_EQ(columns["technology.dram.lpddr4"], Json({4.0, 4.0, 8.0, 8.0, 12.5, 12.5}));
  EXPECT_THAT(site.get(sweep + "/export").body, HasSubstr(",technology.dram.lpddr4 [pJ/bit],cores"));

  const Json alone =
      site.post("/api/v1/analyses",
                Json({{"model", "tiny-sd"}, {"preset", "edge"}, {"machine", point["machine"]}}).dump())
          .json();
  EXPECT_EQ(alone["metrics"]["energy_j_per_frame"], columns["energy_j_per_frame"][4]);
  const Answer listed = site.get("/api/v1/technology?node=fpga_vc1902");
  EXPECT_THAT(listed.body, HasSubstr("fpga_vc1902.uram"));
  EXPECT_THAT(listed.body, testing::Not(HasSubstr("zynq")));
  EXPECT_EQ(site.get("/api/v1/technology?node=x").status, 422);
}

}  // namespace
}  // namespace sdip::test
