// Are the fronts of sweeps what their points make them, with their knees, neighbours, volumes, and together?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

/// What a column of a front says, row by row.
std::vector<double> front_column(const Json& front, const std::string& name) {
  const auto& names = front["columns"];
  const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  std::vector<double> values;
  for (const Json& row : front["rows"]) values.push_back(row.at(place).get<double>());
  return values;
}

TEST(fronts, say_how_each_point_differs_from_the_one_before) {
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(small_sweep);
  const Json front = site.get(at + "/front").json();
  const Json& places = front["places"];
  ASSERT_EQ(places.size(), front["rows"].size());
  ASSERT_GT(places.size(), 2U);
  EXPECT_EQ(places[0]["differs"], Json::array());
  EXPECT_EQ(places[0]["changes"], Json::array());
  for (std::size_t i = 1; i < places.size(); ++i) {
    std::set<std::string> differing;
    for (const char* row : {"cores", "psram_bytes"}) {
      const auto values = front_column(front, row);
      if (values[i] == values[i - 1]) continue;
      differing.insert(row);
      const Json step = {{"parameter", row}, {"from", values[i - 1]}, {"to", values[i]}};
      EXPECT_THAT(places[i]["differs"], testing::Contains(step));
    }
    EXPECT_EQ(places[i]["differs"].size(), differing.size());
    for (const std::size_t k : {0U, 1U}) {
      const Json& change = places[i]["changes"][k];
      const auto values = front_column(front, change["metric"].get<std::string>());
      EXPECT_NEAR(change["percent"].get<double>(), 100 * (values[i] / values[i - 1] - 1), 1e-9);
      if (values[i] == values[i - 1])
        EXPECT_TRUE(change["better"].is_null());
      else
        EXPECT_EQ(change["better"], k == 1) << "of two objectives the first gets worse and the second better";
    }
  }
}

/// Four points, whose objectives formulas of the query make.
const char* const line_sweep = R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2, 3, 4]}],
    "validate_seconds": 0})";

TEST(fronts, have_their_knee_where_they_bend) {
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(line_sweep);
  // (1, 10000), (8, 10), (27, 8), (64, 1): in decades (0, 4), (0.9, 1), (1.4, 0.9), (1.8, 0).
  const std::string y = "if(cores < 2, 10000, if(cores < 3, 10, if(cores < 4, 8, 1)))";
  std::string query = "?metrics=min:cost_x,min:cost_y&metric=cost_x%3Dcores%2Acores%2Acores&metric=cost_y%3D" + y;
  for (auto place = query.find(' '); place != std::string::npos; place = query.find(' '))
    query.replace(place, 1, "%20");
  const Json front = site.get(at + "/front" + query).json();
  std::vector<std::string> knees;
  for (const Json& place : front.at("places")) knees.push_back(place["knee"]);
  EXPECT_THAT(knees, testing::ElementsAre("none", "greatest", "none", "none"));
}

TEST(fronts, are_printed_with_knees_and_neighbours) {
  const Ended ended = run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2,4", "--axis",
                                "psram_bytes=1048576:8388608:*2", "--validate-seconds", "0"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("differs from the one before by"));
  EXPECT_THAT(ended.out, HasSubstr("the first"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("cores 4 to 2.*: throughput_fps [0-9.]+ % less, area_mm2 "));
}

}  // namespace
}  // namespace sdip::test
