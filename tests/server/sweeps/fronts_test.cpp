// Are the fronts of sweeps what their points make them, with their knees, neighbours, volumes, and together?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "db/sqlite.h"
#include "server/studies/best_steps.h"
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
      if (values[i] == values[i - 1]) {
        EXPECT_TRUE(change["better"].is_null());
        continue;
      }
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

TEST(fronts, without_points_say_which_constraint_took_them) {
  const Ended ended = run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2,4", "--constraint", "cores > 1",
                                "--constraint", "area_mm2 <= 0.001", "--validate-seconds", "0"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("no point keeps all constraints; of 3 feasible points are kept: cores > 1 by 2, "
                                   "area_mm2 <= 0.001 by 0"));
  const Ended valueless =
      run_sdip({"sweep", "tiny-sd", "--axis", "cores=1,2", "--constraint", "cores > 0", "--metric",
                "x=1/(cores-cores)", "--objectives", "min:x", "--validate-seconds", "0"});
  EXPECT_EQ(valueless.exit_code, 0) << valueless.err;
  EXPECT_THAT(valueless.out, HasSubstr("no feasible point has a value of each objective"));
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(line_sweep) + "/front";
  EXPECT_EQ(site.get(at).json()["reason"], nullptr);
  const Json front = site.get(at + "?constraint=cores%20%3E%209").json();
  EXPECT_EQ(front["reason"], "no point keeps all constraints; of 4 feasible points are kept: cores > 9 by 0");
  EXPECT_EQ(front["rows"], Json::array());
}

/// Between the machines of small_sweep, at another clock and of the least of their memories.
const char* const other_sweep =
    R"({"model": "tiny-sd", "machine": {"core_clock_mhz": 950, "psram_bytes": 1048576}, "axes": [
    {"parameter": "cores", "values": [3, 5, 6]}], "validate_seconds": 0})";

TEST(fronts, of_several_sweeps_are_that_of_all_their_points) {
  const Site site;
  const std::string one = site.sweep(small_sweep), two = site.sweep(other_sweep);
  const Json front = site.get("/api/v1/fronts?sweeps=" + one + "," + two).json();
  struct Placed {
    std::string sweep;
    std::int64_t index;
    double rate, area;
  };
  std::vector<Placed> all;
  for (const std::string& id : {one, two}) {
    const Json columns = site.get("/api/v1/sweeps/" + id + "/columns?fields=throughput_fps,area_mm2").json();
    for (std::size_t i = 0; i < columns["index"].size(); ++i)
      if (columns["feasible"][i] == 1)
        all.push_back(
            {id, columns["index"][i], columns["columns"]["throughput_fps"][i], columns["columns"]["area_mm2"][i]});
  }
  std::set<std::pair<std::string, std::int64_t>> expected, found;
  for (const Placed& a : all)
    if (std::none_of(all.begin(), all.end(), [&](const Placed& b) {
          return b.rate >= a.rate && b.area <= a.area && (b.rate > a.rate || b.area < a.area);
        }))
      expected.insert({a.sweep, a.index});
  double before = std::numeric_limits<double>::infinity();
  for (const Json& point : front["points"]) {
    found.insert({point["sweep"].dump(), point["index"].get<std::int64_t>()});
    EXPECT_LE(point["objectives"]["throughput_fps"].get<double>(), before);
    before = point["objectives"]["throughput_fps"].get<double>();
    EXPECT_EQ(point["axes"].size(), point["sweep"].dump() == two ? 1U : 2U);
  }
  EXPECT_EQ(found, expected);
  EXPECT_GT(front["sweeps"][0]["points"], 0);
  EXPECT_GT(front["sweeps"][1]["points"], 0);
  EXPECT_EQ(front["sweeps"][1]["own"], site.get("/api/v1/sweeps/" + two + "/front").json()["rows"].size());
  EXPECT_TRUE(front["note"].is_null());
  bool clock = false;  // a row that neither sweep varies tells neighbours of two sweeps apart
  for (const Json& point : front["points"])
    for (const Json& step : point["differs"]) clock = clock || step["parameter"] == "core_clock_mhz";
  EXPECT_TRUE(clock);
}

TEST(fronts, of_one_sweep_alone_are_its_own) {
  const Site site;
  const std::string id = site.sweep(small_sweep);
  const Json own = site.get("/api/v1/sweeps/" + id + "/front").json();
  const Json front = site.get("/api/v1/fronts?sweeps=" + id).json();
  ASSERT_EQ(front["points"].size(), own["rows"].size());
  for (std::size_t i = 0; i < own["rows"].size(); ++i) {
    EXPECT_EQ(front["points"][i]["index"], own["rows"][i][0]);
    for (const char* key : {"knee", "differs", "changes"})
      EXPECT_EQ(front["points"][i][key], own["places"][i][key]);
  }
}

