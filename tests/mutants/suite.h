// The tests of core/cost that are linked to the mutated sources: what each reaches, and whether they pass.
#pragma once

#include <string>
#include <vector>

namespace sdip::mutants {

struct TestRun {
  std::string name;           // suite.test
  double seconds = 0;         // of the processor
  std::vector<bool> reached;  // by mutant
};

/// Runs each test that `filter` names once, with no mutant chosen. Throws std::runtime_error when one fails.
std::vector<TestRun> run_suite(const std::string& filter, std::size_t mutants);

/// Runs the tests named with what is chosen; stops at the first that fails, and returns its place, else -1.
int first_failure(const std::vector<const TestRun*>& tests);

}  // namespace sdip::mutants
