// What `sdip export` and GET /sweeps/{id}/export write beside CSV: manifests, fronts, tables, a database.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

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
    EXPECT_THAT(same.err, testing::Not(HasSubstr("machine_sha256")));
  }
  const std::string front = folder / "front.csv", manifest = front + ".manifest.json";
  ASSERT_EQ(exported({"--manifest", "--front", "--fields", "cores,per_watt", "-o", front}).exit_code, 0);
  EXPECT_EQ(run_sdip({"reproduce", manifest}).exit_code, 0);
  Json changed = Json::parse(file_text(manifest));
  ASSERT_EQ(changed.at("machine_sha256").get<std::string>().size(), 64);
  changed["machine_sha256"] = std::string(64, '0');
  write_file(manifest, changed.dump());
  const Ended noted = run_sdip({"reproduce", front});
  EXPECT_EQ(noted.exit_code, 0);
  EXPECT_THAT(noted.err, HasSubstr("(machine_sha256)"));
  std::string text = file_text(front);
  text[text.find('\n') + 1] ^= 1;
  write_file(front, text);
  const Ended other = run_sdip({"reproduce", front});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_THAT(other.out, HasSubstr("differs from line 2 on, first in index\n"));
  changed["signature"] = "of another engine";
  write_file(manifest, changed.dump());
  EXPECT_THAT(run_sdip({"reproduce", front}).err, HasSubstr("engine_changed"));
  for (const char* none : {"[]", "{}", R"({"manifest": 1, "spec": {}, "columns": [1], "points": "all"})", "x"}) {
    write_file(manifest, none);
    EXPECT_EQ(run_sdip({"reproduce", front}).exit_code, 1) << none;
  }
}

TEST_F(sweep_exports, that_differ_are_told_what_differs) {
  const std::string file = folder / "points.csv";
  ASSERT_EQ(exported({"-o", file}).exit_code, 0);
  const std::string right = file_text(file);
  const auto told = [&](const std::string& text) {
    write_file(file, text);
    const Ended ended = run_sdip({"reproduce", file});
    EXPECT_EQ(ended.exit_code, 1) << ended.err;
    return ended.out;
  };
  std::string header = right;
  header.replace(header.find("[mm2]"), 5, "[cm2]");
  EXPECT_THAT(told(header), HasSubstr("points.csv differs in its header, line 1\n"));
  const auto second = right.find('\n') + 1, third = right.find('\n', second) + 1;
  EXPECT_THAT(told(right.substr(0, second) + right.substr(third)),
              HasSubstr("points.csv has 23 points, and 24 were exported\n"));
  EXPECT_THAT(told(right.substr(0, right.size() - 1)), HasSubstr("differs from line 25 on\n"));
  std::string measured = right;
  measured.insert(third - 1, "file");
  EXPECT_THAT(told(measured),
              HasSubstr("differs from line 2 on, and in accuracy alone (accuracy is measured apart"));
  measured.replace(measured.rfind("\n23,") + 1, 2, "24");
  EXPECT_THAT(told(measured), HasSubstr("differs from line 25 on, first in index\n"));
  const std::string json = folder / "points.json";
  ASSERT_EQ(exported({"-o", json}).exit_code, 0);
  std::string text = file_text(json);
  text.replace(text.find("\"feasible\":true"), 15, "\"feasible\":null");
  write_file(json, text);
  EXPECT_THAT(run_sdip({"reproduce", json}).out, HasSubstr("differs from line 4 on, first in feasible\n"));
}

TEST_F(sweep_exports, of_another_model_are_not_evaluated) {
  const std::string file = folder / "points.csv", beside = file + ".manifest.json";
  ASSERT_EQ(exported({"-o", file}).exit_code, 0);
  const Json right = Json::parse(file_text(beside));
  const auto refused = [&](const std::function<void(Json&)>& change) {
    Json manifest = right;
    change(manifest);
    write_file(beside, manifest.dump());
    const Ended ended = run_sdip({"reproduce", file});
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_THAT(ended.err, testing::Not(HasSubstr("evaluating")));
    return ended.err;
  };
  EXPECT_THAT(refused([](Json& one) { one["model"]["files"][0]["sha256"] = std::string(64, '0'); }),
              StartsWith("sdip: model_changed: /model/files: "));
  EXPECT_THAT(refused([](Json& one) { one["model"]["files"] = Json::array(); }),
              StartsWith("sdip: model_changed: "));
  EXPECT_THAT(refused([](Json& one) { one["model"]["files"] = "none"; }), StartsWith("sdip: model_changed: "));
  EXPECT_THAT(refused([](Json& one) { one["model"]["files"].push_back(1); }), StartsWith("sdip: model_changed: "));
  EXPECT_THAT(refused([](Json& one) { one["model"]["name"] = "sd15"; }),
              StartsWith("sdip: model_changed: /model/name: "));
  EXPECT_THAT(refused([](Json& one) { one.erase("model"); }), StartsWith("sdip: value_invalid: "));
  EXPECT_THAT(refused([](Json& one) { one["sweep"]["total"] = 25; }), HasSubstr("/sweep/total"));
  EXPECT_THAT(refused([](Json& one) { one["sweep"]["stored"] = {{0, 30}}; }), HasSubstr("/sweep/stored"));
  Json older = right;
  older["version"] = "0.0.9";
  write_file(beside, older.dump());
  const Ended noted = run_sdip({"reproduce", file});
  EXPECT_EQ(noted.exit_code, 0);
  EXPECT_THAT(noted.err, StartsWith("sdip: note: exported by version 0.0.9"));
}

