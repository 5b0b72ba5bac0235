// Does a measure of searches go on from what it kept, and refuse what it did not write?
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/io/json_in.h"
#include "tests/server/running.h"

namespace sdip::test {
namespace {

Ended measured(const std::filesystem::path& kept) {
  return run_sdip({"bench", "--search", "whole", "--seeds", "1", "--evaluations", "64", "--runs", "0", "--keep",
                   kept.string(), "--json"});
}

TEST(bench, of_searches_goes_on_from_what_it_kept) {
  const TemporaryFolder folder;
  const std::filesystem::path kept = folder.path / "kept";
  const Ended first = measured(kept);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  const std::filesystem::directory_iterator files(kept);
  EXPECT_EQ(std::distance(begin(files), end(files)), 2) << "a search and a draw";
  const Ended again = measured(kept);
  EXPECT_EQ(again.out, first.out) << "its seconds, too: nothing was searched again";
  for (const auto& file : std::filesystem::directory_iterator(kept)) std::ofstream(file.path()) << "{}";
  const Ended refused = measured(kept);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, testing::HasSubstr("value_invalid"));
}

}  // namespace
}  // namespace sdip::test
