// Is the preset `balanced` what the documented sweep finds, and one that can be built?
#include <gtest/gtest.h>

#include <fstream>

#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

TEST(balanced, is_the_best_machine_of_its_sweep) {
  std::ifstream file(std::string(SDIP_SOURCE_DIR) + "/docs/balanced.json");
  const Json spec = Json::parse(file);
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(spec.dump());
  const Json front = site.get(at + "/front").json()["rows"];
  ASSERT_EQ(front.size(), 1U);
  const Json best = site.get(at + "/points/" + front[0][0].dump()).json();
  Json preset;
  const Json presets = site.get("/api/v1/presets").json()["presets"];
  for (const Json& row : presets)
    if (row["name"] == "balanced") preset = row["machine"];
  ASSERT_FALSE(preset.is_null());
  EXPECT_EQ(best["machine"], preset);
  EXPECT_TRUE(best["feasible"].get<bool>());
  EXPECT_LE(best["metrics"]["area_mm2"], 858) << "more than a scanner exposes at once";
}

}  // namespace
}  // namespace sdip::test
