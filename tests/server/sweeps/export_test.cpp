// What `sdip export` and GET /sweeps/{id}/export write beside CSV: manifests, fronts, tables, a database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/study/signature.h"
#include "db/sqlite.h"
#include "server/io/json_in.h"
#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct sweep_exports : testing::Test {
  TemporaryFolder folder;
  std::string data = folder / "data";

  sweep_exports() {
    const Ended swept =
        run_sdip({"sweep", "tiny-sd", "--axis", "cores=1:12:1", "--axis", "dram_channels=2,4", "--metric",
                  "per_watt [frame/J]=throughput_fps / power_w", "--data", data, "--validate-seconds", "0"});
    EXPECT_EQ(swept.exit_code, 0) << swept.err;
  }
  Ended exported(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"export", "1", "--data", data};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_sdip(arguments);
  }
};

TEST_F(sweep_exports, with_their_manifest_are_reproduced_byte_for_byte_or_told_where_they_differ) {
  for (const std::string name : {"points.csv", "points.ndjson", "points.json"}) {
    const std::string file = folder / name;
    ASSERT_EQ(exported({"--manifest", "-o", file}).exit_code, 0);
    const Ended same = run_sdip({"reproduce", file});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_THAT(same.out, StartsWith("reproduced: "));
  }
  const std::string front = folder / "front.csv", manifest = front + ".manifest.json";
  ASSERT_EQ(exported({"--manifest", "--front", "--fields", "cores,per_watt", "-o", front}).exit_code, 0);
  EXPECT_EQ(run_sdip({"reproduce", manifest}).exit_code, 0);
  std::string text = file_text(front);
  text[text.find('\n') + 1] ^= 1;
  write_file(front, text);
  const Ended other = run_sdip({"reproduce", front});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.out, HasSubstr("differs from line 2 on\n")) << "no accuracy was in it";
  Json changed = Json::parse(file_text(manifest));
  changed["signature"] = "of another engine";
  write_file(manifest, changed.dump());
  EXPECT_THAT(run_sdip({"reproduce", front}).err, HasSubstr("engine_changed"));
  for (const char* none : {"[]", "{}", R"({"manifest": 1, "spec": {}, "columns": [1], "points": "all"})", "x"}) {
    write_file(manifest, none);
    EXPECT_EQ(run_sdip({"reproduce", front}).exit_code, 1) << none;
  }
}

