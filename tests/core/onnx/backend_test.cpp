// ONNX's own backend tests run on our arithmetic: model and inputs in, outputs compared. What is not run is listed
// by name with its reason in backend_not_run.txt; a listed test that would pass fails.
#include "tests/core/onnx/backend_tests.h"

#include <iostream>

#include "tests/core/onnx/evaluated.h"

namespace sdip {
namespace {

TEST(onnx_backend_tests, every_test_in_scope_passes_and_the_others_are_listed) {
  if (!has_backend_tests()) GTEST_SKIP() << "no package libonnx-testdata";
  const BackendCounts counts = run_backend_tests(outputs_of, {"core/onnx/backend_not_run.txt"});
  std::cout << counts.passed << " of ONNX's backend tests pass, " << counts.listed << " are listed as not run\n";
}

}  // namespace
}  // namespace sdip
