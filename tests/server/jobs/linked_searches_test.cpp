// Do linked rows follow in searches, and are links refused that cannot be?
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "server/studies/best.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

TEST(linked_searches, have_linked_rows_follow_in_every_machine_that_is_looked_at) {
  const Site site;
  const std::string body =
      R"+({"model": "tiny-sd-text", "preset": "edge", "objectives": ["throughput_fps"],
           "constraints": ["area_mm2 <= 60"], "links": [
             {"parameter": "psram_port_bits", "formula": "if(linear_lanes_n > 160, 0, 64 * linear_lanes_n)"},
             {"parameter": "dsram_bytes", "formula": "65536 * cores"}],
           "evaluations": 3000, "validate_seconds": 0})+";
  const Answer begun = site.post("/api/v1/searches", body);
  ASSERT_EQ(begun.status, 202) << begun.body;
  const Json done = site.wait_for("/api/v1/searches/" + begun.json().at("id").dump(), "done");
  EXPECT_EQ(done["request"]["links"][1], (Json{{"parameter", "dsram_bytes"}, {"formula", "65536 * cores"}}));
  const Json& result = done.at("result");
  EXPECT_THAT(result["searched"], testing::Not(testing::Contains("psram_port_bits")));
  ASSERT_GT(result["best"].size(), 1U);
  for (const Json& one : result["best"]) {
    Machine machine = find_preset("edge")->machine;
    assign_json(machine, one["settings"], "");
    EXPECT_EQ(machine.dsram_bytes, 65536 * machine.cores);
    EXPECT_EQ(machine.psram_port_bits, 64 * machine.linear_lanes_n);
    EXPECT_LE(machine.linear_lanes_n, 160);
  }
  ASSERT_FALSE(result["around"].is_null());
  for (const Json& change : result["around"]["changes"]) EXPECT_NE(change["parameter"], "dsram_bytes");
  for (const Json& step : result["bought"]) EXPECT_NE(step["parameter"], "psram_port_bits");

  const Ended command = run_sdip(
      {"best", "tiny-sd-text", "--preset", "edge", "--maximize", "throughput_fps", "--where", "area_mm2 <= 60",
       "--link", "psram_port_bits=if(linear_lanes_n > 160, 0, 64 * linear_lanes_n)", "--link",
       "dsram_bytes = 65536 * cores", "--evaluations", "3000", "--validate-seconds", "0", "--json"});
  EXPECT_EQ(command.exit_code, 0) << command.err;
  EXPECT_EQ(Json::parse(command.out)["best"], result["best"]);
}

TEST(linked_searches, refuse_links_of_what_is_fixed_or_varied_and_that_the_base_cannot_follow) {
  const std::string link = R"([{"parameter": "dsram_bytes", "formula": ")";
  const auto refused = [&](const std::string& formula, const std::string& more) {
    try {
      best_request(Json::parse(R"({"model": "tiny-sd-text", "objectives": ["throughput_fps"], "links": )" + link +
                               formula + "\"}]" + more + "}"));
    } catch (const Error& error) {
      return error.code + " at " + error.where;
    }
    return std::string();
  };
  EXPECT_EQ(refused("65536 * cores", R"(, "fixed": {"dsram_bytes": 1048576})"),
            "value_conflict at /links/0/parameter");
  EXPECT_EQ(refused("65536 * cores", R"(, "axes": [{"parameter": "dsram_bytes", "values": [65536, 131072]}])"),
            "value_conflict at /links/0/parameter");
  EXPECT_EQ(refused("area_mm2", ""), "value_invalid at /links/0/formula");
  EXPECT_EQ(refused("0 - 1", ""), "value_out_of_range at dsram_bytes");
  EXPECT_EQ(refused("65536 * cores", ""), "");
}

}  // namespace
}  // namespace sdip::test
