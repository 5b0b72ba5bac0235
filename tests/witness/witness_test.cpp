// Thousands of random pairs: the estimate counts what the executor counts, whatever parameter is changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/core/base/full_run.h"
#include "tests/core/base/made_section.h"
#include "tests/sanitized.h"
#include "tests/witness/pairs.h"
#include "tests/witness/programs.h"

namespace sdip::witness {
namespace {

TEST(witness, every_parameter_has_a_validation_case) {
  for (const std::string& sentence : missing_cases(parameters(), validation_cases())) ADD_FAILURE() << sentence;
}

TEST(witness, a_parameter_without_a_case_is_named) {
  const auto all = validation_cases();
  const std::vector<std::string> missing = missing_cases(parameters(), all.subspan(1));
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0], std::string(all[0].name) + ": no validation case");
}

TEST(witness, a_pair_follows_from_its_seed) {
  for (const std::uint64_t seed : {2U, 5U}) {
    const Pair a = drawn_pair(seed), b = drawn_pair(seed);
    EXPECT_EQ(a.machine, b.machine);
    ASSERT_EQ(a.stages.size(), b.stages.size());
    EXPECT_EQ(a.stages[0].program.classes, b.stages[0].program.classes);
  }
}

TEST(witness, drawn_programs_use_stackram_as_their_machine_lets_them) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    if (is_compiled(seed)) continue;
    const Pair pair = drawn_pair(seed);
    EXPECT_TRUE(stack_use(pair.stages[0].program, pair.machine).sound) << "seed " << seed;
  }
}

/// An executor of another machine is found out, by the counter and where it differs.
TEST(witness, a_cycle_more_in_each_instruction_is_found) {
  const Pair pair = drawn_pair(5);
  Machine slower = pair.machine;
  ++slower.pipeline_stages;
  const Comparison found = compare(pair.stages[0], pair.machine, 2, false, &slower);
  ASSERT_TRUE(found.difference);
  EXPECT_NE(found.difference->where.find("pass 0: cycles"), std::string::npos) << found.difference->where;
  EXPECT_GT(found.difference->executed, found.difference->estimated);
  EXPECT_FALSE(compare(pair.stages[0], pair.machine, 2, false).difference);
}

TEST(witness, a_pair_too_few_of_two_options_is_named) {
  const std::vector<std::string> missing = missing_pairs(Census());
  const auto has = [&](const char* text) { return std::ranges::count(missing, text) == 1; };
  EXPECT_TRUE(has("cores=another, pipeline_stages=another"));
  EXPECT_FALSE(has("operator_dsram=per_operator, activation_memory=unified"));
}

constexpr std::uint64_t usual_pairs = 2400;

/// Seeds from 1 in four parts, each of which chooses what it changes by what it has changed.
Census first_pairs(std::uint64_t pairs) {
  constexpr std::uint64_t parts = 4;
  Census of_part[parts];
  const auto work = [&](std::uint64_t first, std::uint64_t stride) {
    for (std::uint64_t part = first; part < parts; part += stride)
      for (std::uint64_t i = 0; i < pairs / parts; ++i)
        witness_pair(1 + part * (pairs / parts) + i, changes_of_a_pair, of_part[part]);
  };
  const std::uint64_t threads = std::clamp<std::uint64_t>(std::thread::hardware_concurrency(), 1, parts);
  std::vector<std::thread> running;
  for (std::uint64_t i = 0; i < threads; ++i) running.emplace_back(work, i, threads);
  for (std::thread& thread : running) thread.join();
  Census all;
  for (const Census& part : of_part) all.add(part);
  return all;
}

TEST(witness, random_pairs_count_the_same_by_formula_and_by_stepping) {
  const std::uint64_t pairs = sanitized ? 400 : full_run() ? 10000 : usual_pairs;
  const Census census = first_pairs(pairs);
  for (const Finding& f : census.findings)
    ADD_FAILURE() << "seed " << f.seed << ", " << f.change << ": " << f.difference.where << ": estimate "
                  << f.difference.estimated << ", executor " << f.difference.executed;
  EXPECT_EQ(census.pairs, static_cast<std::int64_t>(pairs));
  EXPECT_GE(census.least_instructions, least_instructions);
  if (pairs < usual_pairs) return;
  EXPECT_GE(census.reported, census.pairs / 2);
  for (std::size_t i = 0; i < trait_count; ++i)
    EXPECT_GE(51 * census.traits[i], 10 * census.pairs) << trait_text(static_cast<Trait>(i));
  EXPECT_GE(20 * census.shared_groups, census.pairs);
  for (const ValidationCase& one : validation_cases()) {
    const auto changed = census.changed.find(one.name);
    if (one.changes_counters()) {
      EXPECT_GE(changed == census.changed.end() ? 0 : changed->second, wanted_changes(one, census.pairs))
          << one.name;
    }
  }
  if (full_run()) {
    for (const std::string& pair : missing_pairs(census)) ADD_FAILURE() << "no pair has " << pair;
    return;
  }
  expect_made_section("model/counting.md", "witness", "the pairs of ./test, by tests/witness",
                      census_table(census));
}

}  // namespace
}  // namespace sdip::witness
