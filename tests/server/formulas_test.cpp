// Are formulas metrics like any other to who asks the server, also of sweeps that were stored without them?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

const char* const spec_text = R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2, 4]}],
    "metrics": {"per_watt": {"formula": "throughput_fps / power_w", "unit": "frame/J"}, "twice": "2 * cores"},
    "objectives": ["max:per_watt", "min:twice"], "validate_seconds": 0})";

TEST(formulas, of_a_sweep_are_columns_objectives_and_part_of_its_spec) {
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(spec_text);
  const Json sweep = site.get(at).json();
  EXPECT_EQ(sweep["objectives"], Json({"max:per_watt", "min:twice"}));
  EXPECT_EQ(sweep["spec"]["metrics"]["per_watt"],
            Json({{"formula", "throughput_fps / power_w"}, {"unit", "frame/J"}}));
  const Json columns = site.get(at + "/columns?fields=per_watt,frames_per_j,twice").json()["columns"];
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(columns["per_watt"][i].get<double>(), columns["frames_per_j"][i].get<double>(), 1e-9);
  EXPECT_EQ(columns["twice"], Json({2.0, 4.0, 8.0}));
  const Json front = site.get(at + "/front").json();
  EXPECT_EQ(front["metrics"], Json({"max:per_watt", "min:twice"}));
  EXPECT_GE(front["rows"].size(), 1U);
  const Json point = site.get(at + "/points/2").json();
  EXPECT_EQ(point["formulas"]["twice"], 8);
  const Json page = site.get(at + "/points?sort=-twice&fields=twice").json();
  EXPECT_EQ(page["columns"], Json({"index", "feasible", "reason", "twice"}));
  EXPECT_EQ(page["rows"][0][3], 8);
  EXPECT_THAT(site.get(at + "/export").body, testing::HasSubstr(",per_watt [frame/J],twice,sqnr_db"));
}

TEST(formulas, are_constraints_of_a_front) {
  const Site site;
  const std::string at =
      "/api/v1/sweeps/" + site.sweep(R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2, 4]}],
                     "metrics": {"n": "cores"}, "objectives": ["max:n"], "constraints": ["cores < 4"],
                     "validate_seconds": 0})");
  EXPECT_EQ(site.get(at).json()["spec"]["constraints"], Json({"cores < 4"}));
  const auto best = [&](const std::string& query) {
    const Json rows = site.get(at + "/front" + query).json()["rows"];
    return rows.empty() ? Json() : rows[0][0];
  };
  EXPECT_EQ(best(""), 1);
  EXPECT_EQ(best("?constraint=cores%20!%3D%202"), 0);
  EXPECT_EQ(best("?constraint=cores%20-%202"), 0) << "0 does not hold, and what is below 0 does";
  EXPECT_EQ(best("?constraint=1%2F0"), Json()) << "what is none does not hold";
  EXPECT_EQ(best("?constraint=cores%20%3E%201&constraint=cores%20%3C%202"), Json());
}

TEST(formulas, of_the_query_are_of_a_stored_sweep_too) {
  const Site site;
  const std::string at =
      "/api/v1/sweeps/" + site.sweep(R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2, 4]}],
                     "validate_seconds": 0})");
  const std::string query = "?metric=neg%20%5BmW%5D%3D-cores&metric=one%3D1";
  const Json columns = site.get(at + "/columns" + query).json()["columns"];
  EXPECT_EQ(columns["neg"], Json({-1.0, -2.0, -4.0}));
  EXPECT_TRUE(columns.contains("area_mm2"));
  const Json front = site.get(at + "/front" + query + "&metrics=min:neg,max:one").json();
  ASSERT_EQ(front["rows"].size(), 1U);
  EXPECT_EQ(front["rows"][0][0], 2);
  EXPECT_EQ(site.get(at + "/points/1" + query).json()["formulas"], Json({{"neg", -2.0}, {"one", 1.0}}));
  EXPECT_THAT(site.get(at + "/export" + query).body, testing::HasSubstr(",neg [mW],one,sqnr_db"));
  EXPECT_EQ(site.get(at + "/points/1").json()["formulas"], Json::object()) << "nothing is kept";
}

}  // namespace
}  // namespace sdip::test
