// A team runs every task once, again and again, and passes on what one throws.
#include "core/exec/kernels/kernels_team.h"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <thread>

namespace sdip::exec {
namespace {

TEST(kernels_team, every_task_runs_once_whatever_the_threads) {
  for (const std::int64_t threads : {1, 2, 3}) {
    Team team(threads);
    EXPECT_EQ(team.threads(), threads);
    for (std::int64_t count = 0; count < 200; ++count) {
      std::vector<int> runs(static_cast<std::size_t>(count));
      team.run(count, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
      ASSERT_EQ(runs, std::vector<int>(static_cast<std::size_t>(count), 1));
    }
  }
}

TEST(kernels_team, what_a_task_throws_arrives_and_the_team_goes_on) {
  Team team(2);
  for (int i = 0; i < 50; ++i) {
    EXPECT_THROW(team.run(9, [](std::int64_t task) { task == 4 ? throw std::out_of_range("4") : void(); }),
                 std::out_of_range);
    std::atomic<int> runs = 0;
    team.run(9, [&](std::int64_t) { ++runs; });
    EXPECT_EQ(runs, 9);
  }
}

TEST(kernels_team, whose_caller_is_told_to_end_does_and_goes_on_when_nobody_tells) {
  std::atomic<bool> ends = true, asked = false;
  Team team(2, [&] {
    asked = true;
    return ends.load();
  });
  const auto waits = [&](std::int64_t) {
    while (!asked) std::this_thread::yield();  // or the other thread could do all before the caller asks
  };
  try {
    team.run(99, waits);
    ADD_FAILURE() << "went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, "cancelled");
  }
  ends = false;
  std::atomic<int> runs = 0;
  team.run(9, [&](std::int64_t) { ++runs; });
  EXPECT_EQ(runs, 9);
}

TEST(kernels_team, a_product_shared_by_a_team_has_the_bits_of_one_thread) {
  constexpr std::int64_t rows = 200, columns = 150, depth = 300;
  std::vector<float> left(rows * depth), right(depth * columns), alone(rows * columns), shared = alone;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(i * 7919 % 1009) * 0.37F - 180;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i * 104729 % 997) * 0.11F - 50;
  const Matrix<float> l{left.data(), depth, 1}, r{right.data(), columns, 1};
  const ProductShape shape{rows, columns, depth, depth, 1};
  multiply(shape, NumberFormat::fp32, l, r, Sums<float>{alone.data(), columns}, {});
  Team team(2);
  multiply(shape, NumberFormat::fp32, l, r, Sums<float>{shared.data(), columns},
           {widest_vectors(), team.threads(), team.share(), nullptr});
  EXPECT_EQ(alone, shared);
}

}  // namespace
}  // namespace sdip::exec
