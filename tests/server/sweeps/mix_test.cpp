// Several workloads at once: is a sweep's or a search's machine worth what each workload alone says of it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/explore/mix.h"
#include "server/io/json_in.h"
#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

/// The points of a sweep of small machines, by index.
Json points_of(const std::string& data, const std::string& model) {
  const Ended swept = run_sdip({"sweep", model, "--preset", "edge", "--axis", "cores=1,2,4", "--axis",
                                "imem_bytes=1024,1048576", "--data", data, "--validate-seconds", "4", "--json"});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  const Ended exported =
      run_sdip({"export", parse_json(swept.out)["sweep"]["id"].dump(), "--data", data, "--format", "json"});
  EXPECT_EQ(exported.exit_code, 0) << exported.err;
  Json document = parse_json(exported.out);
  document["validation"] = parse_json(swept.out)["validation"];
  return document;
}

TEST(mixes, of_sweeps_are_what_their_workloads_make_by_hand) {
  const TemporaryFolder folder;
  const std::string data = folder / "data";
  const Json text = points_of(data, "tiny-sd-text"), vae = points_of(data, "tiny-sd-vae-decoder"),
             both = points_of(data, "tiny-sd-text:3+tiny-sd-vae-decoder");
  ASSERT_EQ(both["points"].size(), 6u);
  std::int64_t feasible = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    const Json &a = text["points"][i], &b = vae["points"][i], &all = both["points"][i];
    const bool fits = a["feasible"].get<bool>() && b["feasible"].get<bool>();
    EXPECT_EQ(all["feasible"], fits) << i;
    if (!fits) {
      EXPECT_FALSE(all["reason"].get<std::string>().empty());
      continue;
    }
    ++feasible;
    const auto of = [](const Json& point, const char* name) { return point.at(name).get<double>(); };
    const double time = 0.75 / of(a, "throughput_fps") + 0.25 / of(b, "throughput_fps");
    const double energy = 0.75 * of(a, "energy_j_per_frame") + 0.25 * of(b, "energy_j_per_frame");
    EXPECT_NEAR(of(all, "throughput_fps") * time, 1, 1e-12);
    EXPECT_NEAR(of(all, "energy_j_per_frame") / energy, 1, 1e-12);
    EXPECT_NEAR(of(all, "power_w") / (energy / time), 1, 1e-9);
    EXPECT_EQ(of(all, "area_mm2"), std::max(of(a, "area_mm2"), of(b, "area_mm2")));
  }
  EXPECT_GT(feasible, 0);
  EXPECT_LT(feasible, 6);
  EXPECT_EQ(both["manifest"]["model"]["files"].size(), 2u);
  EXPECT_EQ(both["validation"]["verdict"], "pass");
  EXPECT_GT(both["validation"]["classes"], text["validation"]["classes"]);
}

TEST(mixes, are_searched_and_the_answer_says_what_it_is_worth_to_each_workload) {
  const std::vector<std::string> asked = {"best",
                                          "tiny-sd-text+tiny-sd-vae-decoder:2",
                                          "--preset",
                                          "edge",
                                          "--minimize",
                                          "area_mm2",
                                          "--where",
                                          "throughput_fps >= 10",
                                          "--evaluations",
                                          "600",
                                          "--validate-seconds",
                                          "6"};
  std::vector<std::string> as_json = asked;
  as_json.push_back("--json");
  const Ended found = run_sdip(as_json);
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const Json answer = parse_json(found.out);
  const Json& workloads = answer["workloads"];
  ASSERT_EQ(workloads.size(), 2u);
  EXPECT_EQ(workloads[1]["model"], "tiny-sd-vae-decoder");
  EXPECT_EQ(workloads[1]["weight"], 2);
  const Json& all = answer["best"][0]["metrics"];
  const double time = 1 / 3.0 / workloads[0]["metrics"]["throughput_fps"].get<double>() +
                      2 / 3.0 / workloads[1]["metrics"]["throughput_fps"].get<double>();
  EXPECT_NEAR(all["throughput_fps"].get<double>() * time, 1, 1e-12);
  EXPECT_EQ(answer["around"]["metrics"], all);
  EXPECT_EQ(answer["validation"]["verdict"], "pass");
  EXPECT_LE(answer["ranges"][1]["least"].get<double>(), all["area_mm2"].get<double>());
  const Ended told = run_sdip(asked);
  EXPECT_THAT(told.out, HasSubstr("sdip analyze tiny-sd-vae-decoder --preset edge"));
}

TEST(mixes, have_a_file_once_by_whatever_path) {
  const TemporaryFolder folder;
  write_file(folder / "plain.onnx", small_onnx());
  const std::string twice = (folder / "plain.onnx") + "+" + (folder / "./plain.onnx");
  for (const std::string command : {"sweep", "screen"}) {
    const Ended ended = run_sdip({command, twice, "--axis", "cores=1,2"});
    EXPECT_EQ(ended.exit_code, 1) << command;
    EXPECT_THAT(ended.err, HasSubstr("sdip: value_invalid: ")) << command;
    EXPECT_THAT(ended.err, HasSubstr(" stands twice in the mix")) << command;
  }
}

TEST(mixes, are_refused_where_there_are_none) {
  const Site site;
  const auto refused = [&](const std::string& path, const std::string& body) {
    return site.post("/api/v1/" + path, body).json().at("code").get<std::string>();
  };
  const std::string axes = R"("axes": [{"parameter": "cores", "values": [1, 2]}])";
  EXPECT_EQ(refused("sweeps", R"({"model": "tiny-sd+nothing", )" + axes + "}"), "unknown_model");
  EXPECT_EQ(refused("sweeps", R"({"model": "tiny-sd+tiny-sd", )" + axes + "}"), "value_invalid");
  EXPECT_EQ(refused("searches", R"({"model": "tiny-sd:0", "objectives": ["area_mm2"]})"), "value_invalid");
  EXPECT_EQ(refused("analyses", R"({"model": "tiny-sd+sd15"})"), "unknown_model");
  EXPECT_EQ(refused("validations", R"({"model": "tiny-sd+sd15"})"), "unknown_model");
}

}  // namespace
}  // namespace sdip::test
