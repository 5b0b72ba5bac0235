// Models whose names attack what they are printed into: nothing that is obeyed or unseen reaches an output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/escaped.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What importing lets through: below U+0020 and U+007F are refused there, U+009B starts a terminal's command, too.
const SmallNames hostile = {
    "=HYPERLINK(\"http://x\")\xc2\x9d"
    "0;owned\xc2\x9c",
    "<script>alert(1)</script>\xe2\x80\xae",
    "\\input{/etc/passwd}\xc2\x9b"
    "31m\xe2\x80\xa8+1",
    ""};

/// Lines apart, text is what `printable` leaves as it is.
void expect_visible(const std::string& text, const std::string& what) {
  std::string lines = text;
  std::erase(lines, '\n');
  EXPECT_EQ(printable(lines), lines) << what;
}

TEST(hostile_names, no_command_lets_them_write_on_a_terminal) {
  const TemporaryFolder folder;
  write_file(folder.path / "m.onnx", small_onnx("Relu", hostile));
  const std::string file = folder / "m.onnx";
  const std::vector<std::vector<std::string>> commands = {
      {"model", "show", file},           {"model", "show", file, "--json"},
      {"analyze", file, "--layers"},     {"analyze", file, "--json"},
      {"compare", file, "--json"},       {"compile", file},
      {"analyze", file, "--dim", "b=1"}, {"model", "show", folder / "a\x1b[2Jb.onnx"}};
  for (const auto& command : commands) {
    const Ended ended = run_sdip(command);
    expect_visible(ended.out, command[0] + " " + command[1]);
    expect_visible(ended.err, command[0] + " " + command[1]);
    EXPECT_GT(ended.out.size() + ended.err.size(), 20U);
  }
  EXPECT_THAT(run_sdip({"compile", file}).out, HasSubstr("=HYPERLINK(\\\"http://x\\\")\\u009d0;owned\\u009c"));
}

TEST(hostile_names, json_shows_them_and_reads_back_the_same) {
  const Site site;
  EXPECT_EQ(site.put("/api/v1/models/m", small_onnx("Relu", hostile)).status, 201);
  const Answer facts = site.get("/api/v1/models/m");
  EXPECT_EQ(facts.json().at("inputs")[0].at("name"), hostile.input);
  EXPECT_EQ(facts.json().at("outputs")[0].at("name"), hostile.output);
  const Answer analysis = site.post("/api/v1/analyses", R"({"model": "m", "instructions": true})");
  EXPECT_EQ(analysis.status, 200);
  EXPECT_EQ(analysis.json().at("stages")[0].at("instructions")[0].at("name"), hostile.node);
  for (const Answer& answer : {facts, analysis}) expect_visible(answer.body, "JSON");
}

TEST(hostile_names, errors_show_them) {
  const std::string bytes = small_onnx(
      "Nope\xc2\x9b"
      "2J\xe2\x80\xae",
      hostile);
  const Site site;
  const Answer answer = site.put("/api/v1/models/m", bytes);
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.json().at("code"), "unknown_operator");
  EXPECT_THAT(answer.json().at("detail").get<std::string>(), HasSubstr("Nope\\u009b2J\\u202e"));
  expect_visible(answer.body, "problem");
  expect_visible(answer.json().at("detail").get<std::string>() + answer.json().at("where").get<std::string>(),
                 "texts");
  const TemporaryFolder folder;
  write_file(folder.path / "m.onnx", bytes);
  const Ended ended = run_sdip({"analyze", folder / "m.onnx"});
  EXPECT_EQ(ended.exit_code, 1);
  expect_visible(ended.err, "standard error");
  EXPECT_THAT(ended.err, HasSubstr("Nope\\u009b2J\\u202e"));
}

TEST(hostile_names, those_with_an_escape_character_are_refused) {
  const Answer answer = Site().put("/api/v1/models/m", small_onnx("Nope\x1b[2J"));
  EXPECT_EQ(answer.status, 422);
  EXPECT_EQ(answer.json().at("code"), "invalid_graph");
  expect_visible(answer.body, "problem");
}

TEST(hostile_names, an_exported_sweep_runs_no_formula) {
  const Site site;
  ASSERT_EQ(site.put("/api/v1/models/m", small_onnx("Relu", hostile)).status, 201);
  const std::string id = site.sweep(R"({"model": "m", "axes": [{"parameter": "cores", "values": [1, 2]}]})");
  const std::string csv = site.get("/api/v1/sweeps/" + id + "/export").body;
  EXPECT_THAT(csv, HasSubstr("index,feasible,reason"));
  for (const char* start : {",=", ",@", ",\"=", "\n="}) EXPECT_THAT(csv, Not(HasSubstr(start)));
  expect_visible(csv, "CSV");
  expect_visible(site.get("/api/v1/sweeps/" + id + "/export?format=ndjson").body, "NDJSON");
}

}  // namespace
}  // namespace sdip::test
