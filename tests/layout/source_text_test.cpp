// Whether the layout test reads sources right: what is code and what is not, includes, names and their words.
#include "tests/layout/source_text.h"

#include <gmock/gmock.h>

namespace sdip::layout {
namespace {

using testing::ElementsAre;

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const Identifier& identifier : identifiers_of(text)) names.push_back(identifier.name);
  return names;
}

TEST(source_text, comments_and_literals_are_no_code) {
  EXPECT_THAT(names_in("int a; // b\n/* c\n d */ char e = 'f'; auto g = \"h\\\" i\";"),
              ElementsAre("int", "a", "char", "e", "auto", "g"));
  EXPECT_THAT(names_in("auto a = R\"x(b \" c)x\"; d"), ElementsAre("auto", "a", "d"));
}

TEST(source_text, a_digit_separator_opens_no_character) {
  EXPECT_THAT(names_in("a = 1'000'000 + b;"), ElementsAre("a", "b"));
}

TEST(source_text, blanking_keeps_the_lines) {
  EXPECT_EQ(code_of("a /* b\nc */ d"), "a     \n     d");
  EXPECT_EQ(identifiers_of("/*\n\n*/ a")[0].line, 3);
}

TEST(source_text, a_name_knows_what_stands_around_it) {
  const auto names = identifiers_of("a->b (c.d)");
  EXPECT_EQ(names[1].before, "->");
  EXPECT_EQ(names[1].after, '(');
  EXPECT_EQ(names[3].before, "c.");
}

TEST(source_text, includes_are_found_in_both_forms) {
  const auto includes = includes_of("// #include \"no.h\"\n#include <map>\n#include \"core/base/units.h\"\n");
  ASSERT_EQ(includes.size(), 2U);
  EXPECT_EQ(includes[0].path, "map");
  EXPECT_FALSE(includes[0].quoted);
  EXPECT_EQ(includes[1].path, "core/base/units.h");
  EXPECT_TRUE(includes[1].quoted);
}

TEST(source_text, names_split_into_words_in_either_spelling) {
  EXPECT_THAT(words_of("MacUnit"), ElementsAre("mac", "unit"));
  EXPECT_THAT(words_of("mac_unit_"), ElementsAre("mac", "unit"));
  EXPECT_THAT(words_of("utilization"), ElementsAre("utilization"));
}

TEST(source_text, lines_need_no_final_newline) {
  EXPECT_THAT(lines_of("a\n\nb"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_of("a\n"), ElementsAre("a"));
}

}  // namespace
}  // namespace sdip::layout
