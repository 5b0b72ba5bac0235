// Is work done once each, and what it throws thrown on?
#include "core/base/on_threads.h"

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>

namespace sdip {
namespace {

TEST(on_threads, does_each_once_on_any_number_of_threads) {
  for (const int threads : {1, 2, 7, 200}) {
    std::array<std::atomic<int>, 100> done{};
    on_threads(threads, 100, [&](std::int64_t i) { ++done.at(static_cast<std::size_t>(i)); });
    for (const auto& one : done) EXPECT_EQ(one, 1);
  }
  on_threads(3, 0, [](std::int64_t) { ADD_FAILURE(); });
}

TEST(on_threads, throws_on_what_work_throws_and_begins_no_more) {
  for (const int threads : {1, 4}) {
    std::atomic<int> begun = 0;
    const auto work = [&](std::int64_t) {
      ++begun;
      throw std::runtime_error("no");
    };
    EXPECT_THROW(on_threads(threads, 1000, work), std::runtime_error);
    EXPECT_LE(begun, threads);
  }
}

}  // namespace
}  // namespace sdip
