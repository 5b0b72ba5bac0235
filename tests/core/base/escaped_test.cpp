// Text that others chose, in each kind of output.
#include "core/base/escaped.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sdip {
namespace {

TEST(escaped, a_terminal_sees_what_it_would_obey) {
  EXPECT_EQ(printable("a\x1b[2Jb\n\t\x7f"), "a\\x1b[2Jb\\x0a\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m")
      << "C1: another way to write an escape sequence";
  EXPECT_EQ(printable("user\xe2\x80\xae"
                      "txt.exe"),
            "user\\u202etxt.exe")
      << "right-to-left override";
  EXPECT_EQ(printable("\xe2\x81\xa6x\xe2\x80\x8b\xef\xbb\xbf\xf3\xa0\x81\x81"),
            "\\u2066x\\u200b\\ufeff\\U000e0041");
  EXPECT_EQ(printable("\xff\xc0\xaf\xe2\x80"), "\\xff\\xc0\\xaf\\xe2\\x80") << "no UTF-8";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
}

TEST(escaped, other_text_stays_as_it_is) {
  const std::string text = "conv_in/Conv \xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(visible_json(text), text);
  EXPECT_EQ(printable(printable("\x1b")), printable("\x1b")) << "once is as good as twice";
}

TEST(escaped, a_spreadsheet_runs_no_cell) {
  EXPECT_EQ(csv_cell("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
  EXPECT_EQ(csv_cell("+1+1"), "'+1+1");
  EXPECT_EQ(csv_cell("-cmd|' /C calc'!A0"), "'-cmd|' /C calc'!A0");
  EXPECT_EQ(csv_cell("@SUM(1)"), "'@SUM(1)");
  EXPECT_EQ(csv_cell("\t=1"), "'\t=1");
  EXPECT_EQ(csv_cell("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_cell("a,\"b\"\n"), "\"a,\"\"b\"\"\n\"");
}

TEST(escaped, numbers_in_a_csv_file_stay_numbers) {
  for (const char* number : {"-1", "+2.5", "-.5e-3", "-1e9", "12"}) EXPECT_EQ(csv_cell(number), number);
  for (const char* formula : {"-", "+", "-1-1", "-e5", "-1e", "+1.2.3"}) EXPECT_EQ(csv_cell(formula)[0], '\'');
}

TEST(escaped, html_has_neither_tags_nor_attributes_from_text) {
  EXPECT_EQ(html_text("<script>alert('x')</script>&\"`"),
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;&#96;");
  EXPECT_EQ(html_text("\xe2\x80\xae"), "\\u202e");
}

TEST(escaped, latex_runs_no_command) {
  EXPECT_EQ(latex_text("\\input{/etc/passwd}"), "\\textbackslash{}input\\{/etc/passwd\\}");
  EXPECT_EQ(latex_text("a_b & 50% #1 $x^2$ ~"),
            "a\\_b \\& 50\\% \\#1 \\$x\\textasciicircum{}2\\$ \\textasciitilde{}");
}

TEST(escaped, markdown_has_no_markup_and_stays_in_its_cell) {
  EXPECT_EQ(markdown_text("[x](javascript:1) | <b>"), "\\[x\\]\\(javascript\\:1\\) \\| &lt;b&gt;");
  EXPECT_EQ(markdown_text("a\n# b"), "a\\\\x0a\\# b");
}

TEST(escaped, json_reads_back_the_same_and_shows_what_it_holds) {
  const std::string hostile = "\x1b[31m \xe2\x80\xae \xc2\x9b \xf3\xa0\x81\x81 \x7f \xe6\x97\xa5";
  const std::string made = visible_json(nlohmann::json(hostile).dump());
  EXPECT_EQ(nlohmann::json::parse(made).get<std::string>(), hostile);
  EXPECT_EQ(printable(made), made) << "nothing is left that a terminal obeys";
}

}  // namespace
}  // namespace sdip
