// Does screening say of a model's machines which rows matter, the same each time?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

Json row_in(const Json& screening, std::size_t measure, const std::string& parameter) {
  for (const Json& row : screening["measures"][measure]["rows"])
    if (row["parameter"] == parameter) return row;
  ADD_FAILURE() << "no row " << parameter << " in " << screening;
  return {};
}

TEST(screenings, find_that_cores_make_the_area_and_cores_and_clock_the_rate) {
  const Site site;
  const std::string asked = R"({"model": "tiny-sd-vae-decoder", "preset": "edge", "samples": 20,
    "axes": [{"parameter": "cores", "values": [1, 2, 4, 8]}, {"parameter": "core_clock_mhz", "min": 200, "max": 800, "step": 100},
             {"parameter": "prompt_per_frame", "values": [false, true]}]})";
  const Answer answer = site.post("/api/v1/screenings", asked);
  ASSERT_EQ(answer.status, 200) << answer.body;
  const Json morris = answer.json();
  EXPECT_EQ(morris["evaluated"], 80);
  EXPECT_EQ(morris["without_value"], 0);
  EXPECT_EQ(morris["compiled"], 1);
  EXPECT_GT(row_in(morris, 0, "core_clock_mhz")["mean"], 0);
  EXPECT_GT(row_in(morris, 0, "cores")["mean"], 0);
  EXPECT_EQ(row_in(morris, 0, "prompt_per_frame")["mean_size"], 0) << "a decoder alone has no prompt";
  EXPECT_EQ(morris["measures"][1]["rows"][0]["parameter"], "cores");
  EXPECT_EQ(site.post("/api/v1/screenings", asked).json(), morris);
}

