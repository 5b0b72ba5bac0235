// Does the documentation show what the host's report says?
#include "server/cli/text/host_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tests/core/base/made_section.h"

namespace sdip {
namespace {

TEST(host_report, the_documentation_shows_it) {
  std::ostringstream text;
  print_host_markdown(text,
                      host_report(built_in_workloads(), "pynq-attention", find_preset("pynq-attention")->machine));
  expect_made_section("model/published.md", "host", "`sdip host pynq-attention --format markdown`", text.str());
}

}  // namespace
}  // namespace sdip
