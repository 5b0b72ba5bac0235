// Are the dashboard's suites counted that run beside the C++ tests, and ended with a run that is cut short?
#include <gtest/gtest.h>

#include "tests/scripts/shell.h"

namespace sdip::scripts {
namespace {

/// The end of what `steps` print, where npm is a program that does `npm`.
std::string with_npm(const std::string& npm, const std::string& steps) {
  const Ran ran =
      run(". scripts/steps.sh; . scripts/totals.sh; . scripts/suites.sh; say() { :; }; logs=$(mktemp -d); "
          "printf \"#!/bin/sh\\n" +
          npm +
          "\\n\" > \"$logs/npm\"; chmod +x \"$logs/npm\"; "
          "PATH=\"$logs:$PATH\"; " +
          steps + "; rm -r \"$logs\"");
  EXPECT_EQ(ran.status, 0) << ran.output;
  const std::size_t last = ran.output.find_last_of('\n', ran.output.size() - 2);
  return last == std::string::npos ? ran.output : ran.output.substr(last + 1);
}

const std::string totals = "begin_web_suites; end_web_suites; echo $passed $failed $skipped";

TEST(beside, both_suites_are_counted) { EXPECT_EQ(with_npm("echo 3 passed, 0 failed", totals), "6 0 0\n"); }

TEST(beside, a_suite_that_ends_badly_has_a_failed_test) {
  EXPECT_EQ(with_npm("echo 3 passed, 0 failed; exit 1", totals), "6 2 0\n");
  EXPECT_EQ(with_npm("echo 3 passed, 1 failed; exit 1", totals), "6 2 0\n");
}

TEST(beside, what_was_not_begun_has_failed) {
  EXPECT_EQ(with_npm("exit 0", "end_web_suites; echo $passed $failed $skipped"), "0 2 0\n");
}

TEST(beside, a_run_that_is_cut_short_ends_them_with_all_that_they_began) {
  const std::string stopped =
      "begin_web_suites; sleep 0.3; stop_web_suites; for i in $(seq 100); do "
      "kill -0 -- \"-$web_suites_pid\" 2> /dev/null || { echo ended; break; }; sleep 0.1; done";
  EXPECT_EQ(with_npm("sleep 100", stopped), "ended\n");
}

}  // namespace
}  // namespace sdip::scripts
