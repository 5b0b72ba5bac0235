// Does a mutant that survives unknown fail the run, and a proof let it pass?
#include "tests/mutants/known.h"

#include <gmock/gmock.h>

#include <sstream>

namespace sdip::mutants {
namespace {

using testing::HasSubstr;

const Mutant survivor{7, "core/cost/a.cpp", "return a + b;", "a + b -> -", true};

TEST(known, a_survivor_that_is_listed_is_good_and_one_that_is_not_is_told) {
  std::istringstream list("# why\ncore/cost/a.cpp\treturn a + b;\ta + b -> -\tb is 0\n");
  const auto known = read_known(list);
  EXPECT_TRUE(judge(100, true, {survivor}, known).good);
  EXPECT_FALSE(judge(100, true, {survivor}, {}).good);
  EXPECT_THAT(judge(100, true, {survivor}, {}).text, HasSubstr("survives: core/cost/a.cpp: return a + b;"));
}

TEST(known, five_in_a_hundred_may_live_and_no_more) {
  const std::map<std::string, std::string> known{{key_of(survivor), "b is 0"}};
  EXPECT_TRUE(judge(100, true, std::vector<Mutant>(5, survivor), known).good);
  EXPECT_FALSE(judge(100, true, std::vector<Mutant>(6, survivor), known).good);
  EXPECT_TRUE(judge(100, false, std::vector<Mutant>(6, survivor), known).good) << "a sample";
  EXPECT_THAT(judge(100, true, {survivor}, known).text,
              HasSubstr("99 of 100 mutants caught, 99%; 1 proved equivalent, 0 not"));
}

TEST(known, lists_that_cannot_be_read_are_refused) {
  std::istringstream three("a\tb\tc\n"), none("what\n");
  EXPECT_THROW(static_cast<void>(read_known(three)), std::runtime_error);
  EXPECT_THROW(static_cast<void>(read_mutants(none)), std::runtime_error);
}

}  // namespace
}  // namespace sdip::mutants
