// Text for people: quantities and tables.
#include "server/io/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <sstream>

namespace sdip {
namespace {

TEST(middle_cut, keeps_both_ends_of_a_long_name) {
  EXPECT_EQ(middle_cut("/down_blocks.0/conv1/Conv", 15), "/down_b..1/Conv");
  EXPECT_EQ(middle_cut("/conv", 5), "/conv");
  EXPECT_EQ(middle_cut("\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9", 5), "\u00e9\u00e9..\u00e9");
}

TEST(text, quantities_have_three_digits_and_a_prefix) {
  EXPECT_EQ(quantity_text(8388608, "B"), "8.00 MiB");
  EXPECT_EQ(quantity_text(0.0012, "s"), "1.20 ms");
  EXPECT_EQ(quantity_text(412345, "cycles"), "412 k cycles");
  EXPECT_EQ(quantity_text(1048575, "B"), "1.00 MiB");
  EXPECT_EQ(quantity_text(1023, "B"), "1023 B");
  EXPECT_EQ(quantity_text(999999, "s"), "1.00 Ms");
  EXPECT_EQ(quantity_text(7, "B"), "7 B");
  EXPECT_EQ(quantity_text(0, "s"), "0 s");
  EXPECT_EQ(quantity_text(1195.4, "mm2"), "1195 mm2");
  EXPECT_EQ(quantity_text(0.0025815, "frame/s/mm2"), "0.00258 frame/s/mm2");
  EXPECT_EQ(quantity_text(0.0999, ""), "0.0999");
  EXPECT_EQ(quantity_text(0.09999, ""), "0.100");
  EXPECT_EQ(quantity_text(-0.0123456, ""), "-0.0123");
  EXPECT_EQ(quantity_text(1.234e-9, "frame/J"), "1.23e-09 frame/J");
  EXPECT_EQ(quantity_text(std::numeric_limits<double>::quiet_NaN(), "B"), "-");
}

TEST(text, counts_are_grouped_and_shares_are_percents) {
  EXPECT_EQ(count_text(1234567), "1,234,567");
  EXPECT_EQ(count_text(-1000), "-1,000");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(share_text(0.1234), "12.3 %");
}

TEST(text, columns_are_aligned_by_code_points) {
  std::ostringstream out;
  print_table(out, {{"name"}, {"n", Align::right}}, {{"\xc3\xa9", "1"}, {"long", "1000"}}, false);
  EXPECT_EQ(out.str(), "  name     n\n  \xc3\xa9        1\n  long  1000\n");
}

TEST(text, control_characters_do_not_reach_a_terminal) { EXPECT_EQ(printable("a\x1b[2Jb\n"), "a\\x1b[2Jb\\x0a"); }

}  // namespace
}  // namespace sdip
