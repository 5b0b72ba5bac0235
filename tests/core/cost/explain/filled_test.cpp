// Do formulas with their numbers say what they come to, and nothing that a reader need not read?
#include "core/cost/explain/filled.h"

#include <gtest/gtest.h>

#include "core/cost/explain/filled_busy.h"
#include "tests/core/cost/explain/evaluate_filled.h"

namespace sdip {
namespace {

void expect_reads(const Filled& f, const std::string& text, std::int64_t value) {
  EXPECT_EQ(f.text(), text);
  EXPECT_EQ(f.value(), value) << text;
  EXPECT_EQ(evaluate_filled(text), value) << text;
}

Filled largest_of(std::initializer_list<Filled> of) { return largest({of.begin(), of.size()}); }

TEST(filled, text_and_value_are_made_in_the_same_steps) {
  expect_reads(number(16) * ceiling(number(4096), 16) + number(3), "16 x ceil(4096/16) + 3", 4099);
}

TEST(filled, ones_as_factors_and_zeros_as_terms_are_left_out) {
  expect_reads(number(1) * number(7) + Filled(), "7", 7);
  expect_reads(number(7) * number(1), "7", 7);
  expect_reads(Filled() + number(7), "7", 7);
  expect_reads(number(7) - Filled(), "7", 7);
  expect_reads(number(7) * Filled(), "0", 0);
  expect_reads(Filled() * number(7), "0", 0);
  expect_reads(Filled(), "0", 0);
  EXPECT_TRUE(Filled().is_zero());
  EXPECT_FALSE(number(1).is_zero());
  expect_reads(number(1) + number(1), "1 + 1", 2);
  expect_reads(number(7) - number(1), "7 - 1", 6);
}

TEST(filled, sums_are_bracketed_as_factors_and_where_they_are_taken_off) {
  expect_reads(number(2) * (number(3) + number(4)), "2 x (3 + 4)", 14);
  expect_reads((number(3) + number(4)) * number(2), "(3 + 4) x 2", 14);
  expect_reads((number(3) - number(4)) * number(2), "(3 - 4) x 2", -2);
  expect_reads(number(9) - (number(3) + number(4)), "9 - (3 + 4)", 2);
  expect_reads(number(9) + number(3) * number(4), "9 + 3 x 4", 21);
  expect_reads(number(2) * number(3) * number(4), "2 x 3 x 4", 24);
  expect_reads(ceiling(number(5), 2) * number(4), "ceil(5/2) x 4", 12);
  expect_reads(ceiling(number(3) + number(4), 2), "ceil((3 + 4)/2)", 4);
}

TEST(filled, a_ceiling_takes_all_before_its_division) {
  expect_reads(ceiling(number(10) * number(64), 25, 4608), "ceil(10 x 64 x 25/4608)", 4);
  expect_reads(ceiling(number(10) + number(64), 25, 4608), "ceil((10 + 64) x 25/4608)", 1);
  expect_reads(ceiling(number(10), 1, 4), "ceil(10/4)", 3);
  expect_reads(ceiling(number(8), 3, 4), "ceil(8 x 3/4)", 6);
  expect_reads(ceiling(number(9), 3, 4), "ceil(9 x 3/4)", 7);
  expect_reads(ceiling(number(9), 1, 1), "ceil(9/1)", 9);
  expect_reads(ceiling(number(9), 1), "9", 9);
  expect_reads(ceiling(Filled(), 8), "0", 0);
  expect_reads(ceiling(number(9), 8), "ceil(9/8)", 2);
  const std::int64_t large = std::int64_t{1} << 60;
  EXPECT_EQ(ceiling(number(large), 25, 50).value(), large / 2);
}

TEST(filled, the_largest_is_chosen_of_what_is_not_0) {
  expect_reads(largest_of({number(2), Filled(), number(5)}), "max(2, 5)", 5);
  expect_reads(largest_of({number(5), number(2), number(4)}), "max(5, 2, 4)", 5);
  expect_reads(largest_of({Filled(), number(5)}), "5", 5);
  expect_reads(largest_of({number(2) * number(3), Filled()}), "2 x 3", 6);
  expect_reads(largest_of({Filled(), Filled()}), "0", 0);
  expect_reads(largest_of({}), "0", 0);
  expect_reads(number(2) * largest_of({number(3) + number(1), number(3)}), "2 x max(3 + 1, 3)", 8);
}

TEST(filled, a_product_of_counts_names_each_but_ones) {
  expect_reads(product_of({3, 1, 5}), "3 x 5", 15);
  expect_reads(product_of({1, 1}), "1", 1);
  expect_reads(product_of({3, 0}), "0", 0);
}

TEST(filled, needs_add_up_and_the_longest_of_them_is_worked_out) {
  FilledBusy step;
  step[Resource::compute] = number(2) * number(3);
  step[Resource::dsram_read] = number(4);
  step.other_pairs.add(2, number(7));
  FilledBusy sum;
  sum.add(step, 1);
  sum.add(step, 3);
  expect_reads(sum[Resource::compute], "2 x 3 + 3 x 2 x 3", 24);
  expect_reads(longest_dsram_read(sum), "max(4 + 3 x 4, 7 + 3 x 7)", 28);
  expect_reads(longest_worked_out(sum), "max(24, 28)", 28);
}

}  // namespace
}  // namespace sdip