TEST(fronts, of_sweeps_that_mean_different_things_are_refused_or_say_so) {
  const Site site;
  const auto swept = [&](const std::string& model, const std::string& more) {
    return site.sweep(R"({"model": ")" + model + R"(", "axes": [{"parameter": "cores", "values": [1, 2]}],
                          "validate_seconds": 0)" +
                      more + "}");
  };
  const std::string plain = swept("tiny-sd", ""), text = swept("tiny-sd-text", ""),
                    one = swept("tiny-sd", R"(, "metrics": {"m": "cores"}, "objectives": ["max:m"])"),
                    two = swept("tiny-sd", R"(, "metrics": {"m": "2 * cores"})");
  const auto asked = [&](const std::string& sweeps, const std::string& query = "") {
    return site.get("/api/v1/fronts?sweeps=" + sweeps + query);
  };
  const Json models = asked(plain + "," + text).json();
  EXPECT_THAT(models["note"].get<std::string>(), HasSubstr("different models"));
  EXPECT_THAT(models["note"].get<std::string>(), HasSubstr("tiny-sd, tiny-sd-text"));
  EXPECT_EQ(asked(plain + "," + one).json()["code"], "value_invalid") << "which objectives is not said";
  EXPECT_EQ(asked(plain + "," + one, "&metrics=max:m").status, 200) << "a formula is of any sweep";
  const Answer conflict = asked(one + "," + two, "&metrics=max:m");
  EXPECT_EQ(conflict.status, 422);
  EXPECT_EQ(conflict.json()["code"], "value_conflict");
  EXPECT_EQ(asked(plain, "&constraint=cores%20%3E%201").json()["points"].size(), 1U);
  std::string many = "1";
  for (int id = 2; id <= 65; ++id) many += "," + std::to_string(id);
  EXPECT_EQ(asked(many).json()["code"], "limit_exceeded");

  Connection(site.folder.path / "sdip.sqlite", Connection::Access::read_write)
      .execute(("UPDATE sweep SET signature = 'another' WHERE id = " + two).c_str());
  const Answer other = asked(plain + "," + two, "&metrics=max:throughput_fps");
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.json()["code"], "engine_changed");
}

