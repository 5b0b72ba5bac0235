// The tests of core/cost that are linked to the mutated sources.
#include "tests/mutants/suite.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <stdexcept>

#include "tests/mutants/choice.h"

namespace sdip::mutants {
namespace {

/// Notes what each test reaches, and the first that fails.
class Listener : public testing::EmptyTestEventListener {
 public:
  explicit Listener(std::size_t mutants) : mutants_(mutants) {}
  std::vector<TestRun> runs;
  std::string failed;

  void OnTestStart(const testing::TestInfo&) override {
    std::fill(std::begin(mutant::reached), std::end(mutant::reached), static_cast<unsigned char>(0));
    start_ = std::clock();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string(test.test_suite_name()) + "." + test.name();
    if (test.result()->Failed() && failed.empty()) failed = name;
    const double seconds = static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;
    if (mutants_ > 0)
      runs.push_back({name, seconds, std::vector<bool>(mutant::reached, mutant::reached + mutants_)});
  }

 private:
  std::size_t mutants_ = 0;
  std::clock_t start_ = 0;
};

/// Returns the first test that fails.
std::string run(const std::string& filter, Listener& listener) {
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  testing::GTEST_FLAG(filter) = filter;
  testing::GTEST_FLAG(fail_fast) = true;
  listeners.Append(&listener);
  static_cast<void>(RUN_ALL_TESTS());
  listeners.Release(&listener);
  return listener.failed;
}

}  // namespace

std::vector<TestRun> run_suite(const std::string& filter, std::size_t mutants) {
  Listener listener(mutants);
  const std::string failed = run(filter, listener);
  if (!failed.empty()) throw std::runtime_error(failed + " fails without a mutant");
  return std::move(listener.runs);
}

int first_failure(const std::vector<const TestRun*>& tests) {
  for (std::size_t i = 0; i < tests.size(); ++i) {
    Listener listener(0);
    if (!run(tests[i]->name, listener).empty()) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace sdip::mutants
