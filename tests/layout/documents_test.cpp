// Whether the documents keep their rules, and what each rule finds.
#include "tests/layout/documents.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace sdip::layout {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string home = SDIP_SOURCE_DIR;

/// All pages of docs/, and those beside it.
const std::vector<Source>& documents() {
  static const std::vector<Source> read = [] {
    std::vector<Source> all;
    for (const char* page : {"README.md", "CHANGELOG.md"}) all.push_back({page, read_text(home + "/" + page)});
    for (const auto& entry : std::filesystem::recursive_directory_iterator(home + "/docs"))
      if (entry.path().extension() == ".md")
        all.push_back({entry.path().string().substr(home.size() + 1), read_text(entry.path().string())});
    return all;
  }();
  return read;
}

bool is_chapter(const Source& page) {
  return page.path.starts_with("docs/model/") && page.path != "docs/model/README.md";
}

void append(std::string& all, const Complaints& complaints) {
  for (const std::string& complaint : complaints) all += complaint + "\n";
}

TEST(documents, every_page_and_section_that_is_named_anywhere_exists) {
  const Pages pages = pages_of(documents());
  std::vector<Source> sources = sources_below(home, {"core", "db", "server", "web/src", "tests"});
  sources.insert(sources.end(), documents().begin(), documents().end());
  std::string all;
  for (const Source& source : sources)
    if (source.path != "tests/layout/documents_test.cpp") append(all, against_missing_sections(source, pages));
  EXPECT_EQ(all, "");
}

TEST(documents, the_model_is_a_book_of_chapters_with_a_question_a_figure_and_an_entry_in_the_contents) {
  const std::string contents = read_text(home + "/docs/model/README.md");
  std::string all;
  std::size_t chapters = 0;
  for (const Source& page : documents()) {
    if (page.path.starts_with("docs/model/")) append(all, against_wide_prose(page));
    if (!is_chapter(page)) continue;
    ++chapters;
    append(all, against_bare_chapters(page));
    append(all, against_unlisted_sections(page, contents));
  }
  EXPECT_EQ(all, "");
  EXPECT_GE(chapters, 10U);
}

TEST(documents, prose_is_narrow_and_examples_outside_the_model_may_be_wide) {
  std::string all;
  for (const Source& page : documents())
    if (!page.path.starts_with("docs/model/")) append(all, against_wide_prose(page, false));
  EXPECT_EQ(all, "");
}

TEST(documents, a_decision_takes_at_most_fifteen_short_lines) {
  const Source decisions{"docs/decisions.md", read_text(home + "/docs/decisions.md")};
  std::string all;
  append(all, against_long_sections(decisions, 15));
  append(all, against_wide_prose(decisions));
  EXPECT_EQ(all, "");
}

TEST(documents, a_section_of_too_many_lines_is_found) {
  EXPECT_THAT(against_long_sections({"a.md", "# A\n\n1\n\n## B\n1\n\n2\n## C\n1\n2\n3\n"}, 2),
              ElementsAre("a.md: 3 lines in C"));
}

TEST(documents, a_heading_becomes_an_anchor_as_on_github) {
  EXPECT_EQ(anchor_of("Crossbar, and a PSRAM that is `written`"), "crossbar-and-a-psram-that-is-written");
  EXPECT_EQ(anchor_of("Row-wise work: P x L"), "row-wise-work-p-x-l");
}

TEST(documents, a_page_or_section_that_is_not_there_is_found) {
  const Pages pages = pages_of({{"docs/a.md", "# A\n\n## The first one\n"}, {"docs/b/c.md", "# C\n"}});
  const auto said = [&](const std::string& text) { return against_missing_sections({"core/x.h", text}, pages); };
  EXPECT_THAT(said("docs/a.md, docs/a.md#the-first-one; docs/b/c.md."), IsEmpty());
  EXPECT_THAT(said("their docs/Operators.md, shared/docs/gone.md, docs/"), IsEmpty());
  EXPECT_THAT(said("\ndocs/gone.md"), ElementsAre("core/x.h:2: there is no page docs/gone.md"));
  EXPECT_THAT(said("docs/a.md#the-second-one."),
              ElementsAre("core/x.h:1: docs/a.md has no section #the-second-one"));
  const auto linked = [&](const std::string& text) {
    return against_missing_sections({"docs/b/c.md", text}, pages);
  };
  EXPECT_THAT(linked("[a](../a.md#the-first-one) [c](#c) [out](https://x.org/y.md) [file](z.txt)"), IsEmpty());
  EXPECT_THAT(linked("[a](a.md)"), ElementsAre("docs/b/c.md:1: there is no page docs/b/a.md"));
  EXPECT_THAT(linked("[c](#d)"), ElementsAre("docs/b/c.md:1: docs/b/c.md has no section #d"));
}

TEST(documents, wide_prose_is_found_and_a_wide_table_is_not) {
  const std::string wide(130, 'x');
  EXPECT_THAT(against_wide_prose({"a.md", "| " + wide + "\n"}), IsEmpty());
  EXPECT_THAT(against_wide_prose({"a.md", "    " + wide + "\n"}), ElementsAre("a.md:1: prose of 134 columns"));
  EXPECT_THAT(against_wide_prose({"a.md", "    " + wide + "\n"}, false), IsEmpty());
  EXPECT_THAT(against_wide_prose({"a.md", "<!-- t: made from x -->\n" + wide + "\n<!-- end -->\n"}), IsEmpty());
  EXPECT_THAT(against_wide_prose({"a.md", "<!-- t: made from x -->\n<!-- end -->\n" + wide + "\n"}),
              ElementsAre("a.md:3: prose of 130 columns"));
}

TEST(documents, a_chapter_without_question_figure_or_entry_is_found) {
  const std::string whole = "# Time\n\n*When?*\n\n    ->\n\n## The end\n";
  EXPECT_THAT(against_bare_chapters({"time.md", whole}), IsEmpty());
  EXPECT_EQ(against_bare_chapters({"time.md", "# Time\n\nText.\n\n*When?*\n\n## The end\n\n    ->\n"}).size(), 2U);
  EXPECT_THAT(against_unlisted_sections({"m/time.md", whole}, "[t](time.md) [e](time.md#the-end)"), IsEmpty());
  EXPECT_EQ(against_unlisted_sections({"m/time.md", whole}, "").size(), 2U);
}

}  // namespace
}  // namespace sdip::layout
