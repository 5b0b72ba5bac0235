// The cases of tests/cases, run by whatever computes a model.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/core/onnx/backend_tests.h"

namespace sdip {

/// All cases, by name.
const std::map<std::string, nlohmann::json>& all_cases();

/// Runs every case but those of the lists ("name reason" a line), and expects it to pass and a listed one not to.
struct CaseCounts {
  int passed = 0, listed = 0, of_formulas = 0;
};
CaseCounts run_cases(const ModelRunner& runner, const std::vector<std::string>& lists);

}  // namespace sdip
