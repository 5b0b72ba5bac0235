// sdip accuracy: figures by layer, step and stage; what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <thread>

#include "server/io/json_in.h"
#include "server/jobs/accuracy_front.h"
#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;

Json accuracy_of(const std::vector<std::string>& options) {
  std::vector<std::string> command{"accuracy", "--json"};
  command.insert(command.end(), options.begin(), options.end());
  const Ended ended = run_sdip(command);
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  return ended.exit_code == 0 ? parse_json(ended.out) : Json();
}

TEST(accuracy_command, follows_a_tiny_pipeline_through_its_stages_step_by_step) {
  const Json report = accuracy_of({"tiny-sd", "--preset", "edge", "--steps", "2", "--samples", "1"});
  EXPECT_EQ(report["weights"], "random");
  ASSERT_EQ(report["stages"].size(), 3U);
  const Json& core = report["stages"][1];
  ASSERT_EQ(core["steps"].size(), 2U);
  EXPECT_EQ(core["steps"][0]["t"], 500);
  EXPECT_EQ(core["steps"][1]["sqnr_db"], core["output"]["sqnr_db"]);
  EXPECT_GT(core["layers"].size(), 100U);
  EXPECT_EQ(report["sqnr_db"], report["stages"][2]["output"]["sqnr_db"]);
  EXPECT_GT(report["sqnr_db"].get<double>(), 5);
  EXPECT_LT(report["sqnr_db"].get<double>(), 40);
}

TEST(accuracy_command, takes_each_sampler_and_gives_both_computations_the_same_noise) {
  for (const char* sampler : {"ddpm", "euler"}) {
    const Json report = accuracy_of({"tiny-sd", "--steps", "2", "--sampler", sampler, "--set", "weight_format=fp32",
                                     "--set", "activation_format=fp32"});
    EXPECT_GT(report["sqnr_db"].get<double>(), 90) << sampler;
  }
}

TEST(accuracy_command, of_a_text_encoder_in_8_bits_is_better_than_its_mask_once_let_it_be) {
  EXPECT_GT(accuracy_of({"tiny-sd-text", "--preset", "edge"})["sqnr_db"].get<double>(), 25);
  const double by_error =
      accuracy_of({"tiny-sd-text", "--preset", "edge", "--calibration", "mse"})["sqnr_db"].get<double>();
  EXPECT_GT(by_error, 20);
}

TEST(accuracy_command, prints_tables_and_the_same_ones_twice) {
  const std::vector<std::string> command{"accuracy", "tiny-sd-text", "--preset", "edge", "--worst", "2"};
  const Ended first = run_sdip(command);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("random weights and inputs, seed 0, minmax"));
  EXPECT_THAT(first.out, HasSubstr("Results with the least signal to noise of tiny-sd-text:"));
  EXPECT_EQ(first.out, run_sdip(command).out);
}

TEST(accuracy_command, refuses_what_is_too_large_or_no_method) {
  const Ended large = run_sdip({"accuracy", "sd15-unet"});
  EXPECT_EQ(large.exit_code, 1);
  EXPECT_THAT(large.err, HasSubstr("limit_exceeded"));
  EXPECT_THAT(run_sdip({"accuracy", "tiny-sd-text", "--calibration", "best"}).err,
              HasSubstr("value_invalid: --calibration"));
  EXPECT_THAT(run_sdip({"accuracy", "tiny-sd-text", "--percentile", "40"}).err,
              HasSubstr("value_out_of_range: --percentile"));
  EXPECT_THAT(run_sdip({"accuracy", "tiny-sd-text", "--set", "core_weights=per_core"}).err,
              HasSubstr("value_conflict"));
}