TEST(screenings, share_the_variance_of_a_formula_out_as_integrals_do) {
  // x + 3 y over 1 to 4 and 1 to 2 has the variances 1.25 and 9 * 0.25.
  const Ended found = run_sdip({"screen", "tiny-sd-text", "--preset", "edge", "--method", "sobol", "--samples",
                                "3000", "--axis", "cores=1,2,3,4", "--axis", "dram_channels=1,2", "--metric",
                                "f=cores + 3 * dram_channels", "--measure", "f", "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const Json json = Json::parse(found.out);
  const Json cores = row_in(json, 0, "cores"), channels = row_in(json, 0, "dram_channels");
  for (const char* index : {"first", "total"}) {
    const double error = 3 * cores[std::string(index) + "_error"].get<double>();
    EXPECT_NEAR(cores[index].get<double>(), 1.25 / 3.5, error);
    EXPECT_NEAR(channels[index].get<double>(), 2.25 / 3.5,
                3 * channels[std::string(index) + "_error"].get<double>());
    EXPECT_LT(error, 0.1);
  }
}

TEST(screenings, measure_effects_over_whole_ranges_however_few_values_a_row_has) {
  const Ended found = run_sdip({"screen",    "tiny-sd-text",
                                "--preset",  "edge",
                                "--axis",    "cores=2,4",
                                "--axis",    "dram_channels=1,2,4",
                                "--axis",    "conv_lanes_pixel=1,2,3,4",
                                "--metric",  "c=cores",
                                "--metric",  "d=log2(dram_channels)",
                                "--metric",  "p=conv_lanes_pixel",
                                "--measure", "c",
                                "--measure", "d",
                                "--measure", "p",
                                "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const Json json = Json::parse(found.out);
  const std::pair<const char*, double> ranges[] = {{"cores", 2}, {"dram_channels", 2}, {"conv_lanes_pixel", 3}};
  for (std::size_t m = 0; m < std::size(ranges); ++m) {
    const Json row = row_in(json, m, ranges[m].first);
    EXPECT_NEAR(row["mean"].get<double>(), ranges[m].second, 1e-12) << ranges[m].first;
    EXPECT_NEAR(row["deviation"].get<double>(), 0, 1e-12) << "a straight line: " << ranges[m].first;
  }
}

TEST(screenings, say_why_machines_have_no_values) {
  const Ended none = run_sdip({"screen", "tiny-sd-text", "--preset", "edge", "--set", "psram_bytes=1024", "--axis",
                               "cores=1,2", "--samples", "2"});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.out, HasSubstr("the first without values: "));
  EXPECT_THAT(none.out, HasSubstr("cores"));
}

TEST(screenings, give_a_row_its_base_where_its_condition_does_not_hold) {
  const Site site;
  const auto screened = [&](const std::string& when) {
    const Answer answer =
        site.post("/api/v1/screenings",
                  R"({"model": "tiny-sd-text", "preset": "edge", "samples": 20,
      "axes": [{"parameter": "cores", "values": [1, 2, 4, 8]}, {"parameter": "dram_channels", "values": [1, 2, 4], "when": ")" +
                      when + R"("}], "metrics": {"f": "100 * cores + dram_channels"}, "measures": ["f"]})");
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.json();
  };
  EXPECT_EQ(row_in(screened("cores > 8"), 0, "dram_channels")["mean_size"], 0);
  const double always = row_in(screened("cores > 0"), 0, "dram_channels")["mean_size"].get<double>();
  const double often = row_in(screened("cores > 2"), 0, "dram_channels")["mean_size"].get<double>();
  EXPECT_GT(often, 0);
  EXPECT_LT(often, always);
}

TEST(screenings, have_linked_rows_follow_and_leave_out_machines_where_they_cannot) {
  const Ended found =
      run_sdip({"screen", "tiny-sd-text", "--preset", "edge", "--axis", "cores=1,2,3,4", "--axis",
                "core_clock_mhz=200:800:200", "--link", "dram_channels=if(cores == 4, 0, 10 * cores)", "--metric",
                "f=dram_channels", "--measure", "f", "--json"});
  ASSERT_EQ(found.exit_code, 0) << found.err;
  const Json json = Json::parse(found.out);
  EXPECT_EQ(json["links"][0]["formula"], "if(cores == 4, 0, 10 * cores)");
  EXPECT_NEAR(row_in(json, 0, "cores")["mean"].get<double>(), 30, 1e-9) << "over its whole range, with ten a core";
  EXPECT_EQ(row_in(json, 0, "core_clock_mhz")["mean_size"], 0);
  EXPECT_GT(json["without_value"], 0);
  EXPECT_LT(json["without_value"], json["evaluated"]);
  EXPECT_EQ(json["reason"], "dram_channels: follows others, and would be 0: expected 1 to 4096");
  const Ended refused = run_sdip({"screen", "tiny-sd-text", "--axis", "cores=1,2", "--link", "cores=dies"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--link cores: cores is an axis: it cannot follow others, too"));
}

TEST(screenings, have_the_machine_s_own_numbers_where_no_axis_is_said_and_take_mixes) {
  const Ended told = run_sdip({"screen", "tiny-sd-text+tiny-sd-vae-decoder", "--preset", "edge", "--samples", "3"});
  ASSERT_EQ(told.exit_code, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("Elementary effects on throughput_fps"));
  EXPECT_THAT(told.out, HasSubstr("core_clock_mhz"));
}

TEST(screenings, of_a_damaged_upload_fail_and_say_so_of_no_machine) {
  const Site site;
  ASSERT_EQ(site.put("/api/v1/models/lone", small_onnx()).status, 201);
  const auto models = site.service->data / "models";
  write_file(std::filesystem::directory_iterator(models)->path(), "garbage");
  for (const char* model : {"lone", "lone+tiny-sd-text"}) {
    const std::string axes = R"("axes": [{"parameter": "cores", "values": [1, 2]}], "samples": 2})";
    const Answer answer = site.post("/api/v1/screenings", R"({"model": ")" + std::string(model) + R"(", )" + axes);
    EXPECT_EQ(answer.status, 422) << model;
    EXPECT_EQ(answer.json()["code"], "not_onnx") << model;
  }
}

TEST(screenings, refuse_what_cannot_be_asked) {
  const Site site;
  const auto code = [&](const std::string& more) {
    return site.post("/api/v1/screenings", R"({"model": "tiny-sd-text")" + more + "}").json()["code"];
  };
  EXPECT_EQ(code(R"(, "method": "saltelli")"), "value_invalid");
  EXPECT_EQ(code(R"(, "measures": ["speed"])"), "unknown_metric");
  EXPECT_EQ(code(R"(, "samples": 1)"), "value_out_of_range");
  for (const char* seed : {"-1", "9007199254740992", "18446744073709551615"}) {
    const Json refused =
        site.post("/api/v1/screenings", R"({"model": "tiny-sd-text", "seed": )" + std::string(seed) + "}").json();
    EXPECT_EQ(refused["code"], "value_out_of_range") << seed;
    EXPECT_EQ(refused["detail"], "expected 0 to 9007199254740991") << seed;
  }
  EXPECT_EQ(site.post("/api/v1/screenings", R"({"model": "tiny-sd-text", "axes": []})").json()["detail"],
            "a screening needs at least one axis; none said: numbers near the machine's");
  EXPECT_EQ(code(R"(, "measures": ["tops", "tops"])"), "value_invalid");
  EXPECT_EQ(code(R"(, "measures": )" + Json(std::vector<std::string>(33, "tops")).dump()), "limit_exceeded");
  EXPECT_EQ(code(R"(, "samples": 90000)"), "limit_exceeded");
  EXPECT_EQ(code(R"(, "axes": [{"parameter": "dies", "values": [1]}])"), "value_invalid");
  EXPECT_EQ(code(R"(, "axes": [{"parameter": "dies", "values": [1, 2], "when": "area_mm2 > 1"}])"),
            "value_invalid");
  EXPECT_EQ(
      code(
          R"(, "axes": [{"parameter": "dies", "values": [1, 2], "when": "cores > 1"}, {"parameter": "cores", "values": [1, 2]}])"),
      "value_conflict");
  EXPECT_EQ(site.post("/api/v1/screenings", R"({"model": "tiny"})").json()["code"], "unknown_model");
}

}  // namespace
}  // namespace sdip::test
