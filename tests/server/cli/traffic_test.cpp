// Does `sdip traffic` say what each option brings, and does docs/model/options.md repeat it?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "core/base/number_format.h"
#include "server/io/text.h"
#include "tests/core/base/made_section.h"
#include "tests/server/running.h"
#include "tests/server/site_fixture.h"

namespace sdip::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// One int8 core with 8 MiB of SRAM: 5 of weights, 1.5 on each side of DSRAM.
const std::vector<std::string> eight_mib{
    "--preset",        "edge", "--set", "psram_bytes=5242880", "--set", "dsram_bytes=1572864", "--set",
    "stackram_bytes=0"};

Ended traffic_of(const std::string& model, const std::string& format) {
  std::vector<std::string> arguments{"traffic", model, "--format", format};
  arguments.insert(arguments.end(), eight_mib.begin(), eight_mib.end());
  return run_sdip(arguments);
}

std::string megabytes(double bytes) {
  std::ostringstream text;
  text << std::fixed;
  text.precision(1);
  text << bytes / 1e6;
  return text.str();
}

std::string table_of(const std::string& model) {
  const Ended ended = traffic_of(model, "json");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const Json rows = Json::parse(ended.out)["rows"];
  const auto total = [](const Json& row) {
    return row["dram_weights_bytes"].get<double>() + row["dram_activations_in_bytes"].get<double>() +
           row["dram_activations_out_bytes"].get<double>();
  };
  std::string text =
      "\n`" + model +
      "`\n\n| options | instructions | weights MB | activations in MB | out MB | of the first | GMAC | "
      "Mcycles |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  std::string no_change;
  for (const Json& row : rows) {
    Json named_alike = row;
    named_alike["options"] = rows[0]["options"];
    if (&row != &rows[0] && named_alike == rows[0]) {
      no_change += (no_change.empty() ? "\nNo change: " : ", ") + row["options"].get<std::string>();
      continue;
    }
    text += "| " + std::string(row["stacked"] ? "+ " : "") + row["options"].get<std::string>() + " | ";
    if (!row["infeasible"].is_null()) {
      text += "infeasible | | | | | | |\n";
      continue;
    }
    std::ostringstream share;
    share << std::fixed;
    share.precision(3);
    share << total(row) / total(rows[0]);
    text += std::to_string(row["instructions"].get<std::int64_t>()) + " | " +
            megabytes(row["dram_weights_bytes"].get<double>()) + " | " +
            megabytes(row["dram_activations_in_bytes"].get<double>()) + " | " +
            megabytes(row["dram_activations_out_bytes"].get<double>()) + " | " + share.str() + " | " +
            megabytes(row["macs"].get<double>() / 1e3) + " | " + megabytes(row["steady_cycles"].get<double>()) +
            " |\n";
  }
  return text + (no_change.empty() ? "" : no_change + ".\n");
}

TEST(traffic, the_table_of_the_manual_is_what_the_command_says) {
  std::string text;
  for (const char* model : {"sd15-unet", "sd15-vae-decoder", "resnet50"}) text += table_of(model);
  expect_made_section("model/options.md", "traffic", "`sdip traffic`", text + "\n");
}

TEST(traffic, is_printed_as_text_csv_and_json_and_refuses_other_forms) {
  const std::string text = traffic_of("tiny-sd-vae-decoder", "text").out;
  EXPECT_THAT(text, HasSubstr("fusion=norm"));
  EXPECT_THAT(text, HasSubstr("\nNo change from the first row with "));
  EXPECT_THAT(text, Not(HasSubstr("\n  hard_coded_part=core")));
  const std::string csv = traffic_of("tiny-sd-vae-decoder", "csv").out;
  EXPECT_THAT(csv, HasSubstr("options,stacked,feasible,instructions,"));
  EXPECT_THAT(csv, HasSubstr("\nnone,0,1,"));
  EXPECT_EQ(traffic_of("tiny-sd-vae-decoder", "xml").exit_code, 2);
}

}  // namespace
}  // namespace sdip::test
