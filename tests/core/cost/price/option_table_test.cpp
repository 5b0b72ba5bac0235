// What does each option change of SD 1.5, and which test witnesses that the executor does so? A table of
// docs/model/options.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/cost/price/estimate.h"
#include "core/program/tiling/mapping_cache.h"
#include "tests/core/base/made_section.h"
#include "tests/core/cost/price/option_rows.h"
#include "tests/core/cost/tiny_sd.h"

namespace sdip {
namespace {

constexpr std::string_view as_network = "network: ";

std::vector<std::pair<const ParameterRow*, std::int64_t>> settings_in(std::string_view text) {
  std::vector<std::pair<const ParameterRow*, std::int64_t>> settings;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const ParameterRow* row = find_parameter(word.substr(0, equals));
    if (row == nullptr) throw Error("unknown_parameter", word, "no such row");
    settings.emplace_back(row, parse_value(*row, word.substr(equals + 1), word));
  }
  return settings;
}

void set(Machine& m, std::string_view settings) {
  for (const auto& [row, value] : settings_in(settings)) row->write(m, value);
}

/// The machine that a row starts from.
Machine machine_of(std::string_view on) {
  if (on.starts_with(as_network)) on.remove_prefix(as_network.size());
  const std::size_t space = std::min(on.find(' '), on.size());
  Machine m = find_preset(on.substr(0, space))->machine;
  set(m, on.substr(space));
  return m;
}

Workload workload_of(std::string_view on, Machine m) {
  if (!on.starts_with(as_network)) return built_in_pipeline("sd15", m);
  Workload workload;
  workload.stages.push_back(built_in_stage(Role::network, "sd15-unet", m));
  return workload;
}

class Outcomes {
 public:
  Outcome of(std::string_view on, const Machine& m) {
    const auto key = std::pair(on.starts_with(as_network), compile_key(m));
    auto found = compiled_.find(key);
    if (found == compiled_.end()) {
      CompileOptions options;
      options.mappings = mappings_;
      options.say_needed_bytes = false;
      found = compiled_.emplace(key, compile(workload_of(on, m), m, options)).first;
    }
    return evaluate(found->second, m);
  }

