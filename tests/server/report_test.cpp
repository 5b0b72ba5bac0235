// The report on a model as the API and `sdip model show` give it, and what they say of a file in whose way
// something is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/error.h"
#include "server/cli/text/model_text.h"
#include "server/models/model_facts.h"
#include "server/models/model_report.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Json report_of_stage(const Json& facts, std::size_t stage = 0) { return facts.at("stages").at(stage).at("report"); }

TEST(model_report, the_api_and_the_command_line_say_the_same) {
  const Site site;
  const Json api = site.get("/api/v1/models/tiny-sd").json();
  const Ended shown = run_sdip({"model", "show", "tiny-sd", "--json"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(Json::parse(shown.out), api);
}

TEST(model_report, sums_of_its_tree_are_those_of_the_facts) {
  const Json facts = Json::parse(run_sdip({"model", "show", "tiny-sd-unet", "--json"}).out);
  const Json& macs = facts["macs"];
  const Json report = report_of_stage(facts);
  EXPECT_EQ(report["tree"]["macs"],
            macs["conv"].get<int>() + macs["linear"].get<int>() + macs["matmul"].get<int>());
  EXPECT_EQ(report["tree"]["parameters"], facts["parameters"]);
  std::int64_t children = 0;
  for (const auto& child : report["tree"]["children"]) children += child["macs"].get<std::int64_t>();
  EXPECT_EQ(report["tree"]["macs"], children);
  EXPECT_EQ(report["live"].size(), 4U);
  EXPECT_EQ(facts["opsets"], Json::parse(R"([{"domain": "ai.onnx", "version": 17}])"));
  EXPECT_EQ(facts["ir_version"], 8);
}

TEST(model_report, is_text_of_at_most_100_columns_but_for_names_of_nodes) {
  const Ended shown = run_sdip({"model", "show", "tiny-sd-unet", "--tree=2"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* part : {"IR 8", "Alive at once", "Adds of two activations", "Layers of equal work",
                           "Largest tensors", "Modules, by the nodes' names", "more"})
    EXPECT_THAT(shown.out, HasSubstr(part));
  std::size_t from = 0;
  for (std::size_t end; (end = shown.out.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string line = shown.out.substr(from, end - from);
    const bool names_node = line.find("  /") != std::string::npos;
    EXPECT_LE(names_node ? 0U : line.size(), 100U) << line;
  }
  EXPECT_THAT(run_sdip({"model", "show", "tiny-sd-unet"}).out, Not(HasSubstr("Modules")));
}

TEST(model_report, names_cannot_write_on_the_terminal) {
  const std::string name = "bell\x1b[31m\a";
  OrderedJson facts = OrderedJson::parse(run_sdip({"model", "show", "tiny-sd-unet", "--json"}).out);
  OrderedJson& stage = facts["stages"][0];
  stage["name"] = stage["producer"] = stage["inputs"][0]["name"] = stage["inputs"][0]["dims"][0] = name;
  stage["operators"][0]["type"] = stage["report"]["tree"]["name"] = stage["report"]["live"][0]["node"] = name;
  stage["report"]["layers"][0]["type"] = stage["report"]["weights"][0]["name"] = name;
  std::ostringstream out;
  print_facts(out, facts, true, false);
  print_refused(out, {{"name", name}, {"problems", {{{"code", name}, {"where", name}, {"detail", name}}}}}, false);
  EXPECT_EQ(out.str().find('\x1b'), std::string::npos);
  EXPECT_EQ(out.str().find('\a'), std::string::npos);
  EXPECT_THAT(out.str(), HasSubstr("bell\\x1b[31m\\x07"));
}

TEST(model_report, a_file_that_cannot_be_imported_shows_what_is_known_and_ends_with_1) {
  const TemporaryFolder folder;
  write_file(folder / "op.onnx", small_onnx("Frobnicate"));
  const Ended shown = run_sdip({"model", "show", folder / "op.onnx"});
  EXPECT_EQ(shown.exit_code, 1);
  for (const char* part : {"op (cannot be imported)", "IR 8", "In the way", "unknown_operator", "Frobnicate"})
    EXPECT_THAT(shown.out, HasSubstr(part));
  const Ended json = run_sdip({"model", "show", folder / "op.onnx", "--json"});
  EXPECT_EQ(json.exit_code, 1);
  const Json refused = Json::parse(json.out);
  EXPECT_EQ(refused["unsupported"][0]["type"], "Frobnicate");
  EXPECT_EQ(refused["survey"]["inputs"][0]["dims"], Json::parse(R"(["1", "4"])"));
  write_file(folder / "text.onnx", "this is not ONNX at all");
  const Ended text = run_sdip({"model", "show", folder / "text.onnx"});
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_THAT(text.out, HasSubstr("not_onnx"));
  EXPECT_EQ(run_sdip({"model", "show", folder / "absent.onnx"}).exit_code, 1);
}

TEST(obstacles, are_told_all_at_once) {
  ModelSurvey survey;
  survey.operators = {
      {"", "Relu", 3, "r", ""}, {"", "Frob", 2, "f", "no such operator"}, {"x", "Nic", 1, "n", "no"}};
  survey.free_dimensions = {"batch", "a, b", "height"};
  survey.assumed = {"other"};
  survey.free_dimensions.push_back("other");
  const std::map<std::string, std::int64_t> dims{{"height", 8}};
  const std::map<std::string, std::string> inputs;
  const OrderedJson all = obstacles_json(survey, {dims, inputs}, Error("unknown_operator", "f", "first"));
  EXPECT_EQ(all["unbound"], OrderedJson::parse(R"(["batch", "a, b"])"));
  EXPECT_EQ(all["unsupported"].size(), 2U);
  EXPECT_EQ(all["unsupported"][1]["type"], "x::Nic");
  EXPECT_EQ(all["problems"].size(), 4U);
  const OrderedJson other = obstacles_json(survey, {dims, inputs}, Error("shape_unknown", "n", "why"));
  EXPECT_EQ(other["problems"].back()["code"], "shape_unknown") << "what importing met is never left out";
}

TEST(uploads, a_refusal_names_every_operator_and_dimension) {
  const Site site;
  const Answer answer = site.put("/api/v1/models/op", small_onnx("Frobnicate"));
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(answer.json()["unsupported"][0]["type"], "Frobnicate");
  EXPECT_TRUE(answer.json()["unbound"].empty());
}

TEST(roles, a_file_is_what_it_is_said_to_be) {
  const Site site;
  EXPECT_EQ(site.put("/api/v1/models/plain", small_onnx()).json()["stages"][0]["role"], "network");
  const Answer text = site.put("/api/v1/models/text?role=text_encoder", small_onnx());
  EXPECT_EQ(text.status, 201) << text.body;
  EXPECT_EQ(site.get("/api/v1/models/text").json()["stages"][0]["role"], "text_encoder");
  EXPECT_EQ(site.put("/api/v1/models/text?role=decoder", small_onnx()).status, 409) << "another model";
  EXPECT_EQ(site.put("/api/v1/models/text?role=text_encoder", small_onnx()).status, 201);
  const Answer core = site.put("/api/v1/models/core?role=core", small_onnx());
  EXPECT_EQ(core.status, 422);
  EXPECT_EQ(core.json()["code"], "not_a_noise_predictor");
  EXPECT_EQ(site.put("/api/v1/models/bad?role=emperor", small_onnx()).json()["where"], "?role");
}

TEST(roles, a_written_unet_as_a_core_costs_what_the_built_in_one_does) {
  const TemporaryFolder folder;
  EXPECT_EQ(run_sdip({"model", "write", "tiny-sd-unet", folder / "unet.onnx", "--guidance"}).exit_code, 0);
  const Ended file = run_sdip({"analyze", folder / "unet.onnx", "--role", "core", "--json"});
  EXPECT_EQ(file.exit_code, 0) << file.err;
  const Ended built = run_sdip({"analyze", "tiny-sd-unet", "--json"});
  EXPECT_EQ(Json::parse(file.out)["metrics"], Json::parse(built.out)["metrics"]);
  const Ended bad = run_sdip({"analyze", folder / "unet.onnx", "--role", "emperor"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("value_invalid: --role"));
}

}  // namespace
}  // namespace sdip::test
