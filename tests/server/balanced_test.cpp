// Is the preset `balanced` what the documented search finds, and one that can be built?
#include <gtest/gtest.h>

#include <fstream>

#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

TEST(balanced, is_the_best_machine_of_its_search) {
  std::ifstream file(std::string(SDIP_SOURCE_DIR) + "/docs/balanced.json");
  const Json spec = Json::parse(file);
  const Site site;
  const Answer started = site.post("/api/v1/searches", spec.dump());
  ASSERT_EQ(started.status, 202) << started.body;
  const Json done = site.wait_for("/api/v1/searches/" + started.json().at("id").dump(), "done");
  const Json& best = done.at("result").at("best").at(0);
  Json preset;
  const Json presets = site.get("/api/v1/presets").json()["presets"];
  for (const Json& row : presets)
    if (row["name"] == "balanced") preset = row["machine"];
  ASSERT_FALSE(preset.is_null());
  Json found = presets[0]["machine"];
  for (const Json& row : presets)
    if (row["name"] == spec["preset"]) found = row["machine"];
  for (const auto& [key, value] : best["settings"].items()) found[key] = value;
  EXPECT_EQ(found, preset) << Json::diff(found, preset);
  EXPECT_TRUE(best["keeps_constraints"].get<bool>());
  EXPECT_LE(best["metrics"]["area_mm2"], 858) << "more than a scanner exposes at once";
}

}  // namespace
}  // namespace sdip::test
