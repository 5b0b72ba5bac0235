// Do the documents say what the tables of parameters and technology say?
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iomanip>

#include "core/machine/dram.h"
#include "core/machine/gives.h"
#include "core/machine/machine.h"
#include "core/machine/shown.h"
#include "core/machine/technology.h"
#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

std::string short_number(double value) {
  std::ostringstream text;
  if (value == std::floor(value)) text << std::fixed << std::setprecision(0);  // a whole number whole
  text << value;
  return text.str();
}

std::string values_of_row(const ParameterRow& row) {
  if (row.type == ParameterType::flag) return "true, false";
  if (row.type != ParameterType::choice) return value_text(row, row.least) + " to " + value_text(row, row.most);
  std::string text;
  for (const std::string_view choice : row.choices) text += (text.empty() ? "" : ", ") + std::string(choice);
  return text;
}

TEST(docs, the_parameter_tables_are_those_of_the_rows) {
  std::string text, group;
  for (const ParameterRow& row : parameters()) {
    if (row.group != group) {
      group = row.group;
      text += "\n## " + group +
              "\n\n| name | unit | default | values | effect | more gives | shown with | | |\n"
              "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    }
    const char* effect = changes_program(row) ? "compile" : "cost";
    text += "| `" + std::string(row.name) + "` | " + std::string(row.unit) + " | " + value_text(row, row.standard) +
            " | " + values_of_row(row) + " | " + effect + " | " +
            (row.gives == Gives::nothing ? "" : std::string(gives_text(row.gives))) + " | " + shown_text(row) +
            " | " + std::string(row.en) + " | " + std::string(row.ja) + " |\n";
  }
  expect_made_section("parameters.md", "parameters", "core/machine/parameters.def", text + "\n");
}

TEST(docs, the_technology_table_is_that_of_the_rows) {
  std::string text =
      "| constant | value | range | unit | confidence | source |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const TechnologyRow& row : technology_rows()) {
    const std::string range =
        row.least == row.most ? "" : short_number(row.least) + " to " + short_number(row.most);
    text += "| " + std::string(row.name) + " | " + short_number(row.value) + " | " + range + " | " +
            std::string(row.unit) + " | " + std::string(confidence_text(row.confidence)) + " | " +
            std::string(row.source) + " |\n";
  }
  expect_made_section("model/energy.md", "technology", "core/machine/technology_rows.cpp", text);
}

TEST(docs, the_kinds_of_dram_are_those_of_the_table) {
  std::string text =
      "| kind | bits of a channel | usual MT/s | greatest | access, B | most MiB a channel | rows, B | source |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  const ParameterRow& names = *find_parameter("dram_kind");
  for (const DramKindRow& kind : dram_kinds()) {
    text += "| " + value_text(names, static_cast<std::int64_t>(kind.kind));
    for (const std::int64_t value : {kind.channel_bits, kind.usual_mtps, kind.greatest_mtps, kind.access_bytes,
                                     kind.greatest_channel_mib, kind.row_bytes})
      text += " | " + std::to_string(value);
    text += " | " + std::string(kind.source) + " |\n";
  }
  expect_made_section("model/dram.md", "dram kinds", "core/machine/dram.cpp", text);
}

}  // namespace
}  // namespace sdip
