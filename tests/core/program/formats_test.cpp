// Layers in formats of their own: what rules say, where conversions stand, and what becomes of classes and bytes.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/program/format_text.h"
#include "core/program/parse.h"
#include "core/program/print.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

TEST(formats, rules_come_back_as_they_were_said) {
  const auto rules = parse_formats("# two\n\"*conv_in\" activations=fp16\nfamily=linear weights=int4 activations=int8",
                                   "formats.txt");
  ASSERT_EQ(rules.size(), 2U);
  EXPECT_EQ(format_rule_text(rules[0]), "\"*conv_in\" activations=fp16");
  EXPECT_EQ(format_rule_text(rules[1]), "family=linear weights=int4 activations=int8");
  EXPECT_EQ(rules[1].family, Family::linear);
}

TEST(formats, what_is_no_rule_is_refused_with_line_and_field) {
  for (const char* text : {"\"a\"", "\"a\" weights=int5", "family=loop weights=int8", "conv weights=int8",
                           "\"a\" weights=int8 weights=int4", "\"a\" sums=fp32", "\"a weights=int8", "\"a\" weights"}) {
    SCOPED_TRACE(text);
    try {
      parse_formats(std::string("\n") + text, "f");
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code, "formats_invalid");
      EXPECT_EQ(error.where, "f:2");
      EXPECT_THAT(error.what(), testing::HasSubstr("field"));
    }
  }
}

}  // namespace
}  // namespace sdip