TEST_F(sweep_exports, of_an_unfinished_sweep_are_reproduced_or_refused_at_once) {
  const std::string part = folder / "part";
  ASSERT_EQ(run_sdip({"sweep", "tiny-sd", "--axis", "cores=1:12:1", "--axis", "dram_channels=2,4", "--data", part,
                      "--part", "2/3"})
                .exit_code,
            0);
  for (const std::string name : {"some.csv", "front.json"}) {
    const std::string file = folder / name;
    std::vector<std::string> arguments = {"export", "1", "--data", part, "-o", file};
    if (name == "front.json") arguments.emplace_back("--front");
    ASSERT_EQ(run_sdip(arguments).exit_code, 0);
    const Ended same = run_sdip({"reproduce", file});
    EXPECT_EQ(same.exit_code, 0) << same.out;
    EXPECT_EQ(same.err, "evaluating 8 points of tiny-sd\n");
  }
  const std::string file = folder / "some.csv", beside = file + ".manifest.json";
  Json manifest = Json::parse(file_text(beside));
  EXPECT_EQ(manifest["sweep"]["stored"], Json::parse("[[8, 16]]"));
  manifest["sweep"].erase("stored");
  write_file(beside, manifest.dump());
  EXPECT_THAT(run_sdip({"reproduce", file}).err,
              StartsWith("sdip: points_unknown: /sweep/stored: of 24 points 8 "));
}

TEST_F(sweep_exports, of_any_size_are_reproduced) {
  const std::string file = folder / "many.ndjson";
  const Ended swept = run_sdip({"sweep", "tiny-sd-text", "--axis", "core_clock_mhz=1:10000:1", "--axis",
                                "cores=1,2", "--export", file, "--validate-seconds", "0"});
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_GT(std::filesystem::file_size(file), std::uintmax_t{16} << 20);
  const Ended same = run_sdip({"reproduce", file});
  EXPECT_EQ(same.exit_code, 0) << same.err << same.out;
  EXPECT_THAT(same.out, HasSubstr(" bytes of 20,000 points, sha256 "));
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
  EXPECT_EQ(Json::parse(file_text(folder / "again.csv.manifest.json"))["spec"], beside["spec"]);
  EXPECT_EQ(run_sdip({"reproduce", folder / "again.csv"}).exit_code, 0);
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
  EXPECT_THAT(exported({"--fields", "index,cores,feasible"}).out, StartsWith("index,feasible,reason,cores\n"));
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
  const auto manifest = site.get("/api/v1/sweeps/" + id + "/manifest?fields=cores,area_mm2");
  EXPECT_THAT(manifest.headers.at("content-disposition"), HasSubstr("sweep-" + id + ".csv.manifest.json"));
  EXPECT_EQ(manifest.json()["columns"], Json::parse(json.body)["columns"]);
  EXPECT_EQ(manifest.json()["sweep"]["stored"], Json::parse("[[0, 3]]"));
  const TemporaryFolder folder;
  write_file(folder / "p.csv", site.get(at + "?fields=cores,area_mm2").body);
  write_file(folder / "p.csv.manifest.json", manifest.body);
  EXPECT_EQ(run_sdip({"reproduce", folder / "p.csv"}).exit_code, 0);
  const auto unknown = site.get(at + "?format=parquet");
  EXPECT_EQ(unknown.status, 422);
  EXPECT_THAT(unknown.body, HasSubstr("csv, ndjson, json, markdown, latex\""));
  EXPECT_EQ(site.get(at + "?format=sqlite").status, 422);
  EXPECT_EQ(site.get(at + "?front=yes").status, 422);
}

}  // namespace
}  // namespace sdip::test
