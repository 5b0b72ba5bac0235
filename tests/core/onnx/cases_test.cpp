// The cases of tests/cases run on our arithmetic, and every version of an operator beyond opset 17 has one.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "tests/core/onnx/case_model.h"
#include "tests/core/onnx/evaluated.h"

#include "core/ops/operator.h"

namespace sdip {
namespace {

using nlohmann::json;

const std::string folder = SDIP_SOURCE_DIR "/tests/cases/";

json json_of(const std::string& name) {
  std::ifstream file(folder + name);
  return json::parse(file);
}

/// All cases, by name.
const std::map<std::string, json>& all_cases() {
  static const std::map<std::string, json> cases = [] {
    std::map<std::string, json> read;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".json") || name == "versions.json") continue;
      for (json& one : json_of(name)) {
        const std::string key = one.at("name").get<std::string>();
        EXPECT_TRUE(read.emplace(key, std::move(one)).second) << key << " stands twice";
      }
    }
    return read;
  }();
  return cases;
}

/// Lines "name reason"; '#' starts a comment.
std::map<std::string, std::string> cases_not_run() {
  std::map<std::string, std::string> reasons;
  std::ifstream file(folder + "not_run.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    EXPECT_NE(space, std::string::npos) << "no reason for " << line;
    reasons[line.substr(0, space)] = line.substr(space + 1);
  }
  return reasons;
}

/// The runtime computes in the type itself, we in double; narrower types than 16 bits are equal bit by bit.
Nearness nearness_of(ElementType type) {
  switch (type) {
    case ElementType::float64:
      return {1e-6, 1e-7};
    case ElementType::float32:
      return {1e-4, 1e-5};
    case ElementType::float16:
      return {1e-2, 1e-3};
    case ElementType::bfloat16:
      return {2e-2, 2e-3};
    default:
      return {};
  }
}

std::vector<Tensor> case_inputs(const json& one) {
  std::vector<Tensor> inputs;
  for (const json& input : one.at("inputs")) {
    if (!input.is_null()) inputs.push_back(case_tensor(input));
  }
  return inputs;
}

/// With the inputs fed, or, where something depends on their values before they are fed, written into the model.
std::vector<Tensor> case_outputs(const json& one) {
  try {
    return outputs_of(case_model(one, false).SerializeAsString(), case_inputs(one));
  } catch (const Error&) {
    return outputs_of(case_model(one, true).SerializeAsString(), {});
  }
}

/// Empty when the case passes.
std::string outcome_of(const json& one) {
  std::vector<Tensor> found;
  try {
    found = case_outputs(one);
  } catch (const Error& error) {
    return error.what();
  }
  std::size_t at = 0;
  for (const json& expected : one.at("expected")) {
    if (expected.is_null()) continue;
    if (at == found.size()) return "fewer outputs";
    const Tensor wanted = case_tensor(expected);
    const std::string what = difference(found[at], wanted, nearness_of(wanted.type));
    if (!what.empty()) return "output " + std::to_string(at) + ": " + what;
    ++at;
  }
  return "";
}

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
  auto reasons = cases_not_run();
  std::ofstream failures;
  if (const char* path = std::getenv("SDIP_CASE_FAILURES")) failures.open(path);
  int passed = 0, not_run = 0, of_formulas = 0;
  for (const auto& [name, one] : all_cases()) {
    const std::string what = outcome_of(one);
    if (failures.is_open() && !what.empty()) failures << name << ' ' << what << '\n';
    if (reasons.contains(name)) {
      EXPECT_NE(what, "") << name << " passes, but is listed as not run";
      not_run += 1;
      reasons.erase(name);
    } else {
      EXPECT_EQ(what, "") << name;
      passed += what.empty();
      of_formulas += what.empty() && one.at("from").get<std::string>().starts_with("formula");
    }
  }
  for (const auto& [name, reason] : reasons) ADD_FAILURE() << name << " is listed, but is no case";
  std::cout << passed << " of " << all_cases().size() << " cases pass (" << of_formulas << " from formulas), "
            << not_run << " are listed as not run\n";
}

TEST(cases, every_version_of_a_row_beyond_opset_17_and_every_foreign_row_has_a_case) {
  const auto have = covered();
  const json versions = json_of("versions.json");
  std::vector<std::string> silent;
  for (const Operator& op : operators()) {
    const std::string type(op.type), domain(op.domain);
    if (domain == "sdip" || versions.at("out_of_scope").contains(type)) continue;
    if (!domain.empty()) {
      EXPECT_TRUE(have.contains({domain, type, 1})) << domain << " " << type << " has no case";
      continue;
    }
    if (!versions.at("versions").contains(type)) {  // onnxruntime's own, written in the domain of ONNX
      EXPECT_TRUE(have.contains({"", type, replacement_opset})) << type << " has no case";
      continue;
    }
    if (op.since.empty()) silent.push_back(type);
    for (const std::int64_t version : versions_of(op.since)) {
      if (version <= replacement_opset) continue;
      EXPECT_TRUE(have.contains({"", type, version})) << type << " " << version << " has no case";
    }
  }
  EXPECT_EQ(listed(silent), "");
}

TEST(cases, every_version_in_versions_json_beyond_opset_17_has_a_case) {
  const auto have = covered();
  const json versions = json_of("versions.json");
  for (const auto& [type, list] : versions.at("beyond_17").items()) {
    for (const json& version : list) {
      EXPECT_TRUE(have.contains({"", type, version.get<std::int64_t>()}))
          << type << " " << version << " has no case";
    }
  }
}

TEST(cases, the_readme_names_every_case_from_a_formula) {
  const std::string readme = file_bytes(folder + "README.md");
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