TEST_F(sweep_exports, have_a_manifest_within_or_beside) {
  const Ended json = exported({"--format", "json"});
  const Json whole = Json::parse(json.out);
  const Json& manifest = whole["manifest"];
  EXPECT_EQ(manifest["signature"], signature());
  EXPECT_EQ(manifest["model"]["files"].size(), 4u);
  EXPECT_EQ(manifest["model"]["files"][0]["sha256"].get<std::string>().size(), 64u);
  EXPECT_EQ(manifest["spec"]["preset"], "balanced");
  EXPECT_EQ(manifest["spec"]["axes"][0]["parameter"], "cores");
  EXPECT_EQ(manifest["spec"]["seed"], 1);
  EXPECT_EQ(manifest["spec"]["machine"]["batch"], 1);
  EXPECT_EQ(manifest["command"], "sdip export 1 --data " + data + " --format json");
  EXPECT_EQ(manifest["columns"], whole["columns"]);
  EXPECT_EQ(whole["points"].size(), 24u);

  const Ended csv = exported({"--manifest", "-o", folder / "points.csv"});
  EXPECT_EQ(csv.exit_code, 0) << csv.err;
  EXPECT_EQ(file_text(folder / "points.csv"), exported({}).out) << "and the CSV is as it was";
  const Json beside = Json::parse(file_text(folder / "points.csv.manifest.json"));
  EXPECT_EQ(beside["spec"], manifest["spec"]);
  EXPECT_EQ(exported({"--manifest"}).exit_code, 1);

  // Its spec is a sweep again, and the same one.
  write_file(folder / "spec.json", beside["spec"].dump());
  const Ended again = run_sdip(
      {"sweep", "--spec", folder / "spec.json", "--validate-seconds", "0", "--export", folder / "again.csv"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(file_text(folder / "again.csv"), file_text(folder / "points.csv"));
}

TEST_F(sweep_exports, can_be_the_front_alone_and_some_columns) {
  const Json front = Json::parse(exported({"--format", "json", "--front"}).out);
  EXPECT_LT(front["points"].size(), 24u);
  EXPECT_GT(front["points"].size(), 1u);
  EXPECT_EQ(front["manifest"]["points"], "front");
  double last = HUGE_VAL;
  for (const Json& point : front["points"]) {
    EXPECT_TRUE(point["feasible"]);
    EXPECT_LE(point["throughput_fps"].get<double>(), last) << "sorted by the first objective";
    last = point["throughput_fps"].get<double>();
  }
  EXPECT_THAT(exported({"--fields", "cores,per_watt,area_mm2"}).out,
              StartsWith("index,feasible,reason,cores,per_watt [frame/J],area_mm2 [mm2]\n0,1,,1,"));
  EXPECT_THAT(exported({"--fields", "core"}).err, HasSubstr("sdip: unknown_metric: --fields"));
}

TEST_F(sweep_exports, take_their_format_from_the_file_s_name) {
  for (const auto& [name, begins] : std::vector<std::pair<std::string, std::string>>{
           {"p.md", "| index | feasible | reason | cores |"},
           {"p.tex", "% \\usepackage{booktabs}\n% {\n%   \"manifest\": 1,"},
           {"p.json", "{\"manifest\":{"},
           {"p.ndjson", "{\"index\":0,"},
           {"p.txt", "index,feasible"},
           {"p.sqlite", "SQLite format 3"}}) {
    const Ended ended = exported({"-o", folder / name});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    EXPECT_THAT(file_text(folder / name), StartsWith(begins));
  }
  Connection file(folder / "p.sqlite", Connection::Access::read_only);
  EXPECT_EQ(file.integer("SELECT count(*) FROM point"), 24);
  EXPECT_EQ(file.integer("SELECT count(*) FROM point WHERE per_watt > 0"),
            file.integer("SELECT sum(feasible) FROM point"));
  EXPECT_THAT(file.text("SELECT json FROM manifest"), HasSubstr("\"signature\":\"" + signature()));
  EXPECT_THAT(exported({"--format", "sqlite"}).err, HasSubstr("sdip: value_invalid: --output: "));
  EXPECT_THAT(exported({"--format", "sqlite", "-o", "/dev/null"}).err,
              HasSubstr("sdip: value_invalid: --output: "));
  EXPECT_THAT(exported({"-o", folder / "absent/p.sqlite"}).err, HasSubstr("sdip: file_unwritable: "));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    left.push_back(entry.path().filename());
  EXPECT_EQ(std::ranges::count_if(left, [](const std::string& name) { return !name.starts_with("p."); }), 1)
      << "the data folder, and nothing half-written";
}

TEST(site_exports, have_the_formats_that_are_text) {
  Site site;
  const std::string id =
      site.sweep(R"({"model": "tiny-sd", "axes": [{"parameter": "cores", "values": [1, 2, 3]}]})");
  site.wait_for("/api/v1/sweeps/" + id, "done");
  const std::string at = "/api/v1/sweeps/" + id + "/export";
  const auto json = site.get(at + "?format=json&front=true&fields=cores,area_mm2");
  EXPECT_EQ(json.headers.at("content-type"), "application/json");
  EXPECT_THAT(json.headers.at("content-disposition"), HasSubstr("sweep-" + id + ".json"));
  EXPECT_EQ(Json::parse(json.body)["columns"].size(), 5u);
  EXPECT_EQ(Json::parse(json.body)["manifest"]["command"], "GET " + at);
  EXPECT_THAT(site.get(at + "?format=markdown").body, StartsWith("| index |"));
  EXPECT_THAT(site.get(at + "?format=latex").body, HasSubstr("\\bottomrule"));
  EXPECT_EQ(site.get(at + "?format=sqlite").status, 422);
  EXPECT_EQ(site.get(at + "?front=yes").status, 422);
}

}  // namespace
}  // namespace sdip::test
