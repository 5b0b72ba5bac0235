// Do mutants that crash or never end stop only themselves? And does a chosen mutant do what it says?
#include "tests/mutants/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/mutants/choice.h"

namespace mutant {
namespace {

TEST(workers, those_that_crash_or_never_end_are_marked_and_the_others_tried) {
  const auto ledger = sdip::mutants::shared_ledger(8);
  sdip::mutants::run_jobs(4, 2, ledger, [&](std::int64_t job, const sdip::mutants::Trying& trying) {
    const int number = static_cast<int>(job);
    if (ledger.fates[number] != sdip::mutants::Fate::alive) return;
    trying(number, 0.2);
    if (number == 1) std::abort();
    volatile bool forever = number == 2;
    while (forever) continue;
    trying(-1, 0);
    if (number == 3) ledger.fates[number] = sdip::mutants::Fate::differs;
  });
  EXPECT_EQ(ledger.fates[0], sdip::mutants::Fate::alive);
  EXPECT_EQ(ledger.fates[1], sdip::mutants::Fate::crashes);
  EXPECT_EQ(ledger.fates[2], sdip::mutants::Fate::hangs);
  EXPECT_EQ(ledger.fates[3], sdip::mutants::Fate::differs);
}

TEST(workers, one_that_dies_of_what_its_mutant_left_behind_finds_that_one_out_in_a_process_of_its_own) {
  const auto ledger = sdip::mutants::shared_ledger(8);
  sdip::mutants::run_jobs(40, 1, ledger, [&](std::int64_t job, const sdip::mutants::Trying& trying) {
    const int number = static_cast<int>(job % 8);
    if (ledger.fates[number] != sdip::mutants::Fate::alive) return;
    trying(number, 0.2);
    trying(-1, 0);
    if (number % 3 == 2) std::abort();
  });
  for (const int number : {0, 1, 3, 4, 6, 7}) EXPECT_EQ(ledger.fates[number], sdip::mutants::Fate::alive);
  for (const int number : {2, 5}) EXPECT_EQ(ledger.fates[number], sdip::mutants::Fate::crashes);
}

/// As what breaks the heap does: seen only when a later one asks for memory, or when the job gives back its own.
TEST(workers, one_of_many_in_a_job_that_breaks_what_comes_after_is_found_alone) {
  constexpr int count = 1000, breaks[] = {0, 77, 500, 501, 999};
  const auto ledger = sdip::mutants::shared_ledger(count);
  sdip::mutants::run_jobs(3, 2, ledger, [&](std::int64_t, const sdip::mutants::Trying& trying) {
    struct Heap {
      bool broken = false;
      ~Heap() {
        if (broken) std::abort();
      }
    } heap;
    for (int number = 0; number < count; ++number) {
      if (ledger.fates[number] != sdip::mutants::Fate::alive || !trying(number, 1)) continue;
      trying(-1, 0);
      heap.broken |= std::ranges::find(breaks, number) != std::end(breaks);
    }
  });
  for (int number = 0; number < count; ++number)
    EXPECT_EQ(ledger.fates[number] == sdip::mutants::Fate::crashes,
              std::ranges::find(breaks, number) != std::end(breaks))
        << number;
}

TEST(workers, a_job_that_ends_them_without_a_mutant_ends_the_run) {
  const auto ledger = sdip::mutants::shared_ledger(1);
  EXPECT_THROW(
      sdip::mutants::run_jobs(2, 1, ledger, [](std::int64_t, const sdip::mutants::Trying&) { std::abort(); }),
      std::runtime_error);
}

template <class Body>
auto with(int number, Body&& body) {
  chosen = number;
  const auto result = body();
  chosen = -1;
  return result;
}

TEST(choice, operators_keep_their_precedence_and_change_when_chosen) {
  const std::int64_t a = 7, b = 3, c = 2;
  const auto sum = [&] { return a + Plus<0>{} + b * Times<1>{} * c - Minus<2>{} - 1; };
  EXPECT_EQ(with(-1, sum), 7 + 3 * 2 - 1);
  EXPECT_EQ(with(0, sum), 7 - 3 * 2 - 1);
  EXPECT_EQ(with(1, sum), 7 + 3 / 2 - 1);
  EXPECT_EQ(with(2, sum), 7 + 3 * 2 + 1);
}

TEST(choice, quotients_round_up_and_divisors_of_0_are_told) {
  const std::int64_t a = 7;
  std::int64_t b = 2;
  const auto quotient = [&] { return a / Over<0>{} / b; };
  EXPECT_EQ(with(-1, quotient), 3);
  EXPECT_EQ(with(0, quotient), 14);
  EXPECT_EQ(with(1, quotient), 4);
  b = 0;
  EXPECT_THROW(quotient(), std::domain_error);
}

TEST(choice, values_are_one_off_only_when_they_are_integers) {
  EXPECT_EQ(with(0, [] { return off<0, true>(std::int64_t{5}); }), 6);
  EXPECT_EQ(with(1, [] { return off<0, true>(std::int64_t{5}); }), 4);
  EXPECT_EQ(with(0, [] { return off<0, true>(true); }), false);
  EXPECT_EQ(with(0, [] { return off<0, true>(1.5); }), 1.5);
  EXPECT_TRUE(exists[0]);
}

TEST(choice, minima_bounds_and_steps_change_when_chosen) {
  EXPECT_EQ(with(0, [] { return Max<0>::of(1, 2); }), 1);
  EXPECT_EQ(with(0, [] { return Ceil<0>::of(7, 2); }), 3);
  EXPECT_EQ(with(1, [] { return Clamp<0>::of(9, 0, 5); }), 9);
  int n = 4;
  EXPECT_EQ((step<0, 1>(n)), 4);
  EXPECT_EQ(n, 5);
  EXPECT_EQ(with(0, [&] { return step<0, 1>(n), n; }), 5);
}

TEST(choice, what_is_reached_is_noted) {
  reached[9] = 0;
  EXPECT_EQ(number<9>(3), 3);
  EXPECT_EQ(reached[9], 1);
}

}  // namespace
}  // namespace mutant
