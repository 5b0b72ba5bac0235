// Yes or no at the least cost, beside all answers tried.
#include "core/program/least_choice.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>

#include "core/base/index.h"
#include "tests/core/program/random_graph.h"

namespace sdip {
namespace {

/// Steps with costs drawn for every answer to what they ask.
struct Drawn {
  std::vector<std::vector<std::int32_t>> asked;
  std::vector<std::vector<std::optional<std::int64_t>>> costs;  // by step and noes
  std::size_t questions = 0;
};

Drawn drawn(GraphDice& dice) {
  Drawn d;
  d.questions = at(static_cast<std::int32_t>(dice.between(1, 9)));
  d.asked.resize(at(static_cast<std::int32_t>(dice.between(1, 7))));
  const bool often_impossible = dice.one_in(3);
  for (auto& asked : d.asked) {
    for (std::size_t q = 0; q < d.questions; ++q)
      if (dice.one_in(3)) asked.push_back(static_cast<std::int32_t>(q));
    auto& costs = d.costs.emplace_back(std::size_t{1} << asked.size());
    for (auto& cost : costs)
      if (!dice.one_in(often_impossible ? 2 : 8)) cost = dice.between(0, 5);
  }
  return d;
}

std::uint32_t noes_at(const std::vector<std::int32_t>& asked, std::uint32_t noes) {
  std::uint32_t here = 0;
  for (std::size_t a = 0; a < asked.size(); ++a) here |= (noes >> asked[a] & 1U) << a;
  return here;
}

/// The first steps of all; nothing when one of them cannot be done so.
std::optional<std::int64_t> sum_of(const Drawn& d, std::uint32_t noes, std::size_t steps) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const auto cost = d.costs[i][noes_at(d.asked[i], noes)];
    if (!cost) return std::nullopt;
    sum += *cost;
  }
  return sum;
}

TEST(least_choice, is_the_best_of_all_answers_with_the_fewest_noes) {
  std::array<int, 2> possible{};
  int answered = 0;
  std::size_t spared = 0;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    GraphDice dice(seed);
    const Drawn d = drawn(dice);
    const std::int64_t slack = dice.between(0, 9);
    const auto least = [&](Answered a) {
      return std::max<std::int64_t>(0, d.costs[a.step][a.noes].value_or(9) - slack);
    };
    std::size_t costs_asked = 0, all_costs = 0;
    const auto cost = [&](Answered a) {
      ++costs_asked;
      return d.costs[a.step][a.noes];
    };
    for (const auto& costs : d.costs) all_costs += costs.size();
    const LeastChoice choice = least_choice(d.asked, d.questions, {least, cost});
    EXPECT_LE(costs_asked, all_costs) << "none twice";
    spared += all_costs - costs_asked;
    std::optional<std::pair<std::int64_t, int>> best;
    std::size_t can = 0;  // steps that some answers allow together
    for (std::uint32_t noes = 0; noes < std::uint32_t{1} << d.questions; ++noes) {
      while (can < d.asked.size() && sum_of(d, noes, can + 1)) ++can;
      if (const auto sum = sum_of(d, noes, d.asked.size()))
        best = std::min(best.value_or(std::pair(*sum, 99)), std::pair(*sum, std::popcount(noes)));
    }
    ++possible[best ? 1 : 0];
    ASSERT_EQ(choice.failed.has_value(), !best) << "seed " << seed;
    if (!best) {
      EXPECT_EQ(*choice.failed, can) << "seed " << seed;
      continue;
    }
    std::uint32_t noes = 0;
    for (std::size_t q = 0; q < d.questions; ++q) noes |= static_cast<std::uint32_t>(choice.no[q]) << q;
    EXPECT_EQ(sum_of(d, noes, d.asked.size()), best->first) << "seed " << seed;
    EXPECT_EQ(std::popcount(noes), best->second) << "seed " << seed;
    answered += noes != 0;
  }
  EXPECT_GT(possible[0], 100);
  EXPECT_GT(possible[1], 500);
  EXPECT_GT(answered, 300);
  EXPECT_GT(spared, 10000);
}

TEST(least_choice, of_the_worked_example) {
  const LeastChoice choice =
      least_choice({{0}, {0, 1}}, 2,
                   {[](Answered) { return 0; },
                    [](Answered a) { return a.step == 0 ? (a.noes == 0 ? 2 : 0) : std::popcount(a.noes); }});
  EXPECT_EQ(choice.no, (std::vector<char>{1, 0}));
}

TEST(least_choice, of_nothing_is_nothing) {
  const LeastChoice choice =
      least_choice({}, 2, {[](Answered) { return 0; }, [](Answered) { return std::nullopt; }});
  EXPECT_FALSE(choice.failed);
  EXPECT_EQ(choice.no, (std::vector<char>{0, 0}));
}

}  // namespace
}  // namespace sdip
