// Whether ./test counts what its suites print, and takes nothing that did not run for a success.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "tests/scripts/shell.h"

namespace sdip::scripts {
namespace {

/// What a function of scripts/totals.sh prints for a file that holds `text`.
std::string counted(const std::string& function, const std::string& text) {
  const std::string path =
      testing::TempDir() + "/totals-" + testing::UnitTest::GetInstance()->current_test_info()->name() + ".log";
  std::ofstream(path) << text;
  const Ran ran = run(". scripts/totals.sh; " + function + " \"" + path + "\"");
  std::remove(path.c_str());
  EXPECT_EQ(ran.status, 0);
  return ran.output;
}

/// The totals after one suite.
std::string added(const std::string& status, const std::string& counts) {
  return run("say() { :; }; . scripts/totals.sh; add_suite a " + status + " \"" + counts +
             "\"; echo $passed $failed $skipped")
      .output;
}

TEST(totals, of_vitest_are_read_from_its_summary) {
  EXPECT_EQ(counted("log_counts",
                    " Test Files  1 failed | 2 passed (3)\n      Tests  1 failed | 5 passed | 2 skipped (8)\n"),
            "5 1 2\n");
  EXPECT_EQ(counted("log_counts", "\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m12 passed\x1b[39m\x1b[22m (12)\n"),
            "12 0 0\n");
}

TEST(totals, of_a_line_in_the_form_of_our_own_are_its_numbers) {
  EXPECT_EQ(counted("log_counts", "1 passed, 0 failed, 0 skipped\n31 passed, 2 failed, 4 skipped\n"), "31 2 4\n");
  EXPECT_EQ(counted("log_counts", "18 passed, 0 failed\n"), "18 0 0\n");
}

TEST(totals, of_node_test_are_read_from_its_summary) {
  EXPECT_EQ(counted("log_counts", "# tests 6\n# pass 3\n# fail 1\n# cancelled 0\n# skipped 2\n# todo 0\n"),
            "3 1 2\n");
}

TEST(totals, of_a_log_without_any_are_none) { EXPECT_EQ(counted("log_counts", "Error: 1 failed to load\n"), ""); }

TEST(totals, of_ctest_are_read_from_junit) {
  EXPECT_EQ(counted("junit_counts",
                    "<?xml version=\"1.0\"?>\n<testsuite name=\"a\"\n\ttests=\"9\"\n\tfailures=\"1\"\n"
                    "\tdisabled=\"1\"\n\tskipped=\"2\"\n\ttime=\"1\">\n<testcase name=\"tests=\"/>\n"),
            "5 1 3\n");
}

TEST(totals, add_what_a_suite_counted) { EXPECT_EQ(added("0", "5 0 2"), "5 0 2\n"); }

TEST(totals, keep_the_failures_a_suite_counted) { EXPECT_EQ(added("8", "5 3 0"), "5 3 0\n"); }

TEST(totals, count_a_suite_that_fails_without_a_failed_test) { EXPECT_EQ(added("1", "5 0 0"), "5 1 0\n"); }

TEST(totals, count_a_suite_that_printed_no_totals_as_failed) { EXPECT_EQ(added("0", ""), "0 1 0\n"); }

}  // namespace
}  // namespace sdip::scripts