/// Asks until it says what is waited for, for a minute at most.
template <class Holds>
Json asked_until(const Site& site, const std::string& target, const Holds& holds) {
  Json answer;
  for (int i = 0; i < 600 && !holds(answer = site.get(target).json()); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_TRUE(holds(answer)) << answer.dump(2).substr(0, 1000);
  return answer;
}

TEST(accuracy_jobs, are_queued_measured_and_the_same_as_on_the_command_line) {
  const Site site;
  const Answer posted =
      site.post("/api/v1/accuracies", R"({"model": "tiny-sd-text", "preset": "edge", "seed": 3})");
  ASSERT_EQ(posted.status, 202) << posted.body;
  const std::string target = posted.headers.at("location");
  const Json job = asked_until(site, target, [](const Json& one) { return one["state"] == "done"; });
  EXPECT_EQ(job["progress"], 1);
  EXPECT_EQ(job["result"], accuracy_of({"tiny-sd-text", "--preset", "edge", "--seed", "3"}));
  EXPECT_EQ(site.request("DELETE", target, "", "").status, 204);
  EXPECT_EQ(site.get(target).status, 404);
}

TEST(accuracy_jobs, that_are_removed_while_they_run_let_the_next_one_go) {
  const Site site;
  const std::string slow = R"({"model": "tiny-sd", "machine": {"steps": 100}})";
  const Answer first = site.post("/api/v1/accuracies", slow), second = site.post("/api/v1/accuracies", slow);
  ASSERT_EQ(second.status, 202) << second.body;
  asked_until(site, first.headers.at("location"), [](const Json& one) { return one["state"] == "running"; });
  EXPECT_EQ(site.get(second.headers.at("location")).json()["state"], "queued");
  EXPECT_EQ(site.request("DELETE", first.headers.at("location"), "", "").status, 204);
  asked_until(site, second.headers.at("location"), [](const Json& one) { return one["state"] == "running"; });
}

/// Columns of the front by name.
Json front_cells(const Json& front, const std::string& name) {
  const auto columns = front["columns"].get<std::vector<std::string>>();
  const auto at = static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin());
  Json cells = Json::array();
  for (const Json& row : front["rows"]) cells.push_back(row[at]);
  return cells;
}

TEST(accuracy_of_sweeps, is_measured_for_the_front_and_empty_elsewhere) {
  const Site site;
  const std::string sweep = site.sweep(R"({"model": "tiny-sd-text", "preset": "edge", "axes": [
      {"parameter": "activation_format", "values": ["fp16", "int8"]},
      {"parameter": "cores", "values": [1, 2, 3]}], "objectives": ["throughput_fps", "area_mm2"]})");
  const std::string target = "/api/v1/sweeps/" + sweep;
  asked_until(site, target, [](const Json& one) { return one["measuring_accuracy"] == false; });
  const Json front = site.get(target + "/front").json();
  const Json figures = front_cells(front, "sqnr_db"), formats = front_cells(front, "activation_format");
  ASSERT_FALSE(figures.empty());
  std::map<std::string, Json> by_format;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    ASSERT_TRUE(figures[i].is_number()) << figures.dump();
    EXPECT_EQ(by_format.try_emplace(formats[i].get<std::string>(), figures[i]).first->second, figures[i]);
  }
  EXPECT_EQ(front_cells(front, "accuracy_weights")[0], "random");
  const Json columns = site.get(target + "/columns?fields=sqnr_db,cores").json();
  std::size_t known = 0;
  for (const Json& cell : columns["columns"]["sqnr_db"]) known += cell.is_null() ? 0U : 1U;
  EXPECT_EQ(known, figures.size());
  EXPECT_EQ(columns["count"], 6);
  EXPECT_LT(known, 6U);
  const auto index = front["rows"][0][0].get<std::int64_t>();
  EXPECT_EQ(site.get(target + "/points/" + std::to_string(index)).json()["accuracy"]["sqnr_db"], figures[0]);
  EXPECT_THAT(site.get(target + "/export?format=csv").body, HasSubstr(",random\n"));
}

TEST(accuracy_of_sweeps, is_another_where_layers_have_formats_of_their_own) {
  const Site site;
  std::map<std::string, double> figures;
  const auto measured = [&](const std::string& formats) {
    const std::string sweep = site.sweep(OrderedJson{{"model", "tiny-sd-text"},
                                                     {"preset", "edge"},
                                                     {"validate_seconds", 0},
                                                     {"formats", formats},
                                                     {"axes", {{{"parameter", "cores"}, {"values", {1}}}}}}
                                             .dump());
    const std::string target = "/api/v1/sweeps/" + sweep;
    const Json done = asked_until(site, target, [](const Json& one) { return one["measuring_accuracy"] == false; });
    EXPECT_EQ(done["spec"].value("formats", ""), formats);
    return front_cells(site.get(target + "/front").json(), "sqnr_db").at(0).get<double>();
  };
  const double plain = measured(""), thin = measured("family=linear weights=int4");
  EXPECT_LT(thin, plain - 6);
  EXPECT_EQ(measured("# the same\nfamily=linear   weights=int4"), thin);
  const Json asked = Json::parse(OrderedJson{{"model", "tiny-sd-text"}, {"preset", "edge"}}.dump());
  EXPECT_EQ(accuracy_key("tiny-sd-text", accuracy_request(asked)).find("formats"), std::string::npos);
}

}  // namespace
}  // namespace sdip::test
