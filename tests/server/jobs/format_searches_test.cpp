// Do searches that measure formats take what they measure from anywhere that it may come from, and keep their
// limit?
#include <gmock/gmock.h>

#include "server/studies/best_json.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

/// A short search for tiny-sd-text, or another model, with what else it is asked.
Json format_search(const std::string& model, const Json& more) {
  Json body = {{"model", model},     {"preset", "edge"},      {"objectives", {"min:area_mm2"}},
               {"evaluations", 300}, {"validate_seconds", 0}, {"fixed", {{"accumulator_format", "fp32"}}}};
  body["axes"] = {{{"parameter", "weight_format"}, {"values", {"int8", "fp16"}}},
                  {{"parameter", "activation_format"}, {"values", {"int8", "fp16"}}}};
  body.update(more);
  return body;
}

std::string accepted(const Site& site, const Json& body) {
  const Answer answer = site.post("/api/v1/searches", body.dump());
  EXPECT_EQ(answer.status, 202) << answer.body;
  return "/api/v1/searches/" + answer.json().at("id").dump();
}

/// Once it is done or failed.
Json outcome_of(const Site& site, const std::string& at) {
  Json found = site.get(at).json();
  while (found["state"] == "queued" || found["state"] == "running") {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    found = site.get(at).json();
  }
  return found;
}

TEST(format_searches, measure_an_upload_in_place_of_a_built_in_model_and_no_second_one) {
  const Site site;
  ASSERT_EQ(site.put("/api/v1/models/upl", small_onnx("Relu")).status, 201);
  ASSERT_EQ(site.put("/api/v1/models/upl2", small_onnx("Exp")).status, 201);
  const auto refused = [&](const std::string& model, const std::string& measured) {
    const Answer answer =
        site.post("/api/v1/searches", format_search(model, {{"sqnr_db", 5}, {"sqnr_model", measured}}).dump());
    EXPECT_GE(answer.status, 400) << model << ", " << measured;
    return answer.json().value("code", "") + " at " + answer.json().value("where", "");
  };
  EXPECT_EQ(refused("upl", "upl2"), "value_conflict at /sqnr_model");
  EXPECT_EQ(refused("tiny-sd-text", "upl+upl2"), "value_conflict at /sqnr_model");
  EXPECT_EQ(refused("tiny-sd-text", "nope"), "unknown_model at /sqnr_model");
  EXPECT_EQ(refused("nope", "upl"), "unknown_model at /model");
  EXPECT_EQ(refused("upl", "tiny-sd-text"), "value_conflict at /sqnr_model");
  EXPECT_EQ(refused("tiny-sd-text", "upl+tiny-sd-text"), "value_conflict at /sqnr_model");
  for (const auto& [model, measured] : {std::pair("tiny-sd-text", "upl"), {"upl", "upl"}}) {
    const Json done =
        outcome_of(site, accepted(site, format_search(model, {{"sqnr_db", 5}, {"sqnr_model", measured}})));
    ASSERT_EQ(done["state"], "done") << done["error"];
    EXPECT_EQ(done["result"]["accuracy"]["model"], measured) << model;
    EXPECT_GE(done["result"]["accuracy"]["sqnr_db"], 5) << model << ", " << measured;
  }
}

TEST(format_searches, take_a_limit_that_something_may_reach) {
  const Site site;
  for (const double least : {200.5, 1e300, -1e300}) {
    const Answer answer = site.post("/api/v1/searches", format_search("tiny-sd-text", {{"sqnr_db", least}}).dump());
    EXPECT_EQ(answer.status, 422) << least;
    EXPECT_EQ(answer.json().value("code", ""), "value_out_of_range") << least;
  }
  for (const char* least : {"nan", "inf", "-inf", "1e300"}) {
    const Ended ended = run_sdip({"best", "tiny-sd-text", "--minimize", "area_mm2", "--evaluations", "100",
                                  "--sqnr-db", least, "--validate-seconds", "0"});
    EXPECT_EQ(ended.exit_code, 1) << least;
    EXPECT_THAT(ended.err, testing::HasSubstr("from -200 to 200")) << least;
  }
}

TEST(format_searches, hold_the_answer_itself_to_the_limit) {
  for (const char* least : {"38.05", "38.1"}) {
    const Ended found =
        run_sdip({"best", "tiny-sd", "--minimize", "energy_j_per_frame", "--where", "throughput_fps >= 20",
                  "--sqnr-db", least, "--vary", "weight_format=int8,mxfp6", "--fix", "activation_format=fp16",
                  "--fix", "accumulator_format=fp32", "--evaluations", "600", "--validate-seconds", "0", "--json"});
    const Json answer = Json::parse(found.out), best = answer["best"][0];
    const bool keeps = answer["accuracy"]["sqnr_db"].get<double>() >= std::stod(least);
    EXPECT_EQ(best["keeps_constraints"], keeps) << least;
    EXPECT_EQ(found.exit_code, keeps ? 0 : 3) << least;
    EXPECT_EQ(best["broken"], keeps ? Json::array() : Json{std::string("sqnr_db >= ") + least}) << least;
    EXPECT_EQ(answer["around"].is_null(), !keeps) << least;
  }
}

TEST(format_searches, say_where_the_limit_stands_as_it_is_no_condition) {
  const Site site;
  const Answer answer =
      site.post("/api/v1/searches", format_search("tiny-sd-text", {{"constraints", {"sqnr_db >= 5"}}}).dump());
  EXPECT_EQ(answer.json().value("code", ""), "formula_invalid");
  EXPECT_THAT(answer.body, testing::HasSubstr("--sqnr-db"));
}

}  // namespace
}  // namespace sdip::test
