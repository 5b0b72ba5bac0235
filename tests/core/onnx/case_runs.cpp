// The cases of tests/cases, run by whatever computes a model.
#include "tests/core/onnx/case_runs.h"

#include <filesystem>
#include <fstream>

#include "tests/core/onnx/case_model.h"
#include "tests/core/onnx/evaluated.h"

namespace sdip {
namespace {

using nlohmann::json;

const std::string folder = SDIP_SOURCE_DIR "/tests/cases/";

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
std::vector<Tensor> case_outputs(const ModelRunner& runner, const json& one) {
  try {
    return runner(case_model(one, false).SerializeAsString(), case_inputs(one));
  } catch (const Error&) {
    return runner(case_model(one, true).SerializeAsString(), {});
  }
}

/// Empty when the case passes.
std::string outcome_of(const ModelRunner& runner, const json& one) {
  std::vector<Tensor> found;
  try {
    found = case_outputs(runner, one);
  } catch (const std::exception& error) {
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

}  // namespace

const std::map<std::string, json>& all_cases() {
  static const std::map<std::string, json> cases = [] {
    std::map<std::string, json> read;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".json") || name == "versions.json") continue;
      for (json& one : json::parse(std::ifstream(folder + name))) {
        const std::string key = one.at("name").get<std::string>();
        EXPECT_TRUE(read.emplace(key, std::move(one)).second) << key << " stands twice";
      }
    }
    return read;
  }();
  return cases;
}

CaseCounts run_cases(const ModelRunner& runner, const std::vector<std::string>& lists) {
  std::map<std::string, std::string> reasons;
  for (const std::string& list : lists) reasons.merge(reasons_in(list));
  CaseCounts counts;
  std::ofstream failures;
  if (const char* path = std::getenv("SDIP_CASE_FAILURES")) failures.open(path);
  for (const auto& [name, one] : all_cases()) {
    const std::string what = outcome_of(runner, one);
    if (failures.is_open() && !what.empty()) failures << name << ' ' << what << '\n';
    if (reasons.contains(name)) {
      EXPECT_NE(what, "") << name << " passes, but is listed as not run";
      counts.listed += 1;
      reasons.erase(name);
    } else {
      EXPECT_EQ(what, "") << name;
      counts.passed += what.empty();
      counts.of_formulas += what.empty() && one.at("from").get<std::string>().starts_with("formula");
    }
  }
  for (const auto& [name, reason] : reasons) ADD_FAILURE() << name << " is listed, but is no case";
  return counts;
}

}  // namespace sdip
