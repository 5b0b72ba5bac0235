// ONNX's own backend tests, as libonnx-testdata has them, run by whatever computes a model.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/tensor.h"

namespace sdip {

/// Outputs of a model (its bytes) for values of what it takes; throws Error.
using ModelRunner = std::function<std::vector<Tensor>(const std::string&, const std::vector<Tensor>&)>;

/// Whether the data are installed.
bool has_backend_tests();

/// Runs every test but those of the lists, "suite/name reason" a line of the files ('#' starts a comment), and
/// expects it to pass and a listed one not to; returns how many passed and how many are listed. With
/// SDIP_BACKEND_FAILURES set, what failed and why is written there.
struct BackendCounts {
  int passed = 0, listed = 0;
};
BackendCounts run_backend_tests(const ModelRunner& runner, const std::vector<std::string>& lists);

/// Reasons by name from a list in tests/, "name reason" a line. A name without a reason is a failure.
std::map<std::string, std::string> reasons_in(const std::string& path);

}  // namespace sdip