 private:
  std::shared_ptr<MappingCache> mappings_ = std::make_shared<MappingCache>();
  std::map<std::pair<bool, std::vector<std::int64_t>>, Application> compiled_;
};

/// Four digits, or as many as tell them apart.
std::string before_and_after(double before, double after) {
  const auto text = [](double value, int digits) {
    std::ostringstream out;
    out << std::setprecision(value < 1e4 ? digits : std::max(digits, 6)) << value;
    return out.str();
  };
  if (before == after) return text(before, 4);
  int digits = 4;
  while (digits < 12 && text(before, digits) == text(after, digits)) ++digits;
  return text(before, digits) + " → " + text(after, digits);
}

struct Column {
  Metric metric;
  double unit;
};
constexpr Column columns[] = {{Metric::step_cycles, 1e6},
                              {Metric::throughput_fps, 1},
                              {Metric::dram_bytes_per_frame, 1e9},
                              {Metric::energy_j_per_frame, 1},
                              {Metric::area_mm2, 1}};

double value_of(const Outcome& outcome, const Column& column) {
  return outcome.values[static_cast<std::size_t>(column.metric)] / column.unit;
}

/// What is changed, from and to: "steps 20 → 4".
std::string change_text(const Machine& before, std::string_view change) {
  std::string text;
  for (const auto& [row, value] : settings_in(change))
    text += (text.empty() ? "`" : ", `") + std::string(row->name) + "` " + value_text(*row, row->read(before)) +
            " → " + value_text(*row, value);
  return text;
}

std::string cells_of(const OptionRow& row, Outcomes& outcomes) {
  const Machine before = machine_of(row.on);
  Machine after = before;
  set(after, row.change);
  check_machine(after);
  const Outcome was = outcomes.of(row.on, before), is = outcomes.of(row.on, after);
  EXPECT_TRUE(was.feasible) << row.on << ": " << was.reason;
  std::string cells = change_text(before, row.change) + " |";
  bool changes = was.feasible != is.feasible;
  for (const Column& column : columns) {
    const double a = value_of(was, column), b = value_of(is, column);
    changes |= a != b;
    cells += is.feasible ? " " + before_and_after(a, b) + " |" : " infeasible |";
  }
  EXPECT_TRUE(changes) << row.change << " on " << row.on << " changes nothing";
  return cells;
}

TEST(option_table, of_sd15_is_what_the_engine_says_of_each_option) {
  std::string text =
      "| option | on | from → to | step, Mcycles | frames a second | DRAM, GB a frame | J a frame | mm2 | witness "
      "|\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n";
  Outcomes outcomes;
  std::vector<std::string_view> witnesses;
  for (const OptionRow& row : option_rows()) {
    SCOPED_TRACE(std::string(row.change));
    text += "| " + std::string(row.option) + " | " + std::string(row.on) + " | ";
    text += cells_of(row, outcomes);
    const auto known = std::ranges::find(witnesses, row.witness);
    text += " " + std::to_string(known - witnesses.begin() + 1) + " |\n";
    if (known == witnesses.end()) witnesses.push_back(row.witness);
  }
  text += "\nWitnesses:\n\n";
  for (std::size_t i = 0; i < witnesses.size(); ++i)
    text += std::to_string(i + 1) + ". `" + std::string(witnesses[i]) + "`\n";
  expect_made_section("model/options.md", "option table", "tests/core/cost/price/option_table_test.cpp", text);
}

TEST(option_table, has_every_choice_and_every_option_of_the_parameter_table) {
  std::set<std::pair<std::string, std::string>> named;
  std::set<std::string> format_names;
  for (const OptionRow& row : option_rows())
    for (const std::string_view settings : {row.on.substr(std::min(row.on.find(' '), row.on.size())), row.change}) {
      std::istringstream words{std::string(settings)};
      for (std::string word; words >> word;)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
          named.emplace(word.substr(0, equals), word.substr(equals + 1));
    }
  const auto any_of_row = [&](std::string_view name) {
    const auto at = named.lower_bound({std::string(name), ""});
    return at != named.end() && at->first == name;
  };
  for (const ParameterRow& row : parameters()) {
    const bool format = row.name.ends_with("_format");
    if (row.type == ParameterType::choice && !format) {
      for (std::int64_t v = row.least; v <= row.most; ++v) {
        const std::string value(row.choices[static_cast<std::size_t>(v)]);
        EXPECT_TRUE(v == row.standard || named.contains({std::string(row.name), value}))
            << row.name << "=" << value;
      }
    } else if (format || row.type == ParameterType::flag || row.group == "options") {
      EXPECT_TRUE(any_of_row(row.name)) << row.name;
    }
  }
}

TEST(option_table, names_tests_that_are_there) {
  std::set<std::string> tests;
  const std::regex declared(R"(TEST\((\w+),\s*(\w+)\))");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(SDIP_SOURCE_DIR "/tests")) {
    if (!entry.path().string().ends_with("_test.cpp")) continue;
    std::ifstream file(entry.path());
    std::string line, whole;
    while (std::getline(file, line)) {
      if (!line.starts_with("TEST(")) continue;
      if (line.find(')') == std::string::npos) {  // a name too long for one line
        std::getline(file, whole);
        line += whole;
      }
      std::smatch match;
      if (std::regex_search(line, match, declared)) tests.insert(match[1].str() + "." + match[2].str());
    }
  }
  EXPECT_GT(tests.size(), 1000U);
  for (const OptionRow& row : option_rows())
    EXPECT_TRUE(tests.contains(std::string(row.witness))) << row.change << ": " << row.witness;
}

}  // namespace
}  // namespace sdip