TEST(fronts, of_stored_sweeps_are_printed_and_json) {
  const TemporaryFolder folder;
  for (const char* cores : {"cores=1,4", "cores=2,8"})
    EXPECT_EQ(
        run_sdip({"sweep", "tiny-sd", "--axis", cores, "--data", folder.path.string(), "--validate-seconds", "0"})
            .exit_code,
        0);
  const Ended printed = run_sdip({"front", "1", "2", "--data", folder.path.string()});
  EXPECT_EQ(printed.exit_code, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("sweep 2 of tiny-sd: "));
  EXPECT_THAT(printed.out, HasSubstr("differs from the one before by"));
  const Ended json =
      run_sdip({"front", "1", "2", "--data", folder.path.string(), "--objectives", "area_mm2", "--json"});
  EXPECT_EQ(json.exit_code, 0) << json.err;
  const Json front = Json::parse(json.out);
  ASSERT_EQ(front["points"].size(), 1U);
  EXPECT_EQ(front["points"][0]["sweep"], 1);
  const Ended none = run_sdip({"front", "1", "--data", folder.path.string(), "--constraint", "cores > 100"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(run_sdip({"front", "1", "3", "--data", folder.path.string()}).err, HasSubstr("sdip: not_found: "));
  EXPECT_THAT(run_sdip({"front", "1", "--data", folder / "none"}).err, HasSubstr("sdip: file_not_found: "));
}

/// Area between points and a reference in decades, strip by strip: the least of the second up to each of the first.
double decades_covered(std::vector<std::pair<double, double>> points, double x_end, double y_end) {
  std::sort(points.begin(), points.end());
  double area = 0, least = y_end;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double end = i + 1 < points.size() ? std::min(points[i + 1].first, x_end) : x_end;
    least = std::min(least, points[i].second);
    area += std::max(0.0, end - points[i].first) * (y_end - least);
  }
  return area;
}

TEST(fronts, cover_a_hypervolume_that_grows_with_the_points) {
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(small_sweep);
  const Json volume = site.get(at + "/hypervolume").json();
  const Json front = site.get(at + "/front").json();
  const auto rates = front_column(front, "throughput_fps"), areas = front_column(front, "area_mm2");
  const double least_rate = *std::min_element(rates.begin(), rates.end()) / 1.1,
               most_area = *std::max_element(areas.begin(), areas.end()) * 1.1;
  EXPECT_EQ(volume["axes"][0]["scale"], "decades");
  EXPECT_NEAR(volume["axes"][0]["reference"].get<double>(), least_rate, 1e-9 * least_rate);
  EXPECT_NEAR(volume["axes"][1]["reference"].get<double>(), most_area, 1e-9 * most_area);
  const Json columns = site.get(at + "/columns?fields=throughput_fps,area_mm2").json();
  const Json& growth = volume["growth"];
  ASSERT_EQ(growth.size(), 16U);
  std::vector<std::pair<double, double>> points;
  for (std::size_t i = 0; i < growth.size(); ++i) {
    if (columns["feasible"][i] == 1)
      points.emplace_back(-std::log10(columns["columns"]["throughput_fps"][i].get<double>()),
                          std::log10(columns["columns"]["area_mm2"][i].get<double>()));
    EXPECT_EQ(growth[i]["points"], i + 1);
    EXPECT_NEAR(growth[i]["volume"].get<double>(),
                decades_covered(points, -std::log10(least_rate), std::log10(most_area)), 1e-9);
  }
  EXPECT_EQ(volume["volume"], growth.back()["volume"]);
  EXPECT_TRUE(volume["reason"].is_null());
  EXPECT_GT(volume["volume"].get<double>(), 0);
}

TEST(fronts, have_at_most_a_hundred_marks_of_growth_and_no_volume_where_that_takes_long) {
  const Site site;
  const std::string at = "/api/v1/sweeps/" + site.sweep(R"({"model": "tiny-sd-text", "axes": [
      {"parameter": "core_clock_mhz", "min": 100, "max": 1349, "step": 1}], "validate_seconds": 0})");
  const Json growth = site.get(at + "/hypervolume").json()["growth"];
  ASSERT_EQ(growth.size(), 97U) << "1,250 points, 13 a mark";
  EXPECT_EQ(growth.back()["points"], 1250);
  const Json nothing = site.get(at + "/hypervolume?constraint=cores%20%3C%200").json();
  EXPECT_EQ(nothing["front"], 0);
  EXPECT_EQ(nothing["volume"], 0);
  EXPECT_TRUE(nothing["axes"][0]["reference"].is_null());
  // Each point is on a front of three that pull two ways: in the end too many for a volume.
  const Json many = site.get(at +
                             "/hypervolume?metrics=max:a,min:b,max:c&metric=a%3Dcore_clock_mhz&"
                             "metric=b%3Dcore_clock_mhz&metric=c%3D1")
                        .json();
  EXPECT_EQ(many["front"], 1250);
  EXPECT_TRUE(many["volume"].is_null());
  EXPECT_THAT(many["reason"].get<std::string>(), HasSubstr("too long"));
  EXPECT_TRUE(many["growth"][0]["volume"].is_number());
}

TEST(fronts, that_are_cut_short_keep_their_ends_and_their_greatest_knee) {
  std::vector<Knee> knees(100, Knee::plain);
  EXPECT_THAT(places_shown(100, 4, knees), testing::ElementsAre(0, 33, 66, 99));
  knees[50] = Knee::local;
  knees[60] = Knee::greatest;
  EXPECT_THAT(places_shown(100, 4, knees), testing::ElementsAre(0, 33, 60, 99));
  EXPECT_THAT(places_shown(3, 4, {Knee::plain, Knee::greatest, Knee::plain}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(places_shown(1, 4, {Knee::plain}), testing::ElementsAre(0));
  EXPECT_TRUE(places_shown(0, 4, {}).empty());
}

TEST(fronts, of_searches_have_knees_that_are_always_shown) {
  const Site site;
  const std::string id =
      site.post("/api/v1/searches", R"({"model": "tiny-sd-text", "preset": "edge", "evaluations": 2000,
                "validate_seconds": 0, "objectives": ["throughput_fps", "area_mm2"]})")
          .json()
          .at("id")
          .dump();
  const Json best = site.wait_for("/api/v1/searches/" + id, "done")["result"]["best"];
  EXPECT_EQ(std::count_if(best.begin(), best.end(), [](const Json& one) { return one["knee"] == "greatest"; }), 1);
}

}  // namespace
}  // namespace sdip::test
