// Where is more of something worse? Each row's counterexample really is one; they are a table of
// docs/model/limits.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <set>
#include <sstream>

#include "core/program/tiling/draft.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/explain/example.h"
#include "tests/core/cost/more_rows.h"

namespace sdip {
namespace {

/// "a; b" as lines.
std::string lines_of(std::string_view text) {
  std::string lines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find("; ", at), text.size());
    lines += std::string(text.substr(at, end - at)) + "\n";
    at = end + 2;
  }
  return lines;
}

std::vector<std::string> split_settings(std::string_view text) {
  std::vector<std::string> settings;
  std::istringstream stream{std::string(text)};
  for (std::string one; std::getline(stream, one, ',');) settings.push_back(one);
  return settings;
}

double measured(const MoreRow& row, std::string_view settings) {
  std::string text = lines_of(row.on);
  for (const std::string& setting : split_settings(settings)) text = with_setting(text, setting);
  const Measured m = measure(text);
  EXPECT_TRUE(m.feasible) << text;
  return row.worse == "cycles"  ? static_cast<double>(m.cycles)
         : row.worse == "bytes" ? static_cast<double>(m.dram_bytes)
                                : m.frame_ns;
}

std::string number(double value) {
  std::ostringstream text;
  text << std::setprecision(4) << value;
  return text.str();
}

std::string spaced(std::string_view settings) {
  std::string text;
  for (const std::string& one : split_settings(settings)) text += (text.empty() ? "" : " ") + one;
  return text;
}

std::string table_of(std::span<const NeverRow> rows) {
  std::string text = "| | why |\n| --- | --- |\n";
  for (const NeverRow& row : rows) text += "| `" + std::string(row.name) + "` | " + std::string(row.why) + " |\n";
  return text;
}

/// The worked example of docs/model/memory.md.
TEST(more, what_lies_whole_is_what_moves_fewest_bytes) {
  Machine machine;
  const Application application =
      example_of("machine dsram_bytes=150\nnetwork 1x12x12 | relu | matmul 0 | norm\n", machine);
  ASSERT_TRUE(application.feasible) << application.reason;
  const CompiledStage& stage = application.stages[0];
  std::vector<bool> whole;
  std::vector<std::int64_t> bytes;
  for (const Instruction& i : stage.program.instructions) {
    const InstructionClass& c = stage.program.classes[static_cast<std::size_t>(i.instruction_class)];
    whole.push_back(c.to_dsram);
    bytes.push_back(dram_bytes(c, room_for(c, machine, WeightPlace::psram)));
  }
  EXPECT_EQ(whole, (std::vector<bool>{true, false, false}));
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{144, 144 + 144, 144 + 144}));
}

TEST(more, of_each_row_is_worse_on_its_counterexample) {
  std::string text = "| more | from | to | on | worse | why |\n| --- | --- | --- | --- | --- | --- |\n";
  for (const MoreRow& row : more_rows()) {
    SCOPED_TRACE(std::string(row.on) + " " + std::string(row.more_settings));
    const double less = measured(row, row.less_settings), more = measured(row, row.more_settings);
    EXPECT_GT(more, less * 1.000001);
    std::string on(row.on);
    for (std::size_t at = on.find('|'); at != std::string::npos; at = on.find('|', at + 2)) on.insert(at, "\\");
    const std::string what = row.worse == "cycles" ? "cycles" : row.worse == "bytes" ? "bytes" : "ns a frame";
    text += "| " + std::string(row.more) + " | `" + spaced(row.less_settings) + "` | `" +
            spaced(row.more_settings) + "` | `" + on + "` | " + number(less) + " → " + number(more) + " " + what +
            " | " + std::string(row.why) + " |\n";
  }
  text += "\nNever found to be worse:\n\n" + table_of(never_rows());
  text += "\nThese rows are of the design, but have no better end:\n\n" + table_of(no_more_rows());
  expect_made_section("model/limits.md", "more", "tests/core/cost/more_test.cpp", text);
}

/// Rows that say what is run, or how it is priced.
bool is_of_the_task(const ParameterRow& row) {
  return row.group == "workload" || row.group == "stages" || row.group == "technology";
}

/// True for a stage's own row, in place of one of the cores', of which it is said.
bool is_of_a_stage(const ParameterRow& row) {
  return row.group == "text_encoder" || row.group == "vae_encoder" || row.group == "vae_decoder";
}

TEST(more, is_said_of_every_parameter_of_the_design) {
  std::set<std::string> named;
  for (const auto rows : {never_rows(), no_more_rows()})
    for (const NeverRow& row : rows) named.emplace(row.name);
  for (const MoreRow& row : more_rows())
    for (const std::string& setting : split_settings(row.more_settings))
      named.insert(setting.substr(0, setting.find('=')));
  for (const ParameterRow& row : parameters())
    EXPECT_TRUE(is_of_the_task(row) || is_of_a_stage(row) || named.contains(std::string(row.name))) << row.name;
}

}  // namespace
}  // namespace sdip
