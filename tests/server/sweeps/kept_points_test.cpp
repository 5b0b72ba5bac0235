// Is what is kept of a point its analysis, of each workload, and of the engine that computed the point alone?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/sqlite.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

std::string analysis_path(const std::string& sweep, int index) {
  return "/api/v1/sweeps/" + sweep + "/points/" + std::to_string(index) + "/analysis";
}

TEST(kept_points, hold_the_analysis_of_the_points_machine_with_its_layers) {
  const Site site;
  const std::string sweep = site.sweep(small_sweep);
  const std::string point = "/api/v1/sweeps/" + sweep + "/points/5";
  EXPECT_TRUE(site.get(point).json().at("kept").is_null());
  EXPECT_EQ(site.get(analysis_path(sweep, 5)).status, 404);
  const Answer kept = site.post(analysis_path(sweep, 5), "");
  EXPECT_EQ(kept.status, 201);
  EXPECT_EQ(kept.headers.at("location"), analysis_path(sweep, 5));
  const Json row = kept.json(), machine = site.get(point).json().at("machine");
  EXPECT_EQ(site.get(point).json().at("kept"), row);
  EXPECT_EQ(site.get("/api/v1/sweeps/" + sweep + "/kept-points").json().at("points"), Json::array({row}));
  const Json asked = {{"model", "tiny-sd"}, {"machine", machine}, {"instructions", true}};
  const Json whole = site.get(analysis_path(sweep, 5)).json();
  EXPECT_EQ(whole.at("analyses"), Json::array({site.post("/api/v1/analyses", asked.dump()).json()}));
  EXPECT_FALSE(whole.at("analyses")[0].at("stages")[0].at("instructions").empty());
  EXPECT_EQ(whole.at("analyses")[0].at("metrics"), site.get(point).json().at("metrics"));
  EXPECT_EQ(site.request("DELETE", analysis_path(sweep, 5)).status, 204);
  EXPECT_EQ(site.request("DELETE", analysis_path(sweep, 5)).status, 404);
}

TEST(kept_points, of_a_mix_hold_an_analysis_of_each_workload_under_the_rules_of_its_layers) {
  const Site site;
  const std::string sweep =
      site.sweep(R"({"model": "tiny-sd-text:2+tiny-sd-vae-decoder", "formats": "family=linear weights=int8",
      "axes": [{"parameter": "cores", "values": [1, 2]}]})");
  EXPECT_EQ(site.post(analysis_path(sweep, 1), "").status, 201);
  const Json analyses = site.get(analysis_path(sweep, 1)).json().at("analyses");
  ASSERT_EQ(analyses.size(), 2);
  const Json machine = site.get("/api/v1/sweeps/" + sweep + "/points/1").json().at("machine");
  for (const Json& one : analyses) {
    const Json asked = {{"model", one.at("model")},
                        {"machine", machine},
                        {"instructions", true},
                        {"formats", "family=linear weights=int8"}};
    EXPECT_EQ(site.post("/api/v1/analyses", asked.dump()).json(), one);
  }
}

TEST(kept_points, are_refused_where_another_engine_computed_the_points_and_stay_where_they_were) {
  const Site site;
  const std::string sweep = site.sweep(small_sweep);
  EXPECT_EQ(site.post(analysis_path(sweep, 0), "").status, 201);
  const std::string before = site.get(analysis_path(sweep, 0)).body;
  Connection((site.folder.path / "sdip.sqlite").string(), Connection::Access::read_write)
      .execute("UPDATE sweep SET signature = 'of another version'");
  const Answer refused = site.post(analysis_path(sweep, 1), "");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(refused.json().at("code"), "engine_changed");
  EXPECT_EQ(site.get(analysis_path(sweep, 0)).body, before);
}

}  // namespace
}  // namespace sdip::test
