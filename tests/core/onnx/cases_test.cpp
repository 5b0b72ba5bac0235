// The cases of tests/cases run on our arithmetic, and every version of an operator beyond opset 17 has one.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/core/onnx/case_runs.h"
#include "tests/core/onnx/evaluated.h"

#include "core/ops/operator.h"

namespace sdip {
namespace {

using nlohmann::json;

const std::string cases_folder = SDIP_SOURCE_DIR "/tests/cases/";

json json_of(const std::string& name) {
  std::ifstream file(cases_folder + name);
  return json::parse(file);
}

constexpr const char* missing = " has no case: tests/cases/README.md says how one is written";

/// The opsets of a row, "7 13 22", as numbers.
std::vector<std::int64_t> versions_of(std::string_view since) {
  std::istringstream words{std::string(since)};
  std::vector<std::int64_t> versions;
  for (std::int64_t version = 0; words >> version;) versions.push_back(version);
  return versions;
}

/// Domain, type and version of every case.
std::set<std::tuple<std::string, std::string, std::int64_t>> covered() {
  std::set<std::tuple<std::string, std::string, std::int64_t>> found;
  for (const auto& [name, one] : all_cases()) {
    found.emplace(one.value("domain", ""), one.at("op").get<std::string>(), one.at("opset").get<std::int64_t>());
  }
  return found;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : " ") + name;
  return all;
}

TEST(cases, every_case_is_computed_as_onnxruntime_or_its_formula_does) {
  const CaseCounts counts = run_cases(outputs_of, {"cases/not_run.txt"});
  std::cout << counts.passed << " of " << all_cases().size() << " cases pass (" << counts.of_formulas
            << " from formulas), " << counts.listed << " are listed as not run\n";
}

TEST(cases, every_version_of_a_row_beyond_opset_17_and_every_foreign_row_has_a_case) {
  const auto have = covered();
  const json versions = json_of("versions.json");
  std::vector<std::string> silent;
  for (const Operator& op : operators()) {
    const std::string type(op.type), domain(op.domain);
    if (domain == "sdip" || versions.at("out_of_scope").contains(type)) continue;
    if (!domain.empty()) {
      EXPECT_TRUE(have.contains({domain, type, 1})) << domain << " " << type << missing;
      continue;
    }
    if (!versions.at("versions").contains(type)) {  // onnxruntime's own, written in the domain of ONNX
      const auto any = have.lower_bound({"", type, 0});
      EXPECT_TRUE(any != have.end() && std::get<1>(*any) == type) << type << missing;
      continue;
    }
    if (op.since.empty()) silent.push_back(type);
    for (const std::int64_t version : versions_of(op.since)) {
      if (version <= replacement_opset) continue;
      EXPECT_TRUE(have.contains({"", type, version})) << type << " " << version << missing;
    }
  }
  EXPECT_EQ(listed(silent), "");
}

TEST(cases, every_version_in_versions_json_beyond_opset_17_has_a_case) {
  const auto have = covered();
  const json versions = json_of("versions.json");
  for (const auto& [type, list] : versions.at("beyond_17").items()) {
    for (const json& version : list) {
      EXPECT_TRUE(have.contains({"", type, version.get<std::int64_t>()})) << type << " " << version << missing;
    }
  }
}

TEST(cases, the_readme_names_every_case_from_a_formula) {
  const std::string readme = file_bytes(cases_folder + "README.md");
  for (const auto& [name, one] : all_cases()) {
    const auto from = one.at("from").get<std::string>();
    if (from.starts_with("formula")) {
      EXPECT_NE(readme.find(name), std::string::npos) << name;
    } else {
      EXPECT_TRUE(from.starts_with("onnxruntime-node")) << name << " is from " << from;
    }
  }
}

TEST(cases, rows_say_the_versions_that_versions_json_lists) {
  const json versions = json_of("versions.json");
  const auto beyond_7 = [](const std::vector<std::int64_t>& list) {
    std::vector<std::int64_t> later;
    std::ranges::copy_if(list, std::back_inserter(later), [](std::int64_t version) { return version > 7; });
    return later;
  };
  for (const Operator& op : operators()) {
    const std::string type(op.type);
    if (!op.domain.empty() || op.since.empty() || !versions.at("versions").contains(type)) continue;
    auto wanted = versions.at("versions").at(type).get<std::vector<std::int64_t>>();
    if (versions.at("deprecated").contains(type)) wanted.push_back(versions.at("deprecated").at(type));
    EXPECT_EQ(beyond_7(versions_of(op.since)), beyond_7(wanted)) << type;
  }
}

}  // namespace
}  // namespace sdip
